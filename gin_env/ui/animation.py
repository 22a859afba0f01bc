"""Pictures of a hand, and animated GIFs of them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gin_env.agents import AnyAgent, resolve
from gin_env.agents.turns import play_bot
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.records import GameRecord, Player, RecordedGames
from gin_env.support.atomic import write_bytes
from gin_env.ui import picture
from gin_env.ui.review import player_names

LAST_SECONDS = 5.0
"""Minimum duration of the last picture, in seconds, before the GIF starts again."""


def hand_pictures(
    a: AnyAgent, b: AnyAgent, seed: int, rules: Rules | None = None, width: int = picture.WIDTH
) -> Iterator[np.ndarray]:
    """Yield pictures of one hand, uint8 (height, width, 3): the deal, then one after each action.

    Both hands are open; `a` is drawn at the bottom, `b` at the top. Bots are names, paths of trained policies
    (``.safetensors``) or objects with the `Agent` interface. The seed determines the deck, the dealer and the
    bots' random decisions. Raises as `gin_env.agents.resolve`, `gin_env.ui.picture.image` and
    `gin_env.agents.turns.play_bot` do.
    """
    bots = (resolve(a, programs=True), resolve(b, programs=True))
    games = RecordedGames(1, rules)
    games.start(games.everyone, np.array([check_seed(seed)], np.uint64), np.zeros(1, np.uint64))
    while not games.done[0]:
        play_bot(games, bots[games.to_move()[0]], games.everyone)
    yield from recorded_pictures(games.record(0, (Player(bots[0].name), Player(bots[1].name))), 0, width)


def recorded_pictures(game: GameRecord, hand: int, width: int = picture.WIDTH) -> Iterator[np.ndarray]:
    """Yield pictures of one hand of a recorded game (from 0), as `hand_pictures` does."""
    names = player_names(game)
    for position in game.positions():
        if position.hand == hand:
            yield picture.image(position.state[0], names=names, width=width)


def write_gif(pictures: Sequence[np.ndarray], path: str | Path, seconds: float = 1.0) -> None:
    """Write pictures, uint8 (height, width, 3) each, as a GIF that plays in a loop.

    Each picture is shown for `seconds`, the last for at least `LAST_SECONDS`. All pictures share one palette,
    chosen from the first, the middle and the last, so that unchanged areas take no space in the file.
    Raises ValueError if there are no pictures, if the path does not end in ``.gif``, or for less than 0.02
    seconds, which viewers do not support; OSError if the file cannot be written.
    """
    check_gif(path, seconds)
    write_bytes(path, as_gif(pictures, seconds))


def as_png(drawn: np.ndarray) -> bytes:
    """Return a picture, uint8 (height, width, 3), as a PNG file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(drawn).save(file, "PNG")
    return file.getvalue()


def as_gif(pictures: Sequence[np.ndarray], seconds: float = 1.0) -> bytes:
    """Return what `write_gif` writes. Raises ValueError if there are no pictures."""
    from PIL import Image  # `picture` reports what to install if it is missing

    if not len(pictures):
        raise ValueError("a GIF needs at least one picture")
    chosen = np.concatenate([pictures[0], pictures[len(pictures) // 2], pictures[-1]])
    palette = Image.fromarray(chosen).quantize(dither=Image.Dither.NONE)
    frames = [Image.fromarray(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    milliseconds = [round(1000 * seconds)] * len(frames)
    milliseconds[-1] = round(1000 * max(seconds, LAST_SECONDS))
    file = io.BytesIO()
    frames[0].save(
        file, "GIF", save_all=True, append_images=frames[1:], duration=milliseconds, loop=0, disposal=1
    )
    return file.getvalue()


def check_gif(path: str | Path, seconds: float) -> None:
    """Raise ValueError if `write_gif` would refuse this path or this time between pictures."""
    if Path(path).suffix.lower() != ".gif":
        raise ValueError(f"{path}: the name of a GIF file must end in .gif")
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds must be from 0.02 to 60, not {seconds}")
