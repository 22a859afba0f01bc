"""How far lower bounds of exploitability fall short: exact values in small decks next to what was found.

In a deck of eight cards (`research.small_games.small_gin.TINY`) the best response to a bot can be computed.
The table compares it with the two ways of finding one in the full game: a learner that trains against the
bot by PPO, and a search that knows the bot. What they win is evaluated exactly, so it has no sampling error.
Both play all information sets that the bot lets them reach.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gin_env import agents
from gin_env.agents import Agent
from research.reproduce.experiment import Run
from research.reproduce.tables import Cell, Row
from research.small_games import GameTree, best_response, expected_value
from research.small_games.game import Strategy
from research.small_games.small_gin import TINY, GinState, SmallGin, bot_strategy, decision_states

DECISIONS = 300_000
"""Number of decisions that each learner learns from."""
SAMPLES = 32
REPEATS = 32
"""Number of random numbers with which a bot is asked in each information set."""


def measure_small_decks(run: Run) -> list[Row]:
    """Measure every quick bot."""
    game = SmallGin(TINY)
    tree, states = GameTree(game), decision_states(game)
    rows = []
    for bot in run.some(agents.quick_names(), 3)[run.quick :]:
        run.used(bot)
        strategy = {} if bot == "random" else bot_strategy(game, agents.make(bot), REPEATS, states)
        best = [best_response(tree, strategy, player)[0] for player in (0, 1)]
        row = {"bot": bot, "exact": sum(best) / 2}
        run.say(f"{bot}: exact exploitability {row['exact']:.4f}")
        reached = reachable(tree, strategy, states)
        learned = bot_strategy(game, train_learner(run, bot), 1, reached)
        row["ppo"] = value_against(tree, strategy, learned)
        found = bot_strategy(game, search_response(run, bot), 1, reached)
        row["search"] = value_against(tree, strategy, found)
        run.say(f"{bot}: {row}")
        rows.append(row)
    return rows


def reachable(
    tree: GameTree, strategy: Strategy, states: dict[Hashable, GinState]
) -> dict[Hashable, GinState]:
    """Return the states with a choice that chance and an opponent with this strategy let a player reach."""
    reach = tree.reach_probabilities(tree.vector(strategy))
    reached = np.zeros(len(tree.information_sets), np.bool_)
    for player, edges in enumerate(tree.edges):
        parents = tree.parent[edges]
        possible = reach[1 - player, parents] * reach[2, parents] > 0
        sets = np.searchsorted(tree.first_sequence, tree.sequence[edges[possible]], "right") - 1
        reached[sets] = True
    keys = zip(tree.information_sets, tree.actions, reached, strict=True)
    return {key: states[key] for key, actions, possible in keys if possible and len(actions) > 1}


def value_against(tree: GameTree, strategy: Strategy, response: Strategy) -> float:
    """Return the points per hand that a response wins against a strategy, in the mean of both seats."""
    owners = dict(zip(tree.information_sets, tree.player.tolist(), strict=True))
    values = []
    for player in (0, 1):
        own = {key: row for key, row in response.items() if owners[key] == player}
        other = {key: row for key, row in strategy.items() if owners[key] != player}
        values.append((1 - 2 * player) * expected_value(tree, other | own))
    return sum(values) / 2


def train_learner(run: Run, bot: str) -> Agent:
    """Return a policy that was trained by PPO against one bot in the small deck."""
    from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
    from gin_env.training.exploiter import settings_against
    from gin_env.training.learner import Learner
    from research.questions.learner_variants import learn

    decisions = run.size(DECISIONS, 2000)
    settings = settings_against(bot, Path("unused"), total_timesteps=decisions, seed=run.seed + 1, workers=1)
    settings = replace(settings, num_envs=256, num_minibatches=16, match_reward=False, rules=(TINY.text,))
    learner, _ = learn(Learner, settings)
    trained = CandidatePolicyBot(learner.network.eval())
    trained.name = f"learner against {bot}"
    return trained


def search_response(run: Run, bot: str) -> Agent:
    """Return the search that knows one bot."""
    from gin_env.agents.search.best_response import BestResponseBot

    return BestResponseBot(bot, run.size(SAMPLES, 2))


def share(method: str) -> Cell:
    """Return the cell of a bound with its share of the exact value, such as ``1.204 (93 %)``."""
    return lambda row: (
        f"{row[method]:.3f} ({100 * row[method] / row['exact']:.0f} %)" if method in row else ""
    )


found_by_ppo, found_by_search = share("ppo"), share("search")
