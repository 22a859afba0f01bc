"""Counter-based random streams: every random number is a hash of what it is for.

A number depends on (seed, episode, hand, purpose, counter) and on nothing else: not on how many games run
beside this one, nor on how many workers share them, nor on what was drawn before. So a batch of N equals N
single games, and the same decks can be dealt twice with the seats swapped while bots break ties afresh.

The mixing function is SplitMix64's (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), which passes BigCrush.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_env.compilation import kernel
from gin_env.support.checks import is_integer

# Purposes: streams of different purposes are independent.
DEALER = np.uint64(1)
DECK = np.uint64(2)
DECISION = np.uint64(3)
OPPONENT = np.uint64(4)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def mix(key: int, value: int) -> int:
    """uint64 hash of a key and one more value (SplitMix64's output function)."""
    z = (np.uint64(key) ^ (np.uint64(value) * _MIX_2)) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@kernel
def stream(seed: int, episode: int, hand: int, purpose: int) -> int:
    """Key of one stream (uint64); ``mix(key, counter)`` are its numbers."""
    return mix(mix(mix(np.uint64(seed), np.uint64(episode)), np.uint64(hand)), purpose)


@kernel
def below(number: int, limit: int) -> int:
    """A uint64 random number scaled to 0..limit-1: its upper 32 bits times limit (bias under limit / 2^32)."""
    return np.int64(((np.uint64(number) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@kernel
def shuffle_cards(cards: np.ndarray, size: int, key: int) -> None:
    """Fisher-Yates shuffle of the first `size` cards in place, with the numbers of one stream."""
    for index in range(size - 1, 0, -1):
        other = below(mix(key, index), index + 1)
        cards[index], cards[other] = cards[other], cards[index]


@kernel
def unit(number: int) -> float:
    """A uint64 random number scaled to [0, 1): its upper 53 bits."""
    return np.float64(np.uint64(number) >> np.uint64(11)) / 9007199254740992.0  # 2^53


def check_seed(seed: Any) -> int:
    """`seed` as a Python int. Raises TypeError or ValueError unless it is an integer >= 0."""
    if not is_integer(seed):
        raise TypeError(f"a seed is a non-negative integer, not {seed!r}")
    if seed < 0:
        raise ValueError(f"a seed is a non-negative integer, not {seed}")
    if seed >= 1 << 64:
        raise ValueError(f"a seed has at most 64 bits, not {int(seed).bit_length()}")
    return int(seed)


def fresh_seed() -> int:
    """A seed from the operating system's entropy, for whoever gave none."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
