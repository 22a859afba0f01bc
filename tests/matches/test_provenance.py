"""Provenance of results: full bot names, hashes of files and decisions."""

from __future__ import annotations

import hashlib
import json
from types import SimpleNamespace

import pytest
from packaged_files import description, packaged

from gin_env import agents, estimators
from gin_env.agents.simple import SimpleBot
from gin_env.matches import provenance
from gin_env.matches.fixed_positions import decision_hash
from gin_env.matches.provenance import describe_bot, hash_files, spell_out_bot, spell_out_estimator
from gin_env.support.specs import files_of

pytestmark = pytest.mark.compiled

SEARCH = "search:samples=2,turns=1,tried=2"


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


@pytest.mark.parametrize("name", [*agents.names(slow=False), pytest.param(SEARCH, marks=pytest.mark.long)])
def test_full_spelling_makes_the_same_bot(name, monkeypatch):
    if name == SEARCH:
        monkeypatch.setattr(provenance, "decision_hash", lambda bot, **rest: decision_hash(bot, 1, **rest))
    described = describe_bot(name)
    assert describe_bot(described["spelled"])["decisions"] == described["decisions"]
    assert json.loads(json.dumps(described)) == described
    assert described["game_decisions"] != described["decisions"]
    assert (described["many_decisions"] is None) == (name == SEARCH)


def test_files_of_bot_and_estimator_have_hashes():
    described = describe_bot("offensive")
    assert described["estimator"] == "bayes-isru:table=simple,alpha=1.0,normalised=false"
    network = "agents/hand_strength/data/dual-inception-random-256.safetensors"
    assert set(described["files"]) == {network, "estimators/data/frequencies_simple.npz"}
    assert described["files"][network] == hashlib.sha256(packaged(network).read_bytes()).hexdigest()
    searching = hash_files(agents.make("search:samples=16,opponent=cfr-plus").files)
    assert set(searching) == {
        "agents/cfr/data/cfr_plus.npz",
        "agents/data/policy-gains.safetensors",
        "agents/data/policy.safetensors",
        "agents/search/data/opponents.safetensors",
        "estimators/data/suit_equivariant_policy.safetensors",
    }
    recognising = hash_files(agents.make("search:samples=16").files)
    assert set(recognising) - set(searching) == {
        "agents/data/policy-1.safetensors",
        "estimators/data/suit_equivariant_simple.safetensors",
    }
    assert set(hash_files(agents.make("cfr-plus").files)) == {"agents/cfr/data/cfr_plus.npz"}
    assert hash_files(agents.make("safe-discard").files) == hash_files(estimators.make("bayes").files)
    assert set(hash_files(estimators.make("ensemble").files)) == {
        f"estimators/data/{name}"
        for name in (
            "ensemble_simple.npz",
            "frequencies_simple.npz",
            "nn_simple.safetensors",
            "shankar_cnn_simple.safetensors",
        )
    }
    assert spell_out_estimator("nn:weights=tonic") == "nn:weights=tonic"


def test_bot_object_is_described_by_its_class():
    described = describe_bot(SimpleBot(4))
    assert described["made_by"] == "gin_env.agents.simple.SimpleBot"
    assert described["decisions"] == describe_bot("simple:knock_at=4")["decisions"]


def test_bot_of_the_users_own_can_name_its_files(tmp_path):
    (tmp_path / "weights").write_bytes(b"1")
    for named, count in (([str(tmp_path / "weights")], 1), ({"weights": 3}, 0)):
        assert len(hash_files(files_of(SimpleNamespace(name="mine", files=named)))) == count


def test_tonic_weights_were_trained_on_tonic_paper():
    for stem in ("nn_tonic", "shankar_cnn_tonic"):
        described = description(packaged(f"estimators/data/{stem}.safetensors"))
        assert described["opponents"] == ["tonic-paper"]
        assert described["command"].endswith("--opponents tonic-paper")
