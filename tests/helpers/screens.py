"""Textual's screens in tests: running one, its text, and games and bots to show on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hand_endings import plain_action

from gin_env.ui.adviser import Advice, Move
from gin_env.ui.explanations import choices
from gin_env.ui.human_game import HumanGame
from gin_env.ui.table_app import TableApp

SEED = 5
LARGE = (80, 24)
Steps = Callable[[TableApp, "Pilot"], Awaitable[None]]  # noqa: F821


class Judge:
    """An adviser to whom an action is worth a tenth of its number in points, so the highest is best."""

    name = label = "judge"
    num_worlds = 7

    def __init__(self, bot: str | None = None) -> None:
        self.bot = bot

    def advise(self, view, played=None):
        numbers = {choice.action: choice for choice in choices(view, "uniform")}
        moves = [Move(one, one / 200, one / 10, 0.001, numbers[one]) for one in sorted(numbers, reverse=True)]
        return Advice(moves, 20.0)

    def chance_to_win(self, rules, own, other):
        return 0.5 + (own - other) / 200


class Raises:
    """A bot of the user's own that fails."""

    name = "raises"

    def act(self, view):
        raise ZeroDivisionError("gin-env[train] for [/tmp/x]")


def run_screen(app: TableApp, steps: Steps, size: tuple[int, int] = LARGE) -> TableApp:
    """Show a screen and run these steps at it."""

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await steps(app, pilot)

    asyncio.run(run())
    return app


async def wait_for(pilot, condition: Callable[[], object]) -> None:
    """Wait until a condition holds, for at most 3,000 pauses, and until everything is drawn."""
    for _ in range(3_000):
        if condition():
            break
        await pilot.pause(0.01)
    else:
        raise AssertionError("the screen waits for something that never comes")
    await pilot.pause()


def text_of(app: TableApp) -> str:
    """Return the text on the screen, line by line."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def play_hands(game: HumanGame, hands: int = 1) -> HumanGame:
    """Play until this number of hands has ended, and leave the last result to be shown."""
    for _ in range(hands):
        if game.ended is not None:
            game.next_hand()
        while game.ended is None:
            game.let_bot_act() if game.waits_for_bot else game.act(plain_action(game.view.masks()[0]))
    return game


def to_move(game: HumanGame) -> HumanGame:
    """Let the bot act until it is the person's turn."""
    while not game.waits_for_person:
        game.let_bot_act()
    return game
