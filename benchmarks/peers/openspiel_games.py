"""OpenSpiel's gin_rummy from Python: one game at a time, its state in C++.

A hand in OpenSpiel has more decisions than ours (melds and lay-offs are chosen, dealing is chance moves that
the caller draws); a decision of either player counts as one, chance moves count as none.
"""

import random

from worker import bytes_each, main


def load():
    """See `worker`."""
    import numpy as np
    import pyspiel

    game = pyspiel.load_game("gin_rummy")
    uniform = random.Random(0).random

    def move_chance(state):
        while state.is_chance_node():  # all its outcomes are equally likely
            outcomes = state.legal_actions()
            state.apply_action(outcomes[int(uniform() * len(outcomes))])

    def play(choose):
        """Random legal play; a round is one hand."""

        def work(rounds):
            decisions = 0
            for _ in range(rounds):
                state = game.new_initial_state()
                move_chance(state)
                while not state.is_terminal():
                    state.apply_action(choose(state))
                    decisions += 1
                    move_chance(state)
            return {"decisions": decisions, "hands": rounds}

        return work

    def bare(state):
        legal = state.legal_actions()
        return legal[int(uniform() * len(legal))]

    def with_mask(state):
        legal = np.asarray(state.legal_actions_mask()).nonzero()[0]
        return int(legal[int(uniform() * len(legal))])

    def with_observation(state):
        np.asarray(state.observation_tensor(), np.float32)
        return with_mask(state)

    def deadwood():
        utilities = pyspiel.gin_rummy.GinRummyUtils(13, 4, 10)
        rng = random.Random(0)
        hands = [rng.sample(range(52), 10) for _ in range(100)]

        def work(rounds):
            for _ in range(rounds):
                for hand in hands:
                    utilities.min_deadwood(hand)
            return {"hands": rounds * len(hands)}

        return work

    def simple():
        bots = [pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), player) for player in range(2)]

        def work(rounds):
            for _ in range(rounds):
                state = game.new_initial_state()
                for bot in bots:
                    bot.restart()
                move_chance(state)
                while not state.is_terminal():
                    state.apply_action(bots[state.current_player()].step(state))
                    move_chance(state)
            return {"hands": rounds}

        return work

    def memory():
        def half_played(_):
            state = game.new_initial_state()
            for _ in range(20):
                move_chance(state)
                if state.is_terminal():
                    break
                state.apply_action(bare(state))
            return state

        return {"bytes": bytes_each(half_played, 1000)}

    rates = {
        "play": lambda: play(bare),
        "play_mask": lambda: play(with_mask),
        "play_observation": lambda: play(with_observation),
        "deadwood": deadwood,
        "simple": simple,
    }
    return rates, {"memory": memory}


if __name__ == "__main__":
    main(load)
