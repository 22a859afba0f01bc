"""Recorded games: files, replays state by state and games resumed from a record."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hand_endings import SITUATIONS, Plain, plain_action
from hands_in_words import ONE_GAME
from hypothesis import given, settings
from hypothesis import strategies as st
from played_positions import same_records
from recorded_games import PLAYERS, one_hand, random_game, settled, two_hands_of_a_game
from rule_variants import VARIANTS

from gin_env import Rules, agents, play_match, records
from gin_env.agents.turns import chosen_actions
from gin_env.batch import Games
from gin_env.matches import matches
from gin_env.matches.match_log import MatchLog
from gin_env.matches.tournaments import play_tournament
from gin_env.records import RecordedGames, Recorder, RecordError, files
from gin_env.records.lines import from_dict, to_line
from gin_env.ui.opinions import decisions

pytestmark = pytest.mark.compiled


# --- Replaying --------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), variant=st.sampled_from(sorted(VARIANTS)), whole=st.booleans())
def test_recorded_game_is_replayed_state_by_state(seed, variant, whole):
    rules = dataclasses.replace(VARIANTS[variant], target_score=40, max_hands=6)
    table, states, actions = random_game(seed, rules, "game" if whole else "hand")
    game = from_dict(json.loads(to_line(table.record(0, PLAYERS))))
    steps = decisions(game)
    assert [step.action for step in steps] == actions
    assert same_records(
        settled(np.concatenate([step.state for step in steps])), settled(np.concatenate(states))
    )
    end = game.positions()[-1]
    assert end.over
    assert game.finished
    assert same_records(settled(end.state)["public"], settled(table.state)["public"])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), stop=st.integers(0, 120))
def test_resumed_game_continues_with_the_same_decks(seed, stop):
    rules = Rules(target_score=60, max_hands=5)
    broken, _, before = random_game(seed, rules, stop=stop)
    if broken.done[0]:
        return
    game = from_dict(json.loads(to_line(broken.record(0, PLAYERS))))
    assert not game.finished
    assert game.winner is None
    assert game.positions()[-1].action is None
    table = records.resume(game)
    assert same_records(settled(table.state), settled(broken.state))
    for one in (table, broken):
        while not one.done[0]:
            one.play(ONE_GAME, np.array([plain_action(one.masks(ONE_GAME)[0])]))
    assert table.record(0, PLAYERS) == broken.record(0, PLAYERS)
    assert len(decisions(table.record(0, PLAYERS))) > len(before)


def test_bots_break_ties_identically_in_a_replay(tmp_path):
    """`random` decides only by the random number of the view."""
    play_match("random", "simple", 2, seed=8, record=tmp_path / "games.jsonl")
    for game, _ in zip(records.read(tmp_path / "games.jsonl"), range(2), strict=True):
        steps = decisions(game)
        for name in ("random", "simple"):
            mine = [step for step in steps if game.players[step.player].name == name]
            assert len(mine) > 20
            chosen = chosen_actions(agents.make(name), records.views_of(mine))
            assert chosen.tolist() == [step.action for step in mine]


def test_only_later_hands_remember_a_hand():
    """At the end of a hand nobody has looked back on it yet."""
    first, second = (
        [
            position.state["public"]["memory"]
            for position in two_hands_of_a_game().positions()
            if position.hand == hand
        ]
        for hand in (0, 1)
    )
    assert (first[-1] == first[0]).all()
    assert (second[0] != first[0]).any()


def test_views_are_of_the_decider_or_the_given_player():
    first = one_hand().positions()[0]
    assert first.player == 0
    assert first.view().array["player"].tolist() == [0]
    other = first.view(1)
    assert other.array["player"].tolist() == [1]
    assert not other.masks().any()
    assert other.hands.tolist() == first.state["private"]["hand"][:, 1].tolist()


@pytest.mark.parametrize("name", SITUATIONS)
def test_end_of_a_hand_is_recorded(name):
    situation = SITUATIONS[name]
    game = one_hand(name)
    (hand,) = game.hands
    assert hand.deck == tuple(situation.deck)
    assert (hand.dealer, hand.outcome, hand.points) == (situation.dealer, situation.outcome, situation.points)
    expected = None if situation.winner < 0 else situation.winner
    assert game.winner == hand.winner == expected
    assert hand.knocker == (None if situation.knocker < 0 else situation.knocker)
    assert (hand.deadwood is None) == (situation.winner < 0)
    scores = [0, 0]
    if expected is not None:
        scores[expected] = situation.points
    assert game.scores == tuple(scores)
    assert game.finished
    assert from_dict(json.loads(to_line(game))) == game


def test_recorded_deadwood_is_after_laying_off():
    """THREE_RUNS discards KD and knocks with 2D: 2 points; LOOSE has 67 and no lay-offs."""
    (hand,) = one_hand("knock by 1").hands
    assert hand.knocker == 1
    assert hand.deadwood == (67, 2)


def test_whole_turn_bots_cannot_be_recorded():
    table = RecordedGames(1, episode="game")
    table.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    simple = agents.make("simple")
    while table.state["public"]["hand_number"][0] == 0:
        simple.play_turns(table, ONE_GAME, True)
    with pytest.raises(ValueError, match="some of its actions were not recorded"):
        table.record(0, PLAYERS)
    with pytest.raises(ValueError, match="has not started"):
        RecordedGames(2).record(1, PLAYERS)


# --- Files ------------------------------------------------------------------------------------------------


def test_recording_leaves_the_match_unchanged(tmp_path, monkeypatch):
    plain = play_match("simple", "tonic", 24, seed=4)
    files = []
    for size in (2048, 5, 1):
        monkeypatch.setattr(matches, "BATCH_SIZE", size)
        path = tmp_path / f"{size}.jsonl"
        recorded = play_match("simple", "tonic", 24, seed=4, record=path)
        assert recorded == plain
        assert np.array_equal(recorded.deals, plain.deals)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]
    games = list(records.read(path))
    wins = [sum(game.players[game.winner].name == bot for game in games) for bot in plain.bots]
    assert tuple(wins) == plain.wins
    assert sum(len(game.hands) for game in games) == plain.hands
    assert sorted((game.number, game.twin) for game in games) == [
        (deal, twin) for deal in range(12) for twin in (False, True)
    ]
    assert {game.players[game.twin].name for game in games} == {"simple"}


def test_self_matches_and_single_hands_are_recorded(tmp_path):
    for episode in ("hand", "game"):
        path = tmp_path / episode
        assert play_match("simple", "simple", 8, 2, episode=episode, record=path) == play_match(
            "simple", "simple", 8, 2, episode=episode
        )
        games = list(records.read(path))
        assert [game.episode for game in games] == [episode] * 8


def test_players_are_spelled_out_with_all_their_parameters(tmp_path):
    path = tmp_path / "games.jsonl"
    with Recorder(path) as recorder:
        play_tournament(["simple:knock_at=4", "late-knock", Plain()], 2, seed=1, record=recorder)
    found = {player for game in records.read(path) for player in game.players}
    assert {player.name: player.bot for player in found} == {
        "simple:knock_at=4": "simple:knock_at=4",
        "late-knock": "late-knock:useful_draws=true",
        "plain": None,
    }
    assert len(list(records.read(path))) == 6


def test_recording_again_adds_only_missing_games(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("simple", "random", 6, seed=4, record=path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for left in (
        b"",
        b"".join(lines[:2]),
        b"".join(lines[:3]) + lines[3][:700],
        lines[0][:5],
        whole,
        whole + lines[0][:9],
    ):
        path.write_bytes(left)
        play_match("simple", "random", 6, seed=4, record=path)
        assert path.read_bytes() == whole
    play_match("simple", "random", 2, seed=5, record=path)
    assert path.read_bytes().startswith(whole)
    assert len(list(records.read(path))) == 8


def test_file_with_a_huge_line_is_unchanged(tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    play_match("simple", "random", 2, seed=4, record=path)
    whole = path.read_bytes()
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 100)
    with pytest.raises(ValueError, match="has a line longer than 100 bytes"):
        Recorder(path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("after", [3, 9])
def test_resumed_tournament_has_the_same_record(tmp_path, monkeypatch, after):
    """Ctrl-C during the first or second match: its recorded games are played again on resuming."""
    monkeypatch.setattr(matches, "BATCH_SIZE", 1)
    bots, whole, broken = ["simple", "random", "random-discard"], tmp_path / "whole", tmp_path / "broken"
    with Recorder(whole) as recorder:
        result = play_tournament(bots, 6, seed=3, episode="hand", record=recorder)
    ended = []

    def stop(games: int) -> None:
        ended.extend([1] * games)
        if len(ended) >= after:
            raise KeyboardInterrupt

    log, recorder = MatchLog(tmp_path / "log"), Recorder(broken)
    with pytest.raises(KeyboardInterrupt):
        play_tournament(bots, 6, seed=3, episode="hand", progress=stop, log=log, record=recorder)
    recorder.close()
    assert whole.read_bytes().startswith(broken.read_bytes())
    assert len(list(records.read(broken))) == after
    with Recorder(broken) as recorder:
        log = MatchLog(tmp_path / "log", resume=after > 6)
        again = play_tournament(bots, 6, seed=3, episode="hand", log=log, record=recorder)
    assert again == result
    assert broken.read_bytes() == whole.read_bytes()


def test_recorder_closes_its_file_when_the_block_raises(tmp_path):
    recorder = Recorder(tmp_path / "games.jsonl")
    recorder.add(one_hand())
    with pytest.raises(KeyError), recorder:
        raise KeyError
    assert recorder._file is None


def test_partly_written_game_is_removed(tmp_path):
    path = tmp_path / "games.jsonl"

    class FullDisk:
        """A file that accepts only one hundred more bytes."""

        def __init__(self, file):
            self.file = file

        def write(self, line):
            self.file.write(line[:100])
            raise OSError(28, "No space left on device", str(path))

        def __getattr__(self, name):
            return getattr(self.file, name)

    with Recorder(path) as recorder:
        recorder.add(one_hand("knock by 0"))
        whole = path.read_bytes()
        recorder._file = FullDisk(recorder._file)
        with pytest.raises(OSError, match="No space left"):
            recorder.add(one_hand("knock by 1"))
        assert path.read_bytes() == whole


def test_complete_game_without_a_newline_is_kept(tmp_path):
    path, first, second = tmp_path / "games.jsonl", one_hand("knock by 0"), one_hand("knock by 1")
    path.write_text(to_line(first))
    with Recorder(path) as recorder:
        assert not recorder.add(first)
        assert path.read_text() == to_line(first) + "\n"
        assert recorder.add(second)
    assert list(records.read(path)) == [first, second]


@pytest.mark.parametrize("content", ["a diary\n", '{"format": "something else"}\n', "no newline", "\n"])
def test_recorder_refuses_other_files(tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match="does not hold records of games"):
        Recorder(path)
    assert path.read_text() == content
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Recorder(tmp_path / "folder" / "games.jsonl")


def test_game_is_found_by_its_number(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("simple", "random", 6, seed=4, record=path)
    games = list(records.read(path))
    assert [records.read_one(path, number) for number in range(1, 7)] == games
    with pytest.raises(ValueError, match="has only 6 games, so game 7 does not exist"):
        records.read_one(path, 7)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        records.read(tmp_path / "other.jsonl")


@pytest.mark.parametrize("read", [records.read, lambda path: records.read_one(path, 1)])
def test_only_regular_files_of_limited_size_are_read(read, tmp_path, monkeypatch):
    """A pipe would block for ever."""
    with pytest.raises(ValueError, match="is a folder, not a file"):
        read(tmp_path)
    (tmp_path / "games.jsonl").write_text(to_line(one_hand()) + "\n")
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 100)
    with pytest.raises(ValueError, match="files of at most 100 are read"):
        read(tmp_path / "games.jsonl")


def test_read_one_refuses_oversized_lines(tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    with records.Recorder(path) as recorder:
        recorder.add(one_hand())
    assert records.read_one(path, 1) == one_hand()
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 100)
    for read in (
        lambda: records.read_one(path, 1),
        lambda: records.read_one(path, 2),
        lambda: list(records.read(path)),
    ):
        with pytest.raises(RecordError, match=r"games\.jsonl, line 1: the line is longer than 100 b"):
            read()
    with records.Recorder(tmp_path / "other") as recorder, pytest.raises(RecordError, match="of a line"):
        recorder.add(one_hand())
    assert not (tmp_path / "other").exists()


def test_hands_repeated_in_a_line_are_refused_unplayed(tmp_path, monkeypatch):
    """A line of 47 MB took 28 seconds before it was refused."""
    data = json.loads(to_line(one_hand())) | {"episode": "game"}
    monkeypatch.setattr(Games, "set_deck", None)
    for num_hands, message in ((1001, "hands must have at most 1,000"), (900, "hand 2: scores are")):
        path = tmp_path / str(num_hands)
        path.write_text(json.dumps(data | {"hands": data["hands"] * num_hands}) + "\n")
        with pytest.raises(RecordError, match=message):
            list(records.read(path))
    path.write_text("[" * 47_000_000)
    monkeypatch.setattr(json, "loads", None)
    with pytest.raises(RecordError, match="line 1: the line is longer than 33,554,432 bytes"):
        list(records.read(path))


def test_recorder_refuses_names_with_control_characters(tmp_path):
    class Bot:
        name = "\x1b]0;title\x07"

        def act(self, view):
            return view.masks().argmax(axis=1)

    with pytest.raises(RecordError, match=r"a bot's name must be a printable text .* not '\\x1b\]0;title"):
        play_match(Bot(), "simple", 2, seed=1, record=tmp_path / "games.jsonl")
