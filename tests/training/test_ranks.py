"""Distributed training: reproducibility for any number of ranks, lost ranks, resuming and nodes."""

from __future__ import annotations

import contextlib
import hmac
import multiprocessing
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import rank_tasks
import torch
from example_scripts import EXAMPLES
from ppo_runs import tiny
from torch.distributed import FileStore, TCPStore

from gin_env.support.tensor_files import MAX_BYTES
from gin_env.training import ranks as ranks_module
from gin_env.training.ranks import SECRET, RankLostError, Ranks, _private_group, launch
from gin_env.training.runs import CHECKPOINT, CHECKPOINT_FORMAT

pytestmark = [pytest.mark.compiled, pytest.mark.long]

EXAMPLE = [
    str(EXAMPLES / "ppo.py"), "--num-envs", "32", "--num-steps", "24", "--num-minibatches", "3",
    "--hidden", "8", "--bots", "simple", "--final-games", "2",
]  # fmt: skip
"""The program of a small training."""


def test_ranks_exchange_sums_and_values():
    expected = 55.0, [[number, number % 2] for number in range(11)], ["of rank 0", 0]
    assert launch(rank_tasks.sum_shares, 11, workers=1) == expected
    assert launch(rank_tasks.sum_shares, 11, workers=3) == expected


def test_only_rank_0_announces_compilation(capfd):
    launch(rank_tasks.compile_a_kernel, "stock_after_deal", workers=3)
    assert capfd.readouterr().err.count("compiling") <= 1  # none if this process has announced it before


@pytest.mark.parametrize("changed", [{}, {"memory": True}], ids=str)
def test_several_ranks_learn_the_same_as_one(tmp_path, changed):
    """Gradients equal those of the joined batch up to rounding, and the games are the same.

    Rounding grows: Adam scales up the smallest gradients, and a hidden unit near zero is on in one run only.
    """
    settings = replace(tiny(tmp_path), num_envs=64, num_steps=64, hidden=16, **changed)
    one, two, three = (launch(rank_tasks.parameters_of_updates, settings, workers) for workers in (1, 2, 3))
    for index, (expected, *found) in enumerate(zip(one, two, three, strict=True)):
        for num_decisions, parameters in found:
            assert num_decisions == expected[0]
            tolerance = 2e-4 if index else 1e-6
            torch.testing.assert_close(parameters, expected[1], atol=tolerance, rtol=0)
    assert (one[0][1] - one[-1][1]).abs().max() > 1e-3, "something was learned"


def test_lost_rank_ends_the_run_and_it_resumes_exactly(tmp_path):
    settings = replace(tiny(tmp_path / "lost"), checkpoint_every=0.0, total_timesteps=4000)
    expected = launch(rank_tasks.train, replace(settings, run=tmp_path / "unbroken"), workers=2)
    with pytest.raises(RankLostError) as lost:
        launch(rank_tasks.train_and_lose_a_rank, settings, workers=2)
    assert "\n" not in str(lost.value)
    assert str(lost.value).startswith("another rank was lost: ")
    assert f"; to resume from the last checkpoint: gin-rummy train --run {settings.run}" in str(lost.value)
    _, metadata = CHECKPOINT_FORMAT.read_tensors(settings.run / CHECKPOINT)
    assert metadata["progress"]["updates"] == rank_tasks.KILLED_AT
    found = launch(rank_tasks.train, replace(settings, resume=True), workers=2)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def listening(pids: set[int]) -> set[tuple[str, int]]:
    """Return the (hexadecimal address, port) of every TCP socket on which these processes listen."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                inodes.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
    tables = (Path(f"/proc/net/{kind}").read_text().splitlines() for kind in ("tcp", "tcp6"))
    rows = [line.split() for table in tables for line in table]
    sockets = [row[1].split(":") for row in rows if row[3] == "0A" and row[9] in inodes]
    return {(address, int(port, 16)) for address, port in sockets}


def with_children(pid: int) -> set[int]:
    found = {pid}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            child, _, rest = stat.read_text().partition(" (")
            if int(rest.rpartition(") ")[2].split()[1]) == pid:
                found |= with_children(int(child))
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's list of sockets")
def test_stranger_finds_only_loopback_and_joins_in_vain(tmp_path):
    """Whoever could join as a rank would change the training; with pickles, run code in it."""
    options = [sys.executable, *EXAMPLE, "--workers", "2", "--total-timesteps", "6000", "--run"]
    # Whatever interface the caller chose, and wherever the host name leads, the ranks listen on loopback.
    interfaces = ["none", *(name for _, name in socket.if_nameindex() if name != "lo")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": interfaces[-1]}
    assert subprocess.run([*options, str(tmp_path / "alone")], env=environment).returncode == 0
    run = subprocess.Popen([*options, str(tmp_path / "visited")], env=environment)
    seen, strangers = set(), []
    while run.poll() is None:
        for address, port in listening(with_children(run.pid)) - seen:
            seen.add((address, port))
            with contextlib.suppress(ConnectionError):  # the run has just ended
                strangers.append(socket.create_connection(("127.0.0.1", port), timeout=5))
                strangers[-1].sendall(b"\xff" * 64)  # zeros could be the number of a pair of ranks
            with pytest.raises(RuntimeError):
                TCPStore("127.0.0.1", port, is_master=False, timeout=timedelta(seconds=0.2))
        time.sleep(0.02)
    for stranger in strangers:
        stranger.close()
    assert run.returncode == 0
    assert len(seen) >= 2, "each rank listens"
    assert {address for address, _ in seen} == {"0100007F"}, "not only 127.0.0.1"
    expected, found = (
        CHECKPOINT_FORMAT.read_tensors(tmp_path / name / CHECKPOINT)[0] for name in ("alone", "visited")
    )
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


PROOF_OF_RANK_0 = hmac.digest(b"known", b"0 to 1", "sha256")


@pytest.mark.parametrize("answer", [bytes(32), PROOF_OF_RANK_0], ids=["guess", "reflection"])
def test_stranger_in_the_place_of_a_rank_is_refused(tmp_path, answer):
    """Gloo gives the place of a rank to the first process that connects to its port, secret or not."""
    path = str(tmp_path / "store")
    store = FileStore(path, 2)
    store.set(SECRET, "known")
    context = multiprocessing.get_context("spawn")
    stranger = context.Process(target=rank_tasks.join_without_secret, args=(path, answer))
    stranger.start()
    try:
        with (
            pytest.raises(RankLostError, match="not part of this training"),
            _private_group("cpu", store, 0, 2),
        ):
            raise AssertionError("the stranger has joined")
    finally:
        stranger.kill()


def test_rank_lost_before_it_connects_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(ranks_module, "PATIENCE", 1.0)
    # Torch counts a group that was never connected, and would not find the ranks of the next test.
    monkeypatch.setattr(torch.distributed.distributed_c10d._world, "group_count", 0)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "of the caller")
    with pytest.raises(RankLostError), _private_group("cpu", FileStore(str(tmp_path / "store"), 2), 0, 2):
        raise AssertionError("there is no other rank")
    assert os.environ["GLOO_SOCKET_IFNAME"] == "of the caller"


class Stuck:
    """Settings that keep a new process busy for 20 seconds, after which it ends."""

    def __reduce__(self):
        return rank_tasks.end_after, (20,)


def test_rank_that_never_starts_is_reported(monkeypatch):
    monkeypatch.setattr(ranks_module, "STARTING", 0.5)
    with pytest.raises(RankLostError, match=r"rank 1 has not started after 0\.5 seconds"):
        launch(rank_tasks.sum_shares, Stuck(), workers=2)


def test_connected_ranks_wait_longer_than_for_a_connection(monkeypatch):
    """Rank 0 plays evaluations of many minutes while the others wait."""
    monkeypatch.setattr(ranks_module, "PATIENCE", 5.0)
    assert launch(rank_tasks.sum_of_a_late_rank, 6.0, workers=2) == 1


@pytest.mark.parametrize(
    ("gpus", "here", "device", "backend"),
    [
        (8, 8, "cuda:3", "cpu:gloo,cuda:nccl"),
        (2, 8, "cuda:1", "gloo"),
        (2, 2, "cuda:1", "cpu:gloo,cuda:nccl"),
    ],
)
def test_ranks_share_gpus_if_there_are_too_few(monkeypatch, gpus, here, device, backend):
    """With a GPU for each rank of the machine, NCCL sums the gradients; it refuses ranks that share one."""
    used = []
    if here < 8:  # torchrun has started as many of the eight ranks on this machine
        monkeypatch.setenv("LOCAL_WORLD_SIZE", str(here))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(ranks_module.distributed, "init_process_group", lambda name, **_: used.append(name))
    monkeypatch.setattr(ranks_module.distributed, "get_rank", lambda: 3)
    monkeypatch.setattr(ranks_module.distributed, "get_world_size", lambda: 8)
    monkeypatch.setattr(ranks_module.distributed, "destroy_process_group", lambda: None)
    with ranks_module._group("cuda", None, 3, 8) as ranks:
        assert ranks.device("cuda") == device
        assert ranks.device("cpu") == "cpu"
    assert used == [backend]
    monkeypatch.setenv("LOCAL_RANK", "0")
    assert Ranks(1, 3).device("cuda") == "cuda:0", "the first rank of the second machine"


@pytest.mark.parametrize("length", [-1, MAX_BYTES + 1])
def test_impossible_length_of_a_message_raises(monkeypatch, length):
    monkeypatch.setattr(torch.distributed, "broadcast", lambda tensor, _: tensor.fill_(length))
    with pytest.raises(RankLostError, match="must have at most"):
        Ranks(1, 2).broadcast(None)


def test_error_in_rank_0_stops_all_ranks(tmp_path):
    (tmp_path / "used").write_text("")
    with pytest.raises(ValueError, match="is not empty"):
        launch(rank_tasks.train, tiny(tmp_path), workers=2)


def test_two_nodes_learn_the_same_as_two_workers(tmp_path):
    """Compare torchrun on two local "nodes" with the script run with two workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [*EXAMPLE, "--total-timesteps", "3000", "--run"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    torchrun += ["--master-addr", "127.0.0.1", "--master-port", str(port), "--node-rank"]
    trained = ["--", *options, str(tmp_path / "nodes"), "--workers", "1"]  # which is ignored
    nodes = [subprocess.Popen([*torchrun, str(node), *trained], env=environment) for node in (0, 1)]
    assert [node.wait(timeout=300) for node in nodes] == [0, 0]
    workers = subprocess.run(
        [sys.executable, *options, str(tmp_path / "workers"), "--workers", "2"], env=environment
    )
    assert workers.returncode == 0
    policies = [(tmp_path / run / "checkpoint.safetensors") for run in ("nodes", "workers")]
    expected, found = (CHECKPOINT_FORMAT.read_tensors(path)[0] for path in policies)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_shares_are_contiguous_and_complete():
    ends = [(Ranks(rank, 5).share(12).start, Ranks(rank, 5).share(12).stop) for rank in range(5)]
    assert ends == [(0, 2), (2, 4), (4, 7), (7, 9), (9, 12)]
