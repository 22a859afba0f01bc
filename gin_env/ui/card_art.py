"""Card art: colours, the shapes of the suits, and a sheet of all cards as SVG.

The deck has four colours, one for each suit. They are Okabe and Ito's colours, darkened, which people with
colour blindness can distinguish.
"""

from __future__ import annotations

from functools import cache

from gin_env.game.cards import NUM_CARDS, NUM_RANKS, RANKS, SUITS, card_text
from gin_env.ui.text import SUIT_SYMBOLS

CARD_WIDTH, CARD_HEIGHT = 74, 110

Colour = tuple[int, int, int]
INKS = {"♣": (0, 118, 84), "♥": (204, 28, 36), "♠": (24, 26, 30), "♦": (0, 92, 186)}
PAPER, PAPER_EDGE = (253, 252, 247), (120, 122, 114)
BACK, BACK_LINES = (38, 66, 130), (120, 146, 206)

SUIT_SHAPES: dict[str, list[tuple[float, ...]]] = {
    "♦": [(50, 4, 86, 50, 50, 96, 14, 50)],
    "♥": [(6, 10, 54, 58), (46, 10, 94, 58), (11.5, 49, 50, 36, 88.5, 49, 50, 94)],
    "♠": [
        (7, 36, 53, 82),
        (47, 36, 93, 82),
        (12, 46, 50, 5, 88, 46, 50, 62),
        (46, 58, 54, 58, 66, 96, 34, 96),
    ],
    "♣": [
        (29, 4, 71, 46),
        (3, 40, 45, 82),
        (55, 40, 97, 82),
        (42, 38, 58, 38, 55, 66, 66, 96, 34, 96, 45, 66),
    ],
}
"""Shapes of the suits, in hundredths of a square: four numbers are the bounding box of an ellipse, more are
the corners of a polygon."""


@cache
def card_sheet() -> str:
    """Return an SVG document with a symbol for each card (``#AC`` to ``#KD``), each suit, and ``#back``."""
    width, height = CARD_WIDTH, CARD_HEIGHT
    suits = [
        f'<symbol id="suit-{suit}" viewBox="0 0 100 100" fill="{_hex(INKS[symbol])}">'
        + "".join(map(_shape, SUIT_SHAPES[symbol]))
        + "</symbol>"
        for suit, symbol in SUIT_SYMBOLS.items()
    ]
    box = f'viewBox="0 0 {width} {height}"'
    edge = f'x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" stroke="{_hex(PAPER_EDGE)}"'
    paper = f'<rect {edge} fill="{_hex(PAPER)}"/>'
    faces = [
        f'<symbol id="{card_text(card)}" {box}>{paper}{_face(card)}</symbol>' for card in range(NUM_CARDS)
    ]
    lines = "".join(
        f'<path d="M{start} 0L{start + lean * height} {height}"/>'
        for start in range(-height, width + height, 10)
        for lean in (-1, 1)
    )
    inside = f'x="5" y="5" width="{width - 10}" height="{height - 10}" rx="5"'
    back = (
        f'<clipPath id="lattice"><rect {inside}/></clipPath><symbol id="back" {box}>{paper}'
        f'<rect {inside} fill="{_hex(BACK)}"/>'
        f'<g clip-path="url(#lattice)" stroke="{_hex(BACK_LINES)}">{lines}</g></symbol>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(suits)}{"".join(faces)}{back}</svg>'


def _face(card: int) -> str:
    """Return the face of a card: rank and small suit in the corner, a large suit below."""
    rank, suit = RANKS[card % NUM_RANKS], SUITS[card // NUM_RANKS]
    wide = rank == "T"
    ink = _hex(INKS[SUIT_SYMBOLS[suit]])
    squeeze = ' textLength="34" lengthAdjust="spacingAndGlyphs"' if wide else ""
    return (
        f'<text x="20" y="35" text-anchor="middle" font-family="system-ui,Helvetica,Arial,sans-serif" '
        f'font-weight="700" font-size="33" fill="{ink}"{squeeze}>{"10" if wide else rank}</text>'
        f'<use href="#suit-{suit}" x="9" y="42" width="22" height="22"/>'
        f'<use href="#suit-{suit}" x="27" y="62" width="42" height="42"/>'
    )


def _shape(numbers: tuple[float, ...]) -> str:
    if len(numbers) > 4:
        return f'<polygon points="{" ".join(map(str, numbers))}"/>'
    left, top, right, bottom = numbers
    return (
        f'<ellipse cx="{(left + right) / 2}" cy="{(top + bottom) / 2}" rx="{(right - left) / 2}" '
        f'ry="{(bottom - top) / 2}"/>'
    )


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
