"""Recorded games in plain text: the title, and each position with the action played."""

from __future__ import annotations

from gin_env.game.actions import describe
from gin_env.records import GameRecord, Position
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


def position_text(game: GameRecord, position: Position, step: int) -> str:
    """Return both hands and the table, then the action played.

    `step` is the number of the decision in the game, from 1; at the end of a hand, that of the last decision.
    """
    lines = [text(position.state[0], names=names(game))]
    if position.action is not None:
        lines.append(f"  step {step}: {names(game)[position.player]} plays: {describe(position.action)}")
    elif position.over:
        lines += counted(game, position)
    else:
        lines.append("  the game was interrupted here")
    return "\n".join(lines)


def counted(game: GameRecord, position: Position) -> list[str]:
    """Return a line with the points recorded by another engine, if it counted differently."""
    result = game.hands[position.hand].counted
    if result is None:
        return []
    return [f"  {game.source} counted {result[1]} points for {names(game)[result[0]]}"]
