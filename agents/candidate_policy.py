"""A policy that scores candidates: its network, its file, and the bot that plays it.

Every candidate (`gin_env.candidates`) is scored by the same two layers, which also read the numbers of the
table; the probability of an action is the softmax of the scores. Draws and discards have weights of their
own. The value of the position is that of its candidates, each as much as it is probable to be chosen.
``examples/ppo.py`` trains one in plain PyTorch, `gin_env.wrappers.candidate_policy` with Stable-Baselines3.

>>> network = CandidatePolicy(hidden=64)
>>> env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=256, candidates=True)
>>> observations, infos = env.reset()
>>> logits, values = network.action_logits(*(torch.from_numpy(observations[name]) for name in ENTRIES))
>>> agents.make("runs/first/policy.safetensors")
"""

from __future__ import annotations

import copy
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env.actions import DRAW_STOCK, NUM_ACTIONS
from gin_env.agents.policy import sample_actions, training_of
from gin_env.agents.ties import are_best
from gin_env.batch import EPISODES, Episode
from gin_env.candidates import (
    DISCARD_ROWS,
    DRAW_ROWS,
    NO_ACTION,
    NUM_FEATURES,
    NUM_TABLE,
    TABLE,
    VERSION,
    are_discarding,
)
from gin_env.rules import Rules
from gin_env.support.checks import check_choice, check_integer, check_switch
from gin_env.support.tensor_files import TensorFileError, fill_network, read_tensors, write_tensors
from gin_env.views import PlayerView

try:
    import torch
    from torch import nn
except ImportError as error:  # pragma: no cover - the tests have torch
    raise ImportError('trained policies need torch: pip install "gin-env[train]"') from error

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

KIND = "candidate policy"
FILE_VERSION = f"1, candidates {VERSION}"
"""Changes when the network is built differently or reads other numbers; other versions are refused."""
MOST_UNITS = 4096
_SCORES = [list(TABLE).index(name) for name in ("own_score", "opponent_score")]
IMPOSSIBLE = -1e9
"""Logit of what cannot be done."""
SHIPPED = Path(__file__).parent / "data" / "policy.safetensors"
"""The weights of the bot ``policy``."""


class CandidateScores(nn.Module):
    """Scores of candidates and the value of the position, for draws or for discards.

    Parameters
    ----------
    hidden : width of both layers.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.row_first = nn.Linear(NUM_FEATURES, hidden)
        self.table_first = nn.Linear(NUM_TABLE, hidden, bias=False)
        self.row_second = nn.Linear(hidden, hidden)
        self.outputs = nn.Linear(hidden, 4)  # the logits of both actions, and what they are worth

    def forward(
        self, rows: torch.Tensor, possible: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(logits (n, 2 * k), values (n,)) of rows (n, k, NUM_FEATURES), bool (n, 2 * k), (n, NUM_TABLE)."""
        hidden = torch.relu(self.row_first(rows) + self.table_first(table)[:, None])
        hidden = torch.relu(self.row_second(hidden))
        logits, worth = self.outputs(hidden).unflatten(2, (2, 2)).unbind(2)
        logits = logits.flatten(1).masked_fill(~possible, IMPOSSIBLE)
        chances = torch.softmax(logits.detach(), dim=1)
        return logits, (chances * worth.flatten(1)).sum(dim=1)


class CandidatePolicy(nn.Module):
    """Both networks: for draws (two rows) and for discards (eleven).

    Parameters
    ----------
    hidden : width of the layers.
    """

    def __init__(self, hidden: int = 64) -> None:
        super().__init__()
        self.hidden = check_integer("a layer's size", hidden, 1, MOST_UNITS)
        self.draws = CandidateScores(self.hidden)
        self.discards = CandidateScores(self.hidden)

    def forward(
        self, rows: torch.Tensor, possible: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(logits (n, 2 * k), values (n,)); there are k = 2 rows for players who draw, 11 for discards.

        `possible`, bool (n, 2 * k), says which actions of the candidates can be done.
        """
        return (self.draws if rows.shape[1] == DRAW_ROWS else self.discards)(rows, possible, table)

    def action_logits(
        self, rows: torch.Tensor, actions: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(logits (n, 107), values (n,)) of observations with candidates: draws and discards as they come.

        Takes the three entries of the observation: rows (n, 11, NUM_FEATURES), actions int64 (n, 11, 2) and
        table (n, NUM_TABLE). The logit of an action that no candidate stands for is `IMPOSSIBLE`, its
        probability 0.
        """
        drawing = actions[:, 1, 0] >= DRAW_STOCK  # the second row does not take the upcard
        logits = rows.new_full((len(rows), NUM_ACTIONS + 1), IMPOSSIBLE)  # the last column is of no action
        values = rows.new_zeros(len(rows))
        for number, group in ((DRAW_ROWS, drawing), (DISCARD_ROWS, ~drawing)):
            mine = group.nonzero()[:, 0]
            chosen = actions[mine, :number].flatten(1)
            scores, worth = self(rows[mine, :number], chosen != NO_ACTION, table[mine])
            logits[mine[:, None], chosen] = scores
            values[mine] = worth
        return logits[:, :NUM_ACTIONS], values


def check_training(training: dict[str, Any]) -> tuple[Rules, Episode]:
    """(rules, episode) of what `describe_training` returned for a policy on candidates.

    Raises ValueError unless the policy can be played by this release.
    """
    if training.get("candidates_version") != VERSION:
        raise ValueError(
            f"it was trained on candidates of version {training.get('candidates_version')}, this release has "
            f"version {VERSION}: set model.gin_env = env.describe_training() where it is trained"
        )
    try:
        return Rules(**training["rules"]), check_choice("episode", training["episode"], EPISODES)
    except (KeyError, TypeError) as error:
        raise ValueError(f"it does not say how it was trained: {error}") from error


def save_candidate_policy(
    path: str | Path,
    network: CandidatePolicy,
    rules: Rules | None = None,
    provenance: dict[str, Any] | None = None,
    episode: Episode = "game",
) -> None:
    """Write a policy to a ``.safetensors`` file, which is a bot by its path.

    Parameters
    ----------
    rules : under which it was trained; default `Rules()`.
    provenance : where it comes from (JSON-able).
    episode : of its training, ``"hand"`` or ``"game"``: after training on hands it is shown no scores.
    """
    if Path(path).suffix != ".safetensors":
        raise ValueError(f"a policy's file ends in .safetensors, unlike {path}")
    described = {
        "hidden": network.hidden,
        "rules": asdict(rules or Rules()),
        "episode": check_choice("episode", episode, EPISODES),
        "provenance": provenance or {},
    }
    write_tensors(path, KIND, FILE_VERSION, network.state_dict(), described)


def load_candidate_policy(path: str | Path) -> tuple[CandidatePolicy, Rules, Episode]:
    """(network, rules, episode) of a file that `save_candidate_policy` wrote.

    Raises as `gin_env.support.tensor_files.read_tensors` does.
    """
    tensors, described = read_tensors(path, KIND, FILE_VERSION, "python examples/ppo.py")
    try:
        rules = Rules(**described["rules"])
        # The first files did not say it: they were all trained on games.
        episode = check_choice("episode", described.get("episode", "game"), EPISODES)
        with torch.device("meta"):  # no memory before the size is known to be the weights'
            network = CandidatePolicy(described["hidden"])
    except (ValueError, TypeError, KeyError) as error:
        raise TensorFileError(
            f"{path} does not say how large its network is, and how it was trained: {str(error)[:200]}"
        ) from error
    fill_network(network, tensors, path)
    return network.eval(), rules, episode


class CandidatePolicyBot:
    """Plays a `CandidatePolicy`, one forward pass for all tables where players draw, one where they discard.

    A deterministic one decides the same alone and in any batch, with any number of threads.

    Parameters
    ----------
    network : used as it is: hand over a copy of one that is still learning.
    rules : under which it was trained, and alone plays; default: it plays under any.
    deterministic : play the most probable action (default) or draw from the distribution.
    name : the bot's name in results.
    episode : of its training, ``"hand"`` or ``"game"``: after training on hands it is shown no scores.
    """

    def __init__(
        self,
        network: CandidatePolicy,
        rules: Rules | None = None,
        deterministic: bool = True,
        name: str = "policy",
        episode: Episode = "game",
    ) -> None:
        self.network = network
        self.rules = rules
        self.deterministic = check_switch("deterministic", deterministic)
        self._exact = copy.deepcopy(network).double() if deterministic else network
        self.name = name
        self.sees_scores = check_choice("episode", episode, EPISODES) == "game"

    @classmethod
    def shipped(cls, deterministic: bool = True) -> CandidatePolicyBot:
        """The bot ``policy``, which plays under any rules as well as it can."""
        network, _, episode = load_candidate_policy(SHIPPED)
        return cls(network, None, deterministic, "policy", episode)

    @classmethod
    def load(cls, path: str | Path, deterministic: bool = True) -> CandidatePolicyBot:
        """The policy in a file that `save_candidate_policy` wrote. Raises as `load_candidate_policy` does."""
        network, rules, episode = load_candidate_policy(path)
        return cls(network, rules, deterministic, Path(path).stem, episode)

    @classmethod
    def snapshot(
        cls, model: MaskablePPO, deterministic: bool = False, name: str = "snapshot"
    ) -> CandidatePolicyBot:
        """A frozen copy of a model in training with `gin_env.wrappers.candidate_policy.CandidatePolicy`.

        Set ``model.gin_env = env.describe_training()`` first. Raises ValueError for other policies.
        """
        network = getattr(model.policy.mlp_extractor, "network", None)
        if not isinstance(network, CandidatePolicy):
            raise ValueError(
                f"{name} is a {type(model.policy).__name__}, which scores no candidates: "
                "PolicyBot.snapshot takes other policies than CandidatePolicy"
            )
        rules, episode = check_training(training_of(model))
        return cls(copy.deepcopy(network).cpu().eval(), rules, deterministic, name, episode)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`. Raises ValueError under other rules than those of the training."""
        self._check_rules(view)
        chosen = np.empty(len(view), np.int64)
        discarding = are_discarding(view.records)
        for number, group in ((DRAW_ROWS, ~discarding), (DISCARD_ROWS, discarding)):
            mine = np.flatnonzero(group)
            if not len(mine):
                continue
            rows, actions, table = self._candidates(view[mine], number)
            actions = actions.reshape(len(mine), -1)
            if self.deterministic:
                chosen[mine] = self._best(rows, actions, table)
            else:
                chances = torch.softmax(_logits(self.network, rows, actions, table), dim=1).numpy()
                best = sample_actions(chances, view.records["random"][mine])
                chosen[mine] = actions[np.arange(len(mine)), best]
        return chosen

    def action_chances(self, view: PlayerView) -> np.ndarray:
        """float64 (n, 107): with which probability the network chooses each action. Raises as `act` does."""
        self._check_rules(view)
        rows, actions, table = self._candidates(view, DISCARD_ROWS)
        dtype = self.network.draws.outputs.weight.dtype
        with torch.inference_mode():
            logits, _ = self.network.action_logits(
                torch.from_numpy(rows).to(dtype),
                torch.from_numpy(actions),
                torch.from_numpy(table).to(dtype),
            )
            return torch.softmax(logits.double(), dim=1).numpy()

    def _check_rules(self, view: PlayerView) -> None:
        if self.rules not in (None, view.rules):
            raise ValueError(f"{self.name} was trained under {self.rules}, not under {view.rules}")

    def _candidates(self, view: PlayerView, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`PlayerView.candidates`, the first `number` of each player; no scores where it sees none."""
        rows, actions, table = view.candidates(rows=np.empty((len(view), number, NUM_FEATURES), np.float32))
        if not self.sees_scores:
            table[:, _SCORES] = 0
        return rows, actions, table

    def _best(self, rows: np.ndarray, actions: np.ndarray, table: np.ndarray) -> np.ndarray:
        """The most probable action of each player, the first of equal ones as Stable-Baselines3 decides."""
        logits = _logits(self.network, rows, actions, table).numpy()
        best = are_best(
            logits, lambda some: _logits(self._exact, rows[some], actions[some], table[some]).numpy()
        )
        return np.where(best, actions, NUM_ACTIONS).min(axis=1)


def _logits(
    network: CandidatePolicy, rows: np.ndarray, actions: np.ndarray, table: np.ndarray
) -> torch.Tensor:
    """Logits (n, 2 * k) in the network's precision; actions (n, 2 * k)."""
    dtype = network.draws.outputs.weight.dtype
    with torch.inference_mode():
        possible = torch.from_numpy(actions != NO_ACTION)
        return network(torch.from_numpy(rows).to(dtype), possible, torch.from_numpy(table).to(dtype))[0]
