"""Language models as bots, with scripted players on a local server."""

from __future__ import annotations

import json
import re
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from example_scripts import EXAMPLES, load_example
from hands_in_words import started
from typer.testing import CliRunner

from gin_env import agents, play_match, records
from gin_env.cli import app
from gin_env.game.actions import DRAW_UPCARD, PASS
from gin_env.game.rules import Rules
from gin_env.game.words import rules_in_words
from gin_env.matches import rolled_luck

chat = pytest.importorskip("gin_env.agents.chat")


@pytest.fixture(scope="module")
def url():
    """Return the address of a server with scripted players."""
    server = load_example("language_models/scripted_server").serve()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def few_rollouts(monkeypatch):
    monkeypatch.setattr(rolled_luck, "ROLLOUTS", 1)


def run(*arguments):
    result = CliRunner().invoke(app, ["match", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("player", "illegal", "replaced"), [("last", 0, False), ("talker", 0, False), ("silent", 2, True)]
)
def test_illegal_answers_are_counted_and_replaced(url, player, illegal, replaced):
    bot = chat.ChatBot(player, url, attempts=2)
    play_match(bot, "simple", games=2, episode="hand", seed=1)
    usage = bot.usage
    assert usage.decisions > 5
    assert usage.illegal_answers == illegal * usage.decisions
    assert usage.replaced_actions == (usage.decisions if replaced else 0)
    assert usage.answers == usage.decisions + usage.illegal_answers - usage.replaced_actions
    assert usage.input_tokens > 100 * usage.answers
    assert usage.answers < usage.output_tokens < 20 * usage.answers


@pytest.mark.long
def test_result_does_not_depend_on_parallel_requests(url):
    one, many = (
        play_match(chat.ChatBot("silent", url, parallel=parallel), "simple", 4, 3, episode="hand")
        for parallel in (1, 8)
    )
    assert one == many


def test_match_command_counts_answers_and_records_games(url, tmp_path):
    games, answers = tmp_path / "games.jsonl", tmp_path / "answers.jsonl"
    players = f"chat:last@{url}", f"chat:hasty@{url},answers={answers}"
    output = run(*players, "--games", 4, "--hands", "--seed", 1, "--record", games)
    first, second = (re.search(rf"{re.escape(each)}: (.*)", output)[1] for each in players)
    assert " 0 illegal answers" in first
    assert " 0 illegal answers" not in second
    assert len(list(records.read(games))) == 4
    decisions, illegal = (int(count) for count in re.findall(r"(\d+) (?:decisions|illegal)", second))
    assert len(answers.read_text().splitlines()) == decisions + illegal


@pytest.mark.compiled
def test_repeated_match_asks_no_question_twice(url, tmp_path, monkeypatch):
    answers = tmp_path / "answers.jsonl"
    command = [f"chat:hasty@{url},answers={answers}", "simple", "--games", 2, "--hands", "--seed", 1]
    expected, lines = run(*command), answers.read_text().splitlines()
    answers.write_text("\n".join(lines[:5]) + "\n" + lines[5][:20])
    assert run(*command) == expected
    assert sorted(answers.read_text().splitlines()) == sorted(lines)
    monkeypatch.setattr(chat.ChatBot, "_request", None)  # nothing is left to ask
    assert run(*command) == expected


@pytest.mark.compiled
def test_models_share_a_file_but_no_answers(url, tmp_path):
    for model in ("last", "silent"):  # "silent" never answers with an action
        bot = chat.ChatBot(model, url, attempts=1, answers=tmp_path / "answers.jsonl")
        play_match(bot, "simple", games=2, episode="hand", seed=1)
        assert bot.usage.replaced_actions == (bot.usage.decisions if model == "silent" else 0)


def test_answers_belong_to_server_and_random_number(tmp_path, monkeypatch):
    reply = {"answer": "?", "input_tokens": None, "output_tokens": None}
    monkeypatch.setattr(chat.ChatBot, "_request", lambda *_: reply)
    view = started(1).views(np.zeros(3, np.int64))
    view.array["random"] = [0, 1, 3]
    for host in "ab":
        bot = chat.ChatBot("m", f"http://{host}/v1", attempts=1, parallel=1, answers=tmp_path / "file")
        for _ in range(2):  # the second time by the file
            assert bot.act(view).tolist() == [DRAW_UPCARD, PASS, PASS]
        assert bot.usage.answers == bot.usage.unmetered_answers == 6
    players = [json.loads(line)["player"] for line in (tmp_path / "file").read_text().splitlines()]
    assert players == ["chat:m@http://a/v1"] * 3 + ["chat:m@http://b/v1"] * 3


def test_model_reads_rules_view_and_the_reason_against_its_answer(monkeypatch):
    sent, running, both = [], [], threading.Barrier(2, timeout=20)

    def create(model, messages):
        running.append(model)
        assert len(running) < 3, "two at a time"
        both.wait()
        running.pop()
        sent.append([(each["role"], each["content"]) for each in messages])
        texts = "draw the \ud800" if len(messages) == 2 else "pass", "the second choice"
        choices = [SimpleNamespace(message=SimpleNamespace(content=text)) for text in texts]
        return SimpleNamespace(choices=choices, usage=SimpleNamespace(prompt_tokens=9, completion_tokens=2))

    bot, rules = chat.ChatBot("m", "http://a/v1", parallel=2), Rules(knock_limit=7)
    monkeypatch.setattr(bot._client.chat.completions, "create", create)
    view = started(4, rules).views(np.arange(4))
    assert bot.act(view).tolist() == [PASS] * 4
    said = "4 decisions, 4 illegal answers, 0 actions played at random, 72 tokens read and 16 written"
    assert (str(bot.usage), sorted(map(len, sent))) == (said, [2] * 4 + [4] * 4)
    system, (role, question), answer, (_, again) = max(sent, key=len)
    assert system == ("system", f"{rules_in_words(rules)}\n\n{chat.ASK}")
    assert (role, answer) == ("user", ("assistant", "draw the ?"))
    assert question in map(str, view)
    assert (again[:14], again[-len(question) - 2 :]) == ("Not possible: ", f"\n\n{question}")


def test_chat_names_are_bots_that_need_permission(url, monkeypatch):
    name = f"chat:last@{url}"
    assert agents.starts_program(name)
    assert agents.starts_program(f"search:opponent={name}")
    with pytest.raises(ValueError, match="asks a server: if you trust its code, pass programs=True"):
        agents.make(name)
    assert agents.make(f"{name},attempts=5", programs=True).attempts == 5
    made = agents.make(f"{name},timeout=9", programs=True, attempts=4)
    assert (made.attempts, made._client.timeout) == (4, 9)
    assert made.name == f"{name},timeout=9,attempts=4"
    with pytest.raises(ValueError, match="'attempts' is given twice"):
        agents.make(f"{name},attempts=5", programs=True, attempts=4)
    assert agents.make("chat:gpt-5", programs=True).url == chat.OPENAI
    for text in ("chat:", "chat:@http://host/v1", "chat:qwen3@http://me:secret@host/v1"):
        with pytest.raises(ValueError, match="a language model must be chat:MODEL@URL without a password"):
            agents.make(text, programs=True)
    monkeypatch.setenv(chat.KEYS, "no key")
    with pytest.raises(ValueError, match="GIN_ENV_CHAT_KEYS must be HOST=KEY"):
        agents.make(name, programs=True)


ANSWER = json.dumps({"key": "k", "player": "p", "answer": "pass", "input_tokens": 1, "output_tokens": 1})


def test_answer_file_is_only_written_to_complete_it(tmp_path):
    path, before = tmp_path / "answers.jsonl", tmp_path / "before"
    chat.AnswerFile(path)
    whole = path.read_text() + f"{ANSWER}\n"
    path.write_text(whole)
    before.hardlink_to(path)
    assert len(chat.AnswerFile(path).by_key) == 1
    assert path.samefile(before), "a complete file is not written again"
    path.write_text(whole + ANSWER[:20])
    assert len(chat.AnswerFile(path).by_key) == 1
    assert path.read_text() == whole
    assert before.read_text() == whole + ANSWER[:20], "the file is replaced, not written in place"


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"key": "k"}', ANSWER.replace("key", "more")])
def test_damaged_answer_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{ANSWER}\n{line}\n")
    with pytest.raises(ValueError, match=r"answers\.jsonl, line 2: not an answer"):
        chat.AnswerFile(path)


def test_unknown_model_and_dead_server_are_connection_errors(url):
    with pytest.raises(ConnectionError, match="no player 'unknown'"):
        play_match(chat.ChatBot("unknown", url), "simple", 2, 1, episode="hand")


@pytest.mark.long
def test_counts_of_the_examples_are_current(url, monkeypatch):
    monkeypatch.undo()  # the page shows the match with all rollouts
    page = EXAMPLES / "language_models" / "README.md"
    shown = page.read_text().split("<!-- match -->\n")[1].split("<!-- end -->")[0]
    output = run(f"chat:hasty@{url}", "simple", "--games", 10, "--hands", "--seed", 1)
    assert f"```text\n{output.strip()}\n```".split() == shown.replace("http://localhost:8000/v1", url).split()


@pytest.mark.parametrize("reply", ["<html></html>", SimpleNamespace(choices=None, usage=None)])
def test_answer_that_is_not_a_chat_is_a_connection_error(url, monkeypatch, reply):
    bot = chat.ChatBot("last", url)
    monkeypatch.setattr(bot._client.chat.completions, "create", lambda **_: reply)
    with pytest.raises(ConnectionError, match="does not answer like a chat server"):
        play_match(bot, "simple", 2, 1, episode="hand")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://api.openai.com/v1", "secret"),
        ("http://api.openai.com/v1", "none"),
        ("https://api.openai.com.example.org/v1", "none"),
        ("http://localhost:8000/v1", "none"),
    ],
)
def test_key_of_openai_is_sent_to_no_other_server(monkeypatch, url, key):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("OPENAI_ORG_ID", "secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "secret")
    client = chat.ChatBot("model", url)._client
    assert client.api_key == key
    sent = [value for value in client.default_headers.values() if value == "secret"]
    assert len(sent) == (2 if key == "secret" else 0), "the organisation and the project"
    monkeypatch.setenv(chat.KEYS, "other.org=wrong, localhost:8000=own,api.openai.com=mine")
    own = {"localhost:8000": "own", "api.openai.com": "mine"}.get(url.split("/")[2], key)
    assert chat.ChatBot("model", url)._client.api_key == own
