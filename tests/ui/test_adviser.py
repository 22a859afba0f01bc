"""Advice by rollouts, its words, reviews, opponents by name, and hands as links."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hand_endings import person_to_discard
from hands_in_words import action
from python_programs import run_python
from recorded_games import one_hand
from screens import Judge, play_hands
from test_replay_and_explain import told

from gin_env import Rules, cards, records
from gin_env.game.melds import deadwood
from gin_env.observations.views import PlayerView
from gin_env.ui.adviser import Advice, Adviser, Move, lines_of, why
from gin_env.ui.explanations import RankedChoice
from gin_env.ui.human_game import HumanGame
from gin_env.ui.links import hand_of, link_of
from gin_env.ui.opponents import OPPONENTS, find_opponent, name_of
from gin_env.ui.review import luck_of, mistakes_of, review_hand, totals_of

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def adviser() -> Adviser:
    return Adviser("simple", num_worlds=64)


# --- Advice -----------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_gin_is_advised_and_wins_most(adviser):
    advice = adviser.advise(person_to_discard("gin by 0", "simple").view)
    assert advice.best.action == action("knock KD")
    assert advice.best.points > 25
    assert [move.win for move in advice.moves[1:]] == sorted((m.win for m in advice.moves[1:]), reverse=True)
    assert all(0 <= move.win <= 1 and move.error >= 0 for move in advice.moves)


@pytest.mark.compiled
def test_card_that_completes_a_third_meld_is_taken(adviser):
    """Taking 2D leaves gin but for the ace; passing gives it to nobody who needs it."""
    advice = adviser.advise(told("2D"))
    assert advice.best.action == action("take")
    assert advice.cost(advice.moves[1]) > 0.02
    assert why(advice, told("2D"), "Nora") == "2♦ makes 2♥ 2♠ 2♦ and leaves 1 deadwood, 14 less than now."


@pytest.mark.compiled
def test_advice_depends_on_the_course_of_the_hand_alone(adviser):
    view = told("7H", "pass", "pass", "draw", drew="2D")
    other = PlayerView.of_array(view.array.copy())
    other.array["random"] += 1
    assert adviser.advise(view) == adviser.advise(other)


@pytest.mark.compiled
def test_played_move_is_compared_although_nobody_would_try_it(adviser):
    view = told("7H", "pass", "pass", "draw", drew="2D")
    advice = adviser.advise(view, played=action("9H"))
    played = advice.find(action("9H"))
    assert advice.best.action in (action("KS"), action("knock KS"))
    assert played.points < advice.best.points - 10
    assert advice.cost(played) == pytest.approx(advice.best.win - played.win)
    with pytest.raises(ValueError, match="not legal here"):
        adviser.advise(view, played=action("pass"))


@pytest.mark.compiled
def test_played_move_is_compared_with_the_best_in_more_worlds(adviser, monkeypatch):
    sampled, worlds = [], adviser._belief.worlds
    monkeypatch.setattr(
        adviser._belief, "worlds", lambda *given: sampled.append(worlds(*given)) or sampled[-1]
    )
    view = told("7H", "pass", "pass", "draw", drew="2D", player=1)
    advice = adviser.advise(view)
    theirs = [deadwood(int(hand)) for hand in sampled[0]["private"]["hand"][:, 0]]
    assert advice.deadwood == pytest.approx(np.mean(theirs))
    adviser.advise(view, played=action("9H"))  # surely worse
    monkeypatch.setattr("gin_env.ui.adviser.SURE", np.inf)
    adviser.advise(view, played=action("9H"))
    assert [len(states) for states in sampled] == [64, 64, 64, 4 * 64]


@pytest.mark.compiled
@pytest.mark.parametrize(("player", "scores"), [(0, (99, 0)), (1, (0, 99))])
def test_close_to_the_target_the_game_counts(adviser, player, scores):
    """Twelve points are as good as thirty if either wins the game, so the knock is not put off."""
    view = told("7H", "pass", "pass", "draw", drew="2D", player=player, scores=scores)
    advice = adviser.advise(view)
    assert advice.best.action == action("knock KS")
    assert advice.best.win > 0.95
    assert advice.best.points > 10
    assert adviser.chance_to_win(Rules(), 99, 0) > 0.9
    assert adviser.chance_to_win(Rules(target_score=500), 99, 0) < 0.9
    assert adviser.chance_to_win(Rules(), 0, 0) == pytest.approx(0.5)


def test_difference_within_the_error_costs_nothing():
    def move(win: float, error: float) -> Move:
        return Move(1, win, 0.0, error, RankedChoice(1))

    best, near, far = move(0.5, 0.0), move(0.47, 0.02), move(0.47, 0.01)
    advice = Advice([best, near, far], 0.0)
    assert (advice.cost(best), advice.cost(near)) == (0, 0)
    assert advice.cost(far) == pytest.approx(0.03)


def test_hint_lists_the_best_moves_and_the_one_played():
    rows = {
        "knock KS": ((0.614, 21.26), (1, None, None), ("knock with K♠", "61 %", "+21.3", "1", "", "")),
        "KS": ((0.55, 8.0), (1, 4, 0.14), ("discard K♠", "55 %", "+8.0", "1", "4", "low")),
        "AD": ((0.5, -2.54), (10, 3, 0.15), ("discard A♦", "50 %", "−2.5", "10", "3", "medium")),
        "2D": ((0.4, -9.0), (15, 0, 0.6), ("discard 2♦", "40 %", "−9.0", "15", "0", "high")),
    }
    moves = [
        Move(action(name), *worth, 0.0, RankedChoice(action(name), deadwood=left, outs=outs, risk=risk))
        for name, (worth, (left, outs, risk), _) in rows.items()
    ]
    view = told("7H", "pass", "pass", "draw", drew="2D")
    for played, third in ((None, "AD"), ("KS", "AD"), ("2D", "2D")):
        lines = lines_of(Advice(moves, 20.0), view, keep=None if played is None else action(played))
        assert [line[1:] for line in lines] == [rows[name][2] for name in ("knock KS", "KS", third)]


@pytest.mark.parametrize(
    ("best", "other", "sentence"),
    [
        ({"deadwood": 20}, {"deadwood": 23}, "Rather K♠ than Q♥: it leaves 3 less deadwood."),
        ({"outs": 8}, {"outs": 7}, "Rather K♠ than Q♥: 1 more card would help you."),
        ({"risk": 0.1}, {"risk": 0.9}, "Rather K♠ than Q♥: Q♥ would help Nora more: Nora took J♥ Q♦."),
        ({}, {}, "K♠ and Q♥ look alike; played on, K♠ wins more."),
        ({"deadwood": 22}, {}, "Q♥ leaves 2 less deadwood, but played on, K♠ wins more."),
    ],
)
def test_reason_compares_what_differs(best, other, sentence):
    view = told("QD", "pass", "take", "3C", "draw", drew="3D")
    moves = [
        Move(card, 0.5, 0.0, 0.0, RankedChoice(card, **{"deadwood": 20, "outs": 7, "risk": 0.1} | numbers))
        for card, numbers in ((action("KS"), best), (action("QH"), other))
    ]
    public = view.array["public"]
    public["shown"][0, 1] = cards.parse("QD JH 4D")
    assert why(Advice(moves, 0.0), view, "Nora") == sentence
    view.array["player"], public["shown"] = 1, public["shown"][:, ::-1].copy()
    assert why(Advice(moves, 0.0), view, "Nora") == sentence, "the same for player 1"


@pytest.mark.long
@pytest.mark.compiled
def test_adviser_without_torch_is_the_best_bot_that_works():
    """As a user without PyTorch finds it, in a process of its own."""
    program = """
import sys
sys.modules["torch"] = None
import importlib.util as util
find = util.find_spec
util.find_spec = lambda name, *rest: None if name == "torch" else find(name, *rest)
from gin_env.ui.adviser import Adviser
from gin_env.ui.human_game import HumanGame
from gin_env.ui.opponents import OPPONENTS
game = HumanGame("simple", 3)
while game.waits_for_bot:
    game.let_bot_act()
adviser = Adviser(num_worlds=16)
missing = [one.name for one in OPPONENTS if not one.available]
print(adviser.name, len(adviser.advise(game.view).moves), missing)
"""
    assert run_python("-c", program).stdout.split("\n")[0] == "marjj 2 ['Vera', 'Ada']"


# --- Reviews ----------------------------------------------------------------------------------------------


def test_review_adds_up_what_choices_cost():
    game = one_hand()
    review = review_hand(game, game.positions(), 0, 0, Judge())
    assert [choice.position.step for choice in review.choices] == [0, 3]
    assert [choice.lost for choice in review.choices] == [0, 0]
    assert (review.points, len(review.chances)) == (65, 4)
    assert review.chances[0] == 0.5
    assert review.chances[-1] == 0.5 + 65 / 200
    lost = review_hand(game, game.positions(), 0, 1, Judge())
    assert (lost.points, lost.chances[-1]) == (-65, 0.5 - 65 / 200)
    lucky = [replace(each, luck=luck) for each, luck in ((review, 10.0), (lost, -2.5), (lost, None))]
    assert totals_of(lucky[:2])[:2] == (0, 7.5)
    assert totals_of(lucky)[:2] == (-65, None)
    (hand,) = game.hands
    careless = replace(hand, actions=(*hand.actions[:3], action("AC")), outcome="undecided")
    game = replace(game, hands=(careless,))
    review = review_hand(game, game.positions(), 0, 0, Judge())
    (mistake,) = mistakes_of([review])
    assert mistake.lost == pytest.approx((103 - 0) / 10)
    totals = totals_of([review, review])
    assert (totals.num_mistakes, totals.num_choices, totals.accuracy) == (2, 4, 50)
    assert totals.lost == pytest.approx(2 * mistake.lost)
    other = review_hand(game, game.positions(), 0, 1, Judge())
    assert [choice.position.step for choice in other.choices] == [1]


@pytest.mark.compiled
def test_review_of_a_later_hand_begins_with_its_scores():
    game = play_hands(HumanGame("simple", 3), 2).record()
    positions, hand = game.positions(), game.hands[1]
    review = review_hand(game, positions, 1, 0, Judge())
    assert sum(hand.scores) > 0
    start, end = (0.5 + (own - other) / 200 for own, other in (hand.scores, hand.scores_after))
    assert review.chances == [start, *(choice.played.win for choice in review.choices), end]
    assert review.points == hand.points * (1 - 2 * hand.winner)
    assert review.luck == luck_of([position for position in positions if position.hand == 1], 0)
    decisions = [position for position in positions if position.is_decision]
    assert all(decisions[choice.number - 1] is choice.position for choice in review.choices)


@pytest.mark.compiled
def test_luck_of_a_hand_is_opposite_for_the_players():
    pytest.importorskip("torch")
    game = play_hands(HumanGame("simple", 3)).record()
    positions = game.positions()
    mine, theirs = luck_of(positions, 0), luck_of(positions, 1)
    assert mine == pytest.approx(-theirs, abs=1e-4)
    assert abs(mine) > 0.1


# --- Opponents, links -------------------------------------------------------------------------------------


def test_ratings_are_those_of_the_leaderboard():
    for one in OPPONENTS:
        file = REPOSITORY / "leaderboard" / f"{one.bot}.json"
        if file.exists():
            assert abs(json.loads(file.read_text())["rating"] - one.rating) <= 10, one
        else:
            assert one.rating is None
    ratings = [one.rating for one in OPPONENTS if one.rating]
    assert ratings == sorted(ratings)


def test_opponents_are_found_by_name_and_by_bot():
    assert find_opponent("Nora") == find_opponent("nora") == find_opponent("simple") == OPPONENTS[2]
    assert (find_opponent("marjj"), name_of("marjj"), name_of("simple")) == (None, "marjj", "Nora")


@pytest.mark.parametrize("rules", [Rules(), Rules.preset("oklahoma"), Rules(knock_limit=5)])
def test_link_holds_a_hand(rules):
    game = play_hands(HumanGame("simple", 4, rules), 2).record()
    link = link_of(game, 1)
    assert re.fullmatch(r"[\w.~%-]+", link)
    assert rules != Rules() or len(link) < 160
    found = hand_of(link)
    assert found.hands == game.hands[1:]
    assert (found.rules, [one.name for one in found.players]) == (rules, ["person", "simple"])
    assert link_of(found, 0) == link


def test_link_of_odd_names_is_kept():
    game = replace(one_hand(), players=(records.Player("a~b.c/ü"), records.Player("x")))
    assert [one.name for one in hand_of(link_of(game, 0)).players] == ["a~b.c/ü", "x"]


def test_damaged_link_is_refused():
    link = link_of(play_hands(HumanGame("simple", 4)).record(), 0)
    version, deck, start, actions, names = link.split(".")
    for wrong in (
        "", "1", "x" * 5000, link[:-30], link.replace("1.", "2.", 1),
        ".".join([version, deck[1:], start, actions, names]),
        ".".join([version, deck[1] + deck[1:], start, actions, names]),
        ".".join([version, deck, "7-0-0", actions, names]),
        ".".join([version, deck, "0-500-0", actions, names]),
        ".".join([version, deck, start, actions + "0", names]),
        ".".join([version, deck, start, "9" + actions, names]),
        ".".join([version, deck, start, actions, "%00~b"]),
        f"{link}.no-such-rules",
    ):  # fmt: skip
        with pytest.raises(records.RecordError, match="not the address of a hand"):
            hand_of(wrong)
    with pytest.raises(TypeError, match="must be a string"):
        hand_of(5)
