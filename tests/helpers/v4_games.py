"""Games of PettingZoo's `gin_rummy_v4` as data, for `test_gin_rummy_v4.py`.

It needs the old release, and nothing of gin-env:

python -m venv old && old/bin/pip install pettingzoo==1.26.1 rlcard==1.0.5 pygame
old/bin/python tests/helpers/v4_games.py tests/data/gin_rummy_v4.npz --seeds 18

Three kinds of players, with random numbers of their own, take turns from seed to seed: "random" takes any
legal action; "tidy" discards to the least deadwood and knocks half of the time; "patient" does
not knock, so that gins are there too. Each seed gives two games: `reset(seed=...)`, then `reset()`. A
`reset(seed=...)` makes a new RLCard game, which pays 0.2 for a knock and 1 for gin whatever the keywords say;
every second seed is therefore set in the RLCard game itself, where the keywords stay in force.

The arrays, for n games and s steps of all games together:

seeds int64 (n,), followers bool (n,)   the game is the second of its seed
kinds int8 (n,), keywords bool (n,)     the player's place in KINDS; rewards are KNOCK_REWARD and GIN_REWARD
lengths int16 (n,), rewards float64 (n, 2)
actions uint8 (s,), players uint8 (s,)  what was done, and by whom
planes uint8 (s, 33), masks uint8 (s, 14)   bits (np.packbits) of the 5 x 52 planes and the 110 actions
"""

from __future__ import annotations

import argparse

import numpy as np

KNOCK_REWARD, GIN_REWARD = 0.35, 0.8
KINDS = ("random", "tidy", "patient")


def choose(kind, legal, hand, rng):
    """Least deadwood after the discard, by RLCard's own melding; for "tidy" a knock half of the time."""
    from rlcard.games.gin_rummy.utils import melding, utils

    knocks, discards = [a for a in legal if a >= 58], [a for a in legal if 6 <= a < 58]
    if kind == "random" or not discards:
        return rng.choice(legal)
    if knocks and kind == "tidy" and rng.random() < 0.5:
        return rng.choice(knocks)

    def left(action):
        rest = [card for card in hand if utils.get_card_id(card) != action - 6]
        clusters = melding.get_best_meld_clusters(rest)
        return utils.get_deadwood_count(rest, clusters[0] if clusters else [])

    return min(discards, key=left)


def play(env, kind, rng):
    """Play the game that is dealt: its steps, rewards, and how often the hand was shown to the other."""
    game, steps, shown = env.env.game, [], 0
    while not env.terminations[env.agent_selection]:
        seen = env.observe(env.agent_selection)
        legal = np.flatnonzero(seen["action_mask"])
        hand = game.get_current_player().hand
        action = choose(kind, legal, hand, rng)
        other = env.possible_agents[1 - env.possible_agents.index(env.agent_selection)]
        shown += np.array_equal(env.observe(other)["observation"][0], seen["observation"][0])
        bits = np.packbits(seen["observation"].astype(bool)), np.packbits(seen["action_mask"].astype(bool))
        steps.append((action, env.agent_selection == "player_1", *bits))
        env.step(int(action))
    return steps, [env.rewards[agent] for agent in env.possible_agents], shown


def main():
    from pettingzoo.classic import gin_rummy_v4

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--seeds", type=int, default=18)
    wanted = parser.parse_args()

    games, all_steps, all_shown = [], [], 0
    for seed in range(wanted.seeds):
        rng = np.random.default_rng(seed)
        env = gin_rummy_v4.raw_env(KNOCK_REWARD, GIN_REWARD, opponents_hand_visible=True)
        kind, keywords = seed % len(KINDS), seed % 2 == 1
        for follower in range(2):
            if follower:
                env.reset()
            elif keywords:
                env.env.seed(seed)
                env.reset()
            else:
                env.reset(seed=seed)
            steps, rewards, shown = play(env, KINDS[kind], rng)
            games.append((seed, follower, kind, keywords, len(steps), rewards))
            all_steps += steps
            all_shown += shown

    seeds, followers, kinds, keywords, lengths, rewards = zip(*games, strict=True)
    actions, players, planes, masks = zip(*all_steps, strict=True)
    np.savez_compressed(
        wanted.file,
        seeds=np.array(seeds, np.int64),
        followers=np.array(followers, bool),
        kinds=np.array(kinds, np.int8),
        keywords=np.array(keywords, bool),
        lengths=np.array(lengths, np.int16),
        rewards=np.array(rewards, np.float64),
        actions=np.array(actions, np.uint8),
        players=np.array(players, np.uint8),
        planes=np.array(planes, np.uint8),
        masks=np.array(masks, np.uint8),
    )
    print(f"{len(games)} games, {len(all_steps)} steps")
    print(f"in {all_shown} steps observe() of the player not to move showed the hand of the player to move")


if __name__ == "__main__":
    main()
