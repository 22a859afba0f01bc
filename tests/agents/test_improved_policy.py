"""The bot policy: its second network of gains, its file, and its decisions."""

import numpy as np
import pytest
import torch
from played_positions import views_of_policy

from gin_env.agents.base import CLOSE
from gin_env.agents.policies import improved_policy
from gin_env.agents.policies.candidate_network import load_candidate_policy, save_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.improved_policy import (
    LEAST_LOG,
    MIN_CHANCE,
    GainNetwork,
    ImprovedPolicyBot,
    Tried,
    candidate_inputs,
    load_gain_network,
)
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.rules import Rules
from gin_env.observations.candidates import NUM_CONTEXT, NUM_FEATURES, are_discarding
from gin_env.observations.observation import NUM_PLANES, PLANES
from gin_env.observations.views import PlayerView
from gin_env.support.tensor_files import TensorFileError
from research.recipes.gains import TrainedGains

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def views():
    """Views of both players in games of `policy`, in one batch."""
    return PlayerView(np.concatenate([view.array for _, view in views_of_policy(20)]))


@pytest.fixture
def saved(tmp_path):
    """A small network and its file."""
    torch.manual_seed(3)
    network = GainNetwork(hidden=8, channels=4)
    TrainedGains(network, {"command": "none"}).save(tmp_path / "gains.safetensors")
    return network, tmp_path / "gains.safetensors"


def test_gains_treat_the_suits_alike_and_depend_on_every_input():
    torch.manual_seed(1)
    network, order = GainNetwork(8, 4), torch.tensor([2, 0, 3, 1])
    shapes = (5, 11, NUM_FEATURES), (5, 11, 2), (5, NUM_CONTEXT), (5, NUM_PLANES, 4, 13)
    inputs, cards = [torch.rand(shape).requires_grad_() for shape in shapes], torch.randint(52, (5, 11))
    moved = order.argsort()[cards // 13] * 13 + cards % 13
    gains, belief = network(*inputs, cards)
    other_gains, other_belief = network(*inputs[:3], inputs[3][:, :, order], moved)
    torch.testing.assert_close(gains, other_gains)
    torch.testing.assert_close(belief.view(5, 4, 13)[:, order], other_belief.view(5, 4, 13))
    rows, log_chances, context, planes = torch.autograd.grad(gains.square().sum(), inputs)
    assert (log_chances != 0).all()
    assert (rows != 0).any(dim=(0, 1)).all()
    assert (context != 0).all()
    assert (planes != 0).any(dim=(0, 2, 3)).all()


def test_file_returns_the_same_network(saved, views):
    network, path = saved
    loaded, columns = load_gain_network(path)
    assert columns.tolist() == list(range(NUM_PLANES * 52))
    others = ImprovedPolicyBot(0, gains=str(path)), ImprovedPolicyBot(0)
    assert (others[0].act(views) != others[1].act(views)).any()
    assert [bot.files[1] for bot in others] == [path, improved_policy.PACKAGED_GAINS]
    torch.testing.assert_close(loaded.state_dict(), network.state_dict(), rtol=0, atol=0)


def test_file_without_a_plane_reads_the_others(saved):
    """As after a release that adds a plane: the network still reads what it was trained on."""
    _, path = saved
    tensors, described = improved_policy.FORMAT.read_tensors(path)
    kept = [index for index, name in enumerate(PLANES) if name != "own_shown"]
    for layer in ("neighbours", "same_rank"):
        name = f"first_cards.{layer}.weight"
        tensors[name] = tensors[name][:, kept]
    parts = described["reads"]["observation"]
    described["reads"]["observation"] = [part for part in parts if part[0] != "own_shown"]
    sizes = {vector: described["reads"][vector].pop()[1] for vector in ("row", "context")}
    for vector, size in sizes.items():
        tensors[f"{vector}.weight"] = tensors[f"{vector}.weight"][:, :-size]
    improved_policy.FORMAT.write_tensors(path, tensors, described)
    network, columns = load_gain_network(path)
    for vector, size in sizes.items():
        assert not getattr(network, vector).weight[:, -size:].any(), "as little as of a part of the others"
    assert columns.tolist() == [52 * plane + card for plane in kept for card in range(52)]


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("hidden", 9),
        ("hidden", "8"),
        ("channels", 0),
        ("reads", None),
        ("reads", {"row": [], "context": [], "observation": []}),
    ],
)
def test_damaged_description_is_refused(saved, entry, value):
    _, path = saved
    tensors, described = improved_policy.FORMAT.read_tensors(path)
    improved_policy.FORMAT.write_tensors(path, tensors, described | {entry: value})
    with pytest.raises(TensorFileError, match=r"gains\.safetensors"):
        load_gain_network(path)


@pytest.mark.parametrize("change", [list.reverse, list.pop, lambda parts: parts.insert(1, ["turn", 1])])
def test_planes_are_cards_from_the_hand_to_the_estimate(saved, change):
    _, path = saved
    tensors, described = improved_policy.FORMAT.read_tensors(path)
    change(described["reads"]["observation"])
    improved_policy.FORMAT.write_tensors(path, tensors, described)
    with pytest.raises(TensorFileError, match="from the hand to the estimate"):
        load_gain_network(path)


def test_equally_likely_actions_are_in_ascending_order():
    """Cards that differ only in suit have equal chances, up to rounding errors that depend on the batch."""
    chances = np.zeros((2, NUM_ACTIONS))
    chances[:, [17, 43, 30]] = [[0.4, 0.4 + 1e-15, 0.2], [0.4 + 1e-15, 0.4, 0.2]]
    assert Tried.of(chances).actions[:, :3].tolist() == [[17, 43, 30]] * 2


def test_margin_decides_between_policy_and_gains(views):
    policy = CandidatePolicyBot(load_candidate_policy("policy")[0]).act(views)
    for never in (None, 100):
        assert (ImprovedPolicyBot(never).act(views) == policy).all()
    few, many = ((ImprovedPolicyBot(margin).act(views) != policy).sum() for margin in (1.0, 0.0))
    assert 0 < few < many


def test_weights_name_another_policy(views):
    bot = ImprovedPolicyBot(weights="policy-1")
    first, improved = CandidatePolicyBot.shipped_first().act(views), bot.act(views)
    drawing = ~are_discarding(views.array)
    assert (improved[drawing] == first[drawing]).all()
    assert 0 < (improved != first).mean() < 0.2
    assert (bot.action_chances(views).argmax(axis=1) == first).mean() > 0.99


def test_only_probable_discards_replace_the_policy(views):
    bot = ImprovedPolicyBot(margin=0)
    chosen, policy = bot.act(views), bot.policy.act(views)
    changed = np.flatnonzero(chosen != policy)
    assert are_discarding(views.array)[changed].all()
    exact = bot.policy.action_chances(views, exact=True)
    assert 0 < np.abs(exact - bot.action_chances(views)).max() < 1e-4, "in double precision"
    tried = Tried.of(exact)
    assert (tried.actions[changed] == chosen[changed, None]).any(axis=1).all()
    assert views.masks()[np.arange(len(views)), chosen].all()


def test_best_gain_plus_margin_is_played(views):
    """Close calls, also without any difference in single precision, are decided in double precision."""
    bot, discards = ImprovedPolicyBot(), views[are_discarding(views.array)]
    close = improved_policy.are_close(bot.action_chances(discards))
    tried = Tried.of(bot.policy.action_chances(discards, exact=True))
    assert 0 < close.mean() < 1
    assert (bot.tried(discards).log_chances[close] == tried.log_chances[close]).all()
    without_gains = [], [bot.predictor.network], [bot.predictor.network, bot.predictor._exact]
    for margin, networks in zip((0.5, 0.9 * CLOSE, 0.9 * CLOSE), without_gains, strict=True):
        for weights in [each for network in networks for each in network.gains.parameters()]:
            torch.nn.init.zeros_(weights)
        bot.margin, gains = margin, bot.predictor(discards, tried, exact=True)
        gains[:, 0] += margin
        assert (bot.act(discards) == tried.actions[np.arange(len(discards)), gains.argmax(axis=1)]).all()


def test_most_probable_actions_are_tried():
    chances = np.zeros((2, NUM_ACTIONS))
    chances[0, [9, 60, 3, 5, 7]] = 0.3, 0.4, 0.1, 0.1, 0.1
    chances[1, [20, 4]] = 1 - MIN_CHANCE / 2, MIN_CHANCE / 2
    tried = Tried.of(chances)
    assert tried.actions.tolist() == [[60, 9, 3, 5], [20, -1, -1, -1]]
    np.testing.assert_allclose(tried.log_chances[0], np.log([0.4, 0.3, 0.1, 0.1]))
    np.testing.assert_allclose(tried.log_chances[1, 1:], np.log(MIN_CHANCE))


@pytest.mark.parametrize(
    ("chances", "close"),
    [
        ([0.4, 0.3, 0.15, 0.1, 0.05], False),
        ([0.4, 0.3, 0.15, 0.075, 0.075], True),  # of the fourth and the fifth, either may be tried
        ([0.35, 0.35, 0.15, 0.1, 0.05], True),
        ([0.4, 0.3, 0.2, 0.1 - MIN_CHANCE * 1.0001, MIN_CHANCE * 1.0001], True),
        ([0.4, 0.3, 0.2, 0.1 - MIN_CHANCE * 1.1, MIN_CHANCE * 1.1], False),
        ([1 - 2e-8, 1e-8, 1e-8, 0, 0], False),  # not tried at all
    ],
)
def test_close_calls_are_those_that_rounding_can_change(chances, close):
    both = np.zeros((2, NUM_ACTIONS))
    both[0, [9, 60, 3, 5, 7]] = chances
    both[1, 8] = 1
    assert improved_policy.are_close(both).tolist() == [close, False]


def test_inputs_name_chances_cards_and_places():
    actions = np.full((1, 11, 2), -1)
    actions[0, :3] = [[4, -1], [17, 69], [30, 82]]
    tried = Tried(np.array([[69, 4, -1, -1]]), np.log([[0.6, 0.3, 0.1, 0.1]]))
    log_chances, cards, places = candidate_inputs(actions, tried)
    assert cards[0, :3].tolist() == [4, 17, 30]
    assert places.tolist() == [[3, 0, 0, 0]]
    expected = np.full((11, 2), LEAST_LOG)
    expected[1, 1], expected[0, 0] = np.log([0.6, 0.3])
    np.testing.assert_allclose(log_chances[0], expected, rtol=1e-6)


def test_file_warns_under_other_rules_than_its_training(tmp_path, views):
    path = tmp_path / "three.safetensors"
    save_candidate_policy(path, load_candidate_policy("policy")[0], Rules(knock_limit=3))
    bot = ImprovedPolicyBot(weights=str(path))
    with pytest.warns(UserWarning, match="knock_limit=3"):
        assert (bot.act(views) == ImprovedPolicyBot().act(views)).all()


def test_policy_trained_on_hands_does_not_see_scores(tmp_path, views):
    path = tmp_path / "hands.safetensors"
    save_candidate_policy(path, load_candidate_policy("policy")[0], episode="hand")
    at_start, late = (PlayerView(views.array.copy()) for _ in range(2))
    at_start.array["public"]["scores"], late.array["public"]["scores"] = 0, [95, 10]
    chances = [ImprovedPolicyBot(None, str(path)).action_chances(view) for view in (at_start, late)]
    assert np.array_equal(*chances)
