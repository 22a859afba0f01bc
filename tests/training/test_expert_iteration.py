"""Expert iteration on constructed cases: choosing, scoring and teaching."""

import numpy as np
import pytest

pytest.importorskip("torch")

from gin_env.agents.search.bot import SearchBot
from gin_env.observations.candidates import NO_ACTION
from gin_env.reproduce.experiments import expert_iteration
from gin_env.reproduce.experiments.expert_iteration import (
    CHOICES,
    GAINS,
    Searched,
    choices,
    choices_of_search,
    judged,
    teach,
)
from gin_env.reproduce.experiments.one_step import positions

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def searcher() -> SearchBot:
    return SearchBot(samples=4)


def block(searcher: SearchBot, gain: float, seed: int = 1) -> Searched:
    """Return positions where the policy's second choice gains `gain` without error."""
    states = positions(searcher.policy, searcher.policy, 400, seed, share=0.1, games=40)
    games = Searched(states, *np.zeros((3, len(states), 0))).games()
    views = games.views(games.everyone, 0)
    likeliest = [searcher.likeliest(views[[number]])[:2] for number in range(len(states))]
    kept = [number for number, actions in enumerate(likeliest) if len(actions) == 2]
    tried = np.array([likeliest[number] for number in kept])
    return Searched(states[kept], tried, np.tile([0, gain], (len(kept), 1)), np.zeros(tried.shape))


def test_search_chooses_only_significantly_better_actions():
    tried = np.array([[5, 7, NO_ACTION], [5, 7, 8], [5, 7, 8], [5, NO_ACTION, NO_ACTION]])
    gains = np.array([[0, -0.1, 0], [0, 0.1, 0.2], [0, 0.1, 0.2], [0, 0, 0]])
    errors = np.array([[0, 0, 0], [0, 0.01, 0.15], [0, 0.1, 0.15], [0, 0, 0]])
    searched = Searched(np.empty(4), tried, gains, errors)
    assert choices_of_search(searched, 1.5).tolist() == [5, 7, 5, 5]
    assert choices_of_search(searched, 0.0).tolist() == [5, 8, 8, 5]


def test_choices_are_scored_by_the_gains_of_their_block():
    """Gains are in points per decision (1 = 100 points); an untried action counts as the worst tried one."""
    tried = np.array([[5, 7], [5, 7], [5, NO_ACTION], [5, 7]])
    gains = np.array([[0, 0.02], [0, -0.01], [0, 0], [0, -0.05]])
    one = Searched(np.empty(4), tried, gains, np.zeros((4, 2)))
    assert judged([np.array([7, 7, 5, 5])] * 2, [one, one]) == {"gain": 0.25, "gain_error": 0}
    assert judged([np.array([5, 5, 5, 9])] * 2, [one, one])["gain"] == -1.25
    other = one._replace(gains=-gains)
    assert judged([np.array([7, 5, 5, 5])] * 2, [one, other]) == {"gain": 0, "gain_error": 0.5}


@pytest.mark.parametrize("lesson", [CHOICES, GAINS])
def test_teaching_follows_the_sign_of_the_gains(searcher, lesson, monkeypatch):
    monkeypatch.setattr(expert_iteration, "BATCH_SIZE", 16)
    for gain in (0.5, -0.5):
        lessons = [block(searcher, gain)]
        chosen = choices(teach(searcher, lessons, lesson, 0.1), lessons)[0]
        changed = (chosen == lessons[0].tried[:, 1]).mean()
        assert changed > 0.1 if gain > 0 else changed < 0.01


def test_teaching_is_reproducible_and_leaves_the_policy_unchanged(searcher):
    lessons = [block(searcher, 0.1)]
    before = {name: value.clone() for name, value in searcher.policy.network.state_dict().items()}
    first, second = (teach(searcher, lessons, GAINS, 0.01).network.state_dict() for _ in range(2))
    for name, value in searcher.policy.network.state_dict().items():
        assert (value == before[name]).all()
        assert (first[name] == second[name]).all()
    assert any((first[name] != before[name]).any() for name in before)


def test_block_is_reproducible_by_seed(searcher):
    states = positions(searcher.policy, searcher.policy, 12, 3)
    first, same, other = (
        expert_iteration.search_positions(searcher, states, seed) for seed in ([1, 2], [1, 2], [1, 3])
    )
    assert (first.gains == same.gains).all()
    assert (first.tried == other.tried).all()
    assert (first.gains != other.gains).any()
    assert (first.gains[:, 0] == 0).all()
    assert (first.gains[first.tried == NO_ACTION] == 0).all()


def test_true_gains_of_knocks_have_no_error(searcher):
    """A knock ends the hand, so the order of the stock does not affect it."""
    states = positions(searcher.policy, searcher.policy, 400, 5, share=0.3)
    searched = Searched(states, np.full((len(states), 3), NO_ACTION), *np.zeros((2, len(states), 3)))
    knocks = searched.games().masks(np.arange(len(states)))[:, 52:104]
    several = np.flatnonzero(knocks.sum(axis=1) > 1)
    assert len(several) > 5
    searched.tried[:, 0] = [mask.argmax() for mask in searched.games().masks(np.arange(len(states)))]
    for number in several:
        searched.tried[number, :2] = 52 + np.flatnonzero(knocks[number])[:2]
    judge = SearchBot(samples=2, turns=expert_iteration.TO_THE_END)
    judged_by_truth = expert_iteration.true_gains(judge, searched, np.random.default_rng(1))
    assert (judged_by_truth.errors[several] == 0).all()
    assert (judged_by_truth.gains[several, 1] != 0).any()
    untouched = np.ones(judged_by_truth.gains.shape, bool)
    untouched[several, 1] = False
    assert (judged_by_truth.gains[untouched] == 0).all()
