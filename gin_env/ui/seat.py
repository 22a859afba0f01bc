"""Data structures for what a player sees of a hand, and for its end.

They are computed only from a `PlayerView` and, after the end of the hand, from both hands, so a screen drawn
from them cannot show a hidden card.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, RANKS, SUITS, cards_of, total_value
from gin_env.game.engine import final_score, game_is_over
from gin_env.game.melds import deadwood
from gin_env.game.rules import VOID_SAME
from gin_env.game.state import (
    BIG_GIN,
    DISCARD,
    GIN,
    NO_CARD,
    OFFER,
    OUTCOME_NAMES,
    OVER,
    STOCK_ONLY,
    UNDERCUT,
    VOID,
)
from gin_env.game.words import limit_if_varying
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, HandRecord
from gin_env.ui.discards import best_knock, discard_options
from gin_env.ui.text import Group, card_symbol, defence_groups, discard_pile, hand_groups

YOU = "You"


class Turn(NamedTuple):
    """One turn of the hand, or a pass, in words."""

    by_viewer: bool
    took: str
    """``"stock"``, ``"stock 5♥"`` (their own), ``"9♦"`` (the upcard) or ``"pass"``."""
    discarded: str
    """``"K♠"``, ``"K♠ knock"``, or empty before the discard."""


@dataclass
class Seat:
    """A player's view of the table."""

    hand: list[Group]
    """The player's cards: the melds that leave the least deadwood, then the deadwood."""
    deadwood: int
    known: list[int]
    """Cards that the opponent took from the pile and still holds."""
    closed: int
    """Number of the opponent's other cards."""
    upcard: int
    """The upcard; NO_CARD if there is none."""
    taken: int
    """The card just drawn from pile or stock; NO_CARD if there is none."""
    pile: list[int]
    """The discard pile, the top card last."""
    stock: int
    own_score: int
    opponent_score: int
    target: int
    hand_number: int
    limit: int | None
    """Maximum deadwood for a knock, if it differs from hand to hand; otherwise None."""
    dealt_by_me: bool
    my_turn: bool
    prompt: str
    turns: list[Turn] = field(default_factory=list)


def describe_seat(view: PlayerView, opponent: str, letters: bool = False) -> Seat:
    """Return what the player of a single view sees; `opponent` is the opponent's name.

    With `letters`, suits are written C, H, S, D instead of as symbols.
    """
    public, player = view.records["public"][0], int(view.records["player"][0])
    hand, known = int(view.hands[0]), int(public["shown"][1 - player])
    phase, my_turn = int(public["phase"]), bool(view.masks().any())
    their_turn = phase != OVER and not my_turn
    draws = view.stock_draws()
    taken = int(public["taken"])
    if my_turn and phase == DISCARD and taken == NO_CARD:
        taken = draws[-1]
    size = int(public["rules"]["hand_size"]) + (their_turn and phase == DISCARD)
    return Seat(
        hand=hand_groups(hand),
        deadwood=deadwood(hand),
        known=cards_of(known),
        closed=size - known.bit_count(),
        upcard=int(public["upcard"]),
        taken=taken if my_turn else NO_CARD,
        pile=discard_pile(int(public["first_upcard"]), view.history()),
        stock=int(public["stock_left"]),
        own_score=int(public["scores"][player]),
        opponent_score=int(public["scores"][1 - player]),
        target=int(public["rules"]["target_score"]),
        hand_number=int(public["hand_number"]) + 1,
        limit=limit_if_varying(public),
        dealt_by_me=int(public["dealer"]) == player,
        my_turn=my_turn,
        prompt=_prompt(view, phase, int(public["upcard"]), opponent, letters),
        turns=_turns(view, player, draws, letters),
    )


def card_name(card: int, letters: bool = False) -> str:
    """Return a card as text: ``10♥``, or ``10H`` with `letters`."""
    symbol = card_symbol(card)
    return symbol[:-1] + SUITS[card // NUM_RANKS] if letters else symbol


def card_names(cards: list[int], letters: bool = False) -> str:
    """Return several cards as text, separated by blanks."""
    return " ".join(card_name(card, letters) for card in cards)


def action_name(action: int, upcard: int, letters: bool = False, hand: int = 0) -> str:
    """Return an action in words: ``take 9♦``, ``draw from the stock``, ``knock with K♠``.

    With the player's `hand`, a mask, a discard that leaves no deadwood is named ``go gin with K♠`` or
    ``discard K♠ without going gin``.
    """
    if action == PASS:
        return "pass"
    if action == DRAW_STOCK:
        return "draw from the stock"
    if action == DRAW_UPCARD:
        return f"take {card_name(upcard, letters)}"
    card = action % NUM_CARDS
    name, gin = card_name(card, letters), bool(hand) and deadwood(hand & ~(1 << card)) == 0
    if action >= KNOCK:
        return f"{'go gin' if gin else 'knock'} with {name}"
    return f"discard {name}{' without going gin' * gin}"


def last_turn(seat: Seat, opponent: str) -> str:
    """Return the opponent's last turn as a sentence, or an empty text if the player has acted since."""
    last = seat.turns[-1] if seat.turns else None
    if last is None or last.by_viewer:
        return ""
    did = {"pass": "passed", "stock": "drew from the stock"}.get(last.took, f"took {last.took}")
    if not last.discarded:
        return f"{opponent} {did}."
    discarded = last.discarded.replace(" knock", " to knock")
    return f"{opponent} {did} and discarded {discarded}."


def _prompt(view: PlayerView, phase: int, upcard: int, opponent: str, letters: bool) -> str:
    if phase == OVER:
        return "The hand is over."
    if not view.masks().any():
        return f"{opponent} is to {'discard' if phase == DISCARD else 'draw or pass'} ..."
    if phase == DISCARD:
        options = discard_options(view)
        best = best_knock(options)
        if best is None:
            return "Choose a card to discard."
        if options[best].gin:
            return f"Choose a card to discard, or go {options[best].gin} with {card_name(best, letters)}."
        return "Choose a card to discard or to knock with."
    if phase == STOCK_ONLY:
        return "Both have passed: draw from the stock."
    card = card_name(upcard, letters)
    if phase == OFFER:
        return f"Take the upcard {card}, or pass."
    return f"Draw from the stock or take {card}."


def _turns(view: PlayerView, player: int, draws: list[int], letters: bool) -> list[Turn]:
    turns: list[Turn] = []
    own_draws = iter(draws)
    for who, action, card in view.history():
        own = who == player
        if action == PASS:
            turns.append(Turn(own, "pass", ""))
        elif action == DRAW_STOCK:
            turns.append(Turn(own, f"stock {card_name(next(own_draws), letters)}" if own else "stock", ""))
        elif action == DRAW_UPCARD:
            turns.append(Turn(own, card_name(card, letters), ""))
        else:
            knock = " knock" if action >= KNOCK else ""
            turns[-1] = turns[-1]._replace(discarded=card_name(card, letters) + knock)
    return turns


def both_turns(first: Seat, second: Seat) -> list[Turn]:
    """Return the turns of a hand as `first` sees them, with the cards that both players drew."""
    return [
        own if own.by_viewer else other._replace(by_viewer=False)
        for own, other in zip(first.turns, second.turns, strict=True)
    ]


# --- The end of a hand --------------------------------------------------------------------------------


class Showdown(NamedTuple):
    """Both hands as they are laid down, and the score step by step."""

    headline: str
    own_groups: list[Group]
    opponent_groups: list[Group]
    steps: list[str]


def describe_showdown(
    view: PlayerView, hands: tuple[int, int], opponent: str, letters: bool = False, me: str = YOU
) -> Showdown:
    """Return the end of a hand.

    `view` is the player's view after the end; `hands` are both hands as masks, the player's first. The player
    is called `me`.
    """
    public, player = view.records["public"][0], int(view.records["player"][0])
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
        steps = [f"The stock has run out: the hand is void and nobody scores. {deals} deals.", score]
        return Showdown("The hand is void", hand_groups(hands[0]), hand_groups(hands[1]), steps)
    side = 0 if knocker == player else 1
    knocking, defending = hands[side], hands[1 - side]
    laid = hand_groups(knocking)
    gin = outcome in (GIN, BIG_GIN)
    answer = hand_groups(defending) if gin else defence_groups(defending, knocking)
    own, other = (int(public["deadwood"][seat]) for seat in (knocker, 1 - knocker))
    steps = [f"{_verb(names[side], 'knock')} with {_deadwood(laid, own, letters)}."]
    if gin:
        steps = [f"{_verb(names[side], 'go', 'goes')} gin: every card is in a meld. No lay-offs after gin."]
    steps.append(f"{_verb(names[1 - side], 'meld')} {_melds(answer, letters)}.")
    steps += _lay_off_lines(laid, answer, names[1 - side], letters)
    steps.append(f"{_verb(names[1 - side], 'keep')} {_deadwood(answer, other, letters)}.")
    points = int(public["points"])
    winner = names[side]
    if gin:
        kind = "big gin" if outcome == BIG_GIN else "gin"
        bonus = int(public["rules"][kind.replace(" ", "_") + "_bonus"])
        sum_ = f"{bonus} for {kind} + {other} deadwood"
        headline = f"{_verb(winner, 'have', 'has')} {kind}"
    elif outcome == UNDERCUT:
        winner, bonus = names[1 - side], int(public["rules"]["undercut_bonus"])
        steps.append(f"{other} is not more than {own}: an undercut.")
        sum_ = f"{bonus} for the undercut + {own} − {other}"
        headline = f"{_verb(winner, 'undercut')}"
    else:
        sum_ = f"{other} − {own} deadwood"
        headline = f"{_verb(winner, 'win')} by knocking"
    if public["points_double"]:
        sum_ = f"2 × ({sum_}), for the spade"
    if public["rules"]["immediate_boxes"]:
        sum_ += f" + {int(public['rules']['box_bonus'])} for the hand"
    steps += [f"{sum_} = {points} for {inside(winner)}.", score]
    groups = (laid, answer) if side == 0 else (answer, laid)
    return Showdown(f"{headline}: {points} point{'s' * (points != 1)}", *groups, steps)


def describe_boxes(view: PlayerView, opponent: str, me: str = YOU) -> list[str]:
    """Return the boxes of a variant in sentences, and at the end of the game the final score.

    Boxes are the hands won, which score under some rules. The list is empty without boxes and bonuses.
    """
    public, player = view.records["public"][0], int(view.records["player"][0])
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


def _melds(groups: list[Group], letters: bool) -> str:
    melds = [card_names(cards, letters) for cards, caption in groups if caption in ("set", "run")]
    return ", ".join(melds) or "nothing"


def _deadwood(groups: list[Group], points: int, letters: bool) -> str:
    """Return the deadwood in words: ``12 deadwood (A♠ J♠)``."""
    loose = [cards for cards, caption in groups if caption.startswith("deadwood")]
    return f"{points} deadwood ({card_names(loose[0], letters)})" if loose else "no deadwood"


class LayOff(NamedTuple):
    """A card that the defender lays off, and the knocker's meld before it."""

    card: int
    meld: list[int]


def lay_offs(knocker: list[Group], defender: list[Group]) -> list[LayOff]:
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
        result.append(LayOff(card, list(cards)))
        remaining.remove(card)
        cards.append(card)
        cards.sort()
    return result


def _lay_off_lines(laid: list[Group], answer: list[Group], who: str, letters: bool) -> list[str]:
    """Return one line for each card that is laid off: the meld and the points saved."""
    return [
        f"{_verb(who, 'lay')} off {card_name(card, letters)} on {card_names(meld, letters)}: "
        f"{int(total_value(1 << card))} less deadwood."
        for card, meld in lay_offs(laid, answer)
    ]


def _fits(card: int, cards: list[int], kind: str) -> bool:
    if kind == "set":
        return card % NUM_RANKS == cards[0] % NUM_RANKS
    return card // NUM_RANKS == cards[0] // NUM_RANKS and card in (cards[0] - 1, cards[-1] + 1)


class Stage(NamedTuple):
    """One step of the reveal: a sentence, and both hands on the table after it."""

    text: str
    own_groups: list[Group]
    opponent_groups: list[Group]
    laid_off: list[int]
    """The defender's cards laid off so far on the knocker's melds."""


def describe_reveal(
    view: PlayerView, hands: tuple[int, int], opponent: str, letters: bool = False, me: str = YOU
) -> list[Stage]:
    """Return the end of a hand step by step. Parameters and sentences are those of `describe_showdown`."""
    shown = describe_showdown(view, hands, opponent, letters, me)
    public, player = view.records["public"][0], int(view.records["player"][0])
    if int(public["outcome"]) == VOID:
        return [Stage(text, shown.own_groups, shown.opponent_groups, []) for text in shown.steps]
    by_me = int(public["knocker"]) == player
    groups = (shown.own_groups, shown.opponent_groups)
    knocker, defender = groups if by_me else groups[::-1]

    def stage(text: str, knocking: list[Group], defending: list[Group], laid: list[int]) -> Stage:
        sides = (knocking, defending) if by_me else (defending, knocking)
        return Stage(text, *sides, laid)

    everything = sorted((card for group in defender for card in group.cards), key=_by_rank)
    stages = [stage(shown.steps[0], knocker, [Group(everything, "")], [])]
    moves = lay_offs(knocker, defender)
    for count in range(len(moves) + 1):
        laid = [move.card for move in moves[:count]]
        knocking = _with_laid_off(knocker, moves[:count])
        defending = _without(defender, laid)
        stages.append(stage(shown.steps[1 + count], knocking, defending, laid))
    return stages + [stages[-1]._replace(text=text) for text in shown.steps[len(stages) :]]


def _by_rank(card: int) -> tuple[int, int]:
    return card % NUM_RANKS, card


def _with_laid_off(groups: list[Group], moves: list[LayOff]) -> list[Group]:
    """Return the knocker's groups after these lay-offs."""
    melds = {tuple(group.cards): group for group in groups}
    for card, meld in moves:
        group = melds.pop(tuple(meld))
        cards = sorted([*meld, card])
        melds[tuple(cards)] = Group(cards, group.caption)
    order = [group.caption for group in groups]
    return sorted(melds.values(), key=lambda group: order.index(group.caption))


def _without(groups: list[Group], laid: list[int]) -> list[Group]:
    """Return the defender's groups; cards not laid off yet are among the deadwood."""
    melds = [group for group in groups if group.caption in ("set", "run")]
    loose = [card for group in groups if group not in melds for card in group.cards if card not in laid]
    if not loose:
        return melds
    points = int(total_value(sum(1 << card for card in loose)))
    return [*melds, Group(sorted(loose, key=_by_rank), f"deadwood {points}")]


# --- Belief -------------------------------------------------------------------------------------------


class HeatMap(NamedTuple):
    """A probability for each card, laid out as suits by ranks."""

    ranks: list[str]
    rows: list[tuple[str, list[int]]]
    """Suit, and per cent for each rank; cards in the viewer's own hand and in the pile are 0."""


def per_cent(chance: float) -> int:
    """Return a probability in per cent, 0 only if it is 0 and 100 only if it is 1."""
    return round(100 * chance) if chance in (0, 1) else min(max(round(100 * chance), 1), 99)


def heat_map(chances: list[float], letters: bool = False) -> HeatMap:
    """Return probabilities (52) as a heat map of 4 rows of 13, in per cent."""
    rows = []
    for suit in range(len(SUITS)):
        symbol = card_name(suit * NUM_RANKS, letters)[-1]
        first = suit * NUM_RANKS
        rows.append((symbol, [per_cent(chance) for chance in chances[first : first + NUM_RANKS]]))
    return HeatMap(["10" if rank == "T" else rank for rank in RANKS], rows)
