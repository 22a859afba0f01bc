"""Comparison with OpenSpiel's gin_rummy: legal actions and points of the same hands.

Known differences: in OpenSpiel the card just taken from the pile may be discarded, a hand ends after 50
upcards taken, and its `knock_card` has no effect with `oklahoma`, where the value of the upcard replaces it.
Where our hand is void, its next player may still knock with the upcard. A tie after a knock is worth nothing
there, as here without `undercut_on_tie`. Of eleven cards OpenSpiel takes an arrangement of least deadwood and
then discards its highest card, so it misses knocks that need another arrangement: a search of all
arrangements decides (`brute_force`), and a hand is compared up to such a knock. Where several arrangements of
a knocker leave the same deadwood, ours is not always the best one.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from typing import Any

import brute_force
import numpy as np
from hands_in_words import started

from gin_env import agents
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.rules import Rules
from gin_env.game.state import VOID

SUITS = (1, 3, 0, 2)
"""OpenSpiel's number of each of our suits, C H S D: it has them in the order S C D H."""
THEIR_DRAW_UPCARD, THEIR_DRAW_STOCK, THEIR_PASS, THEIR_KNOCK = 52, 53, 54, 55
NUM_GAMES = 200
VARIANTS = {
    "default": ({}, Rules(undercut_on_tie=False)),
    "oklahoma": ({"oklahoma": True}, Rules(oklahoma=True, undercut_on_tie=False)),
    "knock at 5": ({"knock_card": 5}, Rules(knock_limit=5, undercut_on_tie=False)),
    "straight": ({"knock_card": 0}, Rules(knock_limit=0, undercut_on_tie=False)),
    "bonuses": (
        {"gin_bonus": 20, "undercut_bonus": 10},
        Rules(gin_bonus=20, undercut_bonus=10, undercut_on_tie=False),
    ),
}
"""Name -> (parameters of OpenSpiel's game, our rules)."""


def their_card(card: int) -> int:
    return SUITS[card // 13] * 13 + card % 13


OUR_ACTION = {THEIR_DRAW_UPCARD: DRAW_UPCARD, THEIR_DRAW_STOCK: DRAW_STOCK, THEIR_PASS: PASS}
OUR_ACTION |= {their_card(card): card for card in range(52)}
THEIR_ACTION = {ours: theirs for theirs, ours in OUR_ACTION.items()}


def their_legal_actions(state: Any) -> set[int]:
    """Return OpenSpiel's legal actions before a knock, in our numbers."""
    legal = set(state.legal_actions())
    knocks = state.child(THEIR_KNOCK).legal_actions() if THEIR_KNOCK in legal else ()
    return {OUR_ACTION[action] for action in legal - {THEIR_KNOCK}} | {
        KNOCK + OUR_ACTION[card] for card in knocks if card < 52
    }


def compare(decisions: int, seed: int, bots: tuple[str, ...], variant: str = "default") -> Counter[str]:
    """Play at least this number of decisions and count the events; ``differences`` must be 0."""
    import pyspiel

    parameters, rules = VARIANTS[variant]
    new_state = partial(pyspiel.load_game("gin_rummy", parameters).new_initial_state)
    counts: Counter[str] = Counter()
    batch = 0
    while counts["decisions"] < decisions:
        games = started(NUM_GAMES, rules, batch * NUM_GAMES, seed)
        pair = [agents.make(bots[(batch + seat) % len(bots)]) for seat in range(2)]
        batch += 1
        states = [dealt(games, game, new_state()) for game in range(NUM_GAMES)]
        running, left = games.everyone, list[int]()
        while len(running):
            actions = np.empty(len(running), np.int64)
            to_move = games.to_move()[running]
            for seat in range(2):
                mine = to_move == seat
                actions[mine] = pair[seat].act(games.views(running[mine]))
            masks = games.masks(running)
            taken = games.state["public"]["taken"]
            for game, mask, action in zip(running.tolist(), masks, actions.tolist(), strict=True):
                if action in compare_legal(states[game], mask, int(taken[game]), counts):
                    follow(games, game, states[game], action)
                else:
                    left.append(game)
            games.play(running, actions)
            running = running[~np.isin(running, left)]
            for game in running[games.done[running]].tolist():
                _compare_end(games, game, states[game], counts)
            fifty = [game for game in running.tolist() if states[game].is_terminal() and not games.done[game]]
            counts["hands ended by OpenSpiel's 50 upcards"] += len(fifty)
            running = running[~games.done[running] & ~np.isin(running, fifty)]
        counts["hands"] += NUM_GAMES
    return counts


def dealt(games: Games, game: int, state: Any) -> Any:
    """Return OpenSpiel's state with the same deal; its player 0 starts and is our non-dealer."""
    deck = games.deck(game).tolist()
    first = 1 - int(games.state["public"]["dealer"][game])
    for card in (*deck[first:20:2], *deck[1 - first : 20 : 2], deck[20]):
        state.apply_action(their_card(card))
    return state


def compare_legal(state: Any, mask: np.ndarray, taken: int, counts: Counter[str]) -> set[int]:
    """Compare the legal actions, and return OpenSpiel's in our numbers. `taken` is the card taken, or -1."""
    ours = set(np.flatnonzero(mask).tolist())
    theirs = their_legal_actions(state)
    if taken >= 0:
        theirs -= {taken, KNOCK + taken}
    knocks = {action for action in ours if KNOCK <= action < DRAW_STOCK}
    counts["decisions"] += 1
    counts["decisions with a knock"] += bool(knocks)
    hand = frozenset(action for action in ours | {taken} if 0 <= action < KNOCK)
    missed = knocks and theirs == ours - knocks
    if missed and knocks == possible_knocks(hand, taken, _knock_limit(state)):
        counts["knocks that OpenSpiel misses"] += 1
    elif ours != theirs:
        counts["differences"] += 1
        only = f"only here: {sorted(ours - theirs)}, only in OpenSpiel: {sorted(theirs - ours)}"
        print(only, f"card taken: {taken}", state, sep="\n", file=sys.stderr)
    return theirs


def possible_knocks(hand: frozenset[int], taken: int, limit: int) -> set[int]:
    """Return every legal knock with eleven cards, by a search of all arrangements."""
    discards = hand - {taken}
    return {KNOCK + card for card in discards if brute_force.deadwood(hand - {card}) <= limit}


def _knock_limit(state: Any) -> int:
    return int(str(state).partition("Knock card: ")[2].split()[0])


def follow(games: Games, game: int, state: Any, action: int) -> None:
    """Play in OpenSpiel what is about to be played here; a knock up to the choice of melds."""
    if KNOCK <= action < DRAW_STOCK:
        state.apply_action(THEIR_KNOCK)
        action -= KNOCK
    state.apply_action(THEIR_ACTION[action])
    if state.is_chance_node():
        public = games.state["public"][game]
        state.apply_action(their_card(int(games.deck(game)[-int(public["stock_left"])])))


def _compare_end(games: Games, game: int, state: Any, counts: Counter[str]) -> None:
    result = games.results[game]
    if result["outcome"] == VOID:
        counts["void hands"] += 1
        counts["differences"] += not (state.is_terminal() or "Phase: Wall" in str(state))
        return
    counts["knocks settled"] += 1
    knocker = int(result["knocker"])
    first = 1 - int(result["dealer"])
    their_knocker = 0 if knocker == first else 1
    ours = int(result["points"]) * (1 if result["winner"] == knocker else -1)
    values = _values(state, their_knocker, {})
    counts["differences"] += ours not in values
    counts["knocks worth more in another arrangement"] += ours in values and ours != max(values)


def _values(state: Any, knocker: int, known: dict[tuple[int, ...], set[int]]) -> set[int]:
    """Return the knocker's possible points, by arrangement, against the best defence."""
    if state.is_terminal():
        return {round(state.returns()[knocker])}
    key = tuple(sorted(state.history()))  # the order of melds and of cards laid off does not matter
    if key not in known:
        results = [_values(state.child(action), knocker, known) for action in state.legal_actions()]
        if state.current_player() == knocker:
            known[key] = set().union(*results)
        else:
            known[key] = {min(min(values) for values in results)}
    return known[key]
