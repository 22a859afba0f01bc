"""``gin-rummy play``: options, saved games, records, the browser server and missing packages."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from screens import play_hands
from typer.testing import CliRunner

from gin_env import records
from gin_env.cli import app
from gin_env.game.rules import Rules
from gin_env.ui.human_game import HumanGame

pytest.importorskip("textual", reason='the playing screen needs Textual: pip install "gin-env[play]"')


@pytest.fixture
def screens(monkeypatch):
    """The screens made by the command; instead of being shown, each is passed to the functions in `to_do`."""
    from gin_env.ui import play_app

    made: list[play_app.PlayApp] = []

    class Unseen(play_app.PlayApp):
        to_do = staticmethod(lambda screen: None)

        def run(self):
            made.append(self)
            Unseen.to_do(self)

    monkeypatch.setattr(play_app, "PlayApp", Unseen)
    monkeypatch.setattr("gin_env.commands.play.is_terminal", lambda: True)
    return SimpleNamespace(made=made, kind=Unseen)


def run(*arguments: str):
    return CliRunner().invoke(app, ["play", *arguments], catch_exceptions=True)


def test_seed_deals_the_same_cards(screens, tmp_path):
    save = str(tmp_path / "game.json")
    for _ in range(2):
        assert run("--opponent", "simple", "--seed", "9", "--save", save).exit_code == 0
    first, second = (screen.game.view.array.tobytes() for screen in screens.made)
    assert first == second
    assert screens.made[0].game.opponent == "simple"


def test_default_opponent_is_tonic_with_a_random_seed(screens, tmp_path):
    for _ in range(2):
        assert run("--save", str(tmp_path / "game.json")).exit_code == 0
    assert {screen.game.opponent for screen in screens.made} == {"tonic"}
    assert screens.made[0].game.seed != screens.made[1].game.seed


def test_saved_game_is_resumed(screens, tmp_path):
    save = tmp_path / "my game.json"
    game = play_hands(HumanGame("simple", 9))
    game.save(save)
    done = run("--resume", "--save", str(save))
    assert done.exit_code == 0
    assert screens.made[0].game.actions == game.actions
    assert f"gin-rummy play --resume --save '{save}'" in done.output
    assert "omit --seed" in str(run("--resume", "--seed", "3", "--save", str(save)).exception)


def test_options_reach_the_screen(screens, tmp_path):
    options = "--opponent emil --rules straight --hint-bot medium --estimator uniform --letters"
    assert run(*options.split(), "--bot-delay", "0.2", "--save", str(tmp_path / "game.json")).exit_code == 0
    (screen,) = screens.made
    assert (screen.game.opponent, screen.game.rules) == ("defensive", Rules.preset("straight"))
    shown = screen.shown
    assert (shown._hint_bot, shown.estimator, shown.letters) == ("medium", "uniform", True)
    assert screen._bot_delay == 0.2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--resume"], "there is no saved game"),
        (["--opponent", "nobody"], "unknown bot"),
        (["--hint-bot", "nobody"], "unknown bot"),
        (["--estimator", "nobody"], "unknown estimator"),
        (["--estimator", "omniscient"], "sees the opponent's hand"),
        (["--seed", "-1"], "non-negative"),
    ],
)
def test_invalid_options_fail_before_the_screen_opens(screens, tmp_path, arguments, complaint):
    done = run("--save", str(tmp_path / "game.json"), *arguments)
    assert complaint in str(done.exception)
    assert screens.made == []


def test_finished_games_are_recorded(screens, tmp_path):
    def to_do(screen):
        while not screen.game.is_over:
            play_hands(screen.game)
        screen._finished(screen.game)

    screens.kind.to_do = staticmethod(to_do)
    save, record = str(tmp_path / "game.json"), tmp_path / "games.jsonl"
    for seed in ("9", "10"):
        options = ["--opponent", "simple", "--seed", seed, "--save", save, "--record", str(record)]
        done = run(*options)
        assert done.exit_code == 0
        assert "is saved" not in done.output, "a finished game cannot be resumed"
    games = list(records.read(record))
    assert [game.seed for game in games] == [9, 10]
    assert all(game.finished for game in games)
    assert [player.name for player in games[0].players] == ["person", "simple"]


def test_bot_failure_is_the_error_of_the_command(screens, tmp_path):
    screens.kind.to_do = staticmethod(lambda screen: setattr(screen, "failure", ValueError("broken bot")))
    done = run("--opponent", "simple", "--save", str(tmp_path / "game.json"))
    assert str(done.exception) == "broken bot"


@pytest.fixture
def served(monkeypatch):
    """The arguments of each call to the server: (api, host, port)."""
    server = pytest.importorskip("gin_env.ui.web.server", exc_type=ImportError)
    calls = []
    monkeypatch.setattr(server, "serve", lambda *arguments: calls.append(arguments))
    return calls


def test_browser_server_listens_on_localhost_by_default(served, tmp_path):
    save = tmp_path / "windows"
    run("--web", "--save", str(save), "--opponent", "simple:knock_at=4")
    given = ("--hint-bot", "simple", "--rules", "straight", "--bot-delay", "0.1")
    given += ("--seed", "9", "--estimator", "uniform")
    run("--web", "--save", str(save), "--host", "0.0.0.0", "--port", "8080", *given)
    (api, host, port), (other_api, *address) = served
    assert (api.opponent, api.save_folder, host, port) == ("simple:knock_at=4", save, "127.0.0.1", 8000)
    assert save.is_dir()
    assert (other_api.hint_bot, address) == ("simple", ["0.0.0.0", 8080])
    assert (other_api.rules, other_api.bot_delay) == (Rules.preset("straight"), 0.1)
    assert (api.seed, other_api.seed, other_api.estimator) == (None, 9, "uniform")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--resume"], "each browser window resumes its own game: omit --resume"),
        (["--letters"], "the page of --web has no such choice: omit --letters"),
        (["--opponent", "nobody"], "unknown bot"),
        (["--hint-bot", "nobody"], "unknown bot"),
        (["--save", __file__], "must be a folder"),
        (["--estimator", "omniscient"], "sees the opponent's hand"),
    ],
)
def test_browser_options_are_checked_before_serving(served, tmp_path, arguments, complaint):
    done = run("--web", *([] if "--save" in arguments else ["--save", str(tmp_path)]), *arguments)
    assert complaint in str(done.exception)
    assert served == []


def test_missing_terminal_is_reported(tmp_path):
    done = run("--save", str(tmp_path / "game.json"))
    assert "needs an interactive terminal" in str(done.exception)


def test_saved_game_with_another_opponent_is_refused(screens, tmp_path):
    save = tmp_path / "game.json"
    game = play_hands(HumanGame("simple", 9))
    game.save(save)
    done = run("--resume", "--save", str(save), "--opponent", "tonic")
    assert "the saved game is against simple, not tonic" in str(done.exception)
    assert screens.made == []
    assert run("--resume", "--save", str(save), "--opponent", "simple").exit_code == 0


def test_save_and_record_cannot_be_one_file(screens, tmp_path):
    games = str(tmp_path / "games.jsonl")
    done = run("--save", games, "--record", games)
    assert "is named for two outputs" in str(done.exception)
    assert not screens.made
