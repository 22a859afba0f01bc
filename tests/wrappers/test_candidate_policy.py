"""The candidate network in torch and Stable-Baselines3, and models trained with MaskablePPO as bots."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hands_in_words import started
from played_positions import as_games, played
from sb3_contrib import MaskablePPO

from gin_env import agents, candidates
from gin_env.agents.policies.candidate_network import (
    IMPOSSIBLE,
    CandidateScorer,
    load_candidate_policy,
    save_candidate_policy,
)
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.policy import PolicyBot, check_inputs
from gin_env.agents.policies.sb3_archives import ArchiveError, candidate_network_of, convert_archive
from gin_env.batch import Games
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, OVER
from gin_env.observations.candidates import DRAW_ROWS, ENTRIES, NO_ACTION
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy


def new_model(env=None, **settings) -> MaskablePPO:
    env = env or GinRummyVecEnv(8, "simple", seed=1, candidates=True)
    model = MaskablePPO(
        SB3CandidatePolicy,
        env,
        n_steps=16,
        batch_size=64,
        n_epochs=1,
        seed=3,
        device="cpu",
        policy_kwargs={"hidden": 12} | settings,
    )
    model.gin_env = env.describe_training()
    return model


@pytest.fixture(scope="module")
def model() -> MaskablePPO:
    """Return a model after two updates."""
    return new_model().learn(2 * 8 * 16)


@pytest.mark.parametrize("policy", [SB3CandidatePolicy, CardPolicy])
def test_options_of_the_optimizer_are_its_own(policy, tmp_path):
    env = GinRummyVecEnv(2, "simple", candidates=policy is SB3CandidatePolicy)
    spaces = env.observation_space, env.action_space
    options = {"optimizer_class": torch.optim.AdamW, "optimizer_kwargs": {"weight_decay": 0.25}}
    made = policy(*spaces, lambda share: 0.5 * share, **options)
    optimizer = made.optimizer
    made.save(tmp_path / "policy")
    again = policy.load(tmp_path / "policy").optimizer
    assert (type(again), again.param_groups[0]["weight_decay"]) == (torch.optim.AdamW, 0.25)
    (group,) = optimizer.param_groups
    assert isinstance(optimizer, torch.optim.AdamW)
    assert (group["lr"], group["weight_decay"]) == (0.5, 0.25)


@pytest.fixture(scope="module")
def positions() -> Games:
    """Return a mix of draws and discards with scores of 0, as in training on hands."""
    states = played("simple").states
    some = as_games(states[states["public"]["phase"] != OVER], Rules())
    some.state["public"]["scores"] = 0
    return some


@pytest.fixture(scope="module")
def observations(positions) -> dict[str, np.ndarray]:
    """Return the environments' entries with a flat vector of NaN, which must not be used."""
    entries = dict(zip(ENTRIES, positions.candidates(positions.everyone), strict=True))
    return entries | {"observation": np.full((len(positions), OBSERVATION_SIZE), np.nan, np.float32)}


def tensors(observations) -> list[torch.Tensor]:
    return [torch.from_numpy(observations[name]) for name in ENTRIES]


# --- Network --------------------------------------------------------------------------------------------


def test_sb3_and_torch_agree_on_logits_and_values(model, observations, tmp_path):
    save_policy(model, tmp_path / "policy.safetensors")
    network, _, _ = load_candidate_policy(tmp_path / "policy.safetensors")
    policy = model.policy
    with torch.no_grad():
        logits, values = network.action_logits(*tensors(observations))
        seen, _ = policy.obs_to_tensor(observations)
        ours = policy.mlp_extractor(policy.extract_features(seen, policy.features_extractor))
        assert torch.equal(ours[0], logits)
        assert torch.equal(ours[1][:, 0], values)
        assert torch.equal(policy.predict_values(seen)[:, 0], values)
        chances = torch.softmax(logits, dim=1)
        np.testing.assert_allclose(policy.get_distribution(seen).distribution.probs, chances, atol=1e-6)


def test_action_logit_is_the_score_of_its_candidate(positions, observations):
    torch.manual_seed(1)
    network = CandidateScorer(12)
    discarding = positions.state["public"]["phase"] == DISCARD
    assert 0.2 < discarding.mean() < 0.8
    with torch.no_grad():
        logits, values = network.action_logits(*tensors(observations))
        for group, number in ((~discarding, DRAW_ROWS), (discarding, 11)):
            rows, actions, table = (entry[group] for entry in tensors(observations))
            actions = actions[:, :number].flatten(1)
            scores, worth = network(rows[:, :number], actions != NO_ACTION, table)
            assert torch.equal(values[group], worth)
            for row in range(len(actions)):
                expected = torch.full((107,), IMPOSSIBLE)
                possible = actions[row] != NO_ACTION
                expected[actions[row, possible]] = scores[row, possible]
                assert torch.equal(logits[group][row], expected)


def test_illegal_actions_have_zero_probability_without_masks_too(model, positions, observations):
    masks = positions.masks(positions.everyone)
    seen, _ = model.policy.obs_to_tensor(observations)
    for given in (masks, None):
        with torch.no_grad():
            chances = model.policy.get_distribution(seen, given).distribution.probs.numpy()
        assert not chances[masks == 0].any()
        assert (chances[masks == 1] > 0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-5)


def test_gradients_through_sb3_equal_those_of_torch(positions, observations):
    model = new_model()
    chosen = torch.from_numpy(positions.masks(positions.everyone).argmax(axis=1))
    seen, _ = model.policy.obs_to_tensor(observations)
    values, log_chances, _ = model.policy.evaluate_actions(seen, chosen, positions.masks(positions.everyone))
    (log_chances.mean() + values.mean()).backward()
    network = CandidateScorer(12)
    network.load_state_dict(model.policy.mlp_extractor.network.state_dict())
    logits, values = network.action_logits(*tensors(observations))
    of_chosen = torch.log_softmax(logits, dim=1).gather(1, chosen[:, None])
    (of_chosen.mean() + values.mean()).backward()
    for name, weights in network.named_parameters():
        ours = model.policy.mlp_extractor.network.get_parameter(name).grad
        assert weights.grad.any(), name
        torch.testing.assert_close(ours, weights.grad, rtol=1e-3, atol=1e-6)


# --- Bots -----------------------------------------------------------------------------------------------


def predicted(model, positions, observations) -> np.ndarray:
    masks = positions.masks(positions.everyone)
    return model.predict(observations, deterministic=True, action_masks=masks)[0]


def test_saved_model_is_a_bot_that_plays_the_models_predictions(model, positions, observations, tmp_path):
    save_policy(model, tmp_path / "policy.safetensors")
    bot = agents.make(str(tmp_path / "policy.safetensors"))
    assert isinstance(bot, CandidatePolicyBot)
    expected = predicted(model, positions, observations)
    assert len(set(expected.tolist())) > 40
    view = positions.views(positions.everyone)
    actions = bot.act(view)
    assert (actions == expected).mean() > 0.995
    logits, _ = bot.network.action_logits(*tensors(observations))
    best, other = (logits.detach().numpy()[np.arange(len(view)), each] for each in (actions, expected))
    np.testing.assert_allclose(best, other, atol=1e-6, err_msg="SB3 rounds: it may take another equal one")
    assert np.array_equal(CandidatePolicyBot.snapshot(model, deterministic=True).act(view), actions)
    model.save(tmp_path / "model.zip")
    for deterministic in (True, False):
        expected_actions = CandidatePolicyBot.snapshot(model, deterministic).act(view)
        for name in ("model.zip", "policy.safetensors"):
            bot = agents.make(str(tmp_path / name), deterministic=deterministic)
            assert np.array_equal(bot.act(view), expected_actions)
    convert_archive(tmp_path / "model.zip", tmp_path / "converted.safetensors")
    assert np.array_equal(agents.make(str(tmp_path / "converted.safetensors")).act(view), actions)
    again = MaskablePPO.load(tmp_path / "model.zip", device="cpu")
    assert np.array_equal(predicted(again, positions, observations), expected)
    assert again.policy.hidden == 12


def test_bot_and_model_agree_in_the_single_environment(model):
    env = GinRummyEnv("simple", candidates=True)
    bot = CandidatePolicyBot.snapshot(model, deterministic=True)
    observation, info = env.reset(seed=2)
    over = False
    while not over:
        action, _ = model.predict(observation, deterministic=True, action_masks=info["action_mask"])
        assert action == bot.act(env.seat.games.views(np.array([0])))[0]
        observation, _, over, _, info = env.step(action)


def test_snapshot_is_frozen_and_can_be_an_opponent():
    model = new_model()
    frozen = CandidatePolicyBot.snapshot(model, name="past")
    before = [weights.clone() for weights in frozen.network.parameters()]
    model.env.set_opponents([frozen, "simple"])
    model.learn(8 * 16)
    assert all(torch.equal(*pair) for pair in zip(before, frozen.network.parameters(), strict=True))
    now = model.policy.mlp_extractor.network.parameters()
    assert not all(torch.equal(*pair) for pair in zip(before, now, strict=True))
    assert (frozen.name, frozen.deterministic) == ("past", False)


@pytest.mark.parametrize("episode", ["hand", "game"])
def test_rules_and_episode_are_kept_and_hands_hide_scores(episode, tmp_path):
    rules = Rules(knock_limit=7)
    env = GinRummyVecEnv(8, "simple", rules, episode=episode, seed=1, candidates=True)
    model = new_model(env)
    path = tmp_path / "policy.safetensors"
    save_policy(model, path)
    model.save(tmp_path / "model.zip")
    convert_archive(tmp_path / "model.zip", tmp_path / "converted.safetensors")
    paths = path, tmp_path / "model.zip", tmp_path / "converted.safetensors"
    for bot in (*(agents.make(str(each)) for each in paths), CandidatePolicyBot.snapshot(model)):
        assert (bot.rules, bot.sees_scores) == ((rules,), episode == "game")
        seen = []
        bot.network.register_forward_pre_hook(lambda _, inputs, seen=seen: seen.append(inputs[2].clone()))
        games = started(4, rules, seed=0)
        games.state["public"]["scores"] = [50, 70]
        bot.act(games.views(games.everyone))
        context = seen[0].numpy()
        columns = {name: context[:, index] for index, name in enumerate(candidates.CONTEXT)}
        assert bool(columns["own_score"].any() or columns["opponent_score"].any()) == (episode == "game")
        assert columns["stock_left"].any()


def test_policy_with_memory_is_saved_converted_and_plays_its_predictions(tmp_path):
    env = GinRummyVecEnv(8, "simple", episode="game", seed=1, candidates=True, memory=True)
    model = new_model(env)
    with torch.no_grad():
        for scores in (model.policy.mlp_extractor.network.draws, model.policy.mlp_extractor.network.discards):
            torch.nn.init.normal_(scores.memory.to_first.weight)
    model.learn(2 * 8 * 16)
    save_policy(model, tmp_path / "policy.safetensors")
    model.save(tmp_path / "model.zip")
    convert_archive(tmp_path / "model.zip", tmp_path / "converted.safetensors")
    names = [str(tmp_path / f"{name}.safetensors") for name in ("policy", "converted")]
    bots = [agents.make(name) for name in names] + [CandidatePolicyBot.snapshot(model, deterministic=True)]
    observations, known, same, num_decisions = env.reset(), 0, 0, 0
    for _ in range(200):
        view = env.seat.games.views(env.seat.games.everyone, 0)
        actions = [bot.act(view) for bot in bots]
        assert np.array_equal(actions[0], actions[1])
        assert np.array_equal(actions[0], actions[2])
        expected = model.predict(observations, deterministic=True, action_masks=env.action_masks())[0]
        same, num_decisions = same + (actions[0] == expected).sum(), num_decisions + len(expected)
        known += observations["memory"].any()
        observations = env.step(agents.make("simple").act(view))[0]
    assert known > 50
    assert same > 0.995 * num_decisions
    without = GinRummyVecEnv(2, "simple", episode="game", seed=1, candidates=True)
    with pytest.raises(ValueError, match="the policy reads 'memory', which this environment does not show"):
        model.predict(without.reset())
    model.gin_env = without.describe_training()
    with pytest.raises(ValueError, match="trained on the candidates of this release"):
        save_policy(model, tmp_path / "other.safetensors")


# --- Invalid use ----------------------------------------------------------------------------------------


def test_mismatched_policy_and_environment_say_what_to_do(model):
    with pytest.raises(ValueError, match=r"make it with candidates=True, as in GinRummyVecEnv\(256, cand"):
        MaskablePPO(SB3CandidatePolicy, GinRummyVecEnv(2))
    with pytest.raises(ValueError, match="make the environment without candidates=True"):
        MaskablePPO(CardPolicy, model.env, policy_kwargs={"net_arch": [8]})
    with pytest.raises(ValueError, match="write a bot that makes its inputs"):
        PolicyBot.snapshot(model)
    with pytest.raises(ValueError, match=r"reads action_mask, memory, observation, not the observation"):
        check_inputs(GinRummyEnv(memory=True, episode="game").observation_space, "a policy")
    flat = MaskablePPO(CardPolicy, GinRummyVecEnv(2), policy_kwargs={"net_arch": [8]}, device="cpu")
    with pytest.raises(ValueError, match=r"is a CardPolicy, which scores no candidates: PolicyBot\.snapshot"):
        CandidatePolicyBot.snapshot(flat)
    with pytest.raises(TypeError, match="unexpected keyword argument 'net_arch'"):
        new_model(net_arch=[64])
    with pytest.raises(ValueError, match=r"a layer's size must be from .* not 0"):
        new_model(hidden=0)


def test_unreadable_policies_are_not_written(tmp_path):
    class Bolder(SB3CandidatePolicy):
        pass

    path = tmp_path / "policy.safetensors"
    env = GinRummyVecEnv(2, candidates=True)
    model = MaskablePPO(Bolder, env, device="cpu")
    model.gin_env = env.describe_training()
    with pytest.raises(ValueError, match="Bolder cannot be written: it may do more than SB3CandidatePolicy"):
        save_policy(model, path)
    model = new_model()
    for training, message in (
        ({"reads": {"row": [["rank", 13]]}}, "trained on the candidates of this release"),
        ({"reads": None}, "set model.gin_env = env.describe_training"),
        ({"episode": "week"}, "unknown episode 'week'"),
        ({"rules": {"cards": 3}}, "does not say how it was trained"),
    ):
        model.gin_env = env.describe_training() | training
        with pytest.raises(ValueError, match=message):
            save_policy(model, path)
    model.gin_env = None
    del model.observation_space.gin_env
    for use in (lambda: save_policy(model, path), lambda: CandidatePolicyBot.snapshot(model)):
        with pytest.raises(ValueError, match=r"set model\.gin_env = env\.describe_training\(\) first"):
            use()
    with pytest.raises(ValueError, match="unknown episode 'week'; choose from hand, game"):
        save_candidate_policy(path, CandidateScorer(4), episode="week")
    assert not list(tmp_path.iterdir())


def test_mismatched_archive_is_refused(model, tmp_path):
    weights = model.policy.state_dict()
    assert candidate_network_of(weights).hidden == 12
    row = "mlp_extractor.network.draws.row_second.weight"
    for change, message in (
        ({row: None}, "is not a tensor of weights"),
        ({row: torch.zeros(11, 12)}, "does not match its own architecture"),
        ({row: torch.full((12, 12), torch.nan)}, "are not finite"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            candidate_network_of(weights | change)
    with pytest.raises(ValueError, match=r"weights draws\.row_second\.weight are missing"):
        candidate_network_of({name: tensor for name, tensor in weights.items() if name != row})
    other = new_model()
    other.gin_env = other.gin_env | {"reads": {}}
    other.save(tmp_path / "model.zip")
    with pytest.raises(ArchiveError, match=r"model\.zip cannot be read: .* trained on the candidates"):
        convert_archive(tmp_path / "model.zip", tmp_path / "policy.safetensors")
    assert not (tmp_path / "policy.safetensors").exists()
