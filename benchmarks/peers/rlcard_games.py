"""RLCard's gin rummy: one game at a time, in Python.

RLCard scores a hand as two further decisions, which count as such. Its game builds a dictionary of the state
at every step, so "bare" has that in it; its environment adds the observation and the legal actions.
"""

import random

from worker import bytes_each, main


def load():
    """See `worker`."""
    import numpy as np
    import rlcard
    from rlcard.games.gin_rummy.utils import melding, utils

    env = rlcard.make("gin-rummy", config={"seed": 0})
    uniform = random.Random(0).random

    def bare():
        game = env.game

        def work(rounds):
            decisions = 0
            for _ in range(rounds):
                game.init_game()
                while not game.is_over():
                    legal = game.judge.get_legal_actions()
                    game.step(legal[int(uniform() * len(legal))])
                    decisions += 1
            return {"decisions": decisions, "hands": rounds}

        return work

    def environment():
        """Through its environment, with observation and legal actions, the mask written from them."""

        def work(rounds):
            decisions = 0
            mask = np.zeros(110, np.int8)
            for _ in range(rounds):
                state, _ = env.reset()
                while not env.is_over():
                    legal = list(state["legal_actions"])
                    mask[:] = 0
                    mask[legal] = 1
                    state, _ = env.step(legal[int(uniform() * len(legal))])
                    decisions += 1
            return {"decisions": decisions, "hands": rounds}

        return work

    def deadwood():
        rng = random.Random(0)
        hands = [[utils.card_from_card_id(card) for card in rng.sample(range(52), 10)] for _ in range(100)]

        def work(rounds):
            for _ in range(rounds):
                for hand in hands:
                    clusters = melding.get_best_meld_clusters(hand)
                    utils.get_deadwood_count(hand, clusters[0] if clusters else [])
            return {"hands": rounds * len(hands)}

        return work

    def novice():
        """Its rule-based player against itself: knocks immediately, discards well, draws at random."""
        from rlcard import models

        bots = models.load("gin-rummy-novice-rule").agents

        def work(rounds):
            for _ in range(rounds):
                state, player = env.reset()
                while not env.is_over():
                    state, player = env.step(bots[player].step(state))
            return {"hands": rounds}

        return work

    def memory():
        def half_played(index):
            one = rlcard.make("gin-rummy", config={"seed": index})
            state, _ = one.reset()
            for _ in range(20):
                if one.is_over():
                    break
                legal = list(state["legal_actions"])
                state, _ = one.step(legal[int(uniform() * len(legal))])
            return one

        return {"bytes": bytes_each(half_played, 1000)}

    rates = {"play": bare, "play_observation": environment, "deadwood": deadwood, "simple": novice}
    return rates, {"memory": memory}


if __name__ == "__main__":
    main(load)
