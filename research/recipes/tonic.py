"""Hyperparameter search for Tonic: ``python -m research tune tonic``.

Larkin et al. 2021 found the increments of Tonic's estimator by a grid search, "playing five rounds of 10,000
games each against SimpleAI", but gives neither the increments nor the knock thresholds by turn. Here Optuna's
tree-structured Parzen estimator (Bergstra et al., 2011) searches six numbers: ``increment``, ``decrement``,
``decline``, and the three parameters of a falling threshold (`falling`): the number of turns with the full
10, the decrease in each later turn, and the minimum.

- All trials play the same decks (common random numbers), so that the differences between trials are less
  noisy than their win rates.
- A trial plays up to nine matches. Asynchronous successive halving (Li et al., 2020) stops two thirds of the
  trials after the first match and two thirds of the others after the third.
- The first trial is the paper's bot, ``tonic-paper``. The best trials and the first one then play longer
  matches on new decks. Finally, the best finalist and the first trial play the opponents and each other on
  decks that were not used in any selection.

The result depends only on the seed and the arguments.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.agents.simple import VARIABLE_KNOCK
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.matches.match_log import MatchLog
from gin_env.matches.matches import MatchResult, check_games, play_match
from gin_env.support.checks import check_integer
from gin_env.support.files import write_csv, write_json
from gin_env.support.plots import new_figure, save_figure
from gin_env.support.specs import format_value
from research.recipes import Progress, silent

if TYPE_CHECKING:
    import optuna

MATCHES = 9
"""Number of matches of a complete trial; successive halving decides after 1 and 3 of them."""
SEEDS = MATCHES + 2
"""Number of match seeds in a search: one for each match of a trial, the finalists and the verdict."""
OPPONENTS = ("simple", "simple:knock_at=4", "simple:knock_at=variable")
"""The opponents against which Larkin et al. 2021 evaluates Tonic."""
START = "tonic-paper"
"""The paper's bot, with fixed parameters; the defaults of ``tonic`` are the result of the search."""
RANGES: dict[str, tuple[float, float]] = {
    "increment": (0.0, 4.0),
    "decrement": (0.0, 2.0),
    "decline": (0.0, 2.0),
    "full_turns": (1, 8),
    "fall": (1, 5),
    "last": (0, 10),
}
"""Minimum and maximum of each number; the last three are integers (see `falling`)."""


def falling(full_turns: int, fall: int, last: int) -> tuple[int, ...]:
    """Return knock thresholds by turn: 10 for `full_turns` turns, then `fall` less each, at least `last`."""
    thresholds = [10] * full_turns
    while thresholds[-1] > last:
        thresholds.append(max(thresholds[-1] - fall, last))
    return tuple(thresholds)


def bot_name(numbers: dict[str, float]) -> str:
    """Return the name of the bot with these numbers (keys of `RANGES`)."""
    estimator = [f"{key}={numbers[key]:g}" for key in ("increment", "decrement", "decline")]
    thresholds = falling(*(int(numbers[key]) for key in ("full_turns", "fall", "last")))
    return f"tonic:{','.join(estimator)},knock_at={format_value(thresholds)}"


@dataclass
class Candidate:
    """A bot with its won and decided games against each opponent."""

    bot: str
    numbers: dict[str, float]
    """Parameters by the keys of `RANGES`; empty for the first trial's bot."""
    won: dict[str, int] = field(default_factory=dict)
    decided: dict[str, int] = field(default_factory=dict)
    num_matches: int = 0

    def add(self, opponent: str, match: MatchResult) -> None:
        """Count a match of the bot (as bot a) against this opponent."""
        self.won[opponent] = self.won.get(opponent, 0) + match.wins[0]
        self.decided[opponent] = self.decided.get(opponent, 0) + sum(match.wins)
        self.num_matches += 1

    def win_rate(self, opponent: str) -> float:
        """Return the share of the decided games won against this opponent; 0.5 if none was decided."""
        return self.won[opponent] / self.decided[opponent] if self.decided[opponent] else 0.5

    @property
    def mean_win_rate(self) -> float:
        """Mean win rate over the opponents, which the search maximises."""
        return statistics.mean(self.win_rate(opponent) for opponent in self.won)


@dataclass
class TuningResult:
    """Result of a search."""

    settings: dict[str, Any]
    trials: list[Candidate]
    """All trials in the order of the search, beginning with the start."""
    finalists: list[Candidate]
    """The start and the best trials on new decks, the best first."""
    verdict: list[Candidate]
    """The start and the best finalist, on decks that were not used in any selection."""
    head_to_head: MatchResult | None
    """The best finalist (bot a) against the start; None if they are the same."""

    @property
    def best(self) -> str:
        """Name of the best finalist."""
        return self.finalists[0].bot

    def save(self, path: str | Path) -> None:
        """Write the result as JSON."""
        report: dict[str, Any] = {
            "settings": self.settings,
            "best": self.best,
            "head_to_head": None if self.head_to_head is None else self.head_to_head.as_dict(),
        }
        for part in ("verdict", "finalists", "trials"):
            candidates: list[Candidate] = getattr(self, part)
            report[part] = [asdict(one) | {"mean_win_rate": one.mean_win_rate} for one in candidates]
        write_json(path, report)


def write_trials(trials: Sequence[Candidate], path: str | Path) -> None:
    """Write a CSV file with one row for each trial."""
    opponents = list(trials[0].decided)
    rates = [f"win_rate against {opponent}" for opponent in opponents]
    rows = []
    for number, trial in enumerate(trials):
        numbers = [format(trial.numbers[key], "g") if trial.numbers else "" for key in RANGES]
        measured = [trial.mean_win_rate, *map(trial.win_rate, opponents)]
        games = sum(trial.decided.values())
        rows.append([number, trial.bot, *numbers, games, *(f"{rate:.5f}" for rate in measured)])
    write_csv(path, ["trial", "bot", *RANGES, "games", "mean_win_rate", *rates], rows)


@dataclass
class _Search:
    """The trials of a search and their matches; the parameters are those of `tune_tonic`."""

    players: dict[str, Agent]
    """The opponents by name."""
    games: int
    seed: int
    rules: Rules | None
    log: MatchLog | None
    trials_csv: str | Path | None
    progress: Progress
    trials: list[Candidate] = field(default_factory=list)
    """All trials so far, beginning with the start."""

    def match(self, bot: str, opponent: str, games: int, number: int) -> MatchResult:
        """Return a match of a bot on the decks with this number."""
        bots, seed = (bot, self.players.get(opponent, opponent)), SEEDS * self.seed + number
        if self.log is None:
            return play_match(*bots, games, seed, rules=self.rules)
        return self.log.play((bot, opponent), bots, games, seed, rules=self.rules)

    def play(self, candidate: Candidate, games: int, number: int) -> None:
        """Play a match against each opponent."""
        for opponent in self.players:
            candidate.add(opponent, self.match(candidate.bot, opponent, games, number))

    def play_trial(self, trial: Candidate, ends: Callable[[int], bool] = lambda played: False) -> None:
        """Play the matches of a trial until it `ends` with a number of them."""
        self.trials.append(trial)
        for number in range(MATCHES):
            self.play(trial, self.games, number)
            if ends(number + 1):
                break
        if self.trials_csv is not None:
            write_trials(self.trials, self.trials_csv)
        self.progress(1)

    def try_numbers(self, trial: optuna.Trial) -> float:
        """Play a trial, and return its mean win rate. Raises TrialPruned if Optuna stops it early."""
        import optuna

        numbers: dict[str, float] = {}
        for name, (least, most) in RANGES.items():
            if isinstance(least, int):
                numbers[name] = trial.suggest_int(name, least, int(most))
            else:
                numbers[name] = trial.suggest_float(name, least, most, step=0.05)
        candidate = Candidate(bot_name(numbers), numbers)

        def ends(played: int) -> bool:
            trial.report(candidate.mean_win_rate, played)
            return trial.should_prune()

        self.play_trial(candidate, ends)
        if candidate.num_matches < MATCHES * len(self.players):
            raise optuna.TrialPruned
        return candidate.mean_win_rate

    def play_finals(self, finalists: int, games: int) -> list[Candidate]:
        """Play the start and the best trials on new decks, and return them, the best first."""
        start, *tried = self.trials
        longest = sorted(tried, key=lambda one: (one.num_matches, one.mean_win_rate), reverse=True)
        by_bot = {one.bot: one for one in longest[:finalists]}  # a combination may have been tried twice
        final = [Candidate(one.bot, one.numbers) for one in (start, *by_bot.values())]
        for candidate in final:
            self.play(candidate, games, MATCHES)
            self.progress(1)
        return sorted(final, key=lambda one: one.mean_win_rate, reverse=True)

    def compare_with_start(self, best: Candidate, games: int) -> tuple[list[Candidate], MatchResult | None]:
        """Play the start and the best finalist on decks of their own, and against each other.

        Return both, or the start alone if it is the best, and the match between them.
        """
        start, head_to_head = self.trials[0], None
        verdict = [Candidate(start.bot, {})]
        if best.bot != start.bot:
            verdict.append(Candidate(best.bot, best.numbers))
            head_to_head = self.match(best.bot, start.bot, games, MATCHES + 1)
        for candidate in verdict:
            self.play(candidate, games, MATCHES + 1)
        return verdict, head_to_head


def tune_tonic(
    trials: int = 100,
    games: int = 2000,
    seed: int = 1,
    *,
    opponents: Sequence[str] = OPPONENTS,
    start: str = START,
    finalists: int = 5,
    final_games: int = 20_000,
    rules: Rules | None = None,
    trials_csv: str | Path | None = None,
    progress: Progress = silent,
    log: MatchLog | None = None,
) -> TuningResult:
    """Search Tonic's numbers.

    Parameters
    ----------
    trials : number of trials, including the start.
    games : number of games in one match (even); a trial plays one to nine matches against each opponent.
    seed : random seed of the search; the match seeds begin at `SEEDS` * seed.
    opponents : bots; the mean win rate against them is maximised.
    finalists : number of the best trials that play again, in addition to the start.
    start : the bot of the first trial, with which the best finalist is compared.
    final_games : number of games in each match of the finalists and of the verdict (even).
    rules : the rules of all matches; default: `Rules()`.
    trials_csv : a file for `write_trials`, rewritten after each trial.
    progress : called with 1 after each trial and after each finalist.
    log : log of the matches. To resume a stopped search, pass its log: the search repeats the same trials,
        reads the matches that are in the log, and ends with the same result.

    Raises TypeError or ValueError for invalid arguments, and ImportError if optuna is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise ImportError('tuning needs optuna: pip install "gin-env[tune]"') from error
    check_integer("trials", trials, 1, 10**6)
    check_integer("finalists", finalists, 1, 10**6)
    check_seed(seed)
    check_games(games)
    check_games(final_games)
    if not opponents:
        raise ValueError("name at least one opponent")
    players = {opponent: agents.resolve(opponent, programs=True) for opponent in opponents}
    search = _Search(players, games, seed, rules, log, trials_csv, progress)
    search.play_trial(Candidate(start, {}))
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    startup = max(trials // 4, 1)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=startup)
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    study.optimize(search.try_numbers, n_trials=trials - 1)
    final = search.play_finals(finalists, final_games)
    verdict, head_to_head = search.compare_with_start(final[0], final_games)
    settings: dict[str, Any] = {"trials": trials, "games": games, "seed": seed, "opponents": list(opponents)}
    settings |= {"start": start, "final_games": final_games, "rules": (rules or Rules()).text}
    settings |= {"ranges": RANGES, "variable": VARIABLE_KNOCK}
    return TuningResult(settings, search.trials, final, verdict, head_to_head)


def draw_trials(trials: Sequence[Candidate], games: int, path: str | Path, origin: str) -> None:
    """Draw each trial's mean win rate by each of the six numbers; the line is the first trial.

    `games` is the number of games in a match, `origin` the line at the foot.
    """
    figure, panels = new_figure(9, 5, 2, 3, sharey=True)
    start, *trials = trials
    rates = [100 * trial.mean_win_rate for trial in trials]
    sizes = [trial.decided[next(iter(trial.decided))] / games * 8 for trial in trials]
    for axes, name in zip(panels.flat, RANGES, strict=True):
        axes.scatter([trial.numbers[name] for trial in trials], rates, s=sizes, alpha=0.6)
        axes.axhline(100 * start.mean_win_rate, color="black", linewidth=1)
        axes.set_xlabel(name)
    figure.supylabel("mean win rate (%)")
    title = "Trials of Tonic: larger points played more games; the line is the first one"
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path, dpi=150, origin=origin)
