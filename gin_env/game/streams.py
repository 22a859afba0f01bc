"""Counter-based random streams: every random number is a hash of its purpose.

A number depends only on (seed, episode, hand, purpose, counter). It does not depend on the number of games
in the batch, on the number of workers, or on earlier draws. A batch of N therefore equals N single games,
and the same decks can be dealt twice with the seats swapped while bots break ties independently.

There are two layers:

- *Keys*, once per episode: `episode_key` is SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast
  short-input PRF", INDOCRYPT 2012) under the seed. It is a one-way function: a player who works out the
  key of their own tie-breaks cannot derive the seed, the key of the deals or the other player's key. The
  remaining attack is to try every seed, so use the default, a secret seed, with bots that you do not trust.
- *Numbers*, at every use: `mix` is SplitMix64's output function (Steele, Lea and Flood, "Fast splittable
  pseudorandom number generators", OOPSLA 2014), which passes BigCrush. It is fast and invertible.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gin_env.support.checks import is_integer
from gin_env.support.compilation import kernel

# Purposes of keys (`episode_key`).
DEALS = np.uint64(1)
DECISIONS = np.uint64(2)
"""First of four purposes, 2 to 5: player 0 and player 1, then both of them in the twin of the deal."""

# Purposes of the streams of one key (`stream`).
DEALER = np.uint64(1)
DECK = np.uint64(2)
SUITS = np.uint64(3)
OPPONENT = np.uint64(4)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def mix(key: int, value: int) -> int:
    """Return the uint64 hash of a key and a value (SplitMix64's output function)."""
    z = (np.uint64(key) ^ (np.uint64(value) * _MIX_2)) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@kernel
def _rotate_left(word: int, bits: int) -> int:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@kernel
def _sip_rounds(state: tuple[int, int, int, int], rounds: int) -> tuple[int, int, int, int]:
    """Return the state, four uint64, after this number of SipHash rounds."""
    a, b, c, d = state
    for _ in range(rounds):
        a += b
        c += d
        b = _rotate_left(b, 13) ^ a
        d = _rotate_left(d, 16) ^ c
        a = _rotate_left(a, 32)
        c += b
        a += d
        b = _rotate_left(b, 17) ^ c
        d = _rotate_left(d, 21) ^ a
        c = _rotate_left(c, 32)
    return a, b, c, d


@kernel
def siphash(key_0: int, key_1: int, word_0: int, word_1: int) -> int:
    """Return the SipHash-2-4 (uint64) of a message of two 64-bit words under a key of two 64-bit words."""
    state = (
        key_0 ^ np.uint64(0x736F6D6570736575),
        key_1 ^ np.uint64(0x646F72616E646F6D),
        key_0 ^ np.uint64(0x6C7967656E657261),
        key_1 ^ np.uint64(0x7465646279746573),
    )
    # The last block holds the message's length, 16 bytes, in its highest byte.
    for word in (word_0, word_1, np.uint64(16 << 56)):
        a, b, c, d = state
        a, b, c, d = _sip_rounds((a, b, c, d ^ word), 2)
        state = a ^ word, b, c, d
    a, b, c, d = state
    a, b, c, d = _sip_rounds((a, b, c ^ np.uint64(0xFF), d), 4)
    return a ^ b ^ c ^ d


@kernel
def episode_key(seed: int, episode: int, purpose: int) -> int:
    """Return the uint64 key for one purpose of one episode; the module docstring says what it protects."""
    return siphash(np.uint64(seed), np.uint64(0), np.uint64(episode), np.uint64(purpose))


@kernel
def stream(key: int, number: int, purpose: int) -> int:
    """Return the key (uint64) of the stream for one purpose in one hand.

    The numbers of the stream are ``mix(stream, counter)``.
    """
    return mix(mix(np.uint64(key), np.uint64(number)), purpose)


@kernel
def below(number: int, limit: int) -> int:
    """Return a uint64 random number scaled to 0..limit-1, with a bias below limit / 2^32."""
    return np.int64(((np.uint64(number) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@kernel
def shuffle_cards(cards: np.ndarray, size: int, key: int) -> None:
    """Shuffle the first `size` cards in place (Fisher-Yates) with the numbers of the stream `key`."""
    for index in range(size - 1, 0, -1):
        other = below(mix(key, index), index + 1)
        cards[index], cards[other] = cards[other], cards[index]


def _suit_orders() -> np.ndarray:
    """Return all orders of the suits, int8 (24, 4); the first n! of them move only the first n suits."""
    moved = [
        max((s for s in range(4) if order[s] != s), default=-1) for order in itertools.permutations(range(4))
    ]
    orders = sorted(zip(moved, itertools.permutations(range(4)), strict=True))
    return np.array([order for _, order in orders], np.int8)


SUIT_ORDERS = _suit_orders()
_NUM_ORDERS = np.array([1, 1, 2, 6, 24])
_SPADES_FIXED = np.array([order for order in SUIT_ORDERS if order[2] == 2])
_NUM_SPADES_FIXED = np.array([1, 1, 2, 2, 6])


@kernel
def other_suit_order(suits: int, key: int, spades_fixed: bool) -> np.ndarray:
    """Return a random order of the first `suits` suits, int8 (4,), that differs from the usual order.

    With `spades_fixed`, spades keep their place. If no other order exists, as with one suit, return the
    usual order.
    """
    if spades_fixed:
        others = _NUM_SPADES_FIXED[suits] - 1
        return _SPADES_FIXED[1 + below(mix(key, 0), others) if others > 0 else 0]
    others = _NUM_ORDERS[suits] - 1
    return SUIT_ORDERS[1 + below(mix(key, 0), others) if others > 0 else 0]


@kernel
def unit(number: int) -> float:
    """Return a uint64 random number scaled to [0, 1), using its upper 53 bits."""
    return np.float64(np.uint64(number) >> np.uint64(11)) / 9007199254740992.0  # 2^53


def units(numbers: np.ndarray) -> np.ndarray:
    """Return uint64 random numbers scaled to [0, 1), as float64; the array version of `unit`."""
    return (numbers >> np.uint64(11)) / 9007199254740992.0


def check_seed(seed: Any) -> int:
    """Return `seed` as a Python int.

    Raises TypeError or ValueError unless it is a non-negative integer of at most 64 bits.
    """
    if not is_integer(seed):
        raise TypeError(f"seed must be a non-negative integer, not {seed!r}")
    if seed < 0:
        raise ValueError(f"seed must be a non-negative integer, not {seed}")
    if seed >= 1 << 64:
        raise ValueError(f"seed must have at most 64 bits, not {int(seed).bit_length()}")
    return int(seed)


def fresh_seed() -> int:
    """Return a seed from the operating system's entropy, for callers that do not pass one."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
