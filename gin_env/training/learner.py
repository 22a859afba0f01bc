"""The PPO learner: rollouts of the network in a batch of games, and its updates.

In most games the learner plays both seats, so that nearly every decision is learned. In the other games its
opponent is a bot or a past self (`gin_env.training.league`). Each decision is a choice among candidates
(`gin_env.observations.candidates`), which the network scores. Actions without an alternative are not learned.

Source: Schulman et al. 2017, "Proximal Policy Optimization Algorithms"; hyperparameters have CleanRL's names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from gin_env.agents.policies.candidate_network import CandidateScorer, MemoryLayers
from gin_env.agents.policies.policy import sample_actions
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.match_odds import chances_to_win
from gin_env.game.rules import Rules
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NUM_CONTEXT, draw_and_discard_masks
from gin_env.training.checkpoints import Tensors, by_prefix, optimizer_tensors, prefixed, restore_optimizer
from gin_env.training.experience import DecisionBuffer, LearnerBatch
from gin_env.training.league import DECAY, SELF, League
from gin_env.training.ranks import Ranks
from gin_env.training.settings import PPOSettings

MIN_COUNTED = 150
"""Points of a hand up to which hands are counted at least; the rules can allow more."""
FIRST_POINTS = 25
"""Assumed points of each hand before the first rollout."""
LOGGED = ("losses/value", "losses/entropy", "losses/approximate_kl", "losses/clipped")
NUM_LOGGED = len(LOGGED)
MIN_BFLOAT16 = 16
"""Least width of layers in bfloat16: products of narrower ones are NaN on some processors."""
PADDING = 64
"""The network's batches are padded to a multiple of this size. The kernels for bfloat16 are generated for
each new size, which takes longer than the computation."""


class Learner:
    """The network, the games of this rank, and the last rollout.

    Each rank draws the random numbers of the games of all ranks, in the same order. A game therefore does not
    depend on the number of ranks, and the updates depend on it only through the rounding of sums.

    Attributes
    ----------
    network, optimizer : the network and its optimizer, the same on all ranks.
    games : this rank's games.
    rules : the different rules that are played.
    rules_index : int64 (n,), the index in `rules` of the rules of each game.
    opponent : int64 (n,), the opponent in each game (see `League.draw`).
    num_games : int64 (n,), number of games started at each index.
    batch : the decisions of the last rollout.
    buffers : the network inputs of its draws and of its discards.
    """

    def __init__(self, settings: PPOSettings, ranks: Ranks | None = None) -> None:
        self.settings, self.ranks = settings, ranks or Ranks()
        self.own = self.ranks.share(settings.num_envs)
        num_envs = self.own.stop - self.own.start
        if not num_envs:
            raise ValueError(f"num_envs must be at least the number of ranks, {self.ranks.size}")
        self.device = self.ranks.device(settings.device)
        torch.manual_seed(settings.seed)
        self.network = self.make_network().to(self.device)
        for scores in (self.network.draws, self.network.discards):
            scores.use_bfloat16 = settings.bfloat16 and settings.hidden >= MIN_BFLOAT16
        self.parameters = list(self.network.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, settings.learning_rate, eps=1e-5, fused=True)
        self.random = np.random.default_rng(settings.seed)
        self.rules = settings.different_rules()
        in_turn = np.array([self.rules.index(Rules.parse(text)) for text in settings.rules])
        self.rules_index = in_turn[np.arange(self.own.start, self.own.stop) % len(in_turn)]
        self.games = Games(num_envs, self.rules[0], episode="game")
        records = np.array([rules.record() for rules in self.rules])
        self.games.state["public"]["rules"] = records[self.rules_index]  # each game is played by its own
        self.opponent = np.full(num_envs, SELF)
        self.num_games = np.zeros(num_envs, np.int64)
        self.league = League(settings)
        capacity = num_envs * settings.num_steps
        # A discard follows a draw, so at most every second action is a discard.
        num_discards = num_envs * (settings.num_steps // 2 + 1)
        self.buffers = (
            DecisionBuffer(capacity + PADDING, DRAW_ROWS, self.network.num_context, self.device),
            DecisionBuffer(num_discards + PADDING, DISCARD_ROWS, self.network.num_context, self.device),
        )
        self.batch = LearnerBatch(num_envs, capacity)
        self.hand_points = np.zeros((len(self.rules), max(map(most_points, self.rules)) + 1))
        """Number of hands in earlier rollouts by rules and points, for either winner."""
        self.hand_points[:, FIRST_POINTS] = 1
        self.new_hand_points = np.zeros_like(self.hand_points)
        """The same counts for the current rollout."""
        self.target_scores = np.array([rules.target_score for rules in self.rules])
        self.win_chances = np.zeros((len(self.rules), *2 * [self.target_scores.max() + 1]))
        """Probability of winning the game by rules and scores, as of `chances_to_win`."""
        self.update_win_chances()

    def make_network(self) -> CandidateScorer:
        """Return the network with its initial weights."""
        return CandidateScorer(self.settings.hidden, self.settings.memory)

    def begin(self) -> None:
        """Start all games."""
        self.begin_games(self.games.everyone)
        self.draw_opponents(self.games.everyone)

    def begin_games(self, envs: np.ndarray) -> None:
        """Start a new game at each of these indices."""
        numbers = self.num_games[envs] * self.settings.num_envs + self.own.start + envs
        self.games.start(envs, episodes=numbers.astype(np.uint64), seed=self.settings.seed)
        self.num_games[envs] += 1

    def draw_opponents(self, envs: np.ndarray) -> None:
        """Draw the opponents of the next hand in each of these games.

        With a memory, opponents are drawn in the first hand of a game and stay.
        """
        random = self.random.random(self.settings.num_envs)[self.own]
        new = self.games.state["public"]["hand_number"][envs] == 0
        drawn = envs[new] if self.settings.memory else envs
        self.opponent[drawn] = self.league.draw(random[drawn])

    # --- Collecting ---------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Play `num_steps` actions in every game and store the learner's decisions."""
        self.batch.clear()
        for buffer in self.buffers:
            buffer.count = 0
        for index in range(self.settings.num_steps):
            self.step(index)
        self.batch.estimate_advantages(self.settings.gamma, self.settings.gae_lambda)
        self.league.end_rollout(self.ranks)
        self.hand_points = DECAY * self.hand_points + self.ranks.sum(self.new_hand_points)
        self.new_hand_points[:] = 0
        self.update_win_chances()

    def update_win_chances(self) -> None:
        """Compute the chances to win from the points of earlier hands."""
        for chances, points, target in zip(
            self.win_chances, self.hand_points, self.target_scores, strict=True
        ):
            chances[: target + 1, : target + 1] = chances_to_win(points, target)

    def step(self, index: int) -> None:
        """Play action number `index` of the rollout in every game."""
        games, num_envs = self.games, self.settings.num_envs
        random = self.random.integers(2**64, size=num_envs, dtype=np.uint64)[self.own]
        slots = index * num_envs + self.own.start + games.everyone
        players, phase = games.to_move().astype(np.int64), games.state["public"]["phase"]
        learning = (players == 0) | (self.opponent == SELF)
        actions = np.full(len(games), DRAW_STOCK)  # the only legal action after two passes
        for kind, mask in enumerate(draw_and_discard_masks(phase)):
            envs = np.flatnonzero(learning & mask)
            if len(envs):
                actions[envs] = self.decide(envs, players[envs], kind, random[envs], slots[envs])
        envs = np.flatnonzero(learning)
        games.play(envs, actions[envs])
        others = np.flatnonzero(~learning)
        self.league.play(games, others, self.opponent[others], random[others])
        ended = np.flatnonzero(games.results["ended"])
        if len(ended):
            self.batch.end_hands(ended, self.end_hands(ended))
        games.rewards[:] = 0
        self.begin_games(np.flatnonzero(games.done))
        self.draw_opponents(ended)

    def end_hands(self, envs: np.ndarray) -> np.ndarray:
        """Count the hands that ended in these games, and return player 0's rewards, float32 (n,)."""
        points = 100 * self.games.rewards[envs]  # positive: player 0 won
        self.league.record(self.opponent[envs], points)
        size = np.abs(points).round().astype(np.int64)
        rules = self.rules_index[envs]
        np.add.at(self.new_hand_points, (rules, size), 1)
        if not self.settings.match_reward:
            return points / 100
        after = self.games.state["public"]["scores"][envs].astype(np.int64)
        before = after - size[:, None] * np.stack([points > 0, points < 0], axis=1)
        after = np.minimum(after, self.target_scores[rules, None])
        chances = self.win_chances
        return 2 * (chances[rules, *after.T] - chances[rules, *before.T]).astype(np.float32)

    def observe(self, envs: np.ndarray, kind: int, places: slice) -> None:
        """Write the network's inputs for the players to move into these places of a buffer."""
        buffer = self.buffers[kind]
        self.games.candidates(envs, buffer.rows[places], buffer.actions[places], buffer.context[places])

    def decide(
        self, envs: np.ndarray, players: np.ndarray, kind: int, random: np.ndarray, slots: np.ndarray
    ) -> np.ndarray:
        """Return sampled actions, int64 (n,), where the learner has to draw (`kind` 0) or discard (1)."""
        buffer = self.buffers[kind]
        places = slice(buffer.count, buffer.count + len(envs))
        buffer.count = places.stop
        self.observe(envs, kind, places)
        padded = slice(places.start, places.start + padded_size(len(envs)))
        with torch.inference_mode():
            logits, values = (each[: len(envs)] for each in self.network(*buffer.send(padded)))
            log_probs = torch.log_softmax(logits, dim=1).cpu().numpy()
        chosen, each = sample_actions(np.exp(log_probs), random), np.arange(len(envs))
        buffer.chosen[places], buffer.log_prob[places] = chosen, log_probs[each, chosen]
        if self.network.reads_memory:
            buffer.opponent_type[places] = self.league.types[1 + self.opponent[envs]]
        self.batch.add(envs, players, kind, places, values.cpu().numpy(), slots)
        return buffer.actions[places].reshape(len(envs), -1)[each, chosen]

    # --- Learning -----------------------------------------------------------------------------------------

    def update(self, left: float) -> tuple[int, dict[str, float]]:
        """Learn from the rollout, and return (number of decisions learned by all ranks, values to log).

        `left` is the remaining share of the training. Raises ValueError if the training has diverged.
        """
        settings, batch, ranks = self.settings, self.batch, self.ranks
        annealing = max(left, 0.05)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * annealing
        learned = np.flatnonzero(batch.known[: batch.count])
        advantages = batch.advantage[learned].astype(np.float64)
        num_learned, total = ranks.sum(np.array([len(learned), advantages.sum()]))
        advantages -= total / max(num_learned, 1)
        variance = ranks.sum(np.square(advantages).sum()) / max(num_learned, 1)
        normalised = np.zeros_like(batch.advantage)
        normalised[learned] = advantages / (np.sqrt(variance) + 1e-8)
        minibatch_size = settings.num_envs * settings.num_steps / settings.num_minibatches
        num_minibatches = max(round(num_learned / minibatch_size), 1)
        sizes = [parameter.numel() for parameter in self.parameters]
        logs = []
        for _ in range(settings.update_epochs):
            for minibatch in self.minibatches(learned, num_minibatches):
                loss, log = self.loss(minibatch, normalised, settings.ent_coef * annealing)
                gradients = torch.autograd.grad(loss, self.parameters, materialize_grads=True)
                count = torch.tensor([float(len(minibatch))], device=self.device)
                sums = ranks.add(torch.cat([*(gradient.flatten() for gradient in gradients), log, count]))
                if not sums[-1]:
                    continue  # no rank has a decision in this minibatch
                gradient, log = (sums[:-1] / sums[-1]).tensor_split([-NUM_LOGGED])
                norm = gradient.norm()
                if not norm.isfinite():
                    raise ValueError("the training has diverged: use a lower learning_rate")
                gradient *= torch.clamp(settings.max_grad_norm / (norm + 1e-6), max=1)
                for parameter, part in zip(self.parameters, gradient.split(sizes), strict=True):
                    parameter.grad = part.view_as(parameter)
                self.optimizer.step()
                logs.append(log)
        mean = torch.stack(logs).mean(dim=0) if logs else torch.zeros(NUM_LOGGED)
        return int(num_learned), dict(zip(LOGGED, mean.tolist(), strict=True))

    def minibatches(self, learned: np.ndarray, count: int) -> list[np.ndarray]:
        """Return these decisions in `count` random minibatches; each rank has a part of each minibatch."""
        random = self.random.random(self.settings.num_envs * self.settings.num_steps)
        minibatch = (random[self.batch.slot[learned]] * count).astype(np.int64)
        ends = np.bincount(minibatch, minlength=count).cumsum()[:-1]
        return np.split(learned[np.argsort(minibatch, kind="stable")], ends)

    def loss(
        self, minibatch: np.ndarray, advantages: np.ndarray, ent_coef: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (PPO's loss summed over the decisions of a minibatch, the sums of `LOGGED`)."""
        total = torch.zeros((), device=self.device, requires_grad=True)
        log = torch.zeros(NUM_LOGGED, device=self.device)
        for kind in (0, 1):
            decisions = minibatch[self.batch.kind[minibatch] == kind]
            if len(decisions):
                loss, sums = self.loss_of_kind(kind, decisions, advantages[decisions], ent_coef)
                total, log = total + loss, log + sums
        return total, log

    def loss_of_kind(
        self, kind: int, decisions: np.ndarray, advantages: np.ndarray, ent_coef: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return `loss` for decisions of one kind, with their normalised `advantages`."""
        settings, batch, buffer = self.settings, self.batch, self.buffers[kind]
        places = batch.place[decisions]
        returns = batch.advantage[decisions] + batch.value[decisions]
        arrays = buffer.chosen[places], buffer.log_prob[places], advantages, returns
        chosen, before, gains, targets = (torch.from_numpy(array).to(self.device) for array in arrays)
        padded = np.resize(places, padded_size(len(places)))  # repeats the first decisions
        rows, possible, table = buffer.inputs(padded)
        logits, values = (each[: len(places)] for each in self.network(rows, possible, table))
        log_probs = torch.log_softmax(logits, dim=1)
        change = log_probs.gather(1, chosen[:, None])[:, 0] - before
        ratio = change.exp()
        clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
        gain = torch.minimum(ratio * gains, clipped * gains).sum()
        entropy = -(log_probs.exp() * log_probs).sum()
        error = (values - targets).square().sum()
        with torch.no_grad():
            kl, outside = (ratio - 1 - change).sum(), (ratio != clipped).sum()
        sums = torch.stack([error.detach(), entropy.detach(), kl, outside])
        loss = settings.vf_coef * error - gain - ent_coef * entropy
        reader = (self.network.draws, self.network.discards)[kind].memory
        if isinstance(reader, MemoryLayers):
            guesses = reader.type_logits(table[: len(places), NUM_CONTEXT:])
            types = torch.from_numpy(buffer.opponent_type[places]).to(self.device)
            loss = loss + settings.opponent_coef * cross_entropy(guesses, types, reduction="sum")
        return loss, sums

    def add_past_self(self) -> None:
        """Add a copy of the network to the league."""
        self.league.add_past_self(self.network, self.random)

    # --- Checkpoints: everything that changes -------------------------------------------------------------

    def tensors(self) -> Tensors:
        """Return the state of network, optimizer, past selves and the games of all ranks, on rank 0.

        All ranks must call this at the same time, between updates; the other ranks get an empty dict.
        """
        arrays = {
            "state": self.games.state.view(np.uint8).reshape(len(self.games), -1),
            "done": self.games.done,
            "opponent": self.opponent,
            "num_games": self.num_games,
        }
        count = self.settings.num_envs
        games = {name: self.ranks.gather(torch.from_numpy(own), count) for name, own in arrays.items()}
        if self.ranks.rank:
            return {}
        results = {"results": self.league.results, "hand_points": self.hand_points}
        return (
            prefixed("network", self.network.state_dict())
            | prefixed("optimizer", optimizer_tensors(self.optimizer))
            | prefixed("past", self.league.past_tensors())
            | prefixed("games", games)
            | prefixed("league", {name: torch.from_numpy(array) for name, array in results.items()})
        )

    def state(self) -> dict[str, Any]:
        """Return the remaining state of a checkpoint, for JSON."""
        return {"random": self.random.bit_generator.state}

    def restore(self, tensors: Tensors, state: dict[str, Any]) -> None:
        """Restore the learner from the values of `tensors` and `state`."""
        groups = by_prefix(tensors)
        self.network.load_state_dict(groups["network"])
        restore_optimizer(self.optimizer, groups.get("optimizer", {}))
        self.league.restore_past(groups.get("past", {}), self.settings.hidden, self.settings.memory)
        games = {name: tensor.numpy()[self.own] for name, tensor in groups["games"].items()}
        self.games.state.view(np.uint8).reshape(len(self.games), -1)[:] = games["state"]
        self.games.done[:] = games["done"]
        self.opponent[:] = games["opponent"]
        self.num_games[:] = games["num_games"]
        self.league.results[:] = groups["league"]["results"].numpy()
        self.hand_points[:] = groups["league"]["hand_points"].numpy()
        self.update_win_chances()
        self.random.bit_generator.state = state["random"]


def most_points(rules: Rules) -> int:
    """Return a number of points that no hand under these rules exceeds, at least `MIN_COUNTED`."""
    bonus = max(rules.gin_bonus, rules.undercut_bonus, rules.big_gin_bonus)
    points = (10 * rules.hand_size + bonus) * (1 + rules.spades_double)
    return max(points + rules.box_bonus * rules.immediate_boxes, MIN_COUNTED)


def padded_size(count: int) -> int:
    """Return the size of a batch of `count` decisions with its padding."""
    return -(-count // PADDING) * PADDING
