"""Pictures of a table, drawn with Pillow without image or font files.

The cards are those of `gin_env.ui.card_art`. The module needs Pillow (``pip install "gin-env[play]"``);
`gin_env.ui.screen` imports it when the first picture is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from gin_env.game.cards import NUM_RANKS, SUITS
from gin_env.support.checks import check_integer
from gin_env.ui.card_art import (
    BACK,
    BACK_LINES,
    CARD_HEIGHT,
    CARD_WIDTH,
    INKS,
    PAPER,
    PAPER_EDGE,
    SUIT_SHAPES,
    Colour,
)
from gin_env.ui.text import PLAYERS, SUIT_SYMBOLS, Hand, Table, card_symbol, describe

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise ImportError('a picture needs Pillow: pip install "gin-env[play]"') from error

WIDTH, HEIGHT = 960, 640
"""Default size in pixels. All lengths below refer to this size; other widths are drawn to scale."""
NARROWEST, WIDEST = 240, 3840
CARD_STEP, GROUP_GAP, MARGIN = 77, 16, 32
PILE_LEFT, PILE_STEP, PILE_CARDS = 152, 41, 12
"""Left edge of the discard pile, visible width of a covered card, and maximum number of cards drawn."""
PANEL_LEFT = 706
LONGEST_NAME = 18
SHARPNESS = 4
"""Antialiasing factor: shapes are drawn this many times larger and then scaled down."""

FELT, FELT_EDGE, PANEL, ACTIVE = (34, 108, 74), (13, 60, 41), (12, 46, 33), (46, 132, 92)
WHITE, PALE, GOLD = (255, 255, 255), (206, 229, 216), (255, 210, 92)
PAPER_UNDER = (213, 217, 208)
"""Background of covered cards in the discard pile."""


def image(
    game: np.void,
    viewer: int | None = None,
    last_hand: np.void | None = None,
    names: Sequence[str] = PLAYERS,
    width: int = WIDTH,
) -> np.ndarray:
    """Return the table as uint8 (height, width, 3), two thirds as high as wide: (640, 960, 3) by default.

    Other parameters as for `gin_env.ui.text.describe`. The picture depends only on the arguments. Raises
    ValueError for a width outside `NARROWEST` to `WIDEST`, TypeError unless it is an integer.
    """
    width = check_integer("width", width, NARROWEST, WIDEST)
    # A long name, such as the path of a policy, is cut to its end.
    names = [name if len(name) <= LONGEST_NAME else "..." + name[3 - LONGEST_NAME :] for name in names]
    table = describe(game, viewer, last_hand, names)
    sheet = _Sheet(width)
    _draw_hand(sheet, 8, table.hands[1], table.taken)
    _draw_middle(sheet, 206, table)
    _draw_hand(sheet, 358, table.hands[0], table.taken)
    sheet.write((MARGIN, 566), table.now, 25, GOLD)
    sheet.write((MARGIN, 606), table.last, 20, PALE)
    return np.asarray(sheet.picture)


def _draw_hand(sheet: _Sheet, top: int, hand: Hand, taken: int) -> None:
    """Draw one hand in a band of the table, 180 pixels high: title, cards, captions."""
    if hand.to_move:
        sheet.panel((MARGIN - 16, top, WIDTH - MARGIN + 16, top + 180), ACTIVE)
        sheet.arrow((MARGIN, top + 9), 16, GOLD)
    place = (MARGIN + 24 * hand.to_move, top + 17)
    sheet.write(place, hand.title, 22, GOLD if hand.to_move else PALE)
    left, cards_top = MARGIN, top + 34
    if not hand.groups:
        for _ in range(hand.size):
            sheet.paste((left, cards_top), _card_back(sheet.width))
            left += CARD_STEP
    for cards, caption in hand.groups:
        start = left
        for card in cards:
            sheet.paste((left, cards_top), _card_face(card, sheet.width, marked=card == taken))
            left += CARD_STEP
        middle = (start + left - CARD_STEP + CARD_WIDTH) // 2
        colour = PALE if caption.startswith("deadwood") else GOLD
        sheet.write((middle, cards_top + CARD_HEIGHT + 17), caption, 20, colour, align="middle")
        left += GROUP_GAP


def _draw_middle(sheet: _Sheet, top: int, table: Table) -> None:
    """Draw stock, discard pile and scores in a band 140 pixels high."""
    caption_height = top + CARD_HEIGHT + 17
    for height in range(min(table.stock, 3)):
        sheet.paste((MARGIN + 3 * height, top - 3 * height), _card_back(sheet.width))
    sheet.write((MARGIN, caption_height), f"stock {table.stock}", 20, PALE)

    shown = table.pile[-PILE_CARDS:]
    for index, card in enumerate(shown):
        on_top = index == len(shown) - 1
        face = _card_face(card, sheet.width, under=not on_top)
        sheet.paste((PILE_LEFT + PILE_STEP * index, top), face)
    size = len(table.pile)
    caption = f"discard pile {size}" + (", upcard on the right" if size > 1 else "")
    sheet.write((PILE_LEFT, caption_height), caption, 20, PALE)

    left, right = PANEL_LEFT, WIDTH - MARGIN
    sheet.panel((left, top - 4, right, top + 134), PANEL)
    sheet.write((left + 16, top + 17), table.title, 19, PALE)
    for player in (1, 0):  # from top to bottom
        height = top + 82 - 32 * player
        name, score = table.names[player], str(table.scores[player])
        sheet.write((left + 16, height), name, 21, WHITE, room=140)
        sheet.write((right - 16, height), score, 23, GOLD, align="right")
    sheet.write((left + 16, top + 115), f"game at {table.target}", 19, PALE)


# --- The sheet --------------------------------------------------------------------------------------------


class _Sheet:
    """A picture of any width; its methods take coordinates in a picture of width WIDTH."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.picture = _felt(width).copy()

    def write(
        self,
        place: tuple[int, int],
        words: str,
        size: int,
        colour: Colour,
        align: str = "left",
        room: int = WIDTH - 2 * MARGIN,
    ) -> None:
        """Write a line, centred vertically; smaller than `size` if it is wider than `room`."""
        line = _line(words, self._scaled(size), colour)
        while line.width > self._scaled(room):
            size -= 1
            line = _line(words, self._scaled(size), colour)
        left = self._scaled(place[0]) - round({"left": 0.0, "middle": 0.5, "right": 1.0}[align] * line.width)
        self.picture.paste(line, (left, self._scaled(place[1]) - line.height // 2), line)

    def panel(self, box: tuple[int, int, int, int], colour: Colour) -> None:
        """Draw a rounded rectangle with smooth edges."""
        left, top, right, bottom = map(self._scaled, box)
        self.picture.paste(colour, (left, top), _rounded((right - left, bottom - top), self._scaled(12)))

    def arrow(self, corner: tuple[int, int], size: int, colour: Colour) -> None:
        """Draw a triangle that points to the right, the mark of the player to move."""
        side = self._scaled(size)
        large = Image.new("L", (side * SHARPNESS, side * SHARPNESS))
        middle, end = side * SHARPNESS // 2, side * SHARPNESS - 1
        ImageDraw.Draw(large).polygon((0, 0, end, middle, 0, end), fill=255)
        shape = large.resize((side, side), Image.Resampling.LANCZOS)
        self.picture.paste(colour, (self._scaled(corner[0]), self._scaled(corner[1])), shape)

    def paste(self, place: tuple[int, int], tile: Image.Image) -> None:
        """Paste a tile with its upper left corner at `place`."""
        self.picture.paste(tile, (self._scaled(place[0]), self._scaled(place[1])), tile)

    def _scaled(self, length: int) -> int:
        return scaled(length, self.width)


def scaled(length: int, width: int) -> int:
    """Convert a length in a picture of width WIDTH to one of width `width`."""
    return round(length * width / WIDTH)


# --- Tiles: drawn once for each width, then kept ------------------------------------------------------------


@lru_cache(4)
def _felt(width: int) -> Image.Image:
    """Return the empty table: green, darker towards the edges."""
    height = scaled(HEIGHT, width)
    across = np.linspace(-1, 1, width)[None, :] ** 2
    down = np.linspace(-1, 1, height)[:, None] ** 2
    edge = ((across + down) / 2)[:, :, None]
    return Image.fromarray((np.array(FELT) * (1 - edge) + np.array(FELT_EDGE) * edge).astype(np.uint8))


@lru_cache(256)
def _card_face(card: int, width: int = WIDTH, marked: bool = False, under: bool = False) -> Image.Image:
    """Return a card; if `marked` (just taken from the pile) with a golden edge, if `under` others darker."""
    symbol = SUIT_SYMBOLS[SUITS[card // NUM_RANKS]]
    ink, paper = INKS[symbol], PAPER_UNDER if under else PAPER
    scale = SHARPNESS
    tile = _blank_card(paper, (235, 160, 0) if marked else PAPER_EDGE, edge=5 if marked else 1)
    canvas = ImageDraw.Draw(tile)
    rank = card_symbol(card)[:-1]
    font = _font((33 if len(rank) == 1 else 28) * scale)
    canvas.text((20 * scale, 23 * scale), rank, fill=ink, font=font, anchor="mm", stroke_width=scale)
    _draw_suit(canvas, symbol, (9 * scale, 42 * scale), 22 * scale, ink)
    _draw_suit(canvas, symbol, (27 * scale, 62 * scale), 42 * scale, ink)
    return _shrunk(tile, width)


@lru_cache(4)
def _card_back(width: int = WIDTH) -> Image.Image:
    """Return the back of a card: blue, with a lattice of diamonds."""
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
    return _shrunk(tile, width)


def _blank_card(paper: Colour, outline: Colour, edge: int) -> Image.Image:
    """Return an empty card, enlarged by SHARPNESS, on a transparent background."""
    tile = Image.new("RGBA", (CARD_WIDTH * SHARPNESS, CARD_HEIGHT * SHARPNESS), (*outline, 0))
    box = (0, 0, tile.width - 1, tile.height - 1)
    ImageDraw.Draw(tile).rounded_rectangle(box, 8 * SHARPNESS, paper, outline, edge * SHARPNESS)
    return tile


def _shrunk(tile: Image.Image, width: int) -> Image.Image:
    size = (scaled(CARD_WIDTH, width), scaled(CARD_HEIGHT, width))
    return tile.resize(size, Image.Resampling.LANCZOS)


@lru_cache(32)
def _rounded(size: tuple[int, int], radius: int) -> Image.Image:
    """Return a mask of a rounded rectangle, for `Image.paste`."""
    large = Image.new("L", (size[0] * SHARPNESS, size[1] * SHARPNESS))
    box = (0, 0, large.width - 1, large.height - 1)
    ImageDraw.Draw(large).rounded_rectangle(box, radius * SHARPNESS, fill=255)
    return large.resize(size, Image.Resampling.LANCZOS)


@lru_cache(512)
def _line(words: str, size: int, colour: Colour) -> Image.Image:
    """Return a line of text on a transparent background, twice as high as the font size.

    Suit symbols, which the font lacks, are drawn as shapes. The text is drawn enlarged, so that small
    letters are spaced exactly.
    """
    large = size * SHARPNESS
    font, gap = _font(large), large // 12
    pieces = [piece for piece in re.split("([♣♥♠♦])", words) if piece]
    widths = [large + gap if piece in INKS else round(font.getlength(piece)) for piece in pieces]
    tile = Image.new("RGBA", (max(sum(widths), 1), 2 * large), (*colour, 0))
    canvas = ImageDraw.Draw(tile)
    left = 0
    for piece, width in zip(pieces, widths, strict=True):
        if piece in INKS:
            _draw_suit(canvas, piece, (left + gap, large // 2), large, colour)
        else:
            canvas.text((left, large), piece, fill=colour, font=font, anchor="lm")
        left += width
    return tile.resize((-(-tile.width // SHARPNESS), 2 * size), Image.Resampling.LANCZOS)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font bundled with Pillow, so that pictures do not depend on the machine's fonts."""
    return ImageFont.load_default(size)


def _draw_suit(
    canvas: ImageDraw.ImageDraw, symbol: str, corner: tuple[int, int], size: int, ink: Colour
) -> None:
    """Draw the shape of a suit into a square."""

    def place(*numbers: float) -> Sequence[float]:
        return [corner[index % 2] + number * size / 100 for index, number in enumerate(numbers)]

    for shape in SUIT_SHAPES[symbol]:
        draw = canvas.ellipse if len(shape) == 4 else canvas.polygon
        draw(place(*shape), fill=ink)
