"""Luck: what it is worth in a position, that it has mean 0, and what is left of a result without it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hands_in_words import started

from gin_env import play_match
from gin_env.game import cards
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.cards import card_id
from gin_env.game.hands import least_deadwood_discard
from gin_env.game.rules import Rules
from gin_env.matches import luck as lucks
from gin_env.matches import shards
from gin_env.matches.luck import CHANCE, LUCK, NUM_SUMMED, NUM_TERMS, luck_of_deals, without_luck
from gin_env.matches.matches import MatchResult
from gin_env.matches.open_value import NUM_CLASSES, NUM_INPUTS, write_inputs
from gin_env.records import Recorder
from gin_env.records.files import read

torch = pytest.importorskip("torch")


class DeadwoodValue:
    """Expects a gain of 10 points, with a probability that falls with the mover's deadwood."""

    points = torch.zeros(NUM_CLASSES)
    points[14] = 10.0
    at_deal = torch.zeros(NUM_CLASSES)
    at_deal[14], at_deal[11] = 0.25, 0.75

    @staticmethod
    def probabilities(positions):
        found = np.zeros((len(positions), NUM_CLASSES), np.float32)
        found[:, 14] = [chance_of(int(one["mover"])) for one in positions]
        found[:, 11] = 1 - found[:, 14]
        return found


def chance_of(hand):
    return (100 - least_deadwood_discard(hand, hand)[1]) / 100


MOVER, OTHER, PILE = "AS 2S 4S 5H 6H 7H 9D 9C KD QC 3S", "TS TH TD JC 8C 8D 2C 4C 6C KH", "KS QS JS"
BEFORE_3S = cards.parse(MOVER) & ~cards.parse("3S")
UNSEEN = cards.cards_of(cards.FULL_DECK & ~(BEFORE_3S | cards.parse(OTHER) | cards.parse(PILE)))


def drawn(card, is_a=True, **more):
    found = np.zeros(1, CHANCE)
    found["card"] = card_id(card) if card else -1
    found["is_a"], found["knock_limit"] = is_a, 10
    for name, text in (("mover", MOVER), ("other", OTHER), ("pile", PILE)):
        found[name] = cards.parse(text)
    for name, value in more.items():
        found[name] = value
    return found


def test_luck_is_the_value_with_the_card_minus_the_mean_over_all_unseen_cards():
    chances = {card: chance_of(BEFORE_3S | 1 << card) for card in UNSEEN}
    expected = 10 * (chances[card_id("3S")] - np.mean(list(chances.values())))
    for is_a, sign in ((True, 1), (False, -1)):
        luck = luck_of_deals(drawn("3S", is_a), 1, Rules(), False, DeadwoodValue)
        assert luck["points"][0, :NUM_SUMMED].sum() == pytest.approx(sign * expected, abs=1e-5)
        assert luck["wins"][0, :NUM_SUMMED].sum() == pytest.approx(sign * expected / 20, abs=1e-6)


def test_the_other_terms_are_deadwood_knock_and_gin():
    hands = {card: BEFORE_3S | 1 << card for card in UNSEEN}
    deadwood = {card: least_deadwood_discard(hand, hand)[1] for card, hand in hands.items()}
    mean, mine = np.mean(list(deadwood.values())), deadwood[card_id("3S")]
    limit = mine  # only some cards allow a knock
    luck = luck_of_deals(drawn("3S", False, knock_limit=limit), 1, Rules(), False, DeadwoodValue)
    knocks = np.mean([each <= limit for each in deadwood.values()])
    assert 0 < knocks < 1
    assert luck["points"][0, NUM_SUMMED:] == pytest.approx(
        [0, 0, 0, mean - mine, knocks - 1, 0, 0, 0], abs=1e-9
    )


def test_scores_of_a_deal_begin_with_those_of_the_mover():
    games = started(8, episode="game")
    games.state["public"]["scores"] = 30, 50
    movers = games.to_move()
    assert set(movers.tolist()) == {0, 1}
    found = lucks.chance_of(games.state, np.arange(8))
    assert found["scores"].tolist() == [[50, 30] if mover else [30, 50] for mover in movers]


def test_luck_of_a_deal_is_its_value_minus_the_mean_of_all_deals():
    luck = luck_of_deals(drawn("", scores=(90, 0)), 1, Rules(), True, DeadwoodValue)
    mine = chance_of(cards.parse(MOVER))
    assert luck["points"][0, 0] == pytest.approx(10 * (mine - 0.25), abs=1e-5)
    assert not luck["points"][0, 1:].any()
    # Ten points win the game at 90; before them the game is as good as won, but not quite.
    assert 0 < luck["wins"][0, 0] < 0.3 * (mine - 0.25)


def test_cards_that_the_deck_lacks_are_never_drawn():
    rules = replace(Rules(), ranks=12)
    hand = cards.parse(MOVER) & ~cards.parse("3S KD") | cards.parse("2D")
    found = drawn("3S", mover=hand | cards.parse("3S"), other=cards.parse(OTHER.replace("KH", "2H")), pile=0)
    unseen = cards.cards_of(rules.deck_mask & ~(hand | int(found["other"][0])))
    mean = np.mean([chance_of(hand | 1 << card) for card in unseen])
    luck = luck_of_deals(found, 1, rules, False, DeadwoodValue)
    expected = 10 * (chance_of(hand | cards.parse("3S")) - mean)
    assert luck["points"][0, :NUM_SUMMED].sum() == pytest.approx(expected, abs=1e-5)


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    file = tmp_path_factory.mktemp("luck") / "games.jsonl"
    with Recorder(file) as recorder:
        return play_match("simple", "tonic", 20, seed=3, luck=True, record=recorder), list(read(file))


def test_every_deal_and_draw_is_collected(monkeypatch, match):
    collected = []

    def keep(found, num_deals, *rest):
        collected.append(found)
        return np.zeros(num_deals, LUCK)

    monkeypatch.setattr(shards, "luck_of_deals", keep)
    result = play_match("simple", "tonic", 20, seed=3, luck=True)
    cards_drawn = np.concatenate(collected)["card"]
    actions = [action for game in match[1] for hand in game.hands for action in hand.actions]
    assert (cards_drawn < 0).sum() == result.hands
    assert (cards_drawn >= 0).sum() == actions.count(DRAW_STOCK)


@pytest.mark.long
def test_measuring_luck_changes_nothing_else(match):
    plain = play_match("simple", "tonic", 20, seed=3)
    assert plain == match[0]
    assert plain.luck is None
    workers = play_match("simple", "tonic", 20, seed=3, luck=True, workers=2)
    assert np.allclose(workers.luck["points"], match[0].luck["points"])
    with pytest.raises(ValueError, match="luck=True"):
        plain.win_rate_without_luck()


def test_a_result_keeps_its_luck_in_files_and_when_swapped(match):
    result = match[0]
    copy = MatchResult.from_dict(result.as_dict(deals=True))
    assert copy.win_rate_without_luck() == result.win_rate_without_luck()
    swapped = result.swapped()
    assert swapped.win_rate_without_luck().value == pytest.approx(1 - result.win_rate_without_luck().value)
    assert swapped.lead_without_luck().value == pytest.approx(-result.lead_without_luck().value)
    assert (swapped.swapped().luck == result.luck).all()
    assert "without the luck" in result.summary()
    half, usual = (result.as_dict(confidence)["without_luck"] for confidence in (0.5, 0.95))
    for name in half:
        (low, high), (wide_low, wide_high) = half[name]["interval"], usual[name]["interval"]
        assert wide_low < low < half[name]["value"] == usual[name]["value"] < high < wide_high
    assert f"points per hand ({low:+.2f} to {high:+.2f})" in result.summary(0.5)


@pytest.mark.parametrize("rules", [None, "oklahoma"])
def test_luck_has_mean_zero(rules):
    result = play_match("policy-1", "simple", 300, seed=5, episode="hand", rules=rules, luck=True)
    for unit in ("points", "wins"):
        total = result.luck[unit][:, :NUM_SUMMED].sum(axis=1)
        assert abs(total.mean()) < 3.5 * total.std() / len(total) ** 0.5
        assert total.std() > 0


@pytest.mark.compiled
def test_luck_explains_results():
    result = play_match("policy-1", "tonic", 400, seed=6, episode="hand", luck=True)
    assert result.lead_without_luck().saved > 0.2  # 0.35 to 0.4 in long matches
    low, high = result.lead_without_luck().interval
    assert low < result.points_per_hand[0] - result.points_per_hand[1] + 1
    assert high - low < 8


def test_what_luck_leaves_is_fitted_on_other_deals():
    random = np.random.default_rng(1)
    luck = random.normal(size=(2000, NUM_TERMS))
    noise = random.normal(size=2000)
    results = 2.0 + luck[:, :NUM_SUMMED].sum(axis=1) + 3 * luck[:, -1] + noise
    left = without_luck(results, luck)
    assert left.var() == pytest.approx(noise.var(), rel=0.05)
    changed = results.copy()
    changed[0] += 1000  # a deal has no influence on its own coefficients
    assert without_luck(changed, luck)[0] == pytest.approx(left[0] + 1000)


def test_few_deals_are_not_overfitted():
    random = np.random.default_rng(2)
    results, luck = random.normal(size=20), 0.01 * random.normal(size=(20, NUM_TERMS))
    assert without_luck(results, luck).var() < 1.3 * results.var()


def test_rates_stay_between_0_and_1():
    result = play_match("simple", "random", 4, seed=1, episode="hand", luck=True)
    result = replace(
        result, luck=np.array([(np.full(NUM_TERMS, x), np.full(NUM_TERMS, x)) for x in (-9, 9)], LUCK)
    )
    deals = np.array([((1, 0), (9, 0), 2)] * 2, result.deals.dtype)
    half_won = replace(result, luck=np.zeros(2, LUCK), deals=deals)
    assert half_won.win_rate_without_luck().value == 0.75
    rate = result.win_rate_without_luck()
    assert rate.interval == (0.0, 1.0)
    assert 0 <= rate.value <= 1


def test_inputs_show_both_hands_and_the_cards_that_help():
    row = np.empty((1, NUM_INPUTS), np.float32)
    write_inputs(drawn("", mover_shown=cards.parse("3S"), knock_limit=0), row)
    masks = [
        cards.format(sum(1 << int(c) for c in np.flatnonzero(row[0, 52 * k : 52 * k + 52]))) for k in range(9)
    ]
    assert set(masks[0].split()) == set(MOVER.split())
    assert set(masks[2].split()) == set(PILE.split())
    assert "5H" not in masks[3].split()
    assert "9D" in masks[3].split()
    assert "9S" in masks[5].split()
    assert "8H" in masks[6].split()
    assert masks[7] == "3S"
    assert masks[8] == ""


def test_no_card_helps_with_the_card_to_be_discarded():
    row, mover = np.empty((1, NUM_INPUTS), np.float32), cards.parse(MOVER.replace("KD", "QD"))
    write_inputs(drawn("AC", mover=mover, knock_limit=0), row)
    helps = row[0, 5 * 52 : 6 * 52]
    assert helps[card_id("9S")]
    assert not helps[card_id("QH")], "one of the two queens is discarded"


def test_empty_luck_has_the_shape_of_the_deals():
    luck = luck_of_deals(np.zeros(0, CHANCE), 3, Rules(), True, SimpleNamespace(**vars(DeadwoodValue)))
    assert luck.shape == (3,)
    assert luck.dtype == LUCK
    assert not luck["points"].any()
