"""Monte Carlo CFR+ on the full game, one hand per iteration, in compiled code.

*Sampling.* Each iteration samples one hand from its start to its end (outcome sampling, Lanctot et al. 2009).
At each decision of the traversing player, every alternative is *probed* by one sampled play-out with the
current strategies (Gibson et al., "Generalized sampling and variance in counterfactual regret minimization",
AAAI 2012). External sampling, which follows all of the traverser's alternatives to the end, is too expensive:
a hand has about seven turns, each with a draw, up to eleven discards and a knock. Plain outcome sampling
learns from one alternative per decision and divides its value by the probability of all earlier actions of
the traverser, so that the variance grows with every turn. The probes of one decision share the deck and the
random numbers, so that much of the chance cancels in a regret. The sampled hand is not weighted by the
traverser's own reach probability; regrets are those met in play. (With perfect recall this changes only the
weight of an iteration in an information set. This abstraction has imperfect recall, and no guarantee holds
with or without the weights.)

*CFR+.* Cumulative regrets are clipped at zero (Tammelin 2014), and the players traverse alternately. The
current strategy of sampled CFR+ does not converge, so the average strategy is the result. Iteration t has
weight t, and only the decisions of the player that does not traverse, and so does not explore, are averaged.

*Discards.* Let p(c) be the strategy's probability of discarding c. The card c is discarded with probability
proportional to p(c). Keeping c means that another card is discarded, so its value is V, the mean of the v(c)
weighted by those probabilities; discarding c has the value v(c). The regrets of discarding and keeping are
(1 - p) (v - V) and p (V - v).
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.agents.cfr.strategy import (
    choose_discard,
    choose_draw,
    choose_knock,
    discard_candidates,
    discard_or_knock_by_strategy,
    discard_set_of,
    draw_set_of,
    knock_set_of,
    strategy_action,
)
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.game.batch_kernels import POINTS_SCALE
from gin_env.game.cards import card_bit, count_cards, lowest_card, pick_card
from gin_env.game.engine import decision_random, play, points_for, start_episode
from gin_env.game.hands import decline
from gin_env.game.melds import min_deadwood
from gin_env.game.state import DISCARD, OVER, STOCK_ONLY
from gin_env.game.streams import below, mix, unit
from gin_env.support.compilation import kernel


@kernel
def hand_value(public, player: int) -> float:
    """Return the player's points in a finished hand divided by `POINTS_SCALE`."""
    return points_for(public, player) / POINTS_SCALE


@kernel
def probe(states, action: int, traverser: int, strategy) -> float:
    """Return the traverser's value of an action in states[0], by one play-out in states[1]."""
    states[1] = states[0]
    game = states[1]
    play(game, action)
    public = game.public
    while public.phase != OVER:
        player = public.to_move
        random = decision_random(game, player)
        play(game, strategy_action(public, game.private[player], player, random, strategy))
    return hand_value(public, traverser)


@kernel
def add_regret(regrets, probabilities, number: int, regret_of_acting: float, regret_of_not: float) -> None:
    """Add to the regrets of one information set, clip them at zero, and update its strategy."""
    acting = max(regrets[number, 0] + regret_of_acting, 0.0)
    not_acting = max(regrets[number, 1] + regret_of_not, 0.0)
    regrets[number, 0] = acting
    regrets[number, 1] = not_acting
    total = acting + not_acting
    probabilities[number] = acting / total if total > 0 else 0.5


@kernel
def learn_binary(regrets, probabilities, number: int, value: float, other_value: float) -> None:
    """Add the regrets of a decision between acting (`value`) and not acting (`other_value`)."""
    p = probabilities[number]
    gain = value - other_value
    add_regret(regrets, probabilities, number, (1 - p) * gain, -p * gain)


@kernel
def learn_discard(states, player, candidates, random, strategy, regrets) -> None:
    """Probe every candidate, and add the regrets of discarding and of keeping it."""
    game = states[0]
    public, private = game.public, game.private[player]
    numbers = np.empty(11, np.int64)
    values = np.empty(11, np.float64)
    before = np.empty(11, np.float64)
    count, total, mean = 0, 0.0, 0.0
    remaining = candidates
    while remaining:
        card = lowest_card(remaining)
        remaining &= remaining - 1
        numbers[count] = discard_set_of(strategy.abstraction, public, private, player, card)
        before[count] = strategy.probabilities[numbers[count]]
        action = discard_or_knock_by_strategy(public, private, player, card, random, strategy, -1)
        values[count] = probe(states, action, player, strategy)
        total += before[count]
        mean += before[count] * values[count]
        count += 1
    if total > 0:
        mean /= total
    else:
        mean = values[:count].mean()
    for index in range(count):
        gain, p = values[index] - mean, before[index]
        add_regret(regrets, strategy.probabilities, numbers[index], (1 - p) * gain, -p * gain)


@kernel
def add_average(sums, number: int, weight: float, probability: float) -> None:
    """Add one iteration's strategy in an information set to the average."""
    sums[number, 0] += weight * probability
    sums[number, 1] += weight


@kernel
def iterate(states, iteration, seed, exploration, strategy, regrets, sums) -> None:
    """Run one iteration: play one hand, add the traverser's regrets and the opponent's average strategy."""
    game = states[0]
    start_episode(game, seed, iteration, False)
    public = game.public
    traverser = iteration % 2
    weight = iteration + 1.0
    while public.phase != OVER:
        player = public.to_move
        private = game.private[player]
        random = decision_random(game, player)
        learns = player == traverser
        explores = learns and unit(mix(random, 3)) < exploration
        if public.phase == STOCK_ONLY:
            play(game, DRAW_STOCK)
            continue
        if public.phase != DISCARD:
            number = draw_set_of(strategy.abstraction, public, private, player)
            take = choose_draw(public, private, player, random, strategy)
            if explores:
                take = below(random, 2) == 1
            if learns:
                value = probe(states, DRAW_UPCARD, traverser, strategy)
                other = probe(states, decline(public), traverser, strategy)
                learn_binary(regrets, strategy.probabilities, number, value, other)
            else:
                add_average(sums, number, weight, strategy.probabilities[number])
            play(game, DRAW_UPCARD if take else decline(public))
            continue

        candidates = discard_candidates(public, private, strategy.candidates)
        card = choose_discard(public, private, player, candidates, mix(random, 1), strategy)
        if explores:
            card = pick_card(candidates, mix(random, 4))
        if count_cards(candidates) > 1:
            if learns:
                learn_discard(states, player, candidates, mix(random, 2), strategy, regrets)
            else:
                remaining = candidates
                while remaining:
                    number = discard_set_of(
                        strategy.abstraction, public, private, player, lowest_card(remaining)
                    )
                    add_average(sums, number, weight, strategy.probabilities[number])
                    remaining &= remaining - 1

        knock = False
        rest = np.int64(private.hand) & ~card_bit(card)
        if min_deadwood(rest) <= public.knock_limit:
            number = knock_set_of(strategy.abstraction, public, private, player, rest)
            knock = choose_knock(public, private, player, rest, mix(random, 2), strategy)
            if explores:
                knock = below(mix(random, 5), 2) == 1
            if learns:
                value = probe(states, card + KNOCK, traverser, strategy)
                other = probe(states, card, traverser, strategy)
                learn_binary(regrets, strategy.probabilities, number, value, other)
            else:
                add_average(sums, number, weight, strategy.probabilities[number])
        play(game, card + (KNOCK if knock else 0))


@kernel
def iterate_many(states, first, last, seed, exploration, strategy, regrets, sums) -> None:
    """Run the iterations `first` to `last` - 1."""
    for iteration in range(first, last):
        iterate(states, iteration, seed, exploration, strategy, regrets, sums)
