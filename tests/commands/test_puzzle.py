"""`gin-rummy puzzle`: the packaged positions, their answers, and questions in the terminal."""

from __future__ import annotations

import re
from datetime import date
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from gin_env import cli
from gin_env.commands import puzzle
from gin_env.commands.puzzle import answer_text, load_puzzles
from gin_env.game.actions import describe


def ask(*arguments: str, said: str = "") -> str:
    result = CliRunner().invoke(cli.app, ["puzzle", *arguments], input=said)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_each_puzzle_is_missed_by_some_bots_and_has_a_clear_answer():
    puzzles = load_puzzles()
    assert len(puzzles) >= 30
    for one in puzzles:
        assert 0 < len(one["missed"]) <= len(one["bots"])
        assert str(one["best"]) in one["answers"].keys() & one["moves"].keys()
        best, *others = one["answers"][str(one["best"])]["moves"]
        assert best["best"]
        for other in others:
            gap = [float(line["points"].replace("−", "-")) for line in (best, other)]
            assert gap[0] - gap[1] >= 1.9  # 2.0 before rounding
        assert set(one["missed"]) == {bot for bot, move in one["bots"].items() if move != best["move"]}


def test_right_answer_is_praised_and_a_wrong_one_compared():
    one = load_puzzles()[0]
    best = describe(one["best"])
    other = next(int(action) for action in one["answers"] if int(action) != one["best"])
    wrong = describe(other)
    said = ask("--number", "1", said=f"{best}\n")
    assert one["position"] in said
    assert "Right! " in said
    said = ask("--number", "1", said=f"nonsense\nKC of clubs\n{wrong}\n")
    assert said.count("Not a move here") == 2
    assert "There is a better move." in said
    (played,) = (line for line in one["answers"][str(other)]["moves"] if line["action"] == other)
    assert re.findall(r"^\* .*", said, re.MULTILINE)[0].startswith(f"* {played['move']} "), "not the best"


def test_any_legal_move_is_an_answer():
    """Moves that were not compared are only said to be worse than the best."""
    number, one = next(
        (number, one)
        for number, one in enumerate(load_puzzles(), 1)
        if one["moves"].keys() - one["answers"].keys()
    )
    unlikely = min(one["moves"].keys() - one["answers"].keys())
    said = ask("--number", str(number), said=f"{describe(int(unlikely))}\n")
    assert "There is a better move." in said
    assert one["answers"][str(one["best"])]["why"] in said


def test_each_day_has_its_puzzle(monkeypatch):
    puzzles = load_puzzles()
    for day in (date(2026, 11, 27), date(2026, 11, 28)):
        monkeypatch.setattr(puzzle, "date", Mock(today=Mock(return_value=day)))
        number = day.toordinal() % len(puzzles)
        said = ask("--answer")
        assert said.startswith(f"Puzzle {number + 1} of {len(puzzles)}:")
        assert puzzles[number]["position"] in said


def test_answer_is_shown_without_a_question():
    said = ask("--number", "2", "--answer")
    assert load_puzzles()[1]["answers"][str(load_puzzles()[1]["best"])]["why"] in said
    assert "Your move" not in said


def test_answer_names_the_move_of_each_bot():
    one = load_puzzles()[0]
    one = one | {"bots": {"a": "pass", "b": "draw the upcard", "c": "pass"}}
    assert answer_text(one, None).splitlines()[-2:] == ["pass: a, c", "draw the upcard: b"]
    assert not answer_text(one, None).startswith(("Right", "There is"))


def test_unknown_puzzle_is_refused():
    number = len(load_puzzles())
    one = load_puzzles()[-1]
    missed = f"{len(one['missed'])} of {len(one['bots'])} bots miss it."
    assert ask("--number", str(number), "--answer").startswith(f"Puzzle {number} of {number}: {missed}")
    with pytest.raises(ValueError, match=f"--number must be at most {number}"):
        ask("--number", str(number + 1))
