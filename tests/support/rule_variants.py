"""Rule variants under which every bot and every property is tested."""

from gin_env import Rules

VARIANTS = {
    "standard": Rules(),
    "no offer": Rules(opening_offer=False),
    "small deck": Rules(ranks=6, suits=4, hand_size=5),
    "two suits": Rules(ranks=13, suits=2, hand_size=7, knock_limit=5),
    "tiny deck": Rules(ranks=4, suits=3, hand_size=3, stock_floor=0),
    "knock with anything": Rules(knock_limit=100, gin_bonus=0),
    "long hands": Rules(knock_limit=0, stock_floor=0, max_turns=126),
}
