"""What the environments' ``render()`` does in each ``render_mode``; the renderer is imported when first needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import gymnasium
import numpy as np

if TYPE_CHECKING:
    from gin_env.render import Window

RENDER_MODES = ("human", "ansi", "rgb_array")


def check_render_mode(mode: object, modes: Sequence[str] = RENDER_MODES) -> None:
    """Raise ValueError with the choices unless `mode` is None or one of `modes`."""
    if mode is not None and mode not in modes:
        raise ValueError(f"unknown render_mode {mode!r}; choose from None, {', '.join(modes)}")


class Screen:
    """Shows one game: a text (``"ansi"``), an image (``"rgb_array"``), or a window (``"human"``)."""

    def __init__(self, mode: str | None, pictures_per_second: float = 2) -> None:
        self.mode = mode
        self._pictures_per_second = pictures_per_second
        self._window: Window | None = None

    def render(self, game: np.void, last_hand: np.void | None = None) -> str | np.ndarray | None:
        """Show a `STATE` record, both hands open; `last_hand` is the `HAND_RESULT` of the hand before, if any."""
        if self.mode is None:
            gymnasium.logger.warn(
                "render() needs a render_mode, such as render_mode='ansi', in make() or env()"
            )
            return None
        from gin_env import render

        if self.mode == "ansi":
            return render.text(game, last_hand=last_hand)
        image = render.image(game, last_hand=last_hand)
        if self.mode == "rgb_array":
            return image
        if self._window is None:
            self._window = render.Window(self._pictures_per_second)
        self._window.show(image)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles of an environment do not share its window."""
        return {**self.__dict__, "_window": None}
