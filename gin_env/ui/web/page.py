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
from gin_env.ui.advice_text import Line, lines_of, why
from gin_env.ui.adviser import Advice, Adviser
from gin_env.ui.discards import discard_options
from gin_env.ui.human_game import EndedHand, HumanGame
from gin_env.ui.links import link_of
from gin_env.ui.reveal import (
    Stage,
    describe_boxes,
    describe_reveal,
    describe_showdown,
    ended_hands,
    game_result,
    outcome_word,
)
from gin_env.ui.review import Choice, HandReview, totals_of
from gin_env.ui.review_text import player_name, position_of, signed
from gin_env.ui.seat import YOU, Turn, action_name, both_turns, describe_seat, last_turn, per_cent
from gin_env.ui.text import Group

Json = dict[str, Any]


def table(game: HumanGame) -> Json:
    """Return the whole table: the hand in progress or its end, the scores and the previous hands."""
    view, ended = game.view, game.ended
    opponent = game.opponent_name
    seat = describe_seat(view, opponent)
    scores = view.array["public"]["scores"][0].tolist()
    return {
        "opponent": opponent,
        "bot": game.opponent,
        "scores": scores,
        "target": seat.target,
        "rules": game.rules.text,
        "limit": int(view.array["public"]["knock_limit"][0]),
        "boxes": describe_boxes(view, opponent),
        "hand_number": seat.hand_number,
        "dealer": 0 if seat.dealt_by_me else 1,
        "hand": groups(seat.hand),
        "deadwood": seat.deadwood,
        "new": code(seat.taken),
        "closed": seat.closed,
        "known": codes(seat.known),
        "upcard": code(seat.upcard),
        "pile": codes(seat.pile),
        "stock": seat.stock,
        "waits_for_bot": game.waits_for_bot,
        "prompt": seat.prompt,
        "last": last_turn(seat, opponent),
        "turns": turns(seat.turns),
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
    opponent = game.opponent_name
    shown = describe_showdown(ended.view, ended.hands, opponent)
    return {
        "headline": shown.headline,
        "stages": [_stage(stage) for stage in describe_reveal(ended.view, ended.hands, opponent)],
        "game_over": _game_over(game, opponent) if game.is_over else None,
    }


def _stage(stage: Stage) -> Json:
    return {
        "text": stage.text,
        "hands": [groups(stage.own_groups), groups(stage.opponent_groups)],
        "laid_off": codes(stage.laid_off),
    }


def score_sheet(record: GameRecord) -> list[Json]:
    """Return the hands that have ended."""
    return [
        {
            "hand": number,
            "outcome": outcome_word(hand),
            "winner": hand.winner,
            "points": hand.points,
            "totals": list(hand.scores_after),
        }
        for number, hand in enumerate(ended_hands(record), 1)
    ]


def _game_over(game: HumanGame, opponent: str) -> Json:
    """Return who won the game, and what decided it: the hand that paid most to the winner."""
    record = game.record()
    deciding = max(
        (hand for hand in enumerate(record.hands, 1) if hand[1].winner == record.winner is not None),
        key=lambda hand: hand[1].points,
        default=None,
    )
    decided = ""
    if deciding is not None:
        number, hand = deciding
        decided = f"Hand {number} decided it: {outcome_word(hand)}, {hand.points} points."
    return {"text": game_result(record, opponent), "winner": record.winner, "decided": decided}


def hint(advice: Advice, view: PlayerView, opponent: str) -> Json:
    """Return the best moves compared, and in a sentence why the first is the best."""
    return comparison(advice, view, opponent) | {
        "action": advice.best.action,
        "card": card_text(advice.best.action % NUM_CARDS) if advice.best.action < DRAW_STOCK else None,
    }


def comparison(advice: Advice, view: PlayerView, opponent: str, played: int | None = None) -> Json:
    """Return the best moves as lines of a table, `played` among them, and the reason for the first."""
    lines = lines_of(advice, view, keep=played)
    return {
        "text": lines[0].move,
        "why": why(advice, view, opponent, played),
        "moves": [_line(line, advice, played) for line in lines],
    }


def _line(line: Line, advice: Advice, played: int | None) -> Json:
    return line._asdict() | {"best": line.action == advice.best.action, "played": line.action == played}


def belief(estimator: Estimator, view: PlayerView, truth: int | None = None) -> Json:
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
    return {"rows": rows}


# --- Replays --------------------------------------------------------------------------------------------


def replay(record: GameRecord, positions: Iterable[Position], hand: int, me: str = YOU) -> Json:
    """One hand of a recorded game (from 0), position by position; `positions` are those of the game.

    `me` is what a person in the record is called.
    """
    names = player_name(record, 0, me), player_name(record, 1, me)
    if names[0] == names[1]:
        names = (f"{names[0]} 1", f"{names[1]} 2")
    here = [position for position in positions if position.hand == hand]
    return {
        "names": list(names),
        "hand": hand,
        "num_hands": len(ended_hands(record)) or len(record.hands),
        "link": link_of(record, hand),
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
        "hands": [groups(first.hand), groups(second.hand)],
        "deadwood": [first.deadwood, second.deadwood],
        "new": code(first.taken if first.taken != NO_CARD else second.taken),
        "upcard": code(first.upcard),
        "pile": codes(first.pile),
        "stock": first.stock,
        "to_move": position.player if action is not None else None,
        "turns": turns(both_turns(first, second)),
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


def review(game: GameRecord, positions: list[Position], reviews: list[HandReview], adviser: Adviser) -> Json:
    """Return the reviews of one hand, one for each player whose choices were judged."""
    judge = {"judge": adviser.label, "worlds": adviser.num_worlds}
    return judge | {"players": [_review(game, positions, one) for one in reviews]}


def _review(game: GameRecord, positions: list[Position], one: HandReview) -> Json:
    totals = totals_of([one])
    opponent = player_name(game, 1 - one.player, "the player")
    return {
        "player": one.player,
        "points": signed(one.points),
        "cards": None if one.luck is None else signed(one.luck),
        "choices": signed(-totals.lost),
        "lost": totals.lost,
        "mistakes": totals.num_mistakes,
        "num_choices": totals.num_choices,
        "accuracy": totals.accuracy,
        "chances": one.chances,
        "moves": [_choice(positions, choice, opponent) for choice in one.choices],
    }


def _choice(positions: list[Position], choice: Choice, opponent: str) -> Json:
    view = position_of(positions, choice).view()
    compared = comparison(choice.advice, view, opponent, choice.played.action)
    return compared | {"step": choice.step, "lost": choice.lost, "mistake": choice.is_mistake}


def turns(played: list[Turn]) -> list[Json]:
    """Return the turns of a hand."""
    return [
        {"player": 0 if turn.by_viewer else 1, "took": turn.took, "discarded": turn.discarded}
        for turn in played
    ]


def groups(shown: list[Group]) -> list[Json]:
    """Return groups of cards with their captions."""
    return [{"cards": codes(cards), "caption": caption} for cards, caption in shown]


def codes(cards: list[int]) -> list[str]:
    """Return cards as codes such as ``TH``."""
    return [card_text(card) for card in cards]


def code(card: int) -> str | None:
    """Return a card as a code; None for no card."""
    return None if card == NO_CARD else card_text(card)
