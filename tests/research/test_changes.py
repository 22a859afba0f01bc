"""What has changed in bots and estimators since their descriptions were stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaged_files import description, packaged, packaged_files

from gin_env import agents
from gin_env.agents.cfr.bot import FORMAT as STRATEGY_TABLE
from gin_env.agents.simple import SimpleBot
from gin_env.matches.provenance import describe_bot, hash_files, spell_out_bot
from research.questions.recognition import forgetful
from research.reproduce import pages
from research.reproduce.changes import changes, describe_estimator, named_alike, not_compared, sees_games
from research.reproduce.results import load

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
METRICS = load(ROOT / pages.RESULTS, "francis2021/metrics")


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


def test_parameters_added_since_are_no_change():
    now = describe_bot("marjj")
    older = "marjj:future_weight=20.0,discount=0.9,best_draws=6,danger_weight=1.0,knock_turns=3"
    assert older != now["spelled"]
    assert changes(now | {"spelled": older}) == []
    (line,) = changes(now | {"spelled": older.replace("20.0", "18.0")})
    assert "different parameters now" in line


def test_many_positions_distinguish_rare_decisions():
    two, three = (describe_bot(f"tonic-paper:pair_turns={turns}") for turns in (2, 3))
    assert two["decisions"] == three["decisions"]
    assert two["many_decisions"] != three["many_decisions"]
    (line,) = changes(two | {"many_decisions": three["many_decisions"]})
    assert "different decisions in many positions now" in line
    assert changes({key: value for key, value in two.items() if key != "many_decisions"}) == []


def test_positions_of_games_distinguish_score_and_memory():
    remembers, forgets = describe_bot("policy-memory"), describe_bot(forgetful())
    for part in ("decisions", "many_decisions"):
        assert remembers[part] == forgets[part]
    (line,) = changes(remembers | {"game_decisions": forgets["game_decisions"]})
    assert "different decisions in the middle of games now" in line
    assert [sees_games(agents.make(bot)) for bot in ("policy-memory", "policy", "tonic")] == [
        True,
        True,
        False,
    ]


def test_what_the_hash_does_not_see_is_named():
    policy, tonic = ({"bot": bot, "decisions": "0"} for bot in ("policy", "tonic"))
    assert not_compared(policy) == "what policy decides after the first hand of a game"
    assert not_compared(policy | {"game_decisions": "0"}) is None
    assert not_compared(tonic) is None
    rare = "rare decisions of tonic, which has no hash of many positions"
    assert not_compared(tonic | {"many_decisions": None}) == rare
    made = describe_bot(SimpleBot(4))
    assert not_compared(made) == "bots that the experiment trained or changed"
    assert not_compared(made, SimpleBot(4)) is None
    assert not_compared({"bot": "process:no-such"}) == "process:no-such, a program or a class"


def test_estimators_are_identified_by_their_estimates():
    one, other = (describe_estimator(f"bayes:least_observations={least}") for least in (50, 500))
    assert len(one["says"]) == 8
    assert one["says"] != other["says"]
    assert changes(one) == []
    assert changes(one | {"says": [value + 2e-7 for value in one["says"]]}) == []
    (line,) = changes(one | {"says": other["says"]})
    assert "different estimates now" in line


@pytest.mark.parametrize("described", METRICS.estimators, ids=lambda described: described["estimator"])
def test_published_estimators_are_unchanged(described):
    assert changes(described) == [], f"measure its metrics again: {METRICS.command}"


@pytest.mark.parametrize("name", ["policy", "policy-memory", "cfr-plus", "defensive", "balanced"])
def test_published_bots_are_unchanged(name):
    """No packaged file was made with them, unlike with other bots, and not all have a frozen reading."""
    assert changes(json.loads((ROOT / "leaderboard" / f"{name}.json").read_text())["player"]) == []


def test_bot_object_is_compared_with_one_made_again():
    described = describe_bot(SimpleBot(4))
    assert changes(described) == changes(described, SimpleBot(4)) == []
    few, many, games = changes(described, SimpleBot(5))
    assert "different decisions now" in few
    assert "different decisions in many positions now" in many
    assert "different decisions in the middle of games now" in games


def test_bot_object_is_named_like_the_packaged_bot_of_its_class():
    class Extended(SimpleBot):
        pass

    bots = (SimpleBot(4), Extended(), agents.make("generation"), agents.make("offensive"))
    assert [named_alike(bot) for bot in bots] == ["simple", "simple", "generation", "offensive"]
    assert named_alike(object()) is None


def test_program_named_in_a_result_is_not_started(tmp_path):
    traces = tmp_path / "run"
    for name in (f"process:touch {traces}", "no_such_module:Bot"):
        assert changes({"bot": name, "spelled": "", "files": {}, "decisions": "0"}) == []
    assert not traces.exists()


RENAMED = {
    "policy:deterministic=true": "policy-1",
    "policy-2:deterministic=true": "policy:margin=none",
    "cfr:table=none,candidates=none,purified=true,stages=hard": "cfr",
}
"""Bots that had other names or parameters when files were made, by their full spelling then."""


def with_present_name(player):
    """Return the description of a bot under its name of today; its decisions stay as they were stored."""
    name = RENAMED.get(player["spelled"])
    if name is None:
        return player
    return player | {
        "bot": name,
        "spelled": spell_out_bot(name),
        "files": hash_files(agents.make(name).files),
    }


@pytest.mark.parametrize("path", packaged_files(), ids=lambda path: path.stem)
def test_bots_that_made_packaged_files_are_unchanged(path):
    described = description(path)
    assert described["command"].startswith(("gin-rummy train ", "python examples/"))
    players = described.get("players", [])
    assert players or path.stem in ("cfr_paper", "cfr_plus"), "it does not say who played"
    changed = [line for player in players for line in changes(with_present_name(player))]
    assert changed == [], f"make {path.name} again, or name the bot that it watched: {described['command']}"
