"""A person's hands and games won and lost against each bot, kept in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from gin_env.support import atomic
from gin_env.ui.human_game import HumanGame

FILE_NAME = "statistics.json"
MAX_BYTES = 1_000_000


@dataclass
class OpponentTally:
    """Results against one bot."""

    hands_won: int = 0
    hands_lost: int = 0
    hands_void: int = 0
    games_won: int = 0
    games_lost: int = 0

    @property
    def text(self) -> str:
        """The results in words.

        Examples
        --------
        >>> OpponentTally(hands_won=3, hands_lost=2, games_won=1).text
        'games won 1, lost 0; hands won 3, lost 2'
        """
        void = f", void {self.hands_void}" if self.hands_void else ""
        games = f"games won {self.games_won}, lost {self.games_lost}"
        return f"{games}; hands won {self.hands_won}, lost {self.hands_lost}{void}"


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
        if last.winner is None:
            tally.hands_void += 1
        elif last.winner == 0:
            tally.hands_won += 1
        else:
            tally.hands_lost += 1
        tally.games_won += record.winner == 0
        tally.games_lost += record.winner == 1
        content = {opponent: asdict(each) for opponent, each in self._tallies.items()}
        atomic.write_text(self._path, json.dumps(content, indent=1) + "\n")

    def _read(self) -> dict[str, OpponentTally]:
        if not self._path.exists():
            return {}
        if self._path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{self._path} must be at most {MAX_BYTES} bytes long")
        names = {field.name for field in fields(OpponentTally)}
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            good = isinstance(content, dict) and all(
                opponent.isprintable()
                and isinstance(row, dict)
                and set(row) == names
                and all(type(count) is int and 0 <= count < 10**9 for count in row.values())
                for opponent, row in content.items()
            )
        except (ValueError, RecursionError):
            good = False
        if not good:
            raise ValueError(f"{self._path} is not a file of statistics: move it away to begin new ones")
        return {opponent: OpponentTally(**row) for opponent, row in content.items()}
