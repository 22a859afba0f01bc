"""OpenSpiel's Deep CFR learns a deck of six cards, where its exploitability is exact and is seen to fall."""

import pyspiel
import torch
from measure import Run
from open_spiel.python import policy
from open_spiel.python.algorithms import exploitability
from open_spiel.python.pytorch import deep_cfr

import gin_env.wrappers.openspiel  # noqa: F401 (registers the game)

RULES = "ranks=3,suits=2,hand_size=2,stock_floor=0,max_turns=2,knock_limit=3"
ITERATIONS, TRAVERSALS = 2, 100  # between two lines that are printed

run = Run("open_spiel", opponent="its best response")
torch.set_num_threads(1)
game = pyspiel.load_game("python_gin_env", {"rules": RULES})
learner = deep_cfr.DeepCFRSolver(
    game,
    policy_network_layers=(64, 64),
    advantage_network_layers=(64, 64),
    num_iterations=ITERATIONS,
    num_traversals=TRAVERSALS,
    learning_rate=1e-3,
    batch_size_advantage=256,
    batch_size_strategy=256,
    memory_capacity=100_000,
    policy_network_train_steps=300,
    advantage_network_train_steps=300,
    seed=run.seed,
)


def score(choice=learner.action_probabilities):
    """Return what the policy wins a hand, in points / 100, against an opponent that knows it."""
    return -exploitability.exploitability(game, policy.tabular_policy_from_callable(game, choice))


def at_random(state):
    return policy.UniformRandomPolicy(game).action_probabilities(state)


run.begin(score=lambda: score(at_random))
print(f"at random: exploitable by {-100 * run.before:.2f} points a hand")
after = run.before
while not run.over():
    learner.solve()  # some iterations more; it goes on from where it is
    run.steps += 2 * ITERATIONS * TRAVERSALS
    after = score()
    print(f"{run.steps:,} traversals: exploitable by {-100 * after:.2f} points a hand", flush=True)
run.finish(after)
