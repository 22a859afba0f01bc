"""Variants of the game; test names refer to the rules in docs/rules.md."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from environment_checks import as_the_package_lays
from hand_endings import ALSO_LOOSE, LOOSE, NO_DEADWOOD, THREE_RUNS
from hands_in_words import ONE_GAME, deck_of, started
from played_positions import knock_immediately
from reference_rules import Game
from rule_variants import VARIANTS
from state_invariants import status

from gin_env import Rules, agents, cards
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, KNOCK, PASS
from gin_env.game.engine import final_score
from gin_env.game.state import OUTCOME_NAMES
from gin_env.game.streams import other_suit_order

ELEVEN_MELDED = "AC 2C 3C 4C 5H 6H 7H 8S 8D 8H"  # with 8C, which makes a fourth eight
UPCARDS = {"AS": 0, "2S": 2, "7D": 7, "TC": 10, "KS": 10}


def ended(rules: Rules, own: str, other: str, upcard: str, drawn: str, discard: str) -> Games:
    """Return a hand that player 0 ends by knocking in the first turn, after drawing from the stock."""
    games = started(1, rules, episode="game")
    games.set_deck(0, deck_of(own, other, upcard, drawn), dealer=1)
    last = Games(1, rules)
    last.state[:] = games.state
    last.done[:] = False
    for action in (PASS, PASS, DRAW_STOCK, KNOCK + cards.card_id(discard)):
        last.play(ONE_GAME, np.array([action]))
    return last


def outcome(games: Games) -> tuple[str, int, int]:
    result = games.results[0]
    return OUTCOME_NAMES[result["outcome"]], int(result["winner"]), int(result["points"])


@pytest.mark.parametrize(("upcard", "limit"), UPCARDS.items())
def test_rule_4_upcard_sets_the_knock_limit_in_oklahoma(upcard, limit):
    card = cards.card_id(upcard)
    assert Rules(oklahoma=True).limit_of_hand(card) == limit
    assert Rules(oklahoma=True, knock_limit=5).limit_of_hand(card) == min(limit, 5)
    assert Rules().limit_of_hand(card) == 10
    one = 1 if upcard == "AS" else limit
    assert Rules(oklahoma=True, ace_needs_gin=False).limit_of_hand(card) == one


@pytest.mark.parametrize("upcard", ["AS", "9H", "TC"])
def test_rule_4_mask_follows_the_limit_of_the_hand(upcard):
    games = started(1, Rules(oklahoma=True))
    games.set_deck(0, deck_of(THREE_RUNS, LOOSE, upcard, "KC"), dealer=1)  # deadwood 10 with either king
    for action in (PASS, PASS, DRAW_STOCK):
        games.play(ONE_GAME, np.array([action]))
    may = bool(games.masks(ONE_GAME)[0, KNOCK + cards.card_id("KC")])
    assert may == (upcard == "TC")
    if not may:
        limit = {"AS": 0, "9H": 9}[upcard]
        assert f"the limit is {limit}" in games.explain(0, KNOCK + cards.card_id("KC"))


def test_rule_7_eleven_melded_cards_are_big_gin():
    rules = Rules(big_gin_bonus=31)
    for discard in ("8C", "8S", "AC"):
        games = ended(rules, ELEVEN_MELDED, LOOSE.replace("5C", "5S"), "KH", "8C", discard)
        assert outcome(games)[0] == "big gin"
        assert outcome(games)[2] == 31 + int(games.state["public"]["deadwood"][0, 1])
    plain = ended(Rules(), ELEVEN_MELDED, LOOSE.replace("5C", "5S"), "KH", "8C", "8C")
    assert outcome(plain)[0] == "gin"


def test_rule_7_gin_with_a_loose_discard_is_not_big_gin():
    games = ended(Rules(big_gin_bonus=31), NO_DEADWOOD, ALSO_LOOSE, "KH", "KC", "KC")
    assert outcome(games) == ("gin", 0, 25 + 57)


@pytest.mark.parametrize(("tie", "expected"), [(True, ("undercut", 1, 25)), (False, ("knock", 0, 0))])
def test_rule_7_tie_follows_undercut_on_tie(tie, expected):
    defence = "9H TH JH 4D 5D 6D 9C TC JC QS"  # deadwood 10, nothing to lay off
    games = ended(Rules(undercut_on_tie=tie), THREE_RUNS, defence, "2D", "KC", "KC")
    assert outcome(games) == expected
    assert games.state["public"]["boxes"][0].tolist() == ([0, 1] if tie else [1, 0])


@pytest.mark.parametrize(("upcard", "factor"), [("TS", 2), ("TC", 1)])
def test_rule_7_spade_upcard_doubles_points_but_not_boxes(upcard, factor):
    rules = Rules(oklahoma=True, spades_double=True, box_bonus=10, immediate_boxes=True)
    games = ended(rules, NO_DEADWOOD, ALSO_LOOSE, upcard, "KC", "KC")
    assert outcome(games) == ("gin", 0, factor * (25 + 57) + 10)
    assert games.state["public"]["scores"][0, 0] == factor * (25 + 57) + 10


@pytest.mark.parametrize("next_dealer", ["alternate", "winner", "loser"])
@pytest.mark.parametrize("void_dealer", ["same", "other"])
def test_rule_8_next_dealer_follows_the_rules(next_dealer, void_dealer):
    rules = Rules(next_dealer=next_dealer, void_dealer=void_dealer, max_turns=12)
    games, bot = started(40, rules, seed=3, episode="game"), agents.make("simple")
    seen = set()
    for playing in games.until_over():
        games.play(playing, bot.act(games.views(playing)))
        for game in playing[games.results["ended"][playing] & ~games.done[playing]]:
            result = games.results[game]
            winner = None if result["winner"] < 0 else int(result["winner"])
            dealer = int(result["dealer"])
            assert games.state["public"]["dealer"][game] == rules.dealer_after(dealer, winner)
            seen.add((winner, dealer))
    assert len(seen) == 6  # each player and nobody won a hand that each player dealt
    assert rules.dealer_after(0, None) == (0 if void_dealer == "same" else 1)
    assert rules.dealer_after(0, 0) == {"alternate": 1, "winner": 0, "loser": 1}[next_dealer]


def totals(rules: Rules, scores: tuple[int, int], boxes: tuple[int, int]) -> list[int]:
    games = Games(1, rules, "game")
    public = games.state["public"]
    public["scores"], public["boxes"] = scores, boxes
    return [int(final_score(games.state[0]["public"], player)) for player in (0, 1)]


@pytest.mark.parametrize(
    ("rules", "scores", "boxes", "expected"),
    [
        (Rules(), (110, 40), (4, 2), [110, 40]),
        (Rules.preset("bicycle"), (110, 40), (4, 2), [110 + 80 + 100, 40 + 40]),
        (Rules.preset("bicycle"), (0, 103), (0, 3), [0, 103 + 60 + 200]),
        (Rules.preset("palace"), (12, 101), (1, 5), [12, 101]),
        (Rules(box_bonus=25, game_bonus=100, shutout_doubles=True), (105, 0), (3, 1), [2 * 280, 25]),
        (Rules(box_bonus=25, game_bonus=100), (60, 70), (3, 4), [135, 170]),  # nobody has won yet
    ],
)
def test_rule_9_final_score_adds_boxes_and_bonuses(rules, scores, boxes, expected):
    assert totals(rules, scores, boxes) == expected


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("reward", ["points", "score"])
def test_games_match_the_slow_reference(name, reward):
    """Compare masks, dealers, scores, boxes and rewards of a whole game with `reference_rules`."""
    rules = VARIANTS[name]
    games = started(1, rules, seed=11, episode="game", reward=reward)
    act = agents.make("simple").act if reward == "score" else knock_immediately
    decks = [games.deck(0).tolist()]
    game = Game(rules, lambda index: decks[index], int(games.state["public"]["dealer"][0]), True,
                lay=as_the_package_lays, pays_score=reward == "score")  # fmt: skip
    paid = 0.0
    for _ in range(250):
        if game.over:
            break
        public = games.state["public"][0]
        assert int(public["to_move"]) == game.to_move
        assert np.flatnonzero(games.masks(ONE_GAME)[0]).tolist() == game.legal()
        assert status(games.state[0]) == []
        action = int(act(games.views(ONE_GAME))[0])
        games.play(ONE_GAME, np.array([action]))
        decks.append(games.deck(0).tolist())
        if not games.results["ended"][0]:
            decks.pop()
        game.play(action)
        paid += game.paid
        assert bool(games.done[0]) == game.over
        public = games.state["public"][0]
        assert public["scores"].tolist() == game.scores
        assert public["boxes"].tolist() == game.boxes
        assert int(public["dealer"]) == game.dealer
    assert games.rewards[0] == pytest.approx(paid, abs=1e-5)


@pytest.mark.parametrize("suits", [1, 2, 3, 4])
def test_twin_keeps_spades_when_the_rules_depend_on_them(suits):
    for key in range(50):
        order = other_suit_order(suits, np.uint64(key), True)
        assert sorted(order) == [0, 1, 2, 3]
        assert order[2] == 2
        assert order[suits:].tolist() == list(range(suits, 4))
        assert (order.tolist() == [0, 1, 2, 3]) == (suits == 1)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"oklahoma": True, "knock_limit": 11}, "knock_limit must be at most 10 with oklahoma, not 11"),
        ({"big_gin_bonus": 31, "gin_bonus": 0}, "big_gin_bonus needs a gin_bonus above 0"),
        ({"big_gin_bonus": 20}, "big_gin_bonus must be 0 or at least the gin_bonus of 25, not 20"),
        ({"spades_double": True}, "spades_double needs oklahoma"),
        ({"immediate_boxes": True}, "immediate_boxes needs a box_bonus"),
        ({"shutout_bonus": 1, "shutout_doubles": True}, "shutout_doubles must be False with a shutout_bonus"),
        ({"next_dealer": "nobody"}, "unknown Rules.next_dealer 'nobody'; choose from alternate, winner"),
        ({"void_dealer": 0}, "unknown Rules.void_dealer 0; choose from same, other"),
        ({"stock_floor": 31}, r"more than 31 \(stock_floor\)"),
        ({"ranks": 5, "suits": 3}, "a deck of 15 cards is too small"),
    ],
)
def test_conflicting_rules_raise_a_one_line_error(rules, message):
    with pytest.raises(ValueError, match=message) as error:
        Rules(**rules)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", Rules.presets())
def test_presets_round_trip_through_text_and_record(name):
    rules = Rules.preset(name)
    assert Rules.parse(rules.text) == Rules.from_record(rules.record()) == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("knock_limit=7,oklahoma=true", Rules(knock_limit=7, oklahoma=True)),
        ("bicycle, target_score=50", replace(Rules.preset("bicycle"), target_score=50)),
        ("next_dealer=winner", Rules(next_dealer="winner")),
    ],
)
def test_rules_are_parsed_from_text(text, rules):
    assert Rules.parse(text) == rules
    assert Rules.parse(rules.text) == rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hollywood", "unknown rules 'hollywood'; choose from eaai, bicycle"),
        ("knock=7", "unknown rule 'knock'; the nearest are knock"),
        ("eaai,5", "unknown rule '5'"),
        ("knock_limit=ten", "knock_limit must be an integer, not 'ten'"),
        ("knock_limit=٣", "knock_limit must be an integer, not '٣'"),
        ("target_score=1_50", "target_score must be an integer, not '1_50'"),
        ("knock_limit=7,knock_limit=8", "the rule 'knock_limit' is given twice"),
        ("oklahoma=1", "oklahoma must be true or false, not '1'"),
    ],
)
def test_invalid_rules_text_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Rules.parse(text)
