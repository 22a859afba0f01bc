"""Recorded games: written and read again, replayed state by state, and refused when they are damaged."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from helpers import ONE_GAME, same_records, sample_and_whole
from helpers import reference as reference_lines
from hypothesis import given, settings
from hypothesis import strategies as st
from situations import RULES, SITUATIONS, Plain, plain_action
from test_every_bot import VARIANTS

from gin_env import Rules, agents, play_match
from gin_env.actions import describe, parse
from gin_env.play import matches, records
from gin_env.play.match_log import MatchLog
from gin_env.play.opinions import chosen_actions, decisions
from gin_env.play.records import GameRecord, Player, RecordedGames, Recorder, RecordError
from gin_env.play.records.lines import from_line, to_line
from gin_env.play.records.reference_logs import from_reference_log
from gin_env.play.tournaments import play_tournament
from gin_env.play.turns import play_bot

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "records.schema.json").read_text()))
ANN, BOB = PLAYERS = (Player("ann"), Player("bob", "simple:knock_at=10"))


def one_hand(name: str = "knock by 0") -> GameRecord:
    """A hand of `situations`, played by `Plain` in both seats."""
    situation = SITUATIONS[name]
    table = RecordedGames(1, RULES)
    table.start(ONE_GAME, np.array([5], np.uint64), np.array([7], np.uint64))
    table.set_deck(0, situation.deck, situation.dealer)
    while not table.done[0]:
        play_bot(table, Plain(), ONE_GAME)
    return table.record(0, PLAYERS)


def two_hands_of_a_game() -> GameRecord:
    """A knock by 0 in a game, then the same deal by the other dealer's turn, played on for one action."""
    table = RecordedGames(1, RULES, "game")
    table.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    first = SITUATIONS["knock by 0"]
    table.fix_deals(0, [np.array(first.deck)], first.dealer)
    while table.state["public"]["hand_number"][0] == 0:
        play_bot(table, Plain(), ONE_GAME)
    play_bot(table, Plain(), ONE_GAME)
    return table.record(0, PLAYERS)


def random_game(seed: int, rules: Rules, episode: str = "game", stop: int | None = None):
    """A game between players who act at random: (table, every state that was decided in, actions)."""
    table = RecordedGames(1, rules, episode)
    table.start(ONE_GAME, np.array([seed], np.uint64), np.array([3], np.uint64), np.array([seed % 2 == 1]))
    numbers = np.random.default_rng(seed)
    states, actions = [], []
    while not table.done[0] and len(actions) != stop:
        mask = table.masks(ONE_GAME)[0]
        knocks = np.flatnonzero(mask[52:104]) + 52
        legal = knocks if len(knocks) else np.flatnonzero(mask)
        states.append(table.state.copy())
        actions.append(int(numbers.choice(legal)))
        table.play(ONE_GAME, np.array(actions[-1:]))
    return table, states, actions


def settled(states: np.ndarray) -> np.ndarray:
    """States without what earlier hands have left in places that nobody reads."""
    states = states.copy()
    for state in states:
        public = state["public"]
        public["history"][public["history_length"] :] = 0
        for card in range(52):
            if not int(public["pile"]) >> card & 1:
                public["discard_turn"][card] = 0
        for private in state["private"]:
            private["stock_draws"][private["num_stock_draws"] :] = 0
    return states


# --- Replaying --------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), variant=st.sampled_from(sorted(VARIANTS)), whole=st.booleans())
def test_a_recorded_game_is_replayed_state_by_state(seed, variant, whole):
    rules = dataclasses.replace(VARIANTS[variant], target_score=40, max_hands=6)
    table, states, actions = random_game(seed, rules, "game" if whole else "hand")
    game = from_line(to_line(table.record(0, PLAYERS)))
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
def test_a_game_that_was_broken_off_goes_on_as_it_would_have(seed, stop):
    rules = Rules(target_score=60, max_hands=5)
    broken, _, before = random_game(seed, rules, stop=stop)
    if broken.done[0]:
        return
    game = from_line(to_line(broken.record(0, PLAYERS)))
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


def test_bots_break_ties_in_a_replay_as_they_did(tmp_path):
    """`random` decides by the view's random number alone."""
    play_match("random", "simple", 2, seed=8, record=tmp_path / "games.jsonl")
    for game in records.read(tmp_path / "games.jsonl"):
        steps = decisions(game)
        for name in ("random", "simple"):
            mine = [step for step in steps if game.players[step.player].name == name]
            assert len(mine) > 20
            chosen = chosen_actions(agents.make(name), records.views_of(mine))
            assert chosen.tolist() == [step.action for step in mine]


def test_views_are_of_who_decides_or_of_the_player_asked_for():
    first = one_hand().positions()[0]
    assert first.player == 0
    assert first.view().records["player"].tolist() == [0]
    other = first.view(1)
    assert other.records["player"].tolist() == [1]
    assert not other.masks().any()
    assert other.hands.tolist() == first.state["private"]["hand"][:, 1].tolist()


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_end_of_a_hand_is_recorded(name):
    situation = SITUATIONS[name]
    game = one_hand(name)
    (hand,) = game.hands
    assert hand.deck == tuple(situation.deck)
    assert (hand.dealer, hand.outcome, hand.points) == (
        situation.dealer,
        situation.outcome,
        situation.points,
    )
    expected = None if situation.winner < 0 else situation.winner
    assert game.winner == hand.winner == expected
    assert hand.knocker == (None if situation.knocker < 0 else situation.knocker)
    assert (hand.deadwood is None) == (situation.winner < 0)
    scores = [0, 0]
    if expected is not None:
        scores[expected] = situation.points
    assert game.scores == tuple(scores)
    assert game.finished
    assert from_line(to_line(game)) == game


def test_deadwood_is_that_after_laying_off():
    """THREE_RUNS knocks with 2D (KD goes): 2 points; LOOSE has 67 and can lay nothing off."""
    (hand,) = one_hand("knock by 1").hands
    assert hand.knocker == 1
    assert hand.deadwood == (67, 2)


def test_bots_that_play_whole_turns_are_not_recorded_in_silence():
    table = RecordedGames(1, episode="game")
    table.start(ONE_GAME, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    simple = agents.make("simple")
    while table.state["public"]["hand_number"][0] == 0:
        simple.play_turns(table, ONE_GAME, True)
    with pytest.raises(ValueError, match="some of its actions were not seen"):
        table.record(0, PLAYERS)
    with pytest.raises(ValueError, match="has not started"):
        RecordedGames(2).record(1, PLAYERS)


# --- Files ------------------------------------------------------------------------------------------------


def test_a_match_is_the_same_with_a_record_and_its_file_for_all_batch_sizes(tmp_path, monkeypatch):
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


def test_a_match_of_a_bot_with_itself_and_one_of_single_hands_are_recorded(tmp_path):
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


def test_recording_into_a_file_again_adds_what_it_lacks_and_nothing_twice(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("simple", "random", 6, seed=4, record=path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for left in (b"", b"".join(lines[:2]), b"".join(lines[:3]) + lines[3][:700], lines[0][:5], whole):
        path.write_bytes(left)
        play_match("simple", "random", 6, seed=4, record=path)
        assert path.read_bytes() == whole
    play_match("simple", "random", 2, seed=5, record=path)
    assert path.read_bytes().startswith(whole)
    assert len(list(records.read(path))) == 8


@pytest.mark.parametrize("after", [3, 9])
def test_a_tournament_that_was_stopped_and_resumed_is_recorded_as_if_it_had_not_been(
    tmp_path, monkeypatch, after
):
    """Ctrl-C in the middle of the first match, and of the second: its games are there, and played again."""
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


def test_a_game_that_cannot_be_written_whole_is_not_written(tmp_path):
    path = tmp_path / "games.jsonl"

    class FullDisk:
        """Takes a hundred bytes more."""

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


@pytest.mark.parametrize("content", ["a diary\n", '{"format": "something else"}\n', "no newline", "\n"])
def test_other_files_are_not_written_into(tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match="holds no records of games"):
        Recorder(path)
    assert path.read_text() == content
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Recorder(tmp_path / "folder" / "games.jsonl")


def test_one_game_is_found_by_its_number(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("simple", "random", 6, seed=4, record=path)
    games = list(records.read(path))
    assert [records.read_one(path, number) for number in range(1, 7)] == games
    with pytest.raises(ValueError, match="holds 6 games: there is no game 7"):
        records.read_one(path, 7)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        records.read(tmp_path / "other.jsonl")


# --- Lines ------------------------------------------------------------------------------------------------


def test_a_line_is_as_documented():
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
    assert (line["format"], line["version"], line["winner"], line["scores"]) == (
        "gin-env game",
        1,
        1,
        [0, 35],
    )


def test_the_schema_allows_whole_games_unfinished_ones_and_those_of_other_engines():
    table, _, _ = random_game(1, Rules(), stop=40)
    (logged, *_) = [from_log(line) for line in reference_lines("games.jsonl", whole=False)]
    for game in (table.record(0, PLAYERS), logged):
        SCHEMA.validate(json.loads(to_line(game)))
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate(json.loads(to_line(logged)) | {"more": 1})


def from_log(line) -> GameRecord:
    return from_reference_log(line)


def change(path: str, value: object):
    """What sets an entry of a line, such as ``hands.0.winner``, or removes it (`...`)."""

    def apply(line):
        *way, last = [int(word) if word.isdecimal() else word for word in path.split(".")]
        place = line
        for word in way:
            place = place[word]
        if value is ...:
            del place[last]
        else:
            place[last] = value

    return apply


DECK = " ".join(f"{rank}{suit}" for suit in "CHSD" for rank in "A23456789TJQK")
DAMAGE = [
    ("version", 2, "written in version 2 of the format, this release reads 1"),
    ("version", "1", "written in version '1'"),
    ("version", True, "written in version True"),
    ("format", "chess", "its format is not 'gin-env game'"),
    ("hands", ..., "hands is missing"),
    ("hands", [], "there is no hand"),
    ("hands", [3], r"hands\[0\] is an object with named entries, not 3"),
    ("more", 1, "more is no entry of version 1"),
    ("hands.0.more", 1, r"hands\[0\]\.more is no entry"),
    ("rules.knock_limit", 200, r"Rules\.knock_limit = 200 is out of range"),
    ("rules.knock_limit", ..., r"rules\.knock_limit is missing"),
    ("episode", "match", "episode is 'game' or 'hand', not 'match'"),
    ("random.seed", -1, r"random\.seed is an integer from 0 to 18446744073709551615, not -1"),
    ("random.twin", 0, r"random\.twin is true or false, not 0"),
    ("players", [{"name": "ann", "bot": None}], "players are two, not 1"),
    ("players.0.name", None, r"players\[0\]\.name is a text, not None"),
    ("hands.0.dealer", 2, r"hands\[0\]\.dealer is an integer from 0 to 1, not 2"),
    ("hands.0.scores", [0], r"hands\[0\]\.scores is a list of two numbers"),
    ("hands.0.scores", [100, 0], r"hand 1: scores before a hand are from 0 to 99, not \[100, 0\]"),
    ("hands.0.deck", DECK.replace("5H", "5X"), r"hands\[0\]\.deck: '5X' is not a card"),
    ("hands.0.deck", DECK.replace("5H", "6H"), r"hands\[0\]\.deck: named twice: 6H"),
    ("hands.0.deck", DECK[:-3], r"hand 1: a deck has 52 cards, not shape \(51,\)"),
    ("hands.0.deck", DECK, r"hand 1, action 4: player 0, knock with KD: KD is not in the hand"),
    ("hands.0.actions", "pass", r"hands\[0\]\.actions is a list of actions in words"),
    ("hands.0.actions.0", "fold", r"hands\[0\]\.actions: 'fold' is no action; write 'draw from the stock'"),
    ("hands.0.actions.0", "draw from the stock", "hand 1, action 1: player 0, draw from the stock: in "),
    ("hands.0.actions.3", "knock with 3C", "hand 1, action 4: player 0, knock with 3C: deadwood would be"),
    ("hands.0.actions", [], "hand 1: outcome is 'knock', but playing gives 'undecided'"),
    ("hands.0.outcome", "gin", "hand 1: outcome is 'gin', but playing gives 'knock'"),
    ("hands.0.outcome", "won", r"hands\[0\]\.outcome is 'undecided' or 'knock'"),
    ("hands.0.winner", 1, "hand 1: winner is 1, but playing gives 0"),
    ("hands.0.points", 64, "hand 1: points is 64, but playing gives 65"),
    ("hands.0.deadwood", [2, 66], r"hand 1: deadwood is \(2, 66\), but playing gives \(2, 67\)"),
    ("hands.0.counted", {"winner": 2, "points": 3}, r"hands\[0\]\.counted\.winner is an integer from 0 to 1"),
    ("finished", False, "finished is False, but the hands give True"),
    ("winner", None, "winner is None, but the hands give 0"),
    ("scores", [65, 1], r"scores is \(65, 1\), but the hands give \(65, 0\)"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "message"), DAMAGE)
def test_a_damaged_record_is_refused_with_file_line_and_reason(tmp_path, path, value, message):
    file = tmp_path / "games.jsonl"
    good = to_line(one_hand())
    line = json.loads(good)
    change(path, value)(line)
    file.write_text(f"{good}\n{json.dumps(line)}\n{good}\n")
    games = records.read(file)
    assert next(games) == one_hand()
    with pytest.raises(RecordError, match=f"{re.escape(str(file))}, line 2: .*{message}"):
        next(games)


def entries_of(value: object, way: tuple = ()) -> list[tuple]:
    """The ways to all entries of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, entry in inside for one in [(*way, key), *entries_of(entry, (*way, key))]]


GOOD = to_line(two_hands_of_a_game())
STRANGE = [
    None,
    True,
    -1,
    0,
    1,
    2.5,
    10**30,
    "",
    "KD",
    "é",
    [],
    [0, 0],
    [1, [2]],
    {},
    {"winner": 0},
    float("nan"),
]


@settings(max_examples=150, deadline=None)
@given(way=st.sampled_from(entries_of(json.loads(GOOD))), value=st.sampled_from(STRANGE))
def test_any_entry_changed_gives_a_sound_game_or_a_record_error(way, value):
    line = json.loads(GOOD)
    place = line
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    try:
        game = from_line(json.dumps(line))
    except RecordError:
        return
    assert from_line(to_line(game)) == game
    SCHEMA.validate(json.loads(to_line(game)))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (to_line(one_hand())[:-20], "line 2: the line is cut short: its writer was stopped"),
        ("{]\n", r"line 2: this is no JSON"),
        ("\n", r"line 2: this is no JSON"),
        ("[" * 100_000 + "\n", r"line 2: this is no JSON"),
        ("\xff\n", r"line 2: this is no JSON"),
        ("[1, 2]\n", "line 2: this is no record of a game"),
    ],
    ids=["cut", "brackets", "empty", "deep", "not utf-8", "list"],
)
def test_what_is_no_line_is_refused(tmp_path, last, message):
    file = tmp_path / "games.jsonl"
    file.write_bytes(f"{to_line(one_hand())}\n{last}".encode("latin-1"))
    with pytest.raises(RecordError, match=message):
        list(records.read(file))


def test_hands_follow_from_each_other():
    game = two_hands_of_a_game()
    first, second = game.hands
    game.check()
    assert (second.dealer, second.scores, second.actions) == (1 - first.dealer, (65, 0), (parse("pass"),))

    def changed(number: int, **values: object) -> GameRecord:
        hands = list(game.hands)
        hands[number] = dataclasses.replace(hands[number], **values)
        return dataclasses.replace(game, hands=tuple(hands))

    for wrong, message in (
        (changed(1, dealer=first.dealer), "hand 2: the other player deals"),
        (changed(1, scores=(65, 1)), r"hand 2: the scores are \[65, 1\], but the hand before left \[65, 0\]"),
        (changed(0, scores=(1, 0)), r"hand 1: a game begins with scores of 0, not \[1, 0\]"),
        (changed(0, counted=(0, 100)), "hand 1: it ends the game, but another hand follows"),
        (
            dataclasses.replace(game, hands=(first, second, second)),
            "hand 2: it is not over, but another hand follows",
        ),
        (dataclasses.replace(game, episode="hand"), "a single hand .* has 2 hands"),
    ):
        with pytest.raises(RecordError, match=message):
            wrong.check()


def test_what_another_engine_counted_goes_on_as_the_score():
    game = two_hands_of_a_game()
    first, second = game.hands
    counted = (
        dataclasses.replace(first, counted=(1, 30)),
        dataclasses.replace(second, scores=(0, 30)),
    )
    foreign = dataclasses.replace(game, hands=counted, source="a kitchen table")
    assert from_line(to_line(foreign)) == foreign
    assert foreign.scores == (0, 30)
    with pytest.raises(ValueError, match="another engine scored this game"):
        records.resume(foreign)
    with pytest.raises(ValueError, match="the game is finished"):
        records.resume(one_hand())


# --- Logs of the reference engine -------------------------------------------------------------------------


@sample_and_whole
@pytest.mark.parametrize("name", ["games.jsonl", "games_gin_only.jsonl"])
def test_logs_of_the_reference_engine_are_read_as_records(name, whole):
    lines = reference_lines(name, whole)
    if whole:
        lines = lines[::10]
    other = 0
    for line in lines:
        game = from_log(line)
        assert from_line(to_line(game)) == game
        assert game.source == "tneller/gin-rummy-eaai"
        assert game.winner == line["winner"]
        assert list(game.scores) == line["final"]
        for hand, logged in zip(game.hands, line["hands"], strict=True):
            assert list(hand.scores_after) == logged["scores"]
            draws = sum(describe(action).startswith("draw") for action in hand.actions)
            assert draws == sum(event["t"] == "draw" for event in logged["events"])
            other += hand.counted is not None
    assert other <= 1 + 0.05 * sum(len(line["hands"]) for line in lines)


def test_a_damaged_log_is_refused():
    (line, *_) = reference_lines("games.jsonl", whole=False)
    for wrong, message in (
        ({"first_starter": 0, "hands": 3}, "no game of the reference engine's log"),
        (line | {"winner": 1 - line["winner"]}, "the winner is"),
    ):
        with pytest.raises(RecordError, match=message):
            from_log(wrong)
    hands = json.loads(json.dumps(line["hands"]))
    hands[0]["scores"] = [1, 1]
    with pytest.raises(RecordError, match="hand 1: the scores do not add up"):
        from_log(line | {"hands": hands})
