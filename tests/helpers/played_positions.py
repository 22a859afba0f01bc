"""Positions from whole hands played by several policies, for property tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np
from hands_in_words import started
from rule_variants import VARIANTS

from gin_env import agents, cards, melds
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.game.actions import KNOCK
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, GIN, OVER, UNDERCUT, VOID
from gin_env.observations.views import PlayerView

Policy = Callable[[PlayerView], np.ndarray]
SMALL = Rules(ranks=6, suits=3, hand_size=4, knock_limit=6, opening_offer=False)


def knock_immediately(view: PlayerView) -> np.ndarray:
    """Knock as soon as possible, else draw at random; discard well in most hands, at random in some.

    Random play rarely knocks; random discards lead to void hands.
    """
    actions = agents.make("random").act(view)
    for index, mask in enumerate(view.masks()):
        public = view.array["public"][index]
        if public["phase"] != DISCARD:
            continue
        first = KNOCK if mask[KNOCK : KNOCK + 52].any() else 0
        if first or public["first_upcard"] % 4:
            hand, allowed = int(view.hands[index]), np.flatnonzero(mask[first : first + 52]).tolist()
            left = {card: melds.deadwood(hand & ~(1 << card)) for card in allowed}
            actions[index] = first + min(left, key=left.get)
        else:
            actions[index] %= 52
    return actions


POLICIES: dict[str, tuple[Policy, Rules, int]] = {
    "random": (agents.make("random").act, Rules(), 30),
    "knock-immediately": (knock_immediately, Rules(), 90),
    "simple": (agents.make("simple").act, Rules(), 50),
    "knock-immediately, small deck": (knock_immediately, SMALL, 90),
    **{
        f"knock-immediately, {name}": (knock_immediately, VARIANTS[name], 16)
        for name in ("everything", *(preset for preset in Rules.presets() if preset in VARIANTS))
    },
}
"""name -> (policy, rules, hands)."""


@dataclass(frozen=True)
class Played:
    """All positions of some hands, including final ones, with the results of the hands."""

    rules: Rules
    states: np.ndarray
    """Record array of dtype STATE, one for each position of each hand."""
    reached: dict[str, int]

    def games(self) -> Games:
        """Return a batch in which each position is a separate game."""
        return as_games(self.states, self.rules)


def as_games(states: np.ndarray, rules: Rules) -> Games:
    games = Games(len(states), rules)
    games.state[:] = states
    games.done[:] = states["public"]["phase"] == OVER
    return games


def simple_views(games: int, seed: int, steps: int) -> Iterator[PlayerView]:
    """Return the views of the players to move in the first steps of games played by `simple`, in order."""
    table, bot = started(games, seed=seed, episode="game"), agents.make("simple")
    for running in islice(table.until_over(), steps):
        view = table.views(running)
        yield from view
        table.play(running, bot.act(view))


def later_hands(games: int = 100, actions: int = 200) -> Games:
    """Return games of `simple` against itself, most of them in a later hand."""
    table, bot = started(games, seed=4, episode="game"), agents.make("simple")
    for playing in islice(table.until_over(), actions):
        table.play(playing, bot.act(table.views(playing)))
    return table


@cache
def played(name: str) -> Played:
    """The positions of one of `POLICIES`; the scores of the game so far are made up."""
    policy, rules, hands = POLICIES[name]
    games = started(hands, rules, seed=12345)
    games.state["public"]["scores"] = np.random.default_rng(1).integers(0, 100, (hands, 2))
    snapshots = [games.state.copy()]
    for waiting in games.until_over():
        games.play(waiting, policy(games.views(waiting)))
        snapshots.append(games.state[waiting].copy())
    return Played(rules, np.concatenate(snapshots), reached(games.state))


def reached(ends: np.ndarray) -> dict[str, int]:
    """Return the number of hands for each ending."""
    kinds = ("knocks", "lay-offs", "gins", "undercuts", "voids")
    count = dict.fromkeys(("hands", *kinds), 0) | {"hands": len(ends)}
    for state in ends:
        public = state["public"]
        knocker = int(public["knocker"])
        if knocker >= 0:
            defender = 1 - knocker
            alone = melds.deadwood(int(state["private"]["hand"][defender]))
            count["knocks"] += 1
            count["lay-offs"] += int(public["outcome"] != GIN and public["deadwood"][defender] < alone)
        for name, outcome in (("gins", GIN), ("undercuts", UNDERCUT), ("voids", VOID)):
            count[name] += int(public["outcome"] == outcome)
    return count


def redealt(states: np.ndarray, rules: Rules, player: int, seed: int) -> np.ndarray:
    """Return copies with the cards hidden from `player` dealt again: the opponent's hand and the stock."""
    rng = np.random.default_rng(seed)
    copies = states.copy()
    opponent, size = 1 - player, rules.deck_size
    for state in copies:
        public, private, deck = state["public"], state["private"][opponent], state["hidden"]["deck"]
        shown = int(public["shown"][opponent])
        held = cards.cards_of(int(private["hand"]) & ~shown)
        first = size - int(public["stock_left"])
        hidden = rng.permutation(held + deck[first:size].tolist())
        private["hand"] = shown | cards.mask_of(hidden[: len(held)].tolist())
        private["stock_draws"] = rng.integers(0, 52, private["stock_draws"].shape)
        deck[first:size] = hidden[len(held) :]
        deck[:first] = rng.permutation(deck[:first])
    return copies


def same_records(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two structured arrays agree in every field (the padding can differ)."""
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype.names is None:
        return bool(np.array_equal(first, second))
    return all(same_records(first[name], second[name]) for name in first.dtype.names)


def views_of_policy(hands: int, rules: Rules | None = None) -> list[tuple[np.void, PlayerView]]:
    """Return a state and the view of the player to move at every fifth action of the policy's hands."""
    games, policy, found = started(hands, rules, seed=12), agents.make("policy"), []
    for step, running in enumerate(games.until_over()):
        stopped = running[running % 5 == step % 5]
        found += [(games.state[game].copy(), games.views(np.array([game]))) for game in stopped]
        play_bot(games, policy, running)
    return found


def view_of_world(world: np.void, state: np.void, view: PlayerView) -> PlayerView:
    """Return the same player's view in a world sampled from `view`, with the random numbers of `state`."""
    games = Games(1, episode="game")
    games.state[0] = world
    for keys in ("decision_keys", "decisions"):
        games.state["hidden"][keys][0] = state["hidden"][keys]
    return games.views(np.array([0]), int(view.array["player"][0]))
