"""Explanations and replays as text: `gin-rummy explain` and `gin-rummy replay`."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hands_in_words import action, ids
from recorded_games import one_hand
from typer.testing import CliRunner

from gin_env import Rules, agents, cards, cli, play_match, records
from gin_env.agents import Agent
from gin_env.observations.views import PlayerView
from gin_env.ui import opinions
from gin_env.ui.explanations import RankedChoice, bots_text, choices, explanation, legend
from gin_env.ui.review import game_title, position_text

pytestmark = pytest.mark.compiled

HAND = "4C 5C 6C 9H 9S 9D 2H 2S AD KS"
"""Two melds, a pair of twos, ace and king: 15 points of deadwood."""


def told(upcard: str, *acts: str, drew: str = "", hand: str = HAND, **options) -> PlayerView:
    """Return the view of player 0, or of `player`, who did not deal."""
    history = [action(text) for text in acts]
    options["dealer"] = 1 - options.get("player", 0)
    return PlayerView.from_history(cards.parse(hand), cards.card_id(upcard), history, ids(drew), **options)


# --- Explanations -----------------------------------------------------------------------------------------


def test_discards_are_explained_by_the_remaining_hand():
    """With 2D there are three melds, ace and king."""
    found = {choice.action: choice for choice in choices(told("7H", "pass", "pass", "draw", drew="2D"))}
    # Gin with 2C, 3C, 7C or 9C: a knock is possible with any card. KH KC KD, and QS JS, are unseen.
    king = found[action("KS")]
    assert king == RankedChoice(
        action("KS"), deadwood=1, outs=4, knock_chance=1.0, gin_outs=4, danger=3 + 1, risk=None
    )
    # The three other aces; A23 of diamonds is not possible, since the player holds 2D.
    ace = found[action("AD")]
    assert (ace.deadwood, ace.outs, ace.gin_outs, ace.danger) == (10, 4, 4, 3)
    assert found[action("knock KS")] == RankedChoice(action("knock KS"), deadwood=1)
    assert found[action("knock AD")] == RankedChoice(action("knock AD"), deadwood=10)
    assert found[action("2D")].deadwood == 2 + 2 + 1 + 10
    assert len(found) == 11 + 2


def test_risk_weights_melds_by_the_opponents_likely_cards():
    """For `uniform`, the opponent holds each of the 40 unseen cards with probability 10/40."""
    view = told("7H", "pass", "pass", "draw", drew="2D")
    found = {choice.action: choice.risk for choice in choices(view, "uniform")}
    assert found[action("KS")] == pytest.approx(4 * 0.25**2)
    assert found[action("AD")] == pytest.approx(3 * 0.25**2)
    assert found[action("knock KS")] is None


def test_draws_are_explained_by_the_resulting_hand():
    take, leave = choices(told("2D"))
    assert (take.action, take.deadwood, take.gin_outs, take.danger) == (action("take"), 1, 4, None)
    # Melds with 2D: no set, because the hand holds two other twos; A23 lacks AD, but 234 is possible.
    assert (leave.action, leave.deadwood, leave.danger) == (action("pass"), 15, 0 + 1)
    assert choices(told("2D", "pass", "pass")) == [RankedChoice(action("draw"))]


def test_explanation_needs_one_view_of_the_player_to_move():
    view = told("2D")
    with pytest.raises(ValueError, match="view must be of one position, not of 2"):
        choices(PlayerView(np.concatenate([view.array, view.array])))
    with pytest.raises(ValueError, match="the other player is to move"):
        choices(told("2D", "pass"))


def test_table_is_sorted_by_value_or_deadwood():
    found = choices(told("2D"), "uniform")
    values = np.full(107, np.nan)
    values[action("take")], values[action("pass")] = -3.25, 10
    chances = np.zeros(107)
    chances[action("take")] = 0.125
    assert explanation(found, {"ann": values}, {"bob": chances}).splitlines() == [
        "action           deadwood  outs  knock  gin  danger  risk    ann     bob",
        "pass                   15     4   39 %    0       1  0.06  +10.0   0.0 %",
        "draw the upcard         1     4  100 %    4       -     -   -3.2  12.5 %",
    ]
    first = explanation(found, {"ann": values, "cy": -values}, {}).splitlines()[1]
    assert first.startswith("pass"), "the first bot's values determine the order"
    assert explanation(choices(told("2D")), {}, {}).splitlines() == [
        "action           deadwood  outs  knock  gin  danger",
        "draw the upcard         1     4  100 %    4       -",
        "pass                   15     4   39 %    0       1",
    ]
    named = [line.split()[0] for line in legend(False, ["ann"], ["bob"]).splitlines()]
    assert " ".join(named) == "deadwood outs knock gin danger ann bob"
    assert bots_text({"a": action("pass"), "b": action("take"), "c": action("pass")}).splitlines() == [
        "pass: a, c",
        "draw the upcard: b",
    ]


# --- Bots' actions ----------------------------------------------------------------------------------------


def test_illegal_opinion_names_the_bot():
    """The legal actions begin with that of card 0, AC; -1 and 107 are not actions."""
    view = told("7H", "pass", "pass", "draw", drew="2D", hand=HAND.replace("AD", "AC"))
    legal = view.masks()[0].nonzero()[0].tolist()
    assert legal[0] == 0
    for answer in range(-1, 108):
        bot = SimpleNamespace(name="any", act=lambda views, answer=answer: np.array([legal[-1], answer]))
        two = PlayerView(np.concatenate([view.array] * 2))
        if answer in legal:
            assert opinions.chosen_actions(bot, two).tolist() == [legal[-1], answer]
        else:
            with pytest.raises(ValueError, match="bot 'any' plays illegally in 1 of 2"):
                opinions.chosen_actions(bot, two)


@pytest.fixture(scope="module")
def steps(tmp_path_factory) -> list[records.Position]:
    """Every decision of two games."""
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    play_match("simple", "random-discard", 2, seed=3, record=path)
    return opinions.decisions(next(records.read(path)))


def bot_of(name: str) -> Agent:
    pytest.importorskip("torch")
    return agents.make(name)


def test_generation_plays_the_highest_valued_legal_action(steps):
    bot = bot_of("generation")
    view = records.views_of(steps)
    values = bot.action_values(view)
    assert np.array_equal(np.isfinite(values), view.masks() == 1)
    best = np.nanmax(values, axis=1)
    chosen = values[np.arange(len(view)), bot.act(view)]
    assert chosen == pytest.approx(best, abs=1e-2)
    rows, actions = bot.values(view[0], False)
    assert values[0, actions[0, 0, 0]] == pytest.approx(100 * rows[0, 0, 0], abs=1e-3)
    impatient = agents.make("generation:knock=simple").action_values(view)
    may_knock = (view.masks()[:, 52:104] == 1).any(axis=1)
    assert may_knock.any()
    assert not np.isfinite(impatient[may_knock, :52]).any()


def test_policy_plays_the_most_probable_legal_action(steps):
    bot = bot_of("policy-1")
    view = records.views_of(steps)
    chances = bot.action_chances(view)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert not chances[view.masks() == 0].any()
    chosen = chances[np.arange(len(view)), bot.act(view)]
    assert chosen == pytest.approx(chances.max(axis=1), abs=1e-5)
    other = told("2D", rules=Rules(knock_limit=5))
    assert bot.action_chances(other).sum() == pytest.approx(1)  # it plays under any rules
    bot.rules = (Rules(),)
    with pytest.warns(UserWarning, match="policy-1 was trained under eaai, not under knock_limit=5"):
        bot.action_chances(other)


# --- The game as text -------------------------------------------------------------------------------------


def test_players_named_like_agents_keep_their_names():
    game = replace(one_hand(), players=(records.Player("player_1"), records.Player("bob")))
    shown = position_text(game, game.positions()[0], 1)
    assert "> player_1: A♣ 2♣ 3♣  run" in shown
    assert "bob (dealer): 2♥ 3♠ 5♣" in shown


def test_the_first_action_is_shown_like_any_other():
    game = one_hand()
    position = replace(game.positions()[0], action=0)
    assert f"step 1: {game.players[0].name} plays: discard AC" in position_text(game, position, 1)


# --- Commands ---------------------------------------------------------------------------------------------


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.fixture
def file(tmp_path):
    """The record of a match of one deal, played by the command."""
    path = tmp_path / "games.jsonl"
    said = run("match", "simple", "random", "--games", 4, "--hands", "--seed", 6, "--record", path)
    assert f"recorded in {path}; next: gin-rummy replay {path}" in said
    return path


def test_whole_game_is_printed(file):
    game = records.read_one(file, 2)
    said = run("replay", file, "--game", 2, "--plain", "--judge", "none")
    assert said.startswith(game_title(game))
    count = len(opinions.decisions(game))
    assert [said.count(f"step {step}: ") for step in (1, count, count + 1)] == [1, 1, 0]
    assert "accuracy" not in said


def test_both_players_of_a_record_are_reviewed(file):
    said = run("replay", file, "--plain", "--worst", 2, "--judge", "simple")
    assert re.search(r"simple: [+−]?\d+ points\.", said)
    assert re.search(r"random: [+−]?\d+ points\.", said)
    assert "Chance to win: 50 %" in said
    assert re.search(r"step +hand +played +better +points lost", said)
    assert "Judged by Nora (simple): each move is played out in possible deals." in said
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        run("replay", file, "--judge", "nobody")


def test_position_given_as_options_is_explained():
    eleven = "explain", "--hand", f"{HAND} 2D", "--bot", "simple", "--upcard"
    said = run(*eleven, "7H", "--estimator", "uniform")
    assert "Your hand: 2H 2S 2D, 9H 9S 9D, 4C 5C 6C; deadwood KS AD (11)." in said
    assert "knock with KS: simple" in said
    assert "discard KS            1     4  100 %    4       4  0.25" in said
    assert "you: draw the upcard 2D" in run(*eleven, "2d")
    middle = run(
        "explain", "--hand", HAND, "--upcard", "7H", "--bot", "simple", "--drew", "2D", "--scores", "40 25",
        "--history", "pass; pass; draw from the stock; discard KS; draw from the stock;discard 8C;",
    )  # fmt: skip
    assert "Score: you 40, the opponent 25" in middle
    assert "Upcard: 8C. Cards in the stock: 29." in middle
    first = run(
        "explain", "--hand", HAND, "--upcard", "2D", "--you-deal", "--history", "pass", "--bot", "simple"
    )
    assert "Hand 1, you dealt." in first
    assert "draw the upcard: simple" in first


def test_first_discard_without_an_opening_offer_is_explained():
    options = "--hand", f"{HAND} 2D", "--upcard", "7H", "--bot", "simple", "--rules", "opening_offer=false"
    assert "So far: you: draw from the stock (2D)." in run("explain", *options)


def test_recorded_position_is_explained(file):
    game = records.read_one(file, 3)
    step = opinions.decisions(game)[3]
    said = run("explain", "--record", file, "--game", 3, "--step", 4, "--bot", "simple")
    assert said.startswith(str(step.view()))
    number = len(opinions.decisions(game))
    run("explain", "--record", file, "--game", 3, "--step", number, "--bot", "simple")
    with pytest.raises(ValueError, match=f"step {number + 1} does not exist"):
        run("explain", "--record", file, "--game", 3, "--step", number + 1, "--bot", "simple")


def test_values_and_chances_of_bots_are_shown(monkeypatch):
    names, opinion = ("plain", "valuing", "mixing"), np.full((1, 107), 0.25)
    bots = {name: SimpleNamespace(name=name, act=lambda view: np.array([action("take")])) for name in names}
    opinion[0, action("take")] = 0.75
    bots["valuing"].action_values = lambda view: 100 * opinion
    bots["mixing"].action_chances = lambda view: opinion
    monkeypatch.setattr(agents, "make", lambda name, **_: bots[name])
    named = [word for name in names for word in ("--bot", name)]
    said = run("explain", "--hand", HAND, "--upcard", "2D", *named)
    assert "draw the upcard: plain, valuing, mixing" in said
    assert re.search(r"action .* danger +valuing +mixing\n", said)
    assert re.search(r"\ndraw the upcard .* \+75\.0 +75\.0 %\npass .* \+25\.0 +25\.0 %\n", said)


def test_all_bots_answer_or_explain_why_not(monkeypatch):
    make = agents.make

    def without_torch(name: str, **params):
        if name == "policy":
            raise ImportError("trained policies need torch")
        return make(name, **params)

    monkeypatch.setattr(agents, "make", without_torch)
    monkeypatch.setattr(agents, "names", lambda: ["simple", "policy"])
    said = run("explain", "--hand", HAND, "--upcard", "2D")
    assert "draw the upcard: simple" in said
    assert "policy cannot be used: trained policies need torch" in said
    with pytest.raises(ImportError, match="need torch"):
        run("explain", "--hand", HAND, "--upcard", "2D", "--bot", "policy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "specify a position with --hand and --upcard, or with --record"),
        (["--hand", HAND], "--hand needs --upcard"),
        (["--hand", HAND, "--record", "x"], "specify a position with --hand"),
        (["--hand", "4C 5X", "--upcard", "2D"], "'5X' is not a card"),
        (["--hand", "4C 5C", "--upcard", "2D"], "hand must hold 10 cards, not 2"),
        (
            ["--hand", f"{HAND} 2D", "--upcard", "7H", "--drew", "3D"],
            "11 cards is a position at the first discard: .* give the 10 that were dealt",
        ),
        (["--hand", HAND, "--upcard", "2D", "--scores", "40"], "--scores must be two numbers"),
        (["--hand", HAND, "--upcard", "2D", "--history", "fold"], "'fold' is not an action"),
        (["--hand", HAND, "--upcard", "2D", "--you-deal"], "the other player is to move"),
        (["--record", "nowhere.jsonl"], "there is no file nowhere.jsonl"),
        (["--record", "x", "--upcard", "2D", "--you-deal"], "position and rules: omit --upcard, --you-deal"),
        (["--hand", "2D", "--step", "3"], "only games of --record have numbers and steps: omit --step"),
        (["--record", "x", "--history", "pass"], "a record has its own position and rules: omit --history"),
        (["--record", "x", "--drew", "2D", "--scores", "0 0"], "omit --drew, --scores"),
    ],
)
def test_impossible_positions_are_refused(arguments, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        run("explain", *arguments)
