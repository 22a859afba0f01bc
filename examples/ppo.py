"""Masked PPO on candidates: learn Gin Rummy from nothing, in one file and plain PyTorch.

    python examples/ppo.py --minutes 6 --run runs/first          # watch it learn
    python examples/ppo.py --minutes 60 --run runs/first --resume
    tensorboard --logdir runs/first                              # losses, win rates
    gin-rummy match runs/first/policy.safetensors simple         # the trained policy is a bot

The learner plays both seats of most tables, so that nearly every decision teaches something; at the others a
league sits opposite: bots, and the learner's own past. Each decision is a choice among candidates
(`gin_env.observations.candidates`), which the network scores one by one. A player's decisions in a hand are a
chain of their own: nothing that is learned crosses the end of a hand, or goes from one player to the other.
Decisions without a choice are played and not learned.

A run folder holds checkpoint.safetensors (the whole run, at one moment), policy.safetensors (a bot by its
path), evaluations.csv, learning_curve.png and TensorBoard logs. The checkpoint is replaced at once, each
minute or so: a run that was killed at any moment, or stopped by Ctrl-C, goes on with --resume from there
exactly as if it had not been. (What the clock decides, the learning rate and the end, differs from run to
run; with --decisions instead of --minutes nothing does.)
"""

from __future__ import annotations

import copy
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

# Threads that wait must sleep: spinning ones ruin each other on shared cores. Read by torch at import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
import tyro
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from gin_env import agents
from gin_env.agents.policies.candidate_network import (
    CandidatePolicy,
    find_candidate_policy,
    save_candidate_policy,
)
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.policy import sample_actions
from gin_env.agents.turns import play_on
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.match_odds import chances_to_win
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.matches.matches import play_match
from gin_env.matches.provenance import describe_bot
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NO_ACTION, NUM_CONTEXT, NUM_FEATURES
from gin_env.support.atomic import remove_partials
from gin_env.support.exits import one_line_errors
from gin_env.support.files import write_csv
from gin_env.support.memory import keep_freed_memory
from gin_env.support.plots import new_figure, origin_line, save_figure, sign_figure
from gin_env.support.tensor_files import read_tensors, write_tensors

KIND, VERSION = "PPO checkpoint", "2"
CHECKPOINT, POLICY = "checkpoint.safetensors", "policy.safetensors"
OF_THE_SESSION = ("run", "minutes", "decisions", "resume", "threads", "device", "record")
"""Settings that a resumed run takes from its command line; the others are the run's own."""
FORGET = 0.95
"""Results of the league and points of hands are remembered by this much from one rollout to the next."""
MOST_POINTS = 150
"""No hand pays as much."""
UNTIL_KNOWN = 25
"""Points that each hand is taken to pay before the first rollout."""
Part = TypeVar("Part")
Result = TypeVar("Result")
SELF = -1
"""Who sits opposite: the learner herself. The others are numbers in the league."""


@dataclass
class Settings:
    """Everything that defines a run; the defaults learn fast on two CPU cores."""

    run: Path = Path("runs/ppo")
    """Folder for everything that the run writes; a new run needs a new or empty one."""
    minutes: float = 6.0
    """Stop when the run has trained for so many minutes (evaluations and earlier sessions included)."""
    decisions: int = 0
    """Stop after this number of decisions instead, whatever the clock says; 0: after `minutes`."""
    resume: bool = False
    """Go on with the run in the folder, with its own settings, up to `minutes` or `decisions` in total."""
    seed: int = 1
    """Seed of decks, network and exploration."""
    device: str = "cpu"
    """Where PyTorch computes: cpu, cuda (tried on no GPU yet), ..."""
    threads: int = 2
    """Cores to use: tables and minibatches are shared out among so many threads."""

    tables: int = 1024
    """Games played at once."""
    steps: int = 64
    """Actions at each table between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""
    epochs: int = 2
    """Passes over the decisions of an update."""
    learning_rate: float = 2e-3
    """At the start; it falls linearly to a twentieth at the end."""
    entropy: float = 0.01
    """Weight of the entropy bonus; it falls like the learning rate."""
    value_weight: float = 1.0
    """Weight of the value's squared error."""
    gamma: float = 1.0
    """Discount per decision; hands are short, so none."""
    gae_lambda: float = 0.95
    """Bias-variance trade-off of the advantages."""
    clip_range: float = 0.2
    """PPO's clipping of the ratio of probabilities."""
    max_norm: float = 0.5
    """Longest gradient."""
    hidden: int = 64
    """Width of the network's layers."""
    start: str | None = None
    """Begin with the weights of this candidate policy: a .safetensors file, or `policy`, the shipped one."""

    match_reward: bool = True
    """Pay each hand the change of the chance to win the game, not its points."""
    bots: tuple[str, ...] = ("simple", "simple:knock_at=0", "tonic", "generation")
    """Bots of the league."""
    bots_share: float = 0.4
    """Share of the hands against them; more against those to whom more hands are lost ..."""
    most_share: float = 0.2
    """... but at most this share against any of them."""
    past_share: float = 0.15
    """Share of the hands against the learner's past; the rest is against herself."""
    preference: float = 4.0
    """How much more: the share grows with the lost share of hands to this power."""
    past_size: int = 8
    """Past selves in the league; a new one takes the place of one by lot."""
    snapshot_every: int = 20
    """Updates between two past selves."""

    evaluate_every: float = 2.0
    """Minutes between evaluations."""
    evaluate_against: tuple[str, ...] = ("simple", "random")
    """Bots that it plays there."""
    evaluation_games: int = 1000
    """Games to 100 points against each of them (interval about +-3 points)."""
    final_games: int = 10_000
    """Games of the evaluation at the end."""
    record: bool = False
    """Record the games of each evaluation in RUN/games-DECISIONS.jsonl, for `gin-rummy replay`."""
    checkpoint_every: float = 1.0
    """Minutes between checkpoints; there is one after each evaluation too."""


@dataclass
class Progress:
    """How far a run has come; with the tensors this is a checkpoint."""

    minutes: float = 0.0
    decisions: int = 0
    """That it has learned from."""
    updates: int = 0
    episodes: int = 0
    """Games begun."""
    evaluations: list[dict[str, float]] = field(default_factory=list)
    """The lines of evaluations.csv."""
    next_evaluation: float = 0.0
    """In minutes."""
    finished: bool = False
    """The evaluation at the end is done."""
    start: dict[str, Any] | None = None
    """`describe_bot` of the policy whose weights it began with, as it was then; None: it began with none."""


# --- Experience ---------------------------------------------------------------------------------------


class Choices:
    """Decisions of one kind, draws or discards, as the network reads them; the arrays are used again."""

    def __init__(self, capacity: int, rows: int) -> None:
        self.rows = np.empty((capacity, rows, NUM_FEATURES), np.float32)
        self.actions = np.empty((capacity, rows, 2), np.int64)
        self.table = np.empty((capacity, NUM_CONTEXT), np.float32)
        self.chosen = np.empty(capacity, np.int64)
        self.log_chance = np.empty(capacity, np.float32)
        self.count = 0

    def inputs(self, where: slice | np.ndarray, device: str) -> list[torch.Tensor]:
        """What the network reads of some decisions: rows, what is possible, table."""
        possible = self.actions[where].reshape(-1, 2 * self.rows.shape[1]) != NO_ACTION
        return [torch.from_numpy(part).to(device) for part in (self.rows[where], possible, self.table[where])]


class Chains:
    """All decisions of a rollout in the order in which they were taken, linked to chains.

    A chain are the decisions of one player in one hand. It ends with the hand, which pays its last decision;
    where the rollout ends first, the chain's last decision has no outcome: it is not learned and lends its
    value to the one before.
    """

    def __init__(self, tables: int, capacity: int) -> None:
        self.kind = np.empty(capacity, np.int8)
        """0: a draw, 1: a discard ..."""
        self.place = np.empty(capacity, np.int64)
        """... and where it lies among the `Choices` of its kind."""
        # One more entry stands for "nothing follows": its value and advantage are 0.
        self.value = np.zeros(capacity + 1, np.float32)
        self.advantage = np.zeros(capacity + 1, np.float32)
        self.reward = np.zeros(capacity, np.float32)
        self.next = np.empty(capacity, np.int64)
        self.known = np.empty(capacity, np.bool_)
        """What came of the decision is known: the next of its chain, or the end of the hand."""
        self.last = np.full((tables, 2), capacity, np.int64)
        """The last decision of each player at each table in this hand; `nothing` before the first."""
        self.nothing = capacity
        self.parts: list[slice] = []
        """Decisions taken at the same time, which cannot follow each other."""
        self.count = 0

    def clear(self) -> None:
        """Forget all decisions; chains that are not finished are cut here."""
        self.last[:] = self.nothing
        self.parts.clear()
        self.count = 0

    def add(
        self, tables: np.ndarray, players: np.ndarray, kind: int, places: slice, values: np.ndarray
    ) -> None:
        """One more decision at each of these tables."""
        part = slice(self.count, self.count + len(tables))
        before = self.last[tables, players]
        follows = before != self.nothing
        numbers = np.arange(part.start, part.stop)
        self.next[before[follows]] = numbers[follows]
        self.known[before[follows]] = True
        self.last[tables, players] = numbers
        self.kind[part], self.value[part] = kind, values
        self.place[part] = np.arange(places.start, places.stop)
        self.reward[part], self.next[part], self.known[part] = 0, self.nothing, False
        self.parts.append(part)
        self.count = part.stop

    def end_hands(self, tables: np.ndarray, rewards: np.ndarray) -> None:
        """The hands at these tables are over and pay player 0 these rewards, player 1 the opposite."""
        for player, sign in ((0, 1), (1, -1)):
            last = self.last[tables, player]
            decided = last != self.nothing
            self.reward[last[decided]] = sign * rewards[decided]
            self.known[last[decided]] = True
        self.last[tables] = self.nothing

    def estimate_advantages(self, gamma: float, gae_lambda: float) -> None:
        """Generalized advantage estimation (Schulman et al. 2016) along each chain, from its end."""
        for part in reversed(self.parts):
            following = self.next[part]
            surprise = self.reward[part] + gamma * self.value[following] - self.value[part]
            advantage = surprise + gamma * gae_lambda * self.advantage[following]
            self.advantage[part] = np.where(self.known[part], advantage, 0)


class Learner:
    """The network, the tables at which it plays, and what it learns from."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        self.network = CandidatePolicy(settings.hidden).to(settings.device)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), settings.learning_rate, eps=1e-5, fused=True
        )
        self.random = np.random.default_rng(settings.seed)
        self.map = ThreadPoolExecutor(settings.threads).map if settings.threads > 1 else map
        self.progress = Progress(next_evaluation=settings.evaluate_every)
        self.games = Games(settings.tables, episode="game")
        self.opponent = np.full(settings.tables, SELF)
        self.league: list[Any] = [agents.make(name, programs=True) for name in settings.bots]
        """Its bots, and then the learner's past selves."""
        capacity = settings.tables * settings.steps
        # A discard follows a draw, so at most every other action is one.
        self.choices = (
            Choices(capacity, DRAW_ROWS),
            Choices(settings.tables * (settings.steps // 2 + 1), DISCARD_ROWS),
        )
        self.chains = Chains(settings.tables, capacity)
        self.hands = np.zeros((1 + len(settings.bots) + settings.past_size, 3))
        """By who sat opposite (first: the learner herself), of late: hands, hands lost, points won."""
        self.paid = np.zeros(MOST_POINTS + 1)
        """Hands of late by their points, whoever won them."""
        self.paid[UNTIL_KNOWN] = 1
        self.chances = chances_to_win(self.paid, self.games.rules.target_score)
        """How likely each score is to win the game."""

    def parts(self, count: int) -> list[slice]:
        """`count` things shared out evenly among the threads."""
        ends = np.linspace(0, count, self.settings.threads + 1).astype(int).tolist()
        return [slice(*ends_of_part) for ends_of_part in pairwise(ends)]

    def at_once(self, function: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
        """What a function returns for each part, in order. The threads share the work.

        Kernels and PyTorch compute without Python's lock, so threads keep several cores busy.
        """
        return list(self.map(function, parts))

    def begin_games(self, tables: np.ndarray) -> None:
        """Begin a game at each of these tables."""
        first = self.progress.episodes
        numbers = np.arange(first, first + len(tables), dtype=np.uint64)
        self.games.start(tables, np.full(len(tables), self.settings.seed, np.uint64), numbers)
        self.progress.episodes += len(tables)

    def seat_opponents(self, tables: np.ndarray) -> None:
        """Choose who sits opposite in the next hand at each of these tables, by the shares of the league."""
        settings, bots = self.settings, len(self.settings.bots)
        hands, lost = self.hands[1 : 1 + len(self.league), :2].T
        weights = ((lost + 50) / (hands + 100)) ** settings.preference  # as if 50 of 100 were lost before
        shares = np.empty(len(self.league))
        for group, share in ((slice(bots), settings.bots_share), (slice(bots, None), settings.past_share)):
            shares[group] = share * weights[group] / weights[group].sum()
        shares[:bots] = np.minimum(shares[:bots], settings.most_share)
        self.opponent[tables] = self.random.choice(
            np.arange(-1, len(self.league)), len(tables), p=[1 - shares.sum(), *shares]
        )

    def collect(self) -> None:
        """Play `steps` actions at every table and keep the learner's decisions."""
        self.chains.clear()
        self.hands *= FORGET
        self.paid *= FORGET
        for kind in self.choices:
            kind.count = 0
        for _ in range(self.settings.steps):
            self.step()
        self.chains.estimate_advantages(self.settings.gamma, self.settings.gae_lambda)
        self.chances = chances_to_win(self.paid, self.games.rules.target_score)

    def step(self) -> None:
        """One action at every table."""
        games = self.games
        movers, phase = games.to_move().astype(np.int64), games.state["public"]["phase"]
        mine = (movers == 0) | (self.opponent == SELF)
        actions = np.full(len(games), DRAW_STOCK)  # after two passes there is no choice
        for kind, group in ((0, (phase != DISCARD) & (phase != STOCK_ONLY)), (1, phase == DISCARD)):
            tables = np.flatnonzero(mine & group)
            if len(tables):
                actions[tables] = self.decide(tables, movers[tables], kind)
        tables = np.flatnonzero(mine)
        games.play(tables, actions[tables])
        others = np.flatnonzero(~mine)
        sitting = self.opponent[others]
        self.at_once(lambda bot: play_on(games, self.league[bot], others[sitting == bot]), np.unique(sitting))
        ended = np.flatnonzero(games.results["ended"])
        if len(ended):
            self.chains.end_hands(ended, self.count_hands(ended))
        games.rewards[:] = 0
        self.begin_games(np.flatnonzero(games.done))
        self.seat_opponents(ended)

    def count_hands(self, tables: np.ndarray) -> np.ndarray:
        """What the hands that ended at these tables pay player 0; they are counted too."""
        points = 100 * self.games.rewards[tables]  # positive: player 0 won
        numbers = np.stack([np.ones_like(points), points < 0, points], axis=1)
        np.add.at(self.hands, 1 + self.opponent[tables], numbers)
        size = np.abs(points).round().astype(np.int64)
        np.add.at(self.paid, np.minimum(size, MOST_POINTS), 1)
        if not self.settings.match_reward:
            return points / 100
        after = self.games.state["public"]["scores"][tables].astype(np.int64)
        before = after - np.stack([np.where(points > 0, size, 0), np.where(points < 0, size, 0)], axis=1)
        after = np.minimum(after, self.games.rules.target_score)
        return 2 * (self.chances[tuple(after.T)] - self.chances[tuple(before.T)]).astype(np.float32)

    def decide(self, tables: np.ndarray, players: np.ndarray, kind: int) -> np.ndarray:
        """Actions by the policy's chances at tables where the learner has to draw (0) or discard (1)."""
        choices = self.choices[kind]
        first = choices.count
        choices.count += len(tables)
        random = self.random.integers(2**64, size=len(tables), dtype=np.uint64)
        actions, values = np.empty(len(tables), np.int64), np.empty(len(tables), np.float32)

        def decide_part(part: slice) -> None:
            places = slice(first + part.start, first + part.stop)
            self.games.candidates(
                tables[part], choices.rows[places], choices.actions[places], choices.table[places]
            )
            with torch.inference_mode():
                logits, worth = self.network(*choices.inputs(places, self.settings.device))
                log_chances = torch.log_softmax(logits, dim=1).cpu().numpy()
            chosen = sample_actions(np.exp(log_chances), random[part])
            each = np.arange(len(chosen))
            choices.chosen[places], choices.log_chance[places] = chosen, log_chances[each, chosen]
            actions[part] = choices.actions[places].reshape(len(chosen), -1)[each, chosen]
            values[part] = worth.cpu().numpy()

        self.at_once(decide_part, self.parts(len(tables)))
        self.chains.add(tables, players, kind, slice(first, choices.count), values)
        return actions

    def update(self, left: float) -> dict[str, float]:
        """Learn from the rollout; `left` is the share of the training still to come. Returns what to log."""
        settings, chains = self.settings, self.chains
        falling = max(left, 0.05)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * falling
        learned = np.flatnonzero(chains.known[: chains.count])
        advantages = chains.advantage[learned]
        mean, spread = advantages.mean(), advantages.std() + 1e-8
        parameters, numbers = list(self.network.parameters()), []

        def gradients(decisions: np.ndarray) -> tuple[tuple[torch.Tensor, ...], np.ndarray]:
            loss, logged = self.loss(decisions, mean, spread, settings.entropy * falling)
            return torch.autograd.grad(loss, parameters, materialize_grads=True), logged

        for _ in range(settings.epochs):
            order = self.random.permutation(learned)
            for batch in np.array_split(order, max(round(len(order) / settings.batch_size), 1)):
                parts = self.at_once(gradients, [batch[part] for part in self.parts(len(batch))])
                for parameter, *of_parts in zip(parameters, *(found for found, _ in parts), strict=True):
                    parameter.grad = sum(of_parts) / len(batch)
                torch.nn.utils.clip_grad_norm_(parameters, settings.max_norm)
                self.optimizer.step()
                numbers.append(np.sum([logged for _, logged in parts], axis=0) / len(batch))
        self.progress.decisions += len(learned)
        self.progress.updates += 1
        names = ("losses/value", "losses/entropy", "losses/approximate_kl", "losses/clipped")
        return dict(zip(names, np.mean(numbers, axis=0).tolist(), strict=True))

    def loss(
        self, decisions: np.ndarray, mean: float, spread: float, entropy_weight: float
    ) -> tuple[torch.Tensor, np.ndarray]:
        """(PPO's loss summed over decisions, the sums to log)."""
        loss, logged = torch.zeros((), device=self.settings.device), np.zeros(4)
        for kind, choices in enumerate(self.choices):
            numbers = decisions[self.chains.kind[decisions] == kind]
            if len(numbers):
                loss_of_kind, logged_of_kind = self.loss_of_kind(
                    choices, numbers, mean, spread, entropy_weight
                )
                loss, logged = loss + loss_of_kind, logged + logged_of_kind
        return loss, logged

    def loss_of_kind(
        self, choices: Choices, numbers: np.ndarray, mean: float, spread: float, entropy_weight: float
    ) -> tuple[torch.Tensor, np.ndarray]:
        """`loss` of decisions of one kind."""
        settings, chains = self.settings, self.chains
        places = chains.place[numbers]
        advantages = chains.advantage[numbers]
        arrays = (
            choices.chosen[places],
            choices.log_chance[places],
            (advantages - mean) / spread,
            advantages + chains.value[numbers],
        )
        chosen, before, normalised, returns = (
            torch.from_numpy(array).to(settings.device) for array in arrays
        )
        logits, values = self.network(*choices.inputs(places, self.settings.device))
        log_chances = torch.log_softmax(logits, dim=1)
        change = log_chances.gather(1, chosen[:, None])[:, 0] - before
        ratio = change.exp()
        clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
        gain = torch.minimum(ratio * normalised, clipped * normalised).sum()
        entropy = -(log_chances.exp() * log_chances).sum()
        error = (values - returns).square().sum()
        with torch.no_grad():
            kl, outside = (ratio - 1 - change).sum(), (ratio != clipped).sum()
        logged = torch.stack([error.detach(), entropy.detach(), kl, outside]).cpu().numpy()
        return settings.value_weight * error - gain - entropy_weight * entropy, logged

    def take_snapshot(self) -> None:
        """A copy of the network joins the league; when that is full, it takes the place of one by lot."""
        bots = len(self.settings.bots)
        past = self.past_self(copy.deepcopy(self.network).cpu())
        if len(self.league) < bots + self.settings.past_size:
            self.league.append(past)
        else:
            replaced = bots + self.random.integers(self.settings.past_size)
            self.league[replaced] = past
            self.hands[1 + replaced] = 0

    def past_self(self, network: CandidatePolicy) -> CandidatePolicyBot:
        """A bot that plays by the network's chances."""
        return CandidatePolicyBot(network.eval(), deterministic=False, name="past")

    # --- Checkpoints: everything that changes ---------------------------------------------------------

    def tensors(self) -> dict[str, torch.Tensor]:
        """The state of network, optimizer, past selves and tables."""
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
        for number, bot in enumerate(self.league[len(self.settings.bots) :]):
            tensors |= {f"past.{number}.{name}": value for name, value in bot.network.state_dict().items()}
        tensors["games.state"] = torch.from_numpy(self.games.state.view(np.uint8))
        tensors["games.done"] = torch.from_numpy(self.games.done)
        tensors["games.opponent"] = torch.from_numpy(self.opponent)
        tensors["games.hands"] = torch.from_numpy(self.hands)
        tensors["games.paid"] = torch.from_numpy(self.paid)
        return {name: tensor.cpu() for name, tensor in tensors.items()}

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Put back what `tensors` returned."""
        parts: dict[str, dict[str, Any]] = {}
        for key, value in tensors.items():
            part, name = key.split(".", 1)
            parts.setdefault(part, {})[name] = value
        self.network.load_state_dict(parts["network"])
        states: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in parts.get("optimizer", {}).items():
            number, name = key.split(".")
            states.setdefault(int(number), {})[name] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": states, "param_groups": groups})
        past: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in parts.get("past", {}).items():
            number, name = key.split(".", 1)
            past.setdefault(int(number), {})[name] = value
        for _, weights in sorted(past.items()):
            network = CandidatePolicy(self.settings.hidden)
            network.load_state_dict(weights)
            self.league.append(self.past_self(network))
        self.games.state.view(np.uint8)[:] = parts["games"]["state"].numpy()
        self.games.done[:] = parts["games"]["done"].numpy()
        self.opponent[:] = parts["games"]["opponent"].numpy()
        self.hands[:] = parts["games"]["hands"].numpy()
        self.paid[:] = parts["games"]["paid"].numpy()
        self.chances = chances_to_win(self.paid, self.games.rules.target_score)


# --- The run ------------------------------------------------------------------------------------------


class Run:
    """A run in its folder: learn, evaluate, save, until the time is up."""

    def __init__(self, settings: Settings) -> None:
        # A run that is resumed has weights of its own; the others are read before anything is written.
        start = None if settings.resume else load_start(settings)
        self.settings, stored = open_run(settings)
        torch.set_num_threads(1)  # in each thread of the learner
        keep_freed_memory()
        self.learner = Learner(self.settings)
        if stored is None:
            if start is not None:
                network, self.learner.progress.start = start
                self.learner.network.load_state_dict(network.state_dict())
            self.learner.begin_games(self.learner.games.everyone)
            self.learner.seat_opponents(self.learner.games.everyone)
            save_checkpoint(self.settings, self.learner)
        else:
            tensors, metadata = stored
            self.learner.restore(tensors)
            self.learner.progress = Progress(**metadata["progress"])
            self.learner.random.bit_generator.state = metadata["random"]
        self.progress = self.learner.progress
        self.started = time.monotonic() - 60 * self.progress.minutes
        self.next_checkpoint = self.progress.minutes + self.settings.checkpoint_every
        self.interrupted = self.evaluating = False

    @cached_property
    def players(self) -> list[dict[str, Any]]:
        """What identifies the bots of the league, whatever their names will mean one day."""
        return [describe_bot(bot, programs=True) for bot in self.settings.bots]

    @property
    def minutes(self) -> float:
        """Minutes trained so far, earlier sessions included."""
        return (time.monotonic() - self.started) / 60

    @property
    def share(self) -> float:
        """How much of the training is done, from 0 on."""
        if self.settings.decisions:
            return self.progress.decisions / self.settings.decisions
        return self.minutes / self.settings.minutes

    def interrupt(self, *_: object) -> None:
        """At Ctrl-C: stop where a checkpoint can be written; at a second one: stop at once, without."""
        if self.interrupted:
            raise SystemExit(130)
        self.interrupted = True
        if self.evaluating:
            raise KeyboardInterrupt

    def train(self) -> None:
        """Learn until the end, then evaluate. Raises KeyboardInterrupt at Ctrl-C, ready to be saved."""
        learner, progress, settings = self.learner, self.progress, self.settings
        bar = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed} [{postfix}]")
        with SummaryWriter(str(settings.run / "tensorboard")) as board, bar:
            while self.share < 1:
                progress.finished = False
                begun, decisions = time.monotonic(), progress.decisions
                learner.collect()
                collected = time.monotonic()
                logged = learner.update(1 - self.share)
                if settings.past_share and progress.updates % settings.snapshot_every == 0:
                    learner.take_snapshot()
                rate = (progress.decisions - decisions) / (time.monotonic() - begun)
                logged["speed/decisions_per_second"] = rate
                logged["speed/share_of_collecting"] = (collected - begun) / (time.monotonic() - begun)
                names = ["self", *settings.bots]
                for name, (hands, lost, points) in zip(names, learner.hands, strict=False):
                    if hands and name != "self":
                        logged[f"points_per_hand/{name.replace(':', ' ')}"] = points / hands
                        logged[f"hands_lost/{name.replace(':', ' ')}"] = lost / hands
                for name, number in logged.items():
                    board.add_scalar(name, number, progress.decisions)
                bar.n = round(min(100 * self.share, 100), 1)
                bar.set_postfix_str(f"{progress.decisions / 1e6:.2f}M decisions, {rate:,.0f}/s")
                if self.interrupted:
                    raise KeyboardInterrupt
                if self.minutes >= progress.next_evaluation and self.share < 1:
                    self.evaluate(settings.evaluation_games, board)
                    self.save()
                    self.publish()
                elif self.minutes >= self.next_checkpoint:
                    self.save()
            if not progress.finished:
                self.save()
                self.evaluate(settings.final_games, board)
                progress.finished = True
                self.save()
                self.publish()

    def evaluate(self, games: int, board: SummaryWriter) -> None:
        """Play matches; the results go into the progress, to TensorBoard and to the screen."""
        bot = CandidatePolicyBot(copy.deepcopy(self.learner.network).cpu().eval())
        row: dict[str, float] = {"minutes": round(self.minutes, 2), "decisions": self.progress.decisions}
        self.evaluating = True  # from here on Ctrl-C may stop anywhere: nothing is changed before the end
        path = self.settings.run / f"games-{self.progress.decisions}.jsonl"
        record = path if self.settings.record else None
        for opponent in self.settings.evaluate_against:
            result = play_match(bot, opponent, games, self.settings.seed, record=record)
            row[f"games_{opponent}"] = round(result.win_rate, 4)
            low, high = result.interval
            row[f"games_{opponent}_low"], row[f"games_{opponent}_high"] = round(low, 4), round(high, 4)
            tag = f"evaluation/games_{opponent.replace(':', ' ')}"
            board.add_scalar(tag, result.win_rate, self.progress.decisions)
        self.evaluating = False
        self.progress.evaluations.append(row)
        self.progress.next_evaluation = self.minutes + self.settings.evaluate_every
        won = [f"{row[f'games_{bot}']:.1%} against {bot}" for bot in self.settings.evaluate_against]
        decisions = f"{row['decisions'] / 1e6:5.2f}M decisions"
        tqdm.write(f"{row['minutes']:6.1f} min, {decisions}: games won: {', '.join(won)}")

    def save(self) -> None:
        """Replace the checkpoint."""
        self.progress.minutes = self.minutes
        self.next_checkpoint = self.minutes + self.settings.checkpoint_every
        save_checkpoint(self.settings, self.learner)

    def publish(self) -> None:
        """Write what is made from a checkpoint: the policy, the table of evaluations, the learning curve."""
        run, rows = self.settings.run, self.progress.evaluations
        provenance = {
            "command": command_of(self.settings),
            "settings": as_json(self.settings),
            "decisions": self.progress.decisions,
            "players": self.players,
            "start": self.progress.start,
            "torch": torch.__version__,
        }
        save_candidate_policy(run / POLICY, self.learner.network.cpu(), self.learner.games.rules, provenance)
        self.learner.network.to(self.settings.device)
        if rows:
            settings = self.settings
            won = [f"games_{bot}{end}" for bot in settings.evaluate_against for end in ("", "_low", "_high")]
            columns = ["minutes", "decisions", *won]
            write_csv(run / "evaluations.csv", columns, [[row[column] for column in columns] for row in rows])
            games = f"{settings.evaluation_games:,} games an evaluation, {settings.final_games:,} at the end"
            origin = origin_line(games, settings.seed)
            draw_learning_curve(rows, settings.evaluate_against, run / "learning_curve.png", origin)


def as_json(settings: Settings) -> dict[str, Any]:
    """The settings with the folder as a text."""
    return asdict(settings) | {"run": str(settings.run)}


def command_of(settings: Settings) -> str:
    """The command that makes such a run: whatever is not as by default."""
    parts = ["python examples/ppo.py"]
    for each in fields(Settings):
        value = getattr(settings, each.name)
        if value == each.default or each.name in ("run", "resume"):
            continue
        name = each.name.replace("_", "-")
        if isinstance(value, bool):
            parts.append(f"--{name}" if value else f"--no-{name}")
        else:
            parts.append(f"--{name} {' '.join(value) if isinstance(value, tuple) else value}")
    return " ".join(parts)


def save_checkpoint(settings: Settings, learner: Learner) -> None:
    """Replace the checkpoint: tensors, settings, progress, the state of the random generator."""
    metadata = {
        "settings": as_json(settings),
        "progress": asdict(learner.progress),
        "random": learner.random.bit_generator.state,
    }
    write_tensors(settings.run / CHECKPOINT, KIND, VERSION, learner.tensors(), metadata)


def open_run(given: Settings) -> tuple[Settings, tuple[dict[str, torch.Tensor], dict[str, Any]] | None]:
    """(settings, (tensors, metadata) of the checkpoint): of a new run (None), or of the one in the folder.

    Raises ValueError for settings that cannot be, or that are not the run's, and if a new run would be mixed
    with what is in the folder; FileNotFoundError without a run to resume.
    """
    run = given.run
    if given.decisions < 0 or (given.minutes <= 0 and not given.decisions):
        raise ValueError("there is nothing to train: give more than 0 minutes, or more than 0 decisions")
    if given.bots_share + given.past_share > 1:
        raise ValueError("bots_share and past_share are shares of the hands: at most 1 together")
    if given.resume:
        if not (run / CHECKPOINT).exists():
            raise FileNotFoundError(f"nothing to resume: there is no {run / CHECKPOINT}")
        tensors, metadata = read_tensors(run / CHECKPOINT, KIND, VERSION, "python examples/ppo.py")
        stored = metadata["settings"].items()
        stored = {name: tuple(value) if isinstance(value, list) else value for name, value in stored}
        before = Settings(**stored | {"run": run})
        for name in (each.name for each in fields(Settings) if each.name not in OF_THE_SESSION):
            if getattr(given, name) not in (getattr(Settings(), name), getattr(before, name)):
                raise ValueError(
                    f"the run in {run} has {name} = {getattr(before, name)}; leave it out to go on with it"
                )
        for bot in (*before.bots, *before.evaluate_against):
            if agents.starts_program(bot) and bot not in (*given.bots, *given.evaluate_against):
                raise ValueError(f"the run in {run} names the program {bot!r}: name it yourself to start it")
        remove_partials(run)
        return replace(before, **{name: getattr(given, name) for name in OF_THE_SESSION}), (tensors, metadata)
    if run.is_dir():
        remove_partials(run)  # all that a run leaves that was killed before its first checkpoint
    if run.exists() and any(run.iterdir()):
        raise ValueError(f"{run} is not empty: choose another --run, or go on with the run in it by --resume")
    run.mkdir(parents=True, exist_ok=True)
    return given, None


def load_start(settings: Settings) -> tuple[CandidatePolicy, dict[str, Any]] | None:
    """(the network that a new run begins with, what identifies it); None if the settings name none.

    Raises ValueError for a file that is no candidate policy or one that this run cannot go on with, and
    FileNotFoundError.
    """
    if settings.start is None:
        return None
    network, _, episode = find_candidate_policy(settings.start)
    if network.hidden != settings.hidden:
        raise ValueError(
            f"start: {settings.start} has layers of {network.hidden} units, this run of {settings.hidden}: "
            f"set hidden to {network.hidden}, or begin with other weights"
        )
    if episode != "game":
        raise ValueError(
            f"start: {settings.start} was trained on single hands and has seen no scores: "
            "begin with a policy that was trained on games"
        )
    return network, describe_bot(settings.start)


def draw_learning_curve(
    rows: list[dict[str, float]], opponents: tuple[str, ...], path: Path, origin: str
) -> None:
    """Win rates over time, a line for each opponent, `origin` at the foot."""
    minutes = [row["minutes"] for row in rows]
    figure, [[axes]] = new_figure(8, 5)
    for opponent in opponents:
        won, low, high = (
            [100 * row[f"games_{opponent}{end}"] for row in rows] for end in ("", "_low", "_high")
        )
        (line,) = axes.plot(minutes, won, marker="o", markersize=3, label=f"games against {opponent}")
        axes.fill_between(minutes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.axhline(50, color="black", linewidth=0.8)
    axes.set(xlabel="minutes of training", ylabel="won, %", ylim=(0, 101), title="PPO on candidates")
    axes.legend(loc="lower right")
    sign_figure(figure, origin)
    save_figure(figure, path, dpi=120)


def train(settings: Settings, command: str) -> Run:
    """Train, evaluate, save; the run. At Ctrl-C it is saved, and the program ends: `command` goes on."""
    run = Run(settings)
    before = signal.signal(signal.SIGINT, run.interrupt)
    try:
        run.train()
    except KeyboardInterrupt:
        run.save()
        run.publish()
        print(f"interrupted; {command} goes on", file=sys.stderr)
        raise SystemExit(130) from None
    finally:
        signal.signal(signal.SIGINT, before)
    return run


def main(settings: Settings) -> None:
    """Train, and say what comes next."""
    train(settings, f"python {sys.argv[0]} --run {settings.run} --resume")
    policy = settings.run / POLICY
    print(f"the policy is in {policy}, the learning curve in {settings.run / 'learning_curve.png'}")
    print(f"next: gin-rummy match {policy} simple")


if __name__ == "__main__":
    with one_line_errors("ppo.py"):
        main(tyro.cli(Settings, description=__doc__))
