"""Text descriptions of the game, and the text environment that uses them."""

from __future__ import annotations

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from gin_env import PlayerView, Rules, cards
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS, IllegalActionError, describe
from gin_env.game.cards import card_id as card
from gin_env.game.state import GIN, KNOCK_WON, UNDERCUT
from gin_env.game.words import find_action, hand_in_words, result_in_words, rules_in_words
from gin_env.wrappers.text import TextGinRummy


def test_position_in_words_describes_the_view():
    view = PlayerView.from_history(
        cards.parse("AC 2C 3C 7D 7H 7S KD QC 5H TD"),
        card("9S"),
        [PASS, DRAW_UPCARD, card("KD"), DRAW_STOCK, card("4H"), DRAW_STOCK, card("QC"), DRAW_UPCARD],
        [card("5S")],
        player=1,
        dealer=1,
        scores=(40, 25),
        hand_number=2,
    )
    assert str(view) == (
        "Hand 3, you dealt. Score: you 25, the opponent 40; 100 points win the game.\n"
        "Your hand: 7H 7S 7D, AC 2C 3C; deadwood TD 9S 5H 5S (29).\n"
        "Upcard: none. Cards in the stock: 29.\n"
        "The opponent holds for certain: QC.\n"
        "Discarded by the opponent and still in the pile: 4H.\n"
        "Discarded by you and still in the pile: KD.\n"
        "So far: opponent: pass; you: draw the upcard 9S; you: discard KD; opponent: draw from the stock; "
        "opponent: discard 4H; you: draw from the stock (5S); you: discard QC; opponent: draw the upcard QC."
    )


def test_player_to_move_sees_the_legal_actions():
    view = PlayerView.from_history(cards.parse("AC 2C 3C 4H 5H 6H 7S 8S 9S KD"), card("TS"))
    lines = str(view).splitlines()
    assert lines[-1] == "Nobody has acted yet."
    mover = PlayerView.from_history(cards.parse("AC 2C 3C 4H 5H 6H 7S 8S 9S KD"), card("TS"), dealer=1)
    assert str(mover).splitlines()[-1] == "You may: draw the upcard; pass."


def test_result_in_words_describes_each_outcome():
    rules, hand = Rules(max_turns=1), cards.parse("AC 2C 3C 4H 5H 6H 7S 8S 9S KD")
    view = PlayerView.from_history(hand, card("TS"), [DRAW_UPCARD, card("KD")], player=1, rules=rules)
    assert str(view).splitlines()[-1] == "The hand is over: it is void, nobody scores."
    public = view.array["public"][0]
    public["winner"], public["points"] = 0, 31
    said = []
    for public["outcome"] in (KNOCK_WON, GIN, UNDERCUT):
        said += [result_in_words(public, 0), result_in_words(public, 1)]
    assert said == [
        "you scored 31 by knocking",
        "the opponent scored 31 by knocking",
        "you scored 31 with gin",
        "the opponent scored 31 with gin",
        "you scored 31 by an undercut",
        "the opponent scored 31 by an undercut",
    ]


@pytest.mark.parametrize(
    ("hand", "words"),
    [
        ("AC 2C 3C", "AC 2C 3C; no deadwood"),
        ("KC 2H AS", "deadwood KC 2H AS (13)"),
        ("4C 4H 4S 4D 5C 6C", "4H 4S 4D, 4C 5C 6C; no deadwood"),
        ("", "no deadwood"),
    ],
)
def test_hand_in_words_groups_melds_and_deadwood(hand, words):
    assert hand_in_words(cards.parse(hand)) == words


def test_rules_in_words_state_the_values_of_the_rules():
    small = "ranks=8,suits=3,hand_size=7,knock_limit=6,stock_floor=1,opening_offer=false"
    said = rules_in_words(Rules.parse(f"{small},gin_bonus=20,undercut_bonus=15,target_score=50"))
    for part in (
        "with 24 cards: ranks A 2 3 4 5 6 7 8 (ace low) in the suits C clubs, H hearts, S spades.",
        "is dealt 7 cards",
        "at most 6 points",
        "Gin scores 20",
        "scores 15 and",
        "than 1 cards",
        "50 points",
    ):
        assert part in said
    assert "may take the upcard or pass" not in said
    assert "may take the upcard or pass" in rules_in_words()


# --- The environment ----------------------------------------------------------------------------------


def test_text_environment_matches_the_numeric_one():
    text = TextGinRummy("tonic", episode="game")
    number = gymnasium.make("gin_env/GinRummy-v0", opponent="tonic", episode="game")
    said, info = text.reset(seed=5)
    observation, _ = number.reset(seed=5)
    assert said.startswith(rules_in_words())
    hands = 0
    for _ in range(400):
        legal = observation["action_mask"].nonzero()[0].tolist()
        assert info["legal"] == [describe(action) for action in legal]
        action = legal[-1] if legal[-1] >= 104 else next((a for a in legal if a >= 52), legal[0])
        said, *outcome, info = text.step(f"Well... {describe(action).upper()}!")
        observation, *expected, _ = number.step(action)
        assert outcome == expected
        if said.startswith("The last hand is over: "):
            hands += 1
            ended = number.unwrapped.seat.games.results[0]
            assert said.split("\n")[0] == f"The last hand is over: {result_in_words(ended, 0)}."
        if outcome[1]:
            break
    assert hands
    assert outcome[1]
    assert said.splitlines()[-1].startswith("The hand is over: ")


def test_illegal_answers_end_the_episode_at_the_patience_limit():
    env = TextGinRummy("random", patience=2)
    _, first = env.reset(seed=3)
    before = env.game.seat.games.state.copy()
    said, reward, terminated, _, info = env.step("knock with KD")
    assert said.startswith("Not possible: ")
    assert (reward, terminated, info["misses"], info["legal"]) == (0.0, False, 1, first["legal"])
    assert (env.game.seat.games.state == before).all()
    said, reward, terminated, truncated, _ = env.step("I give up")
    assert "names no action" in said
    assert (reward, terminated, truncated) == (-1.0, True, False)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step("pass")
    assert env.reset(seed=3)[1]["legal"] == first["legal"]


def test_legal_answers_do_not_forgive_earlier_ones():
    env = TextGinRummy("random", patience=2)
    legal = env.reset(seed=3)[1]["legal"]
    env.step("I give up")
    assert env.step(legal[0])[-1]["misses"] == 1
    assert env.step("I give up")[1:3] == (-1.0, True)


@pytest.mark.parametrize("answer", ["pass", "I give up"])
def test_answer_outside_an_episode_raises(answer):
    env = TextGinRummy("random")
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(answer)
    over, info = False, env.reset(seed=3)[1]
    while not over:
        _, _, over, _, info = env.step(info["legal"][-1])
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(answer)


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("pass", PASS),
        ("First I thought: discard 5H. But no, Knock With tc.", 52 + cards.card_id("TC")),
        ("DRAW THE UPCARD", DRAW_UPCARD),
    ],
)
def test_last_action_in_an_answer_counts(answer, action):
    assert find_action(answer) == action
    assert find_action(f"draw from the stock{' ' * 200_000}{answer}") == action


@pytest.mark.parametrize("answer", ["", "passing", "discard", "discard 5X", "discard 10H"])
def test_answer_without_an_action_is_refused(answer):
    with pytest.raises(IllegalActionError, match="names no action"):
        find_action(answer)
    with pytest.raises(TypeError, match="an answer must be a string"):
        find_action(None)


def test_text_environment_passes_the_gymnasium_checker():
    check_env(TextGinRummy(), skip_render_check=True)
