"""Matches: statistics, twin games, errors and the command line."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gin_env
from gin_env import IllegalActionError, agents, cli, play_match, records
from gin_env.agents import Agent
from gin_env.agents.simple import SimpleBot
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.game.actions import KNOCK
from gin_env.matches import matches, shards

pytestmark = pytest.mark.compiled


def test_simple_against_itself_has_the_reference_statistics():
    """300,000 games under optimal defence, 20,000 in the reference engine (tneller/gin-rummy-eaai).

    Tolerances are four standard errors of this sample (about 41,000 hands).
    """
    result = play_match("simple", "simple", 4000, seed=0)
    assert result.hands / result.games == pytest.approx(10.24, abs=0.25)
    assert result.turns / result.hands == pytest.approx(12.52, abs=0.12)
    assert sum(result.gins) / result.hands == pytest.approx(0.0210, abs=0.0035)
    assert sum(result.undercuts) / result.hands == pytest.approx(0.0442, abs=0.0045)
    assert result.voids / result.hands == pytest.approx(0.0017, abs=0.001)
    assert sum(result.points_per_hand) == pytest.approx(2 * 8.16, abs=0.35)
    assert result.win_rate == pytest.approx(0.5, abs=0.032)


@pytest.mark.parametrize(("knock_at", "reference"), [(8, 0.490), (6, 0.519), (4, 0.564), (0, 0.676)])
def test_knock_thresholds_have_the_reference_win_rates(knock_at, reference):
    """Reference engine (tneller/gin-rummy-eaai), 40,000 games; four standard errors here are 2.6 points."""
    result = play_match(agents.make("simple", knock_at=knock_at), "simple", 6000, seed=1)
    assert result.win_rate == pytest.approx(reference, abs=0.026)


def without_suit_names(hand: int) -> tuple[int, ...]:
    """Return the ranks held in each suit, sorted, which is the same after any exchange of suits."""
    return tuple(sorted(hand >> 13 * suit & 0x1FFF for suit in range(4)))


def test_twin_games_differ_only_in_suits():
    """Otherwise a bot with memory would know its opponent's hand, which it held in the other game."""
    table = Games(64)
    table.start(
        table.everyone, np.full(64, 5, np.uint64), np.arange(64, dtype=np.uint64) // 2, np.arange(64) % 2 == 1
    )
    hands = table.state["private"]["hand"].astype(np.int64)
    assert (table.state["public"]["dealer"][::2] == table.state["public"]["dealer"][1::2]).all()
    for one, other in zip(hands[::2], hands[1::2], strict=True):
        assert [without_suit_names(int(hand)) for hand in one] == [
            without_suit_names(int(hand)) for hand in other
        ]
        assert not set(one.tolist()) & set(other.tolist())


def test_games_of_a_pair_start_apart(monkeypatch):
    begun = []

    class Watched(Games):
        def start(self, games, seeds, episodes, twins=None):
            begun.extend(episodes.tolist())
            super().start(games, seeds, episodes, twins)

    monkeypatch.setattr(shards, "Games", Watched)
    monkeypatch.setattr(matches, "BATCH_SIZE", 50)
    play_match("simple", "simple", 200, 3)
    assert sorted(begun) == sorted([*range(100)] * 2)
    assert sum(a == b for a, b in itertools.pairwise(begun)) < 10


@dataclass
class Named:
    """Plays as another bot; any two with the same name are equal."""

    name: str
    bot: Agent = field(compare=False)

    def act(self, view):
        return self.bot.act(view)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_equal_bot_objects_are_still_two_bots(workers):
    bots = (Named("bot", agents.make(name)) for name in ("simple", "random"))
    assert play_match(*bots, 20, seed=1, episode="hand", workers=workers).win_rate > 0.9


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda n: np.full(n, 200), IllegalActionError),
        (lambda n: np.full(n, 0.5), TypeError),
        (lambda n: np.ones(n, bool), TypeError),  # such as a comparison instead of its argmax
        (lambda n: np.zeros(n + 1, int), ValueError),
        (lambda n: np.zeros((n, 1), int), ValueError),
    ],
)
def test_error_names_the_bot_with_invalid_actions(answer, error):
    class Broken:
        name = "broken"

        def act(self, view):
            return answer(len(view))

    with pytest.raises(error, match="broken"):
        play_match(Broken(), "simple", 2)


class FailsLate:
    """Plays the first legal action, until its 70th decision: then it fails in its own way."""

    name = "fails"

    def __init__(self, fail):
        self.decisions, self.fail = 0, fail

    def act(self, view):
        actions = view.masks().argmax(axis=1)
        self.decisions += len(view)
        return actions if self.decisions < 70 else self.fail(actions)


def crash(actions):
    raise ZeroDivisionError("broken")


@pytest.mark.parametrize("fail", [crash, lambda actions: np.full_like(actions, KNOCK)])
def test_error_of_a_bot_tells_the_game_of_the_match_and_the_position(fail, monkeypatch):
    """The game of this number comes to this position when it is played alone."""
    monkeypatch.setattr(matches, "BATCH_SIZE", 2)
    with pytest.raises((ZeroDivisionError, IllegalActionError)) as raised:
        play_match(FailsLate(fail), "simple", 8, seed=1, episode="hand")
    heading, _, position = raised.value.__notes__[0].partition("\n")
    number = int(re.search(r"in game (\d)", f"{raised.value} {heading}")[1])
    assert number not in np.random.default_rng(1).permutation(8)[:2]  # not one of the first to be played
    alone = Games(1)
    alone.start(seeds=np.uint64([1]), episodes=np.uint64([number // 2]), twins=np.array([number % 2 == 1]))
    players = FailsLate(None), SimpleBot()
    seen = []
    while not alone.done[0]:
        seat = int(alone.to_move()[0])
        seen.append(str(alone.views(alone.everyone)[0]))
        play_bot(alone, players[seat ^ number % 2], alone.everyone)
    assert position in seen


@pytest.mark.parametrize("deals", [False, True])
def test_command_line_match_writes_json(tmp_path, deals):
    path = tmp_path / "result.json"
    options = "--games", "20", "--seed", "3", "--confidence", "0.9", "--json", str(path), *["--deals"] * deals
    done = CliRunner().invoke(cli.app, ["match", "simple:knock_at=4", "simple", *options])
    assert done.exit_code == 0, done.output
    again = play_match("simple:knock_at=4", "simple", 20, seed=3)
    low, high = interval = again.confidence_interval(0.9)
    assert re.search(r"simple(:knock_at=4)? won [\d.]+ % of 20 decided games against simple", done.stdout)
    assert f"(90 % interval {100 * low:.2f} to {100 * high:.2f})" in done.stdout
    assert "games won" in done.stdout
    saved = json.loads(path.read_text())
    assert (saved["wins"], saved["interval"]) == (list(again.wins), list(interval))
    assert ("deals" in saved) == deals
    if deals:
        assert np.array_equal(gin_env.MatchResult.from_dict(saved).deals, again.deals)


class Other(SimpleBot):
    """Has the name of another bot."""


def test_recorded_players_of_one_name_have_their_own_texts(tmp_path):
    torch = pytest.importorskip("torch")
    from gin_env.agents.policies.candidate_network import CandidateScorer, save_candidate_policy

    paths = [tmp_path / folder / "mine" / "policy.safetensors" for folder in "ab"]
    for seed, path in enumerate(paths):
        torch.manual_seed(seed)
        path.parent.mkdir(parents=True)
        save_candidate_policy(path, CandidateScorer(4))
    play_match(str(paths[0]), str(paths[1]), 4, 1, episode="hand", record=tmp_path / "games.jsonl")
    for game in records.read(tmp_path / "games.jsonl"):
        assert {Path(player.bot.partition(":d")[0]) for player in game.players} == set(paths)
    play_match("simple", Other(), 2, 1, episode="hand", record=tmp_path / "others.jsonl")
    for game in records.read(tmp_path / "others.jsonl"):
        assert {player.bot for player in game.players} == {"simple:knock_at=10", None}
