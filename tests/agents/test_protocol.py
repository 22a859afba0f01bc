"""Line protocol: other programs as bots, and our bots for other programs."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from played_positions import as_games, later_hands, redealt, same_records, simple_views
from referencing import Registry, Resource

from gin_env import PlayerView, actions, agents, cards, play_match
from gin_env.agents import protocol
from gin_env.agents.process import ProcessBot, ProcessBotError
from gin_env.agents.protocol import ProtocolError, serve
from gin_env.cli import app

ROOT = Path(__file__).resolve().parents[2]
RECORDS, PROTOCOL = (
    json.loads((ROOT / "docs" / f"{name}.schema.json").read_text()) for name in ("records", "protocol")
)
SCHEMA = jsonschema.Draft202012Validator(
    PROTOCOL, registry=Registry().with_resource("records.schema.json", Resource.from_contents(RECORDS))
)
EXAMPLE = f"{sys.executable} {ROOT / 'examples' / 'protocol_bot.py'}"


POSITIONS = list(simple_views(games=8, seed=4, steps=40))


def later_views() -> PlayerView:
    """Return the views of the players to move in games of which most are in a later hand."""
    table = later_hands(24, 90)
    return table.views(table.everyone[~table.done])


def served(*messages, bot="simple"):
    """Return the answers of a bot's server to these lines (strings or messages)."""
    lines = "".join(text if isinstance(text, str) else protocol.line(text) for text in messages)
    answers = io.TextIOWrapper(io.BytesIO())
    serve(agents.resolve(bot), io.StringIO(lines), answers)
    return [json.loads(line) for line in answers.buffer.getvalue().splitlines()]  # what is flushed


# --- Words --------------------------------------------------------------------------------------------


def test_every_action_is_parsed_from_its_text():
    assert [actions.parse(actions.describe(action)) for action in range(107)] == list(range(107))


@pytest.mark.parametrize("words", ["", "discard", "discard 5h", "Pass", "knock 5H", "discard 5H ", "\n"])
def test_other_words_are_not_actions(words):
    with pytest.raises(ValueError, match="is not an action; use"):
        actions.parse(words)
    with pytest.raises(TypeError, match="a string, not 3"):
        actions.parse(3)


# --- Questions and answers ----------------------------------------------------------------------------


def test_question_contains_exactly_what_the_player_saw():
    kinds = set()
    for number, view in enumerate(POSITIONS[::5]):
        message = json.loads(protocol.line(protocol.question(view, number)))
        SCHEMA.validate(message)
        told = protocol.read_question(message)
        for name in ("masks", "observations", "memories", "history", "stock_draws"):
            np.testing.assert_array_equal(getattr(told, name)(), getattr(view, name)())
        assert told.array["random"] == view.array["random"]
        mover, public = message["player"], view.array["public"][0]
        assert message["hand"] == cards.format(int(view.hands[0])).split()
        upcard = int(public["upcard"])
        assert message["upcard"] == (None if upcard < 0 else cards.card_text(upcard))
        assert message["stock_left"] == public["stock_left"]
        legal = [actions.parse(text) for text in message["legal"]]
        assert legal == view.masks()[0].nonzero()[0].tolist()
        for event in message["events"]:
            hidden = event["player"] != mover and event["action"] == "draw from the stock"
            assert not (hidden and "card" in event)
            kinds.add((event["player"] == mover, event["action"].split()[0], "card" in event))
    assert len(kinds) >= 7


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["simple", "policy-memory", "search:samples=4"])
def test_served_bot_decides_like_the_bot_and_remembers(name):
    bot, view = agents.make(name), later_views()
    assert view.memories().any(axis=1).sum() > 12
    questions = [protocol.question(each, number) for number, each in enumerate(view)]
    answers = served(*json.loads(json.dumps(questions)), bot=name)
    chosen = [protocol.read_answer(answer, number) for number, answer in enumerate(answers)]
    assert chosen == bot.act(view).tolist()
    for message, answer, each in zip(questions, answers, view, strict=True):
        SCHEMA.validate(message)
        SCHEMA.validate(answer)
        told = protocol.read_question(message)
        assert same_records(told.array["public"]["memory"], each.array["public"]["memory"])


def test_hidden_cards_do_not_change_a_question_of_a_later_hand():
    table = later_hands(24, 90)
    for game in table.everyone[~table.done]:
        each, player = table.views(np.array([game])), int(table.to_move()[game])
        again = as_games(redealt(table.state[[game]], table.rules, player, seed=1), table.rules)
        hidden = again.views(again.everyone)
        assert protocol.question(hidden, 1) == protocol.question(each, 1)


def test_program_of_version_1_is_asked_without_memory(tmp_path):
    action = (
        "print(json.dumps({'type': 'action', 'number': message['number'], 'action': message['legal'][-1]}"
    )
    bot = ProcessBot(program(tmp_path, f"assert 'memory' not in message\n{action}), flush=True)"), seconds=30)
    view = later_views()
    assert bot.act(view[:2]).tolist() == [int(mask.nonzero()[0][-1]) for mask in view[:2].masks()]


@pytest.mark.parametrize("version", [1, 2])
def test_served_bot_reports_that_it_is_ready_with_its_name(version):
    ready = served({"type": "hello", "protocol": version}, bot="simple:knock_at=4")[0]
    assert ready == {"type": "ready", "protocol": version, "name": "simple:knock_at=4"}
    SCHEMA.validate(ready)


QUESTION = protocol.question(POSITIONS[60], 5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("\n", "not valid JSON"),
        ('{"type": "decide"', "the line does not end"),
        ("[1, 2]\n", "not a JSON object"),
        ("[" * 50_000 + "\n", "not valid JSON"),
        ("x" * 350_000 + "\n", "more than 100,000 characters"),
        ("{}" + " " * 99_997 + "\n", "type must be 'hello' or 'decide'"),
        ({"type": "hello", "protocol": 3}, "protocol must be 1 or 2, not 3"),
        ({"type": "resign"}, "type must be 'hello' or 'decide'"),
        (QUESTION | {"number": "5"}, "number must be an integer"),
        ({"type": "decide", "number": 5}, "lacks 'player'"),
        (QUESTION | {"dealt": ["1C"]}, "describes an impossible hand"),
        (QUESTION | {"events": 3}, "describes an impossible hand"),
        (QUESTION | {"events": [3]}, "describes an impossible hand"),
        (QUESTION | {"events": [*QUESTION["events"], {"player": 0, "action": "pass"}]}, "an impossible hand"),
        (QUESTION | {"rules": {"ranks": 0}}, "describes an impossible hand"),
        (QUESTION | {"rules": {"jokers": 2}}, "describes an impossible hand"),
        (QUESTION | {"scores": [0, 0, 0]}, "describes an impossible hand"),
        (QUESTION | {"memory": [{"knocks": 1}, {}], "hand_number": 0}, "an impossible hand"),
        (QUESTION | {"memory": 3}, "an impossible hand"),
        (QUESTION | {"player": 1 - QUESTION["player"]}, "lacks 'card'"),
    ],
)
def test_bad_question_gets_an_error_and_the_next_one_an_answer(line, message):
    answers = served(line, *([] if line == '{"type": "decide"' else [QUESTION, QUESTION]))
    assert answers[0]["type"] == "error"
    assert re.search(message, answers[0]["message"])
    SCHEMA.validate(answers[0])
    assert [answer["type"] for answer in answers[1:]] == (
        [] if line == '{"type": "decide"' else 2 * ["action"]
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.sampled_from(sorted(QUESTION)), JSON)
def test_any_question_is_refused_or_answered(key, value):
    answer = served(QUESTION | {key: value})[0]
    SCHEMA.validate(answer)


@given(JSON)
def test_any_answer_is_an_action_or_refused(value):
    for message in ({"type": "action", "number": 3, "action": value}, {"type": value, "number": 3}):
        with contextlib.suppress(ProtocolError):
            assert 0 <= protocol.read_answer(message, 3) < 107


# --- Programs -----------------------------------------------------------------------------------------


def program(tmp_path, body):
    """Return the command of a program that reports that it is ready and runs `body` for each question."""
    path = tmp_path / "program.py"
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    path.write_text(
        "import json, sys, time\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n"
        "    else:\n"
        f"{lines}\n"
    )
    return f"{sys.executable} {path}"


def test_example_plays_wherever_a_bot_name_is_accepted():
    name = f"process:{EXAMPLE}"
    assert play_match(name, "random", 2, seed=1, episode="hand").bots[0] == name
    assert agents.make(name, programs=True, seconds=30).seconds == 30


def answering(text):
    return f"print({text!r}, flush=True)"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(3)", "it has ended, with status 3"),
        ("time.sleep(60)", "no answer in 0.3 seconds"),
        ("import os; os.close(1); time.sleep(60)", "it has ended, with status None"),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "the line is not valid JSON"),
        (answering("pass"), "its answer cannot be read: the line is not valid JSON"),
        ("sys.stdout.write('{'); sys.stdout.flush(); sys.exit()", "the line does not end"),
        ("print('x' * 300_000, flush=True)", "more than 100,000 characters"),
        (answering('{"type": "action", "number": 1, "action": "resign"}'), "'resign' is not an action"),
        (answering('{"type": "action", "number": 2, "action": "pass"}'), "question 2 instead of 1"),
        (answering('{"type": "action", "action": "pass"}'), "question None instead of 1"),
        (answering('{"type": "ready", "number": 1, "action": "pass"}'), "an answer is"),
        (answering('{"type": "action", "number": 1, "action": "discard 5H"}'), "is illegal; legal: draw the"),
        (answering('{"type": "error", "message": "help"}'), "answered with an error: help"),
    ],
)
def test_errors_name_the_program_and_stop_it(tmp_path, body, message):
    command = program(tmp_path, body)
    bot = ProcessBot(command, seconds=0.3 if body.startswith("time.sleep") else 30)
    with pytest.raises(ProcessBotError, match=f"^process:{command}: .*{message}"):
        bot.act(POSITIONS[0])
    assert bot._process.poll() is not None
    with pytest.raises(ProcessBotError, match="has ended"):
        bot.act(POSITIONS[0])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "needs a command"),
        ("'unclosed", "cannot be read"),
        ("/no/such/program", "it does not start"),
        (f"{sys.executable} -c ''", "it has ended, with status 0"),
        (f"{sys.executable} -c 'input(); print(1)'", "not a JSON object"),
        (f"{sys.executable} -c 'input(); print({{}})'", "it is not ready"),
    ],
)
def test_program_that_does_not_become_ready_raises(command, message):
    with pytest.raises(ProcessBotError, match=message):
        agents.make(f"process:{command}", programs=True)


def test_serve_command_prints_errors_on_one_line():
    from typer.testing import CliRunner

    lines = protocol.line({"type": "hello", "protocol": 1}) + protocol.line(QUESTION)
    done = CliRunner().invoke(app, ["serve-bot", "simple"], input=lines)
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["ready", "action"]
    failed = CliRunner().invoke(app, ["match", "process:/no/such/program", "simple", "--games", "2"])
    assert isinstance(failed.exception, OSError)


@pytest.mark.long
def test_served_bot_answers_after_a_line_that_is_not_utf_8():
    hello = protocol.line({"type": "hello", "protocol": 1}).encode()
    command = [sys.executable, "-c", "from gin_env.cli import main; main()", "serve-bot", "simple"]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(command, input=hello + b"\xff\xfe\n" + hello, capture_output=True, env=environment)
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["ready", "error", "ready"]


def test_player_without_a_decision_is_not_asked():
    waiting = PlayerView.from_history(cards.parse("AC 2C 3C 4C 5C 6C 7C 8C 9C TC"), 51, player=0, dealer=0)
    with pytest.raises(ProtocolError, match="player 0 has nothing to decide"):
        protocol.read_question(protocol.question(waiting, 1))


def test_bot_that_cannot_play_the_rules_reports_it():
    asked = []

    class Particular:
        name = "particular"

        def act(self, view):
            asked.append(len(view))
            raise ValueError("only on Sundays")

    ready, error = served({"type": "hello", "protocol": 1}, QUESTION, bot=Particular())
    assert (ready["type"], error["message"]) == ("ready", "particular cannot play this: only on Sundays")
    assert asked == [1, 1], "also before it is ready, so that it compiles"


def test_example_discards_the_highest_of_useless_cards():
    decide = runpy.run_path(str(ROOT / "examples" / "protocol_bot.py"))["decide"]
    hand = ["AC", "KD", "5H"]
    assert decide({"hand": hand, "legal": [f"discard {card}" for card in hand]}) == "discard KD"
