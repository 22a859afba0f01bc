"""`Games` that remember their hands, so that they can be recorded."""

from __future__ import annotations

import numpy as np

from gin_env.batch import Episode, Games
from gin_env.game.rules import Rules
from gin_env.records.games import GameRecord, HandRecord, Player, as_bytes, end_of_hand


class RecordedGames(Games):
    """`Games` that remember the hands of each game since its `start`.

    Play with `play` or `gin_env.agents.turns.play_bot`. Kernels that play whole turns bypass the record.
    """

    def __init__(self, num_games: int = 1, rules: Rules | None = None, episode: Episode = "hand") -> None:
        super().__init__(num_games, rules, episode)
        self._hands: list[list[HandRecord]] = [[] for _ in range(len(self))]
        self._origins = [(0, 0, False)] * len(self)

    def begin(
        self, games: np.ndarray, seeds: np.ndarray, episodes: np.ndarray, twins: np.ndarray | None = None
    ) -> None:
        super().begin(games, seeds, episodes, twins)
        for k, game in enumerate(games.tolist()):
            self._hands[game] = []
            self._origins[game] = (int(seeds[k]), int(episodes[k]), twins is not None and bool(twins[k]))

    def play_legal(self, games: np.ndarray, actions: np.ndarray) -> None:
        before = as_bytes(self.state)[games]
        super().play_legal(games, actions)
        ended = np.flatnonzero(self.results["ended"][games])
        if not len(ended):
            return
        # In a game the next hand is dealt already, so the last action is replayed in a batch of its own.
        last = Games(len(ended), self.rules)
        as_bytes(last.state)[:] = before[ended]
        scores = last.state["public"]["scores"].copy()
        last.play(last.everyone, actions[ended])
        for game, state, before_hand in zip(games[ended].tolist(), last.state, scores, strict=True):
            self._hands[game].append(_hand(state, before_hand))

    def record(self, game: int, players: tuple[Player, Player]) -> GameRecord:
        """Return the record of one game since its start, including an unfinished last hand.

        Raises ValueError for a game that has not started, or with actions that bypassed `play`.
        """
        public = self.state["public"][game]
        hands = list(self._hands[game])
        if len(hands) != public["hand_number"] + bool(self.done[game]):
            raise ValueError(
                f"game {game} has not started, or some of its actions were not recorded; "
                "play with Games.play or gin_env.agents.turns.play_bot"
            )
        if not self.done[game]:
            hands.append(_hand(self.state[game], public["scores"]))
        seed, number, twin = self._origins[game]
        return GameRecord(
            players=players,
            hands=tuple(hands),
            rules=self.rules,
            episode="game" if self.whole_game else "hand",
            seed=seed,
            number=number,
            twin=twin,
        )


def resume(game: GameRecord) -> RecordedGames:
    """Return a batch of one game, at the point where the recorded game was interrupted.

    Its next hands are those that it would have had. Raises ValueError for a finished game and for a game
    scored by another engine.
    """
    if game.finished:
        raise ValueError("the game is over, so it cannot be resumed")
    if any(hand.counted is not None for hand in game.hands):
        raise ValueError("a game scored by another engine cannot be resumed")
    games = RecordedGames(1, game.rules, game.episode)
    only = games.everyone
    seed, number = np.array([game.seed], np.uint64), np.array([game.number], np.uint64)
    games.start(only, seed, number, np.array([game.twin]))
    for hand in game.hands:
        games.set_deck(0, hand.deck, hand.dealer)
        for action in hand.actions:
            games.play(only, np.array([action]))
    return games


def _hand(state: np.void, scores: np.ndarray) -> HandRecord:
    """Return the hand of a state (`STATE`); `scores` are those before the hand."""
    public = state["public"]
    size = int(public["rules"]["ranks"]) * int(public["rules"]["suits"])
    before: list[int] = scores.tolist()
    return HandRecord(
        dealer=int(public["dealer"]),
        scores=(before[0], before[1]),
        deck=tuple(state["hidden"]["deck"][:size].tolist()),
        actions=tuple(public["history"][: public["history_length"]].tolist()),
        **end_of_hand(public),
    )
