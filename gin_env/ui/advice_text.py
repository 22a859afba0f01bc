"""Advice in words that a card player would use."""

from __future__ import annotations

from typing import NamedTuple

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, cards_of
from gin_env.game.melds import deadwood
from gin_env.observations.views import PlayerView
from gin_env.ui.adviser import Advice, Move
from gin_env.ui.seat import action_name, card_name, card_names
from gin_env.ui.text import hand_groups

SHOWN = 3
"""Moves that a hint compares."""
LOW_DANGER, HIGH_DANGER = 0.15, 0.6


class Line(NamedTuple):
    """A move as a line of a table; texts are empty where a number does not apply."""

    action: int
    move: str
    win: str
    points: str
    deadwood: str
    helps: str
    danger: str


HEADER = ("action", "move", "you win", "points", "deadwood", "cards that help", "danger")


def lines_of(advice: Advice, view: PlayerView, letters: bool = False, keep: int | None = None) -> list[Line]:
    """Return the best moves as lines of a table, and the move `keep` if it was tried."""
    shown = advice.moves[:SHOWN]
    kept = None if keep is None else advice.find(keep)
    if kept is not None and kept not in shown:
        shown = [*shown[: SHOWN - 1], kept]
    return [_line(move, view, letters) for move in shown]


def _line(move: Move, view: PlayerView, letters: bool) -> Line:
    numbers = move.numbers
    upcard, hand = int(view.array["public"]["upcard"][0]), int(view.hands[0])
    return Line(
        move.action,
        action_name(move.action, upcard, letters, hand),
        f"{100 * move.win:.0f} %",
        f"{move.points:+.1f}".replace("-", "−"),
        "" if numbers.deadwood is None else str(numbers.deadwood),
        "" if numbers.outs is None else str(numbers.outs),
        "" if numbers.risk is None or move.action >= KNOCK else danger_word(numbers.risk),
    )


def danger_word(risk: float) -> str:
    """Return the risk of a discard in a word."""
    return "low" if risk < LOW_DANGER else "medium" if risk < HIGH_DANGER else "high"


def why(
    advice: Advice, view: PlayerView, opponent: str, than: int | None = None, letters: bool = False
) -> str:
    """Return in one sentence why the best move is better than `than`, by default than the next best."""
    best = advice.best
    if best.action >= KNOCK and best.action < DRAW_STOCK:
        return _about_knock(advice, view, opponent)
    other = next((move for move in advice.moves[1:] if than in (None, move.action)), None)
    if best.action in (DRAW_STOCK, DRAW_UPCARD, PASS):
        return _about_draw(advice, view, letters)
    if other is None:
        return "It is the only card to consider."
    if KNOCK <= other.action < DRAW_STOCK:
        return (
            f"Playing on is worth more than the knock: {opponent} holds about {advice.deadwood:.0f} deadwood."
        )
    return _about_discard(best, other, view, opponent, letters)


def _about_knock(advice: Advice, view: PlayerView, opponent: str) -> str:
    left = advice.best.numbers.deadwood or 0
    held = f"{opponent} holds about {advice.deadwood:.0f} deadwood"
    if left == 0:
        return f"Every card is in a meld, nothing can be laid off, and {held}."
    return f"You keep {left}, and {held}."


def _about_draw(advice: Advice, view: PlayerView, letters: bool) -> str:
    taking = advice.find(DRAW_UPCARD)
    if taking is None:
        return "The stock is the only choice."
    hand, upcard = int(view.hands[0]), int(view.array["public"]["upcard"][0])
    name, now, left = card_name(upcard, letters), deadwood(hand), taking.numbers.deadwood or 0
    groups = [group for group in hand_groups(hand | 1 << upcard) if group.caption in ("set", "run")]
    meld = next((group.cards for group in groups if upcard in group.cards), [])
    melded = bool(meld) and left < now
    if advice.best is taking:
        if melded:
            made = f"{name} makes {card_names(meld, letters)}"
            return f"{made} and leaves {left} deadwood, {now - left} less than now."
        return f"{name} is worth little alone, but it leaves {left} deadwood, {now - left} less than now."
    if melded:
        return f"{name} would save {now - left} deadwood, but the stock is worth more here."
    saved = f"saves only {now - left} deadwood" if left < now else "saves no deadwood"
    return f"{name} makes no meld and {saved}; a new card may do more, and taking it tells what you collect."


def _about_discard(best: Move, other: Move, view: PlayerView, opponent: str, letters: bool) -> str:
    """Compare two discards by what speaks for the better one, the most important first."""
    mine, theirs = best.numbers, other.numbers
    card, instead = best.action % NUM_CARDS, other.action % NUM_CARDS
    name, other_name = card_name(card, letters), card_name(instead, letters)
    reasons = []
    if (theirs.risk or 0) - (mine.risk or 0) >= LOW_DANGER:
        near = _near(instead, int(view.array["public"]["shown"][0][1 - int(view.array["player"][0])]))
        took = f": {opponent} took {card_names(near, letters)}" if near else ""
        reasons.append(f"{other_name} would help {opponent} more{took}")
    if (more := (theirs.deadwood or 0) - (mine.deadwood or 0)) > 0:
        reasons.append(f"it leaves {more} less deadwood")
    if (more := (mine.outs or 0) - (theirs.outs or 0)) > 0:
        reasons.append(f"{more} more card{'s' * (more > 1)} would help you")
    if not reasons:
        less = (mine.deadwood or 0) - (theirs.deadwood or 0)
        if less:
            return f"{other_name} leaves {less} less deadwood, but played on, {name} wins more."
        return f"{name} and {other_name} look alike; played on, {name} wins more."
    first, *others = reasons
    text = ", and ".join([first, *others[:1]])
    return f"Rather {name} than {other_name}: {text}."


def _near(card: int, taken: int) -> list[int]:
    """Return the cards of a mask that could be in a meld with a card."""
    rank, suit = card % NUM_RANKS, card // NUM_RANKS
    return [
        each
        for each in cards_of(taken)
        if each % NUM_RANKS == rank or (each // NUM_RANKS == suit and abs(each % NUM_RANKS - rank) <= 2)
    ]
