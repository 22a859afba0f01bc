"""A hand between two bots as pictures, and as a GIF for a page."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.support.atomic import write_bytes
from gin_env.ui import picture

LAST_SECONDS = 5.0
"""How long the last picture stays before the GIF begins again."""
_COLOURS = 256


def hand_pictures(
    a: str | Agent, b: str | Agent, seed: int, rules: Rules | None = None, width: int = picture.WIDTH
) -> Iterator[np.ndarray]:
    """One hand as pictures, uint8 (height, width, 3): the deal, then one after each action; both hands open.

    `a` sits below, `b` above: names, paths of trained policies (``.safetensors``) or objects with the `Agent`
    interface. The seed fixes the deck, the dealer (either) and what bots decide by chance. Raises as
    `gin_env.agents.resolve`, `gin_env.ui.picture.image` and `gin_env.agents.turns.play_bot` do.
    """
    bots = (resolve(a, programs=True), resolve(b, programs=True))
    names = [bot.name for bot in bots]
    if names[0] == names[1]:
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
    games = Games(1, rules)
    games.start(games.everyone, np.array([check_seed(seed)], np.uint64), np.zeros(1, np.uint64))
    yield picture.image(games.state[0], names=names, width=width)
    while not games.done[0]:
        play_bot(games, bots[games.to_move()[0]], games.everyone)
        yield picture.image(games.state[0], names=names, width=width)


def write_gif(pictures: Sequence[np.ndarray], path: str | Path, seconds: float = 1.0) -> None:
    """Write pictures, uint8 (height, width, 3) each, as a GIF that begins again after its last one.

    Each is shown for `seconds`, the last for `LAST_SECONDS` at least. All share one palette, chosen from the
    first, the middle and the last: what does not change between two pictures takes no room in the file.
    Raises ValueError for no pictures, for a path that does not end in ``.gif``, or for less than 0.02
    seconds, which viewers do not show; OSError if the file cannot be written.
    """
    from PIL import Image  # `picture` has said what to install if it is missing

    check_gif(path, seconds)
    if not len(pictures):
        raise ValueError("a GIF needs at least one picture")
    chosen = np.concatenate([pictures[0], pictures[len(pictures) // 2], pictures[-1]])
    palette = Image.fromarray(chosen).quantize(_COLOURS, dither=Image.Dither.NONE)
    frames = [Image.fromarray(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    milliseconds = [round(1000 * seconds)] * len(frames)
    milliseconds[-1] = round(1000 * max(seconds, LAST_SECONDS))
    file = io.BytesIO()
    frames[0].save(
        file, "GIF", save_all=True, append_images=frames[1:], duration=milliseconds, loop=0, disposal=1
    )
    write_bytes(path, file.getvalue())


def check_gif(path: str | Path, seconds: float) -> None:
    """Raise ValueError for a path or a time between pictures with which `write_gif` would write no GIF."""
    if Path(path).suffix.lower() != ".gif":
        raise ValueError(f"{path}: the file of a GIF ends in .gif")
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds = {seconds}: each picture is shown for 0.02 to 60 seconds")
