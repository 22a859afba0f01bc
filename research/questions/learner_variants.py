"""Variants of the PPO learner: other losses and other inputs, for the experiment ``ppo/variants``.

Each is a class derived from `gin_env.training.learner.Learner`, and `VARIANTS` names them.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, kl_div

from gin_env import estimators
from gin_env.agents.policies.candidate_network import NUM_OUTPUTS, CandidateScorer
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, card_columns
from gin_env.game.history import first_mover, next_mover
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NO_ACTION, NUM_CONTEXT, NUM_FEATURES
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel
from gin_env.training.experience import DecisionBuffer
from gin_env.training.learner import Learner, padded_size
from gin_env.training.settings import PPOSettings

HAND_COEF = 0.01
"""Weight of the cross-entropy of the opponent's cards, summed over the deck."""
NUM_AROUND = 5
NUM_TOKENS = 24
"""Number of latest actions that the network reads as a sequence."""
TOKEN_UNITS, HISTORY_UNITS = 16, 32


class MagnetLearner(Learner):
    """Pulls the policy towards a moving average of itself.

    Adds the Kullback-Leibler divergence from the average policy to the loss (arXiv 2206.05825, 2606.23995).

    Parameters
    ----------
    coef : weight of the divergence.
    rate : how far the average moves towards the network after each rollout, from 0 to 1.
    """

    def __init__(self, settings: PPOSettings, coef: float = 0.05, rate: float = 0.1) -> None:
        super().__init__(settings)
        self.coef, self.rate = coef, rate
        self.magnet = copy.deepcopy(self.network).requires_grad_(False)

    def update(self, left: float) -> tuple[int, dict[str, float]]:
        learned = super().update(left)
        for average, parameter in zip(self.magnet.parameters(), self.network.parameters(), strict=True):
            average.lerp_(parameter.detach(), self.rate)
        return learned

    def loss_of_kind(
        self, kind: int, decisions: np.ndarray, advantages: np.ndarray, ent_coef: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        loss, sums = super().loss_of_kind(kind, decisions, advantages, ent_coef)
        places = self.batch.place[decisions]
        inputs = self.buffers[kind].inputs(np.resize(places, padded_size(len(places))))
        log_probs, pull = (
            torch.log_softmax(network(*inputs)[0][: len(places)], dim=1)
            for network in (self.network, self.magnet)
        )
        return loss + self.coef * kl_div(pull, log_probs, reduction="sum", log_target=True), sums


class HandLearner(Learner):
    """Also predicts the opponent's hand, from the mean of the candidates' second layer."""

    def __init__(self, settings: PPOSettings) -> None:
        super().__init__(settings)
        self.opponent_hands = [np.empty(len(buffer.rows), np.uint64) for buffer in self.buffers]
        self.hidden: list[torch.Tensor] = []
        """What the last forward pass gave to the outputs of the network."""
        for scores in (self.network.draws, self.network.discards):
            scores.outputs.register_forward_pre_hook(
                lambda _, inputs: self.hidden.__setitem__(slice(None), inputs)
            )

    def make_network(self) -> CandidateScorer:
        network = super().make_network()
        self.guesses = [nn.Linear(self.settings.hidden, NUM_CARDS) for _ in range(2)]
        network.add_module("guesses", nn.ModuleList(self.guesses))
        return network

    def observe(self, envs: np.ndarray, kind: int, places: slice) -> None:
        super().observe(envs, kind, places)
        public, private = self.games.state["public"], self.games.state["private"]
        self.opponent_hands[kind][places] = private["hand"][envs, 1 - public["to_move"][envs]]

    def loss_of_kind(
        self, kind: int, decisions: np.ndarray, advantages: np.ndarray, ent_coef: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        loss, sums = super().loss_of_kind(kind, decisions, advantages, ent_coef)
        places = self.batch.place[decisions]
        held = card_columns(self.opponent_hands[kind][places])
        guess = self.guesses[kind](self.hidden[0].mean(dim=1)[: len(places)])
        error = binary_cross_entropy_with_logits(guess, torch.from_numpy(held).float(), reduction="sum")
        return loss + HAND_COEF * error, sums


class InputsLearner(Learner):
    """Base of learners whose network has other inputs, which `inputs_of` computes from views."""

    def observe(self, envs: np.ndarray, kind: int, places: slice) -> None:
        buffer = self.buffers[kind]
        inputs = self.inputs_of(self.games.views(envs), kind)
        buffer.rows[places], buffer.actions[places], buffer.context[places] = inputs

    @staticmethod
    def inputs_of(view: PlayerView, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, actions and context for views in which all players have to draw (0) or discard (1)."""
        rows = (DRAW_ROWS, DISCARD_ROWS)[kind]
        return view.candidates(rows=np.empty((len(view), rows, NUM_FEATURES), np.float32))


class EstimatorLearner(InputsLearner):
    """Reads the estimator `bayes`: how many cards around the moved one the opponent is expected to hold."""

    ESTIMATOR = estimators.make("bayes")

    def __init__(self, settings: PPOSettings) -> None:
        super().__init__(settings)
        draws, discards = (
            DecisionBuffer(len(rows), rows.shape[1], NUM_CONTEXT, self.device, NUM_FEATURES + NUM_AROUND)
            for rows in (buffer.rows for buffer in self.buffers)
        )
        self.buffers = draws, discards

    def make_network(self) -> CandidateScorer:
        network = super().make_network()
        for scores in (network.draws, network.discards):
            scores.row_first = nn.Linear(NUM_FEATURES + NUM_AROUND, self.settings.hidden)
        return network

    @staticmethod
    def inputs_of(view: PlayerView, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, actions, context = InputsLearner.inputs_of(view, kind)
        estimate = EstimatorLearner.ESTIMATOR.estimate(view)
        upcards = np.broadcast_to(view.array["public"]["upcard"][:, None], rows.shape[:2])
        discards = np.where(actions[..., 0] == NO_ACTION, actions[..., 1], actions[..., 0]) % NUM_CARDS
        around = around_cards(estimate, discards if kind else upcards)
        return np.concatenate([rows, around], axis=2), actions, context


def around_cards(estimate: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Return the numbers of the opponent's cards around others, float32 (n, k, NUM_AROUND).

    They are the expected number of this rank, and the probabilities of the cards 1 and 2 below and above in
    the suit. `estimate` is float32 (n, 52) and `cards` (n, k).
    """
    by_suit = np.pad(estimate.reshape(-1, NUM_CARDS // NUM_RANKS, NUM_RANKS), ((0, 0), (0, 0), (2, 2)))
    each, (suit, rank) = np.arange(len(cards))[:, None], np.divmod(cards.astype(np.int64), NUM_RANKS)
    of_rank = by_suit.sum(axis=1)[each, rank + 2] / 3
    return np.stack([of_rank, *(by_suit[each, suit, rank + 2 + step] for step in (-1, 1, -2, 2))], axis=2)


class HistoryLayers(nn.Module):
    """Read the latest actions with a GRU, and add its last state to the first layer.

    It takes the place of `gin_env.agents.policies.candidate_network.MemoryLayers`.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1 + 2 * NUM_ACTIONS, TOKEN_UNITS)
        self.sequence = nn.GRU(TOKEN_UNITS, HISTORY_UNITS, batch_first=True)
        self.to_first = nn.Linear(HISTORY_UNITS, hidden, bias=False)
        self.size = hidden

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        _, state = self.sequence(self.embedding(tokens.long()))
        nothing = tokens.new_zeros(1, self.size, NUM_OUTPUTS)
        return self.to_first(state[0])[:, None], nothing[:, None, :, 0], nothing


class HistoryLearner(InputsLearner):
    """Reads the latest actions of both players in the hand as a sequence."""

    def make_network(self) -> CandidateScorer:
        network = super().make_network()
        network.num_context += NUM_TOKENS
        for scores in (network.draws, network.discards):
            scores.memory = HistoryLayers(self.settings.hidden)
        return network

    @staticmethod
    def inputs_of(view: PlayerView, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, actions, context = InputsLearner.inputs_of(view, kind)
        tokens = np.zeros((len(view), NUM_TOKENS), np.float32)
        write_tokens(view.array, tokens)
        return rows, actions, np.concatenate([context, tokens], axis=1)


@kernel
def write_tokens(views, tokens: np.ndarray) -> None:
    """Write the latest actions of the hand, the last one at the end, into zeros (n, NUM_TOKENS).

    Action a of the player is 1 + a, and of the opponent 1 + NUM_ACTIONS + a.
    """
    for index in range(len(views)):
        public = views[index].public
        mover = first_mover(public)
        for number in range(public.history_length):
            action = np.int64(public.history[number])
            place = NUM_TOKENS - public.history_length + number
            if place >= 0:
                tokens[index, place] = 1 + action + NUM_ACTIONS * (mover != views[index].player)
            mover = next_mover(action, mover)


class VariantBot(CandidatePolicyBot):
    """Plays the most probable action of a learner's network, with the inputs of the learner."""

    def __init__(self, learner: Learner, name: str) -> None:
        network = copy.deepcopy(learner.network).eval()
        network.draws.use_bfloat16 = network.discards.use_bfloat16 = False
        super().__init__(network, name=name)
        self.inputs_of = getattr(learner, "inputs_of", InputsLearner.inputs_of)

    def _candidates(self, view: PlayerView, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.inputs_of(view, int(number == DISCARD_ROWS))


def learn(variant: Callable[[PPOSettings], Learner], settings: PPOSettings) -> tuple[Learner, int]:
    """Train a learner in this process, and return (the learner, decisions learned)."""
    learner, decisions = variant(settings), 0
    learner.begin()
    while decisions < settings.total_timesteps:
        learner.collect()
        decisions += learner.update(1 - decisions / settings.total_timesteps)[0]
    return learner, decisions


VARIANTS: dict[str, type[Learner]] = {
    "unchanged, without past selves": Learner,
    "pull towards a moving average": MagnetLearner,
    "prediction of the opponent's hand": HandLearner,
    "an estimator's probabilities": EstimatorLearner,
    "the last 24 actions as a sequence": HistoryLearner,
}
"""The learners by name. Past selves cannot compute other inputs, so there are none in any of these runs."""
