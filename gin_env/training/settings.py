"""The settings of a training by PPO: those of ``gin-rummy train``."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from gin_env import agents
from gin_env.agents.policies.candidate_network import MAX_UNITS
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.matches.matches import check_games
from gin_env.support.checks import check_integer, check_number
from gin_env.support.threads import usable_cores

PROGRAM = "gin-rummy train"
OTHER_DECKS = 1000
"""Offset from the training seed to the match seed, so that matches have new decks."""
MAX_PAST = 300
"""Maximum number of past selves: a checkpoint has room for their tensors."""
_EVALUATION_MINUTES, _FINAL_MINUTES = 0.1, 0.3
"""Rough time of an evaluation with the default number of games, and of the last one with its files."""
HAS_BFLOAT16 = any(torch.cpu.get_capabilities().get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
"""Whether this processor has instructions for matrix products in bfloat16, on x86 or on Arm."""


@dataclass
class PPOSettings:
    """Train a policy by masked PPO and self-play; the defaults learn fast on two CPU cores.

    The policy in RUN/policy.safetensors is a bot by its path. A run can be stopped at any time; --resume
    continues it.
    """

    run: Path = Path("runs/ppo")
    """Folder of the run; a new run needs a new or empty one."""
    minutes: float = 6.0
    """Minutes of training, earlier sessions included. Evaluations do not count, nor does the first update of
    a session, which compiles the kernels."""
    total_timesteps: int = 0
    """Number of decisions to learn from, instead of minutes; 0: train for `minutes`."""
    resume: bool = False
    """Resume the run in the folder with its own settings, up to the end that it had or another one."""
    seed: int = 1
    """Seed of decks, network and exploration."""
    bots: tuple[str, ...] = ("simple", "simple:knock_at=0", "tonic", "generation")
    """Bots to play against."""
    evaluate_every: float = 2.0
    """Minutes between evaluations."""
    evaluate_against: tuple[str, ...] = ("simple", "random")
    """Bots to evaluate against."""
    evaluation_games: int = 1000
    """Number of games against each of these bots (95 % interval: about ±3 points)."""
    final_games: int = 1000
    """Number of games against each bot in the final evaluation."""
    record: bool = False
    """Record the games of each evaluation in RUN/games-DECISIONS.jsonl, for `gin-rummy replay`."""
    checkpoint_every: float = 1.0
    """Minutes between checkpoints; each evaluation writes one too."""

    device: str = "cpu"
    """Device of PyTorch, such as cpu or cuda; processes share the GPUs if there are too few."""
    workers: int = 2
    """Number of processes that share the games and the gradients; results are the same up to rounding."""

    num_envs: int = 2048
    """Number of games played at the same time."""
    num_steps: int = 64
    """Number of actions in each game between two updates."""
    num_minibatches: int = 16
    """Sets the size of a minibatch, num_envs * num_steps / num_minibatches decisions. An update has fewer
    minibatches, because opponents' actions and actions without an alternative are not learned."""
    update_epochs: int = 2
    """Number of passes over the decisions of an update."""
    learning_rate: float = 3e-3
    """Initial learning rate; it decays linearly to a twentieth."""
    ent_coef: float = 0.05
    """Weight of the entropy bonus; it decays like the learning rate. With much less, some runs keep knocking
    as early as they may, and learn late or never what waiting is worth."""
    vf_coef: float = 1.0
    """Weight of the value's squared error."""
    gamma: float = 1.0
    """Discount per decision; 1, because hands are short."""
    gae_lambda: float = 0.95
    """Bias-variance trade-off of the advantages."""
    clip_coef: float = 0.2
    """PPO's limit on the change of a probability ratio."""
    max_grad_norm: float = 0.5
    """Maximum norm of the gradient."""
    hidden: int = 64
    """Width of the network's layers."""
    bfloat16: bool = HAS_BFLOAT16
    """Multiply matrices in bfloat16, which halves the time of an update where the processor has instructions
    for it. The weights, the outputs and the gradients' sums remain float32."""
    rules: tuple[str, ...] = ("eaai",)
    """Rules of the games, in turn: presets such as oklahoma, or single rules such as knock_limit=7. Rules
    named twice are played in twice as many games. The evaluations are played by the first."""
    start: str | None = None
    """Start from the weights of this candidate policy: a .safetensors file, or a bundled
    one, `policy`, `policy-1` or, with memory, `policy-memory`."""
    memory: bool = False
    """Read what the opponent has shown in the earlier hands of a game. Opponents then stay for whole games;
    only a past self can be replaced by another during a game."""
    opponent_coef: float = 0.3
    """With memory: weight of the cross-entropy of guessing the opponent, one of the bots or the learner."""

    match_reward: bool = True
    """Reward each hand with the change in the probability of winning the game, instead of its points."""
    bots_share: float = 0.4
    """Share of the hands against bots; bots that win more hands are sampled more often."""
    max_share: float = 0.2
    """Maximum share of the hands against one bot."""
    past_share: float = 0.15
    """Share of the hands against past selves; the remaining hands are against the learner itself."""
    preference: float = 4.0
    """Exponent of the share of lost hands in a bot's sampling weight."""
    past_size: int = 8
    """Maximum number of past selves; when it is reached, a new one replaces a random one."""
    snapshot_every: int = 20
    """Number of updates between two past selves."""

    SESSION: ClassVar[tuple[str, ...]] = ("run", "resume", "record", "device", "workers")
    """Settings that may differ in each session of a run, and are not kept for the next one."""
    BUDGET: ClassVar[tuple[str, ...]] = ("minutes", "total_timesteps")
    """Settings that say when the training ends, which may change when a run is resumed."""

    def check(self) -> None:
        """Raise ValueError, TypeError or FileNotFoundError for invalid settings or missing bots."""
        check_integer("total_timesteps", self.total_timesteps, 0, 1 << 62)
        for name in ("minutes", "evaluate_every", "checkpoint_every"):
            check_number(name, getattr(self, name), 0, 1e9)
        if not self.minutes and not self.total_timesteps:
            raise ValueError("minutes or total_timesteps must be more than 0")
        check_seed(check_seed(self.seed) + OTHER_DECKS)
        check_games(self.evaluation_games)
        check_games(self.final_games)
        for bot in (*self.bots, *self.evaluate_against):
            if not agents.starts_program(bot):
                agents.make(bot)
        for name in ("num_envs", "num_steps", "num_minibatches", "update_epochs", "snapshot_every"):
            check_integer(name, getattr(self, name), 1, 1 << 31)
        for name, most in (("past_size", MAX_PAST), ("workers", self.num_envs), ("hidden", MAX_UNITS)):
            check_integer(name, getattr(self, name), 1, most)
        for name in ("bots_share", "max_share", "past_share", "learning_rate", "gamma", "gae_lambda"):
            check_number(name, getattr(self, name), 0, 1)
        for name in ("ent_coef", "vf_coef", "clip_coef", "max_grad_norm", "opponent_coef", "preference"):
            check_number(name, getattr(self, name), 0, 1e6)
        try:
            torch.empty(0, device=self.device)
        except (RuntimeError, AssertionError) as error:
            raise ValueError(f"this PyTorch has no device {self.device!r}: {error}") from error
        if self.bots_share + self.past_share > 1:
            raise ValueError("bots_share and past_share must add up to at most 1")
        self.different_rules()

    def different_rules(self) -> tuple[Rules, ...]:
        """Return the rules, each once. Raises ValueError or TypeError for unknown or impossible rules."""
        if not self.rules:
            raise ValueError("rules must name at least one set of rules")
        return tuple(dict.fromkeys(map(Rules.parse, self.rules)))

    def plan(self, minutes: float = 0.0) -> str:
        """Return what is left of a run after these minutes of learning, with its approximate time."""
        games = self.final_games * len(self.evaluate_against)
        if self.total_timesteps:
            return f"until {self.total_timesteps:,} decisions are learned, then {games:,} games"
        left = max(self.minutes - minutes, 0)
        evaluations = left / self.evaluate_every if self.evaluate_every else 0
        matches = _EVALUATION_MINUTES * evaluations + _FINAL_MINUTES
        return (
            f"about {left + matches:.1f} minutes: {left:.1f} of learning, the rest for matches "
            f"({self.evaluation_games:,} games every {self.evaluate_every:g} minutes, {games:,} at the end)"
        )

    def uses(self) -> str:
        """Return what the run uses of this machine."""
        processes = "1 process" if self.workers == 1 else f"{self.workers} processes"
        precision = "bfloat16" if self.bfloat16 else "float32"
        return (
            f"{processes} for {self.num_envs:,} games, with {usable_cores()} cores to use; "
            f"networks on {self.device} in {precision}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return all settings for JSON."""
        return asdict(self) | {"run": str(self.run)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the settings that `as_json` wrote."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**given | {"run": Path(values["run"])})

    def command(self) -> str:
        """Return the command that starts the same run, with all settings that differ from the defaults."""
        return " ".join([PROGRAM, *self._options(set(vars(self)) - {"run", "resume"})])

    def resume_command(self, program: str = PROGRAM) -> str:
        """Return the command that resumes the run up to the same end."""
        # Bots that run other code must be named again.
        both = ("bots", "evaluate_against")
        again = {name for name in both if any(map(agents.starts_program, getattr(self, name)))}
        options = self._options({"record", "device", "workers"} | again)
        return " ".join([program, "--run", shlex.quote(str(self.run)), "--resume", *options])

    def _options(self, names: Collection[str]) -> list[str]:
        """Return the options of these settings, if they differ from the defaults."""
        options = []
        for setting in fields(self):
            value, option = getattr(self, setting.name), setting.name.replace("_", "-")
            if setting.name not in names or value == setting.default:
                continue
            if isinstance(value, bool):
                options.append(f"--{option}" if value else f"--no-{option}")
            else:
                words = value if isinstance(value, tuple) else (str(value),)
                options.append(f"--{option} {shlex.join(words)}")
        return options
