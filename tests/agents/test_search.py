"""The bot search: the policy's likeliest actions, tried in sampled worlds."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
import torch
from hands_in_words import ONE_GAME, Table, started
from played_positions import views_of_policy
from rule_variants import VARIANTS

from gin_env import agents, cards
from gin_env.agents.generations.bot import GenerationBot
from gin_env.agents.policies.candidate_network import FORMAT, CandidateScorer, save_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.search import bot as search
from gin_env.agents.search import rollouts
from gin_env.agents.search.belief import chances_of_play
from gin_env.agents.search.best_response import BestResponseBot
from gin_env.agents.search.bot import SearchBot
from gin_env.agents.search.rollouts import RolloutPlayers
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.actions import KNOCK, PASS, is_discard
from gin_env.game.history import events
from gin_env.game.rules import Rules
from gin_env.game.state import DRAW, OFFER, OVER
from gin_env.matches.matches import play_match
from gin_env.observations.candidates import NO_ACTION
from gin_env.observations.views import PlayerView
from gin_env.support import specs

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    ("episode", "needed"),
    [("hand", "trained on games, not on single hands"), ("game", "whose values are chances to win")],
)
def test_policy_without_chances_to_win_a_game_is_refused(episode, needed, tmp_path):
    save_candidate_policy(tmp_path / "a.safetensors", CandidateScorer(hidden=2), episode=episode)
    with pytest.raises(ValueError, match=f"needs a policy {needed}"):
        SearchBot(policy=str(tmp_path / "a.safetensors"))


def test_older_file_that_does_not_name_its_values_has_chances_to_win(tmp_path):
    save_candidate_policy(tmp_path / "a.safetensors", CandidateScorer(hidden=2))
    tensors, described = FORMAT.read_tensors(tmp_path / "a.safetensors")
    del described["match_values"]
    FORMAT.write_tensors(tmp_path / "a.safetensors", tensors, described)
    assert SearchBot(policy=str(tmp_path / "a.safetensors")).policy.network.match_values


def before_gin(player: int, rules: Rules | None = None) -> Table:
    """The player, who has drawn KS after two passes, may knock with it."""
    hands = ["3C 4C 5C 6C 8H 9H TH JH QH KH", "KC QD JC 9S 7H 5D 4S 2D 2C AS"]
    hands = hands if player == 0 else hands[::-1]
    table = Table(*hands, "3S", "KS", dealer=1 - player, rules=rules, episode="game")
    return table.play("pass", "pass", "draw")


def test_search_knocks_with_gin(tmp_path):
    """The policy is indifferent and would discard the first card; in the worlds, gin wins immediately."""
    indifferent = CandidateScorer(hidden=2)
    for parameter in indifferent.parameters():
        torch.nn.init.zeros_(parameter)
    save_candidate_policy(tmp_path / "a.safetensors", indifferent, match_values=True)
    bot = SearchBot(64, turns=50, tried=107, policy=str(tmp_path / "a.safetensors"))
    view = before_gin(0).games.views(ONE_GAME)
    assert bot.policy.act(view)[0] == cards.card_id("3C")
    assert bot.act(view)[0] == KNOCK + cards.card_id("KS")


def test_value_of_a_hand_depends_on_the_score():
    bot = SearchBot()
    points = np.array([10, 40, -10])
    at_the_start, near_the_end = bot.worth(Rules(), points, 0, 0), bot.worth(Rules(), points, 95, 40)
    assert at_the_start[1] > at_the_start[0] > 0 > at_the_start[2]
    assert near_the_end[0] == near_the_end[1] > 0
    assert bot.worth(Rules(), np.array([-60]), 0, 50)[0] < bot.worth(Rules(), np.array([-49]), 0, 50)[0]


def test_gin_is_worth_its_points_at_the_players_score():
    """The player needs 30 points and the opponent 100, or the other way round."""
    bot, rules, states, worth = SearchBot(), Rules(target_score=120), [], []
    for player, own, opponents in ((0, 90, 20), (0, 20, 90), (1, 90, 20), (1, 20, 90)):
        table = before_gin(player, rules)
        table.public["scores"] = (own, opponents) if player == 0 else (opponents, own)
        states.append(table.games.state.copy())
        won = bot.won_after(states[-1], np.array([KNOCK + cards.card_id("KS")]), player)
        ending, winner, points = table.play("knock KS").result
        assert (ending, winner) == ("gin", player)
        assert won[0] == bot.worth(rules, np.array([points]), own, opponents)[0] > 0
        worth.append(won[0])
    knocks = np.full(4, KNOCK + cards.card_id("KS"))
    assert bot.won_after(np.concatenate(states), knocks, np.array([0, 0, 1, 1])).tolist() == worth


def test_gains_are_relative_to_the_first_action_in_the_same_worlds():
    bot = SearchBot(16, turns=2)
    for _, view in views_of_policy(3)[::3]:
        tried = bot.likeliest(view)[0]
        worlds = bot.belief.worlds(view, 8, np.random.default_rng(1))
        gains = bot.gains(view, worlds, np.append(tried, tried[0]))
        assert gains.shape == (len(tried) + 1, 8)
        assert (gains[0] == 0).all()
        assert np.abs(gains[-1]).max() < 1e-6  # the same action, in another place of the batch
        assert np.abs(gains).max() <= 1


def test_policys_choice_comes_first_and_illegal_actions_never():
    bot, asks_all, improved = SearchBot(tried=3), SearchBot(tried=107), agents.make("policy")
    for _, view in views_of_policy(4):
        tried = bot.likeliest(view)[0]
        likely = np.flatnonzero(improved.action_chances(view)[0] > search.MIN_PROBABILITY)
        assert set(asks_all.likeliest(view)[0].tolist()) == {tried[0], *likely.tolist()}
        assert tried[0] == improved.act(view)[0]
        assert len(set(tried.tolist())) == len(tried) <= 3
        assert view.masks()[0][tried].all()


def test_worlds_depend_on_the_random_number_of_the_view(monkeypatch):
    bot, drawn = SearchBot(16, opponent="simple", estimator="uniform"), []
    assert (bot.belief.estimator.name, bot.belief.shapes) == ("uniform", None)
    view = next(view for _, view in views_of_policy(5) if len(bot.likeliest(view)[0]) > 1)
    gains = bot.gains
    monkeypatch.setattr(bot, "gains", lambda *args: drawn.append(args[1].tobytes()) or gains(*args))
    for number in (1, 2, 1):
        view.array["random"] = number
        bot.act(view)
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.mark.parametrize("response", [False, True])
def test_choice_of_the_first_network_comes_second_if_improved(response):
    bot = BestResponseBot("simple", 16) if response else SearchBot()
    views = PlayerView(np.concatenate([view.array for _, view in views_of_policy(40)]))
    first, improved = (agents.make(name).act(views) for name in ("policy:margin=none", "policy"))
    changed = np.flatnonzero(first != improved)
    assert len(changed) > 3
    for index in changed:
        view = views[[index]]
        tried = bot.likeliest(view)[0]
        assert tried[:2].tolist() == [improved[index], first[index]]


def test_threads_can_share_a_bot():
    bot = agents.make("search:samples=16,turns=1")

    def play(seed):
        return play_match(bot, "simple", 4, seed, episode="hand").as_dict()

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(play, (1, 2))) == list(map(play, (1, 2)))


def test_search_with_high_caution_plays_the_policy():
    careful = SearchBot(16, turns=1, caution=100)
    for _, view in views_of_policy(3):
        assert careful.act(view) == careful.policy.act(view)


def test_smaller_but_more_certain_gain_is_preferred(monkeypatch):
    bot = SearchBot(64, opponent="policy")
    view = next(view for _, view in views_of_policy(5) if len(bot.likeliest(view)[0]) > 2)
    tried = bot.likeliest(view)[0].tolist()

    def gains(view, worlds, actions, players):
        """The second action gains 0.3 on average with a large spread; the third always gains 0.2."""
        noise = np.tile([-1.0, 1.0], len(worlds) // 2)
        worth = {tried[0]: 0 * noise, tried[1]: 0.3 + noise, tried[2]: 0.2 + 0.001 * noise}
        return np.stack([worth.get(action, -0.5 + 0 * noise) for action in actions.tolist()])

    monkeypatch.setattr(bot, "gains", gains)
    assert bot.act(view)[0] == tried[2]
    assert bot.best(tried[0], np.array(tried[1:2]), np.zeros((1, 16))) == tried[0], "no gain at all"


@pytest.mark.parametrize("caution", [1.0, 100.0])
def test_action_that_is_clearly_worse_is_dropped(monkeypatch, caution):
    bot = SearchBot(128, opponent="policy", caution=caution)
    view = next(view for _, view in views_of_policy(5) if len(bot.likeliest(view)[0]) > 2)
    tried, asked = bot.likeliest(view)[0].tolist(), []

    def gains(view, worlds, actions, players):
        asked.append((len(worlds), actions.tolist()))
        noise = np.tile([-0.05, 0.05], len(worlds) // 2)
        worth = {tried[0]: 0 * noise, tried[2]: 1 + noise}
        return np.stack([worth.get(action, noise - 1) for action in actions.tolist()])

    monkeypatch.setattr(bot, "gains", gains)
    assert bot.act(view)[0] == tried[2]
    kept = [tried[0], tried[2]]
    assert asked == [(16, tried), (48, tried if caution > 1 else kept), (64, kept)]


def noisy_gains(asked):
    """Return a stand-in for `SearchBot.gains`: no gain; numbers of worlds are kept in `asked`."""

    def gains(view, worlds, actions, players):
        asked.append(len(worlds))
        noise = np.tile([-1.0, 1.0], len(worlds) // 2)
        return np.stack([noise * (place > 0) for place in range(len(actions))])

    return gains


@pytest.mark.parametrize(
    ("budget", "worlds"), [(0, []), (1, [16]), (63, [16]), (65, [16, 48]), (257, [16, 48, 192])]
)
def test_no_round_starts_that_would_exceed_the_budget(monkeypatch, budget, worlds):
    """The clock advances only with rollouts, by a millisecond per world."""
    bot, asked, known = SearchBot(1024, budget_ms=budget, opponent="policy"), [], []
    rules, chances = Rules(target_score=50), bot.players._chances
    view = next(view for _, view in views_of_policy(5, rules) if len(bot.likeliest(view)[0]) > 1)
    monkeypatch.setattr(search, "perf_counter", lambda: known.append([*chances]) or sum(asked) / 1000)
    monkeypatch.setattr(bot, "gains", noisy_gains(asked))
    assert bot.act(view) == bot.policy.act(view)
    assert asked == worlds
    assert known[0] == [rules], "the chances to win take none of the budget"


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_search_plays_under_other_rules(variant):
    result = play_match(
        "search:samples=2,turns=1,tried=2", "simple", 6, 4, episode="hand", rules=VARIANTS[variant]
    )
    assert result.hands == 6


def test_chances_to_win_belong_to_their_rules():
    """The same players, target and decks, with twice the bonuses: a deficit is made up more often."""
    players = RolloutPlayers(agents.make("policy-1").network, None)
    plain, doubled = (players.chances_to_win(rules) for rules in (Rules(), Rules(gin_bonus=50)))
    assert plain.shape == doubled.shape
    assert not np.array_equal(plain, doubled)
    assert np.array_equal(players.chances_to_win(Rules()), plain)
    played_out = chances_of_play(Rules(), lambda games: players.roll_out(games, 1, 1 << 30))
    assert np.array_equal(plain, played_out)


def test_networks_of_rollouts_are_those_of_bots_that_play_like_them():
    network = agents.make("policy-1").network
    bots = [
        CandidatePolicyBot(network, **each) for each in ({}, {"deterministic": False}, {"episode": "hand"})
    ]
    found = [rollouts.network_of(bot) for bot in (*bots, agents.make("policy-memory"))]
    assert found == [network, None, None, None]


@pytest.mark.parametrize(("policy", "another"), [("policy", "policy-1"), ("policy-1", "policy")])
def test_rollouts_use_the_assumed_opponent(policy, another):
    """Naming the same policy as the opponent changes nothing; naming another bot changes decisions."""
    alone, named, *others = (
        SearchBot(policy=policy, opponent=name) for name in (None, policy, another, "random-discard")
    )
    for bot in (named, *others):
        bot.players._chances = alone.players._chances  # hands of others would pay by other chances
    likewise = np.zeros((len(others), 2))
    for _, view in views_of_policy(8)[::3]:
        worlds, actions = alone.belief.worlds(view, 16, np.random.default_rng(3)), alone.likeliest(view)[0]
        gains = alone.gains(view, worlds, actions)[1:]
        assert (named.gains(view, worlds, actions)[1:] == gains).all()
        for count, other in zip(likewise, others, strict=True):
            same = np.isclose(other.gains(view, worlds, actions)[1:], gains, atol=1e-6)
            count += same.sum(), same.size
    assert (likewise[:, 1] > 150).all()
    assert (likewise[:, 0] / likewise[:, 1] < [0.9, 0.3]).all()


@pytest.mark.parametrize(
    "bots", [("policy-1", "policy-1"), ("policy:margin=none", "policy-1"), ("policy-1", "policy:margin=none")]
)
def test_players_of_rollouts_play_like_the_bots(bots):
    """Regression: ties were decided differently."""
    own, other = (agents.make(bot) for bot in bots)
    games, played = (started(100, seed=9) for _ in range(2))
    RolloutPlayers(own.network, other).roll_out(games, 0, 1 << 30)
    for running in played.until_over():
        play_seated(played, [own, other], played.to_move()[running], running, play_bot)
    same = games.state["public"]["points"] == played.state["public"]["points"]
    # Single precision can decide close calls differently.
    assert same.mean() > 0.97


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_rollouts_stop_where_the_player_is_to_draw_for_that_time(turns):
    """The draw that two passes force is no decision."""
    games, seats, forced = started(60, seed=9), np.arange(60) % 2, 0
    RolloutPlayers(agents.make("policy-1").network, None).roll_out(games, seats, turns)
    public = games.state["public"]
    assert (games.done == (public["phase"] == OVER)).all()
    for game in np.flatnonzero(~games.done):
        seat, history = seats[game], public["history"][game, : public["history_length"][game]].tolist()
        assert (public["to_move"][game], public["phase"][game] in (OFFER, DRAW)) == (seat, True)
        acts = [action for mover, action, _ in events(public[game]) if mover == seat]
        passed = history[:2] == [PASS, PASS] and public["dealer"][game] != seat
        forced += passed
        assert sum(not is_discard(action) for action in acts) - passed == turns - 1
    assert forced or turns == 1


@pytest.mark.parametrize(("samples", "worlds"), [(2, [16]), (33, [16, 32]), (96, [16, 48, 32])])
def test_last_round_has_the_worlds_that_are_missing(monkeypatch, samples, worlds):
    bot, asked = SearchBot(samples, opponent="policy"), []
    view = next(view for _, view in views_of_policy(5) if len(bot.likeliest(view)[0]) > 1)
    monkeypatch.setattr(bot, "gains", noisy_gains(asked))
    bot.act(view)
    assert asked == worlds


@pytest.mark.parametrize(("name", "bot"), [("search", SearchBot), ("generation", GenerationBot.load)])
def test_lazily_imported_bot_has_the_same_parameters(name, bot):
    """They are written twice, because they must be available without torch."""
    assert agents.parameters(name).items() <= specs.parameters(bot).items()


@pytest.mark.parametrize("hidden", [None, 5, 100])
def test_players_of_rollouts_score_actions_like_the_network(hidden):
    """Layers of any width, also if the blocks in which they are multiplied do not divide it.

    The network is the player's; the opponent has another.
    """
    records = np.concatenate([view.array for _, view in views_of_policy(4)])
    torch.manual_seed(3)
    network = agents.make("policy").network if hidden is None else CandidateScorer(hidden)
    players = RolloutPlayers(copied := deepcopy(network), agents.make("policy-1"))
    for parameter in copied.parameters():
        torch.nn.init.zeros_(parameter)
    logits, actions = players.logits(records)
    rows, expected_actions, context = PlayerView(records).candidates()
    assert (actions == expected_actions).all()
    with torch.inference_mode():
        expected, _ = network.action_logits(*map(torch.from_numpy, (rows, expected_actions, context)))
    for index, action in zip(*np.nonzero(actions[:, :, 0] >= 0), strict=True):
        for knock in range(2):
            if (chosen := actions[index, action, knock]) >= 0:
                assert logits[index, action, knock] == pytest.approx(expected[index, chosen].item(), abs=1e-4)


def test_value_of_a_position_is_that_of_the_network():
    """The value where a rollout ends: of discards and knocks, weighted by the policy's probabilities."""
    policy = agents.make("policy:margin=none")
    network, players = rollouts.read_network(policy.network), RolloutPlayers(policy.network, None)
    games, knocks = Games(1, episode="game"), 0
    for state, view in views_of_policy(6):
        player = int(view.array["player"][0])
        rows, actions, context = view.candidates()
        with torch.inference_mode():
            _, value = policy.network.action_logits(*map(torch.from_numpy, (rows, actions, context)))
        num_rows = rollouts.score_candidates(network, state["public"], state["private"][player], player)
        assert rollouts.position_value(network.room, num_rows) == pytest.approx(float(value), abs=1e-5)
        if state["public"]["phase"] in (OFFER, DRAW):
            games.state[0], games.done[0] = state, False
            (won,) = players.roll_out(games, player, 1)
            assert won == pytest.approx(float(value) / 2, abs=1e-5), "values are twice the change in chances"
        network.room.scores[:, :2] = 0
        network.room.scores[0, 0] = -1  # all others are equal
        others = network.room.actions[:num_rows].ravel()[1:]
        assert rollouts.likeliest_action(network.room, num_rows) == others[others != NO_ACTION].min()
        knocks += int((actions[..., 1] != NO_ACTION).any())
    assert knocks > 3
