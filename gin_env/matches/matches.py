"""Matches between two bots: thousands of games at once, seats and dealers balanced.

Games come in pairs that share their decks and their first dealer, with the seats swapped: each bot holds
each hand once. So that a bot with memory does not meet in one game the cards that its opponent holds in the
other, the suits of the second game are permuted (the rules do not know suits), and the games are played in a
random order. The result depends on the seed alone, not on how the games are batched.

Whoever knows the seed knows the decks. Without one a match draws a secret seed, and tells it with the result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.turns import is_clairvoyant
from gin_env.batch import Episode, Games
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.matches.intervals import (
    Interval,
    design_effect,
    deviations,
    mean_interval,
    wilson_interval,
    win_rate_interval,
)
from gin_env.matches.match_parts import DEAL_RESULT, Setting, Tally, play_games, play_parts
from gin_env.matches.recording import MatchRecording
from gin_env.records import Recorder
from gin_env.support.atomic import write_json
from gin_env.support.checks import check_switch, is_integer
from gin_env.support.workers import Workers, opened

BATCH_SIZE = 2048
"""Games played at once, at most. With the package's own bots the result does not depend on it, nor on who
plays which part of a match: those with networks decide in float64 what float32 cannot tell apart. A policy of
your own may decide otherwise where two of its outputs agree to the last bits, since a batch is added up in
another order than a single view; so may the estimates of networks (``nn``, ``shankar-cnn``,
``suit-equivariant``), by about 1e-7."""


@dataclass(frozen=True)
class MatchResult:
    """Result of a match between bots a and b. Pairs are (a's, b's)."""

    bots: tuple[str, str]
    games: int
    seed: int
    episode: str
    """``"game"``: games to the target score; ``"hand"``: every game was a single hand."""
    wins: tuple[int, int]
    """Games won; the rest of `games` was undecided (void hands, or `Rules.max_hands`)."""
    hands: int
    """Hands played, void ones included."""
    knocks: tuple[int, int]
    """Knocks by each, gins and undercut knocks included."""
    gins: tuple[int, int]
    """Gins by each."""
    undercuts: tuple[int, int]
    """Undercuts by each as the defender."""
    voids: int
    """Hands that nobody won."""
    points: tuple[int, int]
    """Points scored by each in all hands."""
    turns: int
    """Turns of both players in all hands."""
    clairvoyant: bool = False
    """Bots that can be told the opponent's hand were told it: no fair match."""
    rules: Rules = field(default_factory=Rules)
    """The rules of all hands."""
    deals: np.ndarray | None = field(default=None, repr=False, compare=False)
    """`DEAL_RESULT` records (games / 2,), one for each deal in the order of their numbers, 14 bytes each.
    None for a result that was read from JSON without them."""

    @property
    def win_rate(self) -> float:
        """a's share of the decided games (0.5 if none was decided)."""
        decided = sum(self.wins)
        return self.wins[0] / decided if decided else 0.5

    def confidence_interval(self, confidence: float = 0.95) -> Interval:
        """Wilson interval of `win_rate` in which the two games of a deal are one observation.

        The formula is in `gin_env.matches.intervals`. Without `deals` it is `wilson_interval`.
        """
        check_confidence(confidence)
        if self.deals is None:
            return self.wilson_interval(confidence)
        return win_rate_interval(*self.wins_and_decided, confidence)

    @property
    def interval(self) -> Interval:
        """The 95 % `confidence_interval`."""
        return self.confidence_interval()

    def wilson_interval(self, confidence: float = 0.95) -> Interval:
        """Wilson interval of `win_rate` as if games were independent: too wide, since deals tend to split."""
        check_confidence(confidence)
        decided = sum(self.wins)
        return wilson_interval(self.win_rate, decided, confidence) if decided else (0.0, 1.0)

    @property
    def wins_and_decided(self) -> tuple[np.ndarray, np.ndarray]:
        """Games of each deal that a won, and that anybody won: int64 (games / 2,) each. Needs `deals`."""
        wins = self.each_deal()["wins"].astype(np.int64)
        return wins[:, 0], wins.sum(axis=1)

    @property
    def design_effect(self) -> float | None:
        """Variance of `win_rate` over that of as many independent games; None without `deals`."""
        return None if self.deals is None else design_effect(*self.wins_and_decided)

    @property
    def points_per_hand(self) -> tuple[float, float]:
        """Mean points scored by each in a hand, void hands included."""
        return self.points[0] / self.hands, self.points[1] / self.hands

    def points_intervals(self, confidence: float = 0.95) -> tuple[Interval, Interval]:
        """t intervals of `points_per_hand`, over the deals.

        Raises ValueError without `deals`, or if there is only one.
        """
        check_confidence(confidence)
        deals = self.each_deal()
        a, b = (
            mean_interval(value, deviations(deals["points"][:, bot], deals["hands"]), confidence)
            for bot, value in enumerate(self.points_per_hand)
        )
        return a, b

    def each_deal(self) -> np.ndarray:
        """`deals`. Raises ValueError if there are none."""
        if self.deals is None:
            raise ValueError(
                "this result does not say what each deal came to: play the match again, "
                "and save it with deals=True"
            )
        return self.deals

    def swapped(self) -> MatchResult:
        """The same match with its bots the other way round: a is b and b is a."""
        pairs = {name: getattr(self, name)[::-1] for name in PAIRS}
        deals = None
        if self.deals is not None:
            deals = self.deals.copy()
            for name in ("wins", "points"):
                deals[name] = self.deals[name][:, ::-1]
        return replace(self, **pairs, deals=deals)

    def as_dict(self, confidence: float = 0.95, deals: bool = False) -> dict[str, Any]:
        """All figures, the derived ones too, for JSON; with `deals` lists for the fields of `DEAL_RESULT`."""
        record = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "deals"}
        paired = self.deals is not None and len(self.deals) > 1
        record |= {
            "rules": asdict(self.rules),
            "win_rate": self.win_rate,
            "confidence": confidence,
            "interval": self.confidence_interval(confidence),
            "wilson_interval": self.wilson_interval(confidence),
            "design_effect": self.design_effect,
            "points_per_hand": self.points_per_hand,
            "points_intervals": self.points_intervals(confidence) if paired else None,
        }
        if deals:
            each = self.each_deal()
            record["deals"] = {name: each[name].tolist() for name in DEAL_RESULT.names or ()}
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> MatchResult:
        """The match of which `as_dict` made this record, after JSON too; derived figures are left out.

        Raises KeyError, TypeError or ValueError for a record that is no match.
        """
        figures = {one.name: record[one.name] for one in fields(cls) if one.name not in ("rules", "deals")}
        figures |= {name: tuple(record[name]) for name in PAIRS}
        deals = None
        if "deals" in record:
            deals = np.zeros(figures["games"] // 2, DEAL_RESULT)
            for name in DEAL_RESULT.names or ():
                deals[name] = record["deals"][name]
        return cls(**figures, rules=Rules(**record["rules"]), deals=deals)

    def save(self, path: str | Path, confidence: float = 0.95, deals: bool = False) -> None:
        """Write `as_dict` as JSON."""
        write_json(path, self.as_dict(confidence, deals))

    def summary(self, confidence: float = 0.95) -> str:
        """Win rate with its interval; hands, points and how they ended; whether a bot was clairvoyant."""
        low, high = self.confidence_interval(confidence)
        a, b = self.bots
        share = [100 * count / self.hands for count in (sum(self.gins), sum(self.undercuts), self.voids)]
        return (
            f"{a} won {100 * self.win_rate:.2f} % of {sum(self.wins):,} decided {self.episode}s against {b} "
            f"({100 * confidence:g} % interval {100 * low:.2f} to {100 * high:.2f})\n"
            f"{self.hands:,} hands, {self.turns / self.hands:.2f} turns each; points per hand "
            f"{self.points_per_hand[0]:.2f} : {self.points_per_hand[1]:.2f}; "
            f"gin {share[0]:.2f} %, undercut {share[1]:.2f} %, void {share[2]:.2f} %; seed {self.seed}"
            + ("\nclairvoyant: a bot was told its opponent's hand" if self.clairvoyant else "")
        )

    def __str__(self) -> str:
        return self.summary()


PAIRS = ("bots", "wins", "knocks", "gins", "undercuts", "points")
"""The figures of a `MatchResult` that are pairs (a's, b's)."""


def check_confidence(confidence: float) -> float:
    """`confidence`. Raises ValueError unless it lies between 0 and 1, TypeError unless it is a number."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.floating):
        raise TypeError(f"the confidence is a number, not {confidence!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: a number between 0 and 1 is needed, such as 0.95")
    return float(confidence)


def check_games(games: Any) -> int:
    """`games` as an int. Raises TypeError or ValueError unless it is an even integer above 0."""
    if not is_integer(games):
        raise TypeError(f"the number of games is an integer, not {games!r}")
    if games < 2 or games % 2:
        raise ValueError(f"games = {games}: an even number is needed, each deal is played from both seats")
    return int(games)


def play_match(
    a: str | Agent,
    b: str | Agent,
    games: int = 1000,
    seed: int | None = None,
    *,
    episode: Episode = "game",
    rules: Rules | None = None,
    progress: Callable[[int], object] | None = None,
    clairvoyant: bool = False,
    record: Recorder | str | Path | None = None,
    workers: int | Literal["all"] | Workers = 1,
) -> MatchResult:
    """Play `games` games (an even number) of bot a against bot b.

    Parameters
    ----------
    a, b : names, paths of trained policies (``.safetensors``), or objects with the `Agent` interface.
    games : half of them with each bot as player_0, the other half with the same decks and seats swapped.
    seed : the same seed gives the same result; default: a secret one, drawn for this match and told with the
        result. A bot that knows or guesses the seed can work out every hidden card: fix it only for bots that
        you trust.
    episode : ``"game"`` plays to the target score, ``"hand"`` single hands.
    progress : called now and then with the number of games that have ended since the last call.
    clairvoyant : a bot that has the method ``act_clairvoyantly(view, opponent_hands)`` is told its opponent's
        hand, to measure what knowing everything is worth; the result says so. Otherwise nobody ever is.
    record : a file, or a `gin_env.records.Recorder`, into which each game is written, in the order in
        which they were begun. The result is the same; without it nothing is remembered.
    workers : processes that play, or `Workers`; the result and the record do not depend on them, but that
        these come part by part (up to a sixteenth of the match). Each worker makes the bots that are named,
        and has copies of those that are objects.

    Raises ValueError for unknown bots, an odd number of games, `clairvoyant` without a bot that can make
    use of it, or an object that workers cannot be sent, IllegalActionError if a bot plays illegally.
    """
    first = resolve(a, programs=True)
    bots = first, first if b == a else resolve(b, programs=True)
    seed = fresh_seed() if seed is None else check_seed(seed)
    games = check_games(games)
    clairvoyant = check_switch("clairvoyant", clairvoyant)
    if clairvoyant and not any(is_clairvoyant(bot) for bot in bots):
        raise ValueError("clairvoyant=True, but neither bot has a method act_clairvoyantly")
    rules = Games(1, rules, episode).rules
    tally = Tally(games // 2)
    order = np.random.default_rng(seed).permutation(games)
    with ExitStack() as until_the_end:
        players = keep = None
        if record is not None:
            recording = until_the_end.enter_context(MatchRecording(record, (a, b), bots))
            players, keep = recording.players, recording.add
        setting = Setting(seed, episode, rules, clairvoyant, BATCH_SIZE, players)
        crew = until_the_end.enter_context(opened(workers))
        if crew.here:
            tally.add_part(*play_games(setting, bots, order, progress, keep))
        else:
            for part in play_parts(setting, (a, b), order, crew):
                tally.add_part(part.tally, part.deals)
                for game, turn in part.records:
                    recording.add(game, turn)
                if progress is not None:
                    progress(part.games)
    tally.deals.flags.writeable = False
    wins, points = (tally.deals[name].sum(axis=0, dtype=np.int64) for name in ("wins", "points"))
    return MatchResult(
        bots=(bots[0].name, bots[1].name),
        games=games,
        seed=seed,
        episode=episode,
        wins=(int(wins[0]), int(wins[1])),
        hands=int(tally.deals["hands"].sum()),
        knocks=(int(tally.knocks[0]), int(tally.knocks[1])),
        gins=(int(tally.gins[0]), int(tally.gins[1])),
        undercuts=(int(tally.undercuts[0]), int(tally.undercuts[1])),
        voids=tally.voids,
        points=(int(points[0]), int(points[1])),
        turns=tally.turns,
        clairvoyant=clairvoyant,
        rules=rules,
        deals=tally.deals,
    )
