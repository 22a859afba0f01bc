"""Count the table of `gin_env.estimators.turn_buckets`: ``python -m research train estimator bayes``."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.estimators.turn_buckets import BUCKETS, Frequencies, offered_upcard, suit_relation
from gin_env.game.actions import DRAW_UPCARD, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, card_bit, lowest_card
from gin_env.game.rules import Rules
from gin_env.game.state import DRAW
from gin_env.game.streams import check_seed
from gin_env.observations.knowledge import cards_unseen
from gin_env.support.checks import is_integer
from gin_env.support.compilation import kernel
from research.recipes import Progress, provenance, rules_option, silent

GAMES_PER_BATCH = 1000
DEFAULT_GAMES = {"bayes": 10_000, "bayes-isru": 10_000}
"""Number of games in both papers."""


def train(
    name: str, games: int, seed: int, opponents: Sequence[str], progress: Progress, rules: Rules | None
) -> Frequencies:
    """Return `count_frequencies`; the table is the same for ``bayes`` and ``bayes-isru``."""
    return count_frequencies(games, seed, opponents, progress, rules)


def count_frequencies(
    games: int = DEFAULT_GAMES["bayes"],
    seed: int = 1,
    opponents: Sequence[str | Agent] = ("simple",),
    progress: Progress = silent,
    rules: Rules | None = None,
) -> Frequencies:
    """Return the frequencies counted in whole games between `opponents`.

    With several opponents, the bot in each seat of each game is drawn at random. The result depends only on
    the arguments. `progress` is called with the number of games that have ended since the last call.

    Raises ValueError for unknown bots, a number of games below 1, or a deck without all ranks.
    """
    if not is_integer(games) or games < 1:
        raise ValueError(f"games must be positive, not {games!r}")
    if rules is not None and rules.ranks < NUM_RANKS:
        raise ValueError(f"a table of frequencies needs all {NUM_RANKS} ranks, not {rules.ranks}")
    seed = check_seed(seed)
    bots = [resolve(bot, programs=True) for bot in opponents]
    rng = np.random.default_rng([seed, 1])
    seen, held = np.zeros(BUCKETS, np.int64), np.zeros(BUCKETS, np.int64)
    seen_before, held_before = np.zeros(NUM_RANKS, np.int64), np.zeros(NUM_RANKS, np.int64)
    turns = 0
    for first in range(0, int(games), GAMES_PER_BATCH):
        numbers = np.arange(first, min(first + GAMES_PER_BATCH, int(games)), dtype=np.uint64)
        batch = Games(len(numbers), rules, episode="game")
        batch.start(seed=seed, episodes=numbers)
        seats = rng.integers(0, len(bots), (len(numbers), 2))
        for playing in batch.until_over():
            sitting = seats[playing, batch.to_move()[playing]]
            play_seated(batch, bots, sitting, playing, play_bot)
            turns += _count_turns(batch.state, playing, seen, held, seen_before, held_before)
            progress(int(batch.done[playing].sum()))
    names = [bot.name for bot in bots]
    command = f"estimator bayes OUTPUT --games {games} --seed {seed} --opponents {'+'.join(names)}"
    about = {"games": int(games), "turns": turns, "opponents": names, "rules": (rules or Rules()).text}
    metadata = about | provenance(command + rules_option(rules), seed, opponents)
    return Frequencies(seen, held, seen_before, held_before, metadata)


@kernel
def _was_known(public, card: int, discard: int) -> bool:
    """Return whether the card was public before entry `discard` of the history."""
    known = card == public.first_upcard
    for index in range(discard):
        action = public.history[index]
        known |= is_discard(action) and action % NUM_CARDS == card
    return known


@kernel
def _count_turns(state, games, seen, held, seen_before, held_before):
    """Count the turns that have just been completed, and return their number."""
    turns = 0
    for index in range(len(games)):
        game = state[games[index]]
        public = game.public
        if public.phase != DRAW or public.turn == 0:  # a turn has ended only if the next player is to draw
            continue
        turns += 1
        player = public.to_move  # the observer of the opponent's turn
        private = game.private[1 - player]
        last = np.int64(public.history_length) - 1
        upcard = offered_upcard(public, last)
        discard = np.int64(public.history[last]) % NUM_CARDS
        took = 1 if public.history[last - 1] == DRAW_UPCARD else 0
        drawn = upcard if took else np.int64(private.stock_draws[private.num_stock_draws - 1])
        hand = np.int64(private.hand)
        hand_before = (hand | card_bit(discard)) & ~card_bit(drawn)
        unseen = cards_unseen(public, game.private[player], player)
        remaining = unseen
        while remaining:
            card = lowest_card(remaining)
            remaining &= remaining - 1
            relation = suit_relation(card // NUM_RANKS, upcard, discard)
            bucket = took, upcard % NUM_RANKS, discard % NUM_RANKS, card % NUM_RANKS, relation
            seen[bucket] += 1
            held[bucket] += hand >> card & 1
        remaining = unseen if _was_known(public, discard, last) else unseen | card_bit(discard)
        while remaining:
            card = lowest_card(remaining)
            remaining &= remaining - 1
            seen_before[card % NUM_RANKS] += 1
            held_before[card % NUM_RANKS] += hand_before >> card & 1
    return turns
