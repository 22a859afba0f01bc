"""The web server: visible cards, new and saved games, replays and refused requests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import threading
import time

import numpy as np
import pytest

pytest.importorskip("starlette", reason='the server needs Starlette: pip install "gin-env[play]"')

import httpx2
from hand_endings import Plain, person_to_discard
from hands_in_words import deck_of
from recorded_games import one_hand
from screens import Judge, Raises, play_hands
from starlette.testclient import TestClient

from gin_env import records
from gin_env.agents.declared_bots import BOTS
from gin_env.game.actions import DRAW_STOCK, KNOCK, PASS
from gin_env.game.cards import card_id, card_text
from gin_env.game.rules import Rules
from gin_env.ui.animation import as_png, recorded_pictures
from gin_env.ui.card_art import card_sheet
from gin_env.ui.human_game import HumanGame
from gin_env.ui.links import hand_of, link_of
from gin_env.ui.review import review_hand, review_text, totals_of
from gin_env.ui.web import page, server, sessions
from gin_env.ui.web.server import MAX_BODY, STATIC, create_app, serve, web_address
from gin_env.ui.web.table_api import TableApi

ORIGIN = "http://127.0.0.1:8000"
CODE = re.compile(r"\b(10|[A2-9TJQK])([CHSD♣♥♠♦])")
SUITS = dict(zip("♣♥♠♦", "CHSD", strict=True))


@pytest.fixture(autouse=True)
def judge(monkeypatch):
    """Advice that takes no time."""
    monkeypatch.setattr("gin_env.ui.web.table_api.Adviser", Judge)


class Window:
    """A page in a browser."""

    def __init__(self, api: TableApi, token: str = "") -> None:
        self.api = api
        self.client = TestClient(create_app(api), base_url=ORIGIN, headers={"Origin": ORIGIN})
        self.token, self.state = token, {}

    def ask(self, name: str, expected: int = 200, **content) -> dict:
        response = self.client.post(f"/api/{name}", json=content, headers={"X-Gin-Session": self.token})
        answer = response.json()
        assert response.status_code == expected, answer
        assert response.headers["Cache-Control"] == "no-store"
        if "table" in answer:
            self.state, self.token = answer, answer["token"]
        return answer

    @property
    def table(self) -> dict:
        return self.state["table"]

    def change(self, name: str, **content) -> dict:
        return self.ask(name, version=self.state["version"], **content)["table"]

    def step(self) -> None:
        """Make a simple move: pass, draw from the stock, knock when possible or discard the last card."""
        actions = self.table["actions"]
        if self.table["waits_for_bot"]:
            self.change("bot")
        elif self.table["end"]:
            self.change("next")
        elif "discards" in actions:
            options = list(actions["discards"].values())
            knocks = [option["knock"] for option in options if option["knock"] is not None]
            last = max(options, key=lambda option: (option["discard"] or 0) % 13)
            self.change("act", action=knocks[0] if knocks else last["discard"])
        else:
            self.change("act", action=actions.get("pass", actions.get("stock")))

    def play(self, until) -> None:
        while not until(self.table):
            self.step()


def window(**options) -> Window:
    one = Window(TableApi(**{"opponent": "simple", "seed": 7, **options}))
    one.ask("new")
    return one


def cards_in(answer: dict) -> set[str]:
    """Return every card mentioned in an answer, as a code or in words; its random token may look like one."""
    text = json.dumps({**answer, "token": None}, ensure_ascii=False)
    return {("T" if rank == "10" else rank) + SUITS.get(suit, suit) for rank, suit in CODE.findall(text)}


# --- State of a page ----------------------------------------------------------------------------------------


def test_only_visible_cards_are_sent_until_the_reveal():
    one = window()
    table, revealed = one.table, 0
    seen = {card for group in table["hand"] for card in group["cards"]} | {table["upcard"]}
    while revealed < 3:
        one.step()
        table = one.table
        if table["end"]:
            revealed += 1
            held = {card for hand in table["end"]["stages"][-1]["hands"] for g in hand for card in g["cards"]}
            assert len(held) >= 20
            one.change("next")
            table = one.table
            seen = set()
        own = {card for group in table["hand"] for card in group["cards"]}
        visible = seen | own | set(table["pile"]) | set(table["known"])
        answers = [table]
        if not table["waits_for_bot"] and not table["end"] and revealed == 0:
            answers += [one.ask("hint"), one.ask("belief"), one.ask("table")]
        for answer in answers:
            assert cards_in(answer) <= visible
        seen = visible


def test_state_of_a_turn_has_the_legal_actions():
    one = window()
    assert set(one.table["actions"]) == {"upcard", "pass"}
    deal = {name: one.table[name] for name in ("dealer", "stock", "closed", "known", "new", "turns")}
    assert deal == {"dealer": 1, "stock": 31, "closed": 10, "known": [], "new": None, "turns": []}
    one.play(lambda table: "discards" in table["actions"])
    hand = {card for group in one.table["hand"] for card in group["cards"]}
    assert set(one.table["actions"]["discards"]) == hand
    assert one.table["new"] in hand
    assert one.table["prompt"] == "Choose a card to discard."


def test_reveal_moves_laid_off_cards_to_the_melds_of_the_knocker():
    knocker, defender = "AC 2C 3C 4H 5H 6H 9S TS JS KD", "4C 5C 9D 7H 2D 3D 8D TD QH KC"
    game = HumanGame(Plain(), 1)
    game._game.set_deck(0, deck_of(knocker, defender, "KS", "9C"), 1)
    game._begin_hand()
    for action in (PASS, PASS, DRAW_STOCK, KNOCK + card_id("9C")):
        game._play(action)
    stages = page.table(game)["end"]["stages"]
    counts = [sum(len(group["cards"]) for hand in stage["hands"] for group in hand) for stage in stages]
    assert set(counts) == {20}
    offs = [stage for stage in stages if " off " in stage["text"]]
    assert [len(stage["laid_off"]) for stage in offs] == [1, 2, 3]
    for stage in offs:
        on_melds = [g for hand in stage["hands"] for g in hand if g["caption"] in ("run", "set")]
        assert stage["laid_off"][-1] in {card for group in on_melds for card in group["cards"]}


def test_hint_compares_moves_and_says_why():
    one = window()
    hinted = one.ask("hint")
    assert (hinted["text"], hinted["card"]) == ("pass", None)
    assert [move["move"] for move in hinted["moves"]] == ["pass", "take 5♥"]
    assert [move["best"] for move in hinted["moves"]] == [True, False]
    assert hinted["why"].startswith("5♥ ")
    one.play(lambda table: "discards" in table["actions"])
    hinted = one.ask("hint")
    assert hinted["card"] in {card for group in one.table["hand"] for card in group["cards"]}
    assert len(hinted["moves"]) == 3
    assert {move["danger"] for move in hinted["moves"]} <= {"low", "medium", "high"}
    one.change("act", action=hinted["action"])
    assert "when it is your turn" in one.ask("hint")["error"]
    one.play(lambda table: table["end"])
    assert "when it is your turn" in one.ask("hint")["error"]


def test_hint_to_knock_names_its_card():
    view = person_to_discard("knock by 0", "simple").view
    hinted = page.hint(Judge().advise(view), view, "Nora")
    assert (hinted["card"], hinted["text"]) == ("KD", "knock with K♦")
    assert hinted["why"] == "You keep 2, and Nora holds about 20 deadwood."


@pytest.mark.compiled
def test_belief_has_suit_rows_and_reveals_the_hand_at_the_end():
    one = window()
    answer = one.ask("belief")
    assert [(row["suit"], len(row["chances"])) for row in answer["rows"]] == [(suit, 13) for suit in "CHSD"]
    assert "held" not in answer["rows"][0]
    assert np.array([row["chances"] for row in answer["rows"]]).dtype.kind == "i"
    own = [card for group in one.table["hand"] for card in group["cards"]]
    rows = {row["suit"]: row["chances"] for row in answer["rows"]}
    assert all(rows[card[1]]["A23456789TJQK".index(card[0])] == 0 for card in own)
    one.play(lambda table: table["end"])
    held = {
        rank + row["suit"]
        for row in one.ask("belief")["rows"]
        for rank, is_held in zip("A23456789TJQK", row["held"], strict=True)
        if is_held
    }
    assert held == {card for group in one.table["end"]["stages"][0]["hands"][1] for card in group["cards"]}


@pytest.mark.compiled
def test_options_of_the_server_reach_its_answers():
    one = window(estimator="uniform", hint_bot="tonic", bot_delay=0.2)
    assert one.ask("setup")["bot_delay"] == 0.2
    one.play(lambda table: len(table["turns"]) > 5 and not table["waits_for_bot"])
    unseen = {chance for row in one.ask("belief")["rows"] for chance in row["chances"]} - {0, 100}
    assert len(unseen) == 1, "uniform over the cards that are not seen"
    one.ask("hint")
    one.play(lambda table: table["end"])
    one.ask("review", hand=1)
    assert [each.made.bot for each in (one.api._hints, one.api._reviews)] == ["tonic"] * 2


def test_score_sheet_lists_the_previous_hands():
    one = window()
    one.play(lambda table: len(table["sheet"]) == 2 and not table["end"])
    sheet = one.table["sheet"]
    assert [row["hand"] for row in sheet] == [1, 2]
    assert sheet[-1]["totals"] == one.table["scores"]
    assert sheet[0]["totals"][sheet[0]["winner"]] == sheet[0]["points"]


def test_whole_game_is_played_and_recorded(tmp_path):
    done = []
    one = window(save_folder=tmp_path, finished=lambda game: done.append(game.record()))
    one.play(lambda table: table["end"] and table["end"]["game_over"])
    over = one.table["end"]["game_over"]
    assert "the game, " in over["text"]
    best = max(
        (row for row in one.table["sheet"] if row["winner"] == over["winner"]), key=lambda row: row["points"]
    )
    assert over["decided"] == f"Hand {best['hand']} decided it: {best['outcome']}, {best['points']} points."
    assert max(one.table["scores"]) >= 100
    assert len(done) == 1
    assert done[0].finished
    assert list(tmp_path.iterdir()) == []  # a finished game is not saved
    assert "no next hand" in one.ask("next", 400, version=one.state["version"])["error"]


def test_every_card_has_a_drawing():
    sheet = card_sheet()
    assert all(f'id="{card_text(card)}"' in sheet for card in range(52))
    assert 'id="back"' in sheet


# --- New games, undo, replays -------------------------------------------------------------------------------


def test_new_game_has_the_chosen_opponent_and_a_new_deal():
    one = window()
    before = one.table["hand"]
    one.ask("new", opponent="tonic")
    assert (one.table["opponent"], one.table["bot"]) == ("Theo", "tonic")
    assert one.table["hand"] != before


@pytest.mark.parametrize(
    ("choice", "values"),
    [
        ("opponent", ["process:id", "no-such-bot", "../policy.safetensors", 5, None]),
        ("rules", ["no-such-rules", "knock_limit=3", 5, None, ["eaai"]]),
    ],
)
def test_only_offered_opponents_and_rules_can_be_chosen(choice, values):
    one = Window(TableApi())
    for value in values:
        assert "one of those offered" in one.ask("new", 400, **{choice: value})["error"]


@pytest.mark.parametrize("torch", [None, object()])
def test_levels_that_need_torch_are_available_only_with_it(monkeypatch, torch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: torch)
    needy = BOTS.names(needs_torch=True)
    for one in page.opponents("simple"):
        assert one["available"] == (torch is not None or one["bot"] not in needy), one


def test_new_game_has_the_chosen_rules():
    one = window()
    assert (one.table["rules"], one.table["limit"], one.table["boxes"]) == ("eaai", 10, [])
    one.ask("new", rules="oklahoma")
    assert (one.table["rules"], one.table["target"]) == ("oklahoma", 150)
    first = "A23456789TJQK".index(one.table["pile"][0][0])
    assert one.table["limit"] == (0 if first == 0 else min(first + 1, 10))
    assert "Hands won: you 0, Nora 0" in one.table["boxes"][0]


def test_rules_of_the_command_line_are_offered():
    one = window(rules=Rules(knock_limit=7))
    offered = {variant["name"]: variant for variant in one.ask("setup")["variants"]}
    assert set(offered) == {"eaai", "bicycle", "oklahoma", "straight", "palace", "knock_limit=7"}
    assert " TH " not in offered["eaai"]["words"]
    assert "knock with 7 or less" in offered["knock_limit=7"]["summary"]
    assert one.table["limit"] == 7
    assert "the game" not in page.summary(Rules(box_bonus=5))


def test_score_sheet_of_a_variant_has_boxes_and_bonuses():
    one = window(rules=Rules.preset("bicycle"))
    one.play(lambda table: table["end"] and table["end"]["game_over"])
    hands, total = one.table["boxes"]
    won = [sum(row["winner"] == player for row in one.table["sheet"]) for player in (0, 1)]
    assert f"Hands won: you {won[0]}, Nora {won[1]}" in hands
    scores, winner = one.table["scores"], int(one.table["scores"][1] >= 100)
    totals = [score + 20 * boxes for score, boxes in zip(scores, won, strict=True)]
    totals[winner] += 200 if scores[1 - winner] == 0 else 100
    assert total == f"With all bonuses: you {totals[0]}, Nora {totals[1]}."


def test_setup_says_that_kernels_are_being_compiled():
    api = TableApi()
    assert Window(api).ask("setup")["compiling"]
    api.ready.set()
    assert not Window(api).ask("setup")["compiling"]


def test_undo_takes_back_a_move_in_practice_only():
    one = window()
    one.step()
    assert "only in practice" in one.ask("undo", 400, version=one.state["version"])["error"]
    one.ask("new", practice=True)
    assert "nothing to take back" in one.ask("undo", 400, version=one.state["version"])["error"]
    shown = []
    while len(shown) < 8 or one.table["hand_number"] < 2 or one.table["waits_for_bot"]:
        if not one.table["waits_for_bot"] and not one.table["end"]:
            shown.append(one.table)
        one.step()
    for before in reversed(shown):
        assert one.change("undo") == before


def test_practice_games_are_not_recorded():
    done = []
    one = window(finished=done.append)
    one.ask("new", practice=True)
    one.play(lambda table: table["end"] and table["end"]["game_over"])
    assert done == []
    assert "the game is over" in one.ask("undo", 400, version=one.state["version"])["error"]


def test_only_ended_hands_can_be_replayed():
    one = window()
    one.play(lambda table: len(table["turns"]) > 3)
    assert "hand must be from 1 to 0" in one.ask("replay", 400, hand=1)["error"]
    one.play(lambda table: table["end"])
    one.change("next")
    shown = one.ask("replay", hand=1)
    assert shown["names"] == ["You", "Nora"]
    assert shown["steps"][-1]["end"]["headline"]
    assert all(len(step["hands"]) == 2 for step in shown["steps"])
    assert shown["num_hands"] == 1
    assert "hand must be from 1 to 1" in one.ask("replay", 400, hand=2)["error"]
    assert "hand must be" in one.ask("review", 400, hand=2)["error"]


def test_steps_of_a_replay_are_those_of_the_record():
    record = play_hands(HumanGame("simple", 3), 2).record()
    hand, shown = record.hands[1], page.replay(record, record.positions(), 1)
    assert sum(hand.scores) > 0
    assert (shown["scores"], shown["dealer"]) == (list(hand.scores), hand.dealer)
    reviewed = page.review(record, [review_hand(record, record.positions(), 1, 0, Judge())], Judge())
    assert {shown["steps"][move["step"]]["to_move"] for move in reviewed["players"][0]["moves"]} == {0}
    *moves, _ = shown["steps"]
    assert moves[0]["to_move"] == 1 - hand.dealer
    for step in moves:
        held = [{card for group in groups for card in group["cards"]} for groups in step["hands"]]
        assert {step["card"], step["new"]} - {None} <= held[step["to_move"]]
        assert (step["new"] is None) == (len(held[step["to_move"]]) == 10)
        captions = [groups[-1]["caption"] for groups in step["hands"]]
        for cards, caption, left in zip(held, captions, step["deadwood"], strict=True):
            assert len(cards) == 11 or caption == (f"deadwood {left}" if left else caption)
    assert shown["steps"][-1]["turns"][0]["player"] == 1 - hand.dealer


def test_review_of_a_hand_is_that_of_the_terminal():
    one = window()
    one.play(lambda table: table["end"])
    answer = one.ask("review", hand=1)
    (mine,) = answer["players"]
    record = one.api._sessions.find(one.token).game.record()
    found = review_hand(record, record.positions(), 0, 0, Judge())
    totals = totals_of([found])
    assert (mine["player"], answer["judge"], answer["worlds"]) == (0, "judge", 7)
    assert (mine["mistakes"], mine["num_choices"], mine["accuracy"]) == (*totals[3:], totals.accuracy)
    assert mine["chances"] == found.chances
    assert [move["lost"] for move in mine["moves"]] == [choice.lost for choice in found.choices]
    for move, choice in zip(mine["moves"], found.choices, strict=True):
        (played,) = (line["action"] for line in move["moves"] if line["played"])
        assert (move["step"], played) == (choice.position.step, choice.position.action)
        assert move["mistake"] == choice.is_mistake
    said = review_text(record, [found], "judge")
    assert f"{mine['points']} points" in said
    assert f"Choices: {mine['choices']} in {mine['mistakes']} mistakes" in said
    worst = max(mine["moves"], key=lambda move: move["lost"])
    assert worst["why"] in said
    assert f"{worst['lost']:.1f}" in said
    game = one_hand("knock by 1")
    (theirs,) = page.review(game, [review_hand(game, game.positions(), 0, 1, Judge())], Judge())["players"]
    assert "ann holds about 20 deadwood" in theirs["moves"][-1]["why"]


def test_reviews_of_a_hand_by_other_players_or_rules_are_others(monkeypatch):
    monkeypatch.setattr(Judge, "chance_to_win", lambda self, rules, *scores: rules.target_score / 1000)
    link, other = link_of(play_hands(HumanGame("simple", 4)).record(), 0), Window(TableApi())
    links = (link, link.replace("person", "ann"), f"{link}.target_score=150")
    reviews = [other.ask("review", link=each)["players"] for each in links]
    assert [len(players) for players in reviews] == [1, 2, 1]
    assert [players[0]["chances"][0] for players in reviews] == [0.1, 0.1, 0.15]


def test_link_opens_the_hand_in_another_window():
    one, other = window(), Window(TableApi())
    one.play(lambda table: table["end"])
    mine = one.ask("replay", hand=1)
    theirs = other.ask("replay", link=mine["link"])
    assert theirs["names"] == ["Player", "Nora"]
    assert theirs["steps"][-1]["hands"] == mine["steps"][-1]["hands"]
    assert (theirs["num_hands"], theirs["link"]) == (1, mine["link"])
    mine, theirs = one.ask("review", hand=1), other.ask("review", link=mine["link"])
    assert mine["players"][0]["chances"] == theirs["players"][0]["chances"]
    for kind, start in (("gif", b"GIF8"), ("png", b"\x89PNG")):
        saved = other.client.get(f"/hand.{kind}", params={"link": one.ask("replay", hand=1)["link"]})
        assert saved.content.startswith(start)
        assert saved.headers["Content-Disposition"].endswith(f'.{kind}"')
    assert saved.content == as_png([*recorded_pictures(hand_of(one.ask("replay", hand=1)["link"]), 0)][-1])
    assert other.client.get("/hand.gif", params={"link": "1.x"}).status_code == 400
    assert "not the address of a hand" in other.ask("replay", 400, link="1.abc")["error"]


@pytest.mark.compiled
def test_any_position_is_analysed():
    one = Window(TableApi())
    position = {"hand": "4C 5C 6C 9H 9S TD QD QH KS 2D", "upcard": "9D"}
    answer = one.ask("analyse", **position)
    assert [move["move"] for move in answer["moves"]] == ["pass", "take 9♦"]
    asked = [bot for row in answer["bots"] for bot in row["bots"]]
    assert {"simple", "tonic", "marjj"} <= set(asked)
    assert len(asked) == len(set(asked))
    assert "simple" in next(row["bots"] for row in answer["bots"] if row["text"] == "take 9♦")
    assert sum(sum(row["chances"]) for row in answer["belief"]["rows"]) > 900
    later = {
        "history": "pass; pass; draw from the stock; discard KS; draw the upcard; discard 7H",
        "drew": "9D",
    }
    gin_only = Window(TableApi(rules=Rules.preset("straight")))
    answer = gin_only.ask("analyse", hand="4C 5C 6C 9H 9S 9D 2H 2S AD 3D KS", upcard="KD")
    assert not [line for line in answer["moves"] if "knock" in line["move"]]
    answer = one.ask("analyse", **position | later | {"upcard": "8S", "scores": "40 25"})
    assert len(answer["moves"]) == 2
    for wrong, message in (
        ({"upcard": "9X"}, "'9X' is not a card"),
        ({"hand": "4C"}, "hand must hold 10 cards"),
        ({"scores": "much"}, "--scores must be two numbers"),
        ({"you_deal": True}, "the other player is to move"),
    ):
        assert message in one.ask("analyse", 400, **position | wrong)["error"]


def test_board_asks_only_bots_that_can_be_loaded(monkeypatch):
    monkeypatch.setattr("gin_env.ui.web.table_api.has_torch", lambda: False)
    answer = Window(TableApi()).ask("analyse", hand="4C 5C 6C 9H 9S TD QD QH KS 2D", upcard="9D")
    asked = {bot for row in answer["bots"] for bot in row["bots"]}
    assert "simple" in asked
    assert asked <= set(BOTS.names(needs_torch=False))


def test_replay_server_serves_no_table():
    game = play_hands(HumanGame("simple", 3))
    one = Window(TableApi(recorded=game.record()))
    assert one.ask("setup")["recorded"]
    shown = one.ask("replay", hand=1)
    assert [step["action"] is None for step in shown["steps"]] == [False] * (len(shown["steps"]) - 1) + [True]
    assert one.client.post("/api/new", json={}).status_code == 404
    assert "replay.js" in one.client.get("/").text


# --- Windows, saves -----------------------------------------------------------------------------------------


def test_two_windows_play_two_games(tmp_path):
    api = TableApi(opponent="simple", save_folder=tmp_path)
    one, other = Window(api), Window(api)
    for each in (one, other):
        each.ask("new")
        each.play(lambda table: len(table["turns"]) > 2)
    before = other.table
    one.step()
    assert other.ask("table")["table"] == before
    assert one.token != other.token
    assert len(list(tmp_path.iterdir())) == 2


def test_action_for_an_old_position_is_refused():
    one = window()
    stale = one.state["version"]
    one.step()
    answer = one.ask("act", 409, version=stale, action=DRAW_STOCK)
    assert answer["table"] == one.ask("table")["table"]


def test_illegal_action_changes_nothing():
    one = window()
    before = one.table
    for action in (DRAW_STOCK, 500, -1, "draw", None, [1], 10**30, True):
        assert one.ask("act", 400, version=one.state["version"], action=action)["error"]
        assert one.ask("table")["table"] == before


def test_game_is_resumed_after_a_server_restart(tmp_path):
    one = window(save_folder=tmp_path)
    one.play(lambda table: len(table["turns"]) > 3)
    restarted = Window(TableApi(opponent="tonic", save_folder=tmp_path), one.token)
    assert restarted.ask("table")["table"] == one.table
    (save,) = tmp_path.iterdir()
    assert one.token not in save.name
    assert records.read_one(save, 1).players[1].name == "simple"
    one.ask("new", practice=True)
    assert not list(tmp_path.iterdir())
    one.step()
    assert Window(TableApi(save_folder=tmp_path), one.token).ask("table")["practice"]


@pytest.mark.parametrize("named", ["simple", "hand_endings:NeverKnocks"])
def test_saved_game_runs_code_only_if_it_is_named_again(tmp_path, named):
    own = "hand_endings:Plain"
    one = window(opponent=own, save_folder=tmp_path)
    one.step()
    again = Window(TableApi(opponent=own, save_folder=tmp_path), one.token)
    other = Window(TableApi(opponent=named, save_folder=tmp_path), one.token)
    assert again.ask("table")["table"] == one.table
    assert "pass it as --opponent" in other.ask("table", 400)["error"]
    assert other.ask("new")["table"]["bot"] == named
    assert other.ask("table")["table"] == other.table


def test_damaged_save_does_not_prevent_a_new_game(tmp_path):
    one = window(save_folder=tmp_path)
    one.step()
    (save,) = tmp_path.iterdir()
    save.write_text("{")
    restarted = Window(TableApi(opponent="simple", save_folder=tmp_path), one.token)
    assert save.name in restarted.ask("table", 400)["error"]
    restarted.ask("new")
    restarted.step()


def test_any_error_of_a_bot_is_answered_in_json():
    one = window(opponent="screens:Raises", seed=5)
    one.play(lambda table: table["waits_for_bot"])
    answer = one.ask("bot", 500, version=one.state["version"])
    assert answer == {"error": "ZeroDivisionError: gin-env[train] for [/tmp/x]"}
    assert one.ask("table")["table"] == one.table


def test_error_while_compiling_does_not_leave_the_page_waiting(monkeypatch):
    def fail(game):
        raise RuntimeError("not compiled")

    ended = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda error: ended.set())
    monkeypatch.setattr(page, "table", fail)
    api = TableApi()
    api.warm_up()
    assert ended.wait(60)
    assert api.ready.is_set()


def test_games_in_memory_and_on_disk_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 3)
    monkeypatch.setattr(sessions, "MAX_SAVES", 2)
    monkeypatch.setattr(sessions, "MAX_RECENT_SAVES", 5)
    (tmp_path / "window-folder.json").mkdir()
    api = TableApi(opponent="simple", save_folder=tmp_path)

    def play(windows: int) -> list[Window]:
        started = [Window(api) for _ in range(windows)]
        for one in started:
            one.ask("new")
            one.step()
        return started

    first, *_ = play(4)
    assert len(api._sessions._sessions) == 3
    assert (
        first.ask("table")["version"] == first.state["version"]
    )  # the games of a stranger did not delete it
    for number, path in enumerate(tmp_path.glob("window-?????*[0-9a-f].json")):
        os.utime(path, (number, number))
    play(1)
    assert len(saves := list(tmp_path.glob("window-*[0-9a-f].json"))) == 3
    assert sorted(path.stat().st_mtime for path in saves)[:2] == [2, 3], "the last that were played"
    play(5)
    assert len(list(tmp_path.glob("window-*[0-9a-f].json"))) <= 6
    assert first.ask("table", 404)["error"] == "no game in this window"


def test_requests_at_the_same_time_load_one_game(tmp_path, monkeypatch):
    """The second request loads the file before the first has put its game in memory."""
    one = window(save_folder=tmp_path)
    one.step()
    restarted, found = sessions.Sessions(tmp_path), []
    load = HumanGame.load

    def load_twice(path, **options):
        monkeypatch.setattr(HumanGame, "load", load)
        found.append(restarted.find(one.token))
        return load(path, **options)

    monkeypatch.setattr(HumanGame, "load", load_twice)
    assert restarted.find(one.token) is found[0] is restarted.find(one.token)


def test_action_that_waits_for_a_new_game_is_refused(monkeypatch):
    one = window()
    api, before = one.api, one.state
    old = api._sessions.find(one.token)
    one.ask("new")
    assert one.ask("table")["table"] != before["table"]
    monkeypatch.setattr(sessions.Sessions, "find", lambda *_: old)  # found before the new game
    one.ask("act", 409, version=before["version"], action=DRAW_STOCK)


def test_unknown_token_finds_no_game(tmp_path):
    one = Window(TableApi(save_folder=tmp_path))
    for token in ("", "x", "../../../../etc/passwd", "a" * 22, "a" * 5000):
        one.token = token
        assert one.ask("table", 404)["error"]


# --- Refused requests ---------------------------------------------------------------------------------------


def client(host: str = "127.0.0.1") -> TestClient:
    return TestClient(create_app(TableApi(), host), base_url=ORIGIN)


@pytest.mark.parametrize("path", ["/", "/replay", "/style.css", "/play.js", "/common.js", "/cards.svg"])
def test_pages_load_nothing_from_elsewhere(path):
    response = client().get(path)
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    addresses = re.findall(r"https?://[^\s\"'<)]+", response.text)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "content-type" in response.headers


@pytest.mark.parametrize(("host", "isolated"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)])
def test_windows_are_isolated_only_on_this_computer(host, isolated):
    """Browsers reject the header from other addresses without HTTPS."""
    assert ("cross-origin-opener-policy" in client(host).get("/").headers) == isolated


@pytest.mark.parametrize(
    "origin", ["http://evil.example.com", "null", "http://127.0.0.1:9999", "http://127.0.0.1", "http://[", ""]
)
def test_requests_from_other_origins_are_refused(origin):
    response = client().post("/api/new", json={}, headers={"Origin": origin})
    assert response.status_code == 403


def test_requests_without_an_origin_or_from_other_sites_are_refused():
    assert client().post("/api/new", json={}).status_code == 403
    foreign = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}
    assert client().post("/api/new", json={}, headers=foreign).status_code == 403
    assert client().get("/play.js", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client().get("/", headers=link).status_code == 200
    assert client().get("/", headers=link | {"Sec-Fetch-Dest": "iframe"}).status_code == 403


@pytest.mark.parametrize(
    ("serving", "host", "accepted"),
    [
        ("127.0.0.1", "localhost:8000", True),
        ("127.0.0.1", "[::1]:8000", True),
        ("127.0.0.1", "evil.example.com:8000", False),
        ("127.0.0.1", "192.168.0.5:8000", False),
        ("127.0.0.1", "127.0.0.1.evil.example.com", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", "[", False),
        ("0.0.0.0", "192.168.0.5:8000", True),
        ("0.0.0.0", f"{socket.gethostname()}.local:8000", True),
        ("127.0.0.1", f"{socket.gethostname()}.local:8000", False),
        ("0.0.0.0", "evil.example.com", False),
        ("my.computer", "my.computer:8000", True),
        ("my.computer", "other.computer:8000", False),
    ],
)
def test_only_own_hosts_are_served(serving, host, accepted):
    response = client(serving).get("/", headers={"Host": host})
    assert response.status_code == (200 if accepted else 421)


def test_request_bodies_must_be_json_objects():
    for body in (b"", b"[]", b"5", b"{", b"\xff\xfe", b"[" * 4000):
        assert client().post("/api/new", content=body, headers={"Origin": ORIGIN}).status_code == 400


def test_oversized_requests_are_refused_unread():
    body = b"{" + b" " * MAX_BODY + b"}"
    assert client().post("/api/new", content=body, headers={"Origin": ORIGIN}).status_code == 413
    chunks = client().post("/api/new", content=iter([body]), headers={"Origin": ORIGIN})
    assert chunks.status_code == 411
    both = {"Origin": ORIGIN, "Content-Length": "2", "Transfer-Encoding": "chunked"}
    assert client().post("/api/new", content=iter([body]), headers=both).status_code == 411


@pytest.mark.parametrize(
    "path", ["/..%2f..%2fserver.py", "/../server.py", "/static/play.js", "/api/new", "/x"]
)
def test_other_paths_are_not_served(path):
    assert client().get(path).status_code in (404, 405)


def test_printed_address_can_be_opened_in_a_browser():
    assert web_address("127.0.0.1", 8000) == "http://127.0.0.1:8000/"
    assert web_address("::1", 80) == "http://[::1]:80/"
    assert "0.0.0.0" not in web_address("0.0.0.0", 8000)
    assert "::" not in web_address("::", 8000)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def port(monkeypatch) -> int:
    """A port for a server that ends immediately."""
    monkeypatch.setattr(server.uvicorn.Server, "run", lambda _, sockets: sockets[0].close())
    monkeypatch.setattr(TableApi, "warm_up", lambda _: None)
    return free_port()


def test_browser_opens_when_the_server_accepts_connections(monkeypatch, port):
    opened = []

    def connect(address):
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            opened.append(address)

    monkeypatch.setattr(server.webbrowser, "open", connect)
    monkeypatch.setattr(server.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("DISPLAY", ":0")
    serve(TableApi(), "127.0.0.1", port)
    assert opened == [web_address("127.0.0.1", port)]


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_serving_to_other_computers_prints_a_warning(capsys, port, host, warned):
    serve(TableApi(), host, port)
    assert ("without a password" in capsys.readouterr().err) == warned


BEGUN = (
    b"POST /api/new HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 4000\r\n\r\n{"
)
"""A request whose body never ends."""


@pytest.fixture
def running(monkeypatch):
    """The port of a server that runs in a thread."""
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    monkeypatch.setattr(server.uvicorn.Server, "capture_signals", lambda _: contextlib.nullcontext())
    servers = []
    run = server.uvicorn.Server.run
    monkeypatch.setattr(
        server.uvicorn.Server, "run", lambda one, sockets: (servers.append(one), run(one, sockets))
    )
    port = free_port()
    given = TableApi(opponent="simple"), "127.0.0.1", port
    thread = threading.Thread(target=serve, args=given, daemon=True)
    thread.start()
    while not (servers and servers[0].started):
        time.sleep(0.01)
    yield port
    servers[0].should_exit = True
    thread.join(10)


def test_silent_connections_are_closed(running):
    """A hundred of them would stop the page."""
    address = ("127.0.0.1", running)
    asked = socket.create_connection(address, timeout=5)
    asked.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    while asked.recv(4096).count(b"</html>") == 0:
        pass
    half, silent, unfinished = (socket.create_connection(address, timeout=5) for _ in range(3))
    half.sendall(b"GET / HT")
    asked.sendall(b"GET / HT")
    unfinished.sendall(BEGUN)
    assert unfinished.recv(4096).startswith(b"HTTP/1.1 408")
    for connection in (silent, half, asked, unfinished):
        assert connection.recv(4096) == b""
        connection.close()


def test_client_that_leaves_in_a_request_prints_nothing(running, capsys):
    with socket.create_connection(("127.0.0.1", running), timeout=5) as connection:
        connection.sendall(BEGUN)
    time.sleep(0.3)
    with socket.create_connection(("127.0.0.1", running), timeout=5) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    assert "Traceback" not in capsys.readouterr().err


def test_many_reviews_of_links_leave_threads_for_a_table(monkeypatch):
    free = threading.Event()
    monkeypatch.setattr(TableApi, "review", lambda *_: (200, {"free": free.wait(30)}))
    requests = create_app(TableApi())

    async def all_at_once() -> list[int]:
        given = {"base_url": ORIGIN, "headers": {"Origin": ORIGIN}}
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(requests), **given) as browser:
            reviews = [asyncio.create_task(browser.post("/api/review", json={})) for _ in range(60)]
            await asyncio.sleep(0.3)
            table = await asyncio.wait_for(browser.post("/api/setup", json={}), 10)
            free.set()
            return [table.status_code, *(answer.status_code for answer in await asyncio.gather(*reviews))]

    assert set(asyncio.run(all_at_once())) == {200}


def test_files_are_sent_byte_for_byte():
    served = {f"/{file.name}": file for file in STATIC.iterdir() if file.suffix != ".html"}
    for path, file in (served | {"/": STATIC / "index.html", "/board": STATIC / "board.html"}).items():
        assert client().get(path).content == file.read_bytes()


def test_static_files_have_no_inline_script_or_style():
    texts = [file.read_text() for file in STATIC.glob("*.html")]
    assert texts
    for text in texts:
        assert not re.search(r"<script(?![^>]*src=)|<style| style=| on\w+=", text)


def test_game_that_cannot_be_saved_continues(tmp_path):
    folder = tmp_path / "windows"
    folder.mkdir()
    one = window(save_folder=folder)
    shutil.rmtree(folder)
    name = "bot" if one.table["waits_for_bot"] else "act"
    answer = one.ask(name, version=one.state["version"], action=PASS)
    assert "cannot be saved" in answer["error"]
    assert answer["version"] == one.state["version"]


def test_bot_is_made_again_after_an_error():
    """A program that has ended would never answer again."""
    one = window()
    one.play(lambda table: table["waits_for_bot"])
    one.api._sessions.find(one.token).game.bot = Raises()
    assert "gin-env" in one.ask("bot", 500, version=one.state["version"])["error"]
    one.change("bot")


def test_wrong_seed_is_refused_before_serving():
    with pytest.raises(ValueError, match="seed must be"):
        TableApi(seed=-1)
