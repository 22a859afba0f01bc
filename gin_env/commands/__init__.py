"""The commands of ``gin-rummy``, a file for each group; `gin_env.cli` puts them together."""
