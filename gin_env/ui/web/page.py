"""Contents of the pages, as data for JSON: cards are codes such as ``TH``, player 0 is the person.

A table is described from the player's `PlayerView` alone and, once a hand has ended, from both hands. A
replay shows both hands, and only of hands that have ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gin_env.estimators.base import Estimator
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, card_text
from gin_env.game.rules import Rules
from gin_env.game.state import NO_CARD
from gin_env.game.words import rules_in_words
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Position
from gin_env.ui.adviser import Advice, Adviser, lines_of, why
from gin_env.ui.human_game import HumanGame
from gin_env.ui.links import link_of
from gin_env.ui.opponents import OPPONENTS, find_opponent
from gin_env.ui.reveal import (
    Showdown,
    describe_boxes,
    describe_showdown,
    ended_hands,
    game_result,
    outcome_word,
)
from gin_env.ui.review import HandReview, player_name, player_names, signed, totals_of
from gin_env.ui.text import Group
from gin_env.ui.visible_table import (
    YOU,
    Turn,
    action_name,
    both_turns,
    discard_options,
    heat_map,
    last_turn,
    visible_table,
)

Json = dict[str, Any]
TITLES = {
    "eaai": "Gin Rummy",
    "bicycle": "Bicycle rules",
    "oklahoma": "Oklahoma gin",
    "straight": "Straight gin",
    "palace": "Gin Rummy Palace",
}
"""Titles of the presets that are offered."""
FROM_COMMAND_LINE = "From the command line"


def table(game: HumanGame) -> Json:
    """Return the whole table: the hand in progress or its end, the scores and the previous hands."""
    view, opponent, end = game.view, game.opponent_name, None
    visible = visible_table(view, opponent)
    scores = view.array["public"]["scores"][0].tolist()
    if game.ended is not None:
        game_over = _game_over(game, opponent) if game.is_over else None
        end = _showdown(describe_showdown(view, game.ended, opponent)) | {"game_over": game_over}
    return {
        "opponent": opponent,
        "bot": game.opponent,
        "scores": scores,
        "target": visible.target,
        "rules": game.rules.text,
        "limit": int(view.array["public"]["knock_limit"][0]),
        "boxes": describe_boxes(view, opponent),
        "hand_number": visible.hand_number,
        "dealer": 0 if visible.dealt_by_me else 1,
        "hand": groups(visible.hand),
        "deadwood": visible.deadwood,
        "new": code(visible.taken),
        "closed": visible.closed,
        "known": codes(visible.known),
        "upcard": code(visible.upcard),
        "pile": codes(visible.pile),
        "stock": visible.stock,
        "waits_for_bot": game.waits_for_bot,
        "prompt": visible.prompt,
        "last": last_turn(visible, opponent),
        "turns": turns(visible.turns),
        "actions": _actions(view, game.legal()),
        "end": end,
        "sheet": score_sheet(game.record()),
    }


def _actions(view: PlayerView, legal: list[int]) -> Json:
    """Return the player's legal actions as ids, and what each discard would do."""
    names = {"stock": DRAW_STOCK, "upcard": DRAW_UPCARD, "pass": PASS}
    actions: Json = {name: action for name, action in names.items() if action in legal}
    if options := discard_options(view):
        actions["discards"] = {card_text(card): option._asdict() for card, option in options.items()}
    return actions


def _showdown(shown: Showdown) -> Json:
    stages = [
        {
            "text": stage.text,
            "hands": [groups(stage.own_groups), groups(stage.opponent_groups)],
            "laid_off": codes(stage.laid_off),
        }
        for stage in shown.stages
    ]
    return {"headline": shown.headline, "stages": stages}


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
        "moves": [
            line._asdict() | {"best": line.action == advice.best.action, "played": line.action == played}
            for line in lines
        ],
    }


def belief(estimator: Estimator, view: PlayerView, truth: int | None = None) -> Json:
    """For each suit 13 probabilities in per cent that the opponent holds the card, ace first.

    `truth` is the opponent's hand as a mask, once it may be shown.
    """
    chances = heat_map(estimator.estimate(view)[0].tolist(), letters=True)
    rows: list[Json] = [{"suit": suit, "chances": cells} for suit, cells in chances]
    if truth is not None:
        for first, row in zip(range(0, NUM_CARDS, NUM_RANKS), rows, strict=True):
            row["held"] = [bool(truth >> first + rank & 1) for rank in range(NUM_RANKS)]
    return {"rows": rows}


# --- Replays --------------------------------------------------------------------------------------------


def replay(record: GameRecord, positions: Iterable[Position], hand: int, me: str = YOU) -> Json:
    """One hand of a recorded game (from 0), position by position; `positions` are those of the game.

    `me` is what a person in the record is called.
    """
    names = player_names(record, me)
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
    first, second = visible_table(position.view(0), names[1]), visible_table(position.view(1), names[0])
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
        step["end"] = _showdown(describe_showdown(position.view(0), hands, names[1], me=names[0]))
    return step


def review(game: GameRecord, reviews: list[HandReview], adviser: Adviser) -> Json:
    """Return the reviews of one hand, one for each player whose choices were judged."""
    judge = {"judge": adviser.label, "worlds": adviser.num_worlds}
    return judge | {"players": [_review(game, one) for one in reviews]}


def _review(game: GameRecord, one: HandReview) -> Json:
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
        "moves": [
            comparison(choice.advice, choice.position.view(), opponent, choice.played.action)
            | {"step": choice.position.step, "lost": choice.lost, "mistake": choice.is_mistake}
            for choice in one.choices
        ],
    }


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


# --- The dialog for a new game -------------------------------------------------------------------------


def opponents(own: str) -> list[Json]:
    """Return the opponents to choose from; `own` is the bot named on the command line."""
    offered = [one._asdict() | {"available": one.available} for one in OPPONENTS]
    if find_opponent(own) is None:
        offered.append(
            {"name": own, "level": FROM_COMMAND_LINE, "bot": own, "rating": None, "available": True}
        )
    return offered


def variants(own: Rules) -> dict[str, Rules]:
    """Return the rules to choose from by their text; `own` are the rules of the command line."""
    titled = [rules for name, rules in Rules.presets().items() if name in TITLES]
    return {rules.text: rules for rules in (*titled, own)}


def describe_variants(own: Rules) -> list[Json]:
    """Return the variants with a title, a summary and all rules in words."""
    return [
        {
            "name": name,
            "title": TITLES.get(name, FROM_COMMAND_LINE),
            "summary": summary(rules),
            "words": rules_for_people(rules),
        }
        for name, rules in variants(own).items()
    ]


def rules_for_people(rules: Rules) -> str:
    """Return the rules in words with the ten as the cards show it."""
    words = rules_in_words(rules).replace(" TH is the ten of hearts.", "")
    return words.replace(" T J Q K", " 10 J Q K")


def summary(rules: Rules) -> str:
    """Return the numbers of the rules that players ask for first, in one line.

    >>> summary(Rules())
    '100 points win; knock with 10 or less; gin scores 25, an undercut 25'
    """
    if rules.oklahoma:
        knock = "the first upcard sets the limit for a knock"
    else:
        knock = f"knock with {rules.knock_limit} or less" if rules.knock_limit else "no knocking, only gin"
    parts = [
        f"{rules.target_score} points win",
        knock,
        f"gin scores {rules.gin_bonus}, an undercut {rules.undercut_bonus}",
    ]
    if rules.spades_double:
        parts.append("all double if the first upcard is a spade")
    if rules.box_bonus:
        parts.append(f"each hand won scores {rules.box_bonus} more")
    if rules.game_bonus:
        parts.append(f"the game {rules.game_bonus} more")
    return "; ".join(parts)
