"""The sentences of Truong and Neller 2021 about its networks, with verdicts from the stored results of other
experiments.

A sentence about kinds of networks compares ten networks of each kind by a rank test (Mann and Whitney): it
agrees if every comparison is significant (5 %) in the paper's direction, differs if one is significant in the
other direction, and is undecided otherwise. "Alike" agrees if no comparison is significant. The seeds of the
ten networks differ, their data do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

import numpy as np
from scipy import stats

from research.papers.truong2021.hand_strength_figures import SCORES
from research.papers.truong2021.paper import COMPARISONS, TABLE, Comparison
from research.reproduce.tables import Row, grouped, interval, markdown
from research.reproduce.verdicts import MARGIN, OURS, Claim, marked

SIGNIFICANT = 0.05
GAUSSIAN = 0.5
"""Skewness and excess kurtosis below which a distribution counts as approximately normal."""
LAST_RATE = 64
"""Epoch after which the learning rate no longer falls."""
UNCHANGED = 0.01
"""Largest relative change of a loss that counts as none."""
SAME_RUN = 0.05
"""Largest relative difference of the last logged loss and the printed one of one training run."""
NINETY_TO_95 = 1.96 / 1.645
"""Factor from the half width of a 90 % interval to that of a 95 % interval."""


Line = tuple[str, str, str, str]
"""Claim, its figure, ours, verdict."""


def agrees(right: bool) -> str:
    """Return a verdict without an interval."""
    return "agrees" if right else "differs"


def compare(comparison: Comparison, won: dict[str, list[float]]) -> tuple[str, str]:
    """Return (medians as text, verdict) of a comparison; `won` has the win rates of each kind's networks."""
    texts, right, wrong = [], 0, 0
    for better, worse in comparison.pairs:
        texts.append(f"{median(won[better]):.1f} / {median(won[worse]):.1f}")
        if stats.mannwhitneyu(won[better], won[worse]).pvalue < SIGNIFICANT:
            right += median(won[better]) > median(won[worse])
            wrong += median(won[better]) < median(won[worse])
    if comparison.alike:
        verdict = agrees(not right and not wrong)
    else:
        verdict = "differs" if wrong else "agrees" if right == len(comparison.pairs) else "undecided"
    return ", ".join(texts), verdict


def claims_table(rows: Sequence[Row]) -> str:
    """Return two tables of sentences with the paper's figures, ours and the verdicts.

    The first is about the authors' networks and logs, and about data. The second is about networks that we
    trained with the features of the paper's text, which are not those of the authors' code.
    """
    parts = defaultdict(list, grouped(rows, "{of}"))
    networks = grouped(parts["truong2021/table-1"], "{network}")
    won, losses = (
        {name: [row[key] for row in each] for name, each in networks.items()}
        for key in ("won", "validation_loss")
    )
    losses_of_authors = parts["truong2021/authors-losses"]
    theirs = authors_lines(parts["truong2021/authors-networks"], losses_of_authors)
    if parts["truong2021/figure-2"]:
        theirs += data_lines(parts["truong2021/figure-2"])
    if losses_of_authors:
        theirs.append(convergence(losses_of_authors))
    lines: list[Line] = []
    for one in COMPARISONS:
        if all(name in won for pair in one.pairs for name in pair):
            figures = ", ".join(f"{TABLE[better][2]} / {TABLE[worse][2]}" for better, worse in one.pairs)
            lines.append((one.text, figures, *compare(one, won)))
    if set(TABLE) <= set(won):
        lines += [mse_and_games(won, losses), predicted(won)]
    for row in parts["truong2021/figure-5"]:
        lines += residual_lines(row)
    return "\n\n".join(
        markdown(
            (title, "its figure", "here", "verdict"), [(*line, marked(verdict)) for *line, verdict in part]
        )
        for title, part in (("claim", theirs), (OURS, lines))
        if part
    )


def mse_and_games(won: dict[str, list[float]], losses: dict[str, list[float]]) -> Line:
    """Return the line on the correlation of error and games over the rows of Table 1."""
    theirs = stats.spearmanr([TABLE[name][1] for name in TABLE], [TABLE[name][2] for name in TABLE])
    ours = stats.spearmanr([median(losses[name]) for name in TABLE], [median(won[name]) for name in TABLE])
    verdict = agrees(ours.statistic < 0) if ours.pvalue < SIGNIFICANT else "undecided"
    text = '"A low MSE often correlates with a high winning rate": rank correlation of the 14 rows'
    return text, f"{theirs.statistic:+.2f}", f"{ours.statistic:+.2f} (p = {ours.pvalue:.2f})", verdict


def predicted(won: dict[str, list[float]]) -> Line:
    """Return the line on the rows of Table 1 inside the prediction intervals of our networks.

    The prediction interval (95 %) of one more network assumes normal win rates. The line differs if more
    figures are outside than chance explains (5 %).
    """
    outside = 0
    for name in TABLE:
        ours = np.array(won[name])
        half = stats.t.ppf(0.975, len(ours) - 1) * ours.std(ddof=1) * np.sqrt(1 + 1 / len(ours))
        outside += abs(TABLE[name][2] - ours.mean()) > half
    chance = float(stats.binom.sf(outside - 1, len(TABLE), 1 - 0.95))
    text = "Table 1, games won: in the 95 % prediction interval of our ten networks"
    inside = f"{len(TABLE) - outside} of {len(TABLE)} (p = {chance:.3f})"
    return text, f"{len(TABLE)} rows", inside, agrees(chance >= SIGNIFICANT)


def convergence(rows: Sequence[Row]) -> Line:
    """Return the line on the convergence of the losses in the authors' logs.

    A network has converged if its validation loss hardly changes at the last learning rate, and does not
    overfit if it hardly rises from its lowest value.
    """
    right = 0
    for row in rows:
        losses = dict(zip(row["after"], row["validation_losses"], strict=True))
        last = losses[max(losses)]
        right += max(abs(losses[LAST_RATE] - last), last - min(losses.values())) <= UNCHANGED * last
    text = (
        '"All models converged after the 96 epochs without symptoms of overfitting": their logged validation '
        f"losses change by less than {100 * UNCHANGED:.1g} % after epoch {LAST_RATE} and end at the lowest"
    )
    return text, f"{len(rows)} networks", f"{right} of {len(rows)}", agrees(right == len(rows))


def other_runs(losses: Sequence[Row]) -> dict[str, float]:
    """Return the networks that the log in their own folder shows to be other runs than Table 1's.

    It ends at a validation loss that differs from the printed one by more than `SAME_RUN`. The loss is
    returned by the name of the network.
    """
    folders = {row["network"]: row["folder_loss"] for row in losses if "folder_loss" in row}
    return {name: loss for name, loss in folders.items() if abs(loss / TABLE[name][1] - 1) > SAME_RUN}


def authors_lines(rows: Sequence[Row], losses: Sequence[Row]) -> list[Line]:
    """Return the lines on Table 1 and Figures 6 and 7 with the authors' weights."""
    lines: list[Line] = []
    others = other_runs(losses)
    for row in rows:
        if "won" in row:
            paper, error = TABLE[row["network"]][2:]
            low, high = (row["won"] + NINETY_TO_95 * (row[end] - row["won"]) for end in ("low", "high"))
            claim = Claim(paper - 0.05, paper + 0.05, MARGIN, NINETY_TO_95 * error)
            text = f"Table 1, games won with the authors' weights: `{row['network']}`"
            figure = interval({"won": row["won"], "low": low, "high": high}, ".1f")
            verdict: str = claim.verdict(row["won"], (low, high))
            if row["network"] in others:
                printed = TABLE[row["network"]][1]
                text += f", whose log ends at a loss of {others[row['network']]:.1f}, not {printed}"
                verdict = "not testable"
            lines.append((text, f"{paper} ± {error}", figure, verdict))
    figure_6 = [row["paper"] == row["measured"] for row in rows if "measured" in row and "network" in row]
    figure_7 = [abs(row["paper"] - row["measured"]) < 0.6 for row in rows if "card" in row]
    for number, text, right, kind in (
        (6, "the same discard", figure_6, "positions"),
        (7, "values within 0.6", figure_7, "cards"),
    ):
        if right:
            text = f"Figure {number}, the authors' weights: {text}"
            lines.append((text, f"{len(right)} {kind}", f"{sum(right)} of {len(right)}", agrees(all(right))))
    return lines


def data_lines(rows: Sequence[Row]) -> list[Line]:
    """Return the lines on the scores of the data sets (Figure 2)."""
    means, deviations = ([row[key] for row in rows] for key in ("mean", "deviation"))
    figures = ", ".join(f"{row['mean']:.1f} ± {row['deviation']:.1f}" for row in rows)
    shapes = [shape_of(row["histogram"]) for row in rows]
    skewness, kurtosis = (list(values) for values in zip(*shapes, strict=True))
    skews, peaks = (", ".join(f"{value:+.2f}" for value in values) for values in (skewness, kurtosis))
    rises = means == sorted(means) and deviations == sorted(deviations, reverse=True)
    gaussian = all(max(map(abs, shape)) < GAUSSIAN for shape in shapes)
    found = (
        ("with more samples the mean score rises and the deviation falls", figures, rises),
        ("the distribution skews upward: skewness", skews, skewness == sorted(skewness)),
        ("scores are approximately normal: excess kurtosis", peaks, gaussian),
    )
    return [(f"Figure 2: {text}", "", figure, agrees(right)) for text, figure, right in found]


def shape_of(histogram: Sequence[int]) -> tuple[float, float]:
    """Return the skewness and the excess kurtosis of scores from their histogram with the bins `SCORES`."""
    scores = np.repeat((SCORES[:-1] + SCORES[1:]) / 2, histogram)
    return float(stats.skew(scores)), float(stats.kurtosis(scores))


def residual_lines(row: Row) -> list[Line]:
    """Return the lines on the residuals y - ŷ of Dual Inception (Figure 5)."""
    shape = f"skewness {row['skewness']:+.2f}, excess kurtosis {row['excess_kurtosis']:+.2f}"
    gaussian = max(abs(row["skewness"]), abs(row["excess_kurtosis"])) < GAUSSIAN
    lowest = row["mean_of_lowest_predictions"]
    text = 'Figure 5: "tends to over-predict a low score": mean residual of the lowest predictions'
    return [
        ("Figure 5: residuals are approximately Gaussian", "", shape, agrees(gaussian)),
        (text, "< 0", f"{lowest:+.2f}", agrees(lowest < 0)),
    ]
