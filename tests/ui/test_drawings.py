"""What the drawing functions draw, for both players, compared with the texts in `tests/data/drawings.txt`.

To write the file again: ``PYTHONPATH=tests/helpers python tests/ui/test_drawings.py``. Read the difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table, started
from recorded_games import one_hand, two_hands_of_a_game
from screens import Judge

pytest.importorskip("rich", reason='the screens need Textual: pip install "gin-env[play]"')
pytest.importorskip("PIL", reason='pictures need Pillow: pip install "gin-env[play]"')

from PIL import Image
from rich.text import Text

from gin_env import Rules, agents, estimators
from gin_env.agents.turns import play_bot
from gin_env.records import GameRecord
from gin_env.ui import picture, replay_view, review, text
from gin_env.ui import play_drawing as draw
from gin_env.ui.reveal import describe_showdown
from gin_env.ui.review import review_hand, review_text
from gin_env.ui.visible_table import both_turns, heat_map, last_turn, visible_table
from gin_env.ui.web import page

FILE = Path(__file__).parents[1] / "data" / "drawings.txt"
HANDS = "AC 2C 3C 4H 5H 6H 9S TS JS KD", "4C 5C 9D 7H 2D 3D 8D TD QH KC"
BOXES = Rules(box_bonus=20, immediate_boxes=True, void_dealer="same")


def drawings() -> Iterator[tuple[str, list[Text | object]]]:
    """Yield a name and what is drawn, of positions, ends of hands and recorded games."""
    table = Table(*HANDS, "KS", "9C 8C 7C")
    for place, moves in enumerate((["pass"], ["pass", "draw"], ["KD", "take"], ["KC", "draw"])):
        yield from both_views(f"after {moves[-1]} {place}", table.play(*moves), boxes=place == 2)
    yield from both_views("Oklahoma", Table(*HANDS, "3S", rules=Rules.preset("oklahoma")).play("take"), False)
    for knocker, rules in ((0, BOXES), (1, None)):
        ended = Table(*HANDS[:: 1 - 2 * knocker], "KS", "9C 8C 7C", dealer=1 - knocker, rules=rules)
        table.games.state["public"]["scores"] = 57, 88
        yield f"picture {knocker}", coarse(picture.image(table.games.state[0], knocker, names=("ann", "bob")))
        yield from endings(f"knock by {knocker}", ended.play("pass", "pass", "draw", "knock 9C"))
    chances = estimators.make("uniform").estimate(table.games.views(ONE_GAME, 0))[0].tolist()
    beliefs = [draw.belief_and_truth(heat_map(chances), 11, "Belief", wide) for wide in (False, True)]
    yield "beliefs", beliefs
    cards = [draw.card_lines(card, True, False, new=card == 20) for card in (0, 20, 51)]
    yield "colours", [line.markup for lines in (*cards, draw.back_lines(True)) for line in lines]
    yield "colours of chances", [str(draw.heat_style(chance)) for chance in (0, 1, 10, 25, 50, 99, 100)]
    for name in ("gin by 1", "undercut of a knock by 0", "void, 0 deals"):
        yield from recorded(name, one_hand(name))
    yield from recorded("two hands", two_hands_of_a_game())


def coarse(pixels: np.ndarray) -> list[str]:
    """Return the grey values of a picture in 32 rows of 48 cells, hexadecimal."""
    cells = Image.fromarray(pixels).convert("L").resize((48, 32), Image.Resampling.BOX)
    return [row.tobytes().hex() for row in np.asarray(cells)]


def both_views(name: str, table: Table, boxes: bool) -> Iterator[tuple[str, list[Text | object]]]:
    """Yield what both players see of a position; player 1 in letters."""
    views = [table.games.views(ONE_GAME, player) for player in (0, 1)]
    both = [visible_table(view, "tonic", letters=player == 1) for player, view in enumerate(views)]
    for player, (shown, view) in enumerate(zip(both, views, strict=True)):
        letters, played = player == 1, shown.hand[-1].cards[0] if shown.my_turn else None
        yield (
            f"{name}, player {player}",
            [
                draw.title_line(shown, "tonic", 80 if player else 40),
                draw.their_hand(shown, "tonic", letters, boxes, letters),
                draw.stock_drawing(shown, boxes, letters),
                draw.upcard_drawing(shown, letters, boxes, letters),
                draw.pile_drawing(shown, letters, boxes, 4),
                draw.turn_lines(shown, "a-long-name", "me"),
                replay_view.hand_drawing("ann", shown, shown.my_turn, played, letters, boxes),
                last_turn(shown, "tonic"),
                shown.prompt,
                text.text(table.games.state[0], player),
            ],
        )
        if shown.my_turn:
            advice = Judge().advise(view)
            yield (
                f"{name}, player {player}, advice",
                [draw.advice_lines(advice, view, "tonic", letters), page.hint(advice, view, "tonic")],
            )
    yield f"{name}, last move", [replay_view.last_move(both_turns(*both), ("ann", "bob"))]


def endings(name: str, table: Table) -> Iterator[tuple[str, list[Text | object]]]:
    """Yield the end of a hand as both players see it; player 1 in letters and large cards."""
    hands = table.games.state["private"]["hand"][0].tolist()
    for player in (0, 1):
        view, both = table.games.views(ONE_GAME, player), (hands[player], hands[1 - player])
        letters = large = player == 1
        shown = describe_showdown(view, both, "tonic", letters)
        for boxes in (False, True):
            drawn = draw.showdown_lines(shown, "tonic", letters, boxes, large=large)
            yield f"{name}, player {player}, boxes {boxes}", [drawn]
        yield f"{name}, player {player}, stages", [stage._asdict() for stage in shown.stages]


def recorded(name: str, game: GameRecord) -> Iterator[tuple[str, list[Text | object]]]:
    """Yield what the replays show of a game."""
    positions = game.positions()
    reviews = [review_hand(game, positions, hand, 0, Judge()) for hand in range(len(game.hands))]
    shown = page.replay(game, positions, len(game.hands) - 1)
    yield (
        f"{name}, text",
        [
            review.game_title(game),
            *(review.position_text(game, one, 1) for one in positions[-2:]),
            review_text(game, reviews, "judge"),
            draw.sheet_lines(game, "a-long-opponent"),
        ],
    )
    yield f"{name}, page", [*shown.pop("steps")[-2:], shown]
    yield f"{name}, review", [page.review(game, reviews, Judge())]


def in_lines(parts: list[Text | object]) -> str:
    """Return drawings and sentences as they are, and anything else as JSON."""
    plain = [part.plain if isinstance(part, Text) else part for part in parts]
    lines = [part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in plain]
    return "\n".join(line.rstrip() for part in lines for line in part.split("\n")) + "\n"


def stored() -> dict[str, str]:
    found = FILE.read_text(encoding="utf-8").split("=== ")[1:] if FILE.exists() else []
    return dict(section.split("\n", 1) for section in found)


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return {name: in_lines(parts) for name, parts in drawings()}


@pytest.mark.parametrize("name", stored())
def test_drawing_is_the_stored_one(name, drawn):
    if name.startswith("picture"):  # fonts differ a little from release to release
        cells = [np.frombuffer(bytes.fromhex(rows[name]), np.uint8) for rows in (drawn, stored())]
        assert np.abs(np.subtract(*cells, dtype=int)).max() <= 8
        return
    assert drawn[name] == stored()[name]


def test_upcard_lies_on_the_latest_cards_of_a_large_pile(monkeypatch):
    drawn, face = [], picture._card_face
    monkeypatch.setattr(
        picture, "_card_face", lambda *given, **how: drawn.append((given[0], how)) or face(*given, **how)
    )
    games, bot = started(64), agents.make("simple")
    pile = games.state["public"]["pile"]
    while not (large := [game for game in games.everyone[~games.done] if pile[game].item().bit_count() > 14]):
        play_bot(games, bot, games.everyone[~games.done])
    picture.image(games.state[large[0]], 0)
    in_pile = [(card, how["under"]) for card, how in drawn if "under" in how]
    assert [under for _, under in in_pile] == [True] * 11 + [False]
    assert in_pile[-1][0] == games.state["public"]["upcard"][large[0]]


def test_every_drawing_is_stored(drawn):
    assert list(drawn) == list(stored())


if __name__ == "__main__":
    texts = [f"=== {name}\n{in_lines(parts)}" for name, parts in drawings()]
    FILE.write_text("".join(texts), encoding="utf-8")
