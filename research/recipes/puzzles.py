"""The puzzles of `gin-rummy puzzle`: positions in which good players differ and rollouts decide.

Bots of different strength play games. A position becomes a puzzle if bots of `ASKED` choose different moves
and one move is better than every other by `CLEAR` points and three standard errors, in `NUM_WORLDS` sampled
worlds. Its rating is the number of bots that miss the move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK
from gin_env.game.cards import NUM_CARDS, card_text
from gin_env.observations.views import PlayerView
from gin_env.support.version import __version__
from gin_env.ui.adviser import Adviser
from gin_env.ui.visible_table import action_name, visible_table
from gin_env.ui.web import page

PLAYERS = (("policy", "simple"), ("tonic", "policy"), ("simple", "tonic"), ("marjj", "policy-1"))
ASKED = ("simple", "heuristics", "cfr-plus", "tonic", "marjj", "generation", "policy-1", "policy")
NUM_WORLDS = 2000
CLEAR = 2.0
ERRORS = 3.0
MIN_TURN = 2
OPPONENT = "your opponent"


def find_puzzles(count: int, seed: int, progress: Callable[[int], object]) -> dict[str, Any]:
    """Return the contents of the file of puzzles; `progress` is called with 1 for each."""
    bots = {name: agents.make(name) for name in ASKED}
    quick, sure = Adviser(num_worlds=128), Adviser(num_worlds=NUM_WORLDS)
    puzzles: list[dict[str, Any]] = []
    for number in range(10**6):
        views = [view for view in _decisions(number, seed) if _differ(view, bots)]
        for view in views:
            puzzle = _puzzle(view, bots, quick, sure)
            if puzzle is not None:
                puzzles.append(puzzle)
                progress(1)
                break  # one of a hand
        if len(puzzles) == count:
            break
    puzzles.sort(key=lambda puzzle: len(puzzle["missed"]))
    command = f"python -m research train puzzles FILE --count {count} --seed {seed}"
    provenance = {"command": command, "release": __version__, "judge": sure.name, "worlds": NUM_WORLDS}
    return {"provenance": provenance, "puzzles": puzzles}


def _decisions(number: int, seed: int) -> Iterator[PlayerView]:
    """Yield the later decisions of one hand between two of the bots."""
    bots = [agents.make(name) for name in PLAYERS[number % len(PLAYERS)]]
    games = Games(1)
    games.start(games.everyone, np.array([seed], np.uint64), np.array([number], np.uint64))
    while not games.done[0]:
        player = int(games.to_move()[0])
        view = games.views(games.everyone, player)
        if view.array["public"]["turn"][0] >= MIN_TURN and view.masks().sum() > 1:
            yield view
        play_bot(games, bots[player], games.everyone)


def _differ(view: PlayerView, bots: dict[str, Any]) -> bool:
    """Return whether at least two of the bots differ from the last one."""
    *others, last = (int(bot.act(view)[0]) for bot in bots.values())
    return sum(action != last for action in others) >= 2


def _puzzle(view: PlayerView, bots: dict[str, Any], quick: Adviser, sure: Adviser) -> dict[str, Any] | None:
    if not _is_clear(quick.advise(view).moves, 1.0):
        return None
    advice = sure.advise(view)
    if not _is_clear(advice.moves, ERRORS):
        return None
    upcard, hand = int(view.array["public"]["upcard"][0]), int(view.hands[0])
    legal = np.flatnonzero(view.masks()[0]).tolist()
    chosen = {name: int(bot.act(view)[0]) for name, bot in bots.items()}
    visible = visible_table(view, OPPONENT)
    return {
        "position": str(view),
        "hand": page.groups(visible.hand),
        "known": page.codes(visible.known),
        "closed": visible.closed,
        "pile": page.codes(visible.pile),
        "new": page.code(visible.taken),
        "stock": visible.stock,
        "scores": [visible.own_score, visible.opponent_score],
        "turns": page.turns(visible.turns),
        "moves": {str(action): action_name(action, upcard, hand=hand) for action in legal},
        "cards": {str(action): card_text(action % NUM_CARDS) for action in legal if action < DRAW_STOCK},
        "best": advice.best.action,
        "answers": {
            str(move.action): page.comparison(advice, view, OPPONENT, move.action) for move in advice.moves
        },
        "bots": {name: action_name(action, upcard, hand=hand) for name, action in chosen.items()},
        "missed": [name for name, action in chosen.items() if action != advice.best.action],
    }


def _is_clear(moves: list[Any], errors: float) -> bool:
    """Return whether the best move is surely better than each other by `CLEAR` points."""
    best, *others = moves
    return bool(others) and all(
        best.points - move.points >= CLEAR and best.win - move.win > errors * move.error for move in others
    )
