"""The command line, as ``python -m gin_env``."""

from gin_env.cli import main

main()
