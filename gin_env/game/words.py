"""The game in plain words, for language models and for text interfaces: rules, positions, results.

One notation everywhere, in ASCII: cards are rank then suit (``TH``, `gin_env.game.cards`), actions as
`gin_env.game.actions.describe` writes them and `parse` reads them. ``str(view)`` of one `PlayerView` is what
that player knows, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, IllegalActionError, describe, parse
from gin_env.game.cards import NUM_RANKS, RANKS, SUITS, card_text, cards_of, total_value
from gin_env.game.melds import best_set_cards, run_cards, split_runs, split_sets
from gin_env.game.rules import Rules
from gin_env.game.state import BIG_GIN, GIN, KNOCK_WON, NO_CARD, OVER, UNDERCUT

SUIT_NAMES = dict(zip(SUITS, ("clubs", "hearts", "spades", "diamonds"), strict=True))
_ACTIONS = re.compile(
    r"\b(?:pass|draw from the stock|draw the upcard|(?:discard|knock with) [A2-9TJQK][CHSD])\b", re.IGNORECASE
)
MAX_CHARACTERS = 100_000
"""Maximum number of characters of an answer that are read."""

OUTCOMES_IN_WORDS = {
    KNOCK_WON: "by knocking",
    GIN: "with gin",
    UNDERCUT: "by an undercut",
    BIG_GIN: "with big gin",
}
"""How the winner of a hand won it."""


def rules_in_words(rules: Rules | None = None) -> str:
    """Return the rules as a text for a player, such as a prompt needs; default `Rules()`."""
    rules = rules if rules is not None else Rules()
    suits = ", ".join(f"{suit} {SUIT_NAMES[suit]}" for suit in SUITS[: rules.suits])
    opening = (
        "First the player who did not deal may take the upcard or pass, then the dealer may; if both "
        "pass, the other player must draw from the stock. From then on a "
    )
    double = "All these points double if the first upcard is a spade."
    words = f"""\
Gin Rummy for two players, with {rules.deck_size} cards: ranks {" ".join(RANKS[: rules.ranks])} (ace low) in \
the suits {suits}. TH is the ten of hearts.
Each player is dealt {rules.hand_size} cards, one card is turned up (the upcard), the rest is the stock. \
{opening if rules.opening_offer else "A "}turn is a draw, from the stock or the upcard, and then a discard, \
which becomes the new upcard. A card just taken as the upcard must not be discarded in the same turn.
A meld is a set (three or four cards of a rank) or a run (three or more cards of a suit in sequence). Cards \
outside melds are deadwood: ace 1 point, number cards their number, T J Q K 10.
Instead of just discarding, a player may knock with a discard that leaves at most {rules.knock_limit} points \
of deadwood. {_oklahoma_in_words(rules)}Both hands are melded at their best; the other player also lays off \
cards on the knocker's melds, unless the knocker has gin (no deadwood).
{_gin_in_words(rules)} Otherwise the knocker scores the difference if their deadwood is \
{"lower" if rules.undercut_on_tie else "not higher"}; if not, the other player undercuts and scores \
{rules.undercut_bonus} and the difference. {double if rules.spades_double else ""}
A hand is void if no more than {rules.stock_floor} cards are left in the stock after a turn. \
{rules.target_score} points win the game."""
    bonuses = _bonuses_in_words(rules)
    return "\n".join([line.rstrip() for line in words.split("\n")] + ([bonuses] if bonuses else []))


def limit_if_varying(public: np.void) -> int | None:
    """Return the most deadwood for a knock in this hand if the rules let it differ from hand to hand."""
    return int(public["knock_limit"]) if public["rules"]["oklahoma"] else None


def _oklahoma_in_words(rules: Rules) -> str:
    if not rules.oklahoma:
        return ""
    ace = "an ace demands gin" if rules.ace_needs_gin else "an ace allows 1 point"
    return f"The first upcard of a hand lowers this limit to its own points; {ace}. "


def _gin_in_words(rules: Rules) -> str:
    words = f"Gin scores {rules.gin_bonus} and the other player's deadwood."
    if rules.big_gin_bonus:
        words += f" It scores {rules.big_gin_bonus} instead of {rules.gin_bonus} if the discard fits in too."
    return words


def _bonuses_in_words(rules: Rules) -> str:
    words = []
    if rules.box_bonus:
        when = "immediately" if rules.immediate_boxes else "at the end of the game"
        words.append(f"Each hand won scores {rules.box_bonus} more, {when}.")
    if rules.game_bonus:
        words.append(f"The winner of the game scores {rules.game_bonus} more.")
    if rules.shutout_bonus:
        words.append(f"If the loser has no points, the winner scores another {rules.shutout_bonus}.")
    if rules.shutout_doubles:
        words.append("If the loser has no points, the winner's total doubles.")
    return " ".join(words)


def position_in_words(
    public: np.void, player: int, hand: int, events: Iterable[tuple[int, int, int]], draws: list[int]
) -> str:
    """Return what a player knows of a hand: their cards, the table, the actions of both.

    Parameters
    ----------
    public : the `gin_env.game.state.PUBLIC` record.
    player : 0 or 1; the other is "the opponent".
    hand : mask of the player's cards.
    events : (player, action, card) of each action, as in `PlayerView.history`.
    draws : the player's cards from the stock, in order.
    """
    scores, rules = public["scores"], Rules.from_record(public["rules"])
    dealer = "you" if public["dealer"] == player else "the opponent"
    upcard = card_text(int(public["upcard"])) if public["upcard"] != NO_CARD else "none"
    lines = [
        f"Hand {int(public['hand_number']) + 1}, {dealer} dealt. "
        f"Score: you {int(scores[player])}, the opponent {int(scores[1 - player])}; "
        f"{rules.target_score} points win the game.",
        f"Your hand: {hand_in_words(hand)}.",
        f"Upcard: {upcard}. Cards in the stock: {int(public['stock_left'])}.",
    ]
    for text, mask in (
        ("The opponent holds for certain", public["shown"][1 - player]),
        ("Discarded by the opponent and still in the pile", public["discarded"][1 - player]),
        ("Discarded by you and still in the pile", public["discarded"][player]),
    ):
        if mask:
            lines.append(f"{text}: {' '.join(map(card_text, cards_of(int(mask))))}.")
    if (limit := limit_if_varying(public)) is not None:
        double = " All points of this hand double." if public["points_double"] else ""
        lines.append(f"Limit for knocking in this hand: {limit}.{double}")
    drawn = iter(draws)
    words = [_event_in_words(event, player, drawn) for event in events]
    lines.append(f"So far: {'; '.join(words)}." if words else "Nobody has acted yet.")
    if public["phase"] == OVER:
        lines.append(f"The hand is over: {result_in_words(public, player)}.")
    return "\n".join(lines)


def hand_in_words(hand: int) -> str:
    """Return a hand sorted into melds and deadwood: ``7C 7H 7S, 2D 3D 4D; deadwood KC QH (20)``."""
    sets = int(best_set_cards(hand))
    runs = int(run_cards(hand & ~sets))
    melds = ", ".join(" ".join(map(card_text, meld)) for meld in split_sets(sets) + split_runs(runs))
    left = hand & ~sets & ~runs
    loose = sorted(cards_of(left), key=lambda card: (-(card % NUM_RANKS), card))
    deadwood = (
        f"deadwood {' '.join(map(card_text, loose))} ({int(total_value(left))})" if left else "no deadwood"
    )
    return f"{melds}; {deadwood}" if melds else deadwood


def result_in_words(result: np.void, player: int) -> str:
    """Return how a hand ended for a player; `result` is a record of `PUBLIC` or of `HAND_RESULT`."""
    if result["winner"] < 0:
        return "it is void, nobody scores"
    who = "you" if result["winner"] == player else "the opponent"
    how = OUTCOMES_IN_WORDS[int(result["outcome"])]
    return f"{who} scored {int(result['points'])} {how}"


def _event_in_words(event: tuple[int, int, int], player: int, draws: Iterator[int]) -> str:
    who, action, card = event
    what = describe(action)
    if action == DRAW_UPCARD:
        what += f" {card_text(card)}"
    elif action == DRAW_STOCK and who == player:
        what += f" ({card_text(next(draws))})"
    return f"{'you' if who == player else 'opponent'}: {what}"


def find_action(text: str) -> int:
    """Return the action that an answer names, the last one if it names several.

    Raises TypeError unless the answer is a string, and IllegalActionError if it names no action.
    """
    if not isinstance(text, str):
        raise TypeError(f"an answer must be a string, not {type(text).__name__}")
    actions = _ACTIONS.findall(text[-MAX_CHARACTERS:])
    if not actions:
        raise IllegalActionError(
            "the answer names no action; write one as it is listed, such as 'discard 5H'"
        )
    verb, _, card = actions[-1].lower().rpartition(" ")
    return parse(f"{verb} {card.upper()}" if verb in ("discard", "knock with") else actions[-1].lower())
