"""The search that knows its opponent: what it believes, what it may see, and what it wins."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hands_in_words import started
from played_positions import view_of_world, views_of_policy

from gin_env import agents, cards
from gin_env.agents.search import best_response
from gin_env.agents.search.best_response import MISTAKES, BestResponseBot, WeightedWorlds
from gin_env.agents.search.rollouts import RolloutPlayers
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS
from gin_env.game.rules import MAX_TURNS, Rules
from gin_env.observations.views import PlayerView

pytestmark = pytest.mark.compiled

TINY = Rules(ranks=4, suits=2, hand_size=2, knock_limit=2, stock_floor=0, opening_offer=False)
"""A deck of eight cards, so that all hands can be enumerated."""


class TakesEverything:
    """Takes each upcard and discards the lowest card that it may."""

    name = "takes-everything"

    def act(self, view):
        masks = view.masks()
        return np.where(masks[:, DRAW_UPCARD] == 1, DRAW_UPCARD, masks.argmax(axis=1))


def worlds_of(bot, view, random):
    return WeightedWorlds(bot.bot, bot.trust, bot.belief, view, bot.samples, random)


def test_worlds_agree_with_what_the_player_sees():
    bot = BestResponseBot("simple", 16)
    for number, (_, view) in enumerate(views_of_policy(3)):
        player = int(view.array["player"][0])
        worlds = worlds_of(bot, view, np.random.default_rng(number)).next_worlds()
        assert len(worlds) == 16
        assert (np.sort(worlds["hidden"]["deck"], axis=1) == np.arange(52)).all()
        games = Games(16, episode="game")
        games.state[:] = worlds
        again = games.views(games.everyone, player).array
        for field in ("public", "private"):
            assert (again[field] == view.array[field]).all()


def test_likelihood_counts_the_acts_that_the_bot_would_not_do():
    """A bot that takes everything and discards its lowest card has passed, then discarded its highest."""
    bot = BestResponseBot("simple", 15)  # so three acts in each of 60 worlds, not of 64, repeat in every row
    bot.bot = TakesEverything()
    games = started(1, Rules(knock_limit=0), seed=9)
    games.play(games.everyone, np.array([PASS]))
    chains = worlds_of(bot, games.views(games.everyone), np.random.default_rng(1))
    values = chains.log_likelihoods()
    assert values == pytest.approx(np.full(len(values), np.log(MISTAKES / 2)))
    chains.bot = agents.make("random")
    first, second = (chains.log_likelihoods() for _ in range(2))
    assert set(first.round(9)) == set(np.log([MISTAKES / 2, 1 - MISTAKES / 2]).round(9))  # passes at random
    assert (first != second).any(), "asked with new random numbers each time"
    for action in (PASS, DRAW_STOCK):
        games.play(games.everyone, np.array([action]))
    highest = cards.cards_of(int(games.state["private"]["hand"][0, games.to_move()[0]]))[-1]
    games.play(games.everyone, np.array([highest]))
    values = worlds_of(bot, games.views(games.everyone), np.random.default_rng(1)).log_likelihoods()
    assert values == pytest.approx(np.full(len(values), np.log(MISTAKES / 2 * MISTAKES / 11)))


def test_belief_prefers_worlds_in_which_the_bot_acts_so():
    """`random` passes by chance and `simple` only without a meld: its hand fits the upcard less often."""
    for game in range(50):
        games = started(1, first=game, seed=9)
        games.play(games.everyone, np.array([PASS]))
        view = games.views(games.everyone)
        upcard = int(view.array["public"]["upcard"][0])
        if upcard % 13 in range(2, 11):
            break
    taken = []
    for trust in (0.0, 1.0):
        bot = BestResponseBot("simple", 16, estimator="uniform", trust=trust)
        assert bot.belief.estimator.name == "uniform"
        chains = worlds_of(bot, view, np.random.default_rng(2))
        worlds = np.concatenate([chains.next_worlds() for _ in range(40)])
        other = 1 - int(view.array["player"][0])
        hands = worlds["private"]["hand"][:, other]
        assert len(set(hands.tolist())) > 16 * best_response.NUM_PROPOSED, "each call proposes others"
        same_rank = [sum(int(hand) >> (upcard % 13 + 13 * suit) & 1 for suit in range(4)) for hand in hands]
        taken.append(np.mean(np.array(same_rank) >= 2))
    assert taken[1] < 0.5 * taken[0]


def test_worlds_are_weighted_by_a_power_of_the_estimators_odds():
    """Before the opponent has acted, a hand is sampled in proportion to the root of its cards' odds."""
    odds = np.geomspace(0.2, 5, 52)

    class UnequalEstimator:
        def estimate(self, view):
            return np.tile(odds / (1 + odds), (len(view), 1))

    games = started(1, TINY, seed=9)
    player = int(games.to_move()[0])
    unseen = TINY.deck_mask & ~int(games.state["private"]["hand"][0, player])
    unseen &= ~int(games.state["public"]["pile"][0])
    weights = {
        1 << first | 1 << second: (odds[first] * odds[second]) ** 0.5
        for first, second in combinations(cards.cards_of(unseen), 2)
    }
    bot = BestResponseBot("simple", 4000, trust=0.5)
    bot.belief.estimator = UnequalEstimator()
    worlds = worlds_of(bot, games.views(games.everyone), np.random.default_rng(1)).next_worlds()
    found = Counter(worlds["private"]["hand"][:, 1 - player].tolist())
    assert len(weights) == 10
    for hand, weight in weights.items():
        assert found[hand] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.02)


@pytest.mark.parametrize("samples", [5, 20])
def test_it_plays_the_action_that_wins_most_for_its_player(monkeypatch, samples):
    """Every action loses; the least likely one that is tried loses least, in the first round."""
    bot, movers = BestResponseBot("simple", samples, trust=1), set()
    assert bot.name == f"response to simple, {samples} worlds, turns=3, trust=1"
    for _, view in views_of_policy(3):
        tried, worlds = bot.likeliest(view)[0], []

        def won_after(states, actions, players, best=tried[-1], first=tried[0], worlds=worlds):
            assert (players == states["public"]["to_move"]).all()
            movers.update(players.tolist())
            worlds += states["hidden"]["deck"][actions == first].tolist()
            return np.where((actions == best) & (len(worlds) <= best_response.FIRST_ROUND), -0.3, -0.5)

        monkeypatch.setattr(bot, "won_after", won_after)
        assert bot.act(view)[0] == tried[-1]
        random = np.random.default_rng(int(view.array["random"][0]))
        expected = worlds_of(bot, view, random).next_worlds()["hidden"]["deck"].tolist()
        assert worlds == expected * (len(tried) > 1), "all worlds by its trust, in rounds"
    assert movers == {0, 1}


@pytest.mark.parametrize("turns", [1, 2])
def test_rollouts_last_for_the_given_turns(monkeypatch, turns):
    asked = set()

    def roll_out(self, games, player, turns):
        asked.add((turns, self.opponent.name))
        return np.zeros(len(games))

    bot = BestResponseBot("simple", 16, turns=turns)
    monkeypatch.setattr(RolloutPlayers, "roll_out", roll_out)
    for _, view in views_of_policy(1):
        bot.act(view)
    assert asked - {(MAX_TURNS, "simple")} == {(turns, "simple")}, "whole hands are played for chances to win"


def test_it_looks_at_no_hidden_card():
    bot = BestResponseBot("tonic", 16)
    for number, (state, view) in enumerate(views_of_policy(2)):
        world = worlds_of(bot, view, np.random.default_rng(number)).next_worlds()[0]
        assert bot.act(view) == bot.act(view_of_world(world, state, view))


@pytest.mark.long
def test_it_decides_the_same_alone_in_a_batch_and_again():
    other_rules = Rules(target_score=5)
    views = [view for _, view in [*views_of_policy(1), *views_of_policy(2, other_rules)]]
    records = np.concatenate([view.array for view in views])
    together = BestResponseBot("simple", 16).act(PlayerView(records))
    assert len(BestResponseBot("simple", 16).act(PlayerView(records[:0]))) == 0
    assert together.tolist() == [int(BestResponseBot("simple", 16).act(view)[0]) for view in views]
