"""What a player may know, as records: the public part of a game and her own private part.

Bots and estimators receive batches of `VIEW` records (wrapped in `PlayerView`), never the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gin_env.game import actions as act
from gin_env.game.cards import NUM_CARDS, card_text, cards_of, check_mask, lowest_card
from gin_env.game.engine import (
    ALREADY_DRAWN,
    HAND_IS_OVER,
    JUST_TAKEN,
    LEGAL,
    NO_SUCH_ACTION,
    NOT_IN_HAND,
    NOT_IN_THIS_PHASE,
    deal,
    decision_random,
    illegality,
    play,
    write_mask,
)
from gin_env.game.history import first_mover, next_mover, upcard_after
from gin_env.game.melds import deadwood
from gin_env.game.record_checks import is_history, is_position
from gin_env.game.rules import Rules, cards_in_deck
from gin_env.game.state import NO_CARD, OFFER, PHASE_NAMES, PRIVATE, PUBLIC, STATE, STOCK_ONLY
from gin_env.game.words import position_in_words
from gin_env.observations.candidates import check_arrays, check_written, write_candidates
from gin_env.observations.observation import OBSERVATION_SIZE, write_observation
from gin_env.support.checks import check_integer
from gin_env.support.compilation import kernel

VIEW = np.dtype(
    [
        ("public", PUBLIC),
        ("private", PRIVATE),  # of the player whose view this is
        ("player", np.int8),
        ("random", np.uint64),  # a fresh number for this decision: bots break ties with it
    ],
    align=True,
)


class Event(NamedTuple):
    """One public act of a hand."""

    player: int
    action: int
    """The action id; see `gin_env.game.actions`."""
    card: int
    """The card that everybody saw move: discarded, taken from the pile, or passed over; -1 for a draw
    from the stock."""


class PlayerView:
    """The views of n players, each at a table of her own: what a bot decides from.

    ``records`` is a structured array (n,) of dtype `VIEW`; a single view is a batch of one. Raises TypeError
    for anything else, ValueError for records of no position of a hand: bots look things up by what stands in
    them.
    """

    def __init__(self, records: np.ndarray) -> None:
        if not isinstance(records, np.ndarray) or records.dtype != VIEW or records.ndim != 1:
            raise TypeError(
                "PlayerView needs a one-dimensional array of dtype gin_env.observations.views.VIEW"
            )
        wrong = _first_wrong(records)
        if wrong >= 0:
            raise ValueError(f"record {wrong} is no position of a hand: it is damaged, or was never written")
        self.records = records

    @classmethod
    def of_records(cls, records: np.ndarray) -> PlayerView:
        """The view of records (n,) that the engine has written: they are not checked."""
        view = cls.__new__(cls)
        view.records = records
        return view

    @classmethod
    def from_env(cls, env: Any, agent: str) -> PlayerView:
        """The view of `agent` (``"player_0"`` or ``"player_1"``) in this package's PettingZoo environment.

        >>> action = bot.act(PlayerView.from_env(env, env.agent_selection))[0]
        """
        raw = env.unwrapped
        if agent not in raw.possible_agents:
            raise ValueError(f"unknown agent {agent!r}; the agents are {', '.join(raw.possible_agents)}")
        return raw.player_view(agent)

    @classmethod
    def from_history(
        cls,
        hand: int,
        first_upcard: int,
        history: Iterable[int] = (),
        stock_draws: Iterable[int] = (),
        *,
        player: int = 0,
        dealer: int = 0,
        scores: tuple[int, int] = (0, 0),
        hand_number: int = 0,
        rules: Rules | None = None,
        random: int = 0,
    ) -> PlayerView:
        """The view of a player in a hand that is told from its beginning, as she saw it.

        For hands that this package did not deal: other engines', other programs', those at a kitchen table.

        Parameters
        ----------
        hand : mask of the cards that she was dealt (`gin_env.game.cards.parse`).
        first_upcard : the card turned up at the deal.
        history : the actions of both players since, in order; who acted follows from the rules.
        stock_draws : the cards that she drew from the stock, in order.
        player, dealer : who she is, and who dealt: 0 or 1.
        scores : of players 0 and 1 before this hand.
        hand_number : hands played before this one.
        random : a number from 0 to 2**64 - 1 by which bots break ties.

        Raises TypeError or ValueError for cards or numbers that cannot be, IllegalActionError, naming the
        act, for a history against the rules. A knock ends the hand: nothing is left to decide.
        """
        rules = rules if rules is not None else Rules()
        for name, number, most in (
            ("player", player, 1),
            ("dealer", dealer, 1),
            ("first_upcard", first_upcard, NUM_CARDS - 1),
            ("hand_number", hand_number, rules.max_hands - 1),
            ("random", random, 2**64 - 1),
            *(("a score", score, rules.target_score - 1) for score in scores),
        ):
            check_integer(name, number, 0, most)
        if len(scores) != 2:
            raise ValueError(f"scores are those of players 0 and 1, not {scores!r}")
        hand, draws = check_mask(hand), [check_integer("a card", card, 0, 51) for card in stock_draws]
        if hand.bit_count() != rules.hand_size:
            raise ValueError(f"a player is dealt {rules.hand_size} cards, not {hand.bit_count()}")
        if (hand | 1 << first_upcard) & ~rules.deck_mask or hand >> first_upcard & 1:
            raise ValueError("hand and first_upcard are different cards of the deck")
        told = np.zeros(1, STATE)
        told["public"]["rules"] = rules.record()
        told["public"]["scores"], told["public"]["hand_number"] = scores, hand_number
        told["public"]["dealer"] = dealer
        _tell_deal(told, player, hand, first_upcard)
        drawn = 0
        for number, action in enumerate(history):
            action = act.check_action(action)
            mine = int(told["public"]["to_move"][0]) == player
            card = NO_CARD
            if mine and action == act.DRAW_STOCK:
                if drawn == len(draws):
                    raise ValueError(f"act {number}: stock_draws does not say which card the player drew")
                card = draws[drawn]
                drawn += 1
            _check_told(told, player, action, card, number)
            _tell(told, action, card)
        if drawn < len(draws):
            raise ValueError(f"stock_draws has {len(draws)} cards, but the player drew {drawn} times")
        records = np.zeros(1, VIEW)
        records["public"], records["private"] = told["public"], told["private"][:, player]
        records["player"], records["random"] = player, random
        return cls(records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: Any) -> PlayerView:
        """A part of the batch: an index, a slice, or an array of indices."""
        try:
            records = self.records[index]
            if isinstance(records, np.void):
                records = self.records[[index]]
        except (OverflowError, KeyError) as error:
            raise IndexError(f"no views {index!r} in a batch of {len(self)}") from error
        if records.dtype != VIEW:
            raise IndexError(f"a batch of views is indexed by integers, slices or arrays, not {index!r}")
        return PlayerView.of_records(records.reshape(-1))

    def __iter__(self) -> Iterator[PlayerView]:
        return (self[index] for index in range(len(self)))

    def __str__(self) -> str:
        """What each player would say of her hand, the table and what she may do; see `gin_env.game.words`."""
        return "\n\n".join(self._in_words(index) for index in range(len(self)))

    def _in_words(self, index: int) -> str:
        record, one = self.records[index], self[index]
        said = position_in_words(
            record["public"],
            int(record["player"]),
            int(record["private"]["hand"]),
            self.history(index),
            self.stock_draws(index),
        )
        legal = one.masks()[0].nonzero()[0].tolist()
        return f"{said}\nYou may: {'; '.join(map(act.describe, legal))}." if legal else said

    @property
    def rules(self) -> Rules:
        """The rules of the (first) game."""
        return Rules.from_record(self.records["public"]["rules"][0])

    @property
    def hands(self) -> np.ndarray:
        """uint64 (n,): the players' own hands as masks."""
        return self.records["private"]["hand"]

    def masks(self) -> np.ndarray:
        """int8 (n, 107): legal actions of the players to move, zeros for those who are not."""
        masks = np.zeros((len(self), act.NUM_ACTIONS), np.int8)
        _write_view_masks(self.records, masks)
        return masks

    def observations(self) -> np.ndarray:
        """float32 (n, OBSERVATION_SIZE): the observation vectors, see `gin_env.observations.observation`."""
        observations = np.empty((len(self), OBSERVATION_SIZE), np.float32)
        _write_view_observations(self.records, observations)
        return observations

    def candidates(
        self,
        rows: np.ndarray | None = None,
        actions: np.ndarray | None = None,
        table: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What these players may do, as (rows, actions, table) of `gin_env.observations.candidates`.

        Who is not to move has no action.

        Arrays that are given are overwritten and returned. Raises ValueError if they do not fit.
        """
        rows, actions, table = check_arrays(len(self), rows, actions, table)
        check_written(_write_view_candidates(self.records, rows, actions, table))
        return rows, actions, table

    def history(self, index: int = 0) -> list[Event]:
        """All public acts of the current hand in order, for one view of the batch."""
        record = self.records[[index]]
        events = np.empty((int(record["public"]["history_length"][0]), len(Event._fields)), np.int64)
        _write_events(record, events)
        return [Event(*event) for event in events.tolist()]

    def stock_draws(self, index: int = 0) -> list[int]:
        """The cards that this player drew from the stock, in order (her opponent does not know them)."""
        private = self.records["private"][index]
        return private["stock_draws"][: private["num_stock_draws"]].tolist()


def explain_illegal(views: np.ndarray, action: int) -> str:
    """Why the player to move may not take this action, in words; `views` is her one `VIEW` record, (1,).

    Raises ValueError if she may.
    """
    reason = _illegality(views, action)
    if reason == NO_SUCH_ACTION:
        return f"{action} is not an action: actions run from 0 to {act.NUM_ACTIONS - 1}"
    what = act.describe(action)
    if reason == LEGAL:
        raise ValueError(f"{what}: this is legal, there is nothing to explain")
    if reason == HAND_IS_OVER:
        return f"{what}: the hand is over, call reset()"
    public, hand = views["public"][0], int(views["private"]["hand"][0])
    if reason == NOT_IN_THIS_PHASE:
        phase = int(public["phase"])
        choices = {OFFER: "draw the upcard or pass", STOCK_ONLY: "draw from the stock (both have passed)"}
        may = choices.get(phase, "draw from the stock or draw the upcard")
        return f"{what}: in the phase '{PHASE_NAMES[phase]}' a player may {may}"
    if reason == ALREADY_DRAWN:
        return f"{what}: the player has drawn already and must discard or knock"
    card = action % NUM_CARDS
    if reason == NOT_IN_HAND:
        held = " ".join(card_text(held) for held in cards_of(hand))
        return f"{what}: {card_text(card)} is not in the hand ({held})"
    if reason == JUST_TAKEN:
        return f"{what}: {card_text(card)} was just taken from the discard pile"
    left, limit = deadwood(hand & ~(1 << card)), int(public["knock_limit"])
    return f"{what}: deadwood would be {left}, the limit is {limit}"


def _check_told(told: np.ndarray, player: int, action: int, card: int, number: int) -> None:
    """Raise IllegalActionError unless the next act of a told hand can be, as far as `player` can know."""
    public, hand = told["public"][0], int(told["private"]["hand"][0, player])
    mover = int(public["to_move"])
    unseen = Rules.from_record(public["rules"]).deck_mask & ~(hand | int(public["pile"]))
    records = np.zeros(1, VIEW)
    records["public"], records["player"] = public, mover
    # Of the other hand nothing is known but what lies elsewhere: she may discard anything else.
    records["private"]["hand"] = hand if mover == player else unseen
    who = f"act {number}: player {mover}"
    if act.is_discard(action) and action >= act.KNOCK:
        raise act.IllegalActionError(f"{who}, {act.describe(action)}: a knock ends the hand")
    reason = _illegality(records, action)
    if reason == NOT_IN_HAND and mover != player:
        raise act.IllegalActionError(
            f"{who}, {act.describe(action)}: that card lies elsewhere (hand or pile)"
        )
    if reason != LEGAL:
        raise act.IllegalActionError(f"{who}, {explain_illegal(records, action)}")
    shown = int(public["shown"][1 - player])
    if card != NO_CARD and not unseen & ~shown & 1 << card:
        raise act.IllegalActionError(f"{who} drew {card_text(card)}, which is not in the stock")


@kernel
def _tell_deal(told, player: int, hand: int, first_upcard: int) -> None:
    """Deal a hand of which one player's cards and the upcard are known; the others are never looked at."""
    game = told[0]
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
def _tell(told, action: int, card: int) -> None:
    """Carry out an act; `card` is what the player who tells drew from the stock."""
    game = told[0]
    if card != NO_CARD:
        game.hidden.deck[cards_in_deck(game.public.rules) - game.public.stock_left] = card
    play(game, action)


@kernel
def _illegality(views, action) -> int:
    return illegality(views[0].public, views[0].private, action)


@kernel
def _write_events(views, events) -> None:
    """Write player, action and card of each act of the first view's hand into (history_length, 3)."""
    public = views[0].public
    upcard, mover = np.int64(public.first_upcard), first_mover(public)
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        events[index, 0] = mover
        events[index, 1] = action
        events[index, 2] = NO_CARD if action == act.DRAW_STOCK else upcard
        mover = next_mover(action, mover)


@kernel
def write_view(game, player: int, view) -> None:
    """Copy what `player` may know of a game, and her random number, into a `VIEW` record."""
    view.public = game.public
    view.private = game.private[player]
    view.player = player
    view.random = decision_random(game, player)


@kernel
def _first_wrong(views):
    for index in range(len(views)):
        view = views[index]
        if not is_position(view.public, np.int64(view.private.hand), view.player):
            return index
        if not is_history(view.public, view.private, view.player):
            return index
    return -1


@kernel
def _write_view_masks(views, masks) -> None:
    for index in range(len(views)):
        view = views[index]
        if view.public.to_move == view.player:
            write_mask(view.public, view.private, masks[index])


@kernel
def _write_view_candidates(views, rows, actions, table):
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    complete = True
    for index in range(len(views)):
        view = views[index]
        complete &= write_candidates(
            view.public, view.private, view.player, rows[index], actions[index], table[index], after
        )
    return complete


@kernel
def _write_view_observations(views, observations) -> None:
    for index in range(len(views)):
        view = views[index]
        write_observation(view.public, view.private, view.player, observations[index])
