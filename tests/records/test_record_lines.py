"""The line format of record files: documented format, schema and errors for damaged lines."""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_games import PLAYERS, change, one_hand, random_game, two_hands_of_a_game
from reference_data import reference as reference_lines
from reference_data import sample_and_whole

from gin_env import Rules, records
from gin_env.game.actions import describe, parse
from gin_env.records import GameRecord, RecordError
from gin_env.records.lines import from_dict, from_reference_log, to_line

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "records.schema.json").read_text()))


# --- Lines ------------------------------------------------------------------------------------------------


def test_record_line_matches_the_documentation():
    game = one_hand("undercut of a knock by 0")
    line = json.loads(to_line(game))
    SCHEMA.validate(line)
    (hand,) = line["hands"]
    assert hand == {
        "dealer": 1,
        "scores": [0, 0],
        "deck": hand["deck"],
        "actions": ["pass", "pass", "draw from the stock", "knock with KD"],
        "outcome": "undercut",
        "winner": 1,
        "knocker": 0,
        "points": 35,
        "deadwood": [10, 0],
    }
    assert hand["deck"].startswith("AC TH 2C JH 3C QH ")
    assert line["random"] == {"seed": 5, "number": 7, "twin": False}
    assert line["players"] == [{"name": "ann", "bot": None}, {"name": "bob", "bot": "simple:knock_at=10"}]
    assert (line["format"], line["version"]) == ("gin-env game", 1)
    assert (line["winner"], line["scores"]) == (1, [0, 35])


def test_schema_accepts_all_kinds_of_games():
    table, _, _ = random_game(1, Rules(), stop=40)
    (logged, *_) = [from_reference_log(line) for line in reference_lines("games.jsonl", whole=False)]
    for game in (table.record(0, PLAYERS), logged):
        SCHEMA.validate(json.loads(to_line(game)))
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate(json.loads(to_line(logged)) | {"more": 1})


DECK = " ".join(f"{rank}{suit}" for suit in "CHSD" for rank in "A23456789TJQK")
DAMAGE = [
    ("version", 2, "version must be 1, the version that this release reads, not 2"),
    ("version", "1", "version must be 1, .* not '1'"),
    ("version", True, "version must be 1, .* not True"),
    ("format", "chess", "the format must be 'gin-env game'"),
    ("hands", ..., "hands is missing"),
    ("hands", [], "the game has no hands"),
    ("hands", [3], r"hands\[0\] must be an object, not 3"),
    ("more", 1, "more is not an entry of version 1"),
    ("hands.0.more", 1, r"hands\[0\]\.more is not an entry"),
    ("rules.knock_limit", 200, r"Rules\.knock_limit must be from .* not 200"),
    ("rules.stock_depth", 2, r"rules\.stock_depth is not an entry"),
    ("episode", "match", "episode must be 'hand' or 'game', not 'match'"),
    ("random.seed", -1, r"random\.seed must be an integer from 0 to 18446744073709551615, not -1"),
    ("random.twin", 0, r"random\.twin must be true or false, not 0"),
    ("players", [{"name": "ann", "bot": None}], "players must have two entries, not 1"),
    (
        "players.0.name",
        "\x1b]0;title\x07",
        r"the name of player 0 must be a printable text of at most 4,096 characters, not '\\x1b]0;title",
    ),
    ("players.1.bot", "simple\n", "the bot of player 1 must be a printable text"),
    ("players.1.bot", "simple" * 1000, "the bot of player 1 must be a printable text of at most 4,096"),
    ("source", "\u202egnp", "source must be a printable text"),
    ("release", "\x9b2J", "release must be a printable text"),
    ("\x1b[2J", 1, r"'\\x1b\[2J' is not an entry of version 1"),
    ("players.0.name", None, r"players\[0\]\.name must be a string, not None"),
    ("hands.0.dealer", 2, r"hands\[0\]\.dealer must be an integer from 0 to 1, not 2"),
    ("hands.0.scores", [0], r"hands\[0\]\.scores must be a list of two numbers"),
    ("hands.0.scores", [100, 0], r"hand 1: scores must be from 0 to 99, not \[100, 0\]"),
    ("hands.0.deck", DECK.replace("5H", "5X"), r"hands\[0\]\.deck: '5X' is not a card"),
    ("hands.0.deck", DECK.replace("5H", "6H"), r"hands\[0\]\.deck has duplicate cards: 6H"),
    ("hands.0.deck", f"{DECK} AC", r"hands\[0\]\.deck must have at most 52 cards, not 53"),
    ("hands.0.deck", DECK[:-3], r"hand 1: a deck must have 52 cards, not shape \(51,\)"),
    ("hands.0.deck", DECK, r"hand 1, action 4: player 0, knock with KD: KD is not in the hand"),
    ("hands.0.actions", "pass", r"hands\[0\]\.actions must be a list of actions as text"),
    ("hands.0.actions.0", "fold", r"hands\[0\]\.actions: 'fold' is not an action; use 'draw from the stock'"),
    ("hands.0.actions.0", "draw from the stock", "hand 1, action 1: player 0, draw from the stock: in "),
    ("hands.0.actions.3", "knock with 3C", "hand 1, action 4: player 0, knock with 3C: deadwood would be"),
    ("hands.0.actions", ["pass"] * 257, "hand 1: actions must have at most 256 entries, not 257"),
    ("hands.0.actions", [], "hand 1: outcome is 'knock', but replaying gives 'undecided'"),
    ("hands.0.outcome", "gin", "hand 1: outcome is 'gin', but replaying gives 'knock'"),
    ("hands.0.outcome", "won", r"hands\[0\]\.outcome must be 'undecided' or 'knock'"),
    ("hands.0.winner", 1, "hand 1: winner is 1, but replaying gives 0"),
    ("hands.0.points", 64, "hand 1: points is 64, but replaying gives 65"),
    ("hands.0.deadwood", [2, 66], r"hand 1: deadwood is \(2, 66\), but replaying gives \(2, 67\)"),
    ("hands.0.counted", {"winner": 2, "points": 3}, r"hands\[0\]\.counted\.winner must be an integer from 0"),
    ("finished", False, "finished is False, but the hands give True"),
    ("winner", None, "winner is None, but the hands give 0"),
    ("scores", [65, 1], r"scores is \(65, 1\), but the hands give \(65, 0\)"),
]


@pytest.mark.parametrize(("path", "value", "message"), DAMAGE)
def test_damaged_record_raises_with_file_and_line(tmp_path, path, value, message):
    file = tmp_path / "games.jsonl"
    good = to_line(one_hand())
    line = json.loads(good)
    change(line, path, value)
    file.write_text(f"{good}\n{json.dumps(line)}\n{good}\n")
    games = records.read(file)
    assert next(games) == one_hand()
    with pytest.raises(RecordError, match=f"{re.escape(str(file))}, line 2: .*{message}"):
        next(games)


def entries_of(value: object, way: str = "") -> list[str]:
    """Return the paths of all entries of a JSON value, such as ``hands.0.winner``."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, entry in inside for one in [f"{way}{key}", *entries_of(entry, f"{way}{key}.")]]


@cache
def good_line() -> str:
    return to_line(two_hands_of_a_game())


STRANGE = [
    *(None, True, -1, 0, 1, 2.5, 10**30, float("nan"), "", "KD", "é"),
    *([], [0, 0], [1, [2]], {}, {"winner": 0}),
]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), value=st.sampled_from(STRANGE))
def test_any_changed_entry_is_valid_or_raises(data, value):
    line = json.loads(good_line())
    way = data.draw(st.sampled_from(entries_of(line)))
    change(line, way, value)
    try:
        game = from_dict(line)
    except RecordError:
        return
    assert from_dict(json.loads(to_line(game))) == game
    SCHEMA.validate(json.loads(to_line(game)))


CUT = "the line without its end"


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (CUT, "line 2: the line is truncated because its writer was stopped"),
        ("{]\n", r"line 2: not valid JSON"),
        ("\n", r"line 2: not valid JSON"),
        ("[" * 100_000 + "\n", r"line 2: not valid JSON"),
        ("\xff\n", r"line 2: not valid JSON"),
        ("[1, 2]\n", "line 2: not a record of a game"),
    ],
    ids=["cut", "brackets", "empty", "deep", "not utf-8", "list"],
)
def test_invalid_lines_raise(tmp_path, last, message):
    file, good = tmp_path / "games.jsonl", to_line(one_hand())
    file.write_bytes(f"{good}\n{good[:-20] if last == CUT else last}".encode("latin-1"))
    with pytest.raises(RecordError, match=message):
        list(records.read(file))


def test_hands_must_continue_the_previous_hand():
    game = two_hands_of_a_game()
    first, second = game.hands
    game.check()
    assert (second.dealer, second.scores, second.actions) == (1 - first.dealer, (65, 0), (parse("pass"),))

    def changed(number: int, **values: object) -> GameRecord:
        hands = list(game.hands)
        hands[number] = dataclasses.replace(hands[number], **values)
        return dataclasses.replace(game, hands=tuple(hands))

    for wrong, message in (
        (changed(1, dealer=first.dealer), "hand 2: the dealer must be player"),
        (changed(1, scores=(65, 1)), r"hand 2: scores are \[65, 1\], but the previous hand left \[65, 0\]"),
        (changed(0, scores=(1, 0)), r"hand 1: scores must start at 0, not \[1, 0\]"),
        (changed(0, counted=(0, 100)), "hand 1: ends the game, but another hand follows"),
        (dataclasses.replace(game, rules=Rules(max_hands=1)), "hand 1: ends the game, but another hand"),
        (
            dataclasses.replace(game, hands=(first, second, second)),
            "hand 2: is not over, but another hand follows",
        ),
        (dataclasses.replace(game, episode="hand"), "episode 'hand' must have one hand, not 2"),
    ):
        with pytest.raises(RecordError, match=message):
            wrong.check()


def test_points_of_another_engine_carry_over():
    game = two_hands_of_a_game()
    first, second = game.hands
    counted = (dataclasses.replace(first, counted=(1, 30)), dataclasses.replace(second, scores=(0, 30)))
    foreign = dataclasses.replace(game, hands=counted, source="a kitchen table")
    assert from_dict(json.loads(to_line(foreign))) == foreign
    assert foreign.scores == (0, 30)
    with pytest.raises(ValueError, match="scored by another engine"):
        records.resume(foreign)
    with pytest.raises(ValueError, match="the game is over"):
        records.resume(one_hand())


# --- Logs of the reference engine -------------------------------------------------------------------------


@sample_and_whole
@pytest.mark.parametrize("name", ["games.jsonl", "games_gin_only.jsonl"])
def test_reference_logs_are_read_as_records(name, whole):
    lines = reference_lines(name, whole)
    if whole:
        lines = lines[::10]
    other = 0
    for line in lines:
        game = from_reference_log(line)
        assert from_dict(json.loads(to_line(game))) == game
        assert game.source == "tneller/gin-rummy-eaai"
        assert game.winner == line["winner"]
        assert list(game.scores) == line["final"]
        for hand, logged in zip(game.hands, line["hands"], strict=True):
            assert list(hand.scores_after) == logged["scores"]
            draws = sum(describe(action).startswith("draw") for action in hand.actions)
            assert draws == sum(event["t"] == "draw" for event in logged["events"])
            other += hand.counted is not None
    assert other <= 1 + 0.05 * sum(len(line["hands"]) for line in lines)


NOT_A_LOG = "not a game of the reference engine's log .*"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("hands", 3, NOT_A_LOG),
        ("winner", 0, "the winner is 0, but the hands give 1"),
        ("hands.0.scores", [1, 1], "hand 1: the scores do not add up"),
        ("game", -1, f"{NOT_A_LOG}game must be from 0 to 18446744073709551615, not -1"),
        ("hands.0.starter", float("inf"), f"{NOT_A_LOG}starter must be an integer, not inf"),
        ("hands.0.winner", 7, f"{NOT_A_LOG}winner must be from 0 to 1, not 7"),
        ("hands.0.winner", -1, f"{NOT_A_LOG}winner must be from 0 to 1, not -1"),
        ("hands.0.points", -5, f"{NOT_A_LOG}points must be from 0 to 30000, not -5"),
    ],
)
def test_damaged_log_raises(path, value, message):
    line = reference_lines("games.jsonl", whole=False)[0]
    change(line, path, value)
    with pytest.raises(RecordError, match=message):
        from_reference_log(line)


def test_missing_rules_take_their_defaults():
    game = one_hand("knock by 0")
    entries = json.loads(to_line(game))
    entries["rules"] = {"max_turns": entries["rules"]["max_turns"]}
    SCHEMA.validate(entries)
    assert from_dict(entries) == game
