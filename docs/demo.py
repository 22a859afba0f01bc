"""Build the page on which anyone can try reviews and puzzles without a server: plain files for the site.

``python docs/demo.py FOLDER`` plays `GAMES` between bots, reviews them, and copies the scripts of the table's
pages. `make docs` calls it; the result is ``try/index.html`` of the site. It needs PyTorch.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gin_env import play_match, records
from gin_env.records import GameRecord
from gin_env.ui.adviser import Adviser
from gin_env.ui.card_art import card_sheet
from gin_env.ui.opponents import name_of
from gin_env.ui.review import review_hand
from gin_env.ui.web import page
from gin_env.ui.web.server import STATIC

GAMES = (("simple", "policy", 4), ("tonic", "policy", 7), ("defensive", "simple", 2))
"""Both bots, and the seed of the deals."""
COPIED = (
    *("common.js", "icon.svg", "style.css"),
    *("puzzle.html", "puzzle.js", "puzzles.json", "replay.html", "replay.js"),
)
INDEX = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Gin Rummy: try it</title>
<link rel="icon" href="icon.svg" type="image/svg+xml"><link rel="stylesheet" href="style.css"></head>
<body class="plain-page"><main class="felt"><h1>Try it without installing</h1>
<p>Puzzles and reviewed games, as the table of <code>gin-rummy play --web</code> shows them.</p>
<ul class="list"><li><a class="button primary" href="puzzle.html">Puzzles: which card to throw?</a></li>
{games}</ul><p><a href="../docs/index.html">To the documentation</a></p></main></body></html>
"""


def build(folder: Path) -> None:
    """Write the page and everything it needs into a folder, which is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "games").mkdir(parents=True)
    for name in COPIED:
        shutil.copy(STATIC / name, folder / name)
    (folder / "cards.svg").write_text(card_sheet(), encoding="utf-8")
    adviser, links = Adviser(num_worlds=128), []
    for number, (first, second, seed) in enumerate(GAMES, 1):
        game = played(first, second, seed)
        positions = game.positions()
        hands = [
            {
                "replay": page.replay(game, positions, hand),
                "review": page.review(game, [review_hand(game, positions, hand, 0, adviser)], adviser),
            }
            for hand in range(len(game.hands))
        ]
        (folder / "games" / f"{number}.json").write_text(json.dumps({"hands": hands}), encoding="utf-8")
        names = " against ".join(player.name for player in game.players)
        text = f"{names}: {game.scores[0]} to {game.scores[1]}"
        links.append(f'<li><a class="button" href="replay.html?file=games/{number}.json">{text}</a></li>')
    (folder / "index.html").write_text(INDEX.format(games="\n".join(links)), encoding="utf-8")


def played(first: str, second: str, seed: int) -> GameRecord:
    """Return a game between two bots, under their names at the table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "games.jsonl"
        play_match(first, second, 2, seed=seed, record=path)
        game = records.read_one(path, 1)
    players = tuple(replace(player, name=name_of(player.bot or player.name)) for player in game.players)
    return replace(game, players=(players[0], players[1]))


if __name__ == "__main__":
    build(Path(sys.argv[1]) / "try")
