"""`HumanGame`: turns, ends of hands and saved games, without a screen."""

from __future__ import annotations

import json
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from hand_endings import Plain, plain_action
from hands_in_words import started
from recorded_games import change
from screens import SEED, play_hands, to_move

from gin_env import agents, records
from gin_env.game.actions import IllegalActionError
from gin_env.game.rules import Rules
from gin_env.game.state import OVER
from gin_env.ui.human_game import HumanGame
from gin_env.ui.statistics import OpponentTally, Statistics
from gin_env.ui.web import page


def play_actions(acts: int, opponent: str | agents.Agent = "simple") -> HumanGame:
    """Return a game in which this number of actions has been played, or a whole hand."""
    game = HumanGame(opponent, SEED)
    while game.ended is None and len(game.actions) < acts:
        act(game)
    return game


def play_to_the_end(game: HumanGame) -> HumanGame:
    while not game.is_over:
        play_hands(game)
    return game


def act(game: HumanGame) -> None:
    if game.waits_for_bot:
        game.let_bot_act()
    else:
        game.act(plain_action(game.view.masks()[0]))


def test_human_game_matches_the_seeded_game():
    """Each hand equals that of `Games`, with alternating dealers, and its result can be shown."""
    game = HumanGame(Plain(), SEED)
    plain = started(1, seed=SEED, episode="game")
    dealers = []
    while True:
        while True:
            assert game.view.array.tobytes() == plain.views(plain.everyone, 0).array.tobytes()
            before = plain.state["private"]["hand"][0].tolist()
            act(game)
            plain.play(plain.everyone, np.array([game.actions[-1]]))
            if plain.results["ended"][0]:
                break
        ended = game.ended
        result = plain.results[0]
        public = game.view.array["public"][0]
        assert public["phase"] == OVER
        assert [public[name] for name in ("outcome", "winner", "points")] == [
            result[name] for name in ("outcome", "winner", "points")
        ]
        assert sum(bin(one ^ other).count("1") for one, other in zip(ended, before, strict=True)) == 1
        assert public["scores"].tolist() == plain.state["public"]["scores"][0].tolist()
        dealers.append((int(public["dealer"]), int(public["winner"])))
        assert not game.waits_for_person
        assert not game.waits_for_bot
        if plain.done[0]:
            break
        game.next_hand()
        assert game.ended is None
    assert game.is_over
    assert len(dealers) > 2
    for (dealer, winner), (following, _) in pairwise(dealers):
        assert following == (dealer if winner < 0 else 1 - dealer)
    with pytest.raises(ValueError, match="no next hand"):
        game.next_hand()


def test_illegal_and_out_of_turn_actions_change_nothing():
    game = HumanGame(Plain(), SEED)
    to_move(game)
    with pytest.raises(ValueError, match="not the bot's turn"):
        game.let_bot_act()
    before = list(game.actions)
    with pytest.raises(IllegalActionError, match="in the phase"):
        game.act(0)
    assert game.actions == before
    assert 0 not in game.legal()
    game.act(game.legal()[-1])
    while game.waits_for_person:
        game.act(game.legal()[0])
    assert game.legal() == []
    with pytest.raises(IllegalActionError, match="not your turn"):
        game.act(0)


@pytest.mark.parametrize("acts", [0, 1, 7, 10_000])
def test_saved_game_continues_identically(tmp_path, acts):
    game = play_actions(acts)
    game.save(tmp_path / "game.json")
    again = HumanGame.load(tmp_path / "game.json")
    assert again.view.array.tobytes() == game.view.array.tobytes()
    assert (again.ended is None) == (game.ended is None)
    for one in (game, again):
        play_hands(one)
    assert again.actions == game.actions
    assert again.ended == game.ended


def test_game_saved_after_a_deal_does_not_show_the_last_hand(tmp_path):
    game = play_hands(HumanGame("simple", SEED))
    game.next_hand()
    game.save(tmp_path / "game.json")
    assert HumanGame.load(tmp_path / "game.json").ended is None


def test_saved_file_is_a_valid_record(tmp_path):
    game = play_hands(HumanGame("simple", SEED))
    game.save(tmp_path / "game.json")
    kept = records.read_one(tmp_path / "game.json", 1)
    assert kept == game.record()
    assert not kept.finished
    assert kept.hands[-1].outcome != "undecided"
    game.next_hand()
    assert [hand.outcome for hand in game.record().hands] == [kept.hands[-1].outcome, "undecided"]


def test_game_against_an_object_resumes_by_name_or_other_bot(tmp_path):
    game = play_actions(4, agents.make("simple"))
    game.save(tmp_path / "game.json")
    assert HumanGame.load(tmp_path / "game.json").opponent == game.opponent
    assert HumanGame.load(tmp_path / "game.json", "tonic").opponent == "tonic"


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        ("format", "gin-rummy game", "line 1: not a record of a game"),
        ("version", 2, "version must be 1"),
        ("random.seed", "5", "random.seed"),
        ("players.0.name", "simple", "is not an unfinished game of a person"),
        ("episode", "hand", "is not an unfinished game of a person"),
        ("players.1.bot", "process:rm -r /", "pass it as --opponent"),
        ("players.1.bot", "nobody", "unknown bot"),
        ("hands.0.actions", ["discard AC"], "hand 1, action 1"),
    ],
)
def test_damaged_files_and_other_records_are_refused(tmp_path, place, value, complaint):
    path = tmp_path / "game.json"
    play_actions(3).save(path)
    content = json.loads(path.read_text())
    change(content, place, value)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=complaint):
        HumanGame.load(path)


def test_invalid_json_is_refused(tmp_path):
    (tmp_path / "game.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"game\.json, line 1"):
        HumanGame.load(tmp_path / "game.json")


def test_finished_game_is_recorded_and_cannot_be_resumed(tmp_path):
    game = play_to_the_end(HumanGame("simple", SEED))
    record = game.record()
    record.check()
    assert record.finished
    assert (record.players[0].name, record.players[1].bot) == ("person", "simple")
    assert [action for hand in record.hands for action in hand.actions] == game.actions
    assert list(record.scores) == game.view.array["public"]["scores"][0].tolist()
    game.save(tmp_path / "game.json")
    with pytest.raises(ValueError, match="is not an unfinished game of a person"):
        HumanGame.load(tmp_path / "game.json")


def test_results_add_up_over_games_and_windows(tmp_path, monkeypatch):
    path = tmp_path / "statistics.json"
    windows = Statistics(path), Statistics(path)
    ends = [(0, 30, None), (1, 20, 1), (None, 0, None), (0, 6, 0)]
    for window, (winner, points, game_winner) in zip(windows * 2, ends, strict=True):
        hands = [SimpleNamespace(winner=1, points=99), SimpleNamespace(winner=winner, points=points)]
        record = SimpleNamespace(hands=hands, winner=game_winner)
        window.add(SimpleNamespace(opponent="simple", record=Mock(return_value=record)))
    hands = "hands won 2, lost 1, without a winner 1; the last 4 hands: +4.0 points each"
    assert Statistics(path).table() == windows[1].table() == f"simple: games won 1, lost 1; {hands}"
    monkeypatch.setattr("gin_env.ui.statistics.MAX_KEPT", 2)
    windows[0].add(SimpleNamespace(opponent="simple", record=Mock(return_value=record)))
    assert Statistics(path).against("simple").points == [6, 6], "the oldest are dropped"
    recent = OpponentTally(points=[100] * 5 + [2] * 20)
    assert recent.text.endswith("; the last 20 hands: +2.0 points each")


@pytest.mark.parametrize("rules", [Rules(max_hands=1), Rules(max_hands=1, max_turns=2)])
def test_game_without_a_winner_is_not_announced_or_counted_as_won(tmp_path, rules):
    game = play_to_the_end(HumanGame("simple", SEED, rules))
    most, least = sorted(game.record().scores, reverse=True)
    over = page.table(game)["end"]["game_over"]
    assert over == {"text": f"Nobody wins the game, {most} to {least}.", "winner": None, "decided": ""}
    statistics = Statistics(tmp_path / "statistics.json")
    statistics.add(game)
    assert statistics.against("simple").text.startswith("games won 0, lost 0;")
