"""``policy``: a policy trained by PPO, whose discards a second network improves.

A network that scores candidates (`gin_env.agents.policies.candidate_network`) proposes all decisions. Where
it has to discard, a second network predicts what its most probable actions gain in games of the first network
against itself. The action with the highest gain is played, if it is better than the first network's choice by
a margin. This is one step of policy improvement. `research.recipes.action_values` describes how gains are
measured.

The second network (`GainNetwork`, trained by `research.recipes.gains`) sees the candidates
(`gin_env.observations.candidates`), the policy's probabilities and the card planes of the observation. Two
layers, which treat the suits alike, describe each card by its neighbours in its suit and the other cards of
its rank. The description of the moved card, and the means over the cards in the hand and over those that the
opponent may hold, are added to the numbers of the candidate.

Results: docs/results/learning.md, "The bot policy".
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.base import DIGITS, are_best
from gin_env.agents.policies.candidate_network import (
    PACKAGED,
    CandidateScorer,
    file_of_policy,
    load_candidate_policy,
)
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.cards import NUM_RANKS, NUM_SUITS
from gin_env.observations.candidates import NO_ACTION, NUM_CONTEXT, NUM_FEATURES, are_discarding
from gin_env.observations.observation import NUM_PLANES, PLANES
from gin_env.observations.parts import find_parts, place_columns
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number
from gin_env.support.specs import NamedObject
from gin_env.support.tensor_files import NetworkFormat
from gin_env.support.torch_extra import nn, torch

FORMAT = NetworkFormat("gain network", "1", "python -m research train gains")
PACKAGED_GAINS = Path(__file__).parents[1] / "data" / "policy-gains.safetensors"
MAX_UNITS = 1024
MAX_TRIED = 4
"""Number of the policy's most probable actions whose gains are predicted, at most."""
MIN_CHANCE = 1e-6
"""Least probability of these actions."""
CLOSE = 1e-3
"""Probabilities whose ratio differs from 1 by less may be in another order in single precision."""
LEAST_LOG = float(np.log(MIN_CHANCE))


class CardLayer(nn.Module):
    """Describe each card by itself, its neighbours up to two ranks away, and the sum over its rank."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.neighbours = nn.Conv2d(inputs, outputs, (1, 5), padding=(0, 2))
        self.same_rank = nn.Conv2d(inputs, outputs, 1)

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        """Return the descriptions (n, outputs, 4, 13) of cards (n, inputs, 4, 13)."""
        return torch.relu(self.neighbours(cards) + self.same_rank(cards.sum(dim=2, keepdim=True)))


class GainNetwork(nn.Module):
    """The gain of each action of the candidates to discard, in percentage points of the chance to win.

    Only differences between the actions of one decision have a meaning.

    Parameters
    ----------
    hidden : width of the layers for candidates.
    channels : numbers that describe a card.
    num_planes : number of card planes, with that of the hand first and the estimate last.
    """

    def __init__(self, hidden: int = 64, channels: int = 16, num_planes: int = NUM_PLANES) -> None:
        super().__init__()
        self.hidden = check_integer("a layer's size", hidden, 1, MAX_UNITS)
        self.channels = check_integer("channels", channels, 1, MAX_UNITS)
        self.first_cards = CardLayer(num_planes, channels)
        self.second_cards = CardLayer(channels, channels)
        self.belief = nn.Conv2d(channels, 1, 1)
        self.row = nn.Linear(NUM_FEATURES, hidden)
        self.chances = nn.Linear(2, hidden, bias=False)
        self.context = nn.Linear(NUM_CONTEXT, hidden, bias=False)
        self.means = nn.Linear(2 * channels, hidden, bias=False)
        self.card = nn.Linear(channels, hidden, bias=False)
        self.second = nn.Linear(hidden, hidden)
        self.gains = nn.Linear(hidden, 2)

    def forward(
        self,
        rows: torch.Tensor,
        log_chances: torch.Tensor,
        context: torch.Tensor,
        planes: torch.Tensor,
        cards: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return gains (n, 2 * k), discard and knock of each row, and logits of the opponent's cards (n, 52).

        `rows` is (n, k, NUM_FEATURES), and `log_chances` (n, k, 2) has the logarithms of the policy's
        probabilities of both actions, `LEAST_LOG` for those that are not tried. `context` is
        (n, NUM_CONTEXT), `planes` are those of the observation, (n, num_planes, 4, 13), and `cards`,
        int64 (n, k), names the card of each row.
        """
        described = self.first_cards(planes)
        described = described + self.second_cards(described)
        flat = described.flatten(2)
        means = [(flat * planes[:, [plane]].flatten(2)).sum(2) / 10 for plane in (0, -1)]
        moved = flat.transpose(1, 2).gather(1, cards[:, :, None].expand(-1, -1, self.channels))
        shared = self.context(context) + self.means(torch.cat(means, dim=1))
        hidden = self.row(rows) + self.chances(log_chances / 10) + shared[:, None] + self.card(moved)
        hidden = torch.relu(hidden)
        hidden = torch.relu(self.second(hidden))
        return self.gains(hidden).flatten(1), self.belief(described).flatten(1)


@dataclass(frozen=True)
class Tried:
    """The most probable actions of a policy, the most probable first, for players who have to discard."""

    actions: np.ndarray
    """int64 (n, MAX_TRIED), `NO_ACTION` where there are fewer."""
    log_chances: np.ndarray
    """Logarithms of the probabilities; float64 (n, MAX_TRIED)."""

    @classmethod
    def of(cls, chances: np.ndarray) -> Tried:
        """Return the actions with probabilities (n, 107) of at least `MIN_CHANCE`, equal ones by number."""
        chances = chances.round(DIGITS)  # equal actions of different suits differ by rounding errors
        actions = np.argsort(-chances, axis=1, kind="stable")[:, :MAX_TRIED]
        likely = np.take_along_axis(chances, actions, axis=1)
        log_chances = np.log(np.maximum(likely, MIN_CHANCE))
        return cls(np.where(likely >= MIN_CHANCE, actions, NO_ACTION), log_chances)

    def at(self, index: np.ndarray) -> Tried:
        """Return the actions of these players."""
        return Tried(self.actions[index], self.log_chances[index])


def are_close(chances: np.ndarray) -> np.ndarray:
    """Return where rounding of probabilities (n, 107) could change what `Tried.of` returns, bool (n,)."""
    first = -np.partition(-chances, MAX_TRIED, axis=1)[:, : MAX_TRIED + 1]
    first.sort(axis=1)
    ties = (first[:, 1:] - first[:, :-1] <= CLOSE * first[:, 1:]) & (first[:, 1:] > MIN_CHANCE / 2)
    near_least = np.abs(chances - MIN_CHANCE) < CLOSE * MIN_CHANCE
    return np.asarray(ties.any(axis=1) | near_least.any(axis=1))


def candidate_inputs(actions: np.ndarray, tried: Tried) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (log_chances, cards, places) for the `actions` of candidates to discard and the actions tried.

    The first two are inputs of `GainNetwork`, float32 (n, 11, 2) and int64 (n, 11). `places`, int64
    (n, MAX_TRIED), says which of its gains is that of each action tried; it is 0 where there is none.
    """
    flat = actions.reshape(len(actions), -1)
    same = (flat[:, None] == tried.actions[:, :, None]) & (tried.actions != NO_ACTION)[:, :, None]
    log_chances = np.where(same, tried.log_chances[:, :, None], LEAST_LOG).max(axis=1)
    cards = np.maximum(actions[:, :, 0], 0)
    return log_chances.reshape(actions.shape).astype(np.float32), cards, same.argmax(axis=2)


class GainPredictor:
    """Predicts what the most probable actions of a policy gain.

    Parameters
    ----------
    path : a file of ``python -m research train gains``; default: the packaged network.
    """

    def __init__(self, path: str | Path = PACKAGED_GAINS) -> None:
        self.network, self._columns = load_gain_network(path)
        self._exact = copy.deepcopy(self.network).double()

    def __call__(self, view: PlayerView, tried: Tried, exact: bool = False) -> np.ndarray:
        """Return the gains of the actions tried by players who have to discard, (n, MAX_TRIED).

        They are percentage points, in float32, or in float64 if `exact`; of actions that are missing, -inf.
        """
        network = self._exact if exact else self.network
        dtype = network.gains.weight.dtype
        rows, actions, context = view.candidates()
        log_chances, cards, places = candidate_inputs(actions, tried)
        planes = view.observations()[:, self._columns].reshape(len(view), -1, NUM_SUITS, NUM_RANKS)
        with torch.inference_mode():
            inputs = [torch.from_numpy(array).to(dtype) for array in (rows, log_chances, context, planes)]
            gains = network(*inputs, torch.from_numpy(cards))[0].numpy()
        gains = np.take_along_axis(gains, places, axis=1)
        return np.where(tried.actions == NO_ACTION, -np.inf, gains)


def load_gain_network(path: str | Path) -> tuple[GainNetwork, np.ndarray]:
    """Return (network, columns of the observation that are its planes) from a file.

    Raises as `NetworkFormat.read_tensors` does.
    """

    def build(described: dict[str, Any], tensors: dict[str, torch.Tensor]) -> GainNetwork:
        reads: Any = described["reads"]
        find_parts("observation", reads)  # checks them
        names = [name for name, _ in reads["observation"]]
        if not set(names) <= set(PLANES) or (names[0], names[-1]) != ("hand", "estimate"):
            raise ValueError("it must read card planes of the observation, from the hand to the estimate")
        for vector in ("row", "context"):  # each is read by the layer of its name
            name = f"{vector}.weight"
            tensors[name] = place_columns(tensors[name], vector, reads)
        with torch.device("meta"):  # allocate no memory until the size is known to match the weights
            return GainNetwork(described["hidden"], described["channels"], len(names))

    network, described = FORMAT.read(path, build)
    return network, find_parts("observation", described["reads"])


class ImprovedPolicyBot(NamedObject):
    """Plays a policy that scores candidates, and the discards that a second network prefers by a margin.

    Parameters
    ----------
    margin : percentage points of the chance to win by which an action must be better than the policy's
        choice; None to play the policy as it is, which takes a third of the time.
    weights : the policy: a file of a policy that scores candidates, or the name of a bundled one. A file's
        policy warns under rules other than those used in training.
    gains : a file of ``python -m research train gains``; None for the packaged network, which is made for the
        bundled ``policy``.

    Raises ValueError or TypeError for an impossible margin, and otherwise as `load_candidate_policy` and
    `load_gain_network` do.
    """

    def __init__(self, margin: float | None = 0.3, weights: str = "policy", gains: str | None = None) -> None:
        network, rules, episode = load_candidate_policy(weights)
        self.name = "policy"
        self.policy = CandidatePolicyBot(network, None if weights in PACKAGED else rules, episode=episode)
        self.margin = None if margin is None else check_number("margin", margin, 0, 100)
        self.files = file_of_policy(weights), PACKAGED_GAINS if gains is None else Path(gains)
        self.predictor = None if margin is None else GainPredictor(self.files[1])

    @property
    def network(self) -> CandidateScorer:
        """The first network, which scores candidates."""
        return self.policy.network

    @classmethod
    def with_memory(cls, margin: float | None = 0.2) -> ImprovedPolicyBot:
        """Return the bot ``policy-memory``, whose first network also reads the memory of earlier hands."""
        bot = cls(margin, "policy-memory")
        bot.name = "policy-memory"
        return bot

    def act(self, view: PlayerView) -> np.ndarray:
        if self.predictor is None:
            return self.policy.act(view)
        chosen = np.empty(len(view), np.int64)
        discarding = are_discarding(view.array)
        draws, discards = np.flatnonzero(~discarding), np.flatnonzero(discarding)
        if len(draws):
            chosen[draws] = self.policy.act(view[draws])
        if len(discards):
            chosen[discards] = self._discard(self.predictor, view[discards])
        return chosen

    def action_chances(self, view: PlayerView) -> np.ndarray:
        """Return the probability of each action before discards are improved: float64 (n, 107)."""
        return self.policy.action_chances(view)

    def tried(self, view: PlayerView) -> Tried:
        """Return the policy's most probable actions; close calls are decided in double precision."""
        chances = self.policy.action_chances(view)
        close = np.flatnonzero(are_close(chances))
        if len(close):
            chances[close] = self.policy.action_chances(view[close], exact=True)
        return Tried.of(chances)

    def _discard(self, predictor: GainPredictor, view: PlayerView) -> np.ndarray:
        """Return the actions of players who have to discard."""
        tried = self.tried(view)
        chosen = tried.actions[:, 0].copy()
        several = np.flatnonzero((tried.actions != NO_ACTION).sum(axis=1) > 1)
        if not len(several):
            return chosen
        view, tried = view[several], tried.at(several)
        advantage = self.margin * (tried.actions == chosen[several, None])

        def exact(some: np.ndarray) -> np.ndarray:
            again = Tried.of(self.policy.action_chances(view[some], exact=True))
            return predictor(view[some], again, exact=True) + advantage[some]

        best = are_best(predictor(view, tried) + advantage, exact)
        chosen[several] = np.where(best, tried.actions, NUM_ACTIONS).min(axis=1)
        return chosen
