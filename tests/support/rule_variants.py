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
    **{name: rules for name, rules in Rules.presets().items() if name not in ("eaai", "gin_rummy_v4")},
}
