"""A player's knowledge: the public part of a game and their own private part.

Bots and estimators receive batches of `VIEW` records (wrapped in `PlayerView`), never the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gin_env.game.actions import NUM_ACTIONS, describe
from gin_env.game.rules import Rules, RulesLike, check_rules
from gin_env.game.words import position_in_words
from gin_env.observations.candidates import check_arrays, check_written
from gin_env.observations.memory import NUM_MEMORY
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.observations.view_from_history import array_of_history
from gin_env.observations.view_kernels import (
    VIEW,
    first_wrong,
    write_events,
    write_view_candidates,
    write_view_masks,
    write_view_memories,
    write_view_observations,
)

__all__ = ["VIEW", "Event", "PlayerView"]


class Event(NamedTuple):
    """One public event of a hand: an action and the card that moved."""

    player: int
    action: int
    """The action id; see `gin_env.game.actions`."""
    card: int
    """The card that both players saw: discarded, taken from the pile, or passed; -1 for a draw from the
    stock."""


class PlayerView:
    """The views of n players in n games: what a bot decides from.

    ``records`` is a structured array (n,) of dtype `VIEW`; a single view is a batch of one. Raises TypeError
    for anything else, ValueError for records that are not positions of a hand: compiled bots trust them.

    >>> from gin_env import Games
    >>> games = Games(2)
    >>> games.start(seed=1)
    >>> view = games.views(games.everyone)
    >>> len(view), len(view[0])
    (2, 1)
    >>> view.hands.dtype, view.masks().shape, view.observations().ndim
    (dtype('uint64'), (2, 107), 2)
    >>> view.rules.knock_limit, view.history(0), view.stock_draws(0)
    (10, [], [])
    """

    def __init__(self, records: np.ndarray) -> None:
        if not isinstance(records, np.ndarray) or records.dtype != VIEW or records.ndim != 1:
            raise TypeError(
                "PlayerView needs a one-dimensional array of dtype gin_env.observations.views.VIEW"
            )
        wrong = first_wrong(records)
        if wrong >= 0:
            raise ValueError(f"record {wrong} is not a position of a hand: damaged, or never written")
        self.array = records

    @classmethod
    def of_array(cls, records: np.ndarray) -> PlayerView:
        """Return the view of records (n,) that the engine has written; they are not checked."""
        view = cls.__new__(cls)
        view.array = records
        return view

    @classmethod
    def from_env(cls, env: Any, agent: str) -> PlayerView:
        """Return the view of `agent` (``"player_0"`` or ``"player_1"``) in our PettingZoo environment.

        >>> from gin_env import agents, gin_rummy_v0
        >>> env = gin_rummy_v0.raw_env()
        >>> env.reset(seed=1)
        >>> action = agents.make("simple").act(PlayerView.from_env(env, env.agent_selection))[0]
        """
        raw = env.unwrapped
        if not hasattr(raw, "player_view"):
            raise TypeError(f"env must be an environment of gin_rummy_v0, not {type(raw).__name__}")
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
        rules: RulesLike = None,
        random: int = 0,
        memory: Sequence[Mapping[str, int]] = ({}, {}),
    ) -> PlayerView:
        """Return a player's view of a hand, from its deal and its actions.

        Use it for hands that this package did not deal, such as those of other programs.

        Parameters
        ----------
        hand : mask of the cards that the player was dealt (`gin_env.game.cards.parse`).
        first_upcard : the card turned up at the deal.
        history : the actions of both players since then, in order; the rules say who acted.
        stock_draws : the cards that the player drew from the stock, in order.
        player, dealer : 0 or 1.
        scores : of players 0 and 1 before this hand.
        hand_number : hands played before this one.
        random : a number from 0 to 2**64 - 1 by which bots break ties.
        memory : what players 0 and 1 have shown in the earlier hands of the game, as counts by the names of
            `gin_env.game.memory.MEMORY`; default: nothing, so `memories` are zeros.

        Raises
        ------
        TypeError, ValueError
            For impossible cards or numbers.
        IllegalActionError
            For a history against the rules; the message names the action. A knock is refused too: it ends
            the hand.

        Examples
        --------
        >>> from gin_env import cards
        >>> view = PlayerView.from_history(cards.parse("AC 2C 3C 4C 5C 6C 7C 8C 9C TC"), 51, player=1)
        >>> print(view)
        Hand 1, the opponent dealt. Score: you 0, the opponent 0; 100 points win the game.
        Your hand: AC 2C 3C 4C 5C 6C 7C 8C 9C TC; no deadwood.
        Upcard: KD. Cards in the stock: 31.
        Nobody has acted yet.
        You may: draw the upcard; pass.
        """
        return cls(
            array_of_history(
                hand,
                first_upcard,
                history,
                stock_draws,
                player=player,
                dealer=dealer,
                scores=scores,
                hand_number=hand_number,
                rules=check_rules(rules),
                random=random,
                memory=memory,
            )
        )

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> PlayerView:
        """Return the views at an index, a slice, or an array of indices."""
        try:
            records = self.array[index]
            if isinstance(records, np.void):
                records = self.array[[index]]
        except (OverflowError, KeyError) as error:
            raise IndexError(f"views {index!r} are out of range in a batch of {len(self)}") from error
        if records.dtype != VIEW:
            raise IndexError(f"index must be an integer, a slice or an array, not {index!r}")
        return PlayerView.of_array(records.reshape(-1))

    def __iter__(self) -> Iterator[PlayerView]:
        return (self[index] for index in range(len(self)))

    def __str__(self) -> str:
        """Return each player's knowledge and legal actions in words; see `gin_env.game.words`."""
        return "\n\n".join(self._in_words(index) for index in range(len(self)))

    def _in_words(self, index: int) -> str:
        record, one = self.array[index], self[index]
        position = position_in_words(
            record["public"],
            int(record["player"]),
            int(record["private"]["hand"]),
            self.history(index),
            self.stock_draws(index),
        )
        legal = one.masks()[0].nonzero()[0].tolist()
        return f"{position}\nYou may: {'; '.join(map(describe, legal))}." if legal else position

    @property
    def rules(self) -> Rules:
        """The rules of the (first) game."""
        return Rules.from_record(self.array["public"]["rules"][0])

    @property
    def hands(self) -> np.ndarray:
        """uint64 (n,): the players' own hands as masks."""
        return self.array["private"]["hand"]

    def masks(self) -> np.ndarray:
        """Return the legal actions: int8 (n, 107), zeros for a player who is not to move."""
        masks = np.zeros((len(self), NUM_ACTIONS), np.int8)
        write_view_masks(self.array, masks)
        return masks

    def observations(self) -> np.ndarray:
        """Return the observation vectors: float32 (n, OBSERVATION_SIZE)."""
        observations = np.empty((len(self), OBSERVATION_SIZE), np.float32)
        write_view_observations(self.array, observations)
        return observations

    def memories(self) -> np.ndarray:
        """Return what the players know from the earlier hands of the game: float32 (n, NUM_MEMORY).

        See `gin_env.observations.memory`. The counts are in ``records["public"]["memory"]``, for each player.
        """
        memories = np.empty((len(self), NUM_MEMORY), np.float32)
        write_view_memories(self.array, memories)
        return memories

    def candidates(
        self,
        rows: np.ndarray | None = None,
        actions: np.ndarray | None = None,
        context: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, actions and context of the candidates; see `gin_env.observations.candidates`.

        A player who is not to move has no action. Arrays passed in are overwritten and returned. Raises
        ValueError if they do not fit.
        """
        rows, actions, context = check_arrays(len(self), rows, actions, context)
        check_written(write_view_candidates(self.array, rows, actions, context))
        return rows, actions, context

    def history(self, index: int = 0) -> list[Event]:
        """Return all public events of the current hand in order, for one view of the batch."""
        record = self.array[[index]]
        events = np.empty((int(record["public"]["history_length"][0]), len(Event._fields)), np.int64)
        write_events(record, events)
        return [Event(*event) for event in events.tolist()]

    def stock_draws(self, index: int = 0) -> list[int]:
        """Return the cards that this player drew from the stock, in order."""
        private = self.array["private"][index]
        return private["stock_draws"][: private["num_stock_draws"]].tolist()
