"""The rules of one game as compiled scalar functions.

A hand follows these rules:

1. Each player is dealt `hand_size` cards, one card is turned up, and the rest form the stock.
2. The upcard is offered to the non-dealer, then to the dealer; if both pass, the non-dealer draws from the
   stock. From then on a turn is a draw (stock or upcard) and a discard.
3. The card just taken from the pile must not be discarded in the same turn.
4. With a discard that leaves deadwood of at most `public.knock_limit` the player may knock. Knocking is
   never compulsory, not even with gin. The limit is `Rules.knock_limit`; with `oklahoma` the first upcard
   lowers it.
5. A turn starts only while the stock holds more than `stock_floor` cards; otherwise the hand is void.
6. After a knock both players' melds are laid optimally (`gin_env.game.melds`).
7. Gin scores `gin_bonus` + the defender's deadwood, without lay-offs; big gin, with eleven melded cards,
   scores `big_gin_bonus` instead, if it is not 0. A knocker with less deadwood than the defender scores the
   difference. Otherwise the defender scores `undercut_bonus` + the difference; ties are undercuts with
   `undercut_on_tie`.
   With `spades_double` these points double if the first upcard was a spade. The winner gets a box.
8. `next_dealer` deals after a scored hand, `void_dealer` after a void one.
9. A game ends when a player has `target_score` points. The final score adds `box_bonus` for each box,
   `game_bonus` to the winner, and the shutout if the loser has no points.

``game`` is one record of `state.STATE`, modified in place; ``public`` and ``private`` are its parts. The
batch kernels (`gin_env.batch`), the bots' rollouts and all environments call these functions.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, NUM_ACTIONS, PASS, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, card_bit, write_ones
from gin_env.game.earlier_hands import forget_hands, remember_hand
from gin_env.game.history import first_mover
from gin_env.game.melds import (
    best_set_cards,
    deadwood_without_sets,
    defence_set_cards,
    min_deadwood,
    run_cards,
    unmelded_value,
)
from gin_env.game.rules import (
    NEXT_ALTERNATE,
    NEXT_WINNER,
    VOID_OTHER,
    cards_in_deck,
    limit_of_hand,
    points_double,
    stock_after_deal,
)
from gin_env.game.state import (
    BIG_GIN,
    DISCARD,
    DRAW,
    GIN,
    KNOCK_WON,
    NO_CARD,
    OFFER,
    OVER,
    STOCK_ONLY,
    UNDECIDED,
    UNDERCUT,
    VOID,
)
from gin_env.game.streams import (
    DEALER,
    DEALS,
    DECISIONS,
    DECK,
    SUITS,
    below,
    episode_key,
    mix,
    other_suit_order,
    shuffle_cards,
    stream,
)
from gin_env.support.compilation import kernel

# --- Dealing -----------------------------------------------------------------------------------------


@kernel
def start_episode(game, seed: int, episode: int, twin: bool) -> None:
    """Begin a new game under the current rules: reset the scores, choose a random dealer, deal a hand.

    The `twin` of an episode has the same dealer and the same decks with their suits permuted, and breaks
    ties with its own random numbers. Spades remain spades if the rules distinguish them.
    """
    hidden = game.hidden
    hidden.deal_key = episode_key(seed, episode, DEALS)
    hidden.twin = twin
    for player in range(2):
        hidden.decision_keys[player] = episode_key(seed, episode, DECISIONS + np.uint64(2 * twin + player))
    hidden.decisions = 0
    public = game.public
    for player in range(2):
        public.scores[player] = 0
        public.boxes[player] = 0
    forget_hands(public)
    public.hand_number = 0
    public.dealer = below(mix(stream(hidden.deal_key, 0, DEALER), 0), 2)
    shuffle(game)
    deal(game)


@kernel
def start_next_hand(game) -> None:
    """Remember what the hand has shown, and deal the next one of the same game (rule 8)."""
    public = game.public
    remember_hand(game)
    public.dealer = next_dealer(public)
    public.hand_number += 1
    shuffle(game)
    deal(game)


@kernel
def next_dealer(public) -> int:
    """Return the dealer of the next hand, at the end of a hand (rule 8)."""
    if public.outcome == VOID:
        other = public.rules.void_dealer == VOID_OTHER
    elif public.rules.next_dealer == NEXT_ALTERNATE:
        other = True
    else:
        other = (public.winner != public.dealer) == (public.rules.next_dealer == NEXT_WINNER)
    return 1 - public.dealer if other else np.int64(public.dealer)


@kernel
def shuffle(game) -> None:
    """Shuffle the deck of this hand, from the hand's own stream."""
    rules = game.public.rules
    deck = game.hidden.deck
    size = cards_in_deck(rules)
    for index in range(size):
        deck[index] = index // rules.ranks * NUM_RANKS + index % rules.ranks
    hidden, hand_number = game.hidden, game.public.hand_number
    shuffle_cards(deck, size, stream(hidden.deal_key, hand_number, DECK))
    if hidden.twin:
        key = stream(hidden.deal_key, hand_number, SUITS)
        order = other_suit_order(rules.suits, key, rules.spades_double)
        for index in range(size):
            card = deck[index]
            deck[index] = order[card // NUM_RANKS] * NUM_RANKS + card % NUM_RANKS


@kernel
def deal(game) -> None:
    """Deal the current deck and begin the hand; rules, dealer, scores and hand number are kept."""
    public = game.public
    rules = public.rules
    deck = game.hidden.deck
    for player in range(2):
        hand = np.int64(0)
        for index in range(rules.hand_size):
            hand |= card_bit(deck[2 * index + player])
        private = game.private[player]
        private.hand = hand
        private.num_stock_draws = 0
        public.discarded[player] = 0
        public.declined[player] = 0
        public.shown[player] = 0
        public.deadwood[player] = 0
        public.laid_sets[player] = 0
        public.laid_runs[player] = 0
    upcard = deck[2 * rules.hand_size]
    public.first_upcard = upcard
    public.knock_limit = limit_of_hand(rules, upcard)
    public.points_double = points_double(rules, upcard)
    public.upcard = upcard
    public.taken = NO_CARD
    public.pile = card_bit(upcard)
    public.discard_turn[upcard] = 0
    public.stock_left = stock_after_deal(rules)
    public.turn = 0
    public.history_length = 0
    public.to_move = first_mover(public)
    public.phase = OFFER if rules.opening_offer else DRAW
    public.outcome = UNDECIDED
    public.winner = -1
    public.knocker = -1
    public.points = 0


# --- Legal actions ------------------------------------------------------------------------------------

# Values that `illegality` returns; `gin_env.observations.illegal_actions.explain_illegal` describes them.
LEGAL = 0
NO_SUCH_ACTION = 1  # not a number from 0 to 106
HAND_IS_OVER = 2
NOT_IN_THIS_PHASE = 3  # another action where the player has to draw or may pass
ALREADY_DRAWN = 4  # a draw or a pass where the player has to discard
NOT_IN_HAND = 5
JUST_TAKEN = 6  # from the pile, in the same turn (rule 3)
TOO_MUCH_DEADWOOD = 7  # for a knock (rule 4)


@kernel
def discards_allowed(public, private) -> int:
    """Return the mask of the cards that the player to move may discard (rule 3).

    Valid only in the discard phase.
    """
    hand = np.int64(private.hand)
    return hand if public.taken == NO_CARD else hand & ~card_bit(public.taken)


@kernel
def knocks_allowed(public, private) -> int:
    """Return the mask of the cards that the player to move may knock with by discarding them (rule 4).

    Valid only in the discard phase.
    """
    hand = np.int64(private.hand)
    limit = np.int64(public.knock_limit)
    # A discard saves at most its own points, 10; this rules out most hands quickly.
    if min_deadwood(hand) > limit + 10:
        return np.int64(0)
    allowed = np.int64(0)
    remaining = discards_allowed(public, private)
    while remaining:
        bit = remaining & -remaining
        if min_deadwood(hand ^ bit) <= limit:
            allowed |= bit
        remaining ^= bit
    return allowed


@kernel
def may_draw_stock(public) -> bool:
    """Return whether the player to move may draw from the stock."""
    return public.phase == DRAW or public.phase == STOCK_ONLY


@kernel
def may_draw_upcard(public) -> bool:
    """Return whether the player to move may take the upcard."""
    return public.phase == DRAW or public.phase == OFFER


@kernel
def illegality(public, private, action: int) -> int:
    """Return the reason why the action is illegal, or `LEGAL` (0).

    `private` is the private part of the player to move.
    """
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if public.phase == OVER:
        return HAND_IS_OVER
    if public.phase != DISCARD:
        may = (
            (action == PASS and public.phase == OFFER)
            or (action == DRAW_STOCK and may_draw_stock(public))
            or (action == DRAW_UPCARD and may_draw_upcard(public))
        )
        return LEGAL if may else NOT_IN_THIS_PHASE
    if not is_discard(action):
        return ALREADY_DRAWN
    hand = np.int64(private.hand)
    bit = card_bit(action % NUM_CARDS)
    if not discards_allowed(public, private) & bit:
        return JUST_TAKEN if hand & bit else NOT_IN_HAND
    if action >= KNOCK and min_deadwood(hand ^ bit) > public.knock_limit:
        return TOO_MUCH_DEADWOOD
    return LEGAL


@kernel
def is_legal(public, private, action: int) -> bool:
    """Return whether the action is legal; `private` is the private part of the player to move."""
    return illegality(public, private, action) == LEGAL


@kernel
def write_mask(public, private, mask: np.ndarray) -> None:
    """Write the action mask of the player to move to `mask`, int8 (107,)."""
    mask[:] = 0
    if public.phase == DISCARD:
        write_ones(mask, 0, discards_allowed(public, private))
        write_ones(mask, KNOCK, knocks_allowed(public, private))
    else:
        mask[DRAW_STOCK] = may_draw_stock(public)
        mask[DRAW_UPCARD] = may_draw_upcard(public)
        mask[PASS] = public.phase == OFFER


@kernel
def decision_random(game, player: int) -> int:
    """Return the uint64 random number for the player's current decision, with which bots break ties."""
    return mix(game.hidden.decision_keys[player], game.hidden.decisions)


# --- Playing ------------------------------------------------------------------------------------------


@kernel
def play(game, action: int) -> None:
    """Play an action of the player to move. The action must be legal (`is_legal`)."""
    public = game.public
    public.history[public.history_length] = action
    public.history_length += 1
    game.hidden.decisions += 1
    player = public.to_move
    if action == PASS:
        public.declined[player] |= np.uint64(public.pile)
        public.to_move = 1 - player
        if player == public.dealer:  # both have passed
            public.phase = STOCK_ONLY
    elif action == DRAW_STOCK:
        _draw_from_stock(public, game.private[player], game.hidden.deck)
    elif action == DRAW_UPCARD:
        _draw_upcard(public, game.private[player])
    else:
        _discard(public, game.private[player], action % NUM_CARDS)
        if action >= KNOCK:
            _settle_knock(public, game.private, action % NUM_CARDS)
        elif public.turn >= public.rules.max_turns or public.stock_left <= public.rules.stock_floor:
            public.outcome = VOID
            public.phase = OVER
        else:
            public.to_move = 1 - player
            public.phase = DRAW


@kernel
def _draw_from_stock(public, private, deck) -> None:
    player = public.to_move
    card = deck[cards_in_deck(public.rules) - public.stock_left]
    public.stock_left -= 1
    if public.phase == DRAW:
        public.declined[player] |= np.uint64(card_bit(public.upcard))
    private.hand |= np.uint64(card_bit(card))
    private.stock_draws[private.num_stock_draws] = card
    private.num_stock_draws += 1
    public.taken = NO_CARD
    public.phase = DISCARD


@kernel
def _draw_upcard(public, private) -> None:
    player = public.to_move
    bit = np.uint64(card_bit(public.upcard))
    private.hand |= bit
    public.shown[player] |= bit
    public.pile &= ~bit
    for either in range(2):
        public.discarded[either] &= ~bit
        public.declined[either] &= ~bit
    public.taken = public.upcard
    public.upcard = NO_CARD
    public.phase = DISCARD


@kernel
def _discard(public, private, card: int) -> None:
    player = public.to_move
    bit = np.uint64(card_bit(card))
    private.hand &= ~bit
    public.shown[player] &= ~bit
    public.pile |= bit
    public.discarded[player] |= bit
    public.turn += 1
    public.discard_turn[card] = public.turn
    public.upcard = card
    public.taken = NO_CARD


@kernel
def _settle_knock(public, private, discard: int) -> None:
    """Meld, lay off and score after a knock with this discard (rules 6 and 7)."""
    rules = public.rules
    knocker = public.to_move
    defender = 1 - knocker
    hand = np.int64(private[knocker].hand)
    defence = np.int64(private[defender].hand)
    sets = best_set_cards(hand)
    runs = run_cards(hand & ~sets)
    knocker_deadwood = unmelded_value(hand & ~sets)
    if knocker_deadwood == 0:
        defence_sets = best_set_cards(defence)
        defender_left = unmelded_value(defence & ~defence_sets)
        big = rules.big_gin_bonus > 0 and min_deadwood(hand | card_bit(discard)) == 0
        public.outcome = BIG_GIN if big else GIN
        public.winner = knocker
        points = np.int64(rules.big_gin_bonus if big else rules.gin_bonus) + defender_left
    else:
        defence_sets = defence_set_cards(runs, sets, defence)
        defender_left = deadwood_without_sets(runs, sets, defence & ~defence_sets)
        won = knocker_deadwood < defender_left
        if won or (knocker_deadwood == defender_left and not rules.undercut_on_tie):
            public.outcome = KNOCK_WON
            public.winner = knocker
            points = defender_left - knocker_deadwood
        else:
            public.outcome = UNDERCUT
            public.winner = defender
            points = np.int64(rules.undercut_bonus) + knocker_deadwood - defender_left
    public.knocker = knocker
    public.deadwood[knocker] = knocker_deadwood
    public.deadwood[defender] = defender_left
    public.laid_sets[knocker] = sets
    public.laid_runs[knocker] = runs
    public.laid_sets[defender] = defence_sets
    public.laid_runs[defender] = run_cards(defence & ~defence_sets)
    if public.points_double:
        points *= 2
    if rules.immediate_boxes:
        points += rules.box_bonus
    public.points = points
    public.scores[public.winner] += public.points
    public.boxes[public.winner] += 1
    public.phase = OVER


# --- The end of a game --------------------------------------------------------------------------------


@kernel
def points_for(public, player: int) -> int:
    """Return this player's points in a finished hand: negative if the opponent won, 0 if it is void."""
    if public.winner < 0:
        return 0
    return np.int64(public.points) if public.winner == player else -np.int64(public.points)


@kernel
def game_is_over(public) -> bool:
    """Return whether the game of several hands has ended too; call it at the end of a hand."""
    return (
        public.scores[0] >= public.rules.target_score
        or public.scores[1] >= public.rules.target_score
        or public.hand_number + 1 >= public.rules.max_hands
    )


@kernel
def game_winner(public) -> int:
    """Return the player who has reached the target score; -1 if neither has."""
    if public.scores[0] >= public.rules.target_score:
        return 0
    return 1 if public.scores[1] >= public.rules.target_score else -1


@kernel
def final_score(public, player: int) -> int:
    """Return the player's total at the end of a game, boxes and bonuses included (rule 9)."""
    rules = public.rules
    total = np.int64(public.scores[player])
    if not rules.immediate_boxes:
        total += np.int64(public.boxes[player]) * np.int64(rules.box_bonus)
    if game_winner(public) == player:
        total += np.int64(rules.game_bonus)
        if public.scores[1 - player] == 0:
            total += np.int64(rules.shutout_bonus)
            if rules.shutout_doubles:
                total *= 2
    return total
