"""Parts of the playing screen as rich texts, drawn from the data structures of `gin_env.ui.visible_table`.

Nothing depends on colour alone: suits have symbols or letters, and every cell of a heat map has its number.
"""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from gin_env.game.cards import NUM_RANKS, SUITS
from gin_env.game.state import NO_CARD
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord
from gin_env.ui.adviser import Advice, lines_of, why
from gin_env.ui.reveal import Showdown, ended_hands, inside, outcome_word
from gin_env.ui.text import Group
from gin_env.ui.visible_table import YOU, HeatMap, VisibleTable, card_name, card_names

PAPER = "#fbfaf4"
BLACK_INK, RED_INK, EDGE_INK = "#1a1c20", "#b3122a", "#8a8a80"
BACK, BACK_INK = "#26427e", "#9db4e0"
NEW_PAPER = "#ffe9a0"
GOLD, PALE = "#ffd25c", "#c4decf"
RED_ON_FELT = "#ff9086"
NAME_WIDTH = 7
SHORT_MOVES = {
    "draw from the stock": "stock",
    "discard ": "",
    "knock with": "knock",
    " without going gin": "",
    "go gin with": "gin",
}
"""Moves in the table of a hint."""
LARGE_WIDTH = 6
"""Columns of a large card."""

# Dark blue to yellow, which remains distinct with red-green colour blindness and in greyscale.
_COLD, _MIDDLE, _HOT = (0, 34, 78), (124, 123, 120), (254, 232, 56)


def card_edges(last: bool, new: bool = False, width: int = 4) -> tuple[str, str]:
    """Return top and bottom of a card; the next card covers its right edge, unless `last` of its group."""
    top = ("╭new" if new else "╭").ljust(width, "─")
    return top + ("╮" if last else ""), "╰".ljust(width, "─") + ("╯" if last else "")


def card_lines(card: int, last: bool, letters: bool, new: bool = False, large: bool = False) -> list[Text]:
    """Return a card in three lines of four columns (five of six if `large`), one more if `last` of its group.

    `new`: just drawn.
    """
    width = LARGE_WIDTH if large else 4
    top, bottom = card_edges(last, new, width)
    paper = NEW_PAPER if new else PAPER
    edge = Style(color=EDGE_INK, bgcolor=paper)
    ink = Style(color=RED_INK if _is_red(card) else BLACK_INK, bgcolor=paper, bold=True)
    name = card_name(card, letters)
    inside = [f"{name:<3}"]
    if large:
        inside = [f"{name:<{width - 1}}", " " * (width - 1), f"{name[-1]:^{width - 1}}"]
    top_line = Text(top, edge)
    if new:
        top_line.stylize(Style(color=BLACK_INK), 1, 4)
    right = "│" if last else ""
    return [
        top_line,
        *(Text("│", edge) + Text(line, ink) + Text(right, edge) for line in inside),
        Text(bottom, edge),
    ]


def card_in_line(card: int, mark: str, letters: bool, chosen: bool) -> Text:
    """Return a card in one line, four columns wide, after a mark."""
    ink = "reverse" if chosen else RED_ON_FELT if _is_red(card) else ""
    return Text(f"{mark}{card_name(card, letters)}", ink)


def back_lines(last: bool, large: bool = False) -> list[Text]:
    """Return a closed card of the same size as `card_lines`."""
    width = LARGE_WIDTH if large else 4
    top, bottom = card_edges(last, width=width)
    style = Style(color=BACK_INK, bgcolor=BACK)
    inside = ["│" + "░" * (width - 1) + ("│" if last else "")] * (3 if large else 1)
    return [Text(line, style) for line in (top, *inside, bottom)]


def empty_lines(large: bool = False) -> list[Text]:
    """Return the drawing of an empty place, as large as a card."""
    width = LARGE_WIDTH if large else 4
    inside = ["╎" + " " * (width - 1) + "╎"] * (3 if large else 1)
    edges = "╌" * (width - 1)
    return [Text(line, PALE) for line in (f"╭{edges}╮", *inside, f"╰{edges}╯")]


def side_by_side(cards: list[list[Text]]) -> Text:
    """Return drawings with the same number of lines, side by side."""
    return Text("\n").join(Text("").join(lines) for lines in zip(*cards, strict=True))


def group_drawings(groups: list[Group], letters: bool, large: bool = False) -> Text:
    """Return groups of cards, face up, with their captions below."""
    card = LARGE_WIDTH if large else 4
    drawings, captions = [], Text()
    for cards, caption in groups:
        drawings += [card_lines(one, one == cards[-1], letters, large=large) for one in cards]
        width = max(card * len(cards) + 1, len(caption))
        drawings.append([Text(" " * (width - card * len(cards)))] * (5 if large else 3))
        captions.append(f"{caption:<{width + 1}}", GOLD if caption in ("set", "run") else PALE)
    return Text("\n").join([side_by_side(drawings), captions])


def captions(groups: list[Group], card_width: int = 4, gap: int = 2) -> Text:
    """Return the captions below the groups of the player's hand."""
    text = Text(no_wrap=True)
    for cards, caption in groups:
        width = card_width * len(cards) + gap
        word = caption.split()[0]
        text.append(f"{word if len(word) < width else '':{width}}", GOLD if word != "deadwood" else PALE)
    return text


def title_line(table: VisibleTable, opponent: str, width: int, me: str = YOU) -> Text:
    """Return the title: game, hand and score in one line."""
    score = f"{me} {table.own_score} : {table.opponent_score} {opponent}"
    dealt = inside(me) if table.dealt_by_me else opponent
    limit = "" if table.limit is None else f", knock at {table.limit}"
    left = f"Gin Rummy, hand {table.hand_number}, {dealt} dealt{limit}"
    right = f"{score}, game at {table.target}"
    if len(left) + len(right) + 2 > width:
        left, right = f"Hand {table.hand_number}{limit}", score
    return Text(left + " " * max(2, width - len(left) - len(right)) + right, "bold", no_wrap=True)


def their_hand(table: VisibleTable, opponent: str, letters: bool, boxes: bool, large: bool = False) -> Text:
    """Return the opponent's cards: face up those taken from the pile, the others closed."""
    seen = f", you saw {card_names(table.known, letters)} taken" if table.known else ""
    title = Text(f"{opponent}: {table.closed + len(table.known)} cards{seen}", no_wrap=True)
    if not boxes:
        return title
    drawings = [back_lines(number == table.closed - 1, large) for number in range(table.closed)]
    drawings += [card_lines(card, card == table.known[-1], letters, large=large) for card in table.known]
    return Text("\n").join([title, side_by_side(drawings)])


def stock_drawing(table: VisibleTable, boxes: bool, large: bool = False) -> Text:
    """Return the stock with its number of cards."""
    title = Text(f"Stock {table.stock}")
    return Text("\n").join([title, *back_lines(True, large)]) if boxes else title


def upcard_drawing(table: VisibleTable, letters: bool, boxes: bool, large: bool = False) -> Text:
    """Return the top of the discard pile."""
    if not boxes:
        return Text("no upcard" if table.upcard == NO_CARD else f"Upcard {card_name(table.upcard, letters)}")
    if table.upcard == NO_CARD:
        lines = empty_lines(large)
    else:
        lines = card_lines(table.upcard, True, letters, large=large)
    return Text("\n").join([Text("Upcard"), side_by_side([lines])])


def pile_drawing(table: VisibleTable, letters: bool, boxes: bool, width: int) -> Text:
    """Return the cards below the upcard, the topmost first."""
    under = [card for card in reversed(table.pile) if card != table.upcard]
    names = card_names(under[: max(1, width // 4 * (3 if boxes else 1))], letters) or "none"
    return Text(f"Under it: {names}" if boxes else f"under: {names}")


def turn_lines(table: VisibleTable, opponent: str, me: str = YOU) -> Text:
    """Return the turns of both players: cards taken and discarded, one line per turn."""
    text = Text().append(f"{'':{NAME_WIDTH}}{'took':10}discard", "bold underline")
    for turn in table.turns:
        name = short_name(me if turn.by_viewer else opponent, NAME_WIDTH - 1)
        text.append(f"\n{name:{NAME_WIDTH}}{turn.took:10}{turn.discarded}", "bold" if turn.by_viewer else "")
    if not table.turns:
        text.append("\nNobody has acted yet.")
    return text


def sheet_lines(record: GameRecord, opponent: str) -> Text:
    """Return the score sheet: the hands that have ended, with their outcomes and the scores after them."""
    ended = ended_hands(record)
    name = short_name(opponent, 12)
    text = Text().append(f"{'hand':6}{YOU:>5}  {name:>{len(name)}}  outcome", "bold underline")
    for number, hand in enumerate(ended, 1):
        own, other = hand.scores_after
        points = "" if hand.winner is None else f" {hand.points}"
        line = f"\n{number:<6}{own:>5}  {other:>{len(name)}}  {outcome_word(hand)}{points}"
        text.append(line, "bold" if hand.winner == 0 else "")
    if not ended:
        text.append("\nNo hand has ended yet.")
    return text


def short_name(name: str, width: int) -> str:
    """Return a name, cut to this width."""
    return name if len(name) <= width else name[: width - 1] + "…"


def deadwood_words(table: VisibleTable) -> str:
    """Return the deadwood of the player's cards: before a discard, what the best discard leaves."""
    cards = sum(len(group.cards) for group in table.hand)
    after = " after the best discard" if cards > table.hand_size else ""
    return f"deadwood {table.deadwood}{after}"


def advice_lines(
    advice: Advice, view: PlayerView, opponent: str, letters: bool, played: int | None = None
) -> Text:
    """Return the best moves as a table and the reason for the first in a sentence.

    With `played`, the move that was played is among them, marked with a star.
    """
    lines = lines_of(advice, view, letters, played)
    text = Text().append(f"→ {lines[0].move}", f"bold {GOLD}")
    text.append(f"\n{'':11}{'win':>4}{'left':>5}{'help':>5}  risk", PALE)
    for line in lines:
        name = line.move
        for words, short in SHORT_MOVES.items():
            name = name.replace(words, short)
        mark = "→" if line is lines[0] else "*" if line.action == played else " "
        danger = line.danger.replace("medium", "mid")
        text.append(f"\n{mark} {name:9}{line.win[:-2]:>4}{line.deadwood:>5}{line.helps:>5}  {danger}")
    return text.append(f"\n{why(advice, view, opponent, played, letters)}")


def heat_cells(belief: HeatMap) -> Text:
    """Return the heat map in five lines: per cent for each card, ■ for 100."""
    text = Text().append("  " + "".join(f"{card_name(rank)[:-1]:>3}" for rank in range(NUM_RANKS)), "bold")
    for suit, cells in belief:
        text.append(f"\n{suit} ", "bold")
        for per_cent in cells:
            shown = f"{per_cent:3d}" if 0 < per_cent < 100 else "  ■" if per_cent else "  ·"
            text.append(shown, heat_style(per_cent))
    return text


def truth_lines(hand: int) -> Text:
    """Return the cards of a hand in the layout of the heat map, in five lines."""
    text = Text().append("  A 2 3 4 5 6 7 8 9 T J Q K", "bold")
    for suit in range(len(SUITS)):
        text.append("\n  ")
        for rank in range(NUM_RANKS):
            held = hand >> (suit * NUM_RANKS + rank) & 1
            text.append("■ " if held else "· ", GOLD if held else PALE)
    return text


def belief_and_truth(
    belief: HeatMap, hand: int, heading: str, wide: bool, truth: str = "what was held"
) -> Text:
    """Return a belief and the actual hand, side by side if `wide`, otherwise below each other."""
    cells, held = heat_cells(belief), truth_lines(hand)
    if not wide:
        truth = truth[0].upper() + truth[1:]
        return Text("\n").join([Text(heading, "bold"), cells, Text(truth, "bold"), held])
    lines = [Text(f"{short_name(heading, 42):43}{truth}", "bold")]
    rows = zip(cells.split("\n"), held.split("\n"), strict=True)
    return Text("\n").join(lines + [first + Text("  ") + second for first, second in rows])


def heat_style(per_cent: int) -> Style:
    """Return the style of a cell of the heat map; the scale is finer for small chances, which are common."""
    place = (min(per_cent, 100) / 100) ** 0.5
    ends = (_COLD, _MIDDLE) if place < 0.5 else (_MIDDLE, _HOT)
    share = 2 * place - (place >= 0.5)
    mixed = [round(low + share * (high - low)) for low, high in zip(*ends, strict=True)]
    bright = 0.3 * mixed[0] + 0.6 * mixed[1] + 0.1 * mixed[2] > 120
    return Style(color="#000000" if bright else "#ffffff", bgcolor="#{:02x}{:02x}{:02x}".format(*mixed))


def showdown_lines(
    showdown: Showdown, opponent: str, letters: bool, boxes: bool, me: str = YOU, large: bool = False
) -> Text:
    """Return both hands laid down, and the score step by step."""
    parts = [Text(showdown.headline, f"bold {GOLD}")]
    for name, groups in ((opponent, showdown.opponent_groups), (me, showdown.own_groups)):
        if boxes:
            drawing = group_drawings(groups, letters, large).split("\n")
            label = ["", short_name(name, 9), *[""] * (len(drawing) - 2)]
            left = [Text(f"{line:10}", "bold", end="") for line in label]
            parts += [first + second for first, second in zip(left, drawing, strict=True)]
        else:
            said = "  |  ".join(f"{card_names(cards, letters)} {caption}" for cards, caption in groups)
            parts.append(Text(f"{name}: {said}"))
    parts += [Text(f"{number}. {stage.text}") for number, stage in enumerate(showdown.stages, 1)]
    return Text("\n").join(parts)


def _is_red(card: int) -> bool:
    return SUITS[card // NUM_RANKS] in "HD"
