"""Random numbers: one-way keys, what a player can derive from a view, and the suits of twin games."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import started

from gin_env import Rules, cards
from gin_env.batch import Games
from gin_env.envs.learner_seat import LearnerSeat
from gin_env.game import streams
from gin_env.game.actions import DRAW_STOCK, PASS
from gin_env.game.state import NO_CARD
from gin_env.game.streams import DECK, mix, shuffle_cards, siphash, stream

MASK = 2**64 - 1


def reference_siphash(key: bytes, message: bytes) -> int:
    """Return SipHash-2-4 as defined in its paper, for messages of any length."""

    def rotated(word: int, bits: int) -> int:
        return (word << bits | word >> 64 - bits) & MASK

    def rounds(number: int) -> None:
        for _ in range(number):
            v[0] = v[0] + v[1] & MASK
            v[2] = v[2] + v[3] & MASK
            v[1] = rotated(v[1], 13) ^ v[0]
            v[3] = rotated(v[3], 16) ^ v[2]
            v[0] = rotated(v[0], 32)
            v[2] = v[2] + v[1] & MASK
            v[0] = v[0] + v[3] & MASK
            v[1] = rotated(v[1], 17) ^ v[2]
            v[3] = rotated(v[3], 21) ^ v[0]
            v[2] = rotated(v[2], 32)

    k0, k1 = (int.from_bytes(key[start : start + 8], "little") for start in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        block = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= block
        rounds(2)
        v[0] ^= block
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_siphash_matches_its_paper():
    """Appendix A of the paper: key 00..0f, message 00..0e. The kernel takes 16-byte messages."""
    assert reference_siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5
    rng = np.random.default_rng(0)
    for _ in range(50):
        words = rng.integers(0, MASK, 4, np.uint64, endpoint=True)
        assert int(siphash(*words)) == reference_siphash(words[:2].tobytes(), words[2:].tobytes())


def unmix(number: int, value: int) -> int:
    """Return the key for which ``mix(key, value)`` is this number, by inverting SplitMix64."""

    def unshifted(word: int, bits: int) -> int:
        result = word
        while bits < 64:
            result = word ^ result >> bits
            if result ^ result >> bits == word:
                break
        return result

    z = unshifted(number, 31)
    z = unshifted(z * pow(int(streams._MIX_2), -1, 2**64) & MASK, 27)
    z = unshifted(z * pow(int(streams._MIX_1), -1, 2**64) & MASK, 30)
    return (z - int(streams._GOLDEN)) & MASK ^ value * int(streams._MIX_2) & MASK


def test_mix_can_be_inverted():
    """`mix` is not one-way, so it must not protect a secret on its own."""
    for key in (0, 1, 2**63 + 5, MASK):
        for value in (0, 7, 2**40):
            assert unmix(int(mix(np.uint64(key), np.uint64(value))), value) == key


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_view_numbers_reveal_neither_deck_nor_opponent_key(seed):
    """The key recovered from a view's random number reveals neither the deck nor the opponent's key."""
    games = started(200, seed=seed)
    for player in (0, 1):
        views = games.views(games.everyone, player)
        for game, number in enumerate(views.array["random"].tolist()):
            hidden = games.state["hidden"][game]
            key = unmix(number, 0)
            # A player can predict their own numbers and nothing else.
            assert key == int(hidden["decision_keys"][player])
            assert key != int(hidden["decision_keys"][1 - player])
            for guess in {key, unmix(key, 0), unmix(key, game), unmix(unmix(key, 0), game)}:
                assert guess not in (int(hidden["deal_key"]), seed)
                deck = np.arange(52, dtype=np.int8)
                shuffle_cards(deck, 52, np.uint64(stream(np.uint64(guess), 0, DECK)))
                assert not np.array_equal(deck, hidden["deck"])


def test_keys_differ_by_purpose_episode_and_seed():
    keys = {
        int(streams.episode_key(np.uint64(seed), episode, purpose))
        for seed in (0, 1, 2**63)
        for episode in range(20)
        for purpose in range(1, 6)
    }
    assert len(keys) == 3 * 20 * 5


@pytest.mark.parametrize("suits", [1, 2, 3, 4])
def test_twin_permutes_only_the_suits_of_its_deck(suits):
    rules = Rules(suits=suits, ranks=13, hand_size=3)
    orders = set()
    for episode in range(200):
        pair = Games(2, rules)
        pair.start(seeds=np.uint64([9, 9]), episodes=np.uint64([episode] * 2), twins=np.array([False, True]))
        deck, twin = (pair.state["hidden"]["deck"][game, : rules.deck_size] for game in (0, 1))
        assert np.array_equal(deck % 13, twin % 13)
        order = dict(zip((deck // 13).tolist(), (twin // 13).tolist(), strict=True))
        assert np.array_equal(np.array([order[suit] for suit in (deck // 13).tolist()]), twin // 13)
        orders.add(tuple(order[suit] for suit in range(suits)))
    assert len(orders) == {1: 1, 2: 1, 3: 5, 4: 23}[suits]
    assert suits == 1 or tuple(range(suits)) not in orders
    assert NO_CARD not in twin


def test_twin_games_use_different_random_numbers():
    pair = Games(2)
    pair.start(seeds=np.uint64([9, 9]), episodes=np.uint64([0, 0]), twins=np.array([False, True]))
    numbers = [pair.views(pair.everyone, player).array["random"] for player in (0, 1)]
    assert len(np.unique(numbers)) == 4


ALWAYS = [
    [
        (1, "QD 8S QH 2H 2D", 0x56D02B02E3EA7088, 0xECDD2893B06674BC),
        (1, "QH 8S QC 2C 2H", 0xBA6C3762C8DBF64E, 0x876F19F7B1A6CF49),
        (1, "4S 6S 9H JH 2D", 0x7387E4105AC89D1B, 0x6222498FE13B2AFD),
        (0, "3S TC 2H 2S 9S", 0xA577819D11F4E499, 0xA14355AE1CD96777),
    ],
    [
        (1, "5H KC 7C 3D TC", 0x666CE73034EA0B98, 0xF0FA78AF7E6BA4AA),
        (1, "5S KD 7D 3C TD", 0xC9C23E23E7651DF7, 0xB740F7A888F3E5BB),
        (1, "5D KS TS 4H AH", 0x5AF7BD23963FC26, 0xAC3ADC523F56A231),
        (0, "7D 8D JC 5H JD", 0x3D9B0B51BDE95E86, 0xB4A34DA007644C89),
    ],
]
"""Values of `told` at the deal of two hands: an episode, its twin, the largest seed, seed 0."""
OPPONENTS = [[0, 0, 0, 2], [0, 0, 2, 1]]
"""Index of the bot that plays each of them."""


def told(games: Games) -> list[tuple[int, str, int, int]]:
    """Return the dealer, first cards of the deck and both players' random numbers of each game."""
    rows = []
    for game in range(len(games)):
        one = np.array([game])
        numbers = [int(games.views(one, player).array["random"][0]) for player in (0, 1)]
        deck = " ".join(cards.card_text(int(card)) for card in games.deck(game)[:5])
        rows.append((int(games.state["public"]["dealer"][game]), deck, *numbers))
    return rows


def test_seeds_keep_their_deals_across_versions():
    """Seeds are published in papers and results, so their deals must never change between versions."""
    games = Games(4, Rules(max_turns=1), "game")
    seeds, episodes = np.array([7, 7, MASK, 0], np.uint64), np.array([3, 3, 0, 1], np.uint64)
    games.start(games.everyone, seeds, episodes, np.array([False, True, False, False]))
    seat = LearnerSeat(4, ["simple", "random", "tonic"], episode="game")
    opponents = []
    for expected in ALWAYS:
        assert told(games) == expected
        seat.games.state[:] = games.state
        seat._seat_opponents(seat.games.everyone)
        opponents.append(seat._bot_of_game.tolist())
        for action in (PASS, PASS, DRAW_STOCK, None):  # void after one turn: the same dealer deals again
            actions = games.masks(games.everyone).argmax(axis=1) if action is None else np.full(4, action)
            games.play(games.everyone, actions)
    assert opponents == OPPONENTS
