"""Matches between two bots, thousands of games in parallel, with seats and dealers balanced.

Games come in pairs that share their decks and their first dealer, with the seats swapped: each bot holds
each hand once. The second game has its suits permuted (the rules treat suits alike), the games are played in
random order, and a bot that could remember its opponent's cards plays the two games as separate copies, see
`gin_env.matches.shards`. The result depends only on the seed, not on how the games are batched.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gin_env.agents import AnyAgent, resolve
from gin_env.batch import Episode, Games
from gin_env.game.rules import Rules, RulesLike
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.matches.intervals import (
    Interval,
    design_effect,
    deviations,
    mean_interval,
    wilson_interval,
    win_rate_interval,
)
from gin_env.matches.luck import LUCK, Adjusted, adjusted_ratio, swapped_luck
from gin_env.matches.reporting import match_progress, match_recording
from gin_env.matches.shards import (
    DEAL_RESULT,
    MatchSetting,
    Tally,
    may_remember,
    new_copies,
    play_games,
    play_shards,
    split_deals,
)
from gin_env.records import Recorder
from gin_env.support.checks import is_integer
from gin_env.support.files import write_json
from gin_env.support.registry import has_torch
from gin_env.support.tables import table
from gin_env.support.workers import Workers, opened

BATCH_SIZE = 2048
"""Maximum number of games played at the same time.

The result does not depend on it with the package's own bots: bots with networks use float64 where float32
cannot separate two actions. Your own network may decide differently in another batch size when two outputs
agree to the last bits, because sums are evaluated in another order. For the same reason the estimates of
networks (``nn``, ``shankar-cnn``, ``suit-equivariant``) differ by about 1e-7."""


@dataclass(frozen=True)
class MatchResult:
    """The result of a match between bots a and b. Pairs are (a's, b's).

    >>> result = play_match("simple", "random-discard", games=100, seed=1)
    >>> result.bots, sum(result.wins)
    (('simple', 'random-discard'), 100)
    >>> low, high = result.interval
    >>> low < result.win_rate < high
    True
    >>> result.swapped().bots
    ('random-discard', 'simple')
    >>> MatchResult.from_dict(result.as_dict()).wins == result.wins
    True
    """

    bots: tuple[str, str]
    games: int
    seed: int
    episode: str
    """``"game"``: games to the target score; ``"hand"``: every game was a single hand."""
    wins: tuple[int, int]
    """Games won; the other games were undecided (void hands, or `Rules.max_hands`)."""
    hands: int
    """Hands played, including void hands."""
    knocks: tuple[int, int]
    """Knocks by each, including gins and undercut knocks."""
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
    rules: Rules = field(default_factory=Rules)
    """The rules of all hands."""
    deals: np.ndarray | None = field(default=None, repr=False, compare=False)
    """`DEAL_RESULT` records, shape (games / 2,), one for each deal; None if read from JSON without them."""
    luck: np.ndarray | None = field(default=None, repr=False, compare=False)
    """`gin_env.matches.luck.LUCK` records, shape (games / 2,): the luck of bot a in each deal; None unless
    the match was played with ``luck=True``."""

    @property
    def win_rate(self) -> float:
        """Bot a's share of the decided games (0.5 if none was decided)."""
        decided = sum(self.wins)
        return self.wins[0] / decided if decided else 0.5

    def confidence_interval(self, confidence: float = 0.95) -> Interval:
        """Return the Wilson interval of `win_rate` with the two games of a deal as one observation.

        Without `deals` it is `wilson_interval`. The formula is in `gin_env.matches.intervals`.
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
        """Return the Wilson interval of `win_rate` as if all games were independent."""
        check_confidence(confidence)
        decided = sum(self.wins)
        return wilson_interval(self.win_rate, decided, confidence) if decided else (0.0, 1.0)

    @property
    def wins_and_decided(self) -> tuple[np.ndarray, np.ndarray]:
        """Games of each deal won by a, and decided: int64 (games / 2,) each. Needs `deals`."""
        wins = self.each_deal()["wins"].astype(np.int64)
        return wins[:, 0], wins.sum(axis=1)

    @property
    def design_effect(self) -> float | None:
        """Variance of `win_rate` divided by that of as many independent games; None without `deals`."""
        return None if self.deals is None else design_effect(*self.wins_and_decided)

    @property
    def points_per_hand(self) -> tuple[float, float]:
        """Mean points scored by each in a hand, including void hands."""
        return self.points[0] / self.hands, self.points[1] / self.hands

    def points_intervals(self, confidence: float = 0.95) -> tuple[Interval, Interval]:
        """Return t intervals of `points_per_hand` over the deals.

        Raises ValueError without `deals` or with only one deal.
        """
        check_confidence(confidence)
        deals = self.each_deal()
        a, b = (
            mean_interval(value, deviations(deals["points"][:, bot], deals["hands"]), confidence)
            for bot, value in enumerate(self.points_per_hand)
        )
        return a, b

    def win_rate_without_luck(self, confidence: float = 0.95) -> Adjusted:
        """Return bot a's share of the games without luck; an undecided game counts half for each.

        With few games, what lies beyond 0 or 1 is cut off, as are the ends of the interval. Raises
        ValueError for a match without `luck`, or of one deal.
        """
        wins = self.each_deal()["wins"].astype(np.float64)
        rate = self._without_luck(wins[:, 0] + (2 - wins.sum(axis=1)) / 2, "wins", confidence)
        value, low, high = (min(max(each, 0.0), 1.0) for each in (rate.value, *rate.interval))
        return Adjusted(value, (low, high), rate.saved)

    def lead_without_luck(self, confidence: float = 0.95) -> Adjusted:
        """Return bot a's lead in points per hand without luck. Raises as `win_rate_without_luck`."""
        points = self.each_deal()["points"].astype(np.float64)
        return self._without_luck(points[:, 0] - points[:, 1], "points", confidence)

    def _without_luck(self, results: np.ndarray, unit: str, confidence: float) -> Adjusted:
        if self.luck is None:
            raise ValueError("the luck of this match is not known; play it again with luck=True")
        counts = np.full(len(results), 2) if unit == "wins" else self.each_deal()["hands"]
        return adjusted_ratio(results, counts, self.luck[unit], check_confidence(confidence))

    def each_deal(self) -> np.ndarray:
        """Return `deals`. Raises ValueError if the result has none."""
        if self.deals is None:
            raise ValueError(
                "this result has no per-deal results; play the match again and save it with deals=True"
            )
        return self.deals

    def swapped(self) -> MatchResult:
        """Return the same match with bots a and b exchanged."""
        swapped = {name: getattr(self, name)[::-1] for name in PAIRS}
        if self.deals is not None:
            swapped["deals"] = self.deals.copy()
            for name in ("wins", "points"):
                swapped["deals"][name] = self.deals[name][:, ::-1]
        if self.luck is not None:
            swapped["luck"] = swapped_luck(self.luck)
        return replace(self, **swapped)

    def as_dict(self, confidence: float = 0.95, deals: bool = False) -> dict[str, Any]:
        """Return all figures, including derived ones, for JSON; with `deals` also lists for `DEAL_RESULT`."""
        record = {name: getattr(self, name) for name in _FIGURES}
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
        if self.luck is not None and paired:
            record["without_luck"] = {
                "win_rate": asdict(self.win_rate_without_luck(confidence)),
                "lead_per_hand": asdict(self.lead_without_luck(confidence)),
            }
        if deals:
            each = self.each_deal()
            record["deals"] = {name: each[name].tolist() for name in DEAL_RESULT.names or ()}
            if self.luck is not None:
                record["deals"]["luck"] = {name: self.luck[name].tolist() for name in LUCK.names or ()}
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> MatchResult:
        """Return the match that `as_dict` wrote; derived figures are ignored.

        Raises ValueError if the record is not a match.
        """
        try:
            figures = {name: record[name] for name in _FIGURES if name != "rules"}
            figures |= {name: tuple(record[name]) for name in PAIRS}
            deals = luck = None
            if "deals" in record:
                deals = np.zeros(figures["games"] // 2, DEAL_RESULT)
                for name in DEAL_RESULT.names or ():
                    if len(record["deals"][name]) != len(deals):
                        raise ValueError(f"{name} must have {len(deals)} deals")
                    deals[name] = record["deals"][name]
                if "luck" in record["deals"]:
                    luck = np.zeros(len(deals), LUCK)
                    for name in LUCK.names or ():
                        luck[name] = record["deals"]["luck"][name]
            for name in PAIRS:
                if len(figures[name]) != 2:
                    raise ValueError(f"{name} must have two entries, not {len(figures[name])}")
            if min(figures["wins"]) < 0 or figures["hands"] < 1:
                raise ValueError("wins must be at least 0, and hands at least 1")
            if sum(figures["wins"]) > figures["games"]:
                raise ValueError(
                    f"wins must add up to at most {figures['games']} games, not {figures['wins']}"
                )
            return cls(**figures, rules=Rules(**record["rules"]), deals=deals, luck=luck)
        except KeyError as error:
            raise ValueError(f"not a match result: {error} is missing") from error
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"not a match result: {error}") from error

    def save(self, path: str | Path, confidence: float = 0.95, deals: bool = False) -> None:
        """Write `as_dict` as JSON."""
        write_json(path, self.as_dict(confidence, deals))

    def summary(self, confidence: float = 0.95) -> str:
        """Return the win rate with its interval, and a table of points and outcomes, as text.

        >>> result = play_match("simple", "random", games=20, seed=1, episode="hand")
        >>> print(result.summary().splitlines()[0])
        simple won 100.00 % of 20 decided hands against random (95 % interval 83.89 to 100.00)
        """
        low, high = self.confidence_interval(confidence)
        a, b = self.bots
        headline = f"no {self.episode} of {self.games:,} was decided between {a} and {b}"
        if sum(self.wins):
            headline = (
                f"{a} won {100 * self.win_rate:.2f} % of {sum(self.wins):,} decided {self.episode}s against "
                f"{b} ({100 * confidence:g} % interval {100 * low:.2f} to {100 * high:.2f})"
            )
        rows = [
            [f"{self.episode}s won", *(f"{wins:,}" for wins in self.wins)],
            ["points per hand", *(f"{points:.2f}" for points in self.points_per_hand)],
            ["gin, % of hands", *(f"{100 * count / self.hands:.2f}" for count in self.gins)],
            ["undercut, % of hands", *(f"{100 * count / self.hands:.2f}" for count in self.undercuts)],
        ]
        about = (
            f"{self.hands:,} hands of {self.turns / self.hands:.1f} turns on average, "
            f"{100 * self.voids / self.hands:.2f} % void; seed {self.seed}"
        )
        figures = table(["", a, b], rows, left=(0,))
        return f"{headline}\n\n{figures}\n\n{about}\n{self.luck_line(confidence)}".rstrip()

    def luck_line(self, confidence: float = 0.95) -> str:
        """Return the figures without luck in one line; an empty text if they are not known."""
        if self.luck is None or len(self.luck) < 2:
            return ""
        rate, lead = self.win_rate_without_luck(confidence), self.lead_without_luck(confidence)
        return (
            f"without the luck of the cards {self.bots[0]} wins {100 * rate.value:.2f} % "
            f"({100 * rate.interval[0]:.2f} to {100 * rate.interval[1]:.2f}) and leads by {lead.value:+.2f} "
            f"points per hand ({lead.interval[0]:+.2f} to {lead.interval[1]:+.2f}); "
            f"{100 * rate.saved:.0f} % of the variance was luck"
        )

    def __str__(self) -> str:
        return self.summary()


PAIRS = ("bots", "wins", "knocks", "gins", "undercuts", "points")
"""The fields of a `MatchResult` that are pairs (a's, b's)."""
_FIGURES = [field.name for field in fields(MatchResult) if field.name not in ("deals", "luck")]


def check_confidence(confidence: float) -> float:
    """Return `confidence`. Raises TypeError unless it is a number, ValueError unless between 0 and 1.

    >>> check_confidence(0.95)
    0.95
    """
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.floating):
        raise TypeError(f"confidence must be a number, not {confidence!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95, not {confidence}")
    return float(confidence)


def check_games(games: Any) -> int:
    """Return `games` as an int. Raises TypeError or ValueError unless it is a positive even integer.

    >>> check_games(200)
    200
    """
    if not is_integer(games):
        raise TypeError(f"games must be an integer, not {games!r}")
    if games < 2 or games % 2:
        raise ValueError(
            f"games must be a positive even number (each deal is played from both seats), not {games}"
        )
    return int(games)


def play_match(
    a: AnyAgent,
    b: AnyAgent,
    games: int = 2000,
    seed: int | None = None,
    *,
    episode: Episode = "game",
    rules: RulesLike = None,
    progress: bool | Callable[[int], object] | None = None,
    record: Recorder | str | Path | None = None,
    luck: bool | Literal["rollouts"] | None = None,
    workers: int | Literal["all"] | Workers = 1,
) -> MatchResult:
    """Play a match between bots a and b.

    Parameters
    ----------
    a, b : names, paths of trained policies (``.safetensors``), or objects with the `Agent` interface. Copies
        of an object play (`copy.deepcopy`), one in each half of the match, so that no copy sees both games
        of a deal. An object that must play itself, for example to count, returns itself from
        ``__deepcopy__``.
    games : an even number; each deal is played twice, with the seats swapped.
    seed : the same seed gives the same result. By default a secret seed is drawn and reported with the
        result. A bot that knows or guesses the seed can work out every hidden card: pass one only to bots
        that you trust.
    episode : ``"game"`` plays to the target score, ``"hand"`` plays single hands. Beginners' games are long,
        up to `Rules.max_hands` hands; start with ``"hand"``.
    rules : the rules; default: `Rules()`.
    progress : True shows a progress bar. A function is called from time to time with the number of games that
        have ended since the last call.
    record : a file or a `gin_env.records.Recorder` to which each game is written, in the order in which the
        games started. The result is the same with and without it.
    luck : whether to measure the luck of the cards, so that `MatchResult.win_rate_without_luck` needs fewer
        games for the same interval. It takes about 5 milliseconds a hand, and needs PyTorch. By default only
        in matches of bots that are `slow`, such as language models, where PyTorch is installed. In their
        matches, and with "rollouts" in others, rollouts measure it better, in about a second a hand.
    workers : number of worker processes, or `Workers`. The result and the record do not depend on them.
        Each worker makes the bots that are named and copies the bots that are objects.

    Raises
    ------
    ValueError
        For an unknown bot, an odd number of games, or an object that cannot be sent to workers.
    IllegalActionError
        If a bot plays an illegal action.

    Examples
    --------
    >>> result = play_match("simple", "random", games=100, seed=1, episode="hand")
    >>> result.hands
    100
    >>> result.win_rate > 0.9
    True
    """
    first = resolve(a, programs=True)
    same = b is a or (isinstance(a, str) and isinstance(b, str) and a == b)
    bots = first, first if same else resolve(b, programs=True)
    seed = fresh_seed() if seed is None else check_seed(seed)
    games = check_games(games)
    rules = Games(1, rules, episode).rules
    if luck not in (None, False, True, "rollouts"):
        raise ValueError(f"luck must be True, False or 'rollouts', not {luck!r}")
    if any(getattr(bot, "slow", False) is True for bot in bots) and (has_torch() if luck is None else luck):
        luck = "rollouts"  # decisions of slow bots take longer
    tally = Tally(games // 2)
    order = np.random.default_rng(seed).permutation(games)
    with ExitStack() as stack:
        players = keep = None
        if record is not None:
            players, keep = stack.enter_context(match_recording(record, (a, b), bots))
        report = stack.enter_context(match_progress(progress, games, episode))
        setting = MatchSetting(seed, episode, rules, BATCH_SIZE, players, luck or False)
        crew = stack.enter_context(opened(workers))
        parts = split_deals(order) if any(map(may_remember, bots)) else (order,)
        if crew.here:
            for number, part in enumerate(parts):
                copies, num_before = new_copies(bots), number * len(part)
                tally.add_shard(*play_games(setting, copies, part, report, keep, num_before))
        else:
            for shard in play_shards(setting, (a, b), parts, crew):
                tally.add_shard(shard.tally, shard.deals)
                if keep is not None:
                    for position, game in shard.records.items():
                        keep(game, position)
                if report is not None:
                    report(shard.num_games, tally)
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
        rules=rules,
        deals=tally.deals,
        luck=tally.luck if luck else None,
    )
