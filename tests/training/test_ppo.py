"""The PPO learner: advantages, experience, league, learning and policy files."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hands_in_words import started
from ppo_runs import tiny

from gin_env import agents, play_match
from gin_env.agents.policies.candidate_network import (
    FORMAT,
    CandidateScorer,
    load_candidate_policy,
    save_candidate_policy,
)
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.turns import play_bot
from gin_env.game.rules import PRESETS, Rules
from gin_env.observations.candidates import NO_ACTION, NUM_CONTEXT, NUM_FEATURES
from gin_env.observations.memory import NUM_MEMORY
from gin_env.support.tensor_files import TensorFileError
from gin_env.training.experience import DecisionBuffer, LearnerBatch
from gin_env.training.league import DECAY, SELF, League
from gin_env.training.learner import Learner, most_points
from gin_env.training.ranks import Ranks
from gin_env.training.runs import load_start
from gin_env.training.settings import PPOSettings

pytestmark = pytest.mark.compiled


def new_learner(tmp_path: Path) -> Learner:
    """Return a learner with rollouts long enough for hands to end: an untrained player rarely knocks."""
    learner = Learner(replace(tiny(tmp_path), num_steps=100))
    learner.begin()
    return learner


def new_league(*bots: str, past_size: int = 2) -> League:
    """Return a league of these bots, of which each gets at most 30 % of the hands."""
    return League(PPOSettings(bots=bots, bots_share=0.4, max_share=0.3, past_share=0.3, past_size=past_size))


# --- Advantages -----------------------------------------------------------------------------------------


def three_decisions():
    """Player 0, player 1 and player 0 decide in game 0; the network's values are 0.1, -0.2 and 0.3."""
    batch = LearnerBatch(num_envs=2, capacity=8)
    slots = np.array([0])
    env = np.array([0])
    for place, (player, value) in enumerate(((0, 0.1), (1, -0.2), (0, 0.3))):
        places = slice(place, place + 1)
        batch.add(env, np.array([player]), place % 2, places, np.array([value], np.float32), slots)
    return batch


def test_advantages_of_a_scored_hand():
    batch = three_decisions()
    batch.end_hands(np.array([0]), np.array([0.4], np.float32))
    batch.estimate_advantages(gamma=0.9, gae_lambda=0.95)
    # The last decision of each player gets the reward: 0.4 - 0.3, -0.4 - (-0.2). 0.3 follows the first.
    expected = [(0.9 * 0.3 - 0.1) + 0.9 * 0.95 * (0.4 - 0.3), -0.4 + 0.2, 0.4 - 0.3]
    np.testing.assert_allclose(batch.advantage[:3], expected, rtol=1e-5)
    assert batch.known[:3].all()


def test_end_of_rollout_cuts_chains_and_bootstraps():
    batch = three_decisions()
    batch.estimate_advantages(gamma=1.0, gae_lambda=0.95)
    assert batch.known[:3].tolist() == [True, False, False]
    np.testing.assert_allclose(batch.advantage[:3], [0.3 - 0.1, 0, 0], rtol=1e-5)


def test_new_rollout_begins_new_chains():
    batch = three_decisions()
    batch.clear()
    one, slots = np.ones(1, np.int64), np.zeros(1, np.int64)
    for place, (game, player) in enumerate(((1, 0), (1, 1), (0, 1))):
        batch.add(game * one, player * one, 0, slice(place, place + 1), np.zeros(1, np.float32), slots)
    assert not batch.known[:3].any()
    assert batch.next[:3].tolist() == [batch.nothing] * 3
    assert len(batch.steps) == 3


def test_next_hand_begins_new_chains():
    batch = three_decisions()
    batch.end_hands(np.array([0]), np.array([0.4], np.float32))
    both = np.array([0, 1])
    batch.add(both, np.array([0, 0]), 0, slice(3, 5), np.array([9, 9], np.float32), both)
    batch.estimate_advantages(gamma=1.0, gae_lambda=0.95)
    np.testing.assert_allclose(batch.advantage[2], 0.4 - 0.3, rtol=1e-5)
    assert batch.next[1:5].tolist() == [batch.nothing] * 4
    batch.end_hands(np.array([0]), np.array([0.4], np.float32))
    batch.add(both, np.array([0, 0]), 0, slice(5, 7), np.array([9, 9], np.float32), both)
    assert batch.next[3:5].tolist() == [batch.nothing, 6], "the hand in game 1 continues"


# --- Experience -----------------------------------------------------------------------------------------


def test_no_chain_crosses_hands_or_players(tmp_path):
    learner = new_learner(tmp_path)
    taken, paid, seats = [], {}, set()
    decide, end_hands = learner.decide, learner.batch.end_hands

    def hands_of(envs):
        keys = learner.games.state["hidden"]["deal_key"][envs]
        numbers = learner.games.state["public"]["hand_number"][envs]
        return list(zip(keys.tolist(), numbers.tolist(), strict=True))

    def recorded(envs, players, *others):
        taken.extend(zip(hands_of(envs), envs.tolist(), players.tolist(), strict=True))
        seats.update(zip((learner.opponent[envs] == SELF).tolist(), players.tolist(), strict=True))
        return decide(envs, players, *others)

    def paying(envs, rewards):
        last = learner.batch.last[envs].copy()
        end_hands(envs, rewards)
        for two, reward in zip(last, rewards, strict=True):
            paid.update({int(index): sign * float(reward) for index, sign in zip(two, (1, -1), strict=True)})

    learner.decide, learner.batch.end_hands = recorded, paying
    links = ends = against_others = 0
    for _ in range(3):
        taken.clear()
        paid.clear()
        learner.collect()
        batch = learner.batch
        assert batch.count == len(taken)
        for index in range(batch.count):
            following = int(batch.next[index])
            if following == batch.nothing:
                assert batch.known[index] == (index in paid)
                assert batch.reward[index] == np.float32(paid.get(index, 0))
                ends += index in paid
            else:
                assert following > index
                assert taken[following] == taken[index]
                assert batch.reward[index] == 0
                links += 1
        against_others += sum(learner.opponent[env] != SELF for _, env, _ in taken)
        for buffer in learner.buffers:
            assert ((buffer.actions[: buffer.count] != NO_ACTION).sum(axis=(1, 2)) > 1).all(), (
                "no choice, no decision"
            )
        learner.add_past_self()
    assert min(links, ends, against_others) > 20
    assert seats == {(True, 0), (True, 1), (False, 0)}, "both seats in self-play, one against others"


def test_new_buffers_have_no_nan():
    """Batches are padded with what is in them, and on some processors NaN spreads to the row before."""
    torch.full((1 << 21,), torch.nan)  # freed memory, which a buffer may get
    buffer = DecisionBuffer(1024, 11, 14, "cpu")
    assert not buffer.rows.any()
    assert not buffer.context.any()


def test_few_decisions_are_learned_alike_on_any_device(tmp_path):
    """Some minibatches have no decision, most no draw or discard; PyTorch copies to "cpu:0" as to a GPU."""
    learned = []
    for device in ("cpu", "cpu:0"):
        learner = Learner(replace(tiny(tmp_path), device=device, num_envs=8, num_minibatches=8 * 24))
        learner.begin()
        learner.collect()
        num_decisions, _ = learner.update(1.0)
        assert num_decisions < learner.optimizer.state[learner.parameters[0]]["step"] < 2 * num_decisions
        learned.append([parameter.cpu() for parameter in learner.parameters])
    torch.testing.assert_close(*learned, rtol=0, atol=0)


@pytest.mark.long
@pytest.mark.parametrize("memory", [False, True])
def test_opponents_stay_for_a_game_with_a_memory(tmp_path, memory):
    bots = ("simple", "simple:knock_at=0", "tonic")
    settings = replace(tiny(tmp_path), bots=bots, bots_share=0.9, past_share=0.0, start="policy", hidden=64)
    learner = Learner(replace(settings, memory=memory))
    learner.network.load_state_dict(learner.network.state_dict() | load_start(settings)[0])
    learner.begin()
    hands, games = set(), {}
    for index in range(300):
        public = learner.games.state["public"]["hand_number"]
        for env, key in enumerate(zip(learner.num_games.tolist(), learner.opponent.tolist(), strict=True)):
            hands.add((env, key[0], int(public[env])))
            games.setdefault((env, key[0]), set()).add(key[1])
        learner.batch.clear()
        for buffer in learner.buffers:
            buffer.count = 0
        learner.step(index % 24)
    assert len(hands) > 2 * len(games)
    assert (max(map(len, games.values())) == 1) == memory
    assert len({opponent for each in games.values() for opponent in each}) == 4


def test_learner_reads_the_memory_of_each_decision(tmp_path):
    learner = Learner(replace(tiny(tmp_path), num_steps=600, num_envs=8, memory=True))
    learner.begin()
    learner.collect()
    known = 0
    for buffer in learner.buffers:
        memory = buffer.context[: buffer.count, NUM_CONTEXT:]
        assert memory.shape[1] == NUM_MEMORY
        known += memory.any(axis=1).mean() / 2
    assert 0 < known < 1
    losses, guessed = [], 0.0
    for opponent_coef in (0.0, 0.3):  # before training, the rewards teach nothing about opponents
        learner.settings.opponent_coef = opponent_coef
        for scores in (learner.network.draws, learner.network.discards):
            loss, _ = learner.loss(np.arange(learner.batch.count), learner.batch.advantage, 0.01)
            (gradient,) = torch.autograd.grad(loss, [scores.memory.types.weight])
            assert bool(gradient.any()) == (opponent_coef > 0)
        losses.append(loss.item())
    for scores, buffer in zip(
        (learner.network.draws, learner.network.discards), learner.buffers, strict=True
    ):
        logits = scores.memory.type_logits(torch.from_numpy(buffer.context[: buffer.count, NUM_CONTEXT:]))
        types = buffer.opponent_type[: buffer.count]
        guessed -= torch.log_softmax(logits, dim=1)[np.arange(len(types)), types].sum().item()
    assert losses[1] - losses[0] == pytest.approx(0.3 * guessed, rel=1e-3)
    learner.add_past_self()
    learner.opponent[:] = [SELF, 0, 1, 1, 1, 1, 1, 1]  # itself, the bot and its past self
    learner.settings.num_steps = 20  # games stay with their opponents
    learner.collect()
    types = np.concatenate([buffer.opponent_type[: buffer.count] for buffer in learner.buffers])
    assert 0 < (types == 1).mean() < 0.3
    assert ((types == 0) | (types == 1)).all()


def test_equal_bots_are_one_type_of_opponent():
    assert new_league("simple", "simple", "random").types.tolist() == [0, 1, 1, 3, 0, 0]
    several = [*(f"simple:knock_at={most}" for most in range(11)), *agents.names()[2:8]]
    assert new_league(*several).types.tolist() == [0, *range(1, 16), 15, 15, 0, 0]


def test_hand_reward_is_the_change_in_win_chance_or_the_points(tmp_path):
    learner = new_learner(tmp_path)
    chances = learner.win_chances[0]
    chances[:100, :100] = np.linspace(0.1, 0.9, 10_000).reshape(100, 100)  # all scores differ
    results = np.array([30, -30, -53, 0])  # points of player 0, or of player 1 where negative
    scores = np.array([[100, 60], [70, 90], [95, 107], [50, 50]])  # after these results
    learner.games.rewards[:4] = results / 100
    learner.games.state["public"]["scores"][:4] = scores
    learner.opponent[:4] = [SELF, 0, 0, 0]
    learner.league.results[:] = learner.league.new_results[:] = 0
    paid = learner.end_hands(np.arange(4))
    before = [chances[70, 60], chances[70, 60], chances[95, 54], chances[50, 50]]
    after = [1, chances[70, 90], 0, chances[50, 50]]
    np.testing.assert_allclose(paid, 2 * (np.array(after) - before), rtol=1e-6)
    # Columns: hands, hands lost, points. Rows: against itself and against the league's only bot.
    np.testing.assert_allclose(learner.league.new_results[:2], [[1, 0, 30], [3, 2, -83]], rtol=1e-6)
    assert [learner.new_hand_points[0, points] for points in (0, 53, 30)] == [1, 1, 2]
    learner.settings.match_reward = False
    np.testing.assert_allclose(learner.end_hands(np.arange(4)), results / 100, rtol=1e-6)


@pytest.mark.parametrize("rules", [Rules.preset(name) for name in PRESETS] + [Rules(gin_bonus=300)], ids=str)
def test_no_hand_pays_more_than_the_most_points(rules):
    games, bot = started(200, rules, seed=5), agents.make("simple:knock_at=0")
    for running in games.until_over():
        play_bot(games, bot, running)
    assert 0 < games.state["public"]["points"].max() <= most_points(rules)


def test_games_are_played_by_the_rules_in_turn(tmp_path):
    names = ("eaai", "oklahoma", "eaai", "knock_limit=3")
    learner = Learner(replace(tiny(tmp_path), rules=names, num_envs=8))
    learner.begin()
    assert learner.rules == (Rules(), Rules.preset("oklahoma"), Rules(knock_limit=3))
    learner.collect()
    played = [Rules.from_record(record) for record in learner.games.state["public"]["rules"]]
    assert played == [Rules.parse(name) for name in names] * 2
    learner.games.state["public"]["scores"][:3] = 100, 60
    learner.games.rewards[:3] = 0.3
    paid = learner.end_hands(np.arange(3))
    assert paid[0] == paid[2] == pytest.approx(2 * (1 - learner.win_chances[0, 70, 60]))
    before, after = learner.win_chances[1][[70, 100], 60]  # oklahoma is played to 150 points
    assert after < 1
    assert paid[1] == pytest.approx(2 * (after - before))
    assert learner.new_hand_points[:, 30].tolist() == [2, 1, 0]
    parts = [Learner(learner.settings, Ranks(rank, 3)).rules_index for rank in range(3)]
    assert np.concatenate(parts).tolist() == learner.rules_index.tolist() == [0, 1, 0, 2] * 2


def test_policy_file_names_all_rules_of_its_training(tmp_path, recwarn):
    rules = Rules(), Rules.preset("straight")
    path = tmp_path / "both.safetensors"
    save_candidate_policy(path, CandidateScorer(8), rules)
    assert load_candidate_policy(path)[1] == rules
    bot = agents.make(str(path))
    for each in rules:
        play_match(bot, "random", 2, 1, episode="hand", rules=each)
    assert not recwarn
    with pytest.warns(UserWarning, match="both was trained under eaai and straight, not under bicycle"):
        play_match(bot, "random", 2, 1, episode="hand", rules=Rules.preset("bicycle"))


def test_league_favours_winning_opponents_up_to_a_limit():
    """Shares follow from (lost + 50) / (hands + 100); the limit is for bots, and past selves share theirs."""
    league = new_league("simple", "random")
    random = (np.arange(10_000) + 0.5) / 10_000  # evenly, so that shares are exact

    def shares(preference: float, max_share: float = 0.3) -> list[float]:
        league.settings.preference, league.settings.max_share = preference, max_share
        return (np.bincount(1 + league.draw(random), minlength=5) / len(random)).tolist()

    league.results[1:3] = [[950, 450, 0], [950, 0, 0]]
    weak = 0.4 / (1 + 10**4)  # 500 of 1050 hands lost to the first opponent, 50 to the second
    assert shares(4.0) == pytest.approx([0.7 - weak, 0.3, weak, 0, 0], abs=1e-4)
    assert shares(0.0) == pytest.approx([0.6, 0.2, 0.2, 0, 0], abs=1e-4)
    for _ in range(2):
        league.add_past_self(CandidateScorer(4), np.random.default_rng(1))
    league.results[3:5] = [[400, 350, 0], [400, 50, 0]]  # 4 to 1
    assert shares(1.0, 0.15) == pytest.approx([0.7 - 0.15 - 0.4 / 11, 0.15, 0.4 / 11, 0.24, 0.06], abs=2e-4)


def test_earlier_results_fade(tmp_path):
    learner = Learner(replace(tiny(tmp_path), num_steps=0, max_share=0.4, bots=("simple", "random")))
    learner.new_hand_points[0, 30], learner.league.new_results[1] = 4, (10, 4, 30)
    before = learner.win_chances.copy()
    for _ in range(2):
        learner.collect()
    assert learner.hand_points[0, [25, 30]] == pytest.approx([DECAY**2, 4 * DECAY])
    assert learner.league.results[1] == pytest.approx([10 * DECAY, 4 * DECAY, 30 * DECAY])
    assert learner.league.log() == pytest.approx({"points_per_hand/simple": 3, "hands_lost/simple": 0.4})
    assert not np.array_equal(learner.win_chances, before)


def test_seed_decides_on_weights_decks_and_choices(tmp_path):
    one, two = (Learner(replace(tiny(tmp_path), seed=seed)) for seed in (1, 2))
    assert not torch.equal(one.network.draws.outputs.weight, two.network.draws.outputs.weight)
    assert one.state() != two.state()
    one.begin(), two.begin()
    decks = [each.games.state["hidden"]["deck"].copy() for each in (one, two)]
    one.begin_games(one.games.everyone)
    decks.append(one.games.state["hidden"]["deck"])
    assert len(np.unique(np.concatenate(decks), axis=0)) == 3 * 32, "and each game has decks of its own"


@pytest.mark.long
@pytest.mark.parametrize("bfloat16", [False, True])
def test_short_training_beats_random_and_the_untrained_policy(tmp_path, bfloat16):
    settings = replace(
        tiny(tmp_path), num_envs=256, num_steps=48, num_minibatches=12, hidden=32, total_timesteps=150_000,
        bfloat16=bfloat16,
    )  # fmt: skip
    learner, decisions = Learner(settings), 0
    beginning = CandidatePolicyBot(copy.deepcopy(learner.network), name="beginning")
    learner.begin()
    while (share := decisions / settings.total_timesteps) < 1:
        learner.collect()
        decisions += learner.update(1 - share)[0]
    bot = CandidatePolicyBot(learner.network)
    assert play_match(bot, "random", 200, seed=3).win_rate > 0.95
    assert play_match(bot, beginning, 200, seed=3).win_rate > 0.8


# --- Policy ---------------------------------------------------------------------------------------------


def test_policy_file_reproduces_the_logits_of_the_network(tmp_path):
    torch.manual_seed(1)
    network = CandidateScorer(16)
    path = tmp_path / "policy.safetensors"
    save_candidate_policy(path, network, Rules(knock_limit=9), {"seed": 1})
    read, rules, episode = load_candidate_policy(path)
    assert (rules, episode) == ((Rules(knock_limit=9),), "game")
    for number in (2, 11):
        rows, table = torch.rand(5, number, NUM_FEATURES), torch.rand(5, NUM_CONTEXT)
        possible = torch.rand(5, 2 * number) < 0.7
        expected = network(rows, possible, table)
        torch.testing.assert_close(read(rows, possible, table), expected, rtol=0, atol=0)
    assert isinstance(agents.make(str(path)), CandidatePolicyBot)


def test_file_without_its_size_raises(tmp_path):
    path = tmp_path / "policy.safetensors"
    weights = CandidateScorer(4).state_dict()
    for described in (
        {},
        {"hidden": 10**9, "rules": {}},
        {"hidden": 4, "rules": {"cards": 3}},
        {"hidden": 8, "rules": {}},
    ):
        FORMAT.write_tensors(path, weights, described)
        with pytest.raises(TensorFileError):
            load_candidate_policy(path)


@pytest.mark.parametrize("boxes", [False, True])
@pytest.mark.parametrize("double", [False, True])
def test_most_points_cover_gin_against_eight_court_cards_and_two_nines(double, boxes):
    """The hand without a meld that costs most, also doubled by a spade and with a box."""
    rules = Rules(gin_bonus=300, oklahoma=True, spades_double=double, box_bonus=40, immediate_boxes=boxes)
    assert most_points(rules) >= (98 + 300) * (1 + double) + 40 * boxes


def test_replacing_a_past_self_clears_only_its_results():
    league = new_league("simple", "random")
    random, network = np.random.default_rng(1), CandidateScorer(8)
    for _ in range(2):
        league.add_past_self(network, random)
    replaced = set()
    for _ in range(8):
        league.results[:] = 1
        before = list(league.past)
        league.add_past_self(network, random)
        (changed,) = [index for index, past in enumerate(league.past) if past is not before[index]]
        replaced.add(changed)
        assert np.flatnonzero((league.results == 0).all(axis=1)).tolist() == [3 + changed]
    assert replaced == {0, 1}


def test_past_selves_keep_their_order_in_a_file():
    """Files sort their tensors by name, so that 10 comes before 2."""
    saved, restored = (new_league("simple", past_size=12) for _ in range(2))
    for _ in range(12):
        saved.add_past_self(CandidateScorer(4), np.random.default_rng(1))
    restored.restore_past(dict(sorted(saved.past_tensors().items())), 4)
    expected, found = saved.past_tensors(), restored.past_tensors()
    assert list(found) == list(expected)
    assert all(torch.equal(found[name], weights) for name, weights in expected.items())


def test_each_bot_plays_its_own_games():
    class Seeing:
        name = "seeing"

        def __init__(self) -> None:
            self.hands = set()

        def act(self, view):
            self.hands.update(view.hands.tolist())
            return view.masks().argmax(axis=1)

    league, games, random = new_league("simple", "random"), started(20, seed=3), np.random.default_rng(1)
    league.bots = [Seeing(), Seeing()]
    hands, opponents = games.views(games.everyone).hands.copy(), random.integers(2, size=20)
    league.play(games, games.everyone, opponents, random.integers(2**64, size=20, dtype=np.uint64))
    for index, bot in enumerate(league.bots):
        assert (np.isin(hands, list(bot.hands)) == (opponents == index)).all()


@pytest.mark.parametrize(("memory", "least"), [(False, 0.1), (True, 0.01)])
def test_each_past_self_plays_by_its_own_network(monkeypatch, memory, least):
    league, random = new_league("simple"), np.random.default_rng(1)
    for seed in (1, 2):
        torch.manual_seed(seed)
        network = CandidateScorer(16, memory)
        for scores in (network.draws, network.discards):
            torch.nn.init.normal_(scores.outputs.weight, std=1e4)  # nearly sure of an action, or equal cards
        league.add_past_self(network, random)
    bots = [CandidatePolicyBot(past) for past in league.past]
    games = started(64, seed=3)
    opponents, chances = np.repeat([2, 1], 32), np.empty((2, 64))
    play = games.play

    def checked(envs, actions):
        for index, bot in enumerate(bots):
            chances[index, envs] = bot.action_chances(games.views(envs))[np.arange(len(envs)), actions]
        play(envs, actions)

    monkeypatch.setattr(games, "play", checked)
    by_the_other = 0
    for _ in range(12):
        playing = random.permutation(games.everyone[~games.done])
        league.play(games, playing, opponents[playing], random.integers(2**64, size=64, dtype=np.uint64))
        assert (chances[opponents[playing] - 1, playing] > least).all()
        by_the_other += (chances[2 - opponents[playing], playing] < least).sum()
    assert by_the_other > 50


# --- Precision ------------------------------------------------------------------------------------------


def gradient_of(learner: Learner) -> torch.Tensor:
    """Return the gradient of the loss of all decisions of the rollout."""
    learned = np.flatnonzero(learner.batch.known[: learner.batch.count])
    loss, _ = learner.loss(learned, learner.batch.advantage, 0.01)
    gradients = torch.autograd.grad(loss, learner.parameters)
    return torch.cat([gradient.flatten() for gradient in gradients])


def test_bfloat16_changes_the_gradient_little(tmp_path):
    learner = new_learner(tmp_path)
    learner.collect()
    expected = gradient_of(learner)
    for scores in (learner.network.draws, learner.network.discards):
        scores.use_bfloat16 = True
    found = gradient_of(learner)
    assert not torch.equal(found, expected)
    assert (found - expected).norm() < 0.02 * expected.norm()


# --- The loss and the update ------------------------------------------------------------------------------


def test_loss_is_the_formula_of_ppo(tmp_path):
    """Clipped gains, squared error of the values and entropy, by NumPy from logits and values alone."""
    learner = new_learner(tmp_path)
    settings, batch = learner.settings, learner.batch
    settings.gamma, settings.gae_lambda = 0.9, 0.8
    learner.collect()
    advantages = batch.advantage.copy()
    batch.estimate_advantages(0.9, 0.8)
    assert np.array_equal(advantages, batch.advantage)
    settings.clip_coef, settings.vf_coef = 0.05, 0.7
    with torch.no_grad():
        for kind, buffer in enumerate(learner.buffers):
            mine = np.flatnonzero(batch.kind[: batch.count] == kind)
            _, values = learner.network(*buffer.inputs(batch.place[mine]))
            np.testing.assert_allclose(batch.value[mine], values, atol=1e-5)
        for parameter in learner.network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))  # it has learned since it played
    decisions = np.arange(batch.count)
    gains = np.random.default_rng(1).normal(size=batch.count).astype(np.float32)
    expected, logged = 0.0, np.zeros(4)
    for kind in (0, 1):
        mine = decisions[batch.kind[: batch.count] == kind]
        places, buffer = batch.place[mine], learner.buffers[kind]
        with torch.no_grad():
            logits, values = (each.double().numpy() for each in learner.network(*buffer.inputs(places)))
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chosen = np.take_along_axis(chances, buffer.chosen[places][:, None], axis=1)[:, 0]
        ratio = chosen / np.exp(buffer.log_prob[places].astype(np.float64))
        bounded = np.clip(ratio, 0.95, 1.05)
        entropy = -np.sum(chances * np.log(np.maximum(chances, 1e-300)))
        error = np.square(values - batch.advantage[mine] - batch.value[mine]).sum()
        expected += 0.7 * error - np.minimum(ratio * gains[mine], bounded * gains[mine]).sum()
        expected -= 0.02 * entropy
        logged += error, entropy, (ratio - 1 - np.log(ratio)).sum(), (ratio != bounded).sum()
    assert logged[3] > batch.count / 4
    loss, log = learner.loss(decisions, gains, 0.02)
    assert log.tolist() == pytest.approx(logged.tolist(), rel=1e-3)
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("left", "limit"), [(1.0, 1e-3), (0.5, 1e6), (0.0, 1e-3)])
def test_update_anneals_and_limits_its_steps(tmp_path, monkeypatch, left, limit):
    """The rate falls with what is left of the training, to a twentieth; gradients have a largest norm.

    Each decision is in one minibatch of each pass, and the gradient is that of the mean loss.
    """
    learner = new_learner(tmp_path)
    learner.collect()
    settings = learner.settings
    settings.max_grad_norm, settings.update_epochs, settings.num_minibatches = limit, 3, 20
    minibatches, means, entropies, logs, loss = [], [], [], [], learner.loss

    def record_loss(minibatch, advantages, ent_coef):
        entropies.append(ent_coef)
        known = learner.batch.known[: learner.batch.count]
        assert advantages[: len(known)][known].mean() == pytest.approx(0, abs=1e-5)
        assert advantages[: len(known)][known].std() == pytest.approx(1, abs=1e-3)
        total, sums = loss(minibatch, advantages, ent_coef)
        logs.append(sums.numpy() / len(minibatch))
        parts = torch.autograd.grad(total, learner.parameters, retain_graph=True, materialize_grads=True)
        means.append(torch.cat([part.flatten() for part in parts]) / len(minibatch))
        minibatches.append(minibatch)
        return total, sums

    def record_step():
        gradient = torch.cat([each.grad.flatten() for each in learner.parameters])
        expected = means[-1] * min(limit / means[-1].norm(), 1)
        torch.testing.assert_close(gradient, expected, rtol=1e-2, atol=1e-9 + 1e-4 * expected.abs().max())

    monkeypatch.setattr(learner, "loss", record_loss)
    monkeypatch.setattr(learner.optimizer, "step", record_step)
    num_decisions, told = learner.update(left)
    assert len(logs) == 3 * round(num_decisions / (32 * 100 / 20))
    assert logs[0][2:] == pytest.approx([0, 0], abs=1e-5), "nothing has been learned yet"
    assert learner.buffers[0].log_prob[: learner.buffers[0].count].min() < np.log(0.499)  # not only the best
    assert list(told.values()) == pytest.approx(np.mean(logs, axis=0).tolist(), rel=1e-4)
    share = max(left, 0.05)
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(3e-3 * share)
    assert learner.optimizer.param_groups[0]["eps"] == 1e-5, "as in CleanRL"
    assert entropies == pytest.approx([0.05 * share] * len(entropies))
    passes = [np.concatenate(minibatches[len(logs) // 3 * each :][: len(logs) // 3]) for each in range(3)]
    for each in passes:
        assert np.sort(each).tolist() == np.flatnonzero(learner.batch.known[: learner.batch.count]).tolist()
    assert passes[0].tolist() != passes[1].tolist()
