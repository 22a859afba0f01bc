"""The end of a hand in words and cards: both hands laid down, lay-offs, and the score step by step.

It is computed from the player's view after the end and from both hands.
"""

from __future__ import annotations

from typing import NamedTuple

from gin_env.game.cards import NUM_RANKS, mask_of, total_value
from gin_env.game.engine import final_score, game_is_over
from gin_env.game.rules import VOID_SAME
from gin_env.game.state import BIG_GIN, GIN, OUTCOME_NAMES, OVER, UNDERCUT, VOID
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, HandRecord
from gin_env.ui.text import Group, by_rank, deadwood_groups, defence_groups, hand_groups
from gin_env.ui.visible_table import YOU, card_name, card_names


class Stage(NamedTuple):
    """One step of the reveal: a sentence, and both hands on the table after it."""

    text: str
    own_groups: list[Group]
    opponent_groups: list[Group]
    laid_off: list[int]
    """The defender's cards laid off so far on the knocker's melds."""


class Showdown(NamedTuple):
    """Both hands as they are laid down, and the steps of laying down and scoring."""

    headline: str
    own_groups: list[Group]
    opponent_groups: list[Group]
    stages: list[Stage]


def describe_showdown(
    view: PlayerView, hands: tuple[int, int], opponent: str, letters: bool = False, me: str = YOU
) -> Showdown:
    """Return the end of a hand.

    `view` is the player's view after the end; `hands` are both hands as masks, the player's first. The player
    is called `me`.
    """
    public, player = view.array["public"][0], int(view.array["player"][0])
    outcome, knocker = int(public["outcome"]), int(public["knocker"])
    names = (me, opponent)
    own_score, opponent_score = int(public["scores"][player]), int(public["scores"][1 - player])
    score = (
        f"Score: {inside(me)} {own_score}, {opponent} {opponent_score}; "
        f"{int(public['rules']['target_score'])} points win the game."
    )
    score = " ".join([score, *describe_boxes(view, opponent, me)])
    if outcome == VOID:
        deals = "The same player" if public["rules"]["void_dealer"] == VOID_SAME else "The other player"
        steps = [f"The stock has run out, so nobody scores. {deals} deals.", score]
        own, other = map(hand_groups, hands)
        return Showdown("Nobody wins the hand", own, other, [Stage(text, own, other, []) for text in steps])
    side = 0 if knocker == player else 1
    knocking, defending = hands[side], hands[1 - side]
    laid = hand_groups(knocking)
    gin = outcome in (GIN, BIG_GIN)
    answer = hand_groups(defending) if gin else defence_groups(defending, knocking)
    held, left = (int(public["deadwood"][one]) for one in (knocker, 1 - knocker))
    steps = [f"{_verb(names[side], 'knock')} with {_deadwood(laid, held, letters)}."]
    if gin:
        steps = [f"{_verb(names[side], 'go', 'goes')} gin: every card is in a meld. No lay-offs after gin."]
    melds = [card_names(cards, letters) for cards, caption in answer if caption in ("set", "run")]
    steps.append(f"{_verb(names[1 - side], 'meld')} {', '.join(melds) or 'nothing'}.")
    moves = _lay_offs(laid, answer)
    steps += [
        f"{_verb(names[1 - side], 'lay')} off {card_name(card, letters)} on {card_names(meld, letters)}: "
        f"{int(total_value(1 << card))} less deadwood."
        for card, meld in moves
    ]
    steps.append(f"{_verb(names[1 - side], 'keep')} {_deadwood(answer, left, letters)}.")
    points = int(public["points"])
    winner = names[side]
    if gin:
        kind = "big gin" if outcome == BIG_GIN else "gin"
        bonus = int(public["rules"][kind.replace(" ", "_") + "_bonus"])
        sum_ = f"{bonus} for {kind} + {left} deadwood"
        headline = f"{_verb(winner, 'have', 'has')} {kind}"
    elif outcome == UNDERCUT:
        winner, bonus = names[1 - side], int(public["rules"]["undercut_bonus"])
        steps.append(f"{left} is not more than {held}: an undercut.")
        sum_ = f"{bonus} for the undercut + {held} − {left}"
        headline = f"{_verb(winner, 'undercut')}"
    else:
        sum_ = f"{left} − {held} deadwood"
        headline = f"{_verb(winner, 'win')} by knocking"
    if public["points_double"]:
        sum_ = f"2 × ({sum_}), for the spade"
    if public["rules"]["immediate_boxes"]:
        sum_ += f" + {int(public['rules']['box_bonus'])} for the hand"
    steps += [f"{sum_} = {points} for {inside(winner)}.", score]
    headline = f"{headline}: {points} point{'s' * (points != 1)}"
    own, other = (laid, answer) if side == 0 else (answer, laid)
    return Showdown(headline, own, other, _stages(steps, moves, laid, answer, side == 0))


def describe_boxes(view: PlayerView, opponent: str, me: str = YOU) -> list[str]:
    """Return the boxes of a variant in sentences, and at the end of the game the final score.

    Boxes are the hands won, which score under some rules. The list is empty without boxes and bonuses.
    """
    public, player = view.array["public"][0], int(view.array["player"][0])
    rules, sides = public["rules"], (player, 1 - player)
    lines = []
    if rules["box_bonus"]:
        own, other = (int(public["boxes"][side]) for side in sides)
        when = "each" if rules["immediate_boxes"] else "each, at the end of the game"
        lines.append(
            f"Hands won: {inside(me)} {own}, {opponent} {other} ({int(rules['box_bonus'])} points {when})."
        )
    if int(public["phase"]) == OVER and game_is_over(public):
        totals = [int(final_score(public, side)) for side in sides]
        if totals != [int(public["scores"][side]) for side in sides]:
            lines.append(f"With all bonuses: {inside(me)} {totals[0]}, {opponent} {totals[1]}.")
    return lines


def ended_hands(game: GameRecord) -> list[HandRecord]:
    """Return the hands that have ended: all, or all but the last."""
    return [hand for hand in game.hands if hand.outcome in OUTCOME_NAMES[1:]]


def outcome_word(hand: HandRecord) -> str:
    """Return how a hand ended, for a score sheet."""
    return "no score" if hand.outcome == OUTCOME_NAMES[VOID] else hand.outcome


def game_result(game: GameRecord, opponent: str) -> str:
    """Return the result of a finished game as a sentence; player 0 is called ``You``."""
    winner = "Nobody" if game.winner is None else (YOU, opponent)[game.winner]
    return f"{_verb(winner, 'win')} the game, {max(game.scores)} to {min(game.scores)}."


def inside(name: str) -> str:
    """Return a player's name for use inside a sentence."""
    return name.lower() if name == YOU else name


def _verb(who: str, verb: str, others: str = "") -> str:
    """Return the subject with its verb: ``You knock``, ``tonic knocks``."""
    return f"{who} {verb if who == YOU else others or verb + 's'}"


def _deadwood(groups: list[Group], points: int, letters: bool) -> str:
    """Return the deadwood in words: ``12 deadwood (A♠ J♠)``."""
    loose = [cards for cards, caption in groups if caption.startswith("deadwood")]
    return f"{points} deadwood ({card_names(loose[0], letters)})" if loose else "no deadwood"


LayOff = tuple[int, list[int]]
"""A card that the defender lays off, and the knocker's meld before it."""


def _lay_offs(knocker: list[Group], defender: list[Group]) -> list[LayOff]:
    """Return the defender's lay-offs, in an order in which each card fits.

    A card that fits both a run and a set is laid off on the run, which other cards can then extend.
    """
    remaining = [card for cards, caption in defender if caption == "laid off" for card in cards]
    melds = [(list(cards), kind) for kind in ("run", "set") for cards, caption in knocker if caption == kind]
    result: list[LayOff] = []
    while remaining:
        card, cards = next(
            (card, cards) for cards, kind in melds for card in remaining if _fits(card, cards, kind)
        )
        result.append((card, list(cards)))
        remaining.remove(card)
        cards.append(card)
        cards.sort()
    return result


def _fits(card: int, cards: list[int], kind: str) -> bool:
    if kind == "set":
        return card % NUM_RANKS == cards[0] % NUM_RANKS
    return card // NUM_RANKS == cards[0] // NUM_RANKS and card in (cards[0] - 1, cards[-1] + 1)


def _stages(
    steps: list[str], moves: list[LayOff], knocker: list[Group], defender: list[Group], by_me: bool
) -> list[Stage]:
    """Return the steps with both hands after each: laid down, melded, and then lay-off by lay-off."""
    melds = [group for group in defender if group.caption in ("set", "run")]
    loose = {card for group in defender if group not in melds for card in group.cards}
    stages = []
    for number, text in enumerate(steps):
        done = moves[: max(number - 1, 0)]
        laid = [card for card, _ in done]
        knocking, defending = _with_laid_off(knocker, done), melds + deadwood_groups(mask_of(loose - {*laid}))
        if number == 0:
            defending = [Group(by_rank(mask_of(card for group in defender for card in group.cards)), "")]
        sides = (knocking, defending) if by_me else (defending, knocking)
        stages.append(Stage(text, *sides, laid))
    return stages


def _with_laid_off(groups: list[Group], moves: list[LayOff]) -> list[Group]:
    """Return the knocker's groups after these lay-offs."""
    melds = list(groups)
    for card, meld in moves:
        place = next(place for place, group in enumerate(melds) if group.cards == meld)
        melds[place] = Group(sorted([*meld, card]), melds[place].caption)
    return melds
