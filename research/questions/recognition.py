"""The memory of earlier hands: what it shows of the opponent, and what a policy that reads it wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from gin_env import agents
from gin_env.agents.policies.improved_policy import ImprovedPolicyBot
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.observations.memory import LAYOUT, NUM_MEMORY
from gin_env.observations.views import PlayerView
from research.reproduce.experiment import Run, match_row, more_than, named
from research.reproduce.tables import Row

# --- Recognition ----------------------------------------------------------------------------------------

POOLS = (
    ("simple", "tonic", "policy-1"),
    ("simple", "simple:knock_at=0", "tonic", "generation", "medium", "cfr", "policy-1"),
)
"""The bots among which a classifier chooses."""
HANDS = (1, 2, 4)
NUM_GAMES = 6000
"""Number of games of `policy-1` against each bot."""
SUBSETS = {"all numbers": NUM_MEMORY, "the numbers up to `upcards`": list(LAYOUT).index("upcards") + 1}
"""How many of the numbers a classifier reads, from the first."""


def measure_recognition(run: Run) -> list[Row]:
    """Measure how often a small network names the bot from what `policy-1` remembers of it."""
    bots = dict.fromkeys(bot for pool in POOLS for bot in pool)
    run.used(*bots)
    num_games, memories, lengths = run.size(NUM_GAMES), {}, {}
    for bot in bots:
        run.say(f"policy-1 against {bot}")
        memories[bot], lengths[bot] = remembered(bot, num_games, run.seed)
    rows: list[Row] = [{"bot": bot, "hands_per_game": round(mean, 3)} for bot, mean in lengths.items()]
    for pool in POOLS:
        for hands in run.some(HANDS):
            for subset, size in SUBSETS.items():
                samples = [memories[bot][hands][:, :size] for bot in pool]
                share = round(100 * recognised(samples, run.seed, run.size(60, 2)), 1)
                rows.append({"pool": len(pool), "hands": hands, "reads": subset, "recognised": share})
    return rows


def remembered(bot: str, num_games: int, seed: int) -> tuple[dict[int, np.ndarray], float]:
    """Return what `policy-1` remembers of a bot after each of `HANDS`, and the mean number of hands.

    The memories are float32 (games, NUM_MEMORY), of the games that have more hands; the mean is per game.
    """
    games, players = Games(num_games, episode="game"), (agents.make("policy-1"), agents.make(bot))
    games.start(seed=seed)
    found: dict[int, list[np.ndarray]] = {hands: [] for hands in HANDS}
    for playing in games.until_over():
        play_seated(games, players, games.to_move()[playing], playing, play_bot)
        begun = playing[games.results["ended"][playing] & ~games.done[playing]]
        numbers = games.state["public"]["hand_number"][begun]
        for hands in HANDS:
            found[hands].append(games.memories(begun[numbers == hands], 0))
    num_hands = games.state["public"]["hand_number"].mean() + 1
    return {hands: np.concatenate(parts) for hands, parts in found.items()}, float(num_hands)


def recognised(samples: Sequence[np.ndarray], seed: int, epochs: int) -> float:
    """Return the share of the held-out third of the samples whose bot a small network names.

    `samples` has an array for each bot; all count alike.
    """
    torch.manual_seed(seed)
    size = min(map(len, samples))
    order = np.random.default_rng(seed).permutation(size * len(samples))
    inputs = torch.from_numpy(np.concatenate([sample[:size] for sample in samples])[order])
    bots = torch.from_numpy(np.repeat(np.arange(len(samples)), size)[order])
    num_learned = 2 * len(order) // 3
    network = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], 64), torch.nn.ReLU(), torch.nn.Linear(64, len(samples))
    )
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(epochs):
        for batch in torch.randperm(num_learned).split(256):
            loss = torch.nn.functional.cross_entropy(network(inputs[batch]), bots[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        named = network(inputs[num_learned:]).argmax(dim=1)
    return float((named == bots[num_learned:]).float().mean())


# --- The policy that remembers --------------------------------------------------------------------------

REMEMBERS, CONTROL = "policy-memory", "policy"


class ForgetfulBot(ImprovedPolicyBot):
    """Plays every hand as if it were the first of a game."""

    def act(self, view: PlayerView) -> np.ndarray:
        first_hands = PlayerView.of_array(view.array.copy())
        for field in ("memory", "hand_number"):
            first_hands.array["public"][field] = 0
        return super().act(first_hands)


def forgetful() -> ImprovedPolicyBot:
    """Return `policy-memory` in a game that always seems to begin."""
    return named(ForgetfulBot.with_memory(), f"{REMEMBERS} that forgets")


def measure_policy_memory(run: Run, opponents: Sequence[str], hidden: Sequence[str]) -> list[Row]:
    """Measure `policy-memory`, and its gain over `policy` and without its memory on the same decks.

    It plays the opponents in `hidden` also without its memory.
    """
    blind, rows = forgetful(), []
    for opponent in run.some(opponents):
        match = run.match(REMEMBERS, opponent, 20_000)
        row = match_row(match)
        rows.append(row)
        compared = ("gain", CONTROL, opponent != CONTROL), ("more", blind, opponent in hidden)
        for name, other, plays in compared:
            if plays:
                plain = run.match(other, opponent, 20_000)
                row |= more_than(match, plain, name)
                rows.append(match_row(plain))
    return rows
