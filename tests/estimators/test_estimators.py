"""Guarantees of the rule-based estimators, their tables, and the estimate plane of every environment."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hands_in_words import ids, started
from played_positions import POLICIES, played

from gin_env import PlayerView, Rules, agents, cards, estimators, gin_rummy_v0
from gin_env.agents.policies.policy import FrozenPolicy, PolicyBot, describe_training
from gin_env.batch import Games
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.estimators.public_history import known_cards
from gin_env.observations.observation import LAYOUT
from gin_env.wrappers.sb3 import GinRummyVecEnv

pytestmark = pytest.mark.compiled

NAMES = ("uniform", "logistic", "logistic:normalised=true", "bayes", "bayes-isru")
NETWORKS = ("nn", "shankar-cnn", "suit-equivariant", "ensemble", "ensemble:switching=paper")
EXACT_SUM = ("uniform", "logistic:normalised=true", "bayes", "suit-equivariant")
every_estimator = pytest.mark.parametrize("name", [*NAMES, *NETWORKS])
every_policy = pytest.mark.parametrize("policy", list(POLICIES))

ESTIMATE = LAYOUT["estimate"].slice


@cache
def made(name: str):
    return estimators.make(name)


def are_equal(name: str, one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether estimates are equal, those of networks up to rounding."""
    return np.allclose(one, other, rtol=0, atol=1e-5 if name in NETWORKS else 0)


def views_of(policy: str, player: int) -> PlayerView:
    play = played(policy)
    return play.games().views(np.arange(len(play.states)), player)


# --- Names ----------------------------------------------------------------------------------------------


def test_estimators_are_made_by_name_and_bad_names_raise():
    assert set(estimators.names()) >= {"uniform", "omniscient", "logistic", "bayes", "bayes-isru"}
    assert estimators.parameters("bayes") == {
        "table": "simple",
        "least_observations": 50,
        "likelihood": "odds",
    }
    assert estimators.parameters("uniform") == {}
    assert estimators.parameters("ensemble")["switching"] == "fitted"
    assert made("bayes").name == "bayes"
    named = estimators.make("bayes:least_observations=70")
    assert named.name == estimators.make("bayes", least_observations=70).name == "bayes:least_observations=70"
    assert estimators.resolve(named) is named
    for name in ("psychic", ""):
        with pytest.raises(ValueError, match=r"unknown estimator .*choose from uniform, omniscient"):
            estimators.make(name)
    with pytest.raises(TypeError, match="an estimator's name must be a string"):
        estimators.make(3)
    with pytest.raises(TypeError, match=r"estimator 'bayes': unknown parameter 'alpha'; choose from table"):
        estimators.make("bayes:alpha=2")
    with pytest.raises(ValueError, match="estimator 'bayes:table': 'table' is not a parameter"):
        estimators.make("bayes:table")
    with pytest.raises(ValueError, match=r"least_observations must be from .* not 0"):
        estimators.make("bayes", least_observations=0)
    with pytest.raises(ValueError, match="alpha must be from"):
        estimators.make("bayes-isru", alpha=0)
    with pytest.raises(TypeError, match="normalised must be True or False"):
        estimators.make("logistic", normalised=1)
    for no_estimator in (3, agents.make("simple"), type(made("uniform"))):
        with pytest.raises(TypeError, match="an estimator must be a name or an object"):
            estimators.resolve(no_estimator)


# --- What all of them promise ---------------------------------------------------------------------------


@every_estimator
def test_estimator_is_represented_by_its_name(name):
    assert repr(made(name)) == f"<{type(made(name)).__name__} {name}>"


@every_policy
@every_estimator
def test_estimates_are_probabilities_and_exact_for_known_cards(name, policy):
    for player in range(2):
        view = views_of(policy, player)
        estimates = made(name).estimate(view)
        held, unseen, missing = known_cards(view)
        assert estimates.dtype == np.float32
        assert estimates.shape == (len(view), 52)
        assert ((estimates >= 0) & (estimates <= 1)).all()
        assert np.array_equal(np.where(unseen, 0, estimates), held), "known cards are exactly 0 or 1"
        if name in EXACT_SUM:
            assert np.allclose(estimates.sum(axis=1), held.sum(axis=1) + missing, rtol=1e-4, atol=1e-3)


@every_estimator
def test_batch_equals_single_and_views_stay_unchanged(name):
    view = views_of("simple", 0)[:50]
    before = view.array.copy()
    estimates = made(name).estimate(view)
    assert np.array_equal(before, view.array)
    for index in range(len(view)):
        assert are_equal(name, estimates[index : index + 1], made(name).estimate(view[index]))
    assert made(name).estimate(view[:0]).shape == (0, 52)


@pytest.mark.long
@every_estimator
def test_advancing_any_memory_equals_estimating_from_scratch(name):
    """This holds over whole games, for memories that are kept, skipped, swapped or copied."""
    estimator = made(name)
    games = started(40, seed=8, episode="game")
    memory, rng = estimator.new_memory(40), np.random.default_rng(1)
    hands = 0
    for step in range(150):
        waiting = np.flatnonzero(~games.done)
        view = games.views(waiting, 0)
        some = np.flatnonzero(rng.random(len(waiting)) < 0.6)
        own = memory[waiting[some]]
        assert are_equal(name, estimator.advance(view[some], own), estimator.estimate(view[some]))
        again = own.copy()
        assert are_equal(name, estimator.advance(view[some], again), estimator.estimate(view[some]))
        memory[waiting[some]] = own
        if step % 40 == 39:
            memory = memory[rng.permutation(40)]
        games.play(waiting, agents.make("simple").act(games.views(waiting)))
        hands += games.results["ended"][waiting].sum()
    assert hands > 200


# --- The rules of each ----------------------------------------------------------------------------------


@every_policy
def test_normalised_likelihoods_sum_to_the_missing_cards(policy):
    views = views_of(policy, 0)
    likelihoods = estimators.make("bayes-isru:normalised=true").estimate(views).astype(np.float64)
    shares = made("bayes:likelihood=paper").estimate(views)
    free = (likelihoods > 0) & (likelihoods < 1)
    odds = np.where(free, likelihoods / np.sqrt(1 - np.where(free, likelihoods, 0) ** 2), likelihoods)
    assert (odds > 0).sum() > 100
    assert np.allclose(np.minimum(odds, 1), shares, atol=1e-4)


# --- omniscient -----------------------------------------------------------------------------------------


def test_omniscient_needs_the_hands():
    omniscient = estimators.make("omniscient")
    hands = np.array([cards.parse("AS TD"), 0], np.uint64)
    estimates = omniscient.estimate_hands(hands)
    assert np.flatnonzero(estimates[0]).tolist() == sorted(ids("AS TD"))
    assert not estimates[1].any()
    view = views_of("simple", 0)[0]
    for estimate in (omniscient.estimate, lambda view: omniscient.advance(view, omniscient.new_memory(1))):
        with pytest.raises(ValueError, match="needs the opponents' hands, which views never contain"):
            estimate(view)


# --- In the environments --------------------------------------------------------------------------------

SHOWN = (*NAMES, "omniscient")


def expected_plane(name: str, games: Games, rows: np.ndarray, player: int) -> np.ndarray:
    """Return the estimate plane, computed from scratch."""
    if name == "omniscient":
        hands = games.state["private"]["hand"][rows, 1 - player]
        return estimators.make(name).estimate_hands(hands)
    return made(name).estimate(games.views(rows, player))


@pytest.mark.parametrize("name", SHOWN)
def test_aec_environment_shows_each_player_their_own_estimates(name):
    env = gin_rummy_v0.raw_env(episode="game", estimator=name)
    plain = gin_rummy_v0.raw_env(episode="game")
    env.reset(seed=4)
    plain.reset(seed=4)
    bot = agents.make("simple")
    hands = 0
    for step in range(160):
        agent = env.agent_selection
        for player, other in enumerate(env.possible_agents):
            if step % 3 and other != agent:
                continue  # not every step has to be observed
            seen, without = env.observe(other)["observation"], plain.observe(other)["observation"]
            assert np.array_equal(seen[ESTIMATE], expected_plane(name, env.games, env._index, player)[0])
            without[ESTIMATE] = seen[ESTIMATE]
            assert np.array_equal(seen, without), "nothing else changes"
        action = bot.act(PlayerView.from_env(env, agent))[0]
        env.step(action)
        plain.step(action)
        hands += env.games.results["ended"][0]
        if not env.agents or env.terminations[agent]:
            env.reset(seed=4)  # the same deals again: memories of the last time must not matter
            plain.reset(seed=4)
    assert hands > 3


@pytest.mark.parametrize("episode", ["hand", "game"])
@pytest.mark.parametrize("name", SHOWN)
def test_vector_environments_show_estimates_after_resets(name, episode):
    env = GinRummyVectorEnv(6, "simple", episode=episode, estimator=name)
    sb3 = GinRummyVecEnv(6, "simple", episode=episode, estimator=made(name) if name in NAMES else name)
    singles = [GinRummyEnv("simple", episode=episode, estimator=name) for _ in range(6)]
    sb3.seed(9)
    observation = env.reset(seed=9)[0]
    flat = sb3.reset()
    alone = [single.reset(seed=9 + game)[0] for game, single in enumerate(singles)]
    bot, ended = agents.make("simple"), 0
    for _ in range(60 if episode == "hand" else 150):
        seen = observation["observation"]
        games = env.seat.games
        assert np.array_equal(seen[:, ESTIMATE], expected_plane(name, games, games.everyone, 0))
        assert np.array_equal(seen, flat)
        assert np.array_equal(seen, np.stack([one["observation"] for one in alone]))
        actions = bot.act(games.views(games.everyone))
        observation, _, over, _, infos = env.step(actions)
        flat, _, _, flat_infos = sb3.step(actions)
        for game, single in enumerate(singles):
            alone[game], _, finished, _, _ = single.step(actions[game])
            assert finished == over[game]
            if finished:
                last = infos["final_obs"][game]["observation"]
                assert np.array_equal(alone[game]["observation"], last)
                assert np.array_equal(flat_infos[game]["terminal_observation"], last)
                alone[game] = single.reset()[0]
        ended += over.sum()
    assert ended > (20 if episode == "hand" else 0)


class Watcher:
    """A custom estimator: one half for every unseen card."""

    name = "watcher"

    def estimate(self, view):
        return (known_cards(view)[1] * 0.5).astype(np.float32)

    def new_memory(self, count):
        return np.zeros(count)

    def advance(self, view, memory):
        memory += 1
        return self.estimate(view) / memory[:, None].astype(np.float32)


def test_custom_estimator_works_in_an_environment():
    env = GinRummyVectorEnv(3, "simple", estimator=Watcher())
    observation = env.reset(seed=1)[0]["observation"]
    assert set(np.unique(observation[:, ESTIMATE]).tolist()) == {0, 0.5}
    views, over = 1, np.zeros(3, bool)
    while not over.any() or over.all():
        games, views = env.seat.games, views + 1
        observation, _, over, _, _ = env.step(agents.make("simple").act(games.views(games.everyone)))
    highest = observation["observation"][:, ESTIMATE].max(axis=1)
    assert highest == pytest.approx(np.where(over, 0.5, 0.5 / views)), (
        "only games that are over are forgotten"
    )
    with pytest.raises(ValueError, match="unknown estimator 'watcher'"):
        describe_training(estimator=Watcher())


# --- Trained policies -----------------------------------------------------------------------------------


@pytest.mark.long
def test_policies_store_their_estimator(monkeypatch):
    from sb3_contrib import MaskablePPO

    env = GinRummyVecEnv(4, "simple", estimator="bayes:least_observations=70", seed=1)
    assert env.describe_training() == describe_training(estimator="bayes:least_observations=70")
    assert env.describe_training()["estimator"] == "bayes:least_observations=70"
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=8, batch_size=32, policy_kwargs={"net_arch": [4]}, device="cpu"
    )
    model.gin_env = env.describe_training()
    bot = PolicyBot.snapshot(model)
    assert bot.estimator.name == "bayes:least_observations=70"
    seen = []
    monkeypatch.setattr(bot, "network", lambda batch: seen.append(batch.numpy().copy()) or batch[:, :107])
    env.reset()
    for _ in range(12):
        games = env.seat.games
        bot.act(games.views(games.everyone))
        env.step(games.masks(games.everyone).argmax(axis=1))
        assert np.array_equal(seen[-1][:, ESTIMATE].sum(axis=1).round(2), np.full(4, 10))
    observations = env.seat.observe(env.seat.masks())
    bot.act(env.seat.games.views(env.seat.games.everyone))
    assert np.array_equal(seen[-1][:, ESTIMATE], observations[:, ESTIMATE])
    assert not np.array_equal(seen[-1], env.seat.games.views(env.seat.games.everyone).observations())
    with pytest.raises(ValueError, match="trained with the estimator 'omniscient'"):
        PolicyBot(FrozenPolicy(model.policy), describe_training(estimator="omniscient"))


def test_estimators_handle_small_decks_and_the_end_of_a_hand():
    """There is no division by 0 if few cards are unseen."""
    rules = Rules(ranks=4, suits=3, hand_size=3, stock_floor=0)
    games = started(60, rules, seed=2)
    for waiting in games.until_over():
        games.play(waiting, agents.make("random").act(games.views(waiting)))
        for name in NAMES:
            for player in range(2):
                view = games.views(games.everyone, player)
                estimates = made(name).estimate(view)
                held, unseen, missing = known_cards(view)
                assert np.isfinite(estimates).all()
                assert not estimates[:, ~np.isin(np.arange(52), cards.cards_of(rules.deck_mask))].any()
                if name in EXACT_SUM:
                    possible = np.minimum(missing, unseen.sum(axis=1))
                    assert np.allclose(estimates.sum(axis=1), held.sum(axis=1) + possible, atol=1e-3)
