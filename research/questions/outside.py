"""Bots of two other papers: the winner of the EAAI 2021 challenge, and the opponent of arXiv 2607.06854.

MARJJ's paper says that its model plays well for a wide range of parameters, and the authors' later public
program has been measured; the full text of the paper was not available here. The authors of the gold standard
report that their best agent wins 34 % of hands of `gin_rummy_v4` against it, and that it ends fewer than 2 %
of its hands with gin.
"""

from __future__ import annotations

from collections.abc import Sequence

from gin_env.game.rules import Rules
from gin_env.matches.intervals import wilson_interval
from research.reproduce.experiment import Experiment, Row, Run, interval, markdown, match_row, percent

MARJJ, GOLD = "marjj-paper", "gold-standard-paper"
GAMES = 4000
REPORTED = {"simple": "81 (400 games)", "policy-1": "35 (600 games)"}
"""Games won by the authors' later public program in earlier matches, in per cent."""
OPPONENTS = ("simple", "gold-standard-paper", "tonic", "cfr-plus", "generation", "policy-1")
PARAMETERS = {
    "as in the paper": MARJJ,
    "`future_weight=10`": f"{MARJJ}:future_weight=10.0",
    "`future_weight=40`": f"{MARJJ}:future_weight=40.0",
    "`discount=0.8`": f"{MARJJ}:discount=0.8",
    "`discount=1`": f"{MARJJ}:discount=1.0",
    "`best_draws=3`": f"{MARJJ}:best_draws=3",
    "`best_draws=12`": f"{MARJJ}:best_draws=12",
    "18, 0.9 and 7, as in the program": f"{MARJJ}:future_weight=18.0,best_draws=7",
    "no future (`future_weight=0`)": f"{MARJJ}:future_weight=0.0",
    "no danger (`danger_weight=0`)": f"{MARJJ}:danger_weight=0.0",
    "gin only (`knock_turns=0`)": f"{MARJJ}:knock_turns=0",
    "knocks in any turn (`knock_turns=100`)": f"{MARJJ}:knock_turns=100",
}
CHALLENGERS = ("policy", "generation", "marjj-paper", "tonic", "cfr-plus", "simple", GOLD)


def measure_marjj(run: Run) -> list[Row]:
    """Measure the reading against several bots."""
    return [
        match_row(run.match(MARJJ, opponent, GAMES), reported=REPORTED.get(opponent))
        for opponent in run.some(OPPONENTS)
    ]


def marjj_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table of the games won, next to those of the authors' program."""
    lines = [(f"`{row['opponent']}`", interval(row), row["reported"] or "") for row in rows]
    return markdown(["against", "games won (95 % interval)", "the authors' program"], lines, "lrr")


def measure_parameters(run: Run) -> list[Row]:
    """Measure other parameters against Simple, on the same decks."""
    return [
        match_row(run.match(bot, "simple", GAMES // 2), label=label)
        for label, bot in run.some(list(PARAMETERS.items()))
    ]


def parameters_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table of the games won against Simple by parameters."""
    return markdown(
        ["parameters", "games won against `simple`"], [(row["label"], interval(row)) for row in rows], "lr"
    )


def measure_gold(run: Run) -> list[Row]:
    """Measure bots against the gold standard, in games and in hands by the rules nearest to `gin_rummy_v4`.

    In `gin_rummy_v4` the player who knocks wins the hand, since it has no undercut.
    """
    rules = Rules.preset("gin_rummy_v4")
    rows = []
    for bot in run.some(CHALLENGERS):
        games = {} if bot == GOLD else match_row(run.match(bot, GOLD, GAMES))
        hands = run.log.play((bot, GOLD), (bot, GOLD), run.size(GAMES), run.seed, episode="hand", rules=rules)
        ended = hands.knocks[0] / hands.hands
        low, high = wilson_interval(ended, hands.hands)
        rows.append(
            {
                "bot": bot,
                "games": run.size(GAMES),
                **{key: games.get(key) for key in ("won", "low", "high", "deals")},
                "hands": hands.hands,
                "ended_hands": hands.knocks[0],
                "ended": percent(ended),
                "ended_low": percent(low),
                "ended_high": percent(high),
                "ended_by_gold": percent(hands.knocks[1] / hands.hands),
                "gold_gins": percent(hands.gins[1] / hands.hands),
            }
        )
    return rows


def gold_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each bot."""
    lines = []
    for row in rows:
        ended = {"won": row["ended"], "low": row["ended_low"], "high": row["ended_high"]}
        lines.append(
            [
                f"`{row['bot']}`",
                interval(row, 1),
                interval(ended, 1),
                f"{row['ended_by_gold']:.1f}",
                f"{row['gold_gins']:.1f}",
            ]
        )
    header = [
        "bot",
        "games won",
        "hands ended by the bot",
        "hands ended by the gold standard",
        "hands in which it has gin",
    ]
    return markdown(header, lines, "lrrrr")


EXPERIMENTS = [
    Experiment(
        "outside/marjj", "MARJJ against other bots", measure_marjj, marjj_table, GAMES, "eight minutes"
    ),
    Experiment(
        "outside/parameters",
        "MARJJ with other parameters, against Simple",
        measure_parameters,
        parameters_table,
        GAMES // 2,
        "a minute",
        seed=1,
    ),
    Experiment(
        "outside/gold-standard",
        "Bots against the gold standard of arXiv 2607.06854",
        measure_gold,
        gold_table,
        GAMES,
        "a minute",
    ),
]
