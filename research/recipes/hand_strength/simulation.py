"""Hands played in bulk for the data sets of Truong and Neller 2021, by kernels: explorers against the Simple
player.

An *explorer* searches for lines of play that beat the Simple player:

- ``simple``: no search; two Simple players, one of which is observed.
- ``random``: the paper's explorer. The random-discard player plays the same hand N times against the Simple
  player, with all other cards dealt again each time, and only the sample with the player's best score is
  kept ("Monte Carlo simulation"; Random-16, Random-256).
- ``fitted``: like ``random``, with three numbers fitted to the 779 rows of Random-256 in the authors'
  repository (sangttruong/ginrummy): the player moves first in every deal, only 25 of 32 samples count, and
  3 % of the deals have at most N / 32 samples. How the authors dealt is not published.
- ``flat-monte-carlo``: future work of the paper ("other state space exploration methods (e.g. flat MC tree
  search)"). The deal is played once. At each discard every unmelded card is tried in N / 32 simulations, in
  which the unseen cards are dealt again and both players continue as Simple players; the card with the best
  mean score is discarded. The player therefore never profits from unseen cards.

An observation is the player's view at the discard, their cards after the discard, and the score.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.agents.random_discard import random_discard_action
from gin_env.agents.simple import simple_action
from gin_env.game.cards import NUM_CARDS, card_bit, count_cards, lowest_card
from gin_env.game.engine import deal, decision_random, discards_allowed, play, points_for, start_episode
from gin_env.game.hands import discard_or_knock, unmelded_cards
from gin_env.game.melds import min_deadwood
from gin_env.game.rules import cards_in_deck
from gin_env.game.state import DISCARD, OVER
from gin_env.game.streams import OPPONENT, below, mix, shuffle_cards, stream
from gin_env.observations.knowledge import cards_unseen
from gin_env.observations.view_kernels import write_view
from gin_env.support.compilation import kernel

SIMPLE, RANDOM, FLAT_MONTE_CARLO, FITTED = 0, 1, 2, 3
EXPLORERS = ("simple", "random", "flat-monte-carlo", "fitted")
SHORT_DEALS = 3
"""Number of deals in 100 for which the fitted explorer plays few samples."""
MAX_OBSERVATIONS = 128
"""Maximum number of discards of one player in a hand (`MAX_TURNS` limits the turns of both players)."""


class Observations(NamedTuple):
    """The arrays that `explore_deals` fills, one row for each observation."""

    views: np.ndarray
    """`VIEW` records."""
    hands: np.ndarray
    """uint64: the player's cards after the discard."""
    scores: np.ndarray
    """The hand's score, undiscounted."""
    stages: np.ndarray
    """Counts down to 0 at the player's last discard."""
    deadwood: np.ndarray
    """Deadwood of `hands`; at the last discard, after laying off on a knock."""


@kernel
def reference_action(game, player: int) -> int:
    """Return the Simple player's action."""
    random = decision_random(game, player)
    return simple_action(game.public, game.private[player], player, random, 10)


@kernel
def redeal_unseen(game, player: int, key: int) -> None:
    """Deal again the cards that this player cannot see: the opponent's unknown cards and the stock."""
    public, private = game.public, game.private[player]
    opponent = game.private[1 - player]
    pool = np.empty(NUM_CARDS, np.int64)
    size = 0
    remaining = cards_unseen(public, private, player)
    while remaining:
        pool[size] = lowest_card(remaining)
        size += 1
        remaining &= remaining - 1
    shuffle_cards(pool, size, key)
    unknown = count_cards(np.int64(opponent.hand)) - count_cards(np.int64(public.shown[1 - player]))
    hand = np.int64(public.shown[1 - player])
    for index in range(unknown):
        hand |= card_bit(pool[index])
    opponent.hand = np.uint64(hand)
    deck_size = cards_in_deck(public.rules)
    for index in range(public.stock_left):
        game.hidden.deck[deck_size - public.stock_left + index] = pool[unknown + index]


@kernel
def set_decision_keys(game, key: int) -> None:
    """Set the keys of both players' random numbers."""
    for player in range(2):
        game.hidden.decision_keys[player] = mix(key, player)


@kernel
def flat_monte_carlo_action(states, player: int, simulations: int):
    """Return (the discard with the best mean score, actions simulated) in game 0 of `states`.

    Each unmelded card is tried in `simulations` simulations, all cards on the same redealt hands. Games 1 and
    2 are scratch space.
    """
    game, dealt, scratch = states[0], states[1], states[2]
    hand = np.int64(game.private[player].hand)
    allowed = discards_allowed(game.public, game.private[player])
    choices = unmelded_cards(hand) & allowed
    if not choices:
        return reference_action(game, player), 0
    totals = np.zeros(NUM_CARDS, np.int64)
    simulated = np.int64(0)
    key = stream(game.hidden.decision_keys[player], game.hidden.decisions, OPPONENT)
    for number in range(simulations):
        states[1] = states[0]
        redeal_unseen(dealt, player, mix(key, number))
        set_decision_keys(dealt, mix(key, number))
        remaining = choices
        while remaining:
            card = lowest_card(remaining)
            remaining &= remaining - 1
            states[2] = states[1]
            play(scratch, discard_or_knock(hand, card, game.public.knock_limit))
            while scratch.public.phase != OVER:
                play(scratch, reference_action(scratch, scratch.public.to_move))
            totals[card] += points_for(scratch.public, player)
            simulated += scratch.hidden.decisions - game.hidden.decisions
    best = lowest_card(choices)
    remaining = choices
    while remaining:
        card = lowest_card(remaining)
        remaining &= remaining - 1
        if totals[card] > totals[best]:
            best = card
    return discard_or_knock(hand, best, game.public.knock_limit), simulated


@kernel
def explorer_action(states, player: int, explorer: int, samples: int):
    """Return (the explorer's action in game 0 of `states`, actions simulated for it)."""
    game = states[0]
    if explorer == SIMPLE or game.public.phase != DISCARD:
        return reference_action(game, player), 0
    if explorer in (RANDOM, FITTED):
        random = decision_random(game, player)
        return random_discard_action(game.public, game.private[player], player, random), 0
    return flat_monte_carlo_action(states, player, max(samples // 32, 1))


@kernel
def play_hand(states, explorer: int, samples: int, record: bool, views, hands, first: int):
    """Play game 0 of `states` to its end, player 0 exploring.

    Returns (row after the last one written, actions simulated). With `record`, writes player 0's views at
    each discard (`VIEW` records) and the cards after it (masks) to `views` and `hands` from row `first`.
    """
    game = states[0]
    row = first
    simulated = np.int64(0)
    while game.public.phase != OVER:
        player = game.public.to_move
        if player == 0:
            action, more = explorer_action(states, player, explorer, samples)
            simulated += more
            if record and game.public.phase == DISCARD:
                write_view(game, player, views[row])
                hands[row] = game.private[player].hand & ~np.uint64(card_bit(action % NUM_CARDS))
                row += 1
        else:
            action = reference_action(game, player)
        play(game, action)
    return row, simulated + game.hidden.decisions


@kernel
def start_sample(game, seed: int, deal_number: int, sample: int) -> None:
    """Prepare a dealt game for one sample: player 0 keeps their cards, all others are dealt again."""
    key = stream(mix(seed, sample), deal_number, OPPONENT)
    set_decision_keys(game, key)
    deck, rules = game.hidden.deck, game.public.rules
    dealt, size = 2 * rules.hand_size, cards_in_deck(rules)
    # Player 0 is dealt every second card of the first twenty.
    others = np.concatenate((deck[1:dealt:2], deck[dealt:size]))
    shuffle_cards(others, len(others), key)
    deck[1:dealt:2] = others[: rules.hand_size]
    deck[dealt:size] = others[rules.hand_size :]
    deal(game)


@kernel
def samples_of(explorer: int, samples: int, seed: int, deal_number: int) -> int:
    """Return the number of samples of a deal; 1 for an explorer that does not sample."""
    if explorer == RANDOM:
        return samples
    if explorer != FITTED:
        return 1
    key = stream(mix(seed, samples), deal_number, OPPONENT)
    if below(mix(key, 0), 100) < SHORT_DEALS:
        return 1 + below(mix(key, 1), max(samples // 32, 1))
    return max(samples * 25 // 32, 1)


@kernel
def explore_deal(states, seed: int, deal_number: int, explorer: int, samples: int, views, hands, first: int):
    """Play one deal and record its observations.

    Returns (row after the last one, score, actions simulated). The random explorer plays all samples, then
    repeats the best one (of equal scores the first) to record it; the repeat is identical because decisions
    depend only on the seed. Void hands and hands in which the player never discarded are not recorded.
    """
    game = states[0]
    tries = samples_of(explorer, samples, seed, deal_number)
    sampled = tries > 1 or explorer == FITTED
    best_sample, best_score = -1, -(1 << 30)
    simulated = np.int64(0)
    start_episode(game, seed, deal_number, False)
    if explorer == FITTED:
        game.public.dealer = 1  # so player 0 moves first
    states[3] = states[0]
    for sample in range(tries if sampled else 0):
        states[0] = states[3]
        start_sample(game, seed, deal_number, sample)
        _, actions = play_hand(states, explorer, samples, False, views, hands, first)
        simulated += actions
        score = points_for(game.public, 0)
        if game.public.winner >= 0 and score > best_score:
            best_sample, best_score = sample, score
    states[0] = states[3]
    if sampled:
        start_sample(game, seed, deal_number, max(best_sample, 0))
    row, actions = play_hand(states, explorer, samples, True, views, hands, first)
    if not sampled:
        simulated += actions
    if game.public.winner < 0:
        row = first
    return row, points_for(game.public, 0), simulated


@kernel
def explore_deals(states, seed, first_deal, deals, explorer, samples, all_stages, observations):
    """Explore deals from `first_deal` on until all are done or the `Observations` might overflow.

    Returns (deals done, rows written, actions simulated).
    Without `all_stages` only the last discard of each hand is kept.
    """
    views, hands, scores, stages, deadwood = observations
    rows = 0
    simulated = np.int64(0)
    for index in range(deals):
        if rows + MAX_OBSERVATIONS > len(hands):
            return index, rows, simulated
        end, score, actions = explore_deal(
            states, seed, first_deal + index, explorer, samples, views, hands, rows
        )
        simulated += actions
        if end > rows and not all_stages:
            views[rows] = views[end - 1]
            hands[rows] = hands[end - 1]
            end = rows + 1
        for row in range(rows, end):
            scores[row] = score
            stages[row] = end - 1 - row
            deadwood[row] = min_deadwood(np.int64(hands[row]))
        if end > rows:
            deadwood[end - 1] = states[0].public.deadwood[0]
        rows = end
    return deals, rows, simulated
