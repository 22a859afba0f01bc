"""The reference game as one player sees it, rebuilt from a view's public events and that player's own draws.

It shows that the view is complete. Hidden cards are placeholders: negative numbers.
"""

from __future__ import annotations

from itertools import count

from reference_rules import KNOCK, OVER, STOCK, TAKE, Game, cards_in_deck

from gin_env import cards
from gin_env.observations.views import PlayerView


class SeenGame(Game):
    """A game that plays actions without checking their legality, which depends on hidden cards."""

    def legal(self) -> range:
        return range(107)

    def play(self, action: int) -> None:
        if KNOCK <= action < STOCK:  # the winner also depends on hidden cards
            self._discard(self.to_move, action % 52)
            self.phase = OVER
        else:
            super().play(action)


def game_from_view(view: PlayerView) -> SeenGame:
    """Replay the hand. Its `deck` is every card of the rules' deck, `dealt` the player's first cards."""
    record = view.array[0]
    public, rules, player = record["public"], view.rules, int(record["player"])
    events, draws = view.history(), view.stock_draws()
    own = first_cards(view)
    assert len(own) == rules.hand_size

    hidden = (-number for number in count(1))
    deck = [next(hidden) for _ in range(rules.deck_size)]
    deck[player : 2 * rules.hand_size : 2] = sorted(own)
    deck[2 * rules.hand_size] = int(public["first_upcard"])
    game = SeenGame(rules, lambda _: deck, int(public["dealer"]))
    game.deck, game.scores = cards_in_deck(rules), public["scores"].tolist()
    for event in events:
        assert event.player == game.to_move
        if event.player == player:
            if event.action == STOCK:
                game.stock[0] = draws.pop(0)
        elif event.action < STOCK and event.card not in game.hands[1 - player]:
            game.hands[1 - player].remove(min(game.hands[1 - player]))
            game.hands[1 - player].add(event.card)
        game.play(event.action)
    assert not draws
    return game


def first_cards(view: PlayerView) -> set[int]:
    """Return the cards dealt to the player, by undoing every turn from the last to the first."""
    own = set(cards.cards_of(int(view.array[0]["private"]["hand"])))
    draws = view.stock_draws()
    for event in reversed(view.history()):
        if event.player == view.array[0]["player"]:
            if event.action < STOCK:
                own.add(event.card)
            elif event.action == STOCK:
                own.remove(draws.pop())
            elif event.action == TAKE:
                own.remove(event.card)
    return own
