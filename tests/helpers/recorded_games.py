"""Short recorded games, for the tests of records, replays and explanations."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import Any

import numpy as np
from hand_endings import RULES, SITUATIONS, Plain
from hands_in_words import ONE_GAME

from gin_env import Rules, cards
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


def change(record: Any, path: str, value: object) -> None:
    """Set an entry of a line or of a state, such as ``hands.0.winner``, or remove it (`...`)."""
    *way, last = [int(word) if word.isdecimal() else word for word in path.split(".")]
    place = reduce(getitem, way, record)
    if value is ...:
        del place[last]
    else:
        place[last] = value


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


def settled(states: np.ndarray) -> np.ndarray:
    """Return the states with unused entries, left over from earlier hands, cleared."""
    states = states.copy()
    for state in states:
        public = state["public"]
        public["history"][public["history_length"] :] = 0
        public["discard_turn"][cards.cards_of(cards.FULL_DECK & ~int(public["pile"]))] = 0
        for private in state["private"]:
            private["stock_draws"][private["num_stock_draws"] :] = 0
    return states
