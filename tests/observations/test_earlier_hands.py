"""What players remember of the earlier hands of a game: values, and nothing that the rules hide."""

from __future__ import annotations

from itertools import chain, pairwise

import gymnasium
import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table, started
from played_positions import as_games, redealt, same_records
from rule_variants import VARIANTS

from gin_env import PlayerView, agents, cards, gin_rummy_v0, melds
from gin_env.batch import Games
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS, is_discard
from gin_env.game.cards import CARD_VALUES
from gin_env.game.rules import Rules
from gin_env.observations import memory

pytestmark = pytest.mark.compiled

OF_MELDS = ("set_cards", "run_cards", "upcards_melded", "high_cards")
NO_MELDS = "2D 4D 6D 8D TD QD 3S 5S 7S JS"
every_preset = pytest.mark.parametrize("name", ["standard", "everything", *list(Rules.presets())[1:]])


def seen(table: Table, player: int) -> dict[str, float]:
    """Return the numbers that are not 0, by name."""
    row = table.games.views(ONE_GAME, player).memories()[0]
    return {name: pytest.approx(value) for name, value in zip(memory.MEANINGS, row, strict=True) if value}


def three_hands() -> Table:
    """A knock of player 0, a void hand, and gin of player 1."""
    runs, defence = "AC 2C 3C 4H 5H 6H 8S 9S TS KD", "QC QD QH QS TC JC KC 3D 5D 8H"
    table = Table(runs, defence, "2D", rules=Rules(max_turns=2), episode="game")
    assert seen(table, 0) == seen(table, 1) == {}
    table.play("take")
    assert seen(table, 1) == {}, "the current hand is in the observation, not in the memory"
    table.play("knock KD")
    assert table.result == ("knock", 0, 14)
    assert seen(table, 1)["knocks"] == 1
    assert "knocks" not in seen(table, 0), "their own knock"
    table.deal(runs, NO_MELDS, "9C", stock="JC JH", dealer=0)
    table.play("pass", "pass", "draw", "JC", "draw", "JH")
    assert table.result[0] == "void"
    table.deal(NO_MELDS, "AC 2C 3C 4C 5H 6H 7H 9S 9D KD", "9C", dealer=0)
    return table.play("take", "knock KD")


def test_memory_after_three_hands():
    table = three_hands()
    assert table.result == ("gin", 1, 90)
    assert seen(table, 0) == {
        "hands": 3 / 20,
        "knocks": 1 / 3,
        "gins": 1 / 3,
        "knock_turn": 1 / 2,
        "set_cards": (3 + 3) / 20,
        "run_cards": (4 + 7) / 20,
        "upcards_taken": 1 / 2,
        "upcards": 2 / 3 / 20,
        "first_discards": (10 + 10) / 20,  # jack of hearts, king of the knock with gin
        "upcards_melded": 1 / 1,
    }
    assert seen(table, 1) == {
        "hands": 3 / 20,
        "knocks": 1 / 3,
        "knock_deadwood": 2 / 10,
        "knock_turn": 1 / 2,
        "run_cards": 9 / 20,
        "upcards_taken": 1 / 3,  # of one taken, one passed and one left for the stock
        "upcards": 3 / 3 / 20,
        "first_discards": (10 + 10) / 20,
    }


def test_new_game_begins_without_memory():
    table = three_hands()
    table.games.start(seed=1)
    assert seen(table, 0) == seen(table, 1) == {}
    assert not table.games.state["public"]["memory"].view(np.uint16).any()


def test_void_hand_shows_actions_only():
    """Hands that nobody has seen leave no trace."""
    rules = Rules(max_turns=2)
    tables = [
        Table("AC 2C 3C 4H 5H 6H 8S 9S TS KD", NO_MELDS, "9C", "JC JH", rules=rules, episode="game"),
        Table("AC 4C 6C 8H TH QH KS KH 2S KD", NO_MELDS, "9C", "JC JH", rules=rules, episode="game"),
    ]
    for table in tables:
        table.play("pass", "pass", "draw", "JC", "draw", "JH")
        assert table.result[0] == "void"
        assert seen(table, 1) == {"hands": 1 / 20, "upcards": 1 / 20, "first_discards": 1}


def shown(before: Games, actions: np.ndarray, index: int, player: int) -> dict[str, int]:
    """Return what a hand adds to a player's counts, by its last action, the open cards and the history.

    The melds of a defender who can lay off cards are missing.
    """
    games = as_games(before.state[[index]], before.rules)
    games.play(ONE_GAME, actions[[index]])
    public, hands = games.state["public"][0], games.state["private"]["hand"][0].tolist()
    events = games.views(ONE_GAME, player).history()
    choices = [event.action for event in events if event.player == player]
    passed = [event.action for event in events[:2]] == [PASS, PASS]
    forced = passed and events[2].player == player
    counts = {"upcards_taken": choices.count(DRAW_UPCARD)}
    counts["upcards_declined"] = choices.count(PASS) + choices.count(DRAW_STOCK) - forced
    own = [event for event in events if event.player == player]
    points = [int(CARD_VALUES[event.card]) for event in own if is_discard(event.action)]
    counts |= {"discards": len(points), "first_discards": len(points[:3]), "first_points": sum(points[:3])}
    counts["low_discards"] = sum(value <= 4 for value in points)
    counts["rising_discards"] = sum(later > before for before, later in pairwise(points))
    knocker = int(public["knocker"])
    if knocker < 0:
        counts |= dict.fromkeys((*OF_MELDS, "upcards_kept"), 0)
    else:
        taken = {event.card for event in own if event.action == DRAW_UPCARD}
        kept = taken & set(cards.cards_of(hands[player]))
        counts["upcards_kept"] = len(kept)
        deadwood = melds.deadwood(hands[knocker])
        if knocker == player:
            counts |= {"knocks": 1, "gins": int(deadwood == 0), "knock_deadwood": deadwood}
            counts["knock_turns"] = int(public["turn"])
        if knocker == player or deadwood == 0:
            laid = melds.best_melds(hands[player])
            sets = sum(len(meld) for meld in laid if len({card[0] for card in meld}) == 1)
            counts |= {"set_cards": sets, "run_cards": sum(map(len, laid)) - sets}
            melded = cards.parse(" ".join(chain.from_iterable(laid)))
            counts["upcards_melded"] = sum(melded >> card & 1 for card in kept)
            rest = cards.cards_of(hands[player] & ~melded)
            counts["high_cards"] = sum(CARD_VALUES[card] > (points or [10])[-1] for card in rest)
    return counts


@every_preset
def test_memory_holds_what_the_rules_show(name):
    """Compare the counts with a slow reconstruction, and deal the hidden cards again."""
    rules = VARIANTS[name]
    games, bot = started(12, rules, seed=5, episode="game"), agents.make("simple:knock_at=3")
    fields = games.state["public"]["memory"].dtype.names
    expected = np.zeros((12, 2), [(field, np.int64) for field in fields])
    ends = 0
    for playing in games.until_over():
        actions = np.zeros(12, np.int64)
        actions[playing] = bot.act(games.views(playing))
        before = as_games(games.state, rules)
        games.play(playing, actions[playing])
        for index in np.flatnonzero(games.results["ended"] & ~games.done):
            found = games.state["public"]["memory"][index]
            for player in (0, 1):
                counts = shown(before, actions, index, player)
                for field in fields:
                    if field in OF_MELDS and field not in counts:
                        counts[field] = found[field][player] - expected[field][index, player]
                        assert 0 <= counts[field] <= rules.hand_size
                    expected[field][index, player] += counts.get(field, 0)
                    assert found[field][player] == expected[field][index, player], field
            ends += 1
        if ends > 30:
            break
    later = games.everyone[~games.done]
    for player in (0, 1):
        true = games.views(later, player)
        false = as_games(redealt(games.state[later], rules, player, seed=player), rules)
        again = false.views(false.everyone, player)
        assert same_records(true.array, again.array)
        assert np.array_equal(true.memories(), again.memories())
        assert true.memories().any()
        assert (true.memories() >= 0).all()
        assert (true.memories() <= 1).all()


def test_counts_stop_at_their_limit():
    table = three_hands()
    table.games.state["public"]["memory"]["upcards_taken"] = 2**16 - 1
    table.deal("AC 2C 3C 4H 5H 6H 8S 9S TS KD", NO_MELDS, "2H", dealer=1)
    table.games.state["public"]["scores"] = 0
    table.play("take", "knock KD")
    assert (table.games.state["public"]["memory"]["upcards_taken"] == 2**16 - 1).all()


def test_environments_agree_on_the_memory():
    """Simple against itself in three environments: the same entry as that of the view, all zeros at first."""
    options = {"episode": "game", "memory": True}
    vector = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=2, **options)
    single = gymnasium.make("gin_env/GinRummy-v0", **options).unwrapped
    bot, known = agents.make("simple"), 0
    observations, alone = vector.reset(seed=8)[0], single.reset(seed=8)[0]
    assert not observations["memory"].any()
    for _ in range(200):
        games = vector.seat.games
        assert observations in vector.observation_space
        views = games.views(games.everyone, 0)
        assert np.array_equal(observations["memory"], views.memories())
        assert np.array_equal(alone["memory"], observations["memory"][0])
        known += observations["memory"].any()
        actions = bot.act(views)
        observations, _, over, _, infos = vector.step(actions)
        alone, _, alone_over, _, _ = single.step(int(actions[0]))
        for index in np.flatnonzero(over):
            last = infos["final_obs"][index]
            assert last in vector.single_observation_space
            assert last["memory"].any(), "the hands before the last one"
            assert not observations["memory"][index].any()
        if alone_over:
            alone = single.reset()[0]
    assert known > 50


def test_aec_memory_is_that_of_the_view():
    env, bot, known = gin_rummy_v0.raw_env(episode="game", memory=True), agents.make("simple"), 0
    env.reset(seed=3)
    for agent in env.agent_iter(400):
        for each in env.possible_agents:
            observation = env.observe(each)
            assert observation in env.observation_space(each)
            assert np.array_equal(observation["memory"], PlayerView.from_env(env, each).memories()[0])
            known += observation["memory"].any()
        over = env.terminations[agent]
        env.step(None if over else int(bot.act(PlayerView.from_env(env, agent))[0]))
    assert known > 50


@pytest.mark.parametrize("make", [GinRummyEnv, GinRummyVectorEnv, gin_rummy_v0.raw_env])
def test_memory_needs_games_and_a_dict(make):
    with pytest.raises(ValueError, match="memory=True needs episode='game'"):
        make(memory=True)
    with pytest.raises(ValueError, match="flat=True cannot be combined with memory=True"):
        make(memory=True, episode="game", flat=True)
    with pytest.raises(TypeError, match="memory must be"):
        make(memory=1, episode="game")
