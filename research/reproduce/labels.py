"""Text that tables and pictures show for labels of stored results."""

from __future__ import annotations

LABELS = {
    # search/one-step
    "any cards": "all unknown cards equally likely",
    "each card alone, after Simple": "single cards, trained on `simple`",
    "the same, and Simple plays on": "single cards, trained on `simple`, which plays the rollouts",
    "each card alone, after policy": "single cards, trained on `policy-1`",
    "the same, weighted by shape": "single cards, trained on `policy-1`, weighted by shape",
    "the true hands": "true hands",
    # search/beliefs
    "each card alone, weighted by shape": "`suit-equivariant:weights=policy`, weighted by shape",
    "each card alone: `uniform`": "single cards: `uniform`",
    "each card alone: `suit-equivariant`": "single cards: `suit-equivariant`",
    "each card alone: `suit-equivariant:weights=policy`": "single cards: `suit-equivariant:weights=policy`",
    "whole hands, half trusted": "whole hands, `trust=0.5`",
    # 000/tables
    "`cfr` as it is, against `simple`": "`cfr` unchanged, against `simple`",
    "asked about cards within 4 points of the least, against `simple`": (
        "choosing among cards within 4 points of the least deadwood, against `simple`"
    ),
    "asked about all unmelded cards, against `simple`": (
        "choosing among all unmelded cards, against `simple`"
    ),
    "asked about all cards, against `simple`": "choosing among all cards, against `simple`",
    "played as a mixed strategy, not its likeliest choice, against `simple`": (
        "playing the mixed strategy instead of the likeliest action, against `simple`"
    ),
    # 001
    "all in concert, as in the paper": "all together, as in the paper",
    "thresholds found, increments of that reading": "tuned thresholds, increments of that reading",
    "**the defaults: both found**": "**tuned thresholds and increments (the defaults)**",
    # 002/authors-networks
    "as the paper's text": "features of the paper's text",
    "their 779 rows": "the authors' 779 rows",
}
"""Stored label -> shown text. Stored labels never change: files of older runs contain them."""


def shown(label: object) -> str:
    """Return the text that is shown for a label, or any other cell of a table."""
    text = str(label)
    return LABELS.get(text, text)
