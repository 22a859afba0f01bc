"""The rows of experiments: which matches they are of, and whose figures they hold."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from unplayed_runs import UnplayedRun

pytest.importorskip("torch")

from gin_env import agents
from gin_env.agents.cfr.bot import packaged_table
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from research.papers import claims
from research.papers.gallucci2021 import cfr_training, fitness
from research.questions import exploit, generations, learning
from research.reproduce import pages
from research.reproduce.by_id import EXPERIMENTS
from research.reproduce.experiment import MEDIUM, TONIC, deal_counts, match_row
from research.reproduce.results import load

pytestmark = pytest.mark.compiled

RESULTS = Path(__file__).parents[2] / pages.RESULTS
PLAYED = (
    *(
        "gallucci2021/claims",
        "gallucci2021/early-knock",
        "gallucci2021/fitness",
        "gallucci2021/medium-drops",
        "gallucci2021/readings",
        "gallucci2021/shapley",
    ),
    *(
        "gallucci2021/stages",
        "gallucci2021/tables",
        "gallucci2021/dealt",
        "gallucci2021/ten-million",
        "gallucci2021/training",
    ),
    *(
        "larkin2021/claims",
        "larkin2021/depth",
        "larkin2021/figure-4",
        "larkin2021/filters",
        "larkin2021/likelihoods",
        "larkin2021/options",
    ),
    *(
        "larkin2021/proposals",
        "larkin2021/tuning",
        "truong2021/late-knock",
        "truong2021/players",
        "francis2021/in-play",
    ),
    *("keats2017/claims", "keats2017/pools", "against-held-out", "control-bots", "exploit"),
    *("exploit-search", "generation", "generation-held-out", "generations", "outside/gold-standard"),
    *("outside/marjj", "outside/parameters", "policy", "policy-memory", "policy-score", "ppo/ablation"),
    *("ppo/candidates", "ppo/variants", "search/budgets", "search/outside", "search/strength", "variants"),
)
"""Experiments that measure matches; what some of them train is replaced by `untrained`."""
SETTINGS = {
    *("bot", "opponent", "minus", "games", "label", "curve", "threshold", "factor", "relative", "reading"),
    *("base", "filters", "proposal", "estimator", "switch", "claim", "unit", "stages", "abstraction", "seed"),
    *("iterations", "variant", "arguments", "budget", "start", "cores", "left_out", "run", "generation"),
    *("of", "samples", "turns", "trust", "by", "preset"),
}
"""Keys of a row that do not depend on how the games end."""
PREVIOUS = "previous"


@pytest.fixture
def untrained(monkeypatch):
    """Replace each training by one that returns without learning."""
    bot = SimpleNamespace(name="learned")
    table = packaged_table("paper")
    monkeypatch.setattr(cfr_training, "trained_table", lambda *about: table)
    monkeypatch.setattr(
        cfr_training.CFRTrainer,
        "run",
        lambda self, steps: setattr(self, "iterations", self.iterations + steps),
    )
    last = {"decisions": 5.0, "minutes": 7.0}
    monkeypatch.setattr(learning, "train", lambda run, example, name, _: (Path(name) / "policy", last))
    monkeypatch.setattr(learning, "learn", lambda variant, settings: (bot, 5))
    monkeypatch.setattr(learning, "VariantBot", lambda learned, name: SimpleNamespace(name=name))
    monkeypatch.setattr(exploit, "train_each", lambda settings: [0.5] * len(settings))
    monkeypatch.setattr(
        CandidatePolicyBot, "load", classmethod(lambda cls, path: SimpleNamespace(name=str(path)))
    )

    def read_generations(run, folder, last, *pool, **options):
        return [True, *[True] * last], [SimpleNamespace(name=f"{number}") for number in range(last + 1)]

    monkeypatch.setattr(generations, "read_generations", read_generations)


def settings(rows: list[dict]) -> list[dict]:
    return [{key: row[key] for key in sorted(SETTINGS & set(row))} for row in rows]


def check_figures(rows: list[dict], run: UnplayedRun) -> None:
    """Check that every row holds the figures of the match of its own bots."""
    for row in rows:
        won = row.get("won", row.get("value") if row.get("unit") == "%" and not row.get("minus") else None)
        if won is None:
            continue
        match = run.matches[round(won, 3)]
        assert {row.get("bot"), row.get("opponent")} - {None, PREVIOUS} <= set(match.bots), row
        expected = match_row(match)
        for key in {"won", "low", "high", "games", "wins", "losses", "points_per_hand", "deals"} & set(row):
            assert row[key] == pytest.approx(expected[key], abs=1e-3), (key, row)
        if "more" in row:
            plain = min(run.matches, key=lambda won: abs(row["won"] - won - row["more"]))
            assert row["won"] - plain == pytest.approx(row["more"], abs=0.002), row
            assert run.matches[plain].bots[1] == row["opponent"]
        if "undercut" in row:  # of the knocks of the bot that Tonic meets, or else of bot a
            knocking = int(row["bot"] == TONIC)
            share = 100 * match.undercuts[1 - knocking] / match.knocks[knocking]
            assert row["undercut"] == pytest.approx(share, abs=1e-3), row


@pytest.mark.parametrize("name", PLAYED)
def test_rows_are_those_of_the_published_matches_with_their_figures(name, tmp_path, untrained):
    """A quick run cannot show that a row has another bot, number of games, or match's figures."""
    result = load(RESULTS, name)
    run = UnplayedRun(result.seed, tmp_path)
    rows = EXPERIMENTS[name].measure(run)
    assert sorted(map(str, settings(rows))) == sorted(map(str, settings(result.rows)))
    check_figures(rows, run)


def test_gains_over_v2_are_against_the_opponents_of_their_names(tmp_path):
    run = UnplayedRun(0, tmp_path)
    rows, matches = fitness.measure_readings(run), iter(run.matches.values())
    for row in rows:
        assert next(matches).bots == (row["bot"], row["opponent"])
        for key, opponent in (("simple", "simple"), ("medium", MEDIUM)):
            pair = next(matches), next(matches)
            assert [match.bots for match in pair] == [(row[bot], opponent) for bot in ("bot", "opponent")]
            assert row[f"more_against_{key}_deals"] == deal_counts(*pair)


def test_claims_on_leads_and_undercuts_are_of_three_and_two_matches(tmp_path):
    run = UnplayedRun(0, tmp_path)
    about = {"pair": ("a", "b"), "minus": ("b", "c"), "games": 20, "other_games": 10}
    told = [claims.PaperClaim("", paper="", unit=unit, **about) for unit in ("lead", "undercuts")]
    rows = [claims.measure_claim(claim, run) for claim in told]
    match, other, third, *of_knocks = run.matches.values()
    assert ["".join(one.bots) for one in run.matches.values()] == ["ab", "bc", "ac", "ab", "bc"]
    assert rows[0]["parts"] == [deal_counts(match), deal_counts(third, other)]
    assert rows[1]["parts"] == [[one.undercuts[0], one.knocks[1]] for one in of_knocks]
    assert [row["games"] for row in rows] == [20 + 10 + 10, 20 + 10]


def test_knocks_and_draws_alone_are_measured_without_careful_discards(tmp_path):
    run = UnplayedRun(0, tmp_path)
    rows = EXPERIMENTS["francis2021/in-play"].measure(run)
    for row, bot in zip(rows, map(agents.resolve, run.met), strict=True):
        expected = {"knock alone": (False, True, False), "draw alone": (False, False, True)}
        expected |= {"all three": (True, True, True)}
        switches = bot.caution > 0, bot.knock, bot.draw
        assert switches == expected.get(row["switch"], (True, False, False)), bot.name


def test_hands_ended_by_a_bot_are_those_that_it_knocked(tmp_path):
    rows = EXPERIMENTS["outside/gold-standard"].measure(UnplayedRun(0, tmp_path))
    assert [row["ended_hands"] for row in rows] == [2, 4, 6, 8, 10, 12, 13]
    for row in rows:
        assert (row["hands"], row["ended_by_gold"], row["gold_gins"]) == (
            300,
            2,
            pytest.approx(2 / 3, abs=1e-3),
        )
        assert row["ended"] == pytest.approx(row["ended_hands"] / 3, abs=1e-3)


def test_trainings_have_different_names_in_the_match_log(monkeypatch):
    played = []
    figures = dict.fromkeys(("opponent", "games", "won", "low", "high", "deals"))
    monkeypatch.setattr(learning, "match_row", lambda match: figures)
    log = SimpleNamespace(play=lambda names, *about: played.append(names))
    run = SimpleNamespace(log=log, used=lambda *bots: None, size=int)
    for name in ("0-seed-1", "0-seed-2"):
        learning.play(run, Path(name) / "policy.safetensors", ["simple"], 2, {})
    assert played == [("0-seed-1", "simple"), ("0-seed-2", "simple")]
