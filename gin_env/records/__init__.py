"""Records of games: JSON Lines with one game (or single hand) on each line.

Reading a record replays it with the engine, so a record that is read is a legal game.

>>> from gin_env import play_match, records
>>> play_match("simple", "tonic", 10, record="games.jsonl")
>>> for game in records.read("games.jsonl"):
...     for position in game.positions():
...         position.view()  # what the player to move knows

docs/records.md describes the format, docs/records.schema.json is its JSON Schema.
"""

from gin_env.records.files import Recorder, read, read_one
from gin_env.records.games import GameRecord, HandRecord, Player, Position, RecordError, views_of
from gin_env.records.lines import FORMAT, VERSION, to_line
from gin_env.records.recorded_games import RecordedGames, resume

__all__ = [
    "FORMAT",
    "VERSION",
    "GameRecord",
    "HandRecord",
    "Player",
    "Position",
    "RecordError",
    "RecordedGames",
    "Recorder",
    "read",
    "read_one",
    "resume",
    "to_line",
    "views_of",
]
