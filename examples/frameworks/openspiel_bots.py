"""OpenSpiel's own gin_rummy with our bots at its table: `--bot tonic` against OpenSpiel's simple bot.

They see what the rules show them: their hand, what both did, the cards that they drew. "Before" is `random`.
"""

import random
from itertools import pairwise

import pyspiel
from measure import Run

from gin_env import PlayerView, actions, agents

GAME = pyspiel.load_game("gin_rummy")
UTILITIES, PHASE = pyspiel.gin_rummy.GinRummyUtils(13, 4, 10), pyspiel.gin_rummy.Phase
KNOCK, PASS, MELD = pyspiel.gin_rummy.KNOCK_ACTION, pyspiel.gin_rummy.PASS_ACTION, 56
SUITS = (2, 0, 3, 1)  # OpenSpiel's S C D H among ours, C H S D
OURS = [SUITS[card // 13] * 13 + card % 13 for card in range(52)]  # by OpenSpiel's number
OURS += [actions.DRAW_UPCARD, actions.DRAW_STOCK, actions.PASS]
THEIRS = {action: number for number, action in enumerate(OURS)}


class OurBot(pyspiel.Bot):  # a bot of gin-env that plays OpenSpiel's gin_rummy
    def __init__(self, bot, player):
        super().__init__()
        self.bot, self.player = agents.resolve(bot, programs=True), player

    def step(self, state):
        phase, legal = state.current_phase(), state.legal_actions()
        if phase == PHASE.WALL:
            return PASS  # the hand is void, as it is here
        if phase == PHASE.LAYOFF:  # all cards lie open, and nobody else decides any more
            return max(legal, key=lambda action: self.worth(state.child(action)))
        if phase == PHASE.KNOCK and legal[-1] >= PASS:  # the knocker has discarded, and lays melds
            melds = UTILITIES.best_meld_group(state.hands()[self.player])
            return next((MELD + number for number in map(UTILITIES.meld_to_int, melds)), PASS)
        action = int(self.bot.act(self.view(state))[0])
        if action in THEIRS:
            return THEIRS[action]
        return THEIRS[action - actions.KNOCK] if phase == PHASE.KNOCK else KNOCK

    def worth(self, state):
        if state.is_terminal():
            return state.returns()[self.player]
        return max(self.worth(state.child(action)) for action in state.legal_actions())

    def view(self, state):
        """Return our view of OpenSpiel's hand. Its player 0 begins, so player 1 is the dealer."""
        past = [(act.player, act.action) for act in state.full_history()]
        hand = sum(1 << OURS[card] for _, card in past[10 * self.player :][:10])
        acts = [OURS[act] for player, act in past[21:] if player >= 0 and act != KNOCK]
        draws = [OURS[card] for (by, _), (chance, card) in pairwise(past) if by == self.player and chance < 0]
        ties = hash((hand, len(acts))) % 2**64
        deal = {"player": self.player, "dealer": 1, "random": ties}
        return PlayerView.from_history(hand, OURS[past[20][1]], acts, draws, **deal)


def score(name):
    """Return the mean return of a hand, points / 100, alternating between both seats."""
    points, hands, chance = 0.0, 0, random.Random(run.seed)
    while hands < run.options.games and not run.over():
        seat = hands % 2
        players = [OurBot(name, seat), pyspiel.make_simple_gin_rummy_bot(GAME.get_parameters(), 1 - seat)]
        state = GAME.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(chance.choice(state.legal_actions()))  # all are equally likely
                continue
            action = players[state.current_player() != seat].step(state)
            if state.current_player() == seat:
                run.count(state.legal_actions_mask(), action)
            state.apply_action(action)
        points, hands = points + state.returns()[seat], hands + 1
    return points / max(hands, 1) / 100


run = Run("open_spiel", opponent="OpenSpiel's bot", bot="tonic")
run.begin(score=lambda: score("random"))
run.finish(score(run.options.bot))
