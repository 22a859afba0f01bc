"""Provenance of results: full bot names, hashes of files and decisions, and changes since."""

from __future__ import annotations

import hashlib
import json

import pytest
from packaged_files import description, packaged, packaged_files

from gin_env import agents
from gin_env.agents.cfr.table import FORMAT as STRATEGY_TABLE
from gin_env.agents.simple import SimpleBot
from gin_env.estimators.ensemble import FORMAT as ENSEMBLE_TABLE
from gin_env.estimators.frequencies import FORMAT as FREQUENCIES
from gin_env.matches.provenance import (
    changes,
    describe_bot,
    describe_estimator,
    hash_files,
    named_alike,
    spell_out_bot,
)

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    ("bot", "spelled"),
    [
        ("random", "random"),
        ("simple", "simple:knock_at=10"),
        ("simple:knock_at=variable", "simple:knock_at=10+10+10+10+8+6+4+3"),
        ("medium:knock_at=8", "medium:minimum_drop=3,knock_at=8,cautious_knock_at=7,exact=false"),
        ("late-knock-paper", "late-knock:useful_draws=true"),
        (
            "tonic-paper:pair_turns=3",
            "tonic:increment=1.5,decrement=0.75,decline=0.4,held=0.86,knock_at=10+10+10+10+8+6+4+3,"
            "pair_turns=3,max_pair_points=18,keep_pairs_below=21+21+12+11+10+0,filtered_fallback=false,"
            "break_pairs=false,depth_growth=0.0",
        ),
        ("runs/policy.safetensors", "runs/policy.safetensors"),
        ("process:gin-rummy serve-bot simple", "process:gin-rummy serve-bot simple"),
    ],
)
def test_every_parameter_is_spelled_out(bot, spelled):
    assert spell_out_bot(bot) == spelled


@pytest.mark.parametrize("name", [*agents.names(slow=False), "search:samples=16"])
def test_full_spelling_makes_the_same_bot(name):
    described = describe_bot(name)
    assert describe_bot(described["spelled"])["decisions"] == described["decisions"]
    assert changes(described) == []
    assert json.loads(json.dumps(described)) == described


def test_files_of_bot_and_estimator_have_hashes():
    described = describe_bot("offensive")
    assert described["estimator"] == "bayes-isru:table=simple,alpha=1.0,normalised=false"
    network = "agents/hand_strength/data/dual-inception-random-256.safetensors"
    assert set(described["files"]) == {network, "estimators/data/frequencies_simple.npz"}
    assert described["files"][network] == hashlib.sha256(packaged(network).read_bytes()).hexdigest()
    searching = describe_bot("search:samples=16,opponent=cfr-plus")["files"]
    assert set(searching) == {
        "agents/cfr/data/cfr_plus.npz",
        "agents/data/policy-gains.safetensors",
        "agents/data/policy.safetensors",
        "agents/search/data/opponents.safetensors",
        "estimators/data/suit_equivariant_policy.safetensors",
    }
    recognising = describe_bot("search:samples=16")["files"]
    assert set(recognising) - set(searching) == {
        "agents/data/policy-1.safetensors",
        "estimators/data/suit_equivariant_simple.safetensors",
    }
    assert set(describe_bot("cfr-plus")["files"]) == {"agents/cfr/data/cfr_plus.npz"}
    assert set(describe_estimator("ensemble")["files"]) == {
        f"estimators/data/{name}"
        for name in (
            "ensemble_simple.npz",
            "frequencies_simple.npz",
            "nn_simple.safetensors",
            "shankar_cnn_simple.safetensors",
        )
    }
    assert describe_estimator("nn:weights=tonic")["spelled"] == "nn:weights=tonic"


def test_changes_are_described(tmp_path):
    stored = describe_bot("simple")
    assert changes(stored | {"decisions": "0"}) == [
        f"simple: different decisions now: {stored['decisions']}, stored 0"
    ]
    assert (
        "different parameters now: simple:knock_at=10"
        in changes(stored | {"spelled": "simple:knock_at=9"})[0]
    )
    assert "unknown bot 'nobody'" in changes(stored | {"bot": "nobody"})[0]
    table = tmp_path / "table.npz"
    table.write_bytes(packaged("agents/cfr/data/cfr_paper.npz").read_bytes())
    stored = describe_bot(f"cfr:table={table}")
    assert changes(stored) == []
    parts, described = STRATEGY_TABLE.read(table)
    STRATEGY_TABLE.write(table, parts, described | {"another": "file"})
    (line,) = changes(stored)
    assert line.startswith(f"cfr:table={table}: different files now")


def test_many_positions_distinguish_rare_decisions():
    two, three = (describe_bot(f"tonic-paper:pair_turns={turns}") for turns in (2, 3))
    assert two["decisions"] == three["decisions"]
    assert two["many_decisions"] != three["many_decisions"]
    (line,) = changes(two | {"many_decisions": three["many_decisions"]})
    assert "different decisions in many positions now" in line
    assert changes({key: value for key, value in two.items() if key != "many_decisions"}) == []
    assert describe_bot("search:samples=16")["many_decisions"] is None


def test_estimators_are_identified_by_their_estimates():
    one, other = (describe_estimator(f"bayes:least_observations={least}") for least in (50, 500))
    assert len(one["says"]) == 8
    assert one["says"] != other["says"]
    assert changes(one) == []
    assert changes(one | {"says": [value + 2e-7 for value in one["says"]]}) == []
    (line,) = changes(one | {"says": other["says"]})
    assert "different estimates now" in line


def test_bot_object_is_described_by_its_class():
    described = describe_bot(SimpleBot(4))
    assert described["made_by"] == "gin_env.agents.simple.SimpleBot"
    assert described["decisions"] == describe_bot("simple:knock_at=4")["decisions"]
    assert changes(described) == changes(described, SimpleBot(4)) == []
    few, many = changes(described, SimpleBot(5))
    assert "different decisions now" in few
    assert "different decisions in many positions now" in many


def test_bot_object_is_named_like_the_packaged_bot_of_its_class():
    class Extended(SimpleBot):
        pass

    bots = (SimpleBot(4), Extended(), agents.make("generation"), agents.make("offensive"))
    assert [named_alike(bot) for bot in bots] == ["simple", "simple", "generation", "offensive"]
    assert named_alike(object()) is None


def test_program_named_in_a_result_is_not_started(tmp_path):
    traces = tmp_path / "run"
    assert changes({"bot": f"process:touch {traces}", "spelled": "", "files": {}, "decisions": "0"}) == []
    assert not traces.exists()


RENAMED = {
    "policy:deterministic=true": "policy-1",
    "policy-2:deterministic=true": "policy:margin=none",
}
"""Bots that had other names when files were made, by their full spelling then."""


def with_present_name(player):
    """Return the description of a bot under its name of today; its decisions stay as they were stored."""
    name = RENAMED.get(player["spelled"])
    if name is None:
        return player
    return player | {"bot": name, "spelled": spell_out_bot(name), "files": hash_files(name)}


@pytest.mark.parametrize("path", packaged_files(), ids=lambda path: path.stem)
def test_bots_that_made_packaged_files_are_unchanged(path):
    described = description(path)
    assert described["command"].startswith(("gin-rummy train ", "python examples/"))
    players = described.get("players", [])
    assert players or path.stem in ("cfr_paper", "cfr_plus"), "it does not say who played"
    changed = [line for player in players for line in changes(with_present_name(player))]
    assert changed == [], f"make {path.name} again, or name the bot that it watched: {described['command']}"


def test_tonic_weights_were_trained_on_tonic_paper():
    for stem in ("nn_tonic", "shankar_cnn_tonic"):
        described = description(packaged(f"estimators/data/{stem}.safetensors"))
        assert described["opponents"] == ["tonic-paper"]
        assert described["command"].endswith("--opponents tonic-paper")


def test_packaged_tables_have_the_expected_formats():
    for file, table in (
        ("agents/cfr/data/cfr_paper.npz", STRATEGY_TABLE),
        ("estimators/data/frequencies_simple.npz", FREQUENCIES),
        ("estimators/data/ensemble_simple.npz", ENSEMBLE_TABLE),
    ):
        assert table.read(packaged(file))[1]["origin"]["keys"].startswith("those before commit c304ec0")
