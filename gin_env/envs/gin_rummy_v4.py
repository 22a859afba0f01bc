"""PettingZoo's `gin_rummy_v4` (RLCard's game; removed in PettingZoo 1.27) over our engine.

>>> from gin_env import gin_rummy_v4                     # was: from pettingzoo.classic import gin_rummy_v4
>>> env = gin_rummy_v4.env(knock_reward=0.5, gin_reward=1.0)

=================  ==============================================================================
Agents             ``["player_0", "player_1"]``
Action space       ``Discrete(110)``: 0 and 1 score player 0 and player 1, 2 draw, 3 pick up the top of the
                   discard pile, 4 declare the hand dead, 5 gin, 6-57 discard, 58-109 knock with this card
Observation space  ``Dict(observation=Box(0, 1, (4, 52), int8), action_mask=Box(0, 1, (110,), int8))``;
                   planes: own hand, top of the discard pile, other discards, cards that the opponent
                   picked up and still holds; with ``opponents_hand_visible=True`` a fifth plane: all
                   cards whose place the player does not know
Cards              spades, hearts, diamonds, clubs, each from the ace to the king
Rewards            ``knock_reward`` or ``gin_reward`` to the player who knocks or has gin, otherwise
                   minus deadwood / 100; not zero-sum
=================  ==============================================================================

The rules are RLCard's. There is no upcard and no opening offer; the non-dealer starts by discarding from
eleven cards. Gin must be called immediately. The card just picked up may be knocked with, but not discarded.
There are no lay-offs and no undercuts. With two cards left in the stock a player picks up or declares the
hand dead. At the end each player scores their hand in an action of their own. The same seeds deal the same
cards. docs/migration.md lists the differences from the old release. `gin_env.gin_rummy_v0` has the complete
rules and is faster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from gin_env.batch import Games
from gin_env.envs.gin_rummy_v0 import PLAYERS, TwoPlayers, usual_wrappers
from gin_env.game import actions
from gin_env.game.actions import IllegalActionError
from gin_env.game.cards import FULL_DECK, NUM_CARDS, NUM_RANKS, card_columns, card_text, cards_of, mask_of
from gin_env.game.deals import check_deal_options
from gin_env.game.melds import deadwood_after_discards, min_deadwood
from gin_env.game.rules import MAX_TURNS, Rules
from gin_env.game.state import DRAW, GIN, NO_CARD
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.support.checks import check_number, check_switch, is_integer
from gin_env.ui.screen import RENDER_MODES

NUM_ACTIONS = 110
SCORE = 0
"""Plus the index of the player whose hand is scored."""
DRAW_CARD = 2
PICK_UP = 3
DECLARE_DEAD = 4
CALL_GIN = 5
DISCARD = 6
"""Plus `gin_rummy_v4`'s id of the card."""
KNOCK = 58
"""Plus `gin_rummy_v4`'s id of the card."""
DEAD_STOCK = 2
"""Number of stock cards at which players can no longer draw."""

# Suits here are SHDC, in the rest of the package CHSD.
OUR_ID = np.array([suit * NUM_RANKS + rank for suit in (2, 1, 3, 0) for rank in range(NUM_RANKS)])
"""The package's id of each card of this environment: int (52,)."""
V4_ID = np.argsort(OUR_ID)
"""This environment's id of each card of the package: int (52,)."""


def env(**kwargs: Any) -> AECEnv:
    """Return `raw_env` in PettingZoo's usual wrappers; takes the same keywords."""
    return usual_wrappers(raw_env(**kwargs))


def describe(action: int) -> str:
    """Return an action as text, such as ``"score player_0"`` or ``"knock with 5H"``."""
    if action >= DISCARD:
        card = card_text(int(OUR_ID[(action - DISCARD) % NUM_CARDS]))
        return f"knock with {card}" if action >= KNOCK else f"discard {card}"
    return ("score player_0", "score player_1", "draw", "pick up", "declare the hand dead", "gin")[action]


class raw_env(TwoPlayers):
    """RLCard's Gin Rummy for two players; an episode is one hand.

    Parameters
    ----------
    knock_reward : reward for a knock.
    gin_reward : reward for gin.
    opponents_hand_visible : adds a fifth plane with the cards whose place the player does not know. As in the
        old release, it does not show the opponent's hand.
    render_mode : as for `gin_rummy_v0.raw_env`.
    screen_height : must be None; the old release drew pictures of any height.
    layoffs : whether the defender lays off cards before their deadwood counts (not in the old release).

    Raises TypeError or ValueError for parameters that do not exist.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 -- PettingZoo reads it from the class
        "name": "gin_rummy_v4",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }
    _CHANGING = (*TwoPlayers._CHANGING, "_shuffles", "_pile", "_to_score")

    def __init__(
        self,
        knock_reward: float = 0.5,
        gin_reward: float = 1.0,
        opponents_hand_visible: bool | None = False,
        render_mode: str | None = None,
        screen_height: int | None = None,
        layoffs: bool = False,
    ) -> None:
        self._knock_reward = check_number("knock_reward", knock_reward, -1e6, 1e6)
        self._gin_reward = check_number("gin_reward", gin_reward, -1e6, 1e6)
        self._num_planes = 5 if check_switch("opponents_hand_visible", opponents_hand_visible or False) else 4
        if screen_height is not None:
            raise ValueError("screen_height must be None: pictures are always 640 pixels high")
        self._layoffs = check_switch("layoffs", layoffs)

        planes = spaces.Box(0.0, 1.0, (self._num_planes, NUM_CARDS), np.int8)
        mask = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        # The players declare the hand dead, not the engine; the history has room for MAX_TURNS turns.
        games = Games(1, Rules(stock_floor=0, max_turns=MAX_TURNS))
        observation_space = spaces.Dict({"observation": planes, "action_mask": mask})
        super().__init__(render_mode, games, observation_space, NUM_ACTIONS)
        self._shuffles: np.random.RandomState | None = None
        self._deadwood_after = np.zeros(NUM_CARDS, np.int64)  # for each card of the hand, without that card

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode.

        Parameters
        ----------
        seed : deals the hand that the old release dealt for it. Without one, `reset` deals the next hand of
            the same seed (the first time, of a random one).
        options : as for `gin_rummy_v0.raw_env`, with one deck; the non-dealer's eleventh card takes the place
            of the upcard.

        Raises TypeError or ValueError for an invalid seed, deck or dealer, without changing anything.
        """
        decks, fixed_dealer = check_deal_options(options, self.games.rules, whole_game=False)
        if seed is not None or self._shuffles is None:
            self._shuffles = _shuffles(check_seed(seed) if seed is not None else fresh_seed())
        dealer, deck = _next_deal(self._shuffles)
        games = self.games
        games.begin(self._index, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
        games.set_deck(0, decks[0] if decks else deck, dealer if fixed_dealer is None else fixed_dealer)
        # Our upcard becomes the non-dealer's eleventh card, which is unseen and may be discarded.
        games.play_legal(self._index, np.array([actions.DRAW_UPCARD]))
        games.state["public"]["taken"] = NO_CARD
        games.state["public"]["shown"] = 0

        self._pile: list[int] = []  # without the card of a knock or gin, which stays hidden
        self._to_score: int | None = None  # the player whose hand is scored next, once play has ended
        self._begin_episode()
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in PLAYERS}
        self._pass_turn()
        if self.render_mode == "human":
            self.render()

    def _play(self, action: Any) -> None:
        self._play_legal(self._check_action(action))
        self._cumulative_rewards[self.agent_selection] = 0.0
        if self._to_score == len(PLAYERS):
            self.rewards = {agent: self._payoff(player) for player, agent in enumerate(PLAYERS)}
            self.terminations = dict.fromkeys(PLAYERS, True)
            self._accumulate_rewards()
        self._pass_turn()
        self._deads_step_first()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return the observation of `agent`: the planes, int8 (4 or 5, 52), and the action mask.

        The mask, int8 (110,), is all zeros unless the agent is to move. Both arrays are new.
        """
        player = self._player_index(agent)
        game = self.games.state[0]
        hand, known = int(game["private"][player]["hand"]), int(game["public"]["shown"][1 - player])
        unknown = FULL_DECK & ~(hand | known | int(game["public"]["pile"]))
        planes = [hand, mask_of(self._pile[-1:]), mask_of(self._pile[:-1]), known, unknown]
        moving = agent == self.agent_selection and not self.terminations.get(agent, True)
        return {
            "observation": card_columns(np.array(planes[: self._num_planes], np.uint64))[:, OUR_ID].astype(
                np.int8
            ),
            "action_mask": self._mask.copy() if moving else np.zeros(NUM_ACTIONS, np.int8),
        }

    def _setting(self) -> tuple[Any, ...]:
        return *super()._setting(), self._knock_reward, self._gin_reward, self._layoffs

    def _check_action(self, action: Any) -> int:
        action = actions.unwrap(action)
        if not is_integer(action):
            raise TypeError(f"action must be an integer from 0 to {NUM_ACTIONS - 1}, not {action!r}")
        if not 0 <= action < NUM_ACTIONS:
            raise IllegalActionError(f"action must be from 0 to {NUM_ACTIONS - 1}, not {action}")
        if not self._mask[action]:
            legal = ", ".join(describe(other) for other in np.flatnonzero(self._mask).tolist())
            raise IllegalActionError(
                f"illegal action by {self.agent_selection}: {describe(int(action))}; legal now: {legal}"
            )
        return int(action)

    def _play_legal(self, action: int) -> None:
        """Play a legal action, with the engine if it has a matching action."""
        if self._to_score is not None:
            self._to_score += 1
        elif action == DECLARE_DEAD:
            self._to_score = 0
        elif action == DRAW_CARD:
            self._play_in_engine(actions.DRAW_STOCK)
        elif action == PICK_UP:
            self._pile.pop()
            self._play_in_engine(actions.DRAW_UPCARD)
        elif action == CALL_GIN or action >= KNOCK:
            v4_card = action - KNOCK
            if action == CALL_GIN:  # with the first card whose discard leaves no deadwood
                held, deadwood = self._hand()
                v4_card = held[deadwood == 0][0]
            self._play_in_engine(actions.KNOCK + int(OUR_ID[v4_card]))
        else:
            card = int(OUR_ID[action - DISCARD])
            self._pile.append(card)
            self._play_in_engine(card)

    def _play_in_engine(self, action: int) -> None:
        self.games.play_legal(self._index, np.array([action]))
        if self.games.done[0]:  # after a knock or the last possible turn
            self._to_score = 0

    def _hand(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the cards of the player to move (v4 ids), and the deadwood of the hand without each."""
        game = self.games.state[0]
        hand = int(game["private"][game["public"]["to_move"]]["hand"])
        deadwood_after_discards(hand, self._deadwood_after)
        held = np.sort(V4_ID[cards_of(hand)])
        return held, self._deadwood_after[OUR_ID[held]]

    def _legal_actions(self) -> np.ndarray:
        """Return the action mask of the player to move: int8 (110,)."""
        mask = np.zeros(NUM_ACTIONS, np.int8)
        public = self.games.state[0]["public"]
        if self._to_score is not None:
            if self._to_score < len(PLAYERS):
                mask[SCORE + self._to_score] = 1
        elif public["phase"] == DRAW:
            mask[DRAW_CARD if public["stock_left"] > DEAD_STOCK else DECLARE_DEAD] = 1
            mask[PICK_UP] = 1
        else:
            held, deadwood = self._hand()
            if (deadwood == 0).any():
                mask[CALL_GIN] = 1
            else:
                mask[DISCARD + held] = 1
                mask[KNOCK + held[deadwood <= public["knock_limit"]]] = 1
                if public["taken"] != NO_CARD:
                    mask[DISCARD + V4_ID[public["taken"]]] = 0
        return mask

    def _payoff(self, player: int) -> float:
        """Return the reward of a player at the end of the hand."""
        game = self.games.state[0]
        public = game["public"]
        if public["knocker"] == player:
            return self._gin_reward if public["outcome"] == GIN else self._knock_reward
        if self._layoffs and public["knocker"] >= 0:
            return -int(public["deadwood"][player]) / 100
        return -int(min_deadwood(int(game["private"][player]["hand"]))) / 100

    def _pass_turn(self) -> None:
        """Select the player to move (at the end, the player scored last) and write the mask."""
        player = int(self.games.to_move()[0]) if self._to_score is None else min(self._to_score, 1)
        self.agent_selection = PLAYERS[player]
        self._mask = self._legal_actions()


def _shuffles(seed: int) -> np.random.RandomState:
    """Return the random generator with which RLCard deals for this seed."""
    hashed = int.from_bytes(hashlib.sha512(str(seed).encode()).digest()[:8], "little")
    return np.random.RandomState([hashed & 0xFFFFFFFF, hashed >> 32])


def _next_deal(shuffles: np.random.RandomState) -> tuple[int, np.ndarray]:
    """Return the next dealer and deck of RLCard, in our dealing order."""
    dealer = int(shuffles.choice([0, 1]))
    shuffled = list(range(NUM_CARDS))
    shuffles.shuffle(shuffled)
    dealt = OUR_ID[shuffled[::-1]]  # eleven cards to the non-dealer, ten to the dealer, the stock
    deck = np.empty(NUM_CARDS, np.int64)
    deck[1 - dealer : 20 : 2], deck[20] = dealt[:10], dealt[10]
    deck[dealer:20:2], deck[21:] = dealt[11:21], dealt[21:]
    return dealer, deck
