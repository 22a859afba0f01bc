"""A player's knowledge: the public part of a game and their own private part.

Bots and estimators receive batches of `VIEW` records (wrapped in `PlayerView`), never the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gin_env.game.actions import DRAW_STOCK, NUM_ACTIONS, check_action, describe
from gin_env.game.cards import NUM_CARDS, cards_of, check_mask
from gin_env.game.earlier_hands import MEMORY, MOST
from gin_env.game.engine import deal, play
from gin_env.game.rules import Rules, RulesLike, check_rules
from gin_env.game.state import NO_CARD, STATE
from gin_env.game.words import position_in_words
from gin_env.observations.candidates import check_arrays, check_written
from gin_env.observations.illegal_actions import check_event
from gin_env.observations.memory import MEANINGS, NUM_MEMORY
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.observations.view_kernels import (
    VIEW,
    first_wrong,
    write_events,
    write_view_candidates,
    write_view_masks,
    write_view_memories,
    write_view_observations,
)
from gin_env.support.checks import check_integer, unknown

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

    ``array`` is a structured array (n,) of dtype `VIEW`; a single view is a batch of one. Raises TypeError
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

    def __init__(self, array: np.ndarray) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != VIEW or array.ndim != 1:
            raise TypeError(
                "PlayerView needs a one-dimensional array of dtype gin_env.observations.views.VIEW"
            )
        wrong = first_wrong(array)
        if wrong >= 0:
            raise ValueError(f"record {wrong} is not a position of a hand: damaged, or never written")
        self.array = array

    @classmethod
    def of_array(cls, array: np.ndarray) -> PlayerView:
        """Return the view of an array (n,) that the engine has written; it is not checked."""
        view = cls.__new__(cls)
        view.array = array
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
            `gin_env.game.earlier_hands.MEMORY`; default: nothing, so `memories` are zeros.

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
        rules = check_rules(rules)
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
        game = np.zeros(1, STATE)[0]
        public, deck = game["public"], game["hidden"]["deck"]
        public["rules"], public["dealer"] = rules.record(), dealer
        public["scores"], public["hand_number"] = scores, hand_number
        deck[player : 2 * rules.hand_size : 2], deck[2 * rules.hand_size] = cards_of(hand), first_upcard
        deal(game)  # the player does not know the other cards of this deck
        drawn = 0
        for index, action in enumerate(history):
            action = check_action(action)
            card = NO_CARD
            if action == DRAW_STOCK and public["to_move"] == player:
                if drawn == len(draws):
                    raise ValueError(f"action {index}: stock_draws does not say which card the player drew")
                card = draws[drawn]
                drawn += 1
            check_event(game, player, action, card, index)
            if card != NO_CARD:
                deck[rules.deck_size - public["stock_left"]] = card
            play(game, action)
        if drawn < len(draws):
            raise ValueError(f"stock_draws has {len(draws)} cards, but the player drew {drawn} times")
        array = np.zeros(1, VIEW)
        array["public"], array["private"] = public, game["private"][player]
        array["player"], array["random"] = player, random
        _write_counts(array, memory)
        return cls(array)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> PlayerView:
        """Return the views at an index, a slice, or an array of indices."""
        try:
            array = self.array[index]
            if isinstance(array, np.void):
                array = self.array[[index]]
        except (OverflowError, KeyError) as error:
            raise IndexError(f"views {index!r} are out of range in a batch of {len(self)}") from error
        if array.dtype != VIEW:
            raise IndexError(f"index must be an integer, a slice or an array, not {index!r}")
        return PlayerView.of_array(array.reshape(-1))

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

        See `gin_env.observations.memory`. The counts are in ``array["public"]["memory"]``, for each player.
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


def _write_counts(array: np.ndarray, memory: Sequence[Mapping[str, int]]) -> None:
    """Write both players' counts of the earlier hands. Raises TypeError or ValueError for impossible ones."""
    public, names = array["public"], MEMORY.names or ()
    if not isinstance(memory, Sequence) or [isinstance(counts, Mapping) for counts in memory] != [True] * 2:
        raise TypeError(f"memory must be a mapping of counts for each player, not {memory!r}")
    for player, name, count in ((seat, *each) for seat in (0, 1) for each in memory[seat].items()):
        if name not in names:
            raise ValueError(unknown("count in memory", name, names))
        most = MOST if public["hand_number"][0] else 0
        public["memory"][name][0, player] = check_integer(f"{name} in memory", count, 0, most)
    if (public["memory"]["discards"] > MOST * public["memory"]["first_discards"].astype(int)).any():
        raise ValueError("memory has discards, but no first_discards")
    both, numbers = array.repeat(2), np.zeros((2, NUM_MEMORY), np.float32)
    both["player"] = 0, 1
    write_view_memories(both, numbers)
    limit = 1 + 1 / public["rules"]["hand_size"][0]  # with big gin, a player lays down a card more
    for name, number in zip(MEANINGS, numbers.max(axis=0), strict=True):
        if not number <= limit:
            raise ValueError(f"no earlier hands lead to this memory: the share {name} would be {number:.2f}")
