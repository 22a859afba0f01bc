"""The view of a hand that another program dealt, from its actions: `array_of_history`."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gin_env.game import actions as act
from gin_env.game.cards import NUM_CARDS, card_text, check_mask, lowest_card
from gin_env.game.engine import LEGAL, NOT_IN_HAND, deal, play
from gin_env.game.memory import MEMORY, MOST
from gin_env.game.rules import Rules, cards_in_deck
from gin_env.game.state import NO_CARD, STATE
from gin_env.observations.illegal_actions import explain_illegal, why_illegal
from gin_env.observations.knowledge import cards_missing
from gin_env.observations.memory import MEANINGS, NUM_MEMORY
from gin_env.observations.view_kernels import VIEW, write_view_memories
from gin_env.support.checks import check_integer, unknown
from gin_env.support.compilation import kernel


def array_of_history(
    hand: int,
    first_upcard: int,
    history: Iterable[int],
    stock_draws: Iterable[int],
    *,
    player: int,
    dealer: int,
    scores: tuple[int, int],
    hand_number: int,
    rules: Rules,
    random: int,
    memory: Sequence[Mapping[str, int]],
) -> np.ndarray:
    """Return the `VIEW` record (1,) of a hand; see `PlayerView.from_history`."""
    for name, number, most in (
        ("player", player, 1), ("dealer", dealer, 1), ("first_upcard", first_upcard, NUM_CARDS - 1),
        ("hand_number", hand_number, rules.max_hands - 1), ("random", random, 2**64 - 1),
        *(("score", score, rules.target_score - 1) for score in scores),
    ):  # fmt: skip
        check_integer(name, number, 0, most)
    player, first_upcard = int(player), int(first_upcard)
    if len(scores) != 2:
        raise ValueError(f"scores must be those of players 0 and 1, not {scores!r}")
    hand, draws = check_mask(hand), [check_integer("stock draw", card, 0, 51) for card in stock_draws]
    if hand.bit_count() != rules.hand_size:
        raise ValueError(f"hand must hold {rules.hand_size} cards, not {hand.bit_count()}")
    if (hand | 1 << first_upcard) & ~rules.deck_mask or hand >> first_upcard & 1:
        raise ValueError("hand and first_upcard must be different cards of the deck")
    state = np.zeros(1, STATE)
    state["public"]["rules"] = rules.record()
    state["public"]["scores"], state["public"]["hand_number"] = scores, hand_number
    state["public"]["dealer"] = dealer
    _deal_known_cards(state, player, hand, first_upcard)
    drawn = 0
    for index, action in enumerate(history):
        action = act.check_action(action)
        own = int(state["public"]["to_move"][0]) == player
        card = NO_CARD
        if own and action == act.DRAW_STOCK:
            if drawn == len(draws):
                raise ValueError(f"action {index}: stock_draws does not say which card the player drew")
            card = draws[drawn]
            drawn += 1
        _check_event(state, player, action, card, index)
        _play_event(state, action, card)
    if drawn < len(draws):
        raise ValueError(f"stock_draws has {len(draws)} cards, but the player drew {drawn} times")
    records = np.zeros(1, VIEW)
    records["public"], records["private"] = state["public"], state["private"][:, player]
    records["player"], records["random"] = player, random
    _write_counts(records, memory)
    return records


def _write_counts(records: np.ndarray, memory: Sequence[Mapping[str, int]]) -> None:
    """Write both players' counts of the earlier hands. Raises TypeError or ValueError for impossible ones."""
    public, names = records["public"], MEMORY.names or ()
    if not isinstance(memory, Sequence) or [isinstance(counts, Mapping) for counts in memory] != [True] * 2:
        raise TypeError(f"memory must be a mapping of counts for each player, not {memory!r}")
    for player, name, count in ((seat, *each) for seat in (0, 1) for each in memory[seat].items()):
        if name not in names:
            raise ValueError(unknown("count in memory", name, names))
        most = MOST if public["hand_number"][0] else 0
        public["memory"][name][0, player] = check_integer(f"{name} in memory", count, 0, most)
    if (public["memory"]["discards"] > MOST * public["memory"]["first_discards"].astype(int)).any():
        raise ValueError("memory has discards, but no first_discards")
    both, numbers = records.repeat(2), np.zeros((2, NUM_MEMORY), np.float32)
    both["player"] = 0, 1
    write_view_memories(both, numbers)
    limit = 1 + 1 / public["rules"]["hand_size"][0]  # with big gin, a player lays down a card more
    for name, number in zip(MEANINGS, numbers.max(axis=0), strict=True):
        if not number <= limit:
            raise ValueError(f"no earlier hands lead to this memory: the share {name} would be {number:.2f}")


def _check_event(state: np.ndarray, player: int, action: int, card: int, index: int) -> None:
    """Raise IllegalActionError unless the next action is possible, as far as `player` can know."""
    public, hand = state["public"][0], int(state["private"]["hand"][0, player])
    mover = int(public["to_move"])
    unseen = Rules.from_record(public["rules"]).deck_mask & ~(hand | int(public["pile"]))
    records = np.zeros(1, VIEW)
    records["public"], records["player"] = public, mover
    # The opponent may hold, and discard, any card that is not known to be elsewhere.
    records["private"]["hand"] = hand if mover == player else unseen
    who = f"action {index}: player {mover}"
    if act.is_discard(action) and action >= act.KNOCK:
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: a knock ends the hand")
    reason = why_illegal(records, action)
    if reason == NOT_IN_HAND and mover != player:
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: that card is elsewhere (hand or pile)")
    if reason != LEGAL:
        raise act.IllegalActionError(f"{who}, {explain_illegal(records, action)}")
    shown = int(public["shown"][1 - player])
    is_unknown = act.is_discard(action) and not shown >> action & 1
    if mover != player and is_unknown and not cards_missing(public, player):
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: all of that player's cards are known")
    if card != NO_CARD and not unseen & ~shown & 1 << card:
        raise act.IllegalActionError(f"{who} drew {card_text(card)}, which is not in the stock")


@kernel
def _deal_known_cards(state, player: int, hand: int, first_upcard: int) -> None:
    """Deal a hand of which only one player's cards and the upcard are known; other cards are placeholders."""
    game = state[0]
    rules = game.public.rules
    index = 0
    remaining = hand
    while remaining:
        game.hidden.deck[2 * index + player] = lowest_card(remaining)
        remaining &= remaining - 1
        index += 1
    game.hidden.deck[2 * rules.hand_size] = first_upcard
    deal(game)


@kernel
def _play_event(state, action: int, card: int) -> None:
    """Carry out an action; `card` is what the observing player drew from the stock, or `NO_CARD`."""
    game = state[0]
    if card != NO_CARD:
        game.hidden.deck[cards_in_deck(game.public.rules) - game.public.stock_left] = card
    play(game, action)
