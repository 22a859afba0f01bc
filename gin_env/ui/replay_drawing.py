"""Drawings used only by the replay screen: open hands and moves."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text

from gin_env.game.cards import NUM_CARDS
from gin_env.ui import play_drawing as draw
from gin_env.ui.seat import Seat, Turn


def hand_drawing(
    name: str, seat: Seat, to_move: bool, played: int | None, letters: bool, boxes: bool
) -> Text:
    """Return a hand, face up, with a mark on the card that is discarded next."""
    count = sum(len(group.cards) for group in seat.hand)
    title = Text(f"{'>' if to_move else ' '} {name}: {count} cards, deadwood {seat.deadwood}", "bold")
    leaves = played % NUM_CARDS if played is not None and played < 2 * NUM_CARDS else None
    drawings, line = [], Text(no_wrap=True)
    for cards, _ in seat.hand:
        for card in cards:
            drawn = draw.card_lines(card, card == cards[-1], letters, card == seat.taken)
            if card == leaves:
                drawn[2] = Text("╰▲▲" + drawn[2].plain[3:], drawn[2].style)
                drawn[2].stylize(Style(color=draw.BLACK_INK), 1, 3)
            drawings.append(drawn)
            mark = ">" if card == leaves else "*" if card == seat.taken else " "
            one = draw.card_in_line(card, mark, letters, card == leaves)
            line.append(one + Text(" " * (4 - len(one))))
        drawings.append([Text(" ")] * 3)
        line.append(" ")
    if not boxes:
        line.rstrip()
        return Text("\n").join([title, line])
    return Text("\n").join([title, draw.side_by_side(drawings), draw.captions(seat.hand)])


def last_move(turns: Sequence[Turn], names: tuple[str, str]) -> str:
    """Return the last move in words."""
    if not turns:
        return "The cards have been dealt."
    turn = turns[-1]
    if turn.discarded:
        did = f"discarded {turn.discarded.replace(' knock', ' and knocked').replace(' gin', ' and went gin')}"
    elif turn.took.startswith("stock "):
        did = f"drew {turn.took.removeprefix('stock ')} from the stock"
    else:
        did = "passed" if turn.took == "pass" else f"took the upcard {turn.took}"
    return f"Last: {names[0] if turn.by_viewer else names[1]} {did}."


def column_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return the names for narrow columns; names with the same beginning are cut to their ends."""
    width = draw.NAME_WIDTH - 1
    first, second = (draw.short_name(name, width) for name in names)
    if first != second:
        return first, second
    return "…" + names[0][1 - width :], "…" + names[1][1 - width :]
