"""Regression tests found by the state machines of test_faces.py, and error-prone orders of calls.

A failure there prints a test like these. Give it a descriptive name and add it here.
"""

from __future__ import annotations

import pytest
from environment_checks import cards_text
from hand_endings import SITUATIONS
from replayed_calls import replay

from gin_env import Rules

KNOCK, GIN = (cards_text(SITUATIONS[name].deck) for name in ("knock by 0", "gin by 0"))
"""Deals in which player 0 starts after two passes and knocks with KD, or has gin."""


@pytest.mark.parametrize("kind", ["gymnasium", "vector"])
def test_dealer_without_learner_turns_raises(kind):
    """The search for a hand once never ended: the opponent starts, and its first discard voids the hand."""
    replay(
        kind,
        {"rules": Rules(opening_offer=False, max_turns=1), "opponent": ["lowest"]},
        ("reset", {"seed": 1}),
        ("reset", {"seed": 2, "dealer": 0}),
        ("look",),
        ("play", "draw"),
        ("reset", {"dealer": 1}),
        ("look",),
    )


def test_sb3_masks_are_copies():
    replay("sb3", {"num_envs": 2}, ("reset", {"seed": 1}), ("look",), ("look",), ("play", "pass", "pass"))


def test_illegal_action_ends_the_episode_for_both_agents():
    replay(
        "env",
        {"episode": "game"},
        ("play", "pass"),
        ("reset", {"seed": 1, "deck": KNOCK, "dealer": 1}),
        ("play", "pass"),
        ("play", "draw"),
        ("look",),
        ("play", "draw"),
        ("step", None),
        ("look",),
        ("reset", {}),
        ("look",),
        ("play", "pass"),
    )


@pytest.mark.parametrize("kind", ["raw_env", "env"])
def test_game_continues_with_the_next_deck(kind):
    """A knock, then gin: the other player deals the second hand, and both hands are paid."""
    face = replay(
        kind,
        {"episode": "game", "rules": Rules(target_score=150)},
        ("reset", {"seed": 1, "deck": [KNOCK, GIN], "dealer": 1}),
        *[("play", text) for text in ("pass", "pass", "draw", "knock KD")],
        ("look",),
        *[("play", text) for text in ("pass", "pass", "draw")],
        ("look",),
        ("bad_reset", {"options": {"deck": []}}),
        ("look",),
    )
    assert face.outcomes == {"knock": 1}
    assert face.games()[0].scores == [65, 0]


def test_illegal_action_ends_only_its_own_game():
    face = replay(
        "vector",
        {"num_envs": 2, "illegal_action": "lose", "opponent": ["keen"]},
        ("reset", {"seed": 1, "deck": KNOCK, "dealer": 1}),
        ("play", "pass", "draw"),
        ("play", "draw", "take"),
        ("play", "knock KD", 107),
        ("look",),
        ("reset", {"mask": [False, True]}),
        ("look",),
    )
    assert face.outcomes == {"knock": 1}
