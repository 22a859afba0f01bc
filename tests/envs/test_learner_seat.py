"""The learner's seat: sampling of opponents, interrupted episodes and seeds of single games."""

from __future__ import annotations

import numpy as np
import pytest
from hand_endings import Plain, plain_action
from scipy import stats

from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.rules import Rules
from gin_env.game.state import OFFER
from gin_env.wrappers.sb3 import GinRummyVecEnv

ONE_TURN = Rules(max_turns=1, target_score=10_000, max_hands=200)
"""The first discard ends a hand, nearly always without a winner, so the same player deals again."""


class Counted(Plain):
    """Records the number of each hand it plays: the learner passes, so it is offered the upcard once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hands: list[int] = []

    def act(self, view):
        public = view.array["public"]
        self.hands += public["hand_number"][public["phase"] == OFFER].tolist()
        return super().act(view)


def plain_step(env):
    return env.step(np.array([plain_action(mask) for mask in env.action_masks()]))


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        (GinRummyVectorEnv, None),
        (GinRummyVectorEnv, [3, 1, 2]),
        (GinRummyVectorEnv, [0, 1, 0]),
        (GinRummyVecEnv, [1e-9, 5, 2.5]),
    ],
)
def test_opponents_are_sampled_by_weight(kind, weights):
    count = 300
    bots = [Counted(name) for name in "abc"]
    env = kind(count, Plain(), rules=ONE_TURN)
    env.set_opponents(bots, weights)
    if kind is GinRummyVectorEnv:
        env.reset(seed=6)
    else:
        env.seed(6)
        env.reset()
    plain_step(env)  # where the learner starts, the opponent acts after its pass
    sat = [len(bot.hands) for bot in bots]
    shares = np.ones(3) / 3 if weights is None else np.array(weights) / np.sum(weights)
    assert all(hands == 0 for hands, share in zip(sat, shares, strict=True) if share < 1e-6)
    possible = shares >= 1e-6
    observed = np.array(sat)[possible]
    if possible.sum() > 1:
        expected = shares[possible] / shares[possible].sum() * observed.sum()
        assert stats.chisquare(observed, expected).pvalue > 0.001
    assert observed.sum() >= count


@pytest.mark.parametrize("dealer", [0, 1])
def test_each_hand_samples_its_own_opponent(dealer):
    """Hands end with the first discard, of the opponent or of the learner."""
    bots = [Counted("a"), Counted("b")]
    env = GinRummyEnv(bots, ONE_TURN, episode="game")
    _, info = env.reset(seed=2, options={"dealer": dealer})
    over = False
    while not over:
        _, _, over, _, info = env.step(plain_action(info["action_mask"]))
    by_a, by_b = (set(bot.hands) for bot in bots)
    assert by_a | by_b == set(range(200))
    assert not by_a & by_b
    assert stats.binomtest(len(by_a), 200).pvalue > 0.001
    env = GinRummyEnv(bots, ONE_TURN, episode="game", memory=True)
    env.reset(seed=2)
    assert len({env.step(plain_action(env.action_masks()))[-1]["opponent"] for _ in range(30)}) == 1
    changes = sum((hand in by_a) != (hand + 1 in by_a) for hand in range(199))
    assert stats.binomtest(changes, 199).pvalue > 0.001


def test_illegal_action_does_not_repeat_the_result_of_the_last_hand():
    env = GinRummyEnv(Plain(), ONE_TURN, episode="game", illegal_action="lose")
    env.reset(seed=2)
    while not env.seat.games.results["ended"][0]:
        env.step(plain_action(env.action_masks()))
    assert env.step(int(env.action_masks().argmin()))[-1]["outcome"] == "illegal"


def test_current_hand_keeps_its_opponent():
    old, new = Counted("old"), Counted("new")
    env = GinRummyVectorEnv(6, old)
    env.reset(seed=3)
    state = env.get_state()
    env.set_opponents([new])
    asked = len(old.hands)
    for _ in range(2):
        plain_step(env)
    assert asked < len(old.hands) == 6, "those that had not been asked yet were asked after the change"
    over = np.zeros(6, bool)
    for _ in range(60):
        over |= plain_step(env)[2]
    assert over.all()
    assert len(old.hands) == 6
    assert len(new.hands) >= 6
    env.set_opponents([Plain()])
    env.set_state(state)
    for _ in range(2):
        plain_step(env)
    assert len(old.hands) == 12 - asked, "a state has its opponents"


def test_dealer_without_learner_turns_changes_nothing():
    env = GinRummyEnv(Plain(), Rules(opening_offer=False, max_turns=1))
    twin = GinRummyEnv(Plain(), Rules(opening_offer=False, max_turns=1))
    for one in (env, twin):
        one.reset(seed=1)
    with pytest.raises(ValueError, match=r"ended 1000 consecutive episodes .* omit the option 'dealer'"):
        env.reset(seed=2, options={"dealer": 0})
    for one in (env, twin):
        assert one.reset()[1]["action_mask"].any()
    assert env.seat.games.state.tobytes() == twin.seat.games.state.tobytes()


# --- Interrupted episodes, and seeds --------------------------------------------------------------------


def test_sb3_counts_returns_from_the_reset():
    env = GinRummyVecEnv(4, Plain(), episode="game", seed=1)
    env.reset()
    returns = np.zeros(4)
    while not returns.all():  # until each game has been paid for some hands of its current episode
        _, rewards, over, _ = plain_step(env)
        returns = np.where(over, 0, returns + rewards)
    env.reset()
    returns, lengths, ended = np.zeros(4), np.zeros(4, int), 0
    while not ended:
        _, rewards, over, infos = plain_step(env)
        returns += rewards
        lengths += 1
        for game in np.flatnonzero(over):
            ended += 1
            assert infos[game]["episode"]["r"] == pytest.approx(returns[game], abs=1e-5)
            assert infos[game]["episode"]["l"] == lengths[game]


def test_sb3_seed_applies_to_one_reset():
    env = GinRummyVecEnv(3, Plain(), seed=1)
    first, second, third = env.reset(), env.reset(), env.reset()
    for before, after in ((first, second), (second, third), (first, third)):
        assert (before != after).any(axis=1).all()
    env.seed(1)
    assert np.array_equal(env.reset(), first)
    assert np.array_equal(env.reset(), second)
    other = GinRummyVecEnv(3, Plain(), seed=2)
    assert np.array_equal(other.reset()[:2], first[1:]), "game i has seed s + i"


@pytest.mark.parametrize("seed", [5, [5, 6, 7, 8]], ids=["one", "a list"])
def test_reseeding_some_games_leaves_the_others(seed):
    mask = np.array([False, True, False, True])
    alone, partly, fresh = (GinRummyVectorEnv(4, Plain(), Rules(max_turns=6)) for _ in range(3))
    for env in (alone, partly):
        env.reset(seed=100)
    partly.reset(seed=seed, options={"reset_mask": mask})
    fresh.reset(seed=5)
    ended = np.zeros(4, int)
    for _ in range(24):
        results = [plain_step(env) for env in (alone, partly, fresh)]
        old, mixed, new = (result[0]["observation"] for result in results)
        assert np.array_equal(mixed[~mask], old[~mask])
        assert np.array_equal(mixed[mask], new[mask])
        ended += results[1][2]
    assert (ended > 1).all()
