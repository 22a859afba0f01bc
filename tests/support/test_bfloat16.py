"""Products in bfloat16 depend on nothing behind their inputs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from gin_env.agents.policies.candidate_network import NUM_CONTEXT, CandidateScorer  # noqa: E402
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot  # noqa: E402
from gin_env.matches.matches import play_match  # noqa: E402
from gin_env.observations.candidates import NUM_FEATURES  # noqa: E402
from gin_env.support.torch_extra import multiply  # noqa: E402


@pytest.mark.parametrize("num_rows", [2, 11])
@pytest.mark.parametrize("count", [1, 20, 63, 100])
def test_decisions_do_not_depend_on_the_following_ones(num_rows, count):
    """The learner's batches have padding that has never been written."""
    network, size = CandidateScorer(16), count + 20
    network.draws.use_bfloat16 = network.discards.use_bfloat16 = True
    rows, table = torch.rand(size, num_rows, NUM_FEATURES), torch.rand(size, NUM_CONTEXT)
    possible = torch.ones(size, 2 * num_rows, dtype=torch.bool)
    with torch.inference_mode():
        expected, _ = network(rows, possible, table)
        rows[count:], table[count:] = torch.nan, torch.nan
        logits, values = network(rows, possible, table)
    assert torch.equal(logits[:count], expected[:count])
    assert values[:count].isfinite().all()


@pytest.mark.parametrize("size", [58, 59])
def test_products_are_those_of_the_layer(size):
    layer, inputs = torch.nn.Linear(size, 3), torch.rand(7, size, requires_grad=True)
    assert torch.equal(multiply(layer, inputs), layer(inputs))
    with torch.autocast("cpu", torch.bfloat16):
        products, usual = multiply(layer, inputs), layer(inputs)
    torch.testing.assert_close(products, usual)
    products.float().sum().backward()
    assert layer.weight.grad.shape == (3, size)
    torch.testing.assert_close(layer.weight.grad, inputs.sum(0).expand(3, -1), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("size", [58, 59])
def test_products_in_float64_are_exact_under_autocast(size):
    """A policy decides close calls in float64, also with the network of a learner."""
    layer, inputs = torch.nn.Linear(size, 3).double(), torch.rand(7, size, dtype=torch.float64)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(multiply(layer, inputs), layer(inputs))


def test_learners_network_plays_in_bfloat16():
    torch.manual_seed(1)
    network = CandidateScorer(16)
    network.draws.use_bfloat16 = network.discards.use_bfloat16 = True
    assert play_match(CandidatePolicyBot(network), "random", 2, seed=1, episode="hand").games == 2
