"""How the games of a match are played and counted: all at once, or in parts that other processes play."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count

import numpy as np

from gin_env import agents
from gin_env.agents import Agent
from gin_env.agents.turns import play_bot, play_on, play_seated
from gin_env.batch import Episode, Games
from gin_env.game.rules import Rules
from gin_env.game.state import GIN, UNDERCUT, VOID
from gin_env.records import GameRecord, Player, RecordedGames
from gin_env.support.workers import Workers

DEAL_RESULT = np.dtype([("wins", np.int8, 2), ("points", np.int32, 2), ("hands", np.int32)])
"""What the two games of a deal came to together: games won and points scored by a and b, hands played."""


class Tally:
    """Running sums over hands, and what each deal came to; index 0 is bot a, 1 is bot b."""

    def __init__(self, deals: int) -> None:
        self.deals = np.zeros(deals, DEAL_RESULT)
        self.knocks = np.zeros(2, np.int64)
        self.gins = np.zeros(2, np.int64)
        self.undercuts = np.zeros(2, np.int64)
        self.voids = self.turns = 0

    def add_games(self, winners: np.ndarray, numbers: np.ndarray) -> None:
        """Count games that have just ended: the seats that won (k,), -1 for none, and the games' numbers."""
        deals, seat_of_a = np.divmod(numbers, 2)
        for bot in range(2):
            # Both games of a deal may be among them: `+=` would count one.
            np.add.at(self.deals["wins"][:, bot], deals[winners == bot ^ seat_of_a], 1)

    def add_hands(self, results: np.ndarray, numbers: np.ndarray) -> None:
        """Count hands that have just ended: `HAND_RESULT` records (k,) and the numbers of their games."""
        deals, seat_of_a = np.divmod(numbers, 2)
        outcome = results["outcome"]
        winner = np.where(outcome == VOID, -1, results["winner"] ^ seat_of_a)  # now 0 is bot a
        knocker = np.where(outcome == VOID, -1, results["knocker"] ^ seat_of_a)
        np.add.at(self.deals["hands"], deals, 1)
        self.voids += int((outcome == VOID).sum())
        self.turns += int(results["turns"].sum(dtype=np.int64))
        for bot in range(2):
            won = winner == bot
            self.knocks[bot] += (knocker == bot).sum()
            self.gins[bot] += ((knocker == bot) & (outcome == GIN)).sum()
            self.undercuts[bot] += (won & (outcome == UNDERCUT)).sum()
            np.add.at(self.deals["points"][:, bot], deals[won], results["points"][won])

    def add_part(self, part: Tally, deals: np.ndarray) -> None:
        """Count what a part has counted; its deals are these of the whole, int64 (k,), all different."""
        for name in DEAL_RESULT.names or ():
            self.deals[name][deals] += part.deals[name]
        self.knocks += part.knocks
        self.gins += part.gins
        self.undercuts += part.undercuts
        self.voids += part.voids
        self.turns += part.turns


@dataclass(frozen=True)
class Setting:
    """What all games of a match have in common."""

    seed: int
    episode: Episode
    rules: Rules | None
    clairvoyant: bool
    batch_size: int
    """Games played at once."""
    players: tuple[Player, Player] | None = None
    """Who is named in the records; None if nothing is recorded."""


def play_games(
    setting: Setting,
    bots: tuple[Agent, Agent],
    order: np.ndarray,
    progress: Callable[[int], object] | None = None,
    keep: Callable[[GameRecord, int], object] | None = None,
) -> tuple[Tally, np.ndarray]:
    """Play the games with these numbers, int64 (n,), in this order; a place that becomes free takes the next.

    `keep` is called with the record of each game that has ended, and its turn in the order. Returns the sums,
    and the numbers of the deals that they are of, int64 (k,).
    """
    size = min(len(order), setting.batch_size)
    recorded = None
    if keep is None:
        table = Games(size, setting.rules, setting.episode)
    else:
        table = recorded = RecordedGames(size, setting.rules, setting.episode)
    deals, deal_of = np.unique(order // 2, return_inverse=True)
    counted = 2 * deal_of + order % 2  # the games' numbers if there were no other deals
    tally = Tally(len(deals))
    same = bots[0] is bots[1]
    if recorded is None:
        play = partial(play_on, both_seats=same, clairvoyant=setting.clairvoyant)
    else:
        play = partial(play_bot, clairvoyant=setting.clairvoyant)
    turns = np.arange(size)  # of the games at the places, in the order
    running = table.everyone
    _seat(table, running, order[:size], setting.seed)
    begun = size
    while len(running):
        if same:
            play(table, bots[0], running)
        else:
            sitting = table.to_move()[running] ^ order[turns[running]] % 2  # a has the seat number % 2
            play_seated(table, bots, sitting, running, play)
        ended = running[table.results["ended"][running]]
        if not len(ended):
            continue
        tally.add_hands(table.results[ended], counted[turns[ended]])
        over = ended[table.done[ended]]
        tally.add_games(winners(table, over), counted[turns[over]])
        if recorded is not None and keep is not None and setting.players is not None:
            for place, turn in zip(over.tolist(), turns[over].tolist(), strict=True):
                players = setting.players if order[turn] % 2 == 0 else setting.players[::-1]
                keep(recorded.record(place, players, setting.clairvoyant), turn)
        if progress is not None and len(over):
            progress(len(over))
        free = over[: len(order) - begun]
        turns[free] = np.arange(begun, begun + len(free))
        _seat(table, free, order[begun : begun + len(free)], setting.seed)
        begun += len(free)
        running = running[~table.done[running]]
    return tally, deals


def _seat(table: Games, places: np.ndarray, begun: np.ndarray, seed: int) -> None:
    """Begin the games with these numbers at these places: 2k + 1 is the twin of 2k with the seats swapped."""
    seeds = np.full(len(places), seed, np.uint64)
    table.start(places, seeds, (begun // 2).astype(np.uint64), begun % 2 == 1)


def winners(table: Games, games: np.ndarray) -> np.ndarray:
    """int8 (k,): the seat that won each ended episode, -1 if undecided."""
    if not table.whole_game:
        return table.results["winner"][games]
    reached = table.state["public"]["scores"][games] >= table.rules.target_score
    return np.where(reached.any(axis=1), reached.argmax(axis=1), -1)


# --- Parts --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Some games of a match, for whoever plays them."""

    setting: Setting
    bots: tuple[str | bytes, str | bytes]
    """Names, or pickled objects."""
    match: int
    """Tells the matches of a program apart: a file may hold another bot in each."""
    first: int
    """The turn of its first game in the match."""
    order: np.ndarray
    """int64 (k,): the numbers of its games."""


@dataclass(frozen=True)
class PlayedPart:
    """What some games of a match came to."""

    games: int
    tally: Tally
    deals: np.ndarray
    """int64 (k,): the numbers of the deals that the tally is of."""
    records: tuple[tuple[GameRecord, int], ...]
    """The games if they are recorded, each with its turn in the whole match, in this order."""


def play_parts(
    setting: Setting, bots: tuple[str | Agent, str | Agent], order: np.ndarray, workers: Workers
) -> Iterator[PlayedPart]:
    """Play the games with these numbers, int64 (n,), in parts, which come in their order.

    Raises ValueError for a bot that cannot be sent to the workers.
    """
    sent = _sent(bots[0], workers), _sent(bots[1], workers)
    match, size = next(_matches), part_size(len(order))
    parts = (
        Part(setting, sent, match, first, order[first : first + size]) for first in range(0, len(order), size)
    )
    return workers.map(play_part, parts)


def part_size(games: int) -> int:
    """Games of a part of a match. It follows from the match alone, so the parts are the same for all workers.

    A sixteenth of the match, so that many workers have something to do where bots are slow, up to the number
    from which on larger batches are no faster. Parts are larger again where there are more than 512 of them:
    handing one out takes the time of some hundred hands.
    """
    return max(min(max(games // 16, 16), 2048), min(games // 512, 16_384))


def play_part(part: Part) -> PlayedPart:
    """What a worker does."""
    bots = _bot(part.match, part.bots[0]), _bot(part.match, part.bots[1])
    records: list[tuple[GameRecord, int]] = []

    def keep(game: GameRecord, turn: int) -> None:
        records.append((game, part.first + turn))

    recorded = part.setting.players is not None
    tally, deals = play_games(part.setting, bots, part.order, keep=keep if recorded else None)
    records.sort(key=lambda one: one[1])
    return PlayedPart(len(part.order), tally, deals, tuple(records))


_matches = count()


def _sent(bot: str | Agent, workers: Workers) -> str | bytes:
    """A bot as workers are told of it."""
    if isinstance(bot, str):
        return bot
    try:
        return workers.pickled(bot, f"bot {bot.name!r}")
    except ValueError as error:
        raise ValueError(
            f"{error}: give its name or its path instead of an object, or play with one worker"
        ) from error


@lru_cache(maxsize=2)
def _bot(match: int, sent: str | bytes) -> Agent:
    """The bot that a worker plays: one object if it sits on both sides."""
    if isinstance(sent, str):
        return agents.make(sent, programs=True)
    try:
        return agents.resolve(pickle.loads(sent))
    except (AttributeError, ImportError) as error:
        raise ValueError(
            f"the class of a bot is not known to other processes ({error}): define it in a module that they "
            "can import, or play with one worker"
        ) from error
