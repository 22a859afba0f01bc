"""A batch of games: `Games` owns the record array and applies the scalar rules to any of its games.

Everything that plays (environments, matches, trainers) uses this class; a single game is a batch of one.
It knows both seats and no opponents: `gin_env.envs.learner_seat` decides who plays against whom.

The methods check types, shapes and indices once, before a kernel runs on them. They raise IndexError for an
unknown game, TypeError or ValueError for anything else that does not fit, and change nothing then. For a
single game the checks take as long as the work. Code that has valid arrays skips them with ``checked=False``,
`Games.begin` instead of `Games.start`, and `Games.play_legal` for actions known to be legal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from gin_env.game.actions import NUM_ACTIONS, IllegalActionError
from gin_env.game.batch_kernels import (
    HAND_RESULT,
    find_illegal,
    first_illegal,
    first_outside,
    keep_waiting,
    play_games,
    start_games,
    write_masks,
)
from gin_env.game.deals import check_dealer, check_deck
from gin_env.game.engine import deal
from gin_env.game.rules import RulesLike, check_rules
from gin_env.game.state import OVER, STATE
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.observations.candidates import check_arrays, check_written
from gin_env.observations.illegal_actions import explain_illegal
from gin_env.observations.memory import NUM_MEMORY
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.observations.view_kernels import (
    VIEW,
    write_all_candidates,
    write_memories,
    write_observations,
    write_views,
)
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_integer, is_integer, result_array

Episode: TypeAlias = Literal["hand", "game"]
Reward: TypeAlias = Literal["points", "win", "score"]
EPISODES: tuple[Episode, ...] = get_args(Episode)
REWARDS: tuple[Reward, ...] = get_args(Reward)

_INDEX = np.dtype(np.int64)
_NUMBER = np.dtype(np.uint64)


class Games:
    """`num_games` games under the same rules.

    Parameters
    ----------
    num_games : at least 1.
    rules : default `Rules()`.
    episode : ``"hand"`` ends an episode with each hand, ``"game"`` when a player reaches the target score.
    reward : ``"points"`` pays each hand's points / 100; ``"win"`` pays 1 for the won episode (0 if void);
        ``"score"``, for whole games, pays the final margin / 100, boxes and bonuses included.

    Attributes
    ----------
    state : record array (num_games,) of dtype `state.STATE`.
    rewards : float32 (num_games,): what player 0 has earned since the array was last cleared; player 1 has
        earned the opposite.
    done : bool (num_games,): the episode is over.
    fixed_decks : for games with fixed deals (`fix_deals`), the decks of their next hands.
    results : record array (num_games,) of dtype `HAND_RESULT`: how the last hand to end in each game ended;
        ``ended`` says whether that was in its last action.
    numbers : int64 (num_games,): by which errors name the games; 0, 1, ... unless they are set.
    """

    def __init__(
        self,
        num_games: int = 1,
        rules: RulesLike = None,
        episode: Episode = "hand",
        reward: Reward = "points",
    ) -> None:
        if not is_integer(num_games):
            raise TypeError(f"num_games must be an integer, not {num_games!r}")
        if num_games < 1:
            raise ValueError(f"num_games must be at least 1, not {num_games}")
        check_choice("episode", episode, EPISODES)
        check_choice("reward", reward, REWARDS)
        if reward == "score" and episode != "game":
            raise ValueError("reward 'score' needs episode='game': only a game has a final score")
        self.rules = check_rules(rules)
        self.whole_game = episode == "game"
        self.pays = REWARDS.index(reward)
        self.state = np.zeros(num_games, STATE)
        self.state["public"]["rules"] = self.rules.record()
        self.state["public"]["phase"] = OVER
        self._to_move = self.state["public"]["to_move"]
        self.rewards = np.zeros(num_games, np.float32)
        self.done = np.ones(num_games, np.bool_)
        self.results = np.zeros(num_games, HAND_RESULT)
        self.everyone = np.arange(num_games)
        self.numbers = self.everyone.copy()
        self.fixed_decks: dict[int, list[np.ndarray]] = {}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self._to_move = self.state["public"]["to_move"]  # in a copy it must be a part of the copied state

    def __len__(self) -> int:
        return len(self.state)

    @property
    def scoring(self) -> tuple[bool, int, np.ndarray, np.ndarray, np.ndarray]:
        """What kernels score hands by and into: (whole_game, pays, rewards, done, results)."""
        return self.whole_game, self.pays, self.rewards, self.done, self.results

    def start(
        self,
        games: np.ndarray | None = None,
        seeds: np.ndarray | None = None,
        episodes: np.ndarray | None = None,
        twins: np.ndarray | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        """Begin an episode in some of the games.

        Parameters
        ----------
        games : int array (k,), indices of games; default: all.
        seeds, episodes : uint64 (k,). Together they determine dealer, decks and random numbers.
        twins : bool (k,): where true, the twin of that episode begins (see `engine.start_episode`).
        seed : one seed for all games, instead of `seeds`; by default a secret one. The episode numbers are
            then, by default, the indices of the games.

        Examples
        --------
        >>> games = Games(1000)
        >>> games.start(seed=1)
        """
        games = self.everyone if games is None else self.check_games(games)
        if seeds is None:
            seeds = np.full(len(games), fresh_seed() if seed is None else check_seed(seed), np.uint64)
        elif seed is not None:
            raise TypeError("start() takes seeds or seed, not both")
        seeds = _numbers("seeds", seeds, len(games))
        if twins is not None and (getattr(twins, "dtype", None) != np.bool_ or twins.shape != (len(games),)):
            raise TypeError(f"twins must be a bool array of {len(games)} entries, not {twins!r}")
        episodes = games.astype(np.uint64) if episodes is None else episodes
        self.begin(games, seeds, _numbers("episodes", episodes, len(games)), twins)

    def begin(
        self, games: np.ndarray, seeds: np.ndarray, episodes: np.ndarray, twins: np.ndarray | None = None
    ) -> None:
        """Begin an episode like `start`, without its checks: for int64 indices and arrays that fit."""
        twins = np.zeros(len(games), np.bool_) if twins is None else twins
        start_games(self.state, games, seeds, episodes, twins, self.done)
        for game in games.tolist() if self.fixed_decks else ():
            self.fixed_decks.pop(game, None)

    def set_deck(self, game: int, deck: Sequence[int] | np.ndarray, dealer: int | None = None) -> None:
        """Deal the current hand of one game again, from this deck (see `check_deck`), keeping the scores."""
        game = check_integer("game", game, 0, len(self) - 1)
        cards = check_deck(deck, self.rules)
        if dealer is not None:
            self.state["public"]["dealer"][game] = check_dealer(dealer)
        self.state["hidden"]["deck"][game, : len(cards)] = cards
        deal(self.state[game])

    def fix_deals(self, game: int, decks: Sequence[np.ndarray], dealer: int | None = None) -> None:
        """Deal the current hand of one game from the first of these decks, its next hands from the others.

        Call it after `start`, with what `deals.check_deal_options` returned. Void hands use up a deck too;
        after the last deck, hands are shuffled again. Without decks only the dealer changes.
        """
        following = [check_deck(deck, self.rules) for deck in decks[1:]]
        self.set_deck(game, decks[0] if decks else self.deck(game), dealer)
        self.fixed_decks[game] = following

    def deck(self, game: int) -> np.ndarray:
        """Return the deck of the current hand in dealing order: int8 (deck_size,)."""
        game = check_integer("game", game, 0, len(self) - 1)
        return self.state["hidden"]["deck"][game, : self.rules.deck_size].copy()

    def to_move(self) -> np.ndarray:
        """int8 (num_games,): the player to move in each game, a part of `state`, which changes."""
        return self._to_move

    def until_over(self, games: np.ndarray | None = None) -> Iterator[np.ndarray]:
        """Yield the indices (int64) of those of `games` (default: all) that are not over, until none is left.

        Play in these games between two iterations.

        Examples
        --------
        >>> from gin_env import agents
        >>> games, bot = Games(100), agents.make("simple")
        >>> games.start(seed=1)
        >>> for playing in games.until_over():
        ...     games.play(playing, bot.act(games.views(playing)))
        """
        playing = self.everyone if games is None else self.check_games(games)
        while len(playing := playing[~self.done[playing]]):
            yield playing

    def waiting_for(self, player: int, games: np.ndarray, checked: bool = True) -> np.ndarray:
        """Return those of `games` that are not over and in which `player` is to move."""
        if checked:
            player, games = _seat(player), self.check_games(games)
        waiting = np.empty(len(games), np.int64)
        return waiting[: keep_waiting(self.state, self.done, games, player, waiting)]

    def masks(self, games: np.ndarray, masks: np.ndarray | None = None) -> np.ndarray:
        """Return the legal actions of the players to move: int8 (k, 107), all zeros if the hand is over."""
        if games is not self.everyone:
            games = self.check_games(games)
        if masks is None:
            masks = np.empty((len(games), NUM_ACTIONS), np.int8)
        else:
            result_array("masks", masks, (len(games), NUM_ACTIONS), np.dtype(np.int8))
        write_masks(self.state, games, masks)
        return masks

    def observations(
        self, games: np.ndarray, player: int, observations: np.ndarray | None = None
    ) -> np.ndarray:
        """Return what `player` sees: float32 (k, OBSERVATION_SIZE)."""
        if games is not self.everyone:
            games = self.check_games(games)
        if type(player) is not int or not 0 <= player <= 1:
            player = _seat(player)
        if observations is None:
            observations = np.empty((len(games), OBSERVATION_SIZE), np.float32)
        else:
            shape = (len(games), OBSERVATION_SIZE)
            result_array("observations", observations, shape, np.dtype(np.float32))
        write_observations(self.state, games, player, observations)
        return observations

    def candidates(
        self,
        games: np.ndarray,
        rows: np.ndarray | None = None,
        actions: np.ndarray | None = None,
        context: np.ndarray | None = None,
        player: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the candidates of the players to move, or of one player: rows, actions and context.

        A player who is not to move has no action. Arrays passed in are overwritten and returned. Raises
        ValueError if they do not fit.
        """
        if games is not self.everyone:
            games = self.check_games(games)
        seat = -1 if player is None else _seat(player)
        rows, actions, context = check_arrays(len(games), rows, actions, context)
        check_written(write_all_candidates(self.state, games, seat, rows, actions, context))
        return rows, actions, context

    def memories(self, games: np.ndarray, player: int | None = None) -> np.ndarray:
        """Return what the players to move, or one player, know from the earlier hands of their game.

        float32 (k, NUM_MEMORY), see `gin_env.observations.memory`.
        """
        games = self.check_games(games)
        memories = np.empty((len(games), NUM_MEMORY), np.float32)
        write_memories(self.state, games, -1 if player is None else _seat(player), memories)
        return memories

    def views(self, games: np.ndarray, player: int | None = None, checked: bool = True) -> PlayerView:
        """Return the views (k,) of the players to move, or of one player."""
        if checked:
            games = self.check_games(games)
        # Zeros between the fields, which copying does not write. NumPy takes four times as long to allocate
        # records of many fields as to allocate bytes.
        array = np.ndarray(len(games), VIEW, np.zeros(len(games) * VIEW.itemsize, np.uint8))
        write_views(self.state, games, -1 if player is None else _seat(player), array)
        return PlayerView.of_array(array)

    def find_illegal(self, games: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return which of the int64 (k,) actions are illegal: bool (k,)."""
        games = self.check_games(games)
        actions = check_actions(actions, len(games))
        illegal = np.empty(len(games), np.bool_)
        find_illegal(self.state, games, actions, illegal)
        return illegal

    def explain(self, game: int, action: int) -> str:
        """Return why an illegal action is illegal. Raises ValueError for a legal one."""
        return explain_illegal(self.views(np.array([game])).array[0], action)

    def play(self, games: np.ndarray, actions: np.ndarray, who: str = "", checked: bool = True) -> None:
        """Play one action in each of `games`, each listed once; add to `rewards` and set `done`.

        In a game of several hands the next hand is dealt immediately. Raises IllegalActionError and changes
        nothing if any action is illegal; `who` chose the actions, for the message. With ``checked=False``
        only that is checked: games and actions must be int64 arrays of one length.
        """
        if checked:
            games = self.check_different(games)
            actions = check_actions(actions, len(games))
        first = first_illegal(self.state, games, actions)
        if first >= 0:
            view = self.views(games[first : first + 1])
            reason = explain_illegal(view.array[0], int(actions[first]))
            where = f" in game {self.numbers[games[first]]}" if len(self) > 1 else ""
            by = f" by {who}" if who else ""
            error = IllegalActionError(f"illegal action{by}{where}: {reason}")
            if not self.done[games[first]]:
                error.add_note(f"the position:\n{view[0]}")
            raise error
        self.play_legal(games, actions)

    def play_legal(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play like `play`, without any check: for int64 arrays of different games and legal actions."""
        play_games(self.state, games, actions, self.scoring)
        self.deal_fixed_decks(games)

    def deal_fixed_decks(self, games: np.ndarray) -> None:
        """Deal from the decks of `fix_deals` in games whose last action began a new hand."""
        for game in games[self.results["ended"][games]].tolist() if self.fixed_decks else ():
            decks = self.fixed_decks.get(game)
            if decks and not self.done[game]:
                self.set_deck(game, decks.pop(0))
            else:
                self.fixed_decks.pop(game, None)

    def check_games(self, games: np.ndarray) -> np.ndarray:
        """Return `games` as int64 (k,).

        Raises IndexError for an unknown game, TypeError or ValueError for anything but indices.
        """
        array = np.asarray(games)
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"games must be indices (integers), not {array.dtype} ({games!r})")
        if array.ndim != 1:
            raise ValueError(f"games must be indices of shape (k,), not {array.shape}")
        array = array.astype(np.int64, copy=False)
        outside = first_outside(array, len(self))
        if outside >= 0:
            raise IndexError(f"unknown game {games[outside]}: games run from 0 to {len(self) - 1}")
        return array

    def check_different(self, games: np.ndarray) -> np.ndarray:
        """Check like `check_games`, and that no game is listed twice. Fast for ascending games."""
        if (
            type(games) is np.ndarray
            and games.dtype is _INDEX
            and games.ndim == 1
            and len(games)
            and games.item(0) >= 0
            and games.item(-1) < len(self.state)
            and (len(games) == 1 or (games[1:] > games[:-1]).all())
        ):
            return games
        games = self.check_games(games)
        if len(np.unique(games)) < len(games):
            raise ValueError("games must differ: each takes one action at a time")
        return games


def _seat(player: int) -> int:
    """Return the seat, 0 or 1. Raises TypeError or ValueError for anything else."""
    return check_integer("player", player, 0, 1)


def _numbers(name: str, numbers: np.ndarray, count: int) -> np.ndarray:
    """Return seeds or episode numbers as uint64 (count,). Raises TypeError or ValueError for invalid ones."""
    if not isinstance(numbers, np.ndarray) or numbers.dtype != _NUMBER:
        raise TypeError(
            f"{name} must be a uint64 array, not {getattr(numbers, 'dtype', type(numbers).__name__)}"
        )
    if numbers.shape != (count,):
        raise ValueError(f"{name} must have one number for each of {count} games, not shape {numbers.shape}")
    return numbers


def check_actions(actions: object, num_games: int) -> np.ndarray:
    """Return a batch of actions as int64 (num_games,).

    Raises TypeError unless they are integers, ValueError for another shape. The legality check finds numbers
    that are out of range.
    """
    array = np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"actions must be integers from 0 to {NUM_ACTIONS - 1}, not {array.dtype} ({actions!r})"
        )
    if array.shape != (num_games,):
        raise ValueError(f"actions must have shape ({num_games},), one for each game, not {array.shape}")
    return array.astype(np.int64)
