"""The sums of a match: every figure of a hand counts for the right bot, in either seat."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

import numpy as np
import pytest
import tqdm
from hand_endings import SHORT, NeverKnocks, Plain
from made_up_matches import made_up_match
from watching_bots import PlaysItself

from gin_env import MatchResult, Rules, play_match
from gin_env.game.batch_kernels import HAND_RESULT
from gin_env.game.state import GIN, KNOCK_WON, UNDERCUT, VOID
from gin_env.matches import matches, shards
from gin_env.matches import reporting as match_progress
from gin_env.matches.intervals import win_rate_interval
from gin_env.matches.shards import DEAL_RESULT

# Figures are powers of two, so a sum identifies its terms.
HANDS = np.zeros(6, HAND_RESULT)
HANDS["ended"] = True
HANDS["outcome"] = KNOCK_WON, KNOCK_WON, GIN, UNDERCUT, UNDERCUT, VOID
HANDS["winner"] = 0, 1, 0, 0, 0, -1
HANDS["knocker"] = 0, 1, 0, 1, 1, -1
HANDS["points"] = 1, 2, 4, 8, 16, 0
HANDS["turns"] = 1, 2, 4, 8, 16, 32


@pytest.mark.parametrize("seat_of_a", [0, 1])
def test_hands_count_for_the_bot_in_the_seat(seat_of_a):
    tally = shards.Tally(3)
    tally.add_hands(HANDS, np.full(6, 4 + seat_of_a))
    assert (tally.deals["hands"].tolist(), tally.voids, tally.turns) == ([0, 0, 6], 1, 63)
    by_seat = {"knocks": [2, 3], "gins": [1, 0], "undercuts": [2, 0]}
    for name, figures in by_seat.items():
        assert getattr(tally, name).tolist() == (figures[::-1] if seat_of_a else figures), name
    points = [1 + 4 + 8 + 16, 2]
    assert tally.deals["points"].tolist() == [[0, 0], [0, 0], points[::-1] if seat_of_a else points]


def test_batch_counts_hands_with_bot_a_in_either_seat():
    tally = shards.Tally(2)
    tally.add_hands(HANDS, np.array([0, 1, 1, 0, 3, 2]))
    # a wins the first two and the fourth, b the gin and the fifth, in which a knocked.
    assert tally.deals["points"].tolist() == [[1 + 2 + 8, 4], [0, 16]]
    assert tally.deals["hands"].tolist() == [4, 2]
    assert tally.knocks.tolist() == [1 + 1 + 1, 1 + 1]
    assert tally.gins.tolist() == [0, 1]
    assert tally.undercuts.tolist() == [1, 1]


def test_games_count_for_the_bot_in_the_winning_seat():
    tally = shards.Tally(4)
    tally.add_games(np.array([0, 0, 1, 1, 1, -1, -1]), np.array([0, 1, 2, 3, 5, 6, 7]))
    assert tally.deals["wins"].tolist() == [[1, 1], [1, 1], [1, 0], [0, 0]]
    tally.add_games(np.array([0]), np.array([4]))
    assert tally.deals["wins"].tolist() == [[1, 1], [1, 1], [2, 0], [0, 0]]


@pytest.mark.parametrize("episode", ["game", "hand"])
@pytest.mark.compiled
def test_deals_sum_to_the_match_for_any_batch_size(episode, monkeypatch):
    whole = play_match("simple", "simple:knock_at=4", 60, seed=4, episode=episode)
    assert whole.deals.shape == (30,)
    assert tuple(whole.deals["wins"].sum(axis=0)) == whole.wins
    assert tuple(whole.deals["points"].sum(axis=0)) == whole.points
    assert whole.deals["hands"].sum() == whole.hands
    assert whole.deals["wins"].sum(axis=1).max() == 2
    assert whole.deals["hands"].min() >= 2
    monkeypatch.setattr(matches, "BATCH_SIZE", 14)
    again = play_match("simple", "simple:knock_at=4", 60, seed=4, episode=episode)
    assert np.array_equal(again.deals, whole.deals)
    with pytest.raises(ValueError, match="read-only"):
        whole.deals["wins"] = 0


def test_win_rate_counts_decided_games_only():
    assert made_up_match().win_rate == 0.75
    assert made_up_match(bots=("b", "a"), wins=(1, 3)).win_rate == 0.25
    assert made_up_match(wins=(0, 0)).win_rate == 0.5
    assert made_up_match(wins=(0, 0)).interval == (0, 1)
    low, high = made_up_match(wins=(80, 20)).interval
    assert 0.7 < low < 0.8 < high < 0.9
    assert made_up_match(games=1000).interval == made_up_match().interval
    assert made_up_match().points_per_hand == (4.5, 1.5)


DEALS = np.array(
    [
        ((2, 0), (60, 0), 4),
        ((1, 0), (20, 10), 6),
        ((0, 1), (10, 20), 5),
        ((0, 0), (0, 0), 3),
        ((0, 0), (0, 0), 2),
    ],
    matches.DEAL_RESULT,
)
"""Five deals that come to the same as `made_up_match`."""


def test_interval_pairs_the_games_of_a_deal():
    paired = made_up_match(deals=DEALS)
    wins, decided = paired.wins_and_decided
    assert (wins.tolist(), decided.tolist()) == ([2, 1, 0, 0, 0], [2, 1, 1, 0, 0])
    # r = won - 3/4 decided: 1/2, 1/4, -3/4; the variance 5/4 (1/4 + 1/16 + 9/16) / 4^2 over (3/4) (1/4) / 4
    assert paired.design_effect == pytest.approx(1.25 * 0.875 / 16 / (0.1875 / 4))
    assert paired.confidence_interval(0.9) == win_rate_interval(wins, decided, 0.9)
    assert paired.interval != paired.wilson_interval() == made_up_match().wilson_interval()
    assert made_up_match().interval == made_up_match().wilson_interval()
    assert made_up_match().design_effect is None


def test_points_per_hand_have_intervals_over_the_deals():
    a, b = made_up_match(deals=DEALS).points_intervals(0.9)
    # Deviations from 4.5 a hand: 60 - 18, 20 - 27, 10 - 22.5, -13.5, -9; t with 4 degrees of freedom: 2.1318.
    for interval, mean, errors in ((a, 4.5, (42, 7, 12.5, 13.5, 9)), (b, 1.5, (6, 1, 12.5, 4.5, 3))):
        half = 2.1318 * np.sqrt(np.square(errors).sum() / 4 * 5) / 20
        assert interval == pytest.approx((mean - half, mean + half), abs=1e-3)
    with pytest.raises(ValueError, match="play the match again"):
        made_up_match().points_intervals()
    with pytest.raises(ValueError, match="at least two deals"):
        play_match("random", "random", 2, seed=1, episode="hand").points_intervals()


def test_swapped_match_exchanges_the_bots():
    swapped = made_up_match(deals=DEALS).swapped()
    assert (swapped.bots, swapped.wins) == (("b", "a"), (1, 3))
    assert (swapped.points, swapped.gins) == ((30, 90), (2, 4))
    assert swapped.deals["wins"].tolist() == [[0, 2], [0, 1], [1, 0], [0, 0], [0, 0]]
    assert swapped.deals["points"][1].tolist() == [10, 20]
    low, high = made_up_match(deals=DEALS).interval
    assert swapped.interval == pytest.approx((1 - high, 1 - low))
    assert made_up_match().swapped().deals is None


def test_summary_shows_each_figure_in_its_place():
    low, high = (100 * end for end in made_up_match().confidence_interval(0.9))
    assert made_up_match().summary(0.9).splitlines() == [
        f"a won 75.00 % of 4 decided hands against b (90 % interval {low:.2f} to {high:.2f})",
        "",
        "                          a      b",
        "hands won                 3      1",
        "points per hand        4.50   1.50",
        "gin, % of hands       20.00  10.00",
        "undercut, % of hands   5.00  10.00",
        "",
        "20 hands of 12.5 turns on average, 25.00 % void; seed 3",
    ]


def test_json_holds_every_figure():
    assert made_up_match().as_dict(0.9) == {
        "bots": ("a", "b"), "games": 10, "seed": 3, "episode": "hand", "wins": (3, 1), "hands": 20,
        "knocks": (7, 5), "gins": (4, 2), "undercuts": (1, 2), "voids": 5, "points": (90, 30), "turns": 250,
        "win_rate": 0.75, "confidence": 0.9, "interval": made_up_match().confidence_interval(0.9),
        "points_per_hand": (4.5, 1.5), "rules": asdict(Rules()),
        "wilson_interval": made_up_match().wilson_interval(0.9), "design_effect": None,
        "points_intervals": None,
    }  # fmt: skip
    paired = made_up_match(deals=DEALS)
    assert paired.as_dict(0.9) == made_up_match().as_dict(0.9) | {
        "interval": paired.confidence_interval(0.9),
        "design_effect": paired.design_effect,
        "points_intervals": paired.points_intervals(0.9),
    }
    assert paired.as_dict(0.9, deals=True)["deals"] == {
        "wins": [[2, 0], [1, 0], [0, 1], [0, 0], [0, 0]],
        "points": [[60, 0], [20, 10], [10, 20], [0, 0], [0, 0]],
        "hands": [4, 6, 5, 3, 2],
    }


@pytest.mark.parametrize("deals", [None, DEALS])
def test_match_json_round_trips(deals):
    result = made_up_match(deals=deals, rules=Rules(target_score=50))
    again = MatchResult.from_dict(json.loads(json.dumps(result.as_dict(deals=deals is not None))))
    assert again == result
    assert again.interval == result.interval
    assert deals is None or (again.deals.dtype == deals.dtype and np.array_equal(again.deals, deals))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"undercuts": None}, "not a match result: "),
        ({"wins": [100, 100]}, "not a match result: wins must add up to at most 10 games"),
        ({"wins": [7, -2]}, "not a match result: wins must be at least 0"),
        ({"hands": 0}, "not a match result: .* hands at least 1"),
        ({"bots": ["simple"]}, "not a match result: bots must have two entries, not 1"),
        (
            {"deals": {name: [[0, 0]] for name in DEAL_RESULT.names}},
            "not a match result: .* must have 5 deals",
        ),
        ({"deals": {name: [[300, 0]] * 5 for name in DEAL_RESULT.names}}, "not a match result: "),
        ({"games": "four"}, "not a match result: "),
        ({"rules": {"knock": 3}}, "not a match result: .*knock"),
    ],
    ids=lambda value: "",
)
def test_other_json_is_not_a_match_result(changed, message):
    with pytest.raises(ValueError, match=message):
        MatchResult.from_dict(made_up_match().as_dict() | changed)


def test_summary_of_a_match_without_a_decided_hand():
    match = play_match(NeverKnocks(), NeverKnocks(), 4, seed=2, episode="hand")
    assert match.summary().startswith("no hand of 4 was decided between ")


def test_progress_adds_up_to_the_games():
    reported: list[int] = []
    play_match(Plain(), NeverKnocks(), 20, seed=2, episode="hand", progress=reported.append)
    assert sum(reported) == 20
    assert min(reported) > 0


def test_progress_bar_counts_every_game(monkeypatch):
    added: list[int] = []
    monkeypatch.setattr(tqdm.tqdm, "update", lambda bar, number: added.append(number))
    play_match(Plain(), NeverKnocks(), 20, seed=2, episode="hand", progress=True)
    assert sum(added) == 20


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_progress_bar_says_why_games_of_beginners_are_long(workers, monkeypatch, capsys):
    monkeypatch.setattr(match_progress, "SECONDS", 0.0)
    match = play_match("random", "random", 20, seed=2, progress=True, workers=workers)
    shown = capsys.readouterr().err
    assert match.voids > match.hands / 2
    assert re.search(r"[\d,]+ hands, \d+ % void", shown)
    assert shown.count(match_progress.LONG_GAMES) == 1


def test_progress_bar_is_quiet_about_short_games(monkeypatch, capsys):
    monkeypatch.setattr(match_progress, "SECONDS", 0.0)
    play_match("simple", "simple", 20, seed=2, progress=True)
    play_match("random", "random", 2000, seed=2, progress=True, episode="hand")
    assert "most hands are void" not in capsys.readouterr().err


@pytest.mark.parametrize("progress", ["yes", 1])
def test_progress_must_be_a_switch_or_a_function(progress):
    with pytest.raises(TypeError, match="progress must be True, False or a function, not"):
        play_match("simple", "simple", 2, progress=progress)


class TieBreaks(PlaysItself, Plain):
    """Records the random numbers of its first decisions and the ranks in its hand."""

    name = "tie-breaks"

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, ...], list[int]] = {}

    def act(self, view):
        for record in view.array[view.array["public"]["history_length"] == 0]:
            hand = int(record["private"]["hand"])
            ranks = tuple(sorted(card % 13 for card in range(52) if hand >> card & 1))
            self.numbers.setdefault(ranks, []).append(int(record["random"]))
        return super().act(view)


def test_games_of_a_pair_break_ties_differently():
    bot = TieBreaks()
    play_match(bot, bot, 40, seed=4, episode="hand")
    assert len(bot.numbers) == 20, "each deal is played twice"
    assert all(len(set(numbers)) == 2 for numbers in bot.numbers.values())


def test_winner_of_an_episode_won_the_hand_or_reached_the_target():
    hands, table = matches.Games(3), matches.Games(4, episode="game")
    hands.results["winner"] = [0, -1, 1]
    assert shards.winners(hands, np.arange(3)).tolist() == [0, -1, 1]
    table.state["public"]["scores"] = [[100, 99], [99, 100], [99, 99], [30, 130]]
    table.results["winner"] = 0  # of the last hand, not checked
    assert shards.winners(table, np.arange(4)).tolist() == [0, 1, -1, 1]


def test_each_bot_plays_both_seats_of_every_deal():
    class Seated(PlaysItself, Plain):
        def __init__(self):
            self.name, self.seen = "seated", []

        def act(self, view):
            for record in view.array[view.array["public"]["history_length"] < 2]:
                ranks = sorted(card % 13 for card in range(52) if int(record["private"]["hand"]) >> card & 1)
                self.seen.append((int(record["player"]), int(record["public"]["dealer"]), *ranks))
            return super().act(view)

    bots = Seated(), Seated()
    result = play_match(*bots, 12, seed=3, episode="hand", rules=SHORT)
    assert sorted(bots[0].seen) == sorted(bots[1].seen)
    assert {seen[0] for seen in bots[0].seen} == {0, 1}
    assert result.seed == 3


@pytest.mark.parametrize(
    ("games", "error"),
    [(0, ValueError), (-2, ValueError), (3, ValueError), (2.0, TypeError), (True, TypeError)],
)
def test_invalid_number_of_games_raises(games, error):
    with pytest.raises(error, match="games must be"):
        play_match(Plain(), Plain(), games)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, float("nan"), True, "0.9"])
def test_confidence_outside_0_to_1_raises(confidence):
    for ask in (made_up_match().confidence_interval, made_up_match().summary, made_up_match().as_dict):
        with pytest.raises((ValueError, TypeError), match="confidence"):
            ask(confidence)
    assert matches.check_confidence(np.float32(0.5)) == 0.5


def test_match_reports_its_random_seed(tmp_path):
    first, second = (play_match(Plain(), Plain(), 2, episode="hand", rules=SHORT) for _ in range(2))
    assert first.seed != second.seed
    assert f"seed {first.seed}" in str(first)
    first.save(tmp_path / "match.json", 0.8)
    saved = json.loads((tmp_path / "match.json").read_text())
    assert saved == json.loads(json.dumps(first.as_dict(0.8)))
    assert saved["confidence"] == 0.8


def test_seed_reproduces_the_reference_match():
    """Papers quote results with their seed; the second game of a pair is the twin."""
    result = play_match(Plain(), NeverKnocks(), 12, seed=5, episode="hand")
    assert (result.wins, result.knocks, result.points, result.undercuts) == ((5, 2), (7, 0), (88, 58), (0, 2))
    assert (result.hands, result.turns, result.voids) == (12, 271, 5)
