"""A match on two Ray nodes of this machine, one core each, compared with the same match in this process.

    pip install -c constraints.txt ".[ray]"
    python benchmarks/two_nodes.py --games 300000

It prints hands per second, the computing time of the program itself (distributing parts and adding them up),
and whether both results are identical.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from ray.cluster_utils import Cluster

from gin_env import MatchResult, play_match
from gin_env.support.workers import Workers


def measured(name: str, play: Callable[[], MatchResult]) -> MatchResult:
    """Play, and print a line."""
    start, computed = time.monotonic(), time.process_time()
    result = play()
    seconds, computed = time.monotonic() - start, time.process_time() - computed
    print(
        f"{name}: {result.hands:,} hands in {seconds:.1f} s, {result.hands / seconds:,.0f} a second; "
        f"this process computed {computed:.1f} s",
        flush=True,
    )
    return result


def main() -> None:
    """Start the nodes, play and compare."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--games", type=int, default=300_000)
    options.add_argument("--bots", nargs=2, default=("simple", "simple"))
    chosen = options.parse_args()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    with Workers(ray=cluster.address) as workers:
        play_match(*chosen.bots, 64, 0, workers=workers)  # both nodes have loaded what they need
        there = measured("two nodes", lambda: play_match(*chosen.bots, chosen.games, 1, workers=workers))
    cluster.shutdown()
    here = measured("this process", lambda: play_match(*chosen.bots, chosen.games, 1))
    print("the same" if here == there and np.array_equal(here.deals, there.deals) else "different")


if __name__ == "__main__":
    main()
