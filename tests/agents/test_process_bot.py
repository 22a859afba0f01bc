"""Programs as bots: limits on hostile or broken programs, and which names start one."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from played_positions import simple_views
from worker_tasks import is_running

from gin_env.agents.process import MAX_MESSAGE_BYTES, ProcessBot, ProcessBotError
from gin_env.game.actions import PASS

VIEW = next(iter(simple_views(games=1, seed=4, steps=1)))
READY = 'import json, os, signal, sys, time\nprint(\'{"type": "ready", "protocol": 1}\', flush=True)\n'
posix = pytest.mark.skipif(sys.platform == "win32", reason="process groups and signals of POSIX")


@pytest.fixture
def program(tmp_path):
    """Return the command of a program that reports that it is ready and runs this code."""

    def write(code, ready=READY):
        path = tmp_path / "program.py"
        path.write_text(ready + textwrap.dedent(code))
        return f"{sys.executable} -S {path}"

    return write


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.mark.long
@posix
@pytest.mark.parametrize("workers", [1, 2])
def test_programs_end_with_a_host_that_is_terminated(program, tmp_path, workers):
    started = tmp_path / "started"
    command = program(f"""
        open({str(started)!r}, "a").write(f"{{os.getpid()}} ")
        sys.stdin.readline()
        time.sleep(600)
    """)
    arguments = ["match", f"process:{command}", "simple", "--games", "64", "--workers", str(workers)]
    host = subprocess.Popen([sys.executable, "-c", "from gin_env.cli import main; main()", *arguments])
    assert until(lambda: started.exists() and len(started.read_text().split()) > workers, 60)
    time.sleep(2)  # all workers have started their programs, and none has waited ten seconds for an answer
    host.terminate()
    assert host.wait(30) == 130
    programs = started.read_text().split()
    assert until(lambda: not any(map(is_running, programs)))


# --- Programs -----------------------------------------------------------------------------------------


def test_program_of_another_version_is_refused(program):
    ready = 'print(\'{"type": "ready", "protocol": 3}\', flush=True)\n'
    with pytest.raises(ProcessBotError, match="it is not ready"):
        ProcessBot(program("input()", ready))


ANSWERS_UNREAD = """
    for number in range(1, 5000):
        print(json.dumps({"type": "action", "number": number, "action": "pass"}), flush=True)
    time.sleep(60)
"""
"""Answers without reading, so that the questions fill its pipe."""


def ask(bot, times):
    for _ in range(times):
        bot.act(VIEW)


def ask_until_it_fails(bot):
    with pytest.raises(ProcessBotError) as error:
        ask(bot, 2000)
    return str(error.value)


def test_program_that_does_not_read_is_stopped_in_time(program):
    bot = ProcessBot(program(ANSWERS_UNREAD), seconds=0.3)
    failures = []
    asking = threading.Thread(target=lambda: failures.append(ask_until_it_fails(bot)), daemon=True)
    asking.start()
    asking.join(30)
    assert not asking.is_alive()
    assert "no answer in 0.3 seconds" in failures[0]


@pytest.mark.long
@posix
def test_interpreter_exits_while_a_program_does_not_read(program, tmp_path):
    script = tmp_path / "host.py"
    script.write_text(
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background shells ignore it
        f"sys.path[:] = {sys.path!r}\n"
        "from played_positions import simple_views\n"
        "from gin_env.agents.process import ProcessBot\n"
        "bot = ProcessBot(sys.argv[1], seconds=600)\n"
        "view = next(iter(simple_views(games=1, seed=4, steps=1)))\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    bot.act(view)\n"
    )
    host = subprocess.Popen(
        [sys.executable, str(script), program(ANSWERS_UNREAD)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert host.stdout.readline() == b"ready\n"
        time.sleep(1)  # by now it waits for its pipe
        host.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in host.communicate(timeout=30)[1]
    finally:
        host.kill()
        host.communicate()


def test_program_that_floods_its_output_waits_for_its_host(program, tmp_path):
    written = tmp_path / "written"
    bot = ProcessBot(
        program(
            f"""
            sys.stdin.readline()
            for number in range(1000):
                sys.stdout.write("x" * 100_000 + "\\n")
                open({str(written)!r}, "a").write("x")
            """
        )
    )
    until(written.exists, 0.5)
    time.sleep(0.5)
    assert not written.exists() or written.stat().st_size < 20
    bot.close()


@posix
def test_program_that_ignores_sigterm_is_killed(program):
    bot = ProcessBot(program("signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)"))
    closing = threading.Thread(target=bot.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()
    assert not is_running(bot._process.pid)


FORKER = """
    child = os.fork()
    if child:
        open({path!r}, "w").write(str(child))
        {parent}
    time.sleep(600)
"""


@posix
@pytest.mark.parametrize(
    ("parent", "message"),
    [("sys.stdin.readline(); os._exit(5)", "it has ended, with status 5"), ("", "no answer in 1 seconds")],
)
def test_processes_that_a_program_starts_end_with_it(program, tmp_path, parent, message):
    path = tmp_path / "child"
    threads = threading.active_count()
    bot = ProcessBot(program(FORKER.format(path=str(path), parent=parent)), seconds=1 if not parent else 30)
    began = time.monotonic()
    with pytest.raises(ProcessBotError, match=message):
        ask(bot, 2)
    assert time.monotonic() - began < 20
    assert until(lambda: not is_running(int(path.read_text())))
    assert until(lambda: threading.active_count() <= threads)


def test_program_inherits_a_small_environment(program, tmp_path, monkeypatch):
    path = tmp_path / "environment"
    for name, value in {"PATH_KEY": "1", "AWS_KEY": "2", "LC_TIME": "C", "MY_PATH": "3", "tmp": "."}.items():
        monkeypatch.setenv(name, value)
    code = f"open({str(path)!r}, 'w').write(json.dumps(dict(os.environ)))\ninput()"
    bot = ProcessBot(program(code))
    assert until(lambda: path.exists() and path.read_text().endswith("}"))
    bot.close()
    environment = json.loads(path.read_text())
    assert environment.keys() & {"PATH_KEY", "AWS_KEY", "MY_PATH"} == set()
    assert environment["PATH"] == os.environ["PATH"]
    assert (environment["LC_TIME"], environment["tmp"]) == ("C", ".")


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "error", "message": "\x1b]0;pwned\x07a\nb\x9b2J"},
        {"type": "action", "number": "\x1b[2Jx", "action": "pass"},
        {"type": "action", "number": 1, "action": "\x1b[2J"},
        ["\x1b]0;pwned\x07"],
    ],
)
def test_error_holds_no_control_characters_of_a_program(program, answer):
    bot = ProcessBot(program(f"input()\ninput()\nprint({json.dumps(answer)!r}, flush=True)\ninput()"))
    with pytest.raises(ProcessBotError) as error:
        bot.act(VIEW)
    assert str(error.value).isprintable()


@pytest.fixture
def messages_of(program, capsys):
    """Return what is shown of the standard error of a program that runs this code."""

    def show(code):
        bot = ProcessBot(program(code + "\nsys.stderr.flush()\nprint(flush=True)\ntime.sleep(60)"))
        with pytest.raises(ProcessBotError, match="its answer cannot be read"):
            bot.act(VIEW)
        return capsys.readouterr().err

    return show


def test_messages_of_a_program_are_shown_without_control_characters(messages_of):
    code = r"sys.stderr.buffer.write('\x1b]0;pwned\x07two\twords\r\n\x9b2J\u202eé\n'.encode() + b'\xff')"
    assert messages_of(code) == "]0;pwnedtwo\twords\n2Jé\n\N{REPLACEMENT CHARACTER}"


def test_messages_of_a_program_end_at_a_limit(messages_of):
    """The program can still write, but what it writes is dropped."""
    shown = messages_of(f"for _ in range(300): sys.stderr.write({'x' * 9999 + 'é'!r})")
    assert MAX_MESSAGE_BYTES * 0.99 < len(shown) < MAX_MESSAGE_BYTES + 300
    assert shown.count("nothing more of the standard error of process:") == 1
    assert shown.endswith(" is shown\n")


def test_program_has_its_own_time_to_start(program, monkeypatch):
    """Most need longer to import torch than for any decision."""
    assert ProcessBot(program("sys.stdin.read()"), seconds=0.001).seconds == 0.001
    monkeypatch.setattr("gin_env.agents.process.START_SECONDS", 0.3)
    with pytest.raises(ProcessBotError, match=r"no answer in 0\.3 seconds"):
        ProcessBot(program("", ready="import time\ntime.sleep(60)\n"))


def test_copy_is_a_program_of_its_own_with_the_same_time_limit(program, monkeypatch):
    bot = ProcessBot(program("sys.stdin.read()"), seconds=3)
    twin = copy.deepcopy(bot)
    assert (twin.command, twin.seconds) == (bot.command, 3)
    monkeypatch.setattr(bot, "_reply", lambda end: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bot.act(VIEW)
    assert bot._process.poll() is not None, "a late reply would be taken for the next one"


def test_program_may_end_by_itself_with_a_last_message(program, capsys, monkeypatch):
    monkeypatch.setattr("gin_env.agents.process.EXIT_SECONDS", 20.0)
    ProcessBot(program("sys.stdin.read()\nsys.stderr.write('goodbye')")).close()
    assert capsys.readouterr().err == "goodbye"


def test_program_that_writes_messages_plays_where_none_can_be_shown(program, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    bot = ProcessBot(program("sys.stderr.write('x' * 999_999)\n" + textwrap.dedent(ANSWERS_UNREAD)))
    assert bot.act(VIEW) == [PASS]


@posix
def test_threads_end_although_a_process_that_left_the_group_holds_the_output(program, tmp_path):
    number = tmp_path / "number"
    bot = ProcessBot(
        program(f"""
        if os.fork() == 0:
            os.setsid()
            open({str(number)!r}, "w").write(str(os.getpid()))
            time.sleep(60)
        sys.stdin.read()
        """)
    )
    before = threading.active_count()
    assert until(lambda: number.exists() and number.read_text())
    bot.close()
    try:
        assert is_running(int(number.read_text()))
        assert until(lambda: threading.active_count() <= before - 2)
        assert bot._process.stdout.closed
        assert bot._process.stderr.closed
    finally:
        os.kill(int(number.read_text()), signal.SIGKILL)
