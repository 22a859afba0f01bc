"""Rule variants under which every bot and every property is tested, and random rules."""

import random
from contextlib import suppress

from gin_env import Rules

VARIANTS = {
    "standard": Rules(),
    "no offer": Rules(opening_offer=False),
    "small deck": Rules(ranks=6, suits=4, hand_size=5),
    "two suits": Rules(ranks=13, suits=2, hand_size=7, knock_limit=5),
    "tiny deck": Rules(ranks=4, suits=3, hand_size=3, stock_floor=0),
    "knock with anything": Rules(knock_limit=100, gin_bonus=0),
    "long hands": Rules(knock_limit=0, stock_floor=0, max_turns=126),
    "everything": Rules(
        knock_limit=8,
        oklahoma=True,
        ace_needs_gin=False,
        spades_double=True,
        big_gin_bonus=31,
        undercut_on_tie=False,
        next_dealer="loser",
        void_dealer="other",
        box_bonus=25,
        game_bonus=100,
        shutout_doubles=True,
    ),
    **{name: rules for name, rules in Rules.presets().items() if name != "eaai"},
}


def random_rules(rng: random.Random) -> Rules:
    """Return rules with every field drawn at random."""
    while True:
        with suppress(ValueError):
            return Rules(
                ranks=rng.randint(3, 13),
                suits=rng.randint(1, 4),
                hand_size=rng.randint(1, 10),
                knock_limit=rng.choice([0, 3, 10, 100]),
                stock_floor=rng.randint(0, 5),
                opening_offer=rng.random() < 0.5,
                max_turns=rng.choice([1, 20, 100, 126]),
                max_hands=3,
                oklahoma=rng.random() < 0.5,
                ace_needs_gin=rng.random() < 0.5,
                spades_double=rng.random() < 0.5,
                big_gin_bonus=rng.choice([0, 31]),
                undercut_on_tie=rng.random() < 0.5,
                next_dealer=rng.choice(["alternate", "winner", "loser"]),
                void_dealer=rng.choice(["same", "other"]),
                box_bonus=rng.choice([0, 20]),
                immediate_boxes=rng.random() < 0.5,
                game_bonus=rng.choice([0, 100]),
                shutout_bonus=rng.choice([0, 100]),
                shutout_doubles=rng.random() < 0.5,
            )
