"""Fixed positions, and a hash of a bot's decisions in them that shows whether the bot has changed.

The positions come from whole hands. Their decks, the actions played and the random numbers for ties are
SHA-256 hashes of fixed texts, so they depend only on the rules of the game, not on any bot or on how this
release shuffles. Seven times in eight both players take a card that completes a meld and discard to minimum
deadwood; they never knock. This covers all phases, both seats, early and late turns, and many positions in
which a knock is possible. In `game_views` both players knock too: these positions have a score and a memory
of earlier hands.
"""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np

from gin_env.agents import AnyAgent, resolve
from gin_env.agents.turns import chosen_actions
from gin_env.batch import Episode, Games
from gin_env.game.actions import DRAW_UPCARD, KNOCK
from gin_env.game.cards import NUM_CARDS
from gin_env.game.melds import completes_meld, least_deadwood_discards
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView

HANDS = 24
"""About 1,900 positions."""
MANY_HANDS = 240
"""About 19,000 positions, the first ones included: bots that differ in rare decisions differ here."""
GAMES = 24
MOST_HANDS = 20
"""Number of hands of a game whose decks are fixed; later ones are left out."""


def fixed_views(hands: int = HANDS) -> PlayerView:
    """Return the positions of the first `hands` hands, as views of the players to move, in order of play."""
    return PlayerView(_played(hands, "hand", 1).copy())


def game_views() -> PlayerView:
    """Return about 2,100 positions from the hands after the first of `GAMES` games, as `fixed_views`."""
    array = _played(GAMES, "game", MOST_HANDS)
    number = array["public"]["hand_number"]
    return PlayerView(array[(number > 0) & (number < MOST_HANDS)][::3].copy())


def decision_hash(bot: AnyAgent, hands: int = HANDS, *, in_games: bool = False) -> str:
    """Return the SHA-256 of the bot's actions in `fixed_views`, shortened to 32 hexadecimal digits.

    Bots that decide alike there have the same hash. With `in_games` the positions are those of `game_views`.
    Raises as `gin_env.agents.resolve` does, and ValueError for an illegal action.
    """
    bot = resolve(bot)
    view = game_views() if in_games else fixed_views(hands)
    actions = chosen_actions(bot, view)
    return hashlib.sha256(actions.astype(np.uint8).tobytes()).hexdigest()[:32]


def hash_of(text: str) -> int:
    """Return the 64-bit number of a text."""
    return int.from_bytes(hashlib.sha256(f"gin-env fixed positions: {text}".encode()).digest()[:8], "little")


@cache
def _played(num_games: int, episode: Episode, hands: int) -> np.ndarray:
    """Return the records of all positions of games with this number of fixed decks, in order of play."""
    games = Games(num_games, episode=episode)
    zeros = np.zeros(len(games), np.uint64)
    games.start(games.everyone, zeros, zeros)
    for game in range(len(games)):
        games.fix_deals(game, [_deck(game + len(games) * hand) for hand in range(hands)], game % 2)
    arrays = []
    for step, running in enumerate(games.until_over()):
        records = games.views(running).array
        for game, record in zip(running.tolist(), records, strict=True):
            record["random"] = hash_of(f"tie {game}, step {step}")
        arrays.append(records)
        masks = games.masks(running)
        actions = [
            _action(record, mask, hash_of(f"play {game}, step {step}"), hands > 1)
            for game, record, mask in zip(running.tolist(), records, masks, strict=True)
        ]
        games.play(running, np.array(actions))
    return np.concatenate(arrays)


def _deck(number: int) -> np.ndarray:
    numbers = [hash_of(f"deck {number}, card {card}") for card in range(NUM_CARDS)]
    return np.argsort(np.array(numbers, np.uint64))


def _action(record: np.void, mask: np.ndarray, number: int, knocks: bool) -> int:
    """Return the action played in a position."""
    usual, number = bool(number % 8), number // 8
    legal = np.flatnonzero(mask).tolist()
    hand = np.int64(record["private"]["hand"])
    if record["public"]["phase"] != DISCARD:
        if DRAW_UPCARD in legal and bool(completes_meld(hand, np.int64(record["public"]["upcard"]))) == usual:
            return DRAW_UPCARD
        declining = [action for action in legal if action != DRAW_UPCARD]
        return declining[number % len(declining)]
    discards = [action for action in legal if action < NUM_CARDS]
    if usual and knocks and legal[-1] >= KNOCK:
        return legal[-1 - number % sum(action >= KNOCK for action in legal)]
    if usual:
        best, _ = least_deadwood_discards(hand, np.int64(sum(1 << card for card in discards)))
        discards = [card for card in discards if int(best) >> card & 1]
    return discards[number % len(discards)]
