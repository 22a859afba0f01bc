"""Playing whole turns in one kernel gives the same games as single actions."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import started
from played_positions import SMALL, same_records

from gin_env import agents, play_match
from gin_env.agents.simple import SimpleBot
from gin_env.agents.turns import check_bot_actions, play_bot, play_seated, play_turns
from gin_env.game.state import OVER

pytestmark = pytest.mark.compiled


class BySteps:
    """A bot that is asked for one action at a time."""

    def __init__(self, bot):
        self.name, self.act = bot.name, bot.act


@pytest.mark.parametrize("rules", [None, SMALL])
@pytest.mark.parametrize("knock_at", [10, 4, "variable"])
def test_turn_equals_its_single_actions(knock_at, rules):
    bot = agents.make("simple", knock_at=knock_at)
    turns, actions = started(200, rules), started(200, rules)
    waiting = turns.everyone
    while len(waiting):
        movers = turns.to_move()[waiting].copy()
        play_turns(turns, bot, waiting)
        assert (turns.done[waiting] | (turns.to_move()[waiting] != movers)).all()
        left = waiting
        while len(left):
            play_bot(actions, bot, left)
            left = left[~actions.done[left] & (actions.to_move()[left] == movers[np.isin(waiting, left)])]
        assert same_records(turns.state, actions.state)
        waiting = waiting[~turns.done[waiting]]
    assert (turns.state["public"]["phase"] == OVER).all()
    assert same_records(turns.results, actions.results)
    assert np.array_equal(turns.rewards, actions.rewards)


@pytest.mark.parametrize("reward", ["points", "win"])
def test_both_seats_play_each_hand_to_its_end(reward):
    bot = agents.make("simple")
    table, by_steps = started(40, episode="game", reward=reward), started(40, episode="game", reward=reward)
    hands = 0
    while len(running := np.flatnonzero(~table.done)):
        play_turns(table, bot, running, both_seats=True)
        assert table.results["ended"][running].all()
        hands += len(running)
    while len(running := np.flatnonzero(~by_steps.done)):
        play_bot(by_steps, bot, running)
        hands -= int(by_steps.results["ended"][running].sum())
    assert hands == 0
    assert same_records(table.state, by_steps.state)
    assert np.array_equal(table.rewards, by_steps.rewards)


def test_fixed_decks_are_dealt_after_a_whole_hand():
    table = started(2, episode="game")
    deck = table.deck(1)
    table.fix_deals(0, [table.deck(0), deck])
    play_turns(table, agents.make("simple"), np.array([0]), both_seats=True)
    assert not table.done[0]
    assert np.array_equal(table.deck(0), deck)


@pytest.mark.parametrize("other", ["simple", "random"])
@pytest.mark.parametrize("episode", ["hand", "game"])
def test_matches_equal_those_played_action_by_action(other, episode):
    simple = BySteps(agents.make("simple"))
    expected = play_match(simple, BySteps(agents.make(other)), 200, seed=3, episode=episode)
    assert play_match("simple", other, 200, seed=3, episode=episode) == expected
    mirrored = play_match(BySteps(agents.make(other)), simple, 200, seed=3, episode=episode)
    assert play_match(other, "simple", 200, seed=3, episode=episode) == mirrored


def test_subclass_of_simple_uses_its_own_act():
    class Passive(SimpleBot):
        def act(self, view):
            return np.where(view.masks()[:, 106] == 1, 106, super().act(view))

    table = started(50)
    play_turns(table, Passive(), table.everyone)
    assert (table.state["public"]["history"][:, 0] == 106).all()
    both = type("Both", (Passive,), {"act": Passive.act, "play_turns": SimpleBot.play_turns})
    assert both.play_turns is SimpleBot.play_turns, "a class may have its own of both"


@pytest.mark.parametrize("play", [play_turns, play_bot])
def test_seated_bots_play_their_own_games(play):
    class Constant:
        def __init__(self, action):
            self.name, self.action, self.tables = f"always {action}", action, 0

        def act(self, view):
            self.tables += len(view)
            return np.full(len(view), self.action)

    table = started(10)
    games = np.array([1, 2, 4, 5, 8])  # all at the offer of the first upcard
    bots = [Constant(105), Constant(106), Constant(7)]
    play_seated(table, bots, np.array([1, 0, 1, 1, 0]), games, play)
    assert table.state["public"]["history"][games, 0].tolist() == [106, 105, 106, 106, 105]
    assert [bot.tables for bot in bots] == [2, 3, 0]
    assert (table.state["public"]["history_length"][[0, 3, 6, 7, 9]] == 0).all()
    asked, one = [], (np.zeros(1, np.intp), np.array([0]))
    play_seated(table, bots[1:2], *one, lambda *each: asked.append(each[1]) or play(*each))
    assert (table.state["public"]["history"][0, 0], asked) == (106, bots[1:2])
    assert check_bot_actions(bots[0], np.zeros(2, np.uint8), 2).dtype == np.int64
