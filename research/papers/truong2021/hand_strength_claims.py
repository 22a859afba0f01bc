"""The sentences of paper 002 about its networks, with verdicts from the stored results of other experiments.

A sentence about kinds of networks compares ten networks of each kind by a rank test (Mann and Whitney): it
agrees if every comparison is significant (5 %) in the paper's direction, differs if one is significant in the
other direction, and is undecided otherwise. "Alike" agrees if no comparison is significant. The seeds of the
ten networks differ, their data do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from research.papers.truong2021.hand_strength_figures import SCORES
from research.papers.truong2021.hand_strength_networks import TABLE
from research.reproduce.experiment import Experiment, Row, markdown
from research.reproduce.verdicts import MARGIN, Claim

SIGNIFICANT = 0.05
GAUSSIAN = 0.5
"""Skewness and excess kurtosis below which a distribution counts as approximately normal."""
LAST_RATE = 64
"""Epoch after which the learning rate no longer falls."""
UNCHANGED = 0.01
"""Largest relative change of a loss that counts as none."""
NINETY_TO_95 = 1.96 / 1.645
"""Factor from the half width of a 90 % interval to that of a 95 % interval."""


@dataclass(frozen=True)
class Comparison:
    """A sentence about win rates: pairs of (better, worse) networks of Table 1, or of alike ones."""

    text: str
    pairs: tuple[tuple[str, str], ...]
    alike: bool = False


DATA = ("simple", "random-16", "random-256")
COMPARISONS = (
    Comparison(
        "Dual Inception wins more than the MLP on each data set",
        tuple((f"dual-inception-{data}", f"mlp-{data}") for data in DATA),
    ),
    Comparison(
        "Dual Inception wins more than MLP-i on each data set",
        tuple((f"dual-inception-{data}", f"mlp-i-{data}") for data in DATA),
    ),
    Comparison(
        '"MLP and MLP-i have insignificant differences"',
        tuple((f"mlp-{data}", f"mlp-i-{data}") for data in DATA),
        alike=True,
    ),
    *(
        Comparison(
            f"{name} wins more on Random-16 and Random-256 than on Simple",
            tuple((f"{kind}-{data}", f"{kind}-simple") for data in DATA[1:]),
        )
        for name, kind in (("The MLP", "mlp"), ("MLP-i", "mlp-i"), ("Dual Inception", "dual-inception"))
    ),
    Comparison(
        '"All all-stage model performances are worse"',
        tuple((f"{kind}-simple", f"{kind}-simple-all-stages") for kind in ("mlp", "mlp-i", "dual-inception")),
    ),
    Comparison(
        'On all stages "the simple model achieves better performance"',
        tuple(("mlp-simple-all-stages", f"{kind}-simple-all-stages") for kind in ("mlp-i", "dual-inception")),
    ),
    Comparison(
        "Under augmentation 16 filters win more than 4",
        (("dual-inception-16-random-16-augmented", "dual-inception-random-16-augmented"),),
    ),
)


def compare(comparison: Comparison, won: dict[str, list[float]]) -> tuple[str, str]:
    """Return (medians as text, verdict) of a comparison; `won` has the win rates of each kind's networks."""
    from scipy.stats import mannwhitneyu

    texts, right, wrong = [], 0, 0
    for better, worse in comparison.pairs:
        texts.append(f"{median(won[better]):.1f} / {median(won[worse]):.1f}")
        if mannwhitneyu(won[better], won[worse]).pvalue < SIGNIFICANT:
            right += median(won[better]) > median(won[worse])
            wrong += median(won[better]) < median(won[worse])
    if comparison.alike:
        verdict = "differs" if right or wrong else "agrees"
    else:
        verdict = "differs" if wrong else "agrees" if right == len(comparison.pairs) else "undecided"
    return ", ".join(texts), verdict


def paper_figures(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the win rates that the paper prints for pairs of networks."""
    return ", ".join(f"{TABLE[one][2]} / {TABLE[other][2]}" for one, other in pairs)


def claims_table(rows: Sequence[Row]) -> str:
    """Return a table of the sentences with the paper's figures, ours and the verdicts."""
    parts = {part: [row for row in rows if row["of"] == part] for part in PARTS}
    won: dict[str, list[float]] = {}
    losses: dict[str, list[float]] = {}
    for row in parts["002/table-1"]:
        won.setdefault(row["network"], []).append(row["won"])
        losses.setdefault(row["network"], []).append(row["validation_loss"])
    lines = [
        [one.text, paper_figures(one.pairs), *compare(one, won)]
        for one in COMPARISONS
        if all(name in won for pair in one.pairs for name in pair)
    ]
    if set(TABLE) <= set(won):
        lines.append(mse_and_games(won, losses))
        lines.append(predicted(won))
    if parts["002/figure-2"]:
        lines += data_lines(parts["002/figure-2"])
    for row in parts["002/figure-5"]:
        lines += residual_lines(row)
    if parts["002/authors-losses"]:
        lines.append(convergence(parts["002/authors-losses"]))
    header = ["claim", "its figure", "here", ""]
    authors = authors_lines(parts["002/authors-networks"])
    return "\n\n".join(markdown(header, part) for part in (lines, authors) if part)


def mse_and_games(won: dict[str, list[float]], losses: dict[str, list[float]]) -> list[str]:
    """Return the line on the correlation of error and games over the rows of Table 1."""
    from scipy.stats import spearmanr

    theirs = spearmanr([TABLE[name][1] for name in TABLE], [TABLE[name][2] for name in TABLE])
    ours = spearmanr([median(losses[name]) for name in TABLE], [median(won[name]) for name in TABLE])
    verdict = "undecided"
    if ours.pvalue < SIGNIFICANT:
        verdict = "agrees" if ours.statistic < 0 else "differs"
    text = '"A low MSE often correlates with a high winning rate": rank correlation of the 14 rows'
    return [text, f"{theirs.statistic:+.2f}", f"{ours.statistic:+.2f} (p = {ours.pvalue:.2f})", verdict]


def predicted(won: dict[str, list[float]]) -> list[str]:
    """Return the line on the rows of Table 1 inside the prediction intervals of our networks.

    The prediction interval (95 %) of one more network assumes normal win rates. The line differs if more
    figures are outside than chance explains (5 %).
    """
    from scipy.stats import binom, t

    outside = 0
    for name in TABLE:
        ours = np.array(won[name])
        half = t.ppf(0.975, len(ours) - 1) * ours.std(ddof=1) * np.sqrt(1 + 1 / len(ours))
        outside += abs(TABLE[name][2] - ours.mean()) > half
    chance = float(binom.sf(outside - 1, len(TABLE), 1 - 0.95))
    return [
        "Table 1, games won: in the 95 % prediction interval of our ten networks",
        f"{len(TABLE)} rows",
        f"{len(TABLE) - outside} of {len(TABLE)} (p = {chance:.3f})",
        "differs" if chance < SIGNIFICANT else "agrees",
    ]


def convergence(rows: Sequence[Row]) -> list[str]:
    """Return the line on the convergence of the losses in the authors' logs.

    A network has converged if its validation loss hardly changes at the last learning rate, and does not
    overfit if it hardly rises from its lowest value.
    """
    right = 0
    for row in rows:
        losses = dict(zip(row["after"], row["validation_losses"], strict=True))
        last = losses[max(losses)]
        right += max(abs(losses[LAST_RATE] - last), last - min(losses.values())) <= UNCHANGED * last
    return [
        '"All models converged after the 96 epochs without symptoms of overfitting": their logged validation '
        f"losses change by less than {100 * UNCHANGED:.1g} % after epoch {LAST_RATE} and end at the lowest",
        f"{len(rows)} networks",
        f"{right} of {len(rows)}",
        "agrees" if right == len(rows) else "differs",
    ]


def authors_lines(rows: Sequence[Row]) -> list[list[str]]:
    """Return the lines on Table 1 and Figures 6 and 7 with the authors' weights."""
    lines = []
    for row in rows:
        if "won" not in row:
            continue
        paper, error = TABLE[row["network"]][2:]
        low, high = (row["won"] + NINETY_TO_95 * (row[end] - row["won"]) for end in ("low", "high"))
        claim = Claim(paper - 0.05, paper + 0.05, MARGIN, NINETY_TO_95 * error)
        lines.append(
            [
                f"Table 1, games won with the authors' weights: `{row['network']}`",
                f"{paper} ± {error}",
                f"{row['won']:.1f} ({low:.1f} to {high:.1f})",
                claim.verdict(row["won"], (low, high)),
            ]
        )
    figure_6 = [row["paper"] == row["measured"] for row in rows if "measured" in row and "network" in row]
    figure_7 = [abs(row["paper"] - row["measured"]) < 0.6 for row in rows if "card" in row]
    if figure_6:
        verdict = "agrees" if all(figure_6) else "differs"
        text = "Figure 6, the authors' weights: the same discard"
        lines.append([text, f"{len(figure_6)} positions", f"{sum(figure_6)} of {len(figure_6)}", verdict])
    if figure_7:
        text = "Figure 7, the authors' weights: values within 0.6"
        verdict = "agrees" if all(figure_7) else "differs"
        lines.append([text, f"{len(figure_7)} cards", f"{sum(figure_7)} of {len(figure_7)}", verdict])
    return lines


def data_lines(rows: Sequence[Row]) -> list[list[str]]:
    """Return the lines on the scores of the data sets (Figure 2)."""
    means, deviations = ([row[key] for row in rows] for key in ("mean", "deviation"))
    right = means == sorted(means) and deviations == sorted(deviations, reverse=True)
    figures = ", ".join(
        f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in zip(means, deviations, strict=True)
    )
    text = "Figure 2: with more samples the mean score rises and the deviation falls"
    shapes = [shape_of(row["histogram"]) for row in rows]
    skewness, kurtosis = zip(*shapes, strict=True)
    gaussian = all(max(map(abs, shape)) < GAUSSIAN for shape in shapes)
    texts = [", ".join(f"{value:+.2f}" for value in values) for values in (skewness, kurtosis)]
    skewed = list(skewness) == sorted(skewness)
    return [
        [text, "", figures, "agrees" if right else "differs"],
        [
            "Figure 2: the distribution skews upward: skewness",
            "",
            texts[0],
            "agrees" if skewed else "differs",
        ],
        [
            "Figure 2: scores are approximately normal: excess kurtosis",
            "",
            texts[1],
            "agrees" if gaussian else "differs",
        ],
    ]


def shape_of(histogram: Sequence[int]) -> tuple[float, float]:
    """Return the skewness and the excess kurtosis of scores from their histogram with the bins `SCORES`."""
    middle, share = (SCORES[:-1] + SCORES[1:]) / 2, np.array(histogram) / sum(histogram)
    normal = middle - share @ middle
    normal /= np.sqrt(share @ normal**2)
    return float(share @ normal**3), float(share @ normal**4) - 3


def residual_lines(row: Row) -> list[list[str]]:
    """Return the lines on the residuals y - ŷ of Dual Inception (Figure 5)."""
    shape = f"skewness {row['skewness']:+.2f}, excess kurtosis {row['excess_kurtosis']:+.2f}"
    gaussian = max(abs(row["skewness"]), abs(row["excess_kurtosis"])) < GAUSSIAN
    lowest = row["mean_of_lowest_predictions"]
    return [
        ["Figure 5: residuals are approximately Gaussian", "", shape, "agrees" if gaussian else "differs"],
        [
            'Figure 5: "tends to over-predict a low score": mean residual of the lowest predictions',
            "< 0",
            f"{lowest:+.2f}",
            "agrees" if lowest < 0 else "differs",
        ],
    ]  # fmt: skip


PARTS = ("002/table-1", "002/authors-networks", "002/figure-2", "002/figure-5", "002/authors-losses")
EXPERIMENTS = [
    Experiment(
        "002/claims",
        f"What paper 002 claims about its networks, made of {', '.join(PARTS)}",
        None,
        claims_table,
        games=0,
        time="two hours",
        parts=PARTS,
    ),
]
