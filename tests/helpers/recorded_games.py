"""Short recorded games, for the tests of records, replays and explanations."""

from __future__ import annotations

import numpy as np
from hand_endings import RULES, SITUATIONS, Plain
from hands_in_words import ONE_GAME

from gin_env import Rules
from gin_env.agents.turns import play_bot
from gin_env.records import GameRecord, Player, RecordedGames

PLAYERS = (Player("ann"), Player("bob", "simple:knock_at=10"))


def one_hand(name: str = "knock by 0") -> GameRecord:
    """Return a hand of `SITUATIONS`, played by `Plain` in both seats."""
    situation = SITUATIONS[name]
    table = RecordedGames(1, RULES)
    table.start(ONE_GAME, np.array([5], np.uint64), np.array([7], np.uint64))
    table.set_deck(0, situation.deck, situation.dealer)
    while not table.done[0]:
        play_bot(table, Plain(), ONE_GAME)
    return table.record(0, PLAYERS)


def two_hands_of_a_game() -> GameRecord:
    """A knock by 0 in a game, then the same deal by the other dealer's turn, played on for one action."""
    table = RecordedGames(1, RULES, "game")
    table.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    first = SITUATIONS["knock by 0"]
    table.fix_deals(0, [np.array(first.deck)], first.dealer)
    while table.state["public"]["hand_number"][0] == 0:
        play_bot(table, Plain(), ONE_GAME)
    play_bot(table, Plain(), ONE_GAME)
    return table.record(0, PLAYERS)


def random_game(seed: int, rules: Rules, episode: str = "game", stop: int | None = None):
    """Play a game at random and return (table, the state at every decision, actions)."""
    table = RecordedGames(1, rules, episode)
    table.start(ONE_GAME, np.array([seed], np.uint64), np.array([3], np.uint64), np.array([seed % 2 == 1]))
    numbers = np.random.default_rng(seed)
    states, actions = [], []
    while not table.done[0] and len(actions) != stop:
        mask = table.masks(ONE_GAME)[0]
        knocks = np.flatnonzero(mask[52:104]) + 52
        legal = knocks if len(knocks) else np.flatnonzero(mask)
        states.append(table.state.copy())
        actions.append(int(numbers.choice(legal)))
        table.play(ONE_GAME, np.array(actions[-1:]))
    return table, states, actions
