"""Reasons for a move as sentences, from the numbers of `gin_env.ui.explanations`."""

from __future__ import annotations

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.melds import deadwood
from gin_env.observations.views import PlayerView
from gin_env.ui.explanations import RankedChoice, choices


def reasons(view: PlayerView, action: int) -> list[str]:
    """Return reasons for an action as sentences: deadwood, outs, and use of the discard to the opponent.

    Raises ValueError unless `view` is a single view of a player to move and the action is legal.
    """
    options = {choice.action: choice for choice in choices(view)}
    if action not in options:
        raise ValueError(f"action {action} is not legal here")
    if action in (DRAW_STOCK, DRAW_UPCARD, PASS):
        return _about_draw(options, action, deadwood(int(view.hands[0])))
    if action >= KNOCK:
        return _about_knock(options[action], int(view.records["public"]["knock_limit"][0]))
    return _about_discard(options, action)


def _about_draw(options: dict[int, RankedChoice], action: int, now: int) -> list[str]:
    if DRAW_UPCARD not in options:
        return ["After two passes the stock is the only choice."]
    left = options[DRAW_UPCARD].deadwood
    if left is None:
        return []
    saved = now - left
    if action == DRAW_UPCARD:
        gain = f"{saved} less than now" if saved > 0 else "no less than now"
        return [f"With the upcard and the best discard you hold {left} deadwood, {gain}."]
    change = f"only {saved} less deadwood" if saved > 0 else "no less deadwood"
    return [f"The upcard would leave {change} ({left} after the best discard, {now} now)."]


def _about_knock(choice: RankedChoice, limit: int) -> list[str]:
    if choice.deadwood == 0:
        return ["Every card is in a meld: that is gin, and the opponent cannot lay off."]
    return [f"You keep {choice.deadwood} deadwood; a knock needs {limit} or less."]


def _about_discard(options: dict[int, RankedChoice], action: int) -> list[str]:
    chosen = options[action]
    discards = [choice for number, choice in options.items() if number < KNOCK]
    sentences = []
    if chosen.deadwood is not None:
        least = min(choice.deadwood for choice in discards if choice.deadwood is not None)
        best = ", the least possible" if chosen.deadwood == least else f"; the least possible is {least}"
        sentences.append(f"It leaves {chosen.deadwood} deadwood{best}.")
    if chosen.outs is not None:
        sentences.append(f"{_cards(chosen.outs)} would then complete a meld.")
    if chosen.gin_outs:
        sentences.append(f"{_cards(chosen.gin_outs)} would make gin.")
    elif chosen.knock_chance:
        sentences.append(f"{100 * chosen.knock_chance:.0f} % of the unseen cards would let you knock.")
    if chosen.danger is not None:
        uses = f"at most {chosen.danger} meld{'s' * (chosen.danger != 1)}" if chosen.danger else "no meld"
        sentences.append(f"The opponent could complete {uses} of three with it.")
    return sentences


def _cards(count: int) -> str:
    return {0: "No unseen card", 1: "1 unseen card"}.get(count, f"{count} unseen cards")
