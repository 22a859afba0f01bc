"""The PPO learner: games at which the network plays, and the updates that it learns by.

The learner plays both seats of most games, so that nearly every decision is learned from; in the others a
bot or a past self is its opponent (`gin_env.training.league`). Each decision is a choice among candidates
(`gin_env.observations.candidates`), which the network scores. Decisions without a choice are played and not
learned.

Source: Schulman et al. 2017, "Proximal Policy Optimization Algorithms"; hyperparameters have CleanRL's names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from gin_env.agents.policies.candidate_network import CandidateScorer
from gin_env.agents.policies.policy import sample_actions
from gin_env.agents.turns import play_on
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.match_odds import chances_to_win
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS
from gin_env.training.checkpoints import (
    Tensors,
    by_prefix,
    optimizer_tensors,
    prefixed,
    restore_optimizer,
)
from gin_env.training.experience import DecisionBuffer, LearnerBatch
from gin_env.training.league import MEMORY, SELF, League
from gin_env.training.runs import RunSettings

MAX_POINTS = 150
"""Points of a hand are counted up to this limit, which no hand reaches."""
FIRST_POINTS = 25
"""Points that each hand is assumed to pay before the first rollout."""


@dataclass
class PPOSettings(RunSettings):
    """Settings of a PPO run; the defaults learn fast on two CPU cores."""

    run: Path = Path("runs/ppo")
    """Folder of the run; a new run needs a new or empty one."""
    device: str = "cpu"
    """Device of PyTorch: cpu, cuda (not tested on a GPU yet), ..."""

    num_envs: int = 1024
    """Number of games played at the same time."""
    num_steps: int = 64
    """Actions in each game between two updates."""
    num_minibatches: int = 32
    """A minibatch has num_envs * num_steps / num_minibatches decisions. An update has fewer minibatches than
    this: actions of opponents, and actions without a choice, are not learned."""
    update_epochs: int = 2
    """Passes over the decisions of an update."""
    learning_rate: float = 2e-3
    """Learning rate at the start; it falls linearly to a twentieth at the end."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus; it falls like the learning rate."""
    vf_coef: float = 1.0
    """Weight of the value's squared error."""
    gamma: float = 1.0
    """Discount per decision; hands are short, so none."""
    gae_lambda: float = 0.95
    """Bias-variance trade-off of the advantages."""
    clip_coef: float = 0.2
    """PPO's limit on the change of a probability ratio."""
    max_grad_norm: float = 0.5
    """Maximum norm of the gradient."""
    hidden: int = 64
    """Width of the network's layers."""
    start: str | None = None
    """Start with the weights of this candidate policy: a .safetensors file, or `policy`, the bundled one."""

    match_reward: bool = True
    """Pay each hand the change of the probability to win the game, not its points."""
    bots_share: float = 0.4
    """Share of the hands against bots; bots that win more hands are met more often ..."""
    max_share: float = 0.2
    """... but each in at most this share."""
    past_share: float = 0.15
    """Share of the hands against past selves; the rest is against the learner itself."""
    preference: float = 4.0
    """A bot's share grows with the share of hands lost to it, to this power."""
    past_size: int = 8
    """Number of past selves; a new one replaces a random one."""
    snapshot_every: int = 20
    """Updates between two past selves."""

    PROGRAM: ClassVar[str] = "python examples/ppo.py"
    KIND: ClassVar[str] = "PPO checkpoint"
    VERSION: ClassVar[str] = "3"
    SESSION: ClassVar[tuple[str, ...]] = (*RunSettings.SESSION, "device")

    def check(self) -> None:
        super().check()
        if self.bots_share + self.past_share > 1:
            raise ValueError("bots_share and past_share are shares of the hands: at most 1 together")


class Learner:
    """The network, the games that it plays, and what it learns from.

    Attributes
    ----------
    network, optimizer : what is trained.
    games, opponent : the games, and the opponent in each: int64 (num_envs,), see `League.draw`.
    batch, buffers : the decisions of the last rollout; the buffers are of draws and of discards.
    num_games : number of games begun so far.
    """

    def __init__(self, settings: PPOSettings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        self.network = CandidateScorer(settings.hidden).to(settings.device)
        self.parameters = list(self.network.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, settings.learning_rate, eps=1e-5, fused=True)
        self.random = np.random.default_rng(settings.seed)
        self.games = Games(settings.num_envs, episode="game")
        self.opponent = np.full(settings.num_envs, SELF)
        self.league = League(
            settings.bots,
            settings.bots_share,
            settings.max_share,
            settings.past_share,
            settings.past_size,
            settings.preference,
        )
        self.num_games = 0
        capacity = settings.num_envs * settings.num_steps
        # A discard follows a draw, so at most every second action is one.
        self.buffers = (
            DecisionBuffer(capacity, DRAW_ROWS),
            DecisionBuffer(settings.num_envs * (settings.num_steps // 2 + 1), DISCARD_ROWS),
        )
        self.batch = LearnerBatch(settings.num_envs, capacity)
        self.hand_points = np.zeros(MAX_POINTS + 1)
        """Number of recent hands by their points, whoever won them."""
        self.hand_points[FIRST_POINTS] = 1
        self.win_chances = chances_to_win(self.hand_points, self.games.rules.target_score)
        """Probability to win the game at each score."""

    def begin(self) -> None:
        """Begin a game everywhere."""
        self.begin_games(self.games.everyone)
        self.draw_opponents(self.games.everyone)

    def begin_games(self, envs: np.ndarray) -> None:
        """Begin a new game in each of these places."""
        numbers = np.arange(self.num_games, self.num_games + len(envs), dtype=np.uint64)
        self.games.start(envs, episodes=numbers, seed=self.settings.seed)
        self.num_games += len(envs)

    def draw_opponents(self, envs: np.ndarray) -> None:
        """Draw the opponents of the next hand in each of these games."""
        self.opponent[envs] = self.league.draw(len(envs), self.random)

    # --- Collecting ---------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Play `num_steps` actions in every game and keep the learner's decisions."""
        self.batch.clear()
        self.league.fade()
        self.hand_points *= MEMORY
        for buffer in self.buffers:
            buffer.count = 0
        for _ in range(self.settings.num_steps):
            self.step()
        self.batch.estimate_advantages(self.settings.gamma, self.settings.gae_lambda)
        self.win_chances = chances_to_win(self.hand_points, self.games.rules.target_score)

    def step(self) -> None:
        """Play one action in every game."""
        games = self.games
        players, phase = games.to_move().astype(np.int64), games.state["public"]["phase"]
        learning = (players == 0) | (self.opponent == SELF)
        actions = np.full(len(games), DRAW_STOCK)  # after two passes there is no choice
        for kind, group in ((0, (phase != DISCARD) & (phase != STOCK_ONLY)), (1, phase == DISCARD)):
            envs = np.flatnonzero(learning & group)
            if len(envs):
                actions[envs] = self.decide(envs, players[envs], kind)
        envs = np.flatnonzero(learning)
        games.play(envs, actions[envs])
        others = np.flatnonzero(~learning)
        opponents = self.opponent[others]
        for index in np.unique(opponents):
            play_on(games, self.league.members[index], others[opponents == index])
        ended = np.flatnonzero(games.results["ended"])
        if len(ended):
            self.batch.end_hands(ended, self.end_hands(ended))
        games.rewards[:] = 0
        self.begin_games(np.flatnonzero(games.done))
        self.draw_opponents(ended)

    def end_hands(self, envs: np.ndarray) -> np.ndarray:
        """Count the hands that ended in these games; what they pay player 0, float32 (n,)."""
        points = 100 * self.games.rewards[envs]  # positive: player 0 won
        self.league.record(self.opponent[envs], points)
        size = np.abs(points).round().astype(np.int64)
        np.add.at(self.hand_points, np.minimum(size, MAX_POINTS), 1)
        if not self.settings.match_reward:
            return points / 100
        after = self.games.state["public"]["scores"][envs].astype(np.int64)
        before = after - np.stack([np.where(points > 0, size, 0), np.where(points < 0, size, 0)], axis=1)
        after = np.minimum(after, self.games.rules.target_score)
        return 2 * (self.win_chances[tuple(after.T)] - self.win_chances[tuple(before.T)]).astype(np.float32)

    def decide(self, envs: np.ndarray, players: np.ndarray, kind: int) -> np.ndarray:
        """Sample actions where the learner has to draw (`kind` 0) or discard (1), int64 (n,)."""
        buffer = self.buffers[kind]
        places = slice(buffer.count, buffer.count + len(envs))
        buffer.count = places.stop
        random = self.random.integers(2**64, size=len(envs), dtype=np.uint64)
        self.games.candidates(envs, buffer.rows[places], buffer.actions[places], buffer.context[places])
        with torch.inference_mode():
            logits, values = self.network(*buffer.inputs(places, self.settings.device))
            log_probs = torch.log_softmax(logits, dim=1).cpu().numpy()
        chosen, each = sample_actions(np.exp(log_probs), random), np.arange(len(envs))
        buffer.chosen[places], buffer.log_prob[places] = chosen, log_probs[each, chosen]
        self.batch.add(envs, players, kind, places, values.cpu().numpy())
        return buffer.actions[places].reshape(len(envs), -1)[each, chosen]

    # --- Learning -----------------------------------------------------------------------------------------

    def update(self, left: float) -> tuple[int, dict[str, float]]:
        """Learn from the rollout: (number of decisions learned from, what to log).

        `left` is the share of the training that is still to come.
        """
        settings, batch = self.settings, self.batch
        annealing = max(left, 0.05)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * annealing
        learned = np.flatnonzero(batch.known[: batch.count])
        advantages = batch.advantage[learned]
        normalised = np.zeros_like(batch.advantage)
        normalised[learned] = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        minibatch_size = settings.num_envs * settings.num_steps / settings.num_minibatches
        logs = []
        for _ in range(settings.update_epochs):
            order = self.random.permutation(learned)
            for minibatch in np.array_split(order, max(round(len(order) / minibatch_size), 1)):
                loss, log = self.loss(minibatch, normalised, settings.ent_coef * annealing)
                gradients = torch.autograd.grad(loss, self.parameters, materialize_grads=True)
                for parameter, gradient in zip(self.parameters, gradients, strict=True):
                    parameter.grad = gradient / len(minibatch)
                torch.nn.utils.clip_grad_norm_(self.parameters, settings.max_grad_norm)
                self.optimizer.step()
                logs.append(log / len(minibatch))
        names = ("losses/value", "losses/entropy", "losses/approximate_kl", "losses/clipped")
        return len(learned), dict(zip(names, np.mean(logs, axis=0).tolist(), strict=True))

    def loss(
        self, minibatch: np.ndarray, advantages: np.ndarray, ent_coef: float
    ) -> tuple[torch.Tensor, np.ndarray]:
        """(PPO's loss summed over decisions of the batch, the sums to log)."""
        total, log = torch.zeros((), device=self.settings.device), np.zeros(4)
        for kind in (0, 1):
            decisions = minibatch[self.batch.kind[minibatch] == kind]
            if len(decisions):
                loss, sums = self.loss_of_kind(kind, decisions, advantages[decisions], ent_coef)
                total, log = total + loss, log + sums
        return total, log

    def loss_of_kind(
        self, kind: int, decisions: np.ndarray, advantages: np.ndarray, ent_coef: float
    ) -> tuple[torch.Tensor, np.ndarray]:
        """`loss` of decisions of one kind; `advantages` are the normalised ones."""
        settings, batch, buffer = self.settings, self.batch, self.buffers[kind]
        places = batch.place[decisions]
        returns = batch.advantage[decisions] + batch.value[decisions]
        arrays = buffer.chosen[places], buffer.log_prob[places], advantages, returns
        chosen, before, gains, targets = (torch.from_numpy(array).to(settings.device) for array in arrays)
        logits, values = self.network(*buffer.inputs(places, settings.device))
        log_probs = torch.log_softmax(logits, dim=1)
        change = log_probs.gather(1, chosen[:, None])[:, 0] - before
        ratio = change.exp()
        clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
        gain = torch.minimum(ratio * gains, clipped * gains).sum()
        entropy = -(log_probs.exp() * log_probs).sum()
        error = (values - targets).square().sum()
        with torch.no_grad():
            kl, outside = (ratio - 1 - change).sum(), (ratio != clipped).sum()
        sums = torch.stack([error.detach(), entropy.detach(), kl, outside]).cpu().numpy()
        return settings.vf_coef * error - gain - ent_coef * entropy, sums

    def add_past_self(self) -> None:
        """Add a copy of the network to the league."""
        self.league.add_past_self(self.network, self.random)

    # --- Checkpoints: everything that changes -------------------------------------------------------------

    def tensors(self) -> Tensors:
        """The state of network, optimizer, past selves and games."""
        games = {
            "state": self.games.state.view(np.uint8),
            "done": self.games.done,
            "opponent": self.opponent,
            "results": self.league.results,
            "hand_points": self.hand_points,
        }
        return (
            prefixed("network", self.network.state_dict())
            | prefixed("optimizer", optimizer_tensors(self.optimizer))
            | prefixed("past", self.league.past_tensors())
            | prefixed("games", {name: torch.from_numpy(array) for name, array in games.items()})
        )

    def state(self) -> dict[str, Any]:
        """What else a checkpoint needs, for JSON."""
        return {"random": self.random.bit_generator.state, "num_games": self.num_games}

    def restore(self, tensors: Tensors, state: dict[str, Any]) -> None:
        """Restore what `tensors` and `state` returned."""
        groups = by_prefix(tensors)
        self.network.load_state_dict(groups["network"])
        restore_optimizer(self.optimizer, groups.get("optimizer", {}))
        self.league.restore_past(groups.get("past", {}), self.settings.hidden)
        games = {name: tensor.numpy() for name, tensor in groups["games"].items()}
        self.games.state.view(np.uint8)[:] = games["state"]
        self.games.done[:] = games["done"]
        self.opponent[:] = games["opponent"]
        self.league.results[:] = games["results"]
        self.hand_points[:] = games["hand_points"]
        self.win_chances = chances_to_win(self.hand_points, self.games.rules.target_score)
        self.random.bit_generator.state = state["random"]
        self.num_games = state["num_games"]
