"""Counts of the game tree for fixed deals, as chess programs count moves ("perft").

`engine_count` walks the tree with the engine, `reference_count` with the slow reference, `openspiel_count`
with OpenSpiel's game, where its rules allow. A node is a sequence of actions; a hand that has ended has no
further nodes. Run this file to write ``tests/data/perft.json`` from the reference.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from reference_rules import Game

from gin_env import Rules
from gin_env.batch import Games

FILE = Path(__file__).resolve().parents[1] / "data" / "perft.json"
SMALL = {"ranks": 4, "suits": 3, "hand_size": 3, "stock_floor": 0}
"""Twelve cards."""


def deals() -> dict[str, tuple[Rules, int]]:
    """Return name -> (rules, maximum depth of the counts in the file)."""
    full = {f"full, {name}": (rules, 6) for name, rules in Rules.presets().items()}
    small = {f"small, {name}": (replace(rules, **SMALL), 9) for name, rules in Rules.presets().items()}
    return full | small | {"small, no offer": (Rules(**SMALL, opening_offer=False), 9)}


def deck_of(rules: Rules) -> list[int]:
    """The deck of the counts: the cards of the rules in an order that a linear congruence shuffles."""
    cards = [suit * 13 + rank for suit in range(rules.suits) for rank in range(rules.ranks)]
    return sorted(cards, key=lambda card: (card * 37 + 11) % 53)


def engine_count(rules: Rules, depth: int) -> list[int]:
    """Number of nodes at each depth from 1 on, breadth first with the engine."""
    games = Games(1, rules)
    games.start(seed=0)
    games.set_deck(0, deck_of(rules), dealer=0)
    counts = []
    states = games.state
    for _ in range(depth):
        batch = Games(len(states), rules)
        batch.state[:] = states
        batch.done[:] = False
        parents, actions = np.nonzero(batch.masks(batch.everyone))
        counts.append(len(parents))
        following = Games(max(len(parents), 1), rules)
        following.state[: len(parents)] = states[parents]
        following.done[:] = False
        if not len(parents):
            break
        following.play(following.everyone, actions)
        states = following.state[~following.done]
        if not len(states):
            break
    return counts + [0] * (depth - len(counts))


def reference_count(rules: Rules, depth: int) -> list[int]:
    """Return the same counts, depth first with the slow reference."""
    counts = [0] * depth
    deck = deck_of(rules)

    def walk(game: Game, level: int) -> None:
        legal = game.legal()
        counts[level] += len(legal)
        if level + 1 < depth:
            for action in legal:
                following = copy.deepcopy(game)
                following.play(action)
                walk(following, level + 1)

    walk(Game(rules, lambda _: deck, 0), 0)
    return counts


def openspiel_count(parameters: dict[str, Any], rules: Rules, depth: int) -> list[int]:
    """Return the same counts in OpenSpiel, without discards of a card just taken, which our rules forbid."""
    import pyspiel
    from openspiel import THEIR_DRAW_STOCK, THEIR_DRAW_UPCARD, THEIR_KNOCK, their_card

    deck, counts = [their_card(card) for card in deck_of(rules)], [0] * depth
    state = pyspiel.load_game("gin_rummy", parameters).new_initial_state()
    for card in (*deck[1:20:2], *deck[0:20:2], deck[20]):
        state.apply_action(card)

    def walk(state: Any, upcard: int, taken: int, drawn: int, level: int) -> None:
        legal = [action for action in state.legal_actions() if action not in (taken, THEIR_KNOCK)]
        counts[level] += len(legal)
        if THEIR_KNOCK in state.legal_actions():
            knocks = state.child(THEIR_KNOCK).legal_actions()
            counts[level] += sum(card < 52 and card != taken for card in knocks)
        for action in legal if level + 1 < depth else ():
            following = state.child(action)
            if action == THEIR_DRAW_STOCK:
                following.apply_action(deck[21 + drawn])
                walk(following, -1, -1, drawn + 1, level + 1)
            elif action == THEIR_DRAW_UPCARD:
                walk(following, -1, upcard, drawn, level + 1)
            else:
                walk(following, action if action < 52 else upcard, -1, drawn, level + 1)

    walk(state, deck[20], -1, 0, 0)
    return counts


def read() -> dict[str, Any]:
    """Return the stored counts: name -> counts at depth 1, 2, ..."""
    return json.loads(FILE.read_text())


if __name__ == "__main__":
    counts = {name: reference_count(rules, depth) for name, (rules, depth) in deals().items()}
    FILE.write_text(json.dumps(counts, indent=2) + "\n")
    print(f"written to {FILE}")
