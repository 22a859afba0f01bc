"""Advice on a move: what each move is worth when a strong bot plays on from it.

The moves are tried in the same sampled worlds, full deals that the player must consider possible. A bot plays
both sides to the end of the hand, each side seeing only its own cards. This is the bot ``search`` without its
networks of values, so it works with any bot. `lines_of` and `why` put the advice into words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from gin_env import agents
from gin_env.agents.base import HasActionChances
from gin_env.agents.search.belief import Belief, after, chances_of_play, mean_and_error, points_of_hand
from gin_env.agents.turns import check_bot_actions, play_turns
from gin_env.batch import Games
from gin_env.estimators import make as make_estimator
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, cards_of
from gin_env.game.match_odds import chances_after
from gin_env.game.melds import deadwood
from gin_env.game.rules import MAX_TURNS, Rules
from gin_env.observations.views import PlayerView
from gin_env.support.registry import has_torch
from gin_env.ui.explanations import RankedChoice, choices
from gin_env.ui.opponents import find_opponent
from gin_env.ui.text import hand_groups
from gin_env.ui.visible_table import action_name, card_name, card_names

if TYPE_CHECKING:
    from gin_env.agents.search.rollouts import RolloutPlayers

Made = TypeVar("Made")
Answered = TypeVar("Answered")

STRONGEST, STRONGEST_WITHOUT_TORCH = "policy", "marjj"
NUM_WORLDS = 256
CLOSER = 4
"""A move to judge and the best one are compared in this many times the worlds, unless they differ by `SURE`
standard errors."""
SURE = 4.0
TRIED = 4
"""Moves that are tried in a position, in addition to knocks and a move to judge."""
CERTAINTY = 2.0
"""Standard errors by which a move must be worse than another to be called worse."""
SHOWN = 3
"""Moves that a hint compares."""
LOW_DANGER, HIGH_DANGER = 0.15, 0.6


class Move(NamedTuple):
    """A move and what it is worth."""

    action: int
    win: float
    """Probability of winning the game after it."""
    points: float
    """Mean points of the hand after it; negative if the opponent is expected to score."""
    error: float
    """Standard error of the difference to the best move in `win`."""
    numbers: RankedChoice
    """Deadwood, cards that help, and danger."""


class Advice(NamedTuple):
    """The moves of a position that are worth comparing."""

    moves: list[Move]
    """The best move first, then the others by `win`."""
    deadwood: float
    """Mean deadwood of the opponent in the sampled worlds."""

    @property
    def best(self) -> Move:
        """The move to play."""
        return self.moves[0]

    def find(self, action: int) -> Move | None:
        """Return the move with this action; None if it was not tried."""
        return next((move for move in self.moves if move.action == action), None)

    def cost(self, move: Move) -> float:
        """Return the chance of winning that a move gives away: 0 unless it is surely worse than the best."""
        lost = self.best.win - move.win
        return lost if lost > CERTAINTY * move.error and lost > 0 else 0.0


class Adviser:
    """Compares moves by rollouts.

    Parameters
    ----------
    bot : name of the bot that proposes moves and plays on; default: the strongest that can be loaded.
    num_worlds : number of worlds in which each move is tried.

    Raises as `gin_env.agents.make` does.
    """

    def __init__(self, bot: str | None = None, num_worlds: int = NUM_WORLDS) -> None:
        torch = has_torch()
        self.bot = agents.make(bot or (STRONGEST if torch else STRONGEST_WITHOUT_TORCH), programs=True)
        self.name = self.bot.name
        known = find_opponent(self.name)
        self.label = self.name if known is None else f"{known.name} ({self.name})"
        self.num_worlds = num_worlds
        self._belief = Belief("suit-equivariant:weights=policy" if torch else "bayes")
        self._danger = make_estimator("bayes")
        self._network: RolloutPlayers | None = None
        """Compiled rollouts by the bot's network, if it has one."""
        if torch:
            from gin_env.agents.search.rollouts import RolloutPlayers, network_of

            network = network_of(self.bot)
            self._network = None if network is None else RolloutPlayers(network, None)
        self._chances: dict[Rules, np.ndarray] = {}

    def advise(self, view: PlayerView, played: int | None = None) -> Advice:
        """Return the comparison of the best moves, of each knock, and of the move `played`.

        Raises ValueError unless `view` is a single view of a player to move, or if `played` is illegal.
        """
        numbers = {choice.action: choice for choice in choices(view, self._danger)}
        if played is not None and played not in numbers:
            raise ValueError(f"action {played} is not legal here")
        tried = self._moves_to_try(view, numbers, played)
        # It depends only on the course of the hand, so that a replay is judged alike.
        random = np.random.default_rng([int(view.hands[0]), *(event.action for event in view.history())])
        worlds = self._belief.worlds(view, self.num_worlds, random)
        moves = self._compare(view, worlds, tried, numbers)
        other = next((move for move in moves[1:] if move.action == played), None)
        if other is not None and moves[0].win - other.win < SURE * other.error:  # look closer at what counts
            more = self._belief.worlds(view, CLOSER * self.num_worlds, random)
            pair = self._compare(view, more, [moves[0].action, other.action], numbers)
            moves = pair + [move for move in moves if move.action not in (pair[0].action, pair[1].action)]
            moves[1:] = sorted(moves[1:], key=lambda move: -move.win)
        hands = worlds["private"]["hand"][:, 1 - int(view.array["player"][0])]
        return Advice(moves, float(np.mean([deadwood(int(hand)) for hand in hands])))

    def _compare(
        self, view: PlayerView, worlds: np.ndarray, tried: list[int], numbers: dict[int, RankedChoice]
    ) -> list[Move]:
        """Return the moves, the best first; the first of `tried` is the best unless another surely is."""
        player, scores = int(view.array["player"][0]), view.array["public"]["scores"][0]
        games = after(np.tile(worlds, len(tried)), np.repeat(tried, len(worlds)))
        self._finish(games, player)
        points = (points_of_hand(games) * (1 - 2 * player)).reshape(len(tried), len(worlds))
        win = self._chance(view.rules, int(scores[player]), int(scores[1 - player]), points)
        ahead, error = mean_and_error(win - win[0])
        best = int((ahead - error).argmax())
        _, error = mean_and_error(win - win[best])
        columns = (win.mean(axis=1).tolist(), points.mean(axis=1).tolist(), error.tolist())
        moves = [Move(*row, numbers[row[0]]) for row in zip(tried, *columns, strict=True)]
        return sorted(moves, key=lambda move: (move.action != tried[best], -move.win))

    def chance_to_win(self, rules: Rules, own: int, other: int) -> float:
        """Return the probability of winning the game between two hands, from these scores."""
        return float(self._chance(rules, own, other, np.zeros(1, np.int64))[0])

    def _moves_to_try(
        self, view: PlayerView, numbers: dict[int, RankedChoice], played: int | None
    ) -> list[int]:
        """Return the bot's move first, then the most promising others."""
        chosen = int(check_bot_actions(self.bot, self.bot.act(view), 1)[0])
        likely = self.bot.action_chances(view)[0] if isinstance(self.bot, HasActionChances) else None

        def rank(action: int) -> tuple[float, float]:
            leaves = numbers[action].deadwood or 0
            return (0.0 if likely is None else -float(likely[action]), leaves + (numbers[action].risk or 0))

        best_first = sorted(numbers, key=lambda action: (action != chosen, *rank(action), action))
        knocks = [action for action in best_first if action >= KNOCK and is_discard(action)][:1]
        wanted = [*best_first[:TRIED], *knocks, *([] if played is None else [played])]
        return list(dict.fromkeys(wanted))

    def _finish(self, games: Games, player: int) -> None:
        """Play every hand to its end."""
        if self._network is not None:
            self._network.roll_out(games, player, MAX_TURNS)
            return
        while len(running := games.everyone[~games.done]):
            play_turns(games, self.bot, running, both_seats=True)

    def _chance(self, rules: Rules, own: int, other: int, points: np.ndarray) -> np.ndarray:
        """Return the probability of winning after a hand that pays these points, in the shape of `points`."""
        if rules not in self._chances:
            self._chances[rules] = chances_of_play(rules, lambda games: self._finish(games, 0))
        return chances_after(self._chances[rules], own, other, points)


class Shared(Generic[Made]):
    """An adviser or estimator that is made when it is first asked, and answers one question at a time."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make, self._lock = make, threading.Lock()
        self.made: Made | None = None

    def ask(self, question: Callable[[Made], Answered]) -> Answered:
        """Return the answer. After an error it is made again, since a program may have ended."""
        with self._lock:
            made = self._make() if self.made is None else self.made
            self.made = None
            answer = question(made)
            self.made = made
            return answer


def estimator_of_hand(name: str) -> Estimator:
    """Return the estimator of this name. Raises ValueError for an estimator that needs both hands."""
    estimator = make_estimator(name)
    if isinstance(estimator, NeedsHands):
        raise ValueError(f"estimator {name!r} sees the opponent's hand: choose one that estimates it")
    return estimator


# --- In words ------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A move as a line of a table; texts are empty where a number does not apply."""

    action: int
    move: str
    win: str
    points: str
    deadwood: str
    helps: str
    danger: str


HEADER = ("action", "move", "you win", "points", "deadwood", "cards that help", "danger")


def lines_of(advice: Advice, view: PlayerView, letters: bool = False, keep: int | None = None) -> list[Line]:
    """Return the best moves as lines of a table, and the move `keep` if it was tried."""
    shown = advice.moves[:SHOWN]
    kept = None if keep is None else advice.find(keep)
    if kept is not None and kept not in shown:
        shown = [*shown[: SHOWN - 1], kept]
    return [_line(move, view, letters) for move in shown]


def _line(move: Move, view: PlayerView, letters: bool) -> Line:
    numbers = move.numbers
    upcard, hand = int(view.array["public"]["upcard"][0]), int(view.hands[0])
    danger = ""
    if numbers.risk is not None and move.action < KNOCK:
        danger = "low" if numbers.risk < LOW_DANGER else "medium" if numbers.risk < HIGH_DANGER else "high"
    return Line(
        move.action,
        action_name(move.action, upcard, letters, hand),
        f"{100 * move.win:.0f} %",
        f"{move.points:+.1f}".replace("-", "−"),
        "" if numbers.deadwood is None else str(numbers.deadwood),
        "" if numbers.outs is None else str(numbers.outs),
        danger,
    )


def why(
    advice: Advice, view: PlayerView, opponent: str, than: int | None = None, letters: bool = False
) -> str:
    """Return in one sentence why the best move is better than `than`, by default than the next best."""
    best = advice.best
    held = f"{opponent} holds about {advice.deadwood:.0f} deadwood"
    if KNOCK <= best.action < DRAW_STOCK:
        left = best.numbers.deadwood or 0
        kept = f"You keep {left}" if left else "Every card is in a meld, nothing can be laid off"
        return f"{kept}, and {held}."
    other = next((move for move in advice.moves[1:] if than in (None, move.action)), None)
    if best.action in (DRAW_STOCK, DRAW_UPCARD, PASS):
        return _about_draw(advice, view, letters)
    if other is None:
        return "It is the only card to consider."
    if KNOCK <= other.action < DRAW_STOCK:
        return f"Playing on is worth more than the knock: {held}."
    return _about_discard(best, other, view, opponent, letters)


def _about_draw(advice: Advice, view: PlayerView, letters: bool) -> str:
    taking = advice.find(DRAW_UPCARD)
    if taking is None:
        return "The stock is the only choice."
    hand, upcard = int(view.hands[0]), int(view.array["public"]["upcard"][0])
    name, now, left = card_name(upcard, letters), deadwood(hand), taking.numbers.deadwood or 0
    groups = [group for group in hand_groups(hand | 1 << upcard) if group.caption in ("set", "run")]
    meld = next((group.cards for group in groups if upcard in group.cards), [])
    melded = bool(meld) and left < now
    if advice.best is taking:
        if melded:
            made = f"{name} makes {card_names(meld, letters)}"
            return f"{made} and leaves {left} deadwood, {now - left} less than now."
        return f"{name} is worth little alone, but it leaves {left} deadwood, {now - left} less than now."
    if melded:
        return f"{name} would save {now - left} deadwood, but the stock is worth more here."
    saved = f"saves only {now - left} deadwood" if left < now else "saves no deadwood"
    return f"{name} makes no meld and {saved}; a new card may do more, and taking it tells what you collect."


def _about_discard(best: Move, other: Move, view: PlayerView, opponent: str, letters: bool) -> str:
    """Compare two discards by what speaks for the better one, the most important first."""
    mine, theirs = best.numbers, other.numbers
    card, instead = best.action % NUM_CARDS, other.action % NUM_CARDS
    name, other_name = card_name(card, letters), card_name(instead, letters)
    reasons = []
    if (theirs.risk or 0) - (mine.risk or 0) >= LOW_DANGER:
        near = _near(instead, int(view.array["public"]["shown"][0][1 - int(view.array["player"][0])]))
        took = f": {opponent} took {card_names(near, letters)}" if near else ""
        reasons.append(f"{other_name} would help {opponent} more{took}")
    if (more := (theirs.deadwood or 0) - (mine.deadwood or 0)) > 0:
        reasons.append(f"it leaves {more} less deadwood")
    if (more := (mine.outs or 0) - (theirs.outs or 0)) > 0:
        reasons.append(f"{more} more card{'s' * (more > 1)} would help you")
    if not reasons:
        less = (mine.deadwood or 0) - (theirs.deadwood or 0)
        if less:
            return f"{other_name} leaves {less} less deadwood, but played on, {name} wins more."
        return f"{name} and {other_name} look alike; played on, {name} wins more."
    return f"Rather {name} than {other_name}: {', and '.join(reasons[:2])}."


def _near(card: int, taken: int) -> list[int]:
    """Return the cards of a mask that could be in a meld with a card."""
    rank, suit = card % NUM_RANKS, card // NUM_RANKS
    return [
        each
        for each in cards_of(taken)
        if each % NUM_RANKS == rank or (each // NUM_RANKS == suit and abs(each % NUM_RANKS - rank) <= 2)
    ]
