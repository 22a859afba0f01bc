"""Paper 002's Figures 2 and 5 to 7: data set scores, residuals, a discard, and both scores of a hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.weights import find_network, packaged_names
from gin_env.batch import Games
from gin_env.estimators.risk import discard_risks
from gin_env.game import cards
from gin_env.game.actions import DRAW_STOCK, PASS
from gin_env.observations.views import PlayerView
from gin_env.support.plots import DASHES, new_figure, save_figure
from research.papers.truong2021.hand_strength import DATA_TITLES, data_set
from research.recipes.hand_strength import recipes
from research.reproduce.experiment import Experiment, Row, Run, plain_table

FIGURE_6_HAND = "3C 6C QC 6H 7H AS 5S 7D TD JD"
FIGURE_6_DRAWN = "TH"
FIGURE_6 = {
    "simple": "TD",
    "dual-inception-simple": "TD",
    "dual-inception-simple-all-stages": "3C",
    "dual-inception-random-16": "QC",
    "dual-inception-random-256": "QC",
}
"""Each player's discard in Figure 6. The Simple player chooses one of the four tens and faces at random."""

FIGURE_7_ESTIMATE = """
.10 .09   0 .18 .29   1 .55 .61 .49 .33 .44   0 .39
.10 .08 .10 .12 .13   0   0 .33   0   0 .43   0 .48
  0   0 .07 .09   0 .33 .23 .24 .32   0 .33 .30   0
.10 .08 .09 .11   0 .40   0 .31 .46   0   0 .14   0
"""
"""Figure 7a: the estimate of the opponent's cards; T is 1, F is 0. Rows: clubs, hearts, spades, diamonds."""
FIGURE_7_HAND = "3C 6H 7H 9H TH AS 5S TS 5D 7D TD"
"""Figure 7b. The caption says that it is the opponent's hand, but the scored cards are these."""
FIGURE_7_NETWORK = "dual-inception-random-16"
FIGURE_7 = {
    "5S": (0.16, -29.9),
    "AS": (0.01, -32.4),
    "6H": (0.90, -29.2),
    "5D": (0.09, -29.4),
    "7H": (0.13, -29.0),
    "3C": (0.10, -29.4),
    "7D": (0.40, -29.0),
    "9H": (0.53, -29.7),
}
"""Figure 7c and 7d: defensive and offensive score of each unmelded card."""


# --- Figures 2 and 5 --------------------------------------------------------------------------------------

SCORES = np.arange(-90, 101, 4)


def measure_figure_2(run: Run) -> list[Row]:
    """Measure the distribution of the scores in each data set."""
    rows = []
    for name in run.some(list(DATA_TITLES)):
        scores = data_set(run, name).scores
        rows.append(
            {
                "data_set": name,
                "states": len(scores),
                "mean": round(float(scores.mean()), 3),
                "deviation": round(float(scores.std()), 3),
                "histogram": np.histogram(scores, SCORES)[0].tolist(),
            }
        )
    return rows


def draw_scores(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 2: the distribution of scores in the data sets."""
    figure, [axes] = new_figure(4, 3.4)
    for row, dash in zip(rows, DASHES, strict=False):
        label = f"{DATA_TITLES[row['data_set']]}: {row['mean']:.1f} ± {row['deviation']:.1f}"
        density = np.array(row["histogram"]) / row["states"] / np.diff(SCORES)
        axes[0].stairs(density, SCORES, label=label, linestyle=dash)
    axes[0].set(xlabel="score", ylabel="density", title="Scores (002, Figure 2)")
    axes[0].legend(fontsize=8)
    save_figure(figure, path, dpi=150, origin=origin)


FIGURE_5_NETWORK = "dual-inception-random-256"
DENSITY = np.linspace(-5, 5, 41)
"""Bins of the normalised residuals."""
QUANTILES = np.linspace(0.005, 0.995, 100)


def measure_figure_5(run: Run) -> list[Row]:
    """Measure the residuals of the packaged Dual Inception in its validation states."""
    from scipy import stats

    from research.recipes.hand_strength.trainer import (
        HandStrengthSettings,
        HandStrengthTrainer,
        find_schedule,
        predict,
    )

    network, training = find_network(FIGURE_5_NETWORK)
    run.used(f"offensive:network={FIGURE_5_NETWORK}")
    states = data_set(run, recipes.find_recipe(FIGURE_5_NETWORK).data_set)
    settings = HandStrengthSettings(
        training["architecture"], find_schedule("fast", 1), training["augmented"], run.seed
    )
    chosen = HandStrengthTrainer(states, settings).validation[:50_000]
    predicted = predict(network, states, chosen)
    residuals = (states.scores[chosen] - predicted).astype(np.float64)
    normal = (residuals - residuals.mean()) / residuals.std()
    groups = np.array_split(np.argsort(predicted, kind="stable"), 20)
    return [
        {
            "network": FIGURE_5_NETWORK,
            "states": len(chosen),
            "mean": round(float(residuals.mean()), 4),
            "deviation": round(float(residuals.std()), 4),
            "skewness": round(float(stats.skew(residuals)), 4),
            "excess_kurtosis": round(float(stats.kurtosis(residuals)), 4),
            "mean_of_lowest_predictions": round(float(residuals[groups[0]].mean()), 4),
            "histogram": np.histogram(normal, DENSITY)[0].tolist(),
            "quantiles": np.quantile(normal, QUANTILES).round(4).tolist(),
            "groups": [
                [round(float(part.mean()), 4) for part in (predicted[group], normal[group])]
                + [round(float(normal[group].std()), 4)]
                for group in groups
            ],
        }
    ]


def draw_residuals(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 5: density, residuals by prediction (mean and deviation in 20 groups), Q-Q plot."""
    from scipy import stats

    (row,) = rows
    figure, [axes] = new_figure(12, 3.4, columns=3)
    axes[0].stairs(np.array(row["histogram"]) / row["states"] / np.diff(DENSITY), DENSITY, label="residuals")
    axes[0].plot(DENSITY, stats.norm.pdf(DENSITY), linestyle="--", label="Gaussian")
    axes[0].set(xlabel="normalised residual", ylabel="density", title="Density (002, Figure 5a)")
    axes[0].legend(fontsize=8)
    predicted, means, deviations = np.array(row["groups"]).T
    axes[1].errorbar(predicted, means, yerr=deviations, fmt=".", capsize=2)
    axes[1].axhline(0, color="black", linewidth=1)
    axes[1].set(xlabel="predicted score", ylabel="normalised residual", title="Residuals (5b)")
    theory = stats.norm.ppf(QUANTILES)
    axes[2].plot(theory, row["quantiles"], ".", markersize=3)
    axes[2].plot(theory, theory, color="black", linewidth=1)
    axes[2].set(xlabel="normal quantile", ylabel="residual quantile", title="Quantiles (5c)")
    save_figure(figure, path, dpi=150, origin=origin)


# --- Figures 6 and 7 --------------------------------------------------------------------------------------


def figure_6_view() -> PlayerView:
    """Return the position of Figure 6 in the first turn: both players passed, one card has been drawn."""
    own = cards.parse(FIGURE_6_HAND)
    drawn = cards.card_id(FIGURE_6_DRAWN)
    others = [card for card in range(cards.NUM_CARDS) if not own >> card & 1 and card != drawn]
    opponent, upcard = others[::4][:10], others[1]
    dealt = [card for pair in zip(cards.cards_of(own), opponent, strict=True) for card in pair]
    stock = [card for card in others if card not in opponent and card != upcard]
    games = Games(1)
    table = games.everyone
    games.start(table, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    games.set_deck(0, [*dealt, upcard, drawn, *stock], dealer=1)
    for action in (PASS, PASS, DRAW_STOCK):
        games.play(table, np.array([action]))
    return games.views(table)


def measure_figure_6(run: Run) -> list[Row]:
    """Compare the discard of each packaged network of Figure 6 with the paper's."""
    view = figure_6_view()
    rows = []
    for name, theirs in FIGURE_6.items():
        if name in packaged_names():
            bot = f"offensive:network={name}"
            run.used(bot)
            action = int(OffensiveBot(name).act(view)[0])
            rows.append({"network": name, "paper": theirs, "ours": cards.card_text(action % cards.NUM_CARDS)})
    return rows


def figure_7_estimate() -> np.ndarray:
    """Return the estimate of Figure 7a, float32 (1, 52)."""
    return np.array(FIGURE_7_ESTIMATE.split(), np.float32)[None]


def measure_figure_7(run: Run) -> list[Row]:
    """Compare the defensive and offensive scores of the position of Figure 7 with the paper's."""
    estimate = figure_7_estimate()
    hand = cards.parse(FIGURE_7_HAND)
    ids = np.array([cards.card_id(text) for text in FIGURE_7])
    left = np.array([hand & ~(1 << int(card)) for card in ids], np.uint64)
    run.used(f"offensive:network={FIGURE_7_NETWORK}")
    values = OffensiveBot(FIGURE_7_NETWORK).hand_values(estimate, np.zeros(len(ids), np.int64), left)
    risks = discard_risks(estimate)[0, ids]
    return [
        {"card": card, "paper_risk": risk, "risk": round(float(ours), 6)}
        | {"paper_value": value, "value": round(float(our_value), 6)}
        for (card, (risk, value)), ours, our_value in zip(FIGURE_7.items(), risks, values, strict=True)
    ]


EXPERIMENTS = [
    Experiment(
        "002/figure-2",
        "Figure 2 of paper 002: scores of the data sets",
        measure_figure_2,
        partial(
            plain_table, ["data", "states", "mean", "deviation"], ["data_set", "states", "mean", "deviation"]
        ),
        games=0,
        time="two minutes",
        pictures={"hand_strength/figure_2.png": draw_scores},
    ),
    Experiment(
        "002/figure-5",
        "Figure 5 of paper 002: residuals of Dual Inception",
        measure_figure_5,
        partial(
            plain_table,
            ["network", "mean", "deviation", "skewness", "excess kurtosis", "mean of the lowest predictions"],
            ["network", "mean", "deviation", "skewness", "excess_kurtosis", "mean_of_lowest_predictions"],
        ),
        games=0,
        time="two minutes",
        pictures={"hand_strength/figure_5.png": draw_residuals},
    ),
    Experiment(
        "002/figure-6",
        "Figure 6 of paper 002: discards of our networks",
        measure_figure_6,
        partial(plain_table, ["network", "paper", "ours"], ["network", "paper", "ours"]),
        games=0,
    ),
    Experiment(
        "002/figure-7",
        "Figure 7 of paper 002: defensive and offensive scores",
        measure_figure_7,
        partial(
            plain_table,
            ["card", "paper's risk", "risk", "paper's value", "value"],
            ["card", "paper_risk", "risk", "paper_value", "value"],
        ),
        games=0,
    ),
]
