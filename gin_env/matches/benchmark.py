"""The benchmark: one number for an agent, from games against a fixed panel of bots.

>>> result = benchmark("tonic", games=20, seed=1)
>>> result.protocol, len(result.matches)
('gin-100/1', 8)

A protocol fixes rules, opponents and score, and its name changes with any of them. In ``gin-100/1`` games are
played to 100 points by the rules of the EAAI challenge, each deal from both seats. The score is the mean of
the win rates against the opponents, in per cent, each with the same weight. Against the opponents that are
held out, no bot of this package was trained, tuned or selected.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from gin_env import agents
from gin_env.agents import Agent, AnyAgent
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.matches.fixed_positions import decision_hash, fixed_views
from gin_env.matches.intervals import Interval
from gin_env.matches.match_log import MatchLog, logged_name
from gin_env.matches.matches import PAIRS, MatchResult, check_games, play_match
from gin_env.matches.provenance import describe_bot
from gin_env.support.checks import check_choice, check_number
from gin_env.support.files import write_json
from gin_env.support.plots import new_figure, origin_line, save_figure
from gin_env.support.registry import has_torch
from gin_env.support.tables import table
from gin_env.support.version import __version__
from gin_env.support.workers import Workers, opened


class Opponent(NamedTuple):
    """An opponent of a protocol."""

    bot: str
    decisions: str
    """`decision_hash` of the bot when the protocol was fixed; a bot with another one is refused."""
    rating: int
    """Rating in the tournament of all bots, on Elo's scale."""
    held_out: bool = False


PROTOCOLS: dict[str, tuple[Opponent, ...]] = {
    "gin-100/1": (
        Opponent("gold-standard", "57c0dd5402b6c3887bb883f25dca6cca", 1476, held_out=True),
        Opponent("utility", "0caddd4acbd8c5377275ce117c5d52f4", 1501, held_out=True),
        Opponent("simple", "d583c4e0c0ed6bfaec7922901ccd89ec", 1514),
        Opponent("heuristics", "2ef8a2eee0433b4f30e3c348a315e234", 1632),
        Opponent("tonic", "48e3a841a746fab66dde6e11bb48dc91", 1684),
        Opponent("cfr-plus", "eeba48ab962dfd50e988df18dafa7e7c", 1687, held_out=True),
        Opponent("marjj", "9d8c8e1ac2ac28d3d43bce80b1f8baa8", 1706, held_out=True),
        Opponent("generation", "ee9620330f3afef69fc16ff35966974d", 1768),
    )
}
"""Opponents by the name of the protocol, weakest first."""
CURRENT = "gin-100/1"
PRECISION = 1.0
"""Half of the score's 95 % interval at which a benchmark ends by default."""
FIRST_GAMES = 20
"""Number of games against each opponent in the first round."""
SLOW = 500.0
"""Microseconds of a decision from which measuring luck takes less time than it saves."""
VERY_SLOW = 700_000.0
"""The same for measuring it by rollouts too."""
MAX_GAMES = 100_000
"""Maximum number of games against each opponent."""
_SLOPE = np.log(10) / 400  # of Elo's logistic curve


@dataclass(frozen=True)
class BenchmarkResult:
    """The result of a benchmark."""

    protocol: str
    agent: str
    seed: int
    matches: tuple[MatchResult, ...]
    """The agent (a) against each opponent (b), in the order of the protocol."""
    rounds: tuple[dict[str, Any], ...]
    """The rounds that add up to the matches: ``games``, and for each opponent ``wins`` and ``points``."""
    microseconds: float
    """Time of a decision on one core, in a batch of up to 1,900 fixed positions."""
    seconds: float
    """Time of all games, on as many cores as took part."""

    @property
    def opponents(self) -> tuple[Opponent, ...]:
        """The opponents of the protocol."""
        return PROTOCOLS[self.protocol]

    @property
    def score(self) -> float:
        """The mean win rate against the opponents, in per cent."""
        return 100 * float(np.mean([match.win_rate for match in self.matches]))

    @cached_property
    def half_width(self) -> float:
        """Half of the 95 % interval of `score`: the opponents' intervals are independent of each other."""
        return _half_of_mean([match.interval for match in self.matches])

    @cached_property
    def without_luck(self) -> tuple[float, float] | None:
        """The score without luck and half of its 95 % interval; None if luck was not measured."""
        if any(match.luck is None or len(match.luck) < 2 for match in self.matches):
            return None
        rates = [match.win_rate_without_luck() for match in self.matches]
        return 100 * float(np.mean([rate.value for rate in rates])), _half_of_mean(
            [rate.interval for rate in rates]
        )

    @property
    def precision(self) -> float:
        """Half of the 95 % interval of the score, without luck if that is known."""
        return self.half_width if self.without_luck is None else self.without_luck[1]

    @cached_property
    def rating(self) -> tuple[float, float]:
        """The rating that expects this score, and its standard error by the jackknife over the opponents.

        It is on the scale of the opponents' ratings: the model expects a lead of 200 points to win 76 %.
        """
        rates = np.array([match.win_rate for match in self.matches])
        least = self.half_width / 100  # no result of finitely many games has a rating without limits
        rates = np.clip(rates, least, 1 - least)
        ratings = np.array([opponent.rating for opponent in self.opponents], float)
        others = [np.arange(len(rates)) != index for index in range(len(rates))]
        without = np.array([_rating(rates[kept], ratings[kept]) for kept in others])
        error = np.sqrt((len(rates) - 1) / len(rates) * ((without - without.mean()) ** 2).sum())
        return _rating(rates, ratings), float(error)

    def place(self) -> tuple[int, int]:
        """Return (place, number of entries) among the stored results of the protocol, this one included."""
        stored = stored_results(self.protocol).items()
        scores = [entry["score"] for name, entry in stored if name != self.agent]
        return 1 + sum(score > self.score for score in scores), 1 + len(scores)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures for JSON."""
        rating, error = self.rating
        return {
            "protocol": self.protocol,
            "agent": self.agent,
            "release": __version__,
            "seed": self.seed,
            "score": self.score,
            "half_width": self.half_width,
            "without_luck": self.without_luck,
            "rating": rating,
            "rating_error": error,
            "microseconds": self.microseconds,
            "seconds": self.seconds,
            "rounds": list(self.rounds),
            "opponents": [
                {"held_out": opponent.held_out, **match.as_dict()}
                for opponent, match in zip(self.opponents, self.matches, strict=True)
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write `as_dict` as JSON."""
        write_json(path, self.as_dict())

    def headline(self) -> str:
        """Return score, rating and place in one line."""
        (rating, error), (place, count) = self.rating, self.place()
        line = (
            f"{self.agent} scores {self.score:.1f} ± {self.half_width:.1f} in {self.protocol}, "
            f"rating {rating:.0f} ± {error:.0f}, place {place} of {count}"
        )
        if self.without_luck is None:
            return line
        return line + "; {:.1f} ± {:.1f} without the luck of the cards".format(*self.without_luck)

    def rows(self) -> list[list[str]]:
        """Return the cells of the table: opponent, held out, games, games won, points a hand of both."""
        rows = []
        for opponent, match in zip(self.opponents, self.matches, strict=True):
            low, high = match.interval
            won = f"{100 * match.win_rate:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            points = "{:.2f} : {:.2f}".format(*match.points_per_hand)
            held_out = "held out" if opponent.held_out else ""
            rows.append([opponent.bot, held_out, f"{match.games:,}", won, points])
        return rows

    def __str__(self) -> str:
        """Return the headline and a table."""
        text = table(list(HEADER), self.rows(), left=(0, 1))
        return "\n".join([self.headline(), "", text, "", self.about()])

    def markdown(self) -> str:
        """Return headline and table as Markdown."""
        lines = [f"**{self.headline()}**", "", f"| {' | '.join(HEADER)} |", "|---|---|---:|---:|---:|"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows()]
        return "\n".join([*lines, "", self.about()])

    def about(self) -> str:
        """Return what was played and how fast, in one line."""
        games, hands = (sum(getattr(match, name) for match in self.matches) for name in ("games", "hands"))
        return (
            f"{games:,} games, {hands:,} hands in {self.seconds / 60:.1f} minutes; "
            f"{self.microseconds:,.3g} microseconds a decision; seed {self.seed}"
        )


HEADER = ("opponent", "", "games", "games won, %", "points a hand")


def benchmark(
    agent: AnyAgent,
    *,
    precision: float = PRECISION,
    games: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    protocol: str = CURRENT,
    progress: bool | Callable[[BenchmarkResult], object] = False,
    log: MatchLog | None = None,
    luck: bool | Literal["rollouts"] | None = None,
    workers: int | Literal["all"] | Workers = 1,
) -> BenchmarkResult:
    """Rate an agent.

    Parameters
    ----------
    agent : anything that `gin_env.agents.resolve` takes.
    precision : the games end when half of the score's 95 % interval, without luck if that is known, is at
        most this, in percentage points.
    games : number of games against each opponent, instead of `precision`.
    minutes : the games end after that time at the latest.
    seed : determines the decks; default: a random one, so that nobody fits the decks.
    protocol : one of `PROTOCOLS`.
    progress : True prints a line after each round of games. A function is called with the result so far.
    log : stores each finished match; a match that it already holds is not played again.
    luck : whether to measure the luck of the cards, see `play_match`; by default if a decision takes longer
        than `SLOW` microseconds, by rollouts too if longer than `VERY_SLOW`, and PyTorch is installed.
    workers : number of worker processes, or `Workers`, see `play_match`. The result does not depend on them
        unless `minutes` ends it.

    Raises ValueError for an unknown agent or protocol, and if an opponent decides differently than when the
    protocol was fixed; otherwise as `play_match`.
    """
    opponents = PROTOCOLS[check_choice("protocol", protocol, PROTOCOLS)]
    check_number("precision", precision, 0.01, 100)
    limit = MAX_GAMES if games is None else check_games(games)
    seconds = np.inf if minutes is None else 60 * check_number("minutes", minutes, 0, 1e6)
    seed = (log.seed if log is not None else None) if seed is None else seed
    seed = fresh_seed() if seed is None else check_seed(seed)
    player = agents.resolve(agent, programs=True)
    for opponent in opponents:
        check_unchanged(opponent, protocol)
    logged = logged_name(player)
    began = time.monotonic()
    result = BenchmarkResult(protocol, player.name, seed, (), (), decision_time(player), 0.0)
    luck = log.luck if luck is None and log is not None else luck  # a resumed run goes on as it began
    if luck is None and has_torch():
        luck = "rollouts" if result.microseconds > VERY_SLOW else result.microseconds > SLOW
    played, number, new = 0, 0, min(FIRST_GAMES, limit)
    with opened(workers) as crew:
        named = player if crew.here else agent
        while new:
            blocks = []
            for index, opponent in enumerate(opponents):
                pair, names = (named, opponent.bot), (logged, opponent.bot)
                play = partial(play_match, *pair) if log is None else partial(log.play, names, pair)
                block_seed = seed_of(seed, protocol, number, index)
                blocks.append(play(new, block_seed, luck=luck, workers=crew))
            matches = tuple(map(joined, result.matches, blocks)) if result.matches else tuple(blocks)
            outcome = {name: [list(getattr(match, name)) for match in blocks] for name in ("wins", "points")}
            rounds = (*result.rounds, {"games": new, **outcome})
            result = replace(result, matches=matches, rounds=rounds, seconds=time.monotonic() - began)
            played, number = played + new, number + 1
            if progress is True:
                print(f"{played:,} games each: {result.score:.1f} ± {result.precision:.1f}", flush=True)
            elif callable(progress):
                progress(result)
            new = _next_games(result, played, precision if games is None else 0.0, limit, seconds)
    return result


def _half_of_mean(intervals: Sequence[Interval]) -> float:
    """Return half of the interval, in per cent, of a mean of figures with these independent intervals."""
    ends = np.array(intervals)
    return 50 * float(np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum())) / len(ends)


def _next_games(result: BenchmarkResult, played: int, precision: float, limit: int, seconds: float) -> int:
    """Return the number of games against each opponent in the next round; 0 at the end.

    A round is at most as long as all before it, and about as long as the precision and the time need.
    """
    error = result.precision
    if error <= precision or played >= limit or result.seconds >= seconds:
        return 0
    missing = played * ((error / precision) ** 2 - 1) if precision else np.inf
    in_time = played * (seconds - result.seconds) / max(result.seconds, 1e-9)
    new = min(1.05 * missing + 2, in_time, played, limit - played)
    return max(2 * int(new / 2), 2)


def seed_of(seed: int, protocol: str, number: int, opponent: int) -> int:
    """Return the seed of the match against an opponent in a round, each counted from 0.

    The first is that of the benchmark, from which an interrupted one finds it again.
    """
    return (seed + number * len(PROTOCOLS[protocol]) + opponent) % 2**64


def joined(first: MatchResult, second: MatchResult) -> MatchResult:
    """Return two matches of the same bots on different decks as one, with the seed of the first."""
    counts: dict[str, Any] = {
        name: getattr(first, name) + getattr(second, name) for name in ("games", "hands", "voids", "turns")
    }
    for name in set(PAIRS) - {"bots"}:
        counts[name] = tuple(np.add(getattr(first, name), getattr(second, name)).tolist())
    counts["deals"] = np.concatenate([first.each_deal(), second.each_deal()])
    known = first.luck is not None and second.luck is not None
    counts["luck"] = np.concatenate([first.luck, second.luck]) if known else None
    return replace(first, **counts)


def check_unchanged(opponent: Opponent, protocol: str) -> None:
    """Raise ValueError if an opponent decides differently than when the protocol was fixed."""
    found = decision_hash(opponent.bot)
    if found != opponent.decisions:
        raise ValueError(
            f"the opponent {opponent.bot!r} decides differently than in {protocol}: its decisions have the "
            f"hash {found}, not {opponent.decisions}; install the release that a result names to repeat it"
        )


def decision_time(agent: Agent) -> float:
    """Return the microseconds of a decision in `fixed_views`, in one batch; of fewer for a slow agent."""
    view, count = fixed_views(), 1
    while True:
        times = []
        for _ in range(2):  # the first time may compile what is needed
            began = time.perf_counter()
            agent.act(view[:count])
            times.append(time.perf_counter() - began)
        if count == len(view) or min(times) > 0.1:
            return 1e6 * min(times) / count
        count = min(8 * count, len(view))


def entry(result: BenchmarkResult, agent: AnyAgent, author: str) -> dict[str, Any]:
    """Return an entry of the leaderboard, for JSON: the result, its rounds and what identifies the agent.

    ``checksum`` is that of `checksum_of`. Raises ValueError without an author.
    """
    if not author.strip():
        raise ValueError("author must be a name")
    names = ("wins", "points", "hands", "games")
    described: dict[str, Any] = {
        **{name: value for name, value in result.as_dict().items() if name != "opponents"},
        "author": author,
        "player": describe_bot(agent, programs=True),
        "opponents": [
            {"bot": opponent.bot, **{name: getattr(match, name) for name in names}}
            for opponent, match in zip(result.opponents, result.matches, strict=True)
        ],
    }
    return described | {"checksum": checksum_of(described)}


def checksum_of(described: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an entry without its ``checksum``, as JSON with sorted keys."""
    rest = {name: value for name, value in described.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def stored_results(protocol: str) -> dict[str, dict[str, float]]:
    """Return the stored results of a protocol: name -> ``score``, ``half_width``, ``microseconds``."""
    file = resources.files("gin_env.matches") / "data" / f"{protocol.replace('/', '-')}.json"
    return json.loads(file.read_text())["entries"] if file.is_file() else {}


def _rating(rates: np.ndarray, ratings: np.ndarray) -> float:
    """Return the rating whose expected win rates against these ratings have the mean of these rates."""
    low, high = ratings.min() - 2000, ratings.max() + 2000
    for _ in range(60):
        middle = (low + high) / 2
        expected = 1 / (1 + np.exp(-_SLOPE * (middle - ratings)))
        low, high = (middle, high) if expected.mean() < rates.mean() else (low, middle)
    return float(middle)


def draw_benchmark(result: BenchmarkResult, path: str | Path) -> None:
    """Draw the win rate against each opponent with its interval, one line for each, and the score."""
    figure, [[axes]] = new_figure(7, 0.4 * len(result.matches) + 1.8)
    rates = np.array([100 * match.win_rate for match in result.matches])
    ends = 100 * np.array([match.interval for match in result.matches])
    lines = np.arange(len(rates))
    names = [each.bot + (" (held out)" if each.held_out else "") for each in result.opponents]
    axes.errorbar(rates, lines, xerr=[rates - ends[:, 0], ends[:, 1] - rates], fmt="o", capsize=4)
    axes.axvspan(result.score - result.half_width, result.score + result.half_width, alpha=0.2)
    axes.axvline(result.score, linewidth=1)
    axes.axvline(50, color="grey", linewidth=0.8, linestyle=":")
    axes.set_yticks(lines, names)
    axes.set(xlabel="games won, %, with 95 % intervals; line: score", xlim=(0, 100))
    figure.suptitle(result.headline(), fontsize=10)
    games = f"{sum(match.games for match in result.matches):,} games"
    save_figure(figure, path, dpi=150, origin=origin_line(games, result.seed))
