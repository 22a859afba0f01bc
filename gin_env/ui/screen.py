"""Implementation of the environments' ``render()`` for each ``render_mode``.

Pillow and pygame come with ``pip install "gin-env[play]"``. They and `gin_env.ui.picture` are imported when a
picture is first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from gin_env.support.checks import unknown

RENDER_MODES = ("human", "ansi", "rgb_array")


def check_render_mode(mode: object, modes: Sequence[str] = RENDER_MODES) -> None:
    """Raise ValueError, listing the choices, unless `mode` is None or one of `modes`."""
    if mode is not None and mode not in modes:
        raise ValueError(unknown("render_mode", mode, ["None", *modes]))


class Screen:
    """Shows one game: a text (``"ansi"``), an image (``"rgb_array"``), or a window (``"human"``)."""

    def __init__(self, mode: str | None, pictures_per_second: float = 2) -> None:
        self.mode = mode
        self._pictures_per_second = pictures_per_second
        self._window: Window | None = None

    def render(self, game: np.void, last_hand: np.void | None = None) -> str | np.ndarray | None:
        """Show a state (`STATE`), both hands open; `last_hand` is the last hand's `HAND_RESULT`, if any."""
        if self.mode is None:
            gymnasium.logger.warn(
                "render() needs a render_mode, such as render_mode='ansi', in make() or env()"
            )
            return None
        if self.mode == "ansi":
            from gin_env.ui import text

            return text.text(game, last_hand=last_hand)
        from gin_env.ui import picture

        image = picture.image(game, last_hand=last_hand)
        if self.mode == "rgb_array":
            return image
        if self._window is None:
            self._window = Window(self._pictures_per_second)
        self._window.show(image)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the window, which copies and pickles of an environment do not share."""
        return {**self.__dict__, "_window": None}


class Window:
    """A window that shows pictures. Raises ImportError, naming the extra, if pygame is not installed."""

    def __init__(self, pictures_per_second: float) -> None:
        try:
            import pygame
        except ImportError as error:
            raise ImportError('a window needs pygame: pip install "gin-env[play]"') from error
        self._pygame = pygame
        self._pictures_per_second = pictures_per_second
        self._screen: Any = None
        self._clock = pygame.time.Clock()
        self._closed_by_user = False

    def show(self, pixels: np.ndarray) -> None:
        """Show uint8 (height, width, 3) and wait until the next picture is due.

        Does nothing once the user has closed the window: the game continues without it.
        """
        if self._closed_by_user:
            return
        pygame = self._pygame
        height, width, _ = pixels.shape
        if self._screen is None:
            pygame.display.init()
            pygame.display.set_caption("Gin Rummy")
            self._screen = pygame.display.set_mode((width, height))
        self._screen.blit(pygame.image.frombuffer(pixels.tobytes(), (width, height), "RGB"), (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self._closed_by_user = True
            self.close()
        else:
            self._clock.tick(self._pictures_per_second)

    def close(self) -> None:
        """Close the window. Further calls have no effect."""
        if self._screen is not None:
            self._screen = None
            self._pygame.display.quit()
