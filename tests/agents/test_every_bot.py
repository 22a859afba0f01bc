"""Requirements of every bot: play under any rules, and repeat a match with the same seed."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from rule_variants import VARIANTS

from gin_env import agents, play_match
from gin_env.matches.fixed_positions import fixed_views

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", agents.names(slow=False))
def test_every_bot_plays_300_hands(name, variant):
    result = play_match(name, "simple", games=300, seed=4, episode="hand", rules=VARIANTS[variant])
    assert result.hands == 300


@pytest.mark.parametrize("name", agents.names(slow=False))
def test_same_seed_gives_the_same_match(name):
    first = play_match(name, name, games=20, seed=6, episode="hand")
    assert first == play_match(name, name, games=20, seed=6, episode="hand")
    assert first != play_match(name, name, games=20, seed=7, episode="hand")


def test_earlier_and_special_policies_play_only_by_name():
    quick = agents.quick_names()
    assert [name for name in agents.names(slow=False) if name not in quick] == ["policy-1", "policy-memory"]


@pytest.mark.parametrize("name", [*agents.names(), *agents.paper_names()])
def test_every_parameter_of_a_bot_has_a_default(name):
    assert inspect.Parameter.empty not in agents.parameters(name).values()


PARAMETERS = {
    "medium": "minimum_drop=9 knock_at=3 cautious_knock_at=2 exact=true",
    "tonic": "increment=2 knock_at=8 pair_turns=0 max_pair_points=4 keep_pairs_below=9+ break_pairs=true",
    "tonic:increment=2": "decrement=0 decline=0 held=0.99 filtered_fallback=true depth_growth=1",
    "utility": "draw_above=8 late_stock=0 knock_at=3",
    "marjj": "future_weight=2 discount=0.2 best_draws=1 danger_weight=9 knock_turns=0 mean_draws=true "
    "fixed_danger=true",
    "safe-discard:knock=true": "knock_above=30",
    "heuristics": "reading=some purified=false",
    "heuristics:reading=some": "relative=true",
    "fitness-cfr": "factors=deadwood+ relative=true early_knock=9 purified=false",
    "cfr": "candidates=all purified=false",
    "cfr-plus": "candidates=least purified=false",
    "offensive": "network=mlp-simple estimator=uniform",
    "balanced": "network=mlp-simple estimator=uniform risk_weight=20",
    "policy-memory": "margin=9",
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_changes_decisions(name):
    view, begin = fixed_views(), f"{name}{',' if ':' in name else ':'}"
    usual, given = agents.make(name).act(view), PARAMETERS[name].split()
    assert [each for each in given if (agents.make(begin + each).act(view) == usual).all()] == []


@pytest.mark.parametrize("name", [*agents.names(), "simple:knock_at=4"])
def test_bot_is_represented_by_its_name(name):
    bot = agents.make(name)
    assert repr(bot) == f"<{type(bot).__name__} {name}>"


def test_bots_are_imported_when_they_are_made():
    imported = "sorted(each for each in sys.modules if each in ('torch', 'gin_env.agents.tonic'))"
    code = f"import sys; from gin_env import agents; agents.names(); agents.make('simple'); print({imported})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_only_bots_that_need_torch_import_it():
    code = (
        "import sys; from gin_env import agents, play_match\n"
        "for name in agents.names(needs_torch=False): play_match(name, 'simple', 2, episode='hand')\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


WITHOUT_TORCH = """
import sys

sys.modules["torch"] = None  # as where it is not installed
import gin_env
from gin_env import agents, wrappers

for expression in sys.argv[1:]:
    try:
        eval(expression)
    except ImportError as error:
        assert 'pip install "gin-env[train]"' in str(error), (expression, error)
    else:
        raise SystemExit(f"{expression} works without torch")
"""


def test_missing_torch_names_the_extra():
    bots = [f"agents.make('{name}')" for name in ("generation", "policy", "balanced")]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *bots, "gin_env.ppo", "wrappers.GinRummyVecEnv"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
