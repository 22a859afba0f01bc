"""A slow and readable reference implementation of the game.

Written from docs/rules.md and docs/observation.md, not from the engine: hands are sets of card numbers, the
discard pile is a list, melds and lay-offs are searched by brute_force.py. Of the package it knows only the
numbers of `gin_env.Rules`, as attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from brute_force import Meld, best_arrangements, best_defence, cards_that_fit, deadwood

# The 107 actions: 0 to 51 discard a card, KNOCK + card knocks with it.
KNOCK, STOCK, TAKE, PASS = 52, 104, 105, 106
NUM_ACTIONS = 107

# The decision of the player to move.
OFFER, STOCK_ONLY, DRAW, DISCARD, OVER = "opening offer", "draw from the stock", "draw", "discard", "over"


def cards_in_deck(rules: Any) -> list[int]:
    return [suit * 13 + rank for suit in range(rules.suits) for rank in range(rules.ranks)]


@dataclass(frozen=True)
class Result:
    """The result of a hand."""

    outcome: str
    """``"knock"``, ``"gin"``, ``"big gin"``, ``"undercut"`` or ``"void"``."""
    winner: int | None
    knocker: int | None
    points: int
    turns: int
    deadwood: tuple[int, ...] = ()
    """Of player 0 and player 1, after melding and laying off; empty for a void hand."""

    def points_for(self, player: int) -> int:
        if self.winner is None:
            return 0
        return self.points if self.winner == player else -self.points


Arrangement = tuple[Meld, ...]
Lay = Callable[[Meld, list[Arrangement]], Arrangement]
"""A hand and the arrangements between which the rules do not decide -> the one that is laid."""


def settle_knock(
    rules: Any,
    hands: tuple[Meld, Meld],
    knocker: int,
    turns: int,
    lay: Lay,
    discard: int | None = None,
    first_upcard: int | None = None,
) -> Result:
    """Rules 6 and 7: return the result of a knock, from both hands after the knocker's discard."""
    defender = 1 - knocker
    own = deadwood(hands[knocker])
    if own == 0:
        left = deadwood(hands[defender])
        winner, points, outcome = knocker, rules.gin_bonus + left, "gin"
        if rules.big_gin_bonus and discard is not None and deadwood(hands[knocker] | {discard}) == 0:
            points, outcome = rules.big_gin_bonus + left, "big gin"
    else:
        left = best_defence(lay(hands[knocker], arrangements_to_lay(hands[knocker])), hands[defender])
        if own < left or (own == left and not rules.undercut_on_tie):
            winner, points, outcome = knocker, left - own, "knock"
        else:
            winner, points, outcome = defender, rules.undercut_bonus + own - left, "undercut"
    if rules.spades_double and first_upcard is not None and first_upcard // 13 == 2:
        points *= 2
    if rules.immediate_boxes:
        points += rules.box_bonus
    both = (own, left) if knocker == 0 else (left, own)
    return Result(outcome, winner, knocker, points, turns, both)


def limit_of_hand(rules: Any, upcard: int) -> int:
    """Rule 4: return the knock limit of a hand with this upcard."""
    if not rules.oklahoma:
        return rules.knock_limit
    value = min(upcard % 13 + 1, 10)
    return 0 if value == 1 and rules.ace_needs_gin else min(value, rules.knock_limit)


def arrangements_to_lay(hand: Meld) -> list[Arrangement]:
    """Those of least deadwood onto which the fewest cards that are not in the hand would fit.

    All cards of a full deck count, also those that a small deck lacks.
    """
    others = frozenset(range(52)) - hand
    best = best_arrangements(hand)
    fitting = [len(cards_that_fit(melds, others)) for melds in best]
    return [melds for melds, number in zip(best, fitting, strict=True) if number == min(fitting)]


def lay_first(hand: Meld, arrangements: list[Arrangement]) -> Arrangement:
    return arrangements[0]


class Game:
    """One episode: a hand, or a game of several hands to the target score.

    Parameters
    ----------
    rules : a `gin_env.Rules`.
    deck_of : the number of a hand (0, 1, ...) -> its deck in dealing order.
    dealer : of the first hand.
    whole_game : whether the episode continues to the target score.
    pays_wins : rewards are 1 for the winner of the episode, instead of points / 100 for each hand.
    pays_score : the episode pays its final margin / 100 instead.
    lay : which of several equal arrangements the knocker lays; the rules do not say, and it can matter.
    """

    def __init__(
        self,
        rules: Any,
        deck_of: Callable[[int], Iterable[int]],
        dealer: int,
        whole_game: bool = False,
        pays_wins: bool = False,
        lay: Lay = lay_first,
        pays_score: bool = False,
    ) -> None:
        self.rules, self.deck_of, self.dealer = rules, deck_of, dealer
        self.whole_game, self.pays_wins, self.lay = whole_game, pays_wins, lay
        self.pays_score = pays_score
        self.scores = [0, 0]
        self.boxes = [0, 0]
        """Hands won."""
        self.hand_number = 0
        self.over = False
        self.paid = 0.0
        """What player 0 was paid for the last action; player 1 was paid the opposite."""
        self.ended: Result | None = None
        """How the hand ended that the last action ended, if it did."""
        self.last_result: Result | None = None
        """How the hand ended that was the last to end."""
        self._deal()

    def _deal(self) -> None:
        """Rule 1: two hands alternately from player 0 on, the upcard, the stock."""
        deck, dealt = list(self.deck_of(self.hand_number)), 2 * self.rules.hand_size
        self.deck = list(deck)
        self.hands: list[set[int]] = [set(deck[0:dealt:2]), set(deck[1:dealt:2])]
        self.pile = [deck[dealt]]
        self.first_upcard = deck[dealt]
        self.stock = deck[dealt + 1 :]
        self.turns = 0
        self.taken: int | None = None
        self.discards: dict[int, tuple[int, int]] = {}
        """Card in the pile -> who discarded it, and the number of turns at that time."""
        self.declined: list[set[int]] = [set(), set()]
        self.shown: list[set[int]] = [set(), set()]
        """Cards that a player took from the pile and still holds."""
        self.stock_draws: list[list[int]] = [[], []]
        self.history: list[tuple[int, int, int]] = []
        """(player, action, the card that everybody saw move, -1 for a draw from the stock)."""
        self.to_move = 1 - self.dealer
        self.phase = OFFER if self.rules.opening_offer else DRAW

    # --- Legal actions ----------------------------------------------------------------------------------

    @property
    def upcard(self) -> int | None:
        """The top of the pile, or None if it is empty or its top card was taken in this turn."""
        return None if self.taken is not None or not self.pile else self.pile[-1]

    def legal(self) -> list[int]:
        """The legal actions of the player to move in ascending order."""
        if self.over:
            return []
        if self.phase == OFFER:
            return [TAKE, PASS]
        if self.phase == STOCK_ONLY:
            return [STOCK]
        if self.phase == DRAW:
            return [STOCK, TAKE]
        left = self._deadwood_after(self.to_move)
        limit = limit_of_hand(self.rules, self.first_upcard)
        knocks = [KNOCK + card for card in left if left[card] <= limit]
        return [*left, *knocks]

    def _deadwood_after(self, player: int) -> dict[int, int]:
        """Card that may be discarded (not the one just taken) -> the deadwood that it leaves."""
        hand = frozenset(self.hands[player])
        return {card: deadwood(hand - {card}) for card in sorted(hand) if card != self.taken}

    # --- Playing ----------------------------------------------------------------------------------------

    def play(self, action: int) -> None:
        """Play a legal action."""
        assert action in self.legal()
        player = self.to_move
        self.paid, self.ended = 0.0, None
        seen = -1 if action == STOCK else self.pile[-1] if action in (TAKE, PASS) else action % 52
        self.history.append((player, action, seen))
        if action == PASS:
            self.declined[player].add(self.pile[-1])
            self.phase = STOCK_ONLY if player == self.dealer else OFFER
            self.to_move = 1 - player
        elif action == STOCK:
            if self.phase == DRAW:
                self.declined[player].add(self.pile[-1])
            card = self.stock.pop(0)
            self.hands[player].add(card)
            self.stock_draws[player].append(card)
            self.phase = DISCARD
        elif action == TAKE:
            card = self.taken = self.pile.pop()
            self.hands[player].add(card)
            self.shown[player].add(card)
            self.discards.pop(card, None)
            for declined in self.declined:
                declined.discard(card)
            self.phase = DISCARD
        else:
            self._discard(player, action % 52)
            if action >= KNOCK:
                hands = frozenset(self.hands[0]), frozenset(self.hands[1])
                self._end_hand(
                    settle_knock(
                        self.rules, hands, player, self.turns, self.lay, action % 52, self.first_upcard
                    )
                )
            elif len(self.stock) <= self.rules.stock_floor or self.turns >= self.rules.max_turns:
                self._end_hand(Result("void", None, None, 0, self.turns))
            else:
                self.to_move = 1 - player
                self.phase = DRAW

    def _discard(self, player: int, card: int) -> None:
        self.hands[player].remove(card)
        self.shown[player].discard(card)
        self.turns += 1
        self.pile.append(card)
        self.discards[card] = player, self.turns
        self.taken = None

    def _end_hand(self, result: Result) -> None:
        """Scores, rewards, and the next hand of a game (rules 5 and 8)."""
        self.ended = self.last_result = result
        self.phase = OVER
        if result.winner is not None:
            self.scores[result.winner] += result.points
            self.boxes[result.winner] += 1
        reached = [score >= self.rules.target_score for score in self.scores]
        self.over = not self.whole_game or any(reached) or self.hand_number + 1 >= self.rules.max_hands
        if self.pays_score:
            totals = self.final_scores()
            self.paid = (totals[0] - totals[1]) / 100 if self.over else 0.0
        elif not self.pays_wins:
            self.paid = result.points_for(0) / 100
        elif self.over:
            won = result.winner if not self.whole_game else reached.index(True) if any(reached) else None
            self.paid = 0.0 if won is None else 1.0 if won == 0 else -1.0
        if not self.over:
            self.hand_number += 1
            self.dealer = self._next_dealer(result.winner)
            self._deal()

    def _next_dealer(self, winner: int | None) -> int:
        """Rule 8."""
        if winner is None:
            return self.dealer if self.rules.void_dealer == "same" else 1 - self.dealer
        return {"alternate": 1 - self.dealer, "winner": winner, "loser": 1 - winner}[self.rules.next_dealer]

    def final_scores(self) -> list[int]:
        """Rule 9: the totals of both players, boxes and bonuses included."""
        totals = list(self.scores)
        for player in (0, 1):
            if not self.rules.immediate_boxes:
                totals[player] += self.boxes[player] * self.rules.box_bonus
        for player in (0, 1):
            if self.scores[player] >= self.rules.target_score:
                totals[player] += self.rules.game_bonus
                if self.scores[1 - player] == 0:
                    totals[player] += self.rules.shutout_bonus
                    if self.rules.shutout_doubles:
                        totals[player] *= 2
        return totals

    # --- Observations -----------------------------------------------------------------------------------

    def observation(self, player: int) -> dict[str, Any]:
        """Name of each part (docs/observation.md) -> {card: value}, absent cards are 0, or one number."""
        other = 1 - player
        hand = frozenset(self.hands[player])
        acts = self.to_move == player
        discarding = acts and self.phase == DISCARD
        after = self._deadwood_after(player) if discarding else {}
        least = min(after.values()) if discarding else deadwood(hand)
        gain = 0
        if acts and self.phase in (OFFER, DRAW) and self.upcard is not None:
            with_it = hand | {self.upcard}
            gain = least - min(deadwood(with_it - {card}) for card in hand)
        return {
            "hand": dict.fromkeys(hand, 1.0),
            "upcard": {} if self.upcard is None else {self.upcard: 1.0},
            "taken": {} if self.taken is None else {self.taken: 1.0},
            "own_discards": self._ages(player),
            "opponent_discards": self._ages(other),
            "opponent_declined": dict.fromkeys(self.declined[other], 1.0),
            "own_shown": dict.fromkeys(self.shown[player], 1.0),
            "opponent_shown": dict.fromkeys(self.shown[other], 1.0),
            "discard_quality": {card: 1 / (1 + left - least) for card, left in after.items()},
            "estimate": self._uniform_estimate(player),
            "to_move": acts,
            "offer": self.phase == OFFER,
            "stock_only": self.phase == STOCK_ONLY,
            "draw": self.phase == DRAW,
            "discard": self.phase == DISCARD,
            "dealer": self.dealer == player,
            "stock": len(self.stock) / (len(self.deck) - 2 * self.rules.hand_size - 1),
            "turn": self.turns / self.rules.max_turns,
            "deadwood": least / 100,
            "upcard_gain": min(max(gain / 30, -1), 1),
            "own_score": min(self.scores[player] / self.rules.target_score, 1),
            "opponent_score": min(self.scores[other] / self.rules.target_score, 1),
            "knock_limit": min(limit_of_hand(self.rules, self.first_upcard) / 10, 1),
            "points_double": self.rules.spades_double and self.first_upcard // 13 == 2,
        }

    def _ages(self, player: int) -> dict[int, float]:
        return {
            card: 1 / (1 + self.turns - when) for card, (who, when) in self.discards.items() if who == player
        }

    def _uniform_estimate(self, player: int) -> dict[int, float]:
        """1 for cards that the opponent is known to hold; the rest of the hand is any of the unseen cards."""
        other = 1 - player
        known = self.shown[other]
        unseen = set(self.deck) - self.hands[player] - set(self.pile) - known
        missing = len(self.hands[other]) - len(known)
        return dict.fromkeys(unseen, missing / max(len(unseen), 1)) | dict.fromkeys(known, 1.0)
