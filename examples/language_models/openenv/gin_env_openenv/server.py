"""The server: ``gin-env-openenv --opponent tonic``, or ``uvicorn gin_env_openenv.server:app``."""

from __future__ import annotations

import argparse
from functools import partial

import uvicorn
from openenv.core.env_server import create_app

from gin_env_openenv.environment import GinRummyAction, GinRummyObservation, GinRummyOpenEnv

app = create_app(GinRummyOpenEnv, GinRummyAction, GinRummyObservation, env_name="gin_rummy")


def main() -> None:
    """Serve against the opponent of the command line."""
    parser = argparse.ArgumentParser(description="Serve Gin Rummy by OpenEnv's interface.")
    parser.add_argument("--opponent", default="simple", help="a bot's name")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    make = partial(GinRummyOpenEnv, opponent=options.opponent)
    served = create_app(make, GinRummyAction, GinRummyObservation, env_name="gin_rummy")
    uvicorn.run(served, host=options.host, port=options.port)


if __name__ == "__main__":
    main()
