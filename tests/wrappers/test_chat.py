"""Language models as bots and `gin-rummy arena`, with scripted players on a local server."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest
from example_scripts import EXAMPLES, load_example
from typer.testing import CliRunner

from gin_env import play_match, records
from gin_env.cli import app

chat = pytest.importorskip("gin_env.wrappers.chat")


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


def run(*arguments):
    result = CliRunner().invoke(app, ["arena", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


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
    assert usage.cost(1, 0) == pytest.approx(usage.input_tokens / 1e6)


def test_model_is_asked_again_with_the_reason(url):
    bot = chat.ChatBot("hasty", url)
    play_match(bot, "simple", games=4, episode="hand", seed=2)
    assert 0 < bot.usage.illegal_answers < bot.usage.decisions
    assert bot.usage.replaced_actions == 0


def test_result_does_not_depend_on_parallel_requests(url):
    one, many = (
        play_match(chat.ChatBot("silent", url, parallel=parallel), "simple", 4, 3, episode="hand")
        for parallel in (1, 8)
    )
    assert one == many


def test_arena_writes_table_record_and_answers(url, tmp_path):
    table, games, answers = (tmp_path / name for name in ("table.json", "games.jsonl", "answers.jsonl"))
    command = [f"last@{url}", f"hasty@{url}", "--games", 4, "--hands", "--seed", 1, "--price-a", "1/10"]
    output = run(*command, "--json", table, "--record", games, "--answers", answers)
    first, second = json.loads(table.read_text())["players"]
    assert (first["player"], second["player"]) == ("last", "hasty")
    assert first["cost"] == pytest.approx((first["input_tokens"] + 10 * first["output_tokens"]) / 1e6)
    assert first["illegal_answers"] == 0 < second["illegal_answers"]
    assert "cost" not in second
    assert f"| last | {first['won']} |" in output
    assert len(list(records.read(games))) == 4
    lines = answers.read_text().splitlines()
    assert len(lines) == 1 + first["answers"] + second["answers"]


def test_resumed_arena_repeats_no_question(url, tmp_path):
    table, answers = tmp_path / "table.json", tmp_path / "answers.jsonl"
    command = [f"hasty@{url}", "simple", "--games", 2, "--hands", "--answers", answers, "--json", table]
    run(*command)
    complete, expected = answers.read_text(), json.loads(table.read_text())
    lines = complete.splitlines()
    answers.write_text("\n".join(lines[:5]) + "\n" + lines[5][:20])
    run(*command)  # resumes with the seed in the file
    assert json.loads(table.read_text()) == expected
    assert sorted(answers.read_text().splitlines()) == sorted(lines)
    run(*command)
    assert sorted(answers.read_text().splitlines()) == sorted(lines)


def test_answers_of_another_run_are_refused(url, tmp_path):
    answers = tmp_path / "answers.jsonl"
    run(f"last@{url}", "simple", "--games", 2, "--hands", "--answers", answers)
    with pytest.raises(ValueError, match="another run"):
        run(f"first@{url}", "simple", "--games", 2, "--hands", "--answers", answers)


@pytest.mark.parametrize(
    ("opponent", "games", "message"), [("smiple", 2, "unknown bot"), ("simple", 3, "even number")]
)
def test_refused_command_leaves_no_file_of_answers(url, tmp_path, opponent, games, message):
    answers = tmp_path / "answers.jsonl"
    with pytest.raises(ValueError, match=message):
        run(f"last@{url}", opponent, "--games", games, "--answers", answers)
    assert not answers.exists()


ANSWER = json.dumps({"key": "k", "player": "p", "answer": "pass", "input_tokens": 1, "output_tokens": 1})


def test_answer_file_is_only_written_to_complete_it(tmp_path):
    path, before = tmp_path / "answers.jsonl", tmp_path / "before"
    chat.AnswerFile(path, {})
    whole = path.read_text() + f"{ANSWER}\n"
    path.write_text(whole)
    before.hardlink_to(path)
    assert len(chat.AnswerFile(path, {})) == 1
    assert path.samefile(before), "a complete file is not written again"
    path.write_text(whole + ANSWER[:20])
    assert len(chat.AnswerFile(path, {})) == 1
    assert path.read_text() == whole
    assert before.read_text() == whole + ANSWER[:20], "the file is replaced, not written in place"


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"key": "k"}', ANSWER.replace("key", "more")])
def test_damaged_answer_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{{}}\n{ANSWER}\n{line}\n")
    with pytest.raises(ValueError, match=r"answers\.jsonl, line 3: not an answer"):
        chat.AnswerFile(path, {})


def test_unknown_model_and_dead_server_are_connection_errors(url):
    with pytest.raises(ConnectionError, match="no player 'unknown'"):
        play_match(chat.ChatBot("unknown", url), "simple", 2, 1, episode="hand")


def test_price_without_a_slash_is_refused(url):
    with pytest.raises(ValueError, match="INPUT/OUTPUT"):
        run(f"last@{url}", "simple", "--price-a", "3")


def test_arena_of_two_bots_is_a_match():
    output = run("simple", "random", "--games", 10, "--hands", "--seed", 1)
    assert str(play_match("simple", "random", 10, 1, episode="hand")) in output


def test_table_of_the_examples_is_current(url):
    page = EXAMPLES / "language_models" / "README.md"
    shown = page.read_text().split("<!-- arena -->\n")[1].split("<!-- end -->")[0].strip()
    output = run(f"hasty@{url}", "simple", *["--games", "10", "--hands", "--seed", "1", "--price-a", "1/5"])
    assert output[output.index("| player") :].strip() == shown


@pytest.mark.parametrize("reply", ["<html></html>", SimpleNamespace(choices=None, usage=None)])
def test_answer_that_is_not_a_chat_is_a_connection_error(url, monkeypatch, reply):
    bot = chat.ChatBot("last", url)
    monkeypatch.setattr(bot._client.chat.completions, "create", lambda **_: reply)
    with pytest.raises(ConnectionError, match="does not answer like a chat server"):
        play_match(bot, "simple", 2, 1, episode="hand")


def test_password_in_an_address_is_not_written():
    assert chat.without_password("https://me:secret@host/v1") == "https://host/v1"
    assert chat.without_password("qwen@http://me:secret@host:80/v1") == "qwen@http://host:80/v1"
    assert chat.without_password("qwen@http://host/v1@x") == "qwen@http://host/v1@x"


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
    assert chat.ChatBot("model", url)._client.api_key == key
    assert chat.ChatBot("model", url, key="own")._client.api_key == "own"
