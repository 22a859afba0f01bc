"""Bots and networks of the user's own modules: what may name them, how they are made, saved and played."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest
import torch

from gin_env import agents, gin_rummy_v0, play_match
from gin_env.agents.declared_bots import name_of_file
from gin_env.agents.policies.policy import describe_training
from gin_env.matches.provenance import describe_bot
from gin_env.matches.shards import may_remember
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.records import read_one
from gin_env.support.tensor_files import TensorFileError
from gin_env.ui.human_game import HumanGame

MODULE = """
from pathlib import Path

Path({trace!r}).touch()


class First:
    def act(self, view):
        return view.masks().argmax(axis=1)


class Picks(First):
    name = "its own name"

    def __init__(self, last=False, numbers=()):
        self.last, self.numbers = last, numbers

    def act(self, view):
        masks = view.masks()
        return 106 - masks[:, ::-1].argmax(axis=1) if self.last else masks.argmax(axis=1)


class NoBot:
    pass


class Fixed:
    name = property(lambda self: "fixed")

    def act(self, view):
        return view.masks().argmax(axis=1)


number = 3
"""
NETWORKS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden=8, reads_mask=False):
        super().__init__()
        self.reads_mask = reads_mask
        self.layers = nn.Sequential(
            nn.Linear({inputs} + 107 * reads_mask, hidden), nn.BatchNorm1d(hidden), nn.Linear(hidden, 107)
        )

    def forward(self, observations):
        return self.layers(observations)


class Other(Net):
    pass


class Ordered(Net):
    def __init__(self, offset=0.0):
        super().__init__()
        self.register_buffer("order", torch.arange(107).flip(0))
        self.register_buffer("kept", torch.arange(107) != 3)
        self.register_buffer("offset", torch.full((107,), offset))

    def forward(self, observations):
        return (super().forward(observations) + self.offset)[:, self.order].masked_fill(~self.kept, -9.0)


class Narrow(Net):
    def forward(self, observations):
        return super().forward(observations)[:, :5]


class ActingNet(Net):
    def act(self, view):
        return view.masks().argmax(axis=1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with own_bots.py, which leaves a file when it is imported, and own_networks.py."""
    (tmp_path / "own_bots.py").write_text(MODULE.replace("{trace!r}", repr(str(tmp_path / "imported"))))
    (tmp_path / "own_networks.py").write_text(NETWORKS.replace("{inputs}", str(OBSERVATION_SIZE)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for module in ("own_bots", "own_networks", "own_bots_broken"):
        sys.modules.pop(module, None)


# --- Which names run code -----------------------------------------------------------------------------

CODE = {
    "own_bots:First": "imports a module",
    "own_bots:Picks:last=true": "imports a module",
    "process:touch imported": "starts a program",
}
SPELLINGS = [
    "{}",
    "search:opponent={}",
    "search:samples=4,opponent= {}",
    "search:opponent=search:opponent={}",
    "simple:knock_at=1+{}",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("code", CODE)
def test_name_of_code_runs_nothing_unless_allowed(code, spelling, folder):
    name = spelling.format(code)
    assert agents.starts_program(name)
    for call in (agents.make, agents.resolve, describe_bot):
        with pytest.raises(ValueError, match=rf"{CODE[code]}: .* pass programs=True"):
            call(name)
    with pytest.raises(TypeError, match="programs must be True or False, not 1"):
        agents.make(name, programs=1)
    assert not (folder / "imported").exists()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "simple:knock_at=4",
        "simple:knock_at = 4",
        "simple:First",
        "search:opponent=simple",
        "a:b.safetensors",
        "runs:last/policy.safetensors",
        "runs/process/policy.safetensors",
        "C:\\runs\\policy.safetensors",
        "policy.safetensors:deterministic=false",
        "cfr:table=C:\\cfr.npz",
    ],
)
def test_other_names_run_no_code(name):
    assert not agents.starts_program(name)


@pytest.mark.parametrize("spelling", SPELLINGS[1:])
@pytest.mark.parametrize("code", CODE)
def test_code_inside_another_name_is_never_run(code, spelling, folder):
    with pytest.raises((ValueError, TypeError)):
        agents.make(spelling.format(code), programs=True)
    with pytest.raises(ValueError, match="which runs other code"):
        agents.make("search", programs=True, opponent=code)
    assert not (folder / "imported").exists()


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("key", ["bot", "name"])
def test_saved_game_runs_no_code(key, code, folder):
    path = folder / "game.json"
    HumanGame("simple", 3).save(path)
    content = json.loads(path.read_text())
    content["players"][1] = {"name": "simple", "bot": None} | {key: code}
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="pass it as --opponent"):
        HumanGame.load(path)
    assert not (folder / "imported").exists()


# --- Bots ---------------------------------------------------------------------------------------------


def test_own_class_plays_under_the_name_that_makes_it_again(folder):
    names = ("own_bots:First", "own_bots:Picks:last=true,numbers=1+2")
    result = play_match(*names, games=4, seed=1, episode="hand", record=folder / "games.jsonl")
    assert result.bots == names
    bot = agents.make(names[1], programs=True)
    assert (bot.last, bot.numbers) == (True, (1, 2))
    assert play_match(bot, names[0], games=4, seed=1, episode="hand").bots == names[::-1]
    record = read_one(folder / "games.jsonl", 1)
    assert {player.bot for player in record.players} == set(names)
    assert agents.make("own_bots:Picks", programs=True, last=True).name == "own_bots:Picks:last=true"


@pytest.mark.long
def test_own_class_is_the_same_in_worker_processes(folder):
    pair = "own_bots:First", "simple"
    alone, shared = (play_match(*pair, games=64, seed=2, episode="hand", workers=number) for number in (1, 2))
    assert alone.as_dict() == shared.as_dict()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("own_bot:First", ValueError, "unknown bot 'own_bot:First': no module 'own_bot' in "),
        ("own_bots:Frist", ValueError, r"unknown bot 'own_bots:Frist': .*own_bots.py has no class 'Frist'"),
        ("own_bots:number", ValueError, "has no class 'number'"),
        ("own_bots:First:last=true", TypeError, "unknown parameter 'last'; it has none"),
        ("own_bots:Picks:first=true", TypeError, "unknown parameter 'first'; choose from last, numbers"),
        ("own_bots:Picks:last", ValueError, "'last' is not a parameter; write own_bots:Picks:key=value"),
        ("own_bots:NoBot", TypeError, r"'own_bots:NoBot' must have a method act\(view\)"),
        ("own_bots:Fixed", TypeError, "'own_bots:Fixed' must have an attribute name that can be set"),
        ("simple:First", ValueError, "'First' is not a parameter"),
        ("own_networks:Net", ValueError, "is a network: name its weights, own_networks:Net:weights=FILE"),
        ("own_networks:Net:weights=gone.safetensors", FileNotFoundError, "gone.safetensors"),
    ],
)
def test_wrong_name_of_a_class_says_what_is_wrong(name, error, message, folder):
    with pytest.raises(error, match=message):
        agents.make(name, programs=True)


def test_file_here_does_not_replace_an_installed_module(folder, monkeypatch):
    (folder / "textwrap.py").write_text("class First:\n    pass\n")
    monkeypatch.delitem(sys.modules, "textwrap", raising=False)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    with pytest.raises(ValueError, match=r"textwrap.py has no class 'First'"):
        agents.make("textwrap:First", programs=True)


def test_module_that_cannot_be_imported_raises_its_own_error(folder):
    (folder / "own_bots_broken.py").write_text("import no_such_module_at_all\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        agents.make("own_bots_broken:First", programs=True)


# --- Networks -----------------------------------------------------------------------------------------


@pytest.fixture
def networks(folder):
    """The module own_networks."""
    sys.path.append(str(folder))
    return importlib.import_module("own_networks")


@pytest.mark.parametrize("reads_mask", [False, True])
def test_saved_network_plays_as_before(reads_mask, networks):
    torch.manual_seed(1)
    network = networks.Net(16, reads_mask).eval()
    state = torch.random.get_rng_state()
    settings = {"hidden": 16, "reads_mask": reads_mask}
    agents.save_network("net.safetensors", network, describe_training(), settings)
    assert torch.equal(torch.random.get_rng_state(), state)
    name = "own_networks:Net:weights=net.safetensors"
    bot = agents.make(name, programs=True)
    assert bot.name == name
    assert may_remember(bot)
    assert list(describe_bot(name, programs=True)["files"]) == ["net.safetensors"]
    env = gin_rummy_v0.raw_env()
    env.reset(seed=1)
    for _ in range(20):
        observation = env.observe(env.agent_selection)
        mask = observation["action_mask"]
        parts = [mask.astype(np.float32)] * reads_mask + [observation["observation"]]
        with torch.no_grad():
            logits = network(torch.from_numpy(np.concatenate(parts)[None])).numpy()[0]
        chosen = bot.act(env.player_view(env.agent_selection))[0]
        assert chosen == np.where(mask, logits, -np.inf).argmax()
        env.step(int(chosen))
    assert agents.make(f"{name},deterministic=false", programs=True).deterministic is False


def test_network_file_alone_says_how_to_play_it(networks):
    agents.save_network("net.safetensors", networks.Net(), describe_training())
    del sys.modules["own_networks"]
    with pytest.raises(TensorFileError, match=r"name own_networks:Net:weights=net\.safetensors"):
        play_match("net.safetensors", "simple", games=2)
    assert "own_networks" not in sys.modules
    with pytest.raises(TensorFileError, match="a network of the class 'own_networks:Net', not"):
        agents.make("own_networks:Other:weights=net.safetensors", programs=True)
    assert issubclass(networks.Other, networks.Net)
    assert type(agents.make("own_networks:ActingNet", programs=True)).__name__ == "ActingNet"


def test_network_keeps_its_buffers_of_integers_and_booleans(networks):
    agents.save_network("net.safetensors", networks.Ordered(), describe_training())
    bot = agents.make("own_networks:Ordered:weights=net.safetensors", programs=True)
    assert play_match(bot, "random", 2, seed=1, episode="hand").games == 2


def test_network_that_could_not_be_played_is_not_saved(networks, folder):
    class Local(networks.Net):
        pass

    for network, settings, message in [
        (networks.Net(16), {}, "does not match"),
        (networks.Net(), {"width": 3}, "cannot be made with .*width.*settings"),
        (networks.Narrow(), {}, r"Narrow must map \(n, \d+\) to logits \(n, 107\), not"),
        (Local(), {}, "must be defined at the top level of a module"),
        (
            torch.nn.Sequential(torch.nn.Linear(9, 107)),
            {},
            r"a class of your own:\n    class Net\(nn.Sequential\):",
        ),
        (networks.Ordered(-float("inf")), {}, "some numbers of offset are not finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            agents.save_network("net.safetensors", network, describe_training(), settings)
    with pytest.raises(ValueError, match=r"must end in \.safetensors"):
        agents.save_network("net.pt", networks.Net(), describe_training())
    with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module"):
        agents.save_network("net.safetensors", torch.zeros(3), describe_training())
    with pytest.raises(ValueError, match="does not say how it was trained"):
        agents.save_network("net.safetensors", networks.Net(), {})
    assert not list(folder.glob("net*"))


# --- Names of policy files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/runs/ppo/policy.safetensors", "ppo"),
        ("/runs/exploit/simple/policy.safetensors", "exploit/simple"),
        ("/runs/ppo/first.safetensors", "first"),
        ("/policy.safetensors", "policy"),
        ("/runs/exploit/tonic-paper/policy.safetensors", "exploit/tonic-paper"),
        ("/nets/simple.safetensors", "nets/simple"),
    ],
)
def test_policy_is_named_by_its_folder(path, name):
    assert name_of_file(path) == name


def test_path_of_a_policy_ends_at_its_first_ending():
    for more in ("", ":2"):
        name = f"missing.safetensors:estimator=own:Mine:file=w.safetensors{more}"
        with pytest.raises(FileNotFoundError, match=r"no trained policy missing\.safetensors$"):
            agents.make(name, programs=True)
