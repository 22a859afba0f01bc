"""Truong and Neller 2021's Figures 2 and 5 to 7: data set scores, residuals, a discard, and both scores of a
hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from gin_env.agents.declared_bots import BOTS
from gin_env.agents.hand_strength.bots import OffensiveBot, find_network
from gin_env.batch import Games
from gin_env.estimators.risk import discard_risks
from gin_env.game import cards
from gin_env.game.actions import DRAW_STOCK, PASS
from gin_env.observations.views import PlayerView
from gin_env.support.plots import DASHES, new_figure, save_figure
from research.papers.truong2021 import paper
from research.papers.truong2021.hand_strength_networks import DATA_TITLES, data_set, settings_of
from research.recipes.hand_strength import recipes, trainer
from research.reproduce.experiment import Run
from research.reproduce.tables import Row

FIGURE_6: dict[str, str] = paper.FIGURE_6["discards"]
FIGURE_7: dict[str, tuple[float, float]] = paper.FIGURE_7["scores"]
FIGURE_7_ESTIMATE = np.array(paper.FIGURE_7["estimate"].split(), np.float32)[None]
FIGURE_7_NETWORK = "dual-inception-random-16"


# --- Figures 2 and 5 --------------------------------------------------------------------------------------

SCORES = np.arange(-90, 101, 4)


def measure_figure_2(run: Run) -> list[Row]:
    """Measure the distribution of the scores in each data set."""
    rows = []
    for name in run.some(list(DATA_TITLES)):
        scores = data_set(run, name).scores
        row: Row = {"data_set": name, "states": len(scores)}
        row |= {"mean": round(float(scores.mean()), 3), "deviation": round(float(scores.std()), 3)}
        rows.append(row | {"histogram": np.histogram(scores, SCORES)[0].tolist()})
    return rows


def draw_scores(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 2: the distribution of scores in the data sets."""
    figure, [axes] = new_figure(4, 3.4)
    for row, dash in zip(rows, DASHES, strict=False):
        label = f"{DATA_TITLES[row['data_set']]}: {row['mean']:.1f} ± {row['deviation']:.1f}"
        density = np.array(row["histogram"]) / row["states"] / np.diff(SCORES)
        axes[0].stairs(density, SCORES, label=label, linestyle=dash)
    axes[0].set(xlabel="score", ylabel="density", title="Scores (Figure 2)")
    axes[0].legend(fontsize=8)
    save_figure(figure, path, dpi=150, origin=origin)


FIGURE_5_NETWORK = "dual-inception-random-256"
DENSITY = np.linspace(-5, 5, 41)
"""Bins of the normalised residuals."""
QUANTILES = np.linspace(0.005, 0.995, 100)


def measure_figure_5(run: Run) -> list[Row]:
    """Measure the residuals of the packaged Dual Inception in states that it has not learned.

    The network's training data were dealt with other keys (``origin`` in its file), so every state measured
    here is new to it. After retraining, the split must use the network's own seed.
    """
    network, training = find_network(FIGURE_5_NETWORK)
    run.used(f"offensive:network={FIGURE_5_NETWORK}")
    states = data_set(run, recipes.find_recipe(FIGURE_5_NETWORK).data_set)
    settings = settings_of(run, training["architecture"], seed=run.seed)
    chosen = trainer.HandStrengthTrainer(states, settings).validation[:50_000]
    predicted = trainer.predict(network, states, chosen)
    residuals = (states.scores[chosen] - predicted).astype(np.float64)
    normal = (residuals - residuals.mean()) / residuals.std()
    groups = np.array_split(np.argsort(predicted, kind="stable"), 20)
    figures = {
        "mean": residuals.mean(),
        "deviation": residuals.std(),
        "skewness": stats.skew(residuals),
        "excess_kurtosis": stats.kurtosis(residuals),
        "mean_of_lowest_predictions": residuals[groups[0]].mean(),
    }
    of_groups = [(predicted[group].mean(), normal[group].mean(), normal[group].std()) for group in groups]
    row: Row = {"network": FIGURE_5_NETWORK, "states": len(chosen)}
    row |= {name: round(float(figure), 4) for name, figure in figures.items()}
    row["histogram"] = np.histogram(normal, DENSITY)[0].tolist()
    row["quantiles"] = np.quantile(normal, QUANTILES).round(4).tolist()
    row["groups"] = [[round(float(figure), 4) for figure in each] for each in of_groups]
    return [row]


def draw_residuals(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw Figure 5: density, residuals by prediction (mean and deviation in 20 groups), Q-Q plot."""
    (row,) = rows
    figure, [axes] = new_figure(12, 3.4, columns=3)
    axes[0].stairs(np.array(row["histogram"]) / row["states"] / np.diff(DENSITY), DENSITY, label="residuals")
    axes[0].plot(DENSITY, stats.norm.pdf(DENSITY), linestyle="--", label="Gaussian")
    axes[0].set(xlabel="normalised residual", ylabel="density", title="Density (Figure 5a)")
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
    own = cards.parse(paper.FIGURE_6["hand"])
    drawn = cards.card_id(paper.FIGURE_6["drawn"])
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


def figure_6_discard(network: str) -> str:
    """Return the card that the player of a network, by name or file, discards in the position of Figure 6."""
    return cards.card_text(int(OffensiveBot(network).act(figure_6_view())[0]) % cards.NUM_CARDS)


def measure_figure_6(run: Run) -> list[Row]:
    """Compare the discard of each packaged network of Figure 6 with the paper's."""
    packaged = BOTS.packaged("offensive", "network")
    chosen = {name: theirs for name, theirs in FIGURE_6.items() if name in packaged}
    run.used(*(f"offensive:network={name}" for name in chosen))
    return [
        {"network": name, "paper": theirs, "ours": figure_6_discard(name)} for name, theirs in chosen.items()
    ]


def figure_7_values(network: str) -> np.ndarray:
    """Return what a network, by name or file, says of the hands without each card of Figure 7."""
    hand = cards.parse(paper.FIGURE_7["hand"])
    left = np.array([hand & ~(1 << cards.card_id(text)) for text in FIGURE_7], np.uint64)
    return OffensiveBot(network).hand_values(FIGURE_7_ESTIMATE, np.zeros(len(left), np.int64), left)


def measure_figure_7(run: Run) -> list[Row]:
    """Compare the defensive and offensive scores of the position of Figure 7 with the paper's."""
    run.used(f"offensive:network={FIGURE_7_NETWORK}")
    values = figure_7_values(FIGURE_7_NETWORK)
    risks = discard_risks(FIGURE_7_ESTIMATE)[0, [cards.card_id(text) for text in FIGURE_7]]
    return [
        {"card": card, "paper_risk": risk, "risk": round(float(ours), 6)}
        | {"paper_value": value, "value": round(float(our_value), 6)}
        for (card, (risk, value)), ours, our_value in zip(FIGURE_7.items(), risks, values, strict=True)
    ]
