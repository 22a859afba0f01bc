"""A person's hands and games won and lost against each bot, kept in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gin_env.records.games import check_text
from gin_env.support import atomic
from gin_env.support.checks import check_integer
from gin_env.support.files import check_regular_file
from gin_env.ui.human_game import HumanGame

FILE_NAME = "statistics.json"
MAX_BYTES = 1_000_000
MAX_KEPT, RECENT = 500, 20
"""Hands whose points are kept, and of which a mean is shown."""


@dataclass
class OpponentTally:
    """Results against one bot."""

    hands_won: int = 0
    hands_lost: int = 0
    hands_void: int = 0
    games_won: int = 0
    games_lost: int = 0
    points: list[int] = field(default_factory=list)
    """What the last `MAX_KEPT` hands paid; negative if the bot scored."""

    def __post_init__(self) -> None:
        if not isinstance(self.points, list):
            raise TypeError(f"points must be a list, not {self.points!r}")
        for name, value in asdict(self).items():
            least, most = (-(10**6), 10**6) if name == "points" else (0, 10**9)
            for number in value if name == "points" else [value]:
                check_integer(name, number, least, most)

    @property
    def text(self) -> str:
        """The results in words.

        >>> OpponentTally(hands_won=3, hands_lost=2, games_won=1).text
        'games won 1, lost 0; hands won 3, lost 2'
        >>> OpponentTally(hands_won=1, hands_lost=1, points=[25, -10]).text
        'games won 0, lost 0; hands won 1, lost 1; the last 2 hands: +7.5 points each'
        """
        without = f", without a winner {self.hands_void}" if self.hands_void else ""
        games = f"games won {self.games_won}, lost {self.games_lost}"
        text = f"{games}; hands won {self.hands_won}, lost {self.hands_lost}{without}"
        recent = self.points[-RECENT:]
        if not recent:
            return text
        return f"{text}; the last {len(recent)} hands: {sum(recent) / len(recent):+.1f} points each"


class Statistics:
    """The results in a file, which need not exist yet.

    Raises ValueError, naming the file, if it does not contain statistics; OSError if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tallies = self._read()

    def against(self, opponent: str) -> OpponentTally:
        """Return the results against a bot."""
        return self._tallies.get(opponent, OpponentTally())

    def table(self) -> str:
        """Return one line for each opponent, in the order of the first game."""
        lines = [f"{opponent}: {tally.text}" for opponent, tally in self._tallies.items()]
        return "\n".join(lines) or "No hand has ended yet."

    def add(self, game: HumanGame) -> None:
        """Add the hand that has just ended, and the game if it is over.

        Raises as the constructor does, OSError also if the file cannot be written.
        """
        self._tallies = self._read()  # another window may have added to them
        tally = self._tallies.setdefault(game.opponent, OpponentTally())
        record = game.record()
        last = record.hands[-1]
        tally.hands_void += last.winner is None
        tally.hands_won += last.winner == 0
        tally.hands_lost += last.winner == 1
        paid = 0 if last.winner is None else last.points * (1 - 2 * last.winner)
        tally.points = [*tally.points, paid][-MAX_KEPT:]
        tally.games_won += record.winner == 0
        tally.games_lost += record.winner == 1
        content = {opponent: asdict(each) for opponent, each in self._tallies.items()}
        atomic.write_text(self._path, json.dumps(content, indent=1) + "\n")

    def _read(self) -> dict[str, OpponentTally]:
        if not self._path.exists():
            return {}
        check_regular_file(self._path, MAX_BYTES)
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            return {check_text("opponent", name): OpponentTally(**row) for name, row in content.items()}
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{self._path} is not a file of statistics ({error}): move it away to begin new ones"
            ) from error
