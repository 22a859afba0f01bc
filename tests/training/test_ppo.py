"""The PPO example: what it learns from, that it goes on as if never stopped, and that it learns."""

from __future__ import annotations

import copy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import load_example

torch = pytest.importorskip("torch")
pytest.importorskip("tyro")

from ppo_kills import KILLS  # noqa: E402

from gin_env import (  # noqa: E402
    agents,
    play_match,
    records,
)
from gin_env.agents.policies.candidate_network import (  # noqa: E402
    FILE_VERSION,
    KIND,
    CandidatePolicy,
    load_candidate_policy,
    save_candidate_policy,
)
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot  # noqa: E402
from gin_env.batch import Games  # noqa: E402
from gin_env.game.rules import Rules  # noqa: E402
from gin_env.observations.candidates import NO_ACTION, NUM_CONTEXT, NUM_FEATURES  # noqa: E402
from gin_env.support.tensor_files import TensorFileError, read_tensors, write_tensors  # noqa: E402

pytestmark = pytest.mark.compiled

TABLES = 32
HERE = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def ppo():
    return load_example("ppo")


def tiny(ppo, run: Path):
    return ppo.Settings(
        run, decisions=2000, threads=1, tables=TABLES, steps=24, batch_size=256, hidden=8, bots=("simple",),
        bots_share=0.2, past_share=0.3, past_size=2, snapshot_every=1, evaluate_every=1e9, final_games=2,
        checkpoint_every=1e9,
    )  # fmt: skip


def new_learner(ppo, tmp_path):
    """Its rollouts are long enough for hands that end: an untrained player rarely knocks."""
    learner = ppo.Learner(replace(tiny(ppo, tmp_path), steps=100))
    learner.begin_games(learner.games.everyone)
    learner.seat_opponents(learner.games.everyone)
    return learner


# --- Advantages ---------------------------------------------------------------------------------------


def three_decisions(ppo):
    """Player 0, player 1 and player 0 decide at table 0, where the network hopes for 0.1, -0.2 and 0.3."""
    chains = ppo.Chains(tables=2, capacity=8)
    table = np.array([0])
    for place, (player, value) in enumerate(((0, 0.1), (1, -0.2), (0, 0.3))):
        places = slice(place, place + 1)
        chains.add(table, np.array([player]), place % 2, places, np.array([value], np.float32))
    return chains


def test_advantages_of_a_hand_that_ends_with_gin(ppo):
    chains = three_decisions(ppo)
    chains.end_hands(np.array([0]), np.array([0.4], np.float32))
    chains.estimate_advantages(gamma=1.0, gae_lambda=0.95)
    # The last decision of each player is paid: 0.4 - 0.3, -0.4 - (-0.2). What follows the first is worth 0.3.
    expected = [(0.3 - 0.1) + 0.95 * (0.4 - 0.3), -0.4 + 0.2, 0.4 - 0.3]
    np.testing.assert_allclose(chains.advantage[:3], expected, rtol=1e-5)
    assert chains.known[:3].all()


def test_advantages_of_a_void_hand(ppo):
    chains = three_decisions(ppo)
    chains.end_hands(np.array([0]), np.array([0.0], np.float32))
    chains.estimate_advantages(gamma=1.0, gae_lambda=0.95)
    np.testing.assert_allclose(chains.advantage[:3], [0.2 - 0.95 * 0.3, 0.2, -0.3], rtol=1e-5)


def test_what_the_end_of_a_rollout_cuts_off_is_not_learned_and_lends_its_value(ppo):
    chains = three_decisions(ppo)
    chains.estimate_advantages(gamma=1.0, gae_lambda=0.95)
    assert chains.known[:3].tolist() == [True, False, False]
    np.testing.assert_allclose(chains.advantage[:3], [0.3 - 0.1, 0, 0], rtol=1e-5)


def test_the_hand_after_begins_chains_of_its_own(ppo):
    chains = three_decisions(ppo)
    chains.end_hands(np.array([0]), np.array([0.4], np.float32))
    chains.add(np.array([0, 1]), np.array([0, 0]), 0, slice(3, 5), np.array([9, 9], np.float32))
    chains.estimate_advantages(gamma=1.0, gae_lambda=0.95)
    np.testing.assert_allclose(chains.advantage[2], 0.4 - 0.3, rtol=1e-5)
    assert chains.next[1:5].tolist() == [chains.nothing] * 4


# --- Experience ---------------------------------------------------------------------------------------


def test_no_experience_crosses_the_end_of_a_hand_or_goes_from_one_player_to_the_other(ppo, tmp_path):
    learner = new_learner(ppo, tmp_path)
    taken, paid = [], {}
    decide, end_hands = learner.decide, learner.chains.end_hands

    def hands_of(tables):
        keys = learner.games.state["hidden"]["deal_key"][tables]
        numbers = learner.games.state["public"]["hand_number"][tables]
        return list(zip(keys.tolist(), numbers.tolist(), strict=True))

    def recorded(tables, players, kind):
        taken.extend(zip(hands_of(tables), tables.tolist(), players.tolist(), strict=True))
        return decide(tables, players, kind)

    def paying(tables, rewards):
        last = learner.chains.last[tables].copy()
        end_hands(tables, rewards)
        for two, reward in zip(last, rewards, strict=True):
            paid.update(
                {int(number): sign * float(reward) for number, sign in zip(two, (1, -1), strict=True)}
            )

    learner.decide, learner.chains.end_hands = recorded, paying
    links = ends = against_others = 0
    for _ in range(3):
        taken.clear()
        paid.clear()
        learner.collect()
        chains = learner.chains
        assert chains.count == len(taken)
        for number in range(chains.count):
            following = int(chains.next[number])
            if following == chains.nothing:
                assert chains.known[number] == (number in paid)
                assert chains.reward[number] == np.float32(paid.get(number, 0))
                ends += number in paid
            else:
                assert following > number
                assert taken[following] == taken[number]
                assert chains.reward[number] == 0
                links += 1
        against_others += sum(learner.opponent[table] != ppo.SELF for _, table, _ in taken)
        for kind in learner.choices:
            assert ((kind.actions[: kind.count] != NO_ACTION).sum(axis=(1, 2)) > 1).all(), (
                "no choice, no decision"
            )
        learner.take_snapshot()
    assert min(links, ends, against_others) > 20


def test_both_seats_are_learned_from_against_oneself_and_one_against_the_league(ppo, tmp_path):
    learner = new_learner(ppo, tmp_path)
    seen = set()
    decide = learner.decide

    def recorded(tables, players, kind):
        seen.update(zip((learner.opponent[tables] == ppo.SELF).tolist(), players.tolist(), strict=True))
        return decide(tables, players, kind)

    learner.decide = recorded
    learner.collect()
    assert seen == {(True, 0), (True, 1), (False, 0)}


def test_a_hand_pays_the_change_of_the_chance_to_win_the_game(ppo, tmp_path):
    learner = new_learner(ppo, tmp_path)
    chances = learner.chances
    results = np.array([30, -30, -12, 0])  # points of player 0, or of player 1 where negative
    scores = np.array([[100, 60], [70, 90], [95, 107], [50, 50]])  # after them
    learner.games.rewards[:4] = results / 100
    learner.games.state["public"]["scores"][:4] = scores
    learner.opponent[:4] = [ppo.SELF, 0, 0, 0]
    learner.hands[:] = 0
    paid = learner.count_hands(np.arange(4))
    before = [chances[70, 60], chances[70, 60], chances[95, 95], chances[50, 50]]
    after = [1, chances[70, 90], 0, chances[50, 50]]
    np.testing.assert_allclose(paid, 2 * (np.array(after) - before), rtol=1e-6)
    # Hands, hands lost, points: against herself, and against the league's only bot.
    np.testing.assert_allclose(learner.hands[:2], [[1, 0, 30], [3, 2, -42]], rtol=1e-6)
    assert [learner.paid[points] for points in (0, 12, 30)] == [1, 1, 2]


def test_more_hands_are_played_against_whom_more_are_lost_up_to_a_limit(ppo, tmp_path):
    settings = replace(
        tiny(ppo, tmp_path), tables=20_000, steps=1, bots=("simple", "random"), bots_share=0.4, most_share=0.3
    )
    learner = ppo.Learner(settings)
    learner.hands[1:3] = [[950, 450, 0], [950, 0, 0]]  # half of the hands are lost to one, none to the other
    learner.seat_opponents(learner.games.everyone)
    shares = np.bincount(1 + learner.opponent, minlength=3) / settings.tables
    np.testing.assert_allclose(shares, [0.7, 0.3, 0.0], atol=0.02)


def test_two_threads_take_and_learn_the_same_decisions_as_one(ppo, tmp_path):
    learners = []
    for threads in (1, 2):
        learner = ppo.Learner(replace(tiny(ppo, tmp_path), steps=100, threads=threads))
        learner.begin_games(learner.games.everyone)
        learner.seat_opponents(learner.games.everyone)
        learner.collect()
        learner.update(1.0)
        learners.append(learner)
    one, two = learners
    assert one.chains.count == two.chains.count > 1000
    assert one.progress.decisions == two.progress.decisions
    np.testing.assert_array_equal(one.games.state, two.games.state)
    np.testing.assert_allclose(one.chains.advantage, two.chains.advantage, atol=1e-5)
    for mine, hers in zip(one.network.parameters(), two.network.parameters(), strict=True):
        torch.testing.assert_close(mine, hers, atol=1e-4, rtol=0)


# --- Runs ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(ppo, tmp_path):
    unbroken = ppo.Run(tiny(ppo, tmp_path / "unbroken"))
    unbroken.evaluate = lambda *_: None  # an untrained player's games are long
    unbroken.train()
    settings = tiny(ppo, tmp_path / "stopped")
    stopped = ppo.Run(settings)
    sessions = 1
    while True:
        stopped.interrupt()  # after the next update
        try:
            stopped.train()
            break
        except KeyboardInterrupt:
            stopped.save()
        stopped = ppo.Run(replace(settings, resume=True))
        sessions += 1
    assert sessions > 3
    expected, found = unbroken.learner.tensors(), stopped.learner.tensors()
    assert expected.keys() == found.keys()
    assert any(name.startswith("past.1.") for name in expected)
    for name, tensor in expected.items():
        assert torch.equal(tensor, found[name]), name
    assert unbroken.learner.random.bit_generator.state == stopped.learner.random.bit_generator.state
    assert unbroken.progress.decisions == stopped.progress.decisions
    assert stopped.progress.finished
    assert stopped.progress.evaluations[-1]["decisions"] == unbroken.progress.decisions
    policy = tmp_path / "stopped" / "policy.safetensors"
    assert isinstance(agents.make(str(policy)), CandidatePolicyBot)
    _, described = read_tensors(policy, "candidate policy", FILE_VERSION, "")
    origin = described["provenance"]
    assert origin["command"].startswith("python examples/ppo.py --decisions 2000 --threads 1 --tables 32 ")
    assert " --bots simple --bots-share 0.2 " in origin["command"]
    assert [player["spelled"] for player in origin["players"]] == ["simple:knock_at=10"]


def test_the_games_of_an_evaluation_can_be_recorded(ppo, tmp_path):
    run = ppo.Run(replace(tiny(ppo, tmp_path / "run"), record=True))
    run.progress.decisions = 12
    with ppo.SummaryWriter(str(tmp_path)) as board:
        run.evaluate(2, board)
    games = list(records.read(tmp_path / "run" / "games-12.jsonl"))
    names = [sorted(player.name for player in game.players) for game in games]
    assert names == [["policy", "simple"]] * 2 + [["policy", "random"]] * 2


@pytest.mark.long
def test_a_run_killed_at_any_moments_ends_as_if_it_had_not_been(tmp_path):
    """In a process of its own, which forks; what is checked stands there."""
    done = subprocess.run(
        [sys.executable, str(HERE / "ppo_kills.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{KILLS} kills, ")


def test_a_new_run_is_not_mixed_with_another_and_a_resumed_one_keeps_its_settings(ppo, tmp_path):
    settings = tiny(ppo, tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        ppo.open_run(replace(settings, resume=True))
    run = ppo.Run(settings)
    run.save()
    with pytest.raises(ValueError, match="is not empty"):
        ppo.open_run(settings)
    with pytest.raises(ValueError, match="has hidden = 8; leave it out"):
        ppo.open_run(replace(settings, resume=True, hidden=16))
    with pytest.raises(ValueError, match="at most 1 together"):
        ppo.open_run(replace(settings, bots_share=0.6, past_share=0.5))


def test_a_checkpoint_from_before_a_setting_goes_on_with_its_default(ppo, tmp_path):
    """`evaluate_against` came when there were checkpoints."""
    settings = tiny(ppo, tmp_path / "run")
    run = ppo.Run(settings)
    path = settings.run / ppo.CHECKPOINT
    tensors, metadata = read_tensors(path, ppo.KIND, ppo.VERSION, "")
    stored = {name: value for name, value in metadata["settings"].items() if name != "evaluate_against"}
    write_tensors(path, ppo.KIND, ppo.VERSION, tensors, metadata | {"settings": stored})
    resumed, _ = ppo.open_run(replace(settings, resume=True))
    assert resumed == replace(run.settings, resume=True)
    assert resumed.evaluate_against == ("simple", "random")


@pytest.mark.parametrize("name", ["bots", "evaluate_against"])
def test_checkpoint_starts_no_program_that_the_user_did_not_name(ppo, tmp_path, name):
    command = "process:./my-bot"
    stored = replace(ppo.Settings(tmp_path), **{name: (command,)})
    write_tensors(
        tmp_path / ppo.CHECKPOINT,
        ppo.KIND,
        ppo.VERSION,
        {"a": torch.zeros(1)},
        {"settings": ppo.as_json(stored)},
    )
    with pytest.raises(ValueError, match=f"names the program '{command}': name it yourself"):
        ppo.open_run(ppo.Settings(tmp_path, resume=True))
    resumed, _ = ppo.open_run(replace(stored, resume=True))
    assert getattr(resumed, name) == (command,)


@pytest.mark.long
def test_a_short_training_beats_random_and_its_own_beginning(ppo, tmp_path):
    settings = replace(
        tiny(ppo, tmp_path), tables=256, steps=48, batch_size=1024, hidden=32, decisions=150_000
    )
    learner = ppo.Learner(settings)
    beginning = CandidatePolicyBot(copy.deepcopy(learner.network), name="beginning")
    learner.begin_games(learner.games.everyone)
    learner.seat_opponents(learner.games.everyone)
    while (share := learner.progress.decisions / settings.decisions) < 1:
        learner.collect()
        learner.update(1 - share)
    bot = CandidatePolicyBot(learner.network)
    assert play_match(bot, "random", 200, seed=3).win_rate > 0.95
    assert play_match(bot, beginning, 200, seed=3).win_rate > 0.8


# --- The policy ---------------------------------------------------------------------------------------


def test_a_policy_read_from_its_file_has_the_logits_of_the_network_that_was_trained(tmp_path):
    torch.manual_seed(1)
    network = CandidatePolicy(16)
    path = tmp_path / "policy.safetensors"
    save_candidate_policy(path, network, Rules(knock_limit=9), {"seed": 1})
    read, rules, episode = load_candidate_policy(path)
    assert (rules, episode) == (Rules(knock_limit=9), "game")
    for number in (2, 11):
        rows, table = torch.rand(5, number, NUM_FEATURES), torch.rand(5, NUM_CONTEXT)
        possible = torch.rand(5, 2 * number) < 0.7
        for ours, theirs in zip(network(rows, possible, table), read(rows, possible, table), strict=True):
            assert torch.equal(ours, theirs)
    bot = agents.make(str(path))
    assert isinstance(bot, CandidatePolicyBot)
    with pytest.raises(ValueError, match="was trained under"):
        bot.act(started().views(np.arange(4)))


def started() -> Games:
    games = Games(64)
    games.start(games.everyone, np.full(64, 5, np.uint64), np.arange(64, dtype=np.uint64))
    return games


@pytest.mark.parametrize("deterministic", [True, False])
def test_the_bot_plays_whole_hands_legally_and_in_a_batch_as_alone(deterministic):
    torch.manual_seed(2)
    bot = CandidatePolicyBot(CandidatePolicy(16), deterministic=deterministic)
    games = started()
    for _ in range(40):
        running = games.everyone[~games.done]
        view = games.views(running)
        actions = bot.act(view)
        assert actions[0] == bot.act(view[0])[0]
        games.play(running, actions)


def test_a_file_that_names_no_size_or_another_one_is_refused(tmp_path):

    path = tmp_path / "policy.safetensors"
    weights = CandidatePolicy(4).state_dict()
    for described in (
        {},
        {"hidden": 10**9, "rules": {}},
        {"hidden": 4, "rules": {"cards": 3}},
        {"hidden": 8, "rules": {}},
    ):
        write_tensors(path, KIND, FILE_VERSION, weights, described)
        with pytest.raises(TensorFileError):
            load_candidate_policy(path)
