"""What a player may know, as records: the public part of a game and her own private part.

Bots and estimators receive batches of `VIEW` records (wrapped in `PlayerView`), never the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gin_env import actions as act
from gin_env.candidates import check_arrays, check_written, write_candidates
from gin_env.cards import NUM_CARDS, card_text, cards_of
from gin_env.compilation import kernel
from gin_env.engine import (
    ALREADY_DRAWN,
    HAND_IS_OVER,
    JUST_TAKEN,
    LEGAL,
    NO_SUCH_ACTION,
    NOT_IN_HAND,
    NOT_IN_THIS_PHASE,
    decision_random,
    illegality,
    write_mask,
)
from gin_env.history import first_mover, next_mover, upcard_after
from gin_env.melds import deadwood
from gin_env.observation import OBSERVATION_SIZE, write_observation
from gin_env.record_checks import is_history, is_position
from gin_env.rules import Rules
from gin_env.state import NO_CARD, OFFER, PHASE_NAMES, PRIVATE, PUBLIC, STOCK_ONLY

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
    """The action id; see `gin_env.actions`."""
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
            raise TypeError("PlayerView needs a one-dimensional array of dtype gin_env.views.VIEW")
        wrong = _first_wrong(records)
        if wrong >= 0:
            raise ValueError(f"record {wrong} is no position of a hand: it is damaged, or was never written")
        self.records = records

    @classmethod
    def _of(cls, records: np.ndarray) -> PlayerView:
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
            raise ValueError(f"no agent {agent!r}: the agents are {', '.join(raw.possible_agents)}")
        return raw.player_view(agent)

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
        return PlayerView._of(records.reshape(-1))

    def __iter__(self) -> Iterator[PlayerView]:
        return (self[index] for index in range(len(self)))

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
        """float32 (n, OBSERVATION_SIZE): the observation vectors, see `gin_env.observation`."""
        observations = np.empty((len(self), OBSERVATION_SIZE), np.float32)
        _write_view_observations(self.records, observations)
        return observations

    def candidates(
        self,
        rows: np.ndarray | None = None,
        actions: np.ndarray | None = None,
        table: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What these players may do, as (rows, actions, table) of `gin_env.candidates`.

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
    left, limit = deadwood(hand & ~(1 << card)), int(public["rules"]["knock_limit"])
    return f"{what}: deadwood would be {left}, the limit is {limit}"


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
