"""Work on Ray gives the same results as in one process, even if nodes are lost."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from worker_tasks import die, fail, square, wait_on_node

from gin_env import play_match
from gin_env.support import ray_workers
from gin_env.support.workers import Workers

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "gin-env[ray]"')
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # warnings of Ray itself

TESTS = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def cluster():
    """Two single-core nodes on this machine; tests that remove a node replace it."""
    from ray.cluster_utils import Cluster

    # The nodes' workers import modules from this folder; on a real cluster they would be installed.
    os.environ["PYTHONPATH"] = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")])
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    found.add_node(num_cpus=1)
    yield found
    found.shutdown()


@pytest.fixture
def crew(cluster):
    """Workers on the two nodes."""
    while len(cluster.worker_nodes) < 1:
        cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    with Workers(ray=cluster.address) as found:
        yield found
    assert not ray.is_initialized()


def take_away(cluster) -> None:
    """Remove a node without warning."""
    (node,) = cluster.worker_nodes
    cluster.remove_node(node, allow_graceful=False)


def test_results_are_in_task_order_and_errors_propagate(crew):
    assert list(crew.map(square, range(20))) == [number**2 for number in range(20)]
    with pytest.raises(ValueError, match=r"^the task is wrong$"):
        list(crew.map(fail, [0]))
    with pytest.raises(RuntimeError, match=r"^Uncopied: one and two$"):
        list(crew.map(fail, [1]))
    with pytest.raises(ChildProcessError, match="lost 4 times"):
        list(crew.map(die, [1]))


def test_tasks_of_a_lost_node_are_repeated_and_counted_once(cluster, crew, tmp_path):
    (node,) = cluster.worker_nodes

    def take_away_when_it_works() -> None:
        while not any(tmp_path.iterdir()):
            time.sleep(0.1)
        take_away(cluster)

    watcher = threading.Thread(target=take_away_when_it_works)
    watcher.start()
    results = list(crew.map(wait_on_node, [(tmp_path, node.node_id, number) for number in range(12)]))
    watcher.join()
    assert results == [number**2 for number in range(12)]
    assert any(tmp_path.iterdir()), "something was lost"


def test_lost_node_changes_neither_match_nor_record(cluster, crew, tmp_path):
    lost = []

    def progress(games: int) -> None:
        if not lost:
            take_away(cluster)
        lost.append(games)

    here = play_match("tonic", "simple", 2000, seed=4, record=tmp_path / "here")
    there = play_match("tonic", "simple", 2000, 4, record=tmp_path / "there", workers=crew, progress=progress)
    assert there == here
    assert np.array_equal(there.deals, here.deals)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    assert lost == [125] * 16


def test_bot_class_of_the_program_plays_on_the_nodes(crew):
    class FirstLegal:
        name = "first-legal"

        def act(self, view):
            return view.masks().argmax(axis=1)

    assert play_match(FirstLegal(), "random", 40, 3, workers=crew) == play_match(
        FirstLegal(), "random", 40, 3
    )


def test_node_with_another_release_raises(crew, monkeypatch):
    monkeypatch.setattr(ray_workers, "__version__", "0.0.0")
    with pytest.raises(ImportError, match=r"a node has .*, this program 0\.0\.0: install the same release"):
        list(crew.map(square, [1]))


def test_unreachable_address_raises():
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:99999"):
        with Workers(ray=address) as nobody, pytest.raises(ConnectionError) as error:
            list(nobody.map(square, [1]))
        assert f"no Ray cluster answers at {address} (" in str(error.value)
