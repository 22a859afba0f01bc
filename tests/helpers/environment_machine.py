"""The state machine of test_faces.py: random calls on an environment and on the reference rules."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
from environment_checks import Face, cards_text, text_of
from hand_endings import SITUATIONS
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from learner_checks import LearnerFace
from learner_reference import POLICIES
from reference_rules import cards_in_deck
from replayed_calls import FACES

from gin_env.game.rules import Rules

GAMES = 3
"""Games of the environments that hold several."""
NOT_ACTIONS: list[Any] = [
    None,
    104.0,
    105.0,
    106.0,
    np.nan,
    True,
    "pass",
    [104],
    {},
    np.float32(105),
    np.array([104.0, 104.0, 104.0]),
    np.array([True, True, True]),
    np.array([104, 104]),
    np.array([[104], [104], [104]]),
    np.array([], np.int64),
]
"""Neither an action nor a batch of `GAMES` actions."""
BAD_RESETS: list[dict[str, Any]] = [
    {"seed": -1},
    {"seed": 1.5},
    {"seed": 2**64},
    {"seed": "1", "options": {"dealer": 0}},
    {"seed": 5, "options": {"dealer": 2}},
    {"seed": 6, "options": {"deck": [0, 1, 2]}},
    {"seed": 7, "options": {"deck": "AS"}},
    {"options": {"deck": []}},
    {"options": [0]},
]
NAMES = st.lists(st.sampled_from(list(POLICIES)), min_size=1, max_size=3)


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Draw valid rules, often the default ones."""
    if draw(st.booleans()):
        return draw(st.sampled_from([Rules(), Rules(knock_limit=60, target_score=60)]))
    ranks, suits = draw(st.integers(4, 13)), draw(st.integers(1, 4))
    hand_size = draw(st.integers(1, min(10, max(1, (ranks * suits - 2) // 2))))
    return Rules(
        ranks=ranks,
        suits=suits,
        hand_size=hand_size,
        knock_limit=draw(st.sampled_from([0, 5, 10, 30, 100])),
        gin_bonus=draw(st.sampled_from([25, 20, 0])),
        undercut_bonus=draw(st.sampled_from([25, 10, 0])),
        target_score=draw(st.sampled_from([1, 30, 100])),
        stock_floor=draw(st.integers(0, min(5, ranks * suits - 2 * hand_size - 2))),
        opening_offer=draw(st.booleans()),
        max_turns=draw(st.sampled_from([100, 1, 6, 126])),
        max_hands=draw(st.sampled_from([40, 1, 3])),
    )


@st.composite
def decks(draw: st.DrawFn, rules: Rules) -> str:
    """Draw shuffled decks, decks with many melds, and some whose hands end immediately."""
    if rules.deck_size == 52 and rules.hand_size == 10 and draw(st.booleans()):
        return cards_text(draw(st.sampled_from([one.deck for one in SITUATIONS.values()])))
    deck = cards_in_deck(rules)
    order = random.Random(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        order.shuffle(deck)
        return cards_text(deck)
    if order.random() < 0.5:
        deck.sort(key=lambda card: card % 13)  # sets are adjacent instead of runs
    start, size = order.randrange(len(deck)), rules.hand_size
    deck = deck[start:] + deck[:start]
    hands, rest = deck[: 2 * size], deck[2 * size :]
    for _ in range(order.randrange(4)):
        hand, other = order.randrange(len(hands)), order.randrange(len(rest))
        hands[hand], rest[other] = rest[other], hands[hand]
    order.shuffle(rest)
    return cards_text([card for pair in zip(hands[:size], hands[size:], strict=True) for card in pair] + rest)


class FaceMachine(RuleBasedStateMachine):
    """Calls on one of `FACES`; `seen` counts what happened in all examples."""

    def __init__(self, kind: str, seen: Counter[str]) -> None:
        super().__init__()
        self.kind, self.seen = kind, seen
        self.face: Face
        self.begun = False

    @property
    def learns(self) -> bool:
        return isinstance(self.face, LearnerFace)

    def call(self, *call: Any) -> None:
        self.face.call(*call)

    def teardown(self) -> None:
        self.seen.update(self.face.outcomes)
        self.seen["calls"] += len(self.face.calls)

    @initialize(data=st.data(), reset=st.booleans())
    def make(self, data: st.DataObject, reset: bool) -> None:
        options: dict[str, Any] = {
            "rules": data.draw(rules()),
            "episode": data.draw(st.sampled_from(["hand", "game"])),
            "reward": data.draw(st.sampled_from(["points", "win"])),
        }
        if issubclass(FACES[self.kind], LearnerFace):
            options["opponent"] = data.draw(NAMES)
            options["illegal_action"] = data.draw(st.sampled_from(["raise", "lose"]))
            if self.kind != "gymnasium":
                options["num_envs"] = GAMES
        self.face = FACES[self.kind](**options)
        if reset:
            self.reset(data)

    @rule(data=st.data())
    def reset(self, data: st.DataObject) -> None:
        arguments: dict[str, Any] = {}
        whole_game, several = self.face.whole_game, self.kind == "vector"
        if not self.begun or data.draw(st.booleans()):
            arguments["seed"] = data.draw(st.integers(0, 2**64 - GAMES))
        if self.kind != "sb3":
            deck = decks(self.face.rules)
            chosen = data.draw(
                st.none() | (deck | st.lists(deck, min_size=1, max_size=3) if whole_game else deck)
            )
            dealer = data.draw(st.sampled_from([None, 0, 1]))
            arguments |= {"deck": chosen} if chosen else {}
            arguments |= {"dealer": dealer} if dealer is not None else {}
        if several and data.draw(st.booleans()) and (self.begun or data.draw(st.booleans())):
            arguments["mask"] = data.draw(st.lists(st.booleans(), min_size=GAMES, max_size=GAMES))
            if "seed" in arguments and self.begun:
                seeds = st.lists(st.none() | st.integers(0, 9), min_size=GAMES, max_size=GAMES)
                arguments["seed"] = data.draw(st.just(arguments["seed"]) | seeds)
        self.call("reset", arguments)
        self.begun = bool(self.face.games())

    @rule(arguments=st.sampled_from(BAD_RESETS))
    def bad_reset(self, arguments: dict[str, Any]) -> None:
        self.call("bad_reset", arguments)

    @rule(picks=st.lists(st.integers(0, 21), min_size=GAMES, max_size=GAMES))
    def play_one(self, picks: list[int]) -> None:
        legal = self.face.legal()
        numbers = [one[pick % len(one)] if one else 106 for one, pick in zip(legal, picks, strict=False)]
        self.call("play", *map(text_of, numbers))

    @rule(name=st.sampled_from(list(POLICIES)), count=st.integers(1, 30))
    def play_on(self, name: str, count: int) -> None:
        """Play a simple policy for a while, so that hands and games end."""
        for _ in range(count):
            if not all(self.face.legal()):
                return
            self.call("play", *[text_of(POLICIES[name](legal)) for legal in self.face.legal()])

    @rule(number=st.integers(-2, 108) | st.sampled_from([2**62, -(2**62)]), game=st.integers(0, GAMES - 1))
    def play_anything(self, number: int, game: int) -> None:
        """Play any integer in one game and the first legal action in the others."""
        numbers = [one[0] if one else 106 for one in self.face.legal()]
        numbers[game % len(numbers)] = number
        self.call("play", *map(text_of, numbers))

    @rule(value=st.sampled_from(NOT_ACTIONS))
    def step_with_an_invalid_action(self, value: Any) -> None:
        self.call("step", value)

    @rule()
    def step_with_none(self) -> None:
        """Step with None, which is valid only for an agent whose episode is over."""
        self.call("step", None)

    @rule()
    def look(self) -> None:
        self.call("look")

    @precondition(lambda self: self.learns)
    @rule(names=NAMES, data=st.data())
    def set_opponents(self, names: list[str], data: st.DataObject) -> None:
        weights = st.lists(st.integers(0, 3), min_size=len(names), max_size=len(names)).filter(any)
        self.call("set_opponents", names, data.draw(st.none() | weights))

    @precondition(lambda self: self.learns)
    @rule(names=NAMES, weights=st.sampled_from([[], [-1.0], [0.0], [np.nan], "x", [1.0] * 4]))
    def bad_opponents(self, names: list[str], weights: Any) -> None:
        if weights != [1.0] * len(names):
            self.call("bad_opponents", names, weights)


def run(kind: str, examples: int, steps: int, seed: int | None = None, shrink: bool = True) -> Counter[str]:
    """Try `examples` sequences of `steps` calls and count what happened. Raises the first difference.

    Without a seed the calls are the same each time. Shrinking a failure may take minutes.
    """
    seen: Counter[str] = Counter()

    def machine() -> FaceMachine:
        return FaceMachine(kind, seen)

    run_state_machine_as_test(
        machine if seed is None else with_seed(seed)(machine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=seed is None,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    return seen
