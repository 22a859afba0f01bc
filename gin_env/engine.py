"""The rules of one game as compiled scalar functions (design, section 3).

A hand of Gin Rummy here:

1. Each player is dealt `hand_size` cards, one card is turned up, the rest is the stock.
2. The upcard is offered to the non-dealer, then to the dealer; if both pass, the non-dealer draws from the
   stock. From then on a turn is a draw (stock or upcard) and a discard.
3. The card just taken from the pile may not be discarded in the same turn.
4. With a discard that leaves deadwood <= `knock_limit` the player may knock. Nobody has to, not even with gin.
5. A turn starts only while the stock holds more than `stock_floor` cards; otherwise the hand is void.
6. After a knock both melds are laid optimally (`gin_env.melds`).
7. Gin scores `gin_bonus` + the defender's deadwood, without lay-offs. A knocker below the defender scores the
   difference; otherwise, ties included, the defender scores `undercut_bonus` + the difference.
8. The deal alternates after every scored hand; after a void hand the same dealer deals again.

``game`` is one record of `state.STATE`, changed in place; ``public`` and ``private`` are its parts. The batch
kernels (`gin_env.batch`), the bots' rollouts and all environments loop over these functions.
"""

from __future__ import annotations

import numpy as np

from gin_env.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, NUM_ACTIONS, PASS
from gin_env.cards import (
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    card_bit,
    count_cards,
    deck_cards,
    lowest_card,
    write_ones,
)
from gin_env.compilation import kernel
from gin_env.melds import best_set_cards, defender_deadwood, min_deadwood, run_cards, unmelded_value
from gin_env.rules import MAX_HAND_SIZE, MAX_TURNS
from gin_env.state import (
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
from gin_env.streams import DEALER, DECISION, DECK, below, mix, shuffle_cards, stream

# --- Dealing -----------------------------------------------------------------------------------------


@kernel
def start_episode(game, seed: int, decision_seed: int, episode: int) -> None:
    """Begin a new game under the rules already in place: scores 0, random dealer, first hand dealt."""
    game.hidden.seed = seed
    game.hidden.decision_seed = decision_seed
    game.hidden.episode = episode
    game.hidden.decisions = 0
    public = game.public
    public.scores[0] = 0
    public.scores[1] = 0
    public.hand_number = 0
    public.dealer = below(mix(stream(seed, episode, 0, DEALER), 0), 2)
    shuffle(game)
    deal(game)


@kernel
def start_next_hand(game) -> None:
    """Deal the next hand of the same game (rule 8)."""
    public = game.public
    if public.outcome != VOID:
        public.dealer = 1 - public.dealer
    public.hand_number += 1
    shuffle(game)
    deal(game)


@kernel
def shuffle(game) -> None:
    """Shuffle the deck of this hand, from the hand's own stream."""
    rules = game.public.rules
    deck = game.hidden.deck
    size = rules.ranks * rules.suits
    for index in range(size):
        deck[index] = index // rules.ranks * NUM_RANKS + index % rules.ranks
    shuffle_cards(deck, size, stream(game.hidden.seed, game.hidden.episode, game.public.hand_number, DECK))


@kernel
def deal(game) -> None:
    """Deal the deck in place and open the hand; rules, dealer, scores and hand number are kept."""
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
    upcard = deck[2 * rules.hand_size]
    public.first_upcard = upcard
    public.upcard = upcard
    public.taken = NO_CARD
    public.pile = card_bit(upcard)
    public.discard_turn[upcard] = 0
    public.stock_left = rules.ranks * rules.suits - 2 * rules.hand_size - 1
    public.turn = 0
    public.history_length = 0
    public.to_move = 1 - public.dealer
    public.phase = OFFER if rules.opening_offer else DRAW
    public.outcome = UNDECIDED
    public.winner = -1
    public.knocker = -1
    public.points = 0


# --- Legal actions ------------------------------------------------------------------------------------


@kernel
def discards_allowed(public, private) -> int:
    """Mask of the cards that the player to move may discard; only in the discard phase (rule 3)."""
    hand = np.int64(private.hand)
    return hand if public.taken == NO_CARD else hand & ~card_bit(public.taken)


@kernel
def knocks_allowed(public, private) -> int:
    """Mask of the cards with whose discard the player to move may knock; only in the discard phase (rule 4)."""
    hand = np.int64(private.hand)
    limit = np.int64(public.rules.knock_limit)
    # A discard saves at most its own points, 10: a quick no for most hands.
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
    """Whether the player to move may draw from the stock."""
    return public.phase == DRAW or public.phase == STOCK_ONLY


@kernel
def may_draw_upcard(public) -> bool:
    """Whether the player to move may take the upcard."""
    return public.phase == DRAW or public.phase == OFFER


@kernel
def is_legal(public, private, action: int) -> bool:
    """Whether the player to move, whose private part this is, may take this action."""
    if action < 0 or action >= NUM_ACTIONS:
        return False
    if action == PASS:
        return public.phase == OFFER
    if action == DRAW_STOCK:
        return may_draw_stock(public)
    if action == DRAW_UPCARD:
        return may_draw_upcard(public)
    if public.phase != DISCARD:
        return False
    bit = card_bit(action % NUM_CARDS)
    if not discards_allowed(public, private) & bit:
        return False
    return action < KNOCK or min_deadwood(np.int64(private.hand) ^ bit) <= public.rules.knock_limit


@kernel
def write_mask(public, private, mask: np.ndarray) -> None:
    """Write the action mask of the player to move into int8 (107,)."""
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
    """The uint64 random number for the decision that the player now faces (ties of bots and the like)."""
    hidden = game.hidden
    key = stream(hidden.decision_seed, hidden.episode, hidden.decisions, DECISION)
    return mix(key, player)


# --- Playing ------------------------------------------------------------------------------------------


@kernel
def play(game, action: int) -> None:
    """Carry out an action, which must be legal (`is_legal`), of the player to move."""
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
            _settle_knock(public, game.private)
        elif public.turn >= public.rules.max_turns or public.stock_left <= public.rules.stock_floor:
            public.outcome = VOID
            public.phase = OVER
        else:
            public.to_move = 1 - player
            public.phase = DRAW


@kernel
def _draw_from_stock(public, private, deck) -> None:
    player = public.to_move
    rules = public.rules
    card = deck[rules.ranks * rules.suits - public.stock_left]
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
def _settle_knock(public, private) -> None:
    """Melding, laying off and scoring after a knock (rules 6 and 7)."""
    knocker = public.to_move
    defender = 1 - knocker
    hand = np.int64(private[knocker].hand)
    defence = np.int64(private[defender].hand)
    sets = best_set_cards(hand)
    knocker_deadwood = unmelded_value(hand & ~sets)
    if knocker_deadwood == 0:
        defender_left = min_deadwood(defence)
        public.outcome = GIN
        public.winner = knocker
        public.points = public.rules.gin_bonus + defender_left
    else:
        defender_left = defender_deadwood(run_cards(hand & ~sets), sets, defence)
        if knocker_deadwood < defender_left:
            public.outcome = KNOCK_WON
            public.winner = knocker
            public.points = defender_left - knocker_deadwood
        else:
            public.outcome = UNDERCUT
            public.winner = defender
            public.points = public.rules.undercut_bonus + knocker_deadwood - defender_left
    public.knocker = knocker
    public.deadwood[knocker] = knocker_deadwood
    public.deadwood[defender] = defender_left
    public.scores[public.winner] += public.points
    public.phase = OVER


# --- Records from outside -----------------------------------------------------------------------------


@kernel
def is_position(public, hand: int, player: int) -> bool:
    """Whether these can be the public part and the hand of `player` in some hand of Gin Rummy.

    Everything is checked that kernels rely on when they look something up: for records that come from outside.
    """
    rules = public.rules
    if not (0 < rules.ranks <= NUM_RANKS and 0 < rules.suits <= NUM_SUITS and rules.target_score > 0):
        return False
    if not (0 < rules.hand_size <= MAX_HAND_SIZE and 0 < rules.max_turns <= MAX_TURNS):
        return False
    stock = rules.ranks * rules.suits - 2 * rules.hand_size - 1
    if stock <= 0 or public.stock_left > stock or public.turn > rules.max_turns or public.phase > OVER:
        return False
    if not (0 <= player <= 1 and 0 <= public.to_move <= 1 and 0 <= public.dealer <= 1):
        return False
    if not (NO_CARD <= public.upcard < NUM_CARDS and NO_CARD <= public.taken < NUM_CARDS):
        return False
    if public.upcard == NO_CARD and public.phase != DISCARD:
        return False
    others = ~deck_cards(rules.ranks, rules.suits)
    pile = np.int64(public.pile)
    if (hand | pile) & others or hand & pile:
        return False
    for either in range(2):
        if np.int64(public.shown[either]) & others:
            return False
        if (np.int64(public.discarded[either]) | np.int64(public.declined[either])) & ~pile:
            return False
    while pile:
        if public.discard_turn[lowest_card(pile)] > public.turn:
            return False
        pile &= pile - 1
    if public.phase == OVER:
        return count_cards(hand) <= rules.hand_size
    drawn = public.phase == DISCARD and public.to_move == player
    return count_cards(hand) == rules.hand_size + np.int64(drawn)


@kernel
def is_history(public, private, player: int) -> bool:
    """Whether the history of a position (`is_position`) can have led to it, and the own draws are those in it."""
    if public.history_length > len(public.history) or private.num_stock_draws > len(private.stock_draws):
        return False
    if not 0 <= public.first_upcard < NUM_CARDS:
        return False
    upcard = np.int64(public.first_upcard)
    mover = 1 - np.int64(public.dealer)
    drawn = False
    turns = draws = 0
    for index in range(public.history_length):
        action = public.history[index]
        if action < DRAW_STOCK:
            if not drawn:
                return False
            upcard = np.int64(action % NUM_CARDS)
            drawn = False
            turns += 1
            mover = 1 - mover
        elif action == PASS:
            if index > 1:
                return False
            mover = 1 - mover
        elif drawn or action > PASS or (action == DRAW_UPCARD and upcard == NO_CARD):
            return False
        else:
            drawn = True
            if action == DRAW_UPCARD:
                upcard = np.int64(NO_CARD)
            elif mover == player:
                if draws >= private.num_stock_draws or not 0 <= private.stock_draws[draws] < NUM_CARDS:
                    return False
                draws += 1
    if turns != public.turn or draws != private.num_stock_draws or upcard != public.upcard:
        return False
    return public.phase == OVER or (drawn == (public.phase == DISCARD) and mover == public.to_move)


# --- The end of a game --------------------------------------------------------------------------------


@kernel
def game_is_over(public) -> bool:
    """Whether, at the end of a hand, the game of several hands has ended too."""
    return (
        public.scores[0] >= public.rules.target_score
        or public.scores[1] >= public.rules.target_score
        or public.hand_number + 1 >= public.rules.max_hands
    )


@kernel
def game_winner(public) -> int:
    """Who has reached the target score; -1 if nobody has."""
    if public.scores[0] >= public.rules.target_score:
        return 0
    return 1 if public.scores[1] >= public.rules.target_score else -1
