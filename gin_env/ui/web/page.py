"""Contents of the pages, as data for JSON: cards are codes such as ``TH``, player 0 is the person.

A table is described from the player's `PlayerView` alone and, once a hand has ended, from both hands. A
replay shows both hands, and only of hands that have ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gin_env.estimators.base import Estimator
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, SUITS, card_text
from gin_env.game.state import NO_CARD
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Position
from gin_env.ui.discards import discard_options
from gin_env.ui.hints import POINTS, Hint
from gin_env.ui.human_game import PERSON_PLAYER, EndedHand, HumanGame
from gin_env.ui.reasons import reasons
from gin_env.ui.replay_text import names as player_names
from gin_env.ui.reveal import (
    Stage,
    describe_boxes,
    describe_reveal,
    describe_showdown,
    ended_hands,
    game_result,
)
from gin_env.ui.seat import YOU, Turn, action_name, both_turns, describe_seat, last_turn, per_cent
from gin_env.ui.text import Group

MAX_VALUES = 8
"""Values of a hint that are shown."""
Json = dict[str, Any]


def table(game: HumanGame) -> Json:
    """Return the whole table: the hand in progress or its end, the scores and the previous hands."""
    view, ended = game.view, game.ended
    opponent = game.bot.name
    seat = describe_seat(view, opponent)
    scores = view.records["public"]["scores"][0].tolist()
    return {
        "opponent": opponent,
        "scores": scores,
        "target": seat.target,
        "rules": game.rules.text,
        "limit": int(view.records["public"]["knock_limit"][0]),
        "boxes": describe_boxes(view, opponent),
        "hand_number": seat.hand_number,
        "dealer": 0 if seat.dealt_by_me else 1,
        "hand": _groups(seat.hand),
        "deadwood": seat.deadwood,
        "new": _code(seat.taken),
        "closed": seat.closed,
        "known": _codes(seat.known),
        "upcard": _code(seat.upcard),
        "pile": _codes(seat.pile),
        "stock": seat.stock,
        "waits_for_bot": game.waits_for_bot,
        "prompt": seat.prompt,
        "last": last_turn(seat, opponent),
        "turns": _turns(seat.turns),
        "actions": _actions(view, game.legal()),
        "end": None if ended is None else _end(game, ended),
        "sheet": score_sheet(game.record()),
    }


def _actions(view: PlayerView, legal: list[int]) -> Json:
    """Return the player's legal actions as ids, and what each discard would do."""
    names = {"stock": DRAW_STOCK, "upcard": DRAW_UPCARD, "pass": PASS}
    actions: Json = {name: action for name, action in names.items() if action in legal}
    if options := discard_options(view):
        actions["discards"] = {card_text(card): option._asdict() for card, option in options.items()}
    return actions


def _end(game: HumanGame, ended: EndedHand) -> Json:
    opponent = game.bot.name
    shown = describe_showdown(ended.view, ended.hands, opponent)
    return {
        "headline": shown.headline,
        "stages": [_stage(stage) for stage in describe_reveal(ended.view, ended.hands, opponent)],
        "game_over": game_result(game.record(), opponent) if game.is_over else None,
    }


def _stage(stage: Stage) -> Json:
    return {
        "text": stage.text,
        "hands": [_groups(stage.own_groups), _groups(stage.opponent_groups)],
        "laid_off": _codes(stage.laid_off),
    }


def score_sheet(record: GameRecord) -> list[Json]:
    """Return the hands that have ended."""
    return [
        {
            "hand": number,
            "outcome": hand.outcome,
            "winner": hand.winner,
            "points": hand.points,
            "totals": list(hand.scores_after),
        }
        for number, hand in enumerate(ended_hands(record), 1)
    ]


def hint(bot_name: str, hinted: Hint, view: PlayerView) -> Json:
    """Return a bot's advice with its reasons and, for bots that rate their moves, the ratings."""
    upcard, hand = int(view.records["public"]["upcard"][0]), int(view.hands[0])
    values = [
        {
            "action": action,
            "text": action_name(action, upcard, hand=hand),
            "value": f"{value:+.1f}" if hinted.unit == POINTS else f"{100 * value:.0f} %",
        }
        for action, value in list(hinted.values.items())[:MAX_VALUES]
    ]
    return {
        "bot": bot_name,
        "action": hinted.action,
        "card": card_text(hinted.action % NUM_CARDS) if hinted.action < DRAW_STOCK else None,
        "text": action_name(hinted.action, upcard, hand=hand),
        "reasons": reasons(view, hinted.action),
        "values": values,
        "unit": {"": "", POINTS: "points of this hand"}.get(
            hinted.unit, "how likely it would choose the move"
        ),
    }


def belief(name: str, estimator: Estimator, view: PlayerView, truth: int | None = None) -> Json:
    """For each suit 13 probabilities in per cent that the opponent holds the card, ace first.

    `truth` is the opponent's hand as a mask, once it may be shown.
    """
    chances = estimator.estimate(view)[0].tolist()
    rows = []
    for suit, letter in enumerate(SUITS):
        first = suit * NUM_RANKS
        row: Json = {"suit": letter, "chances": list(map(per_cent, chances[first : first + NUM_RANKS]))}
        if truth is not None:
            row["held"] = [bool(truth >> first + rank & 1) for rank in range(NUM_RANKS)]
        rows.append(row)
    return {"estimator": name, "rows": rows}


# --- Replays --------------------------------------------------------------------------------------------


def replay(record: GameRecord, positions: Iterable[Position], hand: int) -> Json:
    """One hand of a recorded game (from 0), position by position; `positions` are those of the game."""
    names = player_names(record)
    if record.players[0] == PERSON_PLAYER:
        names = (YOU, names[1])
    here = [position for position in positions if position.hand == hand]
    return {
        "names": list(names),
        "hand": hand,
        "num_hands": len(ended_hands(record)) or len(record.hands),
        "sheet": score_sheet(record),
        "scores": list(record.hands[hand].scores),
        "target": record.rules.target_score,
        "dealer": record.hands[hand].dealer,
        "steps": [_replay_step(position, names) for position in here],
    }


def _replay_step(position: Position, names: tuple[str, str]) -> Json:
    first, second = describe_seat(position.view(0), names[1]), describe_seat(position.view(1), names[0])
    action = position.action
    step: Json = {
        "hands": [_groups(first.hand), _groups(second.hand)],
        "deadwood": [first.deadwood, second.deadwood],
        "new": _code(first.taken if first.taken != NO_CARD else second.taken),
        "upcard": _code(first.upcard),
        "pile": _codes(first.pile),
        "stock": first.stock,
        "to_move": position.player if action is not None else None,
        "turns": _turns(both_turns(first, second)),
        "action": None if action is None else action_name(action, first.upcard),
        "card": card_text(action % NUM_CARDS) if action is not None and action < DRAW_STOCK else None,
        "end": None,
    }
    if position.over:
        hands = tuple(position.state["private"]["hand"][0].tolist())
        shown = describe_showdown(position.view(0), hands, names[1], me=names[0])
        stages = describe_reveal(position.view(0), hands, names[1], me=names[0])
        step["end"] = {"headline": shown.headline, "stages": [_stage(stage) for stage in stages]}
    return step


def opinion(bot_name: str, hinted: Hint, position: Position) -> Json:
    """Return what a bot would have played in a position, and its rating of the action played."""
    upcard = int(position.state["public"]["upcard"][0])
    worth = ""
    if position.action in hinted.values:
        if hinted.unit == POINTS:
            worth = f"{hinted.values[position.action] - hinted.values[hinted.action]:+.1f} points"
        else:
            worth = f"{100 * hinted.values[position.action]:.0f} % likely"
    return {
        "bot": bot_name,
        "text": action_name(hinted.action, upcard),
        "same": hinted.action == position.action,
        "worth": worth,
    }


def _turns(turns: list[Turn]) -> list[Json]:
    return [
        {"player": 0 if turn.by_viewer else 1, "took": turn.took, "discarded": turn.discarded}
        for turn in turns
    ]


def _groups(groups: list[Group]) -> list[Json]:
    return [{"cards": _codes(cards), "caption": caption} for cards, caption in groups]


def _codes(cards: list[int]) -> list[str]:
    return [card_text(card) for card in cards]


def _code(card: int) -> str | None:
    return None if card == NO_CARD else card_text(card)
