"""A file of finished matches, so that a long run can be resumed.

A match depends only on its two bots, seed, number of games, kind of episode, rules and whether luck is
measured, so a finished match need not be played again. The file has one line of JSON for the release and one
for each match. Each match is on disk before the next one starts.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from gin_env.agents import Agent, AnyAgent
from gin_env.game.rules import check_rules
from gin_env.matches.matches import MatchResult, play_match
from gin_env.matches.provenance import hash_files
from gin_env.support.atomic import write_text
from gin_env.support.files import check_regular_file
from gin_env.support.specs import files_of
from gin_env.support.version import __version__


class MatchLog:
    """A file of finished matches; it is created with the first match.

    Parameters
    ----------
    path : the file.
    resume : continue an existing file; without it the file must not exist.

    Raises FileNotFoundError if there is nothing to resume, ValueError if the file exists without `resume`, is
    damaged, or comes from another release.
    """

    def __init__(self, path: str | Path, resume: bool = False) -> None:
        self.path = Path(path)
        self._matches: dict[str, MatchResult] = {}
        if resume:
            self._read()
        elif self.path.exists():
            raise ValueError(
                f"{path} holds the matches of an interrupted run; continue it with --resume, or delete it"
            )

    def __len__(self) -> int:
        return len(self._matches)

    @property
    def seed(self) -> int | None:
        """The seed of the first match; None before the first match."""
        return next((match.seed for match in self._matches.values()), None)

    @property
    def luck(self) -> bool | Literal["rollouts"] | None:
        """The option `luck` of the first match; None before the first match."""
        return next((json.loads(key)[-1] for key in self._matches), None)

    def play(
        self, names: tuple[str, str], bots: tuple[AnyAgent, AnyAgent], games: int, seed: int, **options: Any
    ) -> MatchResult:
        """Return the match from the file, or play it with `play_match` and add it to the file.

        `names` identify the bots in the file: bots that play differently need different names. The other
        parameters and `options` are those of `play_match`.
        """
        rules = asdict(check_rules(options.get("rules")))
        key = json.dumps([*names, games, seed, options.get("episode", "game"), rules, options.get("luck")])
        if key in self._matches:
            if callable(options.get("progress")):
                options["progress"](games)
            return self._matches[key]
        match = play_match(*bots, games, seed, **options)
        line = json.dumps({"key": key, "match": match.as_dict(deals=True)})
        if not self._matches:
            write_text(self.path, f"{json.dumps({'matches_of_release': __version__})}\n{line}\n")
        else:
            with self.path.open("a") as file:
                file.write(f"{line}\n")
                file.flush()
                os.fsync(file.fileno())
        self._matches[key] = match
        return match

    def _read(self) -> None:
        if not self.path.exists():
            raise FileNotFoundError(f"nothing to resume: {self.path} does not exist")
        check_regular_file(self.path)
        *lines, unfinished = self.path.read_text().split("\n")  # "" unless the last line was cut short
        try:
            release = json.loads(lines[0])["matches_of_release"]
            for line in lines[1:]:
                entry = json.loads(line)
                if "deals" not in entry["match"]:
                    raise ValueError("a match has no per-deal results")
                self._matches[entry["key"]] = MatchResult.from_dict(entry["match"])
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(
                f"{self.path} is damaged or not a file of matches; delete it ({error})"
            ) from error
        if release != __version__:
            raise ValueError(f"{self.path} comes from release {release}, not {__version__}; delete it")
        if unfinished:
            write_text(self.path, "\n".join(lines) + "\n")


def logged_name(bot: Agent) -> str:
    """Return a bot's name with the hashes of its files, whose changes make it another bot."""
    return " ".join([bot.name, *hash_files(files_of(bot)).values()])
