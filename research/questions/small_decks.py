"""How far lower bounds of exploitability fall short: exact values in small decks next to what was found.

In the decks of `research.small_games.small_gin.DECKS` the best response to a bot can be computed. The table
compares it with three ways of finding one in the full game: a learner that trains against the bot by PPO, a
search that knows the bot, and a local best response, which looks one action ahead and then plays like
`simple`. What they win is evaluated exactly, so it has no sampling error. All play the information sets that
the bot lets them reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gin_env import agents
from gin_env.agents import Agent
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.search.best_response import BestResponseBot
from gin_env.game.rules import Rules
from gin_env.training.exploiter import settings_against
from gin_env.training.learner import Learner
from research.questions import learner_variants
from research.reproduce.experiment import Run, named
from research.reproduce.tables import Row
from research.small_games import expected_value, exploitability
from research.small_games.best_response import local_best_response
from research.small_games.gin_tree import GinTree, bot_vector, deck_tree
from research.small_games.small_gin import DECKS

DECISIONS = 300_000
"""Number of decisions that each learner learns from."""
SAMPLES = 32
REPEATS = 32
"""Number of random numbers with which a bot is asked in each information set."""
SLOW = f"search:samples={SAMPLES}"
"""A bot too slow to train against; only its exact exploitability is measured."""
AFTERWARDS = "simple"
"""The bot that a local best response continues as."""


def measure_small_decks(run: Run, cards: int, bots: Sequence[str] = ()) -> list[Row]:
    """Measure some bots (default: every quick one, and `SLOW`) in a deck of this many cards."""
    tree = deck_tree(min(DECKS) if run.quick else cards)
    rules = tree.game.rules
    afterwards = bot_vector(tree, agents.make(AFTERWARDS))
    rows = []
    bots = bots or (*agents.quick_names(), SLOW)
    for bot in run.some(bots, 3)[run.quick :]:
        run.used(bot)
        repeats = 1 if bot == SLOW else REPEATS
        strategy = tree.vector({}) if bot == "random" else bot_vector(tree, agents.make(bot), repeats)
        row: Row = {"cards": cards, "bot": bot, "exact": exploitability(tree, strategy)}
        run.say(f"{bot}: exact exploitability {row['exact']:.4f}")
        rows.append(row)
        if bot == SLOW:
            continue
        reached = reachable(tree, strategy)
        learned = bot_vector(tree, train_learner(run, bot, rules), 1, reached)
        row["ppo"] = value_against(tree, strategy, learned)
        found = bot_vector(tree, BestResponseBot(bot, run.size(SAMPLES, 2)), 1, reached)
        row["search"] = value_against(tree, strategy, found)
        local = local_best_response(tree, strategy, afterwards)
        row["local"] = value_against(tree, strategy, local)
        run.say(f"{bot}: {row}")
    return rows


def reachable(tree: GinTree, strategy: np.ndarray) -> np.ndarray:
    """Return the information sets with a choice that chance and an opponent with this strategy let one reach.

    They are int64 (k,), for a strategy float64 (Q,).
    """
    reach = tree.reach_probabilities(strategy)
    reached = np.zeros(len(tree.records), np.bool_)
    for player, edges in enumerate(tree.edges):
        parents = tree.parent[edges]
        possible = reach[1 - player, parents] * reach[2, parents] > 0
        reached[tree.owners[tree.sequence[edges[possible]]]] = True
    return np.flatnonzero(reached & (np.bincount(tree.owners) > 1))


def value_against(tree: GinTree, strategy: np.ndarray, response: np.ndarray) -> float:
    """Return the points per hand that a response wins against a strategy, in the mean of both seats."""
    values = [
        (1 - 2 * player) * expected_value(tree, np.where(tree.sequence_player == player, response, strategy))
        for player in (0, 1)
    ]
    return sum(values) / 2


def train_learner(run: Run, bot: str, rules: Rules) -> Agent:
    """Return a policy that was trained by PPO against one bot in a small deck."""
    settings = settings_against(
        bot, Path("unused"), total_timesteps=run.size(DECISIONS, 2000), seed=run.seed + 1, workers=1,
        num_envs=256, num_minibatches=16, learning_rate=2e-3, ent_coef=0.01, match_reward=False,
        rules=(rules.text,),
    )  # fmt: skip
    learner, _ = learner_variants.learn(Learner, settings)
    return named(CandidatePolicyBot(learner.network.eval()), f"learner against {bot}")


def with_shares(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the shares of the exact value that the methods found, in per cent."""
    methods = ("ppo", "search", "local")
    return [
        row | {f"{one}_share": 100 * row[one] / row["exact"] for one in methods if one in row} for row in rows
    ]
