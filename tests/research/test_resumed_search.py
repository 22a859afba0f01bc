"""A resumed search for Tonic's numbers."""

from __future__ import annotations

import pytest

from gin_env.matches import match_log
from gin_env.matches.match_log import MatchLog
from research.recipes import tonic

pytestmark = pytest.mark.compiled

TUNING = {"opponents": ["random"], "finalists": 1, "final_games": 4}


def stop_after(monkeypatch, matches: int) -> list[int]:
    """Interrupt after a number of matches; the list records the matches played."""
    played: list[int] = []
    play_match = match_log.play_match

    def play(*args, **kwargs):
        if len(played) == matches:
            raise KeyboardInterrupt
        played.append(1)
        return play_match(*args, **kwargs)

    monkeypatch.setattr(match_log, "play_match", play)
    return played


def test_resumed_search_gives_the_same_result(tmp_path, monkeypatch):
    path = tmp_path / "log"
    whole = tonic.tune_tonic(3, 2, 1, **TUNING)
    done = 0
    for stop in (4, 8):  # before the first trial is over, and later
        with monkeypatch.context() as patch:
            played = stop_after(patch, stop)
            with pytest.raises(KeyboardInterrupt):
                tonic.tune_tonic(3, 2, 1, **TUNING, log=MatchLog(path, resume=done > 0))
            done += len(played)
    with monkeypatch.context() as patch:
        played = stop_after(patch, 999)
        log = MatchLog(path, resume=True)
        assert tonic.tune_tonic(3, 2, 1, **TUNING, log=log) == whole
        assert len(played) + done == len(log)
