"""Rollouts of the retraining loop: returns, opponents, deals and tried candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hand_endings import Plain
from hands_in_words import ONE_GAME, Table, action
from played_positions import played
from scipy import stats

from gin_env import agents
from gin_env.agents.generations.bot import GenerationBot, GenerationNetwork
from gin_env.game.actions import KNOCK
from gin_env.game.state import OFFER, OVER, STOCK_ONLY
from gin_env.training.generations import rollouts
from gin_env.training.generations.fit import join_experiences
from gin_env.training.generations.rollouts import Players, Search, gather, try_candidates

HAND, OTHER = "5D 6D 7D 9C 9H 9S AH 2H 3H KS", "2C 3D 4C 6C 7H 8H TD JD QC KC"
EVERYTHING = Search(best_tried=11, others_tried=0, knocks_tried=11)


def taken_by(player: int) -> Table:
    """Return a table where `player` holds HAND and has taken the first upcard, KD."""
    hands = (HAND, OTHER) if player == 0 else (OTHER, HAND)
    return Table(*hands, "KD", dealer=1 - player).play("take")


def played_out(table: Table, first: int, bot) -> float:
    """Return player 0's reward when the bot plays both hands after an action."""
    table.games.play(ONE_GAME, np.array([first]))
    while not table.games.done[0]:
        table.games.play(ONE_GAME, bot.act(table.games.views(ONE_GAME)))
    return float(table.games.rewards[0])


def test_returns_in_a_mixed_batch_belong_to_each_learner():
    simple = agents.make("simple")
    seats = np.array([0, 1, 1, 0], np.int8)
    state = np.concatenate([taken_by(seat).games.state for seat in seats])
    players = Players(simple, [simple], seats, np.zeros(4, np.int64))
    returns = try_candidates(state, True, players, np.random.default_rng(0), EVERYTHING).returns
    for seat, tried in zip(seats.tolist(), returns, strict=True):
        knocks = tried[np.isfinite(tried[:, 1]), 1].tolist()
        assert knocks == [pytest.approx(0.60)], "KS: deadwood 6 against 66, for either knocker"
        sign = 1 - 2 * seat
        expected = [sign * played_out(taken_by(seat), action(card), simple) for card in HAND.split()]
        assert sorted(tried[np.isfinite(tried[:, 0]), 0].tolist()) == pytest.approx(sorted(expected))
    # The hand is strong, so the mean return is positive for either seat unless the sign is wrong.
    assert all(np.nanmean(each) > 0 for each in returns)
    few = Search(best_tried=1, others_tried=2, knocks_tried=0)
    tried = try_candidates(state, True, players, np.random.default_rng(0), few).returns
    assert np.isfinite(tried).sum(axis=1).tolist() == [[3, 0]] * 4


def test_copies_keep_their_opponents():
    pool, opponents = [Asked("a"), Asked("b")], np.array([1, 0, 1, 1, 0, 1])
    state = np.concatenate([Table(HAND, OTHER, "KD", dealer=1).games.state] * 6)
    players = Players(agents.make("simple"), pool, np.zeros(6, np.int8), opponents)
    try_candidates(state, False, players, np.random.default_rng(0), Search())
    assert [len(bot.hands) for bot in pool] == [2, 4], "offered the upcard where the learner passed"


def test_parts_without_a_draw_or_a_discard_can_be_joined():
    simple = agents.make("simple")
    parts = [gather(simple, [simple], [1.0], 2, 5, part, Search(stop_share=0.05)) for part in range(8)]
    assert any(not len(discards) for _, discards in parts)
    for joined, each in zip(join_experiences(parts), zip(*parts, strict=True), strict=True):
        assert len(joined) == sum(map(len, each))


class Asked(Plain):
    """Records the hand and the upcard whenever it is offered the first upcard."""

    def __init__(self, name: str = "asked") -> None:
        self.name = name
        self.hands: list[tuple[int, int]] = []

    def act(self, view):
        public = view.array["public"]
        offered = public["phase"] == OFFER
        self.hands += zip(view.hands[offered].tolist(), public["first_upcard"][offered].tolist(), strict=True)
        return super().act(view)


NO_STOPS = Search(stop_share=0.0, exploration=0.0)


@pytest.mark.parametrize("weights", [[1, 0], [0, 2], [3, 1]])
def test_opponents_are_sampled_by_weight(weights):
    pool = [Asked("a"), Asked("b")]
    gather(Plain(), pool, weights, hands=100, seed=3, part=0, search=NO_STOPS)
    met = [len(bot.hands) for bot in pool]
    assert sum(met) == 100
    if 0 in weights:
        assert met[weights.index(0)] == 0
    else:
        assert stats.binomtest(met[0], 100, weights[0] / sum(weights)).pvalue > 0.001


def test_parts_and_seeds_play_distinct_deals_from_both_seats():
    dealt = {}
    for seed, part in ((1, 0), (1, 1), (1, 2), (2, 0)):
        learner, opponent = Asked(), Asked()
        gather(learner, [opponent], [1.0], hands=20, seed=seed, part=part, search=NO_STOPS)
        dealt[seed, part] = set(learner.hands) | set(opponent.hands)
        assert len(learner.hands) == len(opponent.hands) == 20
        assert len(dealt[seed, part]) == 40
    everything = [hand for hands in dealt.values() for hand in hands]
    assert len(set(everything)) == len(everything)


class Deciding(Plain):
    """Counts its decisions, except forced draws."""

    count = 0

    def act(self, view):
        self.count += int((view.array["public"]["phase"] != STOCK_ONLY).sum())
        return super().act(view)


def test_positions_are_sampled_with_the_stop_share(monkeypatch):
    learner, search = Deciding(), Search(0.0, exploration=0.0)
    assert [len(each.views) for each in gather(learner, [Plain()], [1.0], 24, 3, 0, search)] == [0, 0]
    search = Search(0.25, exploration=0.0, best_tried=1, others_tried=0, knocks_tried=0)
    both = gather(Plain(), [Plain()], [1.0], 24, 3, 0, search)
    assert not any((each.views["public"]["phase"] == STOCK_ONLY).any() for each in both), "nothing to decide"
    stopped = sum(map(len, both))
    assert stats.binomtest(stopped, learner.count, 0.25).pvalue > 0.001
    tried = []
    monkeypatch.setattr(rollouts, "try_candidates", lambda *given: tried.append(given))
    gather(learner, [Plain()], [1.0], 24, 3, 0, Search(0.25, exploration=1.0))
    assert all(players.learner is learner for _, _, players, *_ in tried), "it explores only on the way"
    assert sum(len(state) for state, *_ in tried) != stopped


@pytest.mark.parametrize(("best", "others"), [(1, 0), (2, 1), (3, 2), (0, 2), (8, 0), (2, 9)])
def test_best_and_random_other_candidates_are_tried(best, others):
    rng = np.random.default_rng(0)
    values = rng.permuted(np.tile(np.arange(8, dtype=np.float32), (200, 1)), axis=1)
    actions = np.where(rng.random((200, 8)) < 0.7, 5, rollouts.NO_ACTION)
    chosen = rollouts._choose(values, actions, best, others, rng)
    also = np.zeros((200, 8))
    for row in range(200):
        possible = np.flatnonzero(actions[row] != rollouts.NO_ACTION)
        ranked = possible[np.argsort(-values[row, possible])]
        assert not chosen[row][actions[row] == rollouts.NO_ACTION].any()
        assert chosen[row, ranked[:best]].all()
        assert chosen[row].sum() == min(best + others, len(possible))
        also[row, ranked[best:]] = chosen[row, ranked[best:]]
    if 0 < others < 5:  # the others are random: every position occurs
        assert (also.sum(axis=0) > 0).all()


def test_learner_with_values_tries_its_best_discard_and_its_best_knock():
    bot, random = GenerationBot(GenerationNetwork(4, 4)), np.random.default_rng(1)
    values = random.random((4, 11, 2)).astype(np.float32)
    bot.values = lambda view, discarding: (values, rollouts.candidates_of(view, discarding)[1])
    bot.act = agents.make("simple").act
    table = Table("5D 6D 7D 9C 9H 9S AH 2S 3S 2D", OTHER, "AC", dealer=1).play("take")
    state = np.concatenate([table.games.state] * 4)
    players = Players(bot, [agents.make("simple")], np.zeros(4, np.int8), np.zeros(4, np.int64))
    returns = try_candidates(state, True, players, random, Search(1.0, 0.0, 1, 0, 1)).returns
    actions = rollouts.candidates_of(table.games.views(ONE_GAME), True)[1][0]
    assert (actions[:, 1] != rollouts.NO_ACTION).sum() > 2, "several knocks"
    for tried, value in zip(returns, values, strict=True):
        best = np.where(actions == rollouts.NO_ACTION, -1, value).argmax(axis=0)
        assert np.argwhere(np.isfinite(tried)).tolist() == sorted([[best[0], 0], [best[1], 1]])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_explorer_strays_to_any_legal_action_but_seldom_a_knock(share):
    play = played("simple")
    views = play.games().views(np.flatnonzero(play.states["public"]["phase"] != OVER))
    bot, usual, masks = Plain(), Plain().act(views), views.masks()
    bot.act = lambda view: usual if view is views else Plain().act(view)  # an array of its own
    explorer = rollouts._Explorer(bot, np.random.default_rng(1), share)
    actions = explorer.act(views)
    assert masks[np.arange(len(views)), actions].all()
    strayed = (actions != usual).mean()
    assert strayed == 0 if share == 0 else 0.5 * share < strayed < share
    knocks = masks[:, KNOCK : KNOCK + 52].any(axis=1)
    assert knocks.any()
    assert (actions[knocks] >= KNOCK).mean() == pytest.approx(1 - share, abs=0.1)
    same = views[np.full(2000, np.flatnonzero(knocks)[0])]
    chosen = explorer.act(same)
    counts = np.bincount(chosen[chosen < KNOCK])
    assert share == 0 or stats.chisquare(counts[counts > 0]).pvalue > 0.001, "all discards equally"


def test_tied_candidates_are_sampled_uniformly():
    values, actions = np.zeros((400, 4), np.float32), np.zeros((400, 4), np.int64)
    chosen = rollouts._choose(values, actions, 1, 0, np.random.default_rng(1))
    assert stats.chisquare(chosen.sum(axis=0)).pvalue > 0.001
