"""Bots with a memory: they do not see both games of a deal."""

from __future__ import annotations

import json
import pickle
import sys
import threading

import numpy as np
import pytest
from watching_bots import PlaysBothGames, PlaysItself, RemembersHands

from gin_env import agents, play_match, records
from gin_env.matches.shards import _copies, new_copies, split_deals
from gin_env.matches.tournaments import play_tournament

pytestmark = pytest.mark.compiled
SEEDS = range(8)


def num_claims(bot) -> int:
    return len(bot.claims.read_text().splitlines()) if bot.claims.exists() else 0


def test_object_bot_does_not_recognise_its_opponents_hand(tmp_path):
    bots = RemembersHands(tmp_path / "copies"), PlaysBothGames(tmp_path / "one")
    for bot in bots:
        for seed in SEEDS:
            play_match(bot, "simple", 2, seed, episode="hand")
    assert num_claims(bots[0]) == 0
    assert num_claims(bots[1]) >= len(SEEDS), "the bot would recognise hands if it saw both games"
    assert bots[0].hands == [], "nothing is carried from one match to the next"


def test_each_half_has_one_game_of_every_deal():
    order = np.random.default_rng(2).permutation(40)
    halves = split_deals(order)
    for half in halves:
        assert sorted(half // 2) == list(range(20))
        assert half.tolist() == [game for game in order.tolist() if game in half]
    assert sorted(np.concatenate(halves)) == list(range(40))


def test_equal_bots_in_workers_are_two_unless_one_plays_both_seats(tmp_path):
    packed = (pickle.dumps(RemembersHands(tmp_path)),) * 2
    first, second = _copies(-1, 0, packed, same=False)
    assert first is not second
    first, second = _copies(-2, 0, packed, same=True)
    assert first is second


def test_object_bot_carries_nothing_between_the_matches_of_a_tournament(tmp_path):
    bot = RemembersHands(tmp_path / "claims")
    for seed in SEEDS:
        play_tournament([bot, "simple", "late-knock"], 2, seed, episode="hand")
    assert num_claims(bot) == 0


def test_program_is_started_again_for_the_second_games(tmp_path):
    script = tmp_path / "bot.py"
    script.write_text(
        "import json, os, random, sys\n"
        "sys.stdin.readline()\n"
        "print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        f"    with open({str(tmp_path / 'seen')!r}, 'a') as seen:\n"
        "        print(json.dumps([os.getpid(), question['hand']]), file=seen)\n"
        "    action, number = random.choice(question['legal']), question['number']\n"
        "    print(json.dumps({'type': 'action', 'number': number, 'action': action}), flush=True)\n"
    )
    play_match(f"process:{sys.executable} -S {script}", "simple", 2, seed=1, episode="hand")
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    programs = list(dict.fromkeys(program for program, _ in seen))
    assert len(programs) == 2
    assert [program for program, _ in seen] == sorted((one for one, _ in seen), key=programs.index)


def test_copies_play_the_same_match_and_record(tmp_path):
    """A bot without a memory plays the same, whether it is named, copied or itself."""

    class Simple(PlaysItself):
        name = "simple"

        def act(self, view):
            return agents.make("simple").act(view)

    class Copied(Simple):
        def __deepcopy__(self, memo):
            return Copied()

    named = play_match("simple", "random", 20, seed=6, episode="hand")
    for number, bot in enumerate((Simple(), Copied())):
        record = tmp_path / str(number)
        match = play_match(bot, "random", 20, seed=6, episode="hand", record=record)
        assert match == named
        assert np.array_equal(match.deals, named.deals)
        assert len(list(records.read(record))) == 20
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_bot_that_cannot_be_copied_plays_with_a_warning():
    class Locked:
        name = "locked"

        def __init__(self):
            self.lock = threading.Lock()

        def act(self, view):
            return view.masks().argmax(axis=1)

    with pytest.warns(UserWarning, match="bot 'locked' cannot be copied .* plays both games of each deal"):
        assert play_match(Locked(), "simple", 4, seed=1, episode="hand").hands == 4


@pytest.mark.parametrize("name", agents.names(slow=False))
def test_bots_of_the_package_play_themselves(name):
    bots = agents.make(name), agents.make("simple")
    assert all(one is other for one, other in zip(new_copies(bots), bots, strict=True))
