"""Recorded games in plain text: positions, actions that bots would have played, and the worst mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gin_env.game.actions import describe
from gin_env.records import GameRecord, Position
from gin_env.support.plots import table
from gin_env.ui.opinions import Judgement
from gin_env.ui.text import text


def title(game: GameRecord) -> str:
    """Return the title of a game: the players and the result."""
    first, second = names(game)
    kind = "a single hand" if game.episode == "hand" else f"a game to {game.rules.target_score}"
    if not game.finished:
        end = "interrupted"
    elif game.winner is None:
        end = "nobody won"
    else:
        end = f"{names(game)[game.winner]} won"
    words = [
        f"{first} (player_0) against {second} (player_1), {kind}: {end}, {game.scores[0]} : {game.scores[1]}."
    ]
    if game.source is not None:
        words.append(f"Recorded by {game.source}.")
    return " ".join(words)


def names(game: GameRecord) -> tuple[str, str]:
    """Return the players' labels in the text, which are their names if these differ."""
    first, second = (player.name for player in game.players)
    return (first, second) if first != second else ("player_0", "player_1")


def position_text(
    game: GameRecord, position: Position, step: int, opinions: Mapping[str, Sequence[int]]
) -> str:
    """Return both hands and the table, then the action played; `opinions` are the bots' actions by step.

    `step` is the number of the decision in the game, from 1; at the end of a hand, that of the last decision.
    """
    lines = [text(position.state[0], names=names(game))]
    if position.action is not None:
        lines.append(f"  step {step}: {names(game)[position.player]} plays: {describe(position.action)}")
        others = [
            f"{name}: {_opinion(actions[step - 1], position.action)}" for name, actions in opinions.items()
        ]
        if others:
            lines.append(f"  would play: {'; '.join(others)}")
    elif position.over:
        lines += counted(game, position)
    else:
        lines.append("  the game was interrupted here")
    return "\n".join(lines)


def _opinion(action: int, played: int) -> str:
    return "the same" if action == played else describe(action)


def counted(game: GameRecord, position: Position) -> list[str]:
    """Return a line with the points recorded by another engine, if it counted differently."""
    result = game.hands[position.hand].counted
    if result is None:
        return []
    return [f"  {game.source} counted {result[1]} points for {names(game)[result[0]]}"]


def blunders_text(game: GameRecord, judgements: Sequence[Judgement], judge: str, most: int) -> str:
    """Return the moves with the largest losses and each player's total, by the values of `judge`."""
    lines = losses_by_player(game, judgements, judge)
    worst = worst_moves(judgements)[:most]
    if not worst:
        return "\n".join([*lines, f"No move lost points by the values of {judge}."])
    rows = [
        [
            str(one.step),
            str(one.hand + 1),
            names(game)[one.player],
            describe(one.played),
            describe(one.best),
            f"{one.loss:.1f}",
        ]
        for one in worst
    ]
    header = ["step", "hand", "player", "played", f"{judge} plays", "points lost"]
    return "\n".join([*lines, "", table(header, rows, left=(2, 3, 4))])


def losses_by_player(game: GameRecord, judgements: Sequence[Judgement], judge: str) -> list[str]:
    """Return a line for each player with a choice: moves that the judge rejects, and their total loss."""
    lines = []
    for player, name in enumerate(names(game)):
        losses = [one.loss for one in judgements if one.player == player]
        if losses:
            lines.append(
                f"{name}: {len(losses)} choices, {sum(loss > 0 for loss in losses)} differ from {judge}'s; "
                f"{sum(losses):.1f} points lost, {sum(losses) / len(losses):.2f} per choice"
            )
    return lines


def worst_moves(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the moves that lost points, the worst first."""
    return sorted((one for one in judgements if one.loss > 0), key=lambda one: (-one.loss, one.step))
