"""Measurements of the search experiments on constructed cases; the long tests run them in full."""

import numpy as np
import pytest
from scipy.special import stdtrit

pytest.importorskip("torch")

from gin_env import agents, cards
from gin_env.batch import Games
from gin_env.matches.matches import play_match
from gin_env.observations.views import PlayerView
from research.questions import one_step
from research.questions.beliefs import score
from research.questions.one_step import Trial, positions
from research.reproduce.experiment import Run

pytestmark = pytest.mark.compiled

OWN = cards.parse("AC 2C 3C 7D 8D 9D JS QS 4H 9C")
TRUE = cards.parse("AS 2S 3S 4S 5S 6S 7S 8S 9S TS")  # gin
OTHER = cards.parse("AS 2S 3S 4S 5S 6S 7S 8S 9S KD")  # its deadwood is 10


def a_view() -> PlayerView:
    return PlayerView.from_history(OWN, cards.card_id("5H"))


def test_sampling_only_the_true_hand_scores_perfectly():
    log_loss, energy, deadwood = score(a_view(), np.full(400, TRUE, np.uint64), TRUE)
    assert log_loss == pytest.approx(-np.log(400.5 / 401), abs=1e-6)
    assert (energy, deadwood) == (0, 0)


def test_scores_of_two_hands_match_worked_values():
    """Half the samples have KD instead of TS: distance sqrt(2) from the true hand, 10 points of deadwood."""
    drawn = np.array([TRUE, OTHER], np.uint64)
    log_loss, energy, deadwood = score(a_view(), drawn, TRUE)
    # 41 unseen cards: nine always held, two half the time, thirty never; smoothed by half a sample.
    assert log_loss == pytest.approx(-(39 * np.log(2.5 / 3) + 2 * np.log(0.5)) / 41)
    assert energy == pytest.approx(np.sqrt(2) / 2 - np.sqrt(2) / 2)
    assert deadwood == pytest.approx(10 / 2 - 10 / 2)
    assert score(a_view(), np.array([OTHER, OTHER], np.uint64), TRUE)[1:] == pytest.approx((np.sqrt(2), 10))


def test_positions_are_decisions_of_player_0():
    states = positions(agents.make("simple"), agents.make("policy"), 12, 3)
    assert len(states) == 12
    assert (states["public"]["to_move"] == 0).all()
    assert set(states["public"]["phase"].tolist()) <= {0, 2, 3}
    assert (states == positions(agents.make("simple"), agents.make("policy"), 12, 3)).all()


def test_futures_that_choose_are_excluded_from_the_gain():
    """The action that is best in the first futures is evaluated only on the others."""
    won = np.array([[0.0, 0, 0, 0], [5, 5, -1, -3]])
    assert one_step._gain(1, won[:, 2:], 2 * won[:, 2:]) == (-2, -4, 1)
    assert one_step._gain(0, won, won) == (0, 0, 0)


def test_true_gains_keep_the_hands_and_are_zero_for_the_first_action():
    trial = Trial("simple")
    for state in positions(agents.make("simple"), trial.policy, 10, 4):
        table = Games(1, episode="game")
        table.state[0] = state
        tried = next(iter(trial.bots.values())).likeliest(table.views(table.everyone))[0]
        won, points = trial.true_gains(state, tried, np.random.default_rng(1))
        assert won.shape == points.shape == (len(tried), one_step.FUTURES)
        assert (won[0] == 0).all()
        assert (points[0] == 0).all()
        assert np.abs(won).max() <= 100


def test_knock_has_the_same_gain_for_every_stock_order():
    """The knock ends the hand immediately, so the true hands alone determine its gain."""
    trial, found = Trial("simple"), 0
    for state in positions(agents.make("simple"), trial.policy, 200, 5):
        table = Games(1, episode="game")
        table.state[0] = state
        knocks = np.flatnonzero(table.masks(table.everyone)[0][52:104]) + 52
        if len(knocks) > 1:
            found += 1
            won, points = trial.true_gains(state, knocks[:2], np.random.default_rng(1))
            assert np.ptp(won, axis=1).max() == np.ptp(points, axis=1).max() == 0
    assert found > 5


def test_each_block_of_a_match_has_its_own_decks(tmp_path):
    bots = "simple", "simple:knock_at=4"
    match = Run(3, False, tmp_path).match_in_blocks(*bots, games=12, block=4)
    blocks = [play_match(*bots, 4, seed) for seed in (3, 4, 5)]
    assert match.hands == sum(block.hands for block in blocks)
    assert np.array_equal(match.deals, np.concatenate([block.each_deal() for block in blocks]))


def test_each_block_of_positions_has_its_own_seed(tmp_path, monkeypatch):
    """With the seed as the gain in each block, the mean and its error are those of different seeds."""

    class SeedTrial:
        def __init__(self, opponent):
            pass

        def measure(self, count, seed):
            variants = one_step.VARIANTS
            return {"positions": count, "variants": variants, "means": [[seed] * 3] * len(variants)}

    monkeypatch.setattr(one_step, "Trial", SeedTrial)
    row, *_ = one_step.measure_one_step(Run(7, True, tmp_path))
    low, high = (7.5 + sign * 0.5 * stdtrit(1, 0.975) for sign in (-1, 1))  # the standard error is 0.5
    assert (row["won"], row["won_low"], row["won_high"]) == pytest.approx((7.5, low, high), abs=1e-4)
    assert row["won_moments"][0] == 2


def test_blocks_of_other_variants_are_refused(tmp_path):
    run = Run(7, True, tmp_path)
    run.folder.mkdir(parents=True, exist_ok=True)
    (run.folder / "policy-1-0.json").write_text('{"positions": 4, "variants": [], "means": []}')
    with pytest.raises(ValueError, match="has other variants than this program: delete"):
        one_step.measure_one_step(run)


def test_shuffled_stock_keeps_all_other_cards():
    (state,) = positions(agents.make("simple"), agents.make("policy"), 1, 6)
    deck, left = state["hidden"]["deck"], int(state["public"]["stock_left"])
    shuffled = one_step.shuffle_stock(state, 50, np.random.default_rng(1))
    assert (shuffled["public"] == state["public"]).all()
    assert (shuffled["private"] == state["private"]).all()
    assert (shuffled["hidden"]["deck"][:, : 52 - left] == deck[: 52 - left]).all()
    assert (np.sort(shuffled["hidden"]["deck"]) == np.arange(52)).all()
    assert len(np.unique(shuffled["hidden"]["deck"][:, 52 - left :], axis=0)) == 50


def test_player_who_knows_all_cards_is_judged_by_other_futures(monkeypatch):
    """The first action wins in the futures that choose, the second in those that judge it."""
    trial = Trial("simple")
    states = positions(agents.make("simple"), trial.policy, 40, 8)
    state = next(one for one in states if len(trial.searcher.likeliest(one_step.view_of(one))[0]) > 1)

    def true_gains(state, tried, random):
        won = np.zeros((len(tried), one_step.FUTURES))
        won[1, : one_step.HALF], won[1, one_step.HALF :] = 10, -3
        return won, 2 * won

    monkeypatch.setattr(trial, "true_gains", true_gains)
    gain, *others = trial.gains(state, np.random.default_rng(1)).tolist()
    assert (one_step.VARIANTS[0]["belief"], gain) == (one_step.TRUE, [-3, -6, 1])
    assert len(others) == len(one_step.VARIANTS) - 1


def test_positions_without_a_choice_count_without_a_gain(monkeypatch):
    trial = Trial("simple")
    monkeypatch.setattr(one_step, "positions", lambda *_: ["a choice", "no choice"])
    gains = {"a choice": 6.0, "no choice": 0.0}
    shape = len(one_step.VARIANTS), 3
    monkeypatch.setattr(trial, "gains", lambda state, random: np.full(shape, gains[state]))
    measured = trial.measure(2, 1)
    assert measured["positions"] == 2
    assert np.array_equal(measured["means"], np.full(shape, 3.0))
