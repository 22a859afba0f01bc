"""Self-play for MaskablePPO as a callback of ``model.learn``.

>>> callback = SelfPlayCallback("runs/mine", bots=["simple", "tonic"])
>>> model.learn(1_000_000, callback=callback)
>>> play_match("runs/mine/policy.safetensors", "simple")

A killed run continues from its last evaluation, in a new process with a model of the same settings:

>>> callback.restore(model)
>>> model.learn(1_000_000 - model.num_timesteps, callback=callback, reset_num_timesteps=False)
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from gin_env import agents
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.policy import PolicyBot
from gin_env.batch import Episode
from gin_env.matches.matches import check_games, play_match
from gin_env.support.checks import check_integer, check_number
from gin_env.support.tensor_files import NetworkFormat
from gin_env.training.checkpoints import (
    Tensors,
    by_prefix,
    check_same_settings,
    optimizer_tensors,
    prefixed,
    restore_optimizer,
)
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy

POLICY_FILE = "policy.safetensors"
EVALUATIONS_FILE = "evaluations.csv"
CHECKPOINT_FILE = "checkpoint.safetensors"
_FORMAT = NetworkFormat("checkpoint of SelfPlayCallback", "2", "SelfPlayCallback")
_SETTINGS = ("bots_share", "snapshot_every", "pool_size", "evaluate_every", "games", "episode", "seed")
_MODEL_SETTINGS = ("seed", "n_envs", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef")
_MEMORY = 0.99
"""Factor by which earlier results are multiplied whenever the opponents are weighted again."""


class SelfPlayCallback(BaseCallback):
    """Play against bots and past selves, evaluate regularly, and keep the best policy.

    The environment must be a `GinRummyVecEnv`, also inside SB3's wrappers. Past selves are copies of the
    policy that sample their actions. Opponents that win more hands are chosen more often.

    Parameters
    ----------
    run : folder for ``policy.safetensors``, the best policy so far, ``evaluations.csv``, and
        ``checkpoint.safetensors``, from which `restore` continues.
    bots : names of bots or bot objects to play against, in training and in evaluations.
    bots_share : share of the hands against bots; the others are against past selves, once there is one.
    snapshot_every : number of decisions between two past selves.
    pool_size : maximum number of past selves; from a full pool, the one closest to its neighbours is dropped.
    evaluate_every : number of decisions between two evaluations. There is one more at the end.
    games : number of episodes of an evaluation against each bot, even. They are the same deals every time,
        under the rules of the environment.
    episode : ``"hand"`` (default) or ``"game"``, what is evaluated. Games of beginners take long.
    seed : seed of the evaluations.
    verbose : 1 prints each evaluation.

    Attributes
    ----------
    best_win_rate : mean win rate of the best policy against the bots; -1 before the first evaluation. All
        evaluations play the same deals, and the best of several is slightly too high.
    """

    def __init__(
        self,
        run: str | Path,
        bots: Sequence[str | agents.Agent] = ("simple",),
        *,
        bots_share: float = 0.5,
        snapshot_every: int = 50_000,
        pool_size: int = 8,
        evaluate_every: int = 100_000,
        games: int = 400,
        episode: Episode = "hand",
        seed: int = 0,
        verbose: int = 1,
    ) -> None:
        super().__init__(verbose)
        if isinstance(bots, str) or not len(bots):
            raise ValueError(f"bots must be a list of at least one bot, not {bots!r}")
        self.run = Path(run)
        self.bots = [agents.resolve(bot, programs=True) for bot in bots]
        names = [bot.name for bot in self.bots]
        if len(set(names)) < len(names):
            raise ValueError(f"bots must have different names, not {', '.join(names)}")
        self.bots_share = check_number("bots_share", bots_share, 0.0, 1.0)
        self.snapshot_every = check_integer("snapshot_every", snapshot_every, 1, 1 << 60)
        self.pool_size = check_integer("pool_size", pool_size, 1, 1000)
        self.evaluate_every = check_integer("evaluate_every", evaluate_every, 1, 1 << 60)
        self.games, self.episode, self.seed = check_games(games), episode, seed
        self.best_win_rate = -1.0
        self.past: list[CandidatePolicyBot | PolicyBot] = []
        self._weights: dict[int, Tensors] = {}  # of each past self, by the decisions after which it was taken
        self._before = self._counted = 0  # decisions of earlier calls of learn(), and of this one
        self._results: dict[str, np.ndarray] = {}  # by opponent: hands, hands lost
        self._next_snapshot = self._next_evaluation = self._last_evaluation = 0

    @property
    def decisions(self) -> int:
        """Number of decisions of all calls of ``learn`` with this callback."""
        return self._before + self.num_timesteps

    # --- The hooks of SB3 -------------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        self._find_games(self.model)
        self.run.mkdir(parents=True, exist_ok=True)
        if self.num_timesteps < self._counted:  # learn() has set its counter back
            self._before += self._counted
            self._counted = 0
        self._next_snapshot = max(self._next_snapshot, self.decisions + self.snapshot_every)
        self._next_evaluation = max(self._next_evaluation, self.decisions + self.evaluate_every)
        self._choose_opponents()

    def _find_games(self, model: Any) -> None:
        env = model.get_env().unwrapped
        if not isinstance(env, GinRummyVecEnv):
            raise TypeError(f"SelfPlayCallback needs a GinRummyVecEnv, not {type(env).__name__}")
        self._env = env
        if getattr(model, "gin_env", None) is None:
            model.gin_env = env.describe_training()

    def restore(self, model: MaskablePPO) -> None:
        """Continue from the run's checkpoint: set the model's weights and counters, and the past selves.

        Raises FileNotFoundError if there is none, ValueError for other settings.
        """
        path = self.run / CHECKPOINT_FILE
        if not path.exists():
            raise FileNotFoundError(f"nothing to resume: there is no {path}")
        tensors, metadata = _FORMAT.read_tensors(path)
        self._find_games(model)
        check_same_settings(self.run, metadata["settings"], self._settings(model))
        self.model = model
        current = {name: each for name, each in tensors.items() if not name.startswith("past.")}
        restore_model(model, current)  # raises before anything else has changed
        past = by_prefix(by_prefix(tensors).get("past", {}))
        self.past, self._weights = [], {}
        for decisions in metadata["taken_after"]:
            model.policy.load_state_dict(past[str(decisions)])
            self._keep_past_self(decisions)
        restore_model(model, current)  # the past selves were loaded into its policy
        model.num_timesteps = self.num_timesteps = metadata["decisions"]
        self._last_evaluation, self._counted = metadata["decisions"], metadata["decisions"]
        self.best_win_rate = metadata["best_win_rate"]
        self._results = {name: np.array(each) for name, each in metadata["results"].items()}
        self._env.seed((model.seed or 0) + metadata["decisions"])  # different decks from those before

    def _settings(self, model: Any) -> dict[str, Any]:
        """Return, for JSON, what a resumed run must have in common with its earlier sessions."""
        settings = {"bots": [bot.name for bot in self.bots], "rules": self._env.seat.games.rules.text}
        settings |= {name: getattr(self, name) for name in _SETTINGS}
        return settings | {f"the model's {name}": getattr(model, name) for name in _MODEL_SETTINGS}

    def _save(self) -> None:
        """Replace the checkpoint, with everything that training changes in the model and in this object.

        The random generators are the global ones of torch and NumPy, both of which SB3 uses.
        """
        _, keys, place, *_ = np.random.get_state()  # noqa: NPY002 (SB3 draws its minibatches from it)
        random = {
            "numpy": torch.from_numpy(np.append(keys, place).astype(np.int64)),
            "torch": torch.get_rng_state(),
        }
        policy = cast(MaskablePPO, self.model).policy
        tensors = prefixed("policy", policy.state_dict()) | prefixed("random", random)
        tensors |= prefixed("optimizer", optimizer_tensors(policy.optimizer))
        for decisions, weights in self._weights.items():
            tensors |= prefixed(f"past.{decisions}", weights)
        metadata = {
            "settings": self._settings(self.model),
            "decisions": self.decisions,
            "taken_after": list(self._weights),
            "best_win_rate": self.best_win_rate,
            "results": {name: each.tolist() for name, each in self._results.items()},
        }
        _FORMAT.write_tensors(self.run / CHECKPOINT_FILE, tensors, metadata)

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "opponent" in info:
                lost = info["outcome"] != "void" and not info["won"]
                self._results.setdefault(info["opponent"], np.zeros(2))[:] += (1, lost)
        return True

    def _on_rollout_start(self) -> None:
        self._counted = self.num_timesteps
        if self.decisions >= self._next_snapshot:
            self._next_snapshot = self.decisions + self.snapshot_every
            self._add_past_self()
        if self.decisions >= self._next_evaluation:
            self._next_evaluation = self.decisions + self.evaluate_every
            self.evaluate()
        self._choose_opponents()

    def _on_training_end(self) -> None:
        self._counted = self.num_timesteps
        if self.decisions > self._last_evaluation:
            self.evaluate()

    # --- Opponents and evaluations ----------------------------------------------------------------------

    def weights(self) -> dict[str, float]:
        """Return the share of the hands against each opponent, by its name."""
        groups: list[tuple[Sequence[agents.Agent], float]] = [
            (self.bots, self.bots_share if self.past else 1.0),
            (self.past, 1 - self.bots_share),
        ]
        shares: dict[str, float] = {}
        for group, share in groups:
            # Start from 10 hands, 5 of them lost: a new opponent is chosen as often as an equal one.
            results = [self._results.get(bot.name, np.zeros(2)) for bot in group]
            losses = [(lost + 5) / (hands + 10) for hands, lost in results]
            shares |= {bot.name: share * loss / sum(losses) for bot, loss in zip(group, losses, strict=True)}
        return shares

    def evaluate(self) -> dict[str, float]:
        """Return the win rate against each bot, log it, and save the policy if it is the best so far."""
        self._last_evaluation = self.decisions
        player, rules = self._copy(deterministic=True, name="learner"), self._env.seat.games.rules
        rates = {
            bot.name: play_match(
                player, bot, self.games, self.seed, episode=self.episode, rules=rules
            ).win_rate
            for bot in self.bots
        }
        mean = float(np.mean(list(rates.values())))
        if mean > self.best_win_rate:
            self.best_win_rate = mean
            save_policy(cast(MaskablePPO, self.model), self.run / POLICY_FILE)
        for name, rate in rates.items():
            self.logger.record(f"evaluation/{name}", rate)
        path = self.run / EVALUATIONS_FILE
        is_new = not path.exists()
        with path.open("a", newline="") as file:
            rows = csv.writer(file)
            if is_new:
                rows.writerow(["decisions", "bot", "win_rate"])
            rows.writerows([self.decisions, name, f"{rate:.4f}"] for name, rate in rates.items())
        if self.verbose:
            described = ", ".join(f"{100 * rate:.1f} % against {name}" for name, rate in rates.items())
            print(f"{self.decisions:,} decisions: wins {described} ({self.games} {self.episode}s each)")
        self._save()
        return rates

    def _choose_opponents(self) -> None:
        shares = self.weights()
        self._env.set_opponents([*self.bots, *self.past], list(shares.values()))
        for result in self._results.values():
            result *= _MEMORY

    def _add_past_self(self) -> None:
        self._keep_past_self(self.decisions)
        if len(self.past) > self.pool_size:
            taken_after = list(self._weights)
            index = index_to_drop(taken_after)
            self._results.pop(self.past.pop(index).name, None)
            del self._weights[taken_after[index]]

    def _keep_past_self(self, decisions: int) -> None:
        self.past.append(self._copy(deterministic=False, name=f"past-{decisions}"))
        weights = self.model.policy.state_dict()
        self._weights[decisions] = {name: each.clone() for name, each in weights.items()}

    def _copy(self, deterministic: bool, name: str) -> CandidatePolicyBot | PolicyBot:
        kind = CandidatePolicyBot if isinstance(self.model.policy, SB3CandidatePolicy) else PolicyBot
        return kind.snapshot(cast(MaskablePPO, self.model), deterministic=deterministic, name=name)


def index_to_drop(taken_after: Sequence[int]) -> int:
    """Return the index of the past self that is closest to its neighbours, relative to its age.

    `taken_after` has the number of decisions after which each was taken, in ascending order.
    """
    steps = np.array(taken_after)
    gaps = (steps[2:] - steps[:-2]) / np.maximum(steps[-1] - steps[1:-1], 1)
    return 1 + int(np.argmin(gaps)) if len(gaps) else 0


def restore_model(model: MaskablePPO, tensors: Tensors) -> None:
    """Restore a model with the same settings from a checkpoint. Raises ValueError if they do not fit."""
    groups = by_prefix(tensors)
    try:
        model.policy.load_state_dict(groups["policy"])
        restore_optimizer(model.policy.optimizer, groups.get("optimizer", {}))
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"the checkpoint is of a model with other settings: {error}") from error
    torch.set_rng_state(groups["random"]["torch"])
    *keys, position = groups["random"]["numpy"].tolist()
    np.random.set_state(("MT19937", np.array(keys, np.uint32), position, 0, 0.0))  # noqa: NPY002
