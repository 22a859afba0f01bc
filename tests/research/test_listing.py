"""The list of experiments."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from gin_env.agents.declared_bots import BOTS
from gin_env.estimators.declared_estimators import ESTIMATORS
from research.reproduce import listing
from research.reproduce.by_id import EXPERIMENTS, RESEARCH
from research.reproduce.pages import RESULTS as FOLDER
from research.reproduce.results import load, path_of, stored

RESULTS = Path(__file__).parents[2] / FOLDER


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (99, "99 s"), (179, "3 min"), (5532, "92 min"), (7779, "2.2 h")]
)
def test_duration_is_formatted_with_its_unit(seconds, text):
    assert listing.duration(seconds) == text


def test_declared_functions_exist():
    """They are imported only when they are called."""
    found = 0
    for file in RESEARCH.glob("**/experiments.toml"):
        package = ".".join(file.relative_to(RESEARCH.parent).parent.parts)
        for module, name in re.findall(r'"(\w+)\.(?!png|py)([a-z]\w*)"', file.read_text()):
            assert hasattr(import_module(f"{package}.{module}"), name), (file, module, name)
            found += 1
    assert found > 50


def test_experiments_are_selected_by_id_prefix():
    chosen = listing.chosen(EXPERIMENTS.values(), ["004", "larkin2021/figure"])
    assert [one.id for one in chosen] == [
        "keats2017/claims",
        "keats2017/pools",
        "larkin2021/figure-2",
        "larkin2021/figure-4",
    ]
    assert len(listing.chosen(EXPERIMENTS.values(), [])) == len(EXPERIMENTS)
    with pytest.raises(ValueError, match="unknown experiment '007'"):
        listing.chosen(EXPERIMENTS.values(), ["004", "007"])


def test_unmeasured_experiments_show_estimated_times():
    assert listing.details(EXPERIMENTS["keats2017/claims"], Path("nowhere")) == ["about a minute"]
    program, extra = listing.details(EXPERIMENTS["francis2021/in-observation"], Path("nowhere"))
    assert program.startswith("by `python examples/")
    assert extra == "extra: train"


def test_programs_show_measured_times_and_extras():
    path = path_of(RESULTS, "francis2021/in-observation")
    seconds = json.loads(path.read_text())["seconds"]
    details = listing.details(EXPERIMENTS["francis2021/in-observation"], RESULTS)
    assert details[1:] == [f"took {listing.duration(seconds)}", "extra: train"]
    assert listing.details(EXPERIMENTS["larkin2021/trials"], RESULTS)[1:] == ["extra: tune"]


@pytest.mark.parametrize("name", stored(RESULTS))
def test_experiments_with_networks_show_their_extra(name):
    result = load(RESULTS, name)
    players = [one["bot"] for one in result.bots] + [one["estimator"] for one in result.estimators]
    networks = [*BOTS.names(needs_torch=True), *ESTIMATORS.names(needs_torch=True)]
    named = {word.removesuffix("-paper") for player in players for word in re.split("[:=,+ ]", player)}
    if named & set(networks):
        assert "extra: train" in listing.details(EXPERIMENTS[name], RESULTS)


NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
MINUTES = {
    "a second": 1 / 60,
    "a minute": 1,
    "a quarter of an hour": 15,
    "half an hour": 30,
    "three quarters of an hour": 45,
    "an hour": 60,
    "an hour and a quarter": 75,
    "an hour and a half": 90,
    **{f"{word} minutes": number for number, word in enumerate(NUMBERS, 2)},
    **{f"{word} hours": 60 * number for number, word in enumerate(NUMBERS, 2)},
}


@pytest.mark.parametrize("name", [name for name in stored(RESULTS) if not EXPERIMENTS[name].program])
def test_declared_time_is_near_the_measured_one(name):
    seconds = json.loads(path_of(RESULTS, name).read_text())["seconds"]
    declared = MINUTES[EXPERIMENTS[name].time]
    if seconds is not None:
        measured = max(seconds / 60, min(declared, 1))
        assert measured / 2.5 < declared < 2.5 * measured, f"{name} took {listing.duration(seconds)}"
