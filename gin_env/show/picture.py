"""The picture of a table, drawn with Pillow: no picture or font files, suits are shapes.

It needs Pillow (``pip install "gin-env[play]"``); `gin_env.show.screen` imports it when the first picture is
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from gin_env.cards import NUM_RANKS, SUITS
from gin_env.show.text import SUIT_SYMBOLS, Hand, Table, card_symbol, describe

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise ImportError('a picture needs Pillow: pip install "gin-env[play]"') from error

WIDTH, HEIGHT = 960, 640
CARD_WIDTH, CARD_HEIGHT = 72, 102
CARD_STEP, GROUP_GAP, MARGIN = 75, 16, 32
SHARPNESS = 4
"""Shapes are drawn this many times too large and then shrunk, which smooths their edges."""

Colour = tuple[int, int, int]
FELT, FELT_EDGE, PANEL, ACTIVE = (36, 114, 78), (12, 56, 38), (12, 46, 33), (48, 134, 94)
WHITE, PALE, GOLD = (255, 255, 255), (196, 222, 208), (255, 210, 92)
BLACK_INK, RED_INK, RED_ON_FELT = (28, 32, 38), (200, 32, 46), (255, 144, 134)
PAPER, PAPER_EDGE, BACK, BACK_LINES = (252, 251, 246), (150, 150, 142), (38, 66, 130), (120, 146, 206)


def image(game: np.void, viewer: int | None = None, last_hand: np.void | None = None) -> np.ndarray:
    """The table as uint8 (HEIGHT, WIDTH, 3); parameters as for `gin_env.show.text.describe`."""
    table = describe(game, viewer, last_hand)
    picture = _felt().copy()
    _write(picture, (MARGIN, 24), "Gin Rummy", 24, WHITE)
    _write(picture, (WIDTH - MARGIN, 24), table.title, 18, PALE, align="right")
    _draw_hand(picture, 48, table.hands[1], table.taken)
    _draw_middle(picture, 232, table)
    _draw_hand(picture, 386, table.hands[0], table.taken)
    _write(picture, (MARGIN, 582), table.now, 22, GOLD)
    _write(picture, (MARGIN, 614), table.last, 17, PALE)
    return np.asarray(picture)


def _draw_hand(picture: Image.Image, top: int, hand: Hand, taken: int) -> None:
    """One hand in a band of the table, 164 pixels high: title, cards, captions."""
    if hand.to_move:
        _panel(picture, (MARGIN - 16, top, WIDTH - MARGIN + 16, top + 164), ACTIVE)
    _write(picture, (MARGIN, top + 17), hand.title, 18, WHITE if hand.to_move else PALE)
    left, cards_top = MARGIN, top + 34
    if not hand.groups:
        for _ in range(hand.size):
            _paste(picture, (left, cards_top), _card_back())
            left += CARD_STEP
    for cards, caption in hand.groups:
        start = left
        for card in cards:
            _paste(picture, (left, cards_top), _card_face(card, marked=card == taken))
            left += CARD_STEP
        middle = (start + left - CARD_STEP + CARD_WIDTH) // 2
        colour = PALE if caption.startswith("deadwood") else GOLD
        _write(picture, (middle, cards_top + CARD_HEIGHT + 14), caption, 16, colour, align="middle")
        left += GROUP_GAP


def _draw_middle(picture: Image.Image, top: int, table: Table) -> None:
    """Stock, discard pile and scores, in a band 130 pixels high."""
    caption_height = top + CARD_HEIGHT + 14
    for height in range(min(table.stock, 3)):
        _paste(picture, (MARGIN + 3 * height, top - 3 * height), _card_back())
    _write(
        picture, (MARGIN + CARD_WIDTH // 2, caption_height), f"stock {table.stock}", 16, PALE, align="middle"
    )

    left = 156
    for index, card in enumerate(table.pile[-10:]):
        _paste(picture, (left + 42 * index, top), _card_face(card))
    size = len(table.pile)
    caption = f"discard pile {size}" + (", top on the right" if size > 1 else "")
    _write(picture, (left, caption_height), caption, 16, PALE)

    left, right = 706, WIDTH - MARGIN
    _panel(picture, (left, top, right, top + CARD_HEIGHT), PANEL)
    _write(picture, (left + 18, top + 20), f"score, game at {table.target}", 15, PALE)
    for player, score in enumerate(table.scores):
        height = top + 50 + 30 * player
        _write(picture, (left + 18, height), f"player_{player}", 18, WHITE)
        _write(picture, (right - 18, height), str(score), 22, GOLD, align="right")


def _write(
    picture: Image.Image, place: tuple[int, int], words: str, size: int, colour: Colour, align: str = "left"
) -> None:
    """Write a line, centred on a height; the suit symbols, which the font lacks, are drawn."""
    canvas, font = ImageDraw.Draw(picture), ImageFont.load_default(size)
    pieces = [piece for piece in re.split("([♣♥♠♦])", words) if piece]
    symbols = SUIT_SYMBOLS.values()
    widths = [size if piece in symbols else canvas.textlength(piece, font=font) for piece in pieces]
    left = place[0] - {"left": 0.0, "middle": 0.5, "right": 1.0}[align] * sum(widths)
    for piece, width in zip(pieces, widths, strict=True):
        if piece in symbols:
            ink = RED_ON_FELT if piece in "♥♦" else WHITE
            _paste(picture, (round(left), place[1] - size // 2), _suit(piece, size, ink))
        else:
            canvas.text((left, place[1]), piece, fill=colour, font=font, anchor="lm")
        left += width


def _panel(picture: Image.Image, box: tuple[int, int, int, int], colour: Colour) -> None:
    """A rounded rectangle with smooth edges."""
    left, top, right, bottom = box
    size = (right - left, bottom - top)
    large = Image.new("L", (size[0] * SHARPNESS, size[1] * SHARPNESS))
    ImageDraw.Draw(large).rounded_rectangle(
        (0, 0, large.width - 1, large.height - 1), 12 * SHARPNESS, fill=255
    )
    picture.paste(colour, (left, top), large.resize(size, Image.Resampling.LANCZOS))


def _paste(picture: Image.Image, place: tuple[int, int], tile: Image.Image) -> None:
    picture.paste(tile, place, tile)


# --- Tiles: drawn once, then kept -----------------------------------------------------------------------


@cache
def _felt() -> Image.Image:
    """The empty table: green, darker towards the edges."""
    across = np.linspace(-1, 1, WIDTH)[None, :] ** 2
    down = np.linspace(-1, 1, HEIGHT)[:, None] ** 2
    edge = ((across + down) / 2)[:, :, None]
    return Image.fromarray((np.array(FELT) * (1 - edge) + np.array(FELT_EDGE) * edge).astype(np.uint8))


@cache
def _card_face(card: int, marked: bool = False) -> Image.Image:
    """A card; the one just taken from the pile is marked with a golden edge."""
    tile = _blank_card(PAPER, GOLD if marked else PAPER_EDGE, edge=4 if marked else 1)
    symbol = SUIT_SYMBOLS[SUITS[card // NUM_RANKS]]
    ink = RED_INK if symbol in "♥♦" else BLACK_INK
    canvas = ImageDraw.Draw(tile)
    scale = SHARPNESS
    rank = card_symbol(card)[:-1]
    font = ImageFont.load_default((25 if len(rank) == 1 else 22) * scale)
    canvas.text((17 * scale, 18 * scale), rank, fill=ink, font=font, anchor="mm")
    _draw_suit(canvas, symbol, (9 * scale, 33 * scale), 16 * scale, ink)
    _draw_suit(canvas, symbol, (25 * scale, 52 * scale), 38 * scale, ink)
    return tile.resize((CARD_WIDTH, CARD_HEIGHT), Image.Resampling.LANCZOS)


@cache
def _card_back() -> Image.Image:
    """The back of a card: blue, with a lattice of diamonds."""
    lattice = Image.new("RGB", (CARD_WIDTH * SHARPNESS, CARD_HEIGHT * SHARPNESS), BACK)
    canvas = ImageDraw.Draw(lattice)
    for start in range(-CARD_HEIGHT, CARD_WIDTH + CARD_HEIGHT, 10):
        for lean in (-1, 1):
            line = (start * SHARPNESS, 0, (start + lean * CARD_HEIGHT) * SHARPNESS, lattice.height)
            canvas.line(line, fill=BACK_LINES, width=SHARPNESS)
    inside = Image.new("L", lattice.size)
    box = (5 * SHARPNESS, 5 * SHARPNESS, lattice.width - 5 * SHARPNESS, lattice.height - 5 * SHARPNESS)
    ImageDraw.Draw(inside).rounded_rectangle(box, 5 * SHARPNESS, fill=255)
    tile = _blank_card(PAPER, PAPER_EDGE, edge=1)
    tile.paste(lattice, (0, 0), inside)
    return tile.resize((CARD_WIDTH, CARD_HEIGHT), Image.Resampling.LANCZOS)


def _blank_card(paper: Colour, outline: Colour, edge: int) -> Image.Image:
    """An empty card, SHARPNESS times too large, on a transparent ground."""
    tile = Image.new("RGBA", (CARD_WIDTH * SHARPNESS, CARD_HEIGHT * SHARPNESS), (*outline, 0))
    box = (0, 0, tile.width - 1, tile.height - 1)
    ImageDraw.Draw(tile).rounded_rectangle(box, 8 * SHARPNESS, paper, outline, edge * SHARPNESS)
    return tile


@cache
def _suit(symbol: str, size: int, ink: Colour) -> Image.Image:
    """One suit symbol for a line of text, (size, size)."""
    tile = Image.new("RGBA", (size * SHARPNESS, size * SHARPNESS), (*ink, 0))
    _draw_suit(ImageDraw.Draw(tile), symbol, (0, 0), size * SHARPNESS, ink)
    return tile.resize((size, size), Image.Resampling.LANCZOS)


def _draw_suit(
    canvas: ImageDraw.ImageDraw, symbol: str, corner: tuple[int, int], size: int, ink: Colour
) -> None:
    """Draw a suit into a square; the shapes below are in hundredths of its side."""

    def place(*numbers: float) -> Sequence[float]:
        return [corner[index % 2] + number * size / 100 for index, number in enumerate(numbers)]

    if symbol == "♦":
        canvas.polygon(place(50, 4, 86, 50, 50, 96, 14, 50), fill=ink)
    elif symbol == "♥":
        canvas.ellipse(place(6, 10, 54, 58), fill=ink)
        canvas.ellipse(place(46, 10, 94, 58), fill=ink)
        canvas.polygon(place(11.5, 49, 50, 36, 88.5, 49, 50, 94), fill=ink)
    elif symbol == "♠":
        canvas.ellipse(place(7, 36, 53, 82), fill=ink)
        canvas.ellipse(place(47, 36, 93, 82), fill=ink)
        canvas.polygon(place(12, 46, 50, 5, 88, 46, 50, 62), fill=ink)
        canvas.polygon(place(46, 58, 54, 58, 66, 96, 34, 96), fill=ink)
    else:
        canvas.ellipse(place(28, 5, 72, 49), fill=ink)
        canvas.ellipse(place(6, 38, 50, 82), fill=ink)
        canvas.ellipse(place(50, 38, 94, 82), fill=ink)
        canvas.polygon(place(44, 40, 56, 40, 66, 96, 34, 96), fill=ink)
