"""Play and count the games of a match, in this process or in shards that workers play.

In the second game of a deal a bot holds the hand that its opponent held in the first. A bot that remembers
the first game would therefore know its opponent's cards. Bots of this package keep no memory. Any other bot
plays each half of a match, with one game of every deal, as a new copy. It carries nothing from one half to
the other or from one match to the next.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import Literal

import numpy as np

from gin_env import agents
from gin_env.agents import Agent, AnyAgent
from gin_env.agents.adapted import AdaptedBot
from gin_env.agents.process import ProcessBot
from gin_env.agents.turns import play_bot, play_seated, play_turns
from gin_env.batch import Episode, Games
from gin_env.game.rules import Rules
from gin_env.game.state import BIG_GIN, GIN, UNDERCUT, VOID
from gin_env.matches.luck import LUCK, chance_of, luck_of_deals, odds_of
from gin_env.matches.rolled_luck import luck_by_rollouts
from gin_env.records import GameRecord, Player, RecordedGames
from gin_env.support.workers import Workers

DEAL_RESULT = np.dtype([("wins", np.int8, 2), ("points", np.int32, 2), ("hands", np.int32)])
"""The two games of a deal together: games won and points scored by a and b, hands played."""


class Tally:
    """Running sums over hands, and the result of each deal; index 0 is bot a, 1 is bot b."""

    def __init__(self, num_deals: int) -> None:
        self.deals = np.zeros(num_deals, DEAL_RESULT)
        self.luck = np.zeros(num_deals, LUCK)
        self.knocks = np.zeros(2, np.int64)
        self.gins = np.zeros(2, np.int64)
        self.undercuts = np.zeros(2, np.int64)
        self.voids = self.turns = 0

    def add_games(self, winners: np.ndarray, indices: np.ndarray) -> None:
        """Count games that have just ended: the seats that won, (k,), -1 for none, and the games' indices."""
        deals, seat_of_a = np.divmod(indices, 2)
        for bot in range(2):
            # Both games of a deal may be among them: `+=` would count only one.
            np.add.at(self.deals["wins"][:, bot], deals[winners == bot ^ seat_of_a], 1)

    def add_hands(self, results: np.ndarray, indices: np.ndarray) -> None:
        """Count hands that have just ended: `HAND_RESULT` records (k,) and the indices of their games."""
        deals, seat_of_a = np.divmod(indices, 2)
        outcome = results["outcome"]
        winner = np.where(outcome == VOID, -1, results["winner"] ^ seat_of_a)  # now 0 is bot a
        knocker = np.where(outcome == VOID, -1, results["knocker"] ^ seat_of_a)
        np.add.at(self.deals["hands"], deals, 1)
        self.voids += int((outcome == VOID).sum())
        self.turns += int(results["turns"].sum(dtype=np.int64))
        for bot in range(2):
            won = winner == bot
            self.knocks[bot] += (knocker == bot).sum()
            self.gins[bot] += ((knocker == bot) & ((outcome == GIN) | (outcome == BIG_GIN))).sum()
            self.undercuts[bot] += (won & (outcome == UNDERCUT)).sum()
            np.add.at(self.deals["points"][:, bot], deals[won], results["points"][won])

    def add_shard(self, shard: Tally, deals: np.ndarray) -> None:
        """Add the sums of a shard whose deals have these distinct indices in the match, int64 (k,)."""
        for name in DEAL_RESULT.names or ():
            self.deals[name][deals] += shard.deals[name]
        for name in LUCK.names or ():
            self.luck[name][deals] += shard.luck[name]
        self.knocks += shard.knocks
        self.gins += shard.gins
        self.undercuts += shard.undercuts
        self.voids += shard.voids
        self.turns += shard.turns


Report = Callable[[int, Tally], object]
"""Called whenever hands have ended, with the number of games that have just ended and the sums so far."""
Keep = Callable[[GameRecord, int], object]
"""Called with the record of each game that has ended, and its position in the match, counting from 0."""


@dataclass(frozen=True)
class MatchSetting:
    """The settings that all games of a match share."""

    seed: int
    episode: Episode
    rules: Rules | None
    batch_size: int
    """Maximum number of games played at the same time."""
    players: tuple[Player, Player] | None = None
    """The players named in the records; None if nothing is recorded."""
    luck: bool | Literal["rollouts"] = False
    """Whether `Tally.luck` is filled, see `gin_env.matches.luck`, and whether also by rollouts."""


def play_games(
    setting: MatchSetting,
    bots: tuple[Agent, Agent],
    order: np.ndarray,
    report: Report | None = None,
    keep: Keep | None = None,
    first: int = 0,
) -> tuple[Tally, np.ndarray]:
    """Play games in the given order; when a game ends, the next one takes its place in the batch.

    Parameters
    ----------
    order : int64 array, shape (n,): the indices of the games.
    first : position in the match of the first of these games.

    Returns
    -------
    tally : the sums.
    deals : int64 array, shape (k,): the indices of the deals that the tally counts.
    """
    size = min(len(order), setting.batch_size)
    kind: type[Games] = Games if keep is None else RecordedGames
    games = kind(size, setting.rules, setting.episode)
    deals, deal_index = np.unique(order // 2, return_inverse=True)
    shard_index = 2 * deal_index + order % 2  # the games' indices if there were no other deals
    tally = Tally(len(deals))
    same = bots[0] is bots[1]
    chances: list[np.ndarray] = []
    step_by_step = keep is not None or setting.luck
    play = play_bot if step_by_step else partial(play_turns, both_seats=same)
    value = roll = None
    if setting.luck:
        from gin_env.matches.open_value import packaged_value

        value = packaged_value()
        if setting.luck == "rollouts":
            odds = odds_of(value, games.rules, games.whole_game)
            roll = partial(luck_by_rollouts, rules=games.rules, chances=odds)
    positions = np.empty(size, np.int64)  # in `order`, of the game at each place of the batch

    def start(places: np.ndarray, num_started: int) -> None:
        """Start the next games in these places of the batch; 2k + 1 is game 2k with the seats swapped."""
        positions[places] = np.arange(num_started, num_started + len(places))
        games.numbers[places] = indices = order[positions[places]]
        seeds = np.full(len(places), setting.seed, np.uint64)
        games.start(places, seeds, (indices // 2).astype(np.uint64), indices % 2 == 1)
        note_chance(places)

    def note_chance(places: np.ndarray) -> None:
        if setting.luck:
            chances.append(chance_of(games.state[places], shard_index[positions[places]], roll))

    running, num_started = games.everyone, size
    start(running, 0)
    while len(running):
        if same:
            play(games, bots[0], running)
        else:
            seats = games.to_move()[running] ^ games.numbers[running] % 2  # bot a's seat is the number % 2
            play_seated(games, bots, seats, running, play)
        note_chance(running)
        ended = running[games.results["ended"][running]]
        if not len(ended):
            continue
        tally.add_hands(games.results[ended], shard_index[positions[ended]])
        over = ended[games.done[ended]]
        tally.add_games(winners(games, over), shard_index[positions[over]])
        if keep is not None and isinstance(games, RecordedGames) and setting.players is not None:
            for place, position in zip(over.tolist(), positions[over].tolist(), strict=True):
                players = setting.players if games.numbers[place] % 2 == 0 else setting.players[::-1]
                keep(games.record(place, players), first + position)
        if report is not None:
            report(len(over), tally)
        free = over[: len(order) - num_started]
        if len(free):
            start(free, num_started)
            num_started += len(free)
        running = running[~games.done[running]]
    if value is not None:
        found = np.concatenate(chances)
        tally.luck = luck_of_deals(found, len(deals), games.rules, games.whole_game, value)
    return tally, deals


def winners(games: Games, which: np.ndarray) -> np.ndarray:
    """Return the seat that won each finished episode, -1 if undecided: int8 (k,)."""
    if not games.whole_game:
        return games.results["winner"][which]
    reached = games.state["public"]["scores"][which] >= games.rules.target_score
    return np.where(reached.any(axis=1), reached.argmax(axis=1), -1)


# --- Copies of bots, which cannot recognise a deal in its second game -----------------------------------


def may_remember(bot: Agent) -> bool:
    """Return whether a bot could keep a memory: a program, or a class or network of somebody else."""
    network = getattr(bot, "network", None)
    is_own_network = hasattr(network, "state_dict") and _package(network) not in ("gin_env", "torch")
    return isinstance(bot, ProcessBot | AdaptedBot) or _package(bot) != "gin_env" or is_own_network


def _package(instance: object) -> str:
    return type(instance).__module__.partition(".")[0]


def split_deals(order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the second game of each deal: int64 (n / 2,) each, in the order of int64 (n,)."""
    is_first = np.zeros(len(order), bool)
    is_first[np.unique(order // 2, return_index=True)[1]] = True
    return order[is_first], order[~is_first]


def new_copies(bots: tuple[Agent, Agent]) -> tuple[Agent, Agent]:
    """Return the bots for one half of a match; one object in both places stays one object."""
    first = _new_copy(bots[0])
    return first, first if bots[1] is bots[0] else _new_copy(bots[1])


def _new_copy(bot: Agent) -> Agent:
    if not may_remember(bot):
        return bot
    try:
        return deepcopy(bot)
    except Exception as error:
        warnings.warn(
            f"bot {bot.name!r} cannot be copied ({error!r}), so it plays both games of each deal and could "
            "recognise its opponent's cards; give it a __deepcopy__",
            stacklevel=4,
        )
        return bot


# --- Shards -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shard:
    """Some games of a match, for one worker."""

    setting: MatchSetting
    bots: tuple[str | bytes, str | bytes]
    """Names, or pickled objects."""
    same: bool
    """Whether one bot plays both seats."""
    match: int
    """Identifies the match within this program, since a file may hold another bot in each match."""
    part: int
    """Number of the part of the match; bots that may remember are copied for each."""
    first: int
    """Position of its first game in the match."""
    order: np.ndarray
    """int64 (k,): the indices of its games."""


@dataclass(frozen=True)
class ShardResult:
    """The result of a shard."""

    num_games: int
    tally: Tally
    deals: np.ndarray
    """int64 (k,): the indices of the deals that the tally counts."""
    records: dict[int, GameRecord]
    """The recorded games by their position in the match."""


def play_shards(
    setting: MatchSetting, bots: tuple[AnyAgent, AnyAgent], parts: Sequence[np.ndarray], workers: Workers
) -> Iterator[ShardResult]:
    """Play games in shards; yield the results in order.

    `parts` are the indices of the games of each part of the match, int64 arrays. A bot that may remember
    plays each part as a new copy. Raises ValueError for a bot that cannot be sent to the workers.
    """
    packed = _pack(bots[0], workers), _pack(bots[1], workers)
    same = bots[0] is bots[1] or (isinstance(bots[0], str) and bots[0] == bots[1])
    match, size = next(_match_ids), shard_size(sum(map(len, parts)))
    shards = (
        Shard(setting, packed, same, match, number, number * len(part) + first, part[first : first + size])
        for number, part in enumerate(parts)
        for first in range(0, len(part), size)
    )
    return workers.map(play_shard, shards)


def shard_size(num_games: int) -> int:
    """Return the number of games of a shard.

    It depends on the match alone, so the shards are the same for any number of workers: a sixteenth of the
    match, so that slow bots keep many workers busy, up to the size beyond which batches are no faster. With
    more than 512 shards they grow again, because sending one takes as long as playing some hundred hands.
    """
    return max(min(max(num_games // 16, 16), 2048), min(num_games // 512, 16_384))


def play_shard(shard: Shard) -> ShardResult:
    """Play a shard in a worker."""
    bots = _copies(shard.match, shard.part, shard.bots, shard.same)
    records: dict[int, GameRecord] = {}

    def keep(game: GameRecord, position: int) -> None:
        records[position] = game

    recorded = shard.setting.players is not None
    tally, deals = play_games(
        shard.setting, bots, shard.order, keep=keep if recorded else None, first=shard.first
    )
    return ShardResult(len(shard.order), tally, deals, records)


_match_ids = count()


def _pack(bot: AnyAgent, workers: Workers) -> str | bytes:
    """Return a bot in the form in which it is sent to workers."""
    if isinstance(bot, str):
        return bot
    try:
        return workers.pickled(bot, f"bot {getattr(bot, 'name', bot)!r}")
    except ValueError as error:
        raise ValueError(
            f"{error}; pass its name or path instead of an object, or play with one worker"
        ) from error


@lru_cache(maxsize=1)
def _copies(
    match: int, part: int, packed: tuple[str | bytes, str | bytes], same: bool
) -> tuple[Agent, Agent]:
    """Return the bots that a worker plays in a part of a match."""
    return new_copies((_unpack(match, 0, packed[0]), _unpack(match, 0 if same else 1, packed[1])))


@lru_cache(maxsize=2)
def _unpack(match: int, place: int, packed: str | bytes) -> Agent:
    """Return the bot in this place of a match that a worker plays."""
    if isinstance(packed, str):
        return agents.make(packed, programs=True)
    try:
        return agents.resolve(pickle.loads(packed))
    except (AttributeError, ImportError) as error:
        raise ValueError(
            f"workers cannot import the class of a bot ({error}); define it in a module that they can "
            "import, or play with one worker"
        ) from error
