"""The list of experiments."""

from pathlib import Path

import pytest

from gin_env.reproduce import listing
from gin_env.reproduce.registry import EXPERIMENTS


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (99, "99 s"), (150, "2 min"), (5532, "92 min"), (7779, "2.2 h")],
)
def test_duration_is_formatted_with_its_unit(seconds, text):
    assert listing.duration(seconds) == text


def test_experiments_are_selected_by_id_prefix():
    chosen = listing.chosen(EXPERIMENTS.values(), ["004", "001/figure"])
    assert [one.id for one in chosen] == ["001/figure-2", "001/figure-4", "004/claims", "004/pools"]
    assert len(listing.chosen(EXPERIMENTS.values(), [])) == len(EXPERIMENTS)
    with pytest.raises(ValueError, match="unknown experiment '007'"):
        listing.chosen(EXPERIMENTS.values(), ["004", "007"])


def test_unmeasured_experiments_show_estimated_times():
    assert listing.details(EXPERIMENTS["004/claims"], Path("nowhere")) == ["about a minute"]
    assert listing.details(EXPERIMENTS["generations"], Path("nowhere"))[0].startswith("by `python examples/")
