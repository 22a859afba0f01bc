"""What a player may know, worked out slowly in plain Python from her view's event log alone.

Used to check that nothing is missing from the view, and that the observation's numbers are right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gin_env import cards, melds
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.state import DISCARD, DRAW, OFFER, OVER, STOCK_ONLY
from gin_env.observations.observation import PLANES, SCALARS
from gin_env.observations.views import PlayerView


@dataclass
class Knowledge:
    """The table as one player knows it, after the events of the hand so far."""

    player: int
    own_start: set[int]
    own: set[int]
    pile: list[int]
    to_move: int
    phase: int
    stock: int
    turn: int = 0
    taken: int = -1
    by: list[set[int]] = field(default_factory=lambda: [set(), set()])
    declined: list[set[int]] = field(default_factory=lambda: [set(), set()])
    shown: list[set[int]] = field(default_factory=lambda: [set(), set()])
    came: dict[int, int] = field(default_factory=dict)


def reconstruct(view: PlayerView) -> Knowledge:
    """Replay the public events and the player's own draws, from: dealer, first upcard, history, own hand."""
    record = view.records[0]
    public, rules, player = record["public"], view.rules, int(record["player"])
    events, draws = view.history(), view.stock_draws()
    # Her first hand: what she holds now, less what she drew and took, plus what she discarded; a card that
    # came and went (or went and came back) is undone in order, backwards.
    own = set(cards.cards_of(int(record["private"]["hand"])))
    undo = list(draws)
    for event in reversed(events):
        if event.player == player:
            if event.action < DRAW_STOCK:
                own.add(event.card)
            elif event.action == DRAW_STOCK:
                own.remove(undo.pop())
            elif event.action == DRAW_UPCARD:
                own.remove(event.card)
    assert not undo
    assert len(own) == rules.hand_size

    known = Knowledge(
        player=player,
        own_start=set(own),
        own=own,
        pile=[int(public["first_upcard"])],
        to_move=1 - int(public["dealer"]),
        phase=OFFER if rules.opening_offer else DRAW,
        stock=rules.deck_size - 2 * rules.hand_size - 1,
    )
    drawn = iter(draws)
    for event in events:
        assert event.player == known.to_move
        follow(known, event.action, drawn, rules)
    return known


def follow(known: Knowledge, action: int, drawn, rules) -> None:
    mover, other = known.to_move, 1 - known.to_move
    if action == PASS:
        known.declined[mover].add(known.pile[-1])
        known.phase = STOCK_ONLY if known.pile[-1] in known.declined[other] else OFFER
        known.to_move = other
    elif action == DRAW_STOCK:
        if known.phase == DRAW:
            known.declined[mover].add(known.pile[-1])
        known.stock -= 1
        if mover == known.player:
            known.own.add(next(drawn))
        known.phase = DISCARD
    elif action == DRAW_UPCARD:
        card = known.taken = known.pile.pop()
        known.shown[mover].add(card)
        for group in (*known.by, *known.declined):
            group.discard(card)
        if mover == known.player:
            known.own.add(card)
        known.phase = DISCARD
    else:
        card = action % 52
        known.pile.append(card)
        known.by[mover].add(card)
        known.turn += 1
        known.came[card] = known.turn
        known.shown[mover].discard(card)
        known.own.discard(card)
        known.taken = -1
        void = known.stock <= rules.stock_floor or known.turn >= rules.max_turns
        known.phase = OVER if action >= KNOCK or void else DRAW
        if known.phase != OVER:
            known.to_move = other


def expected_observation(known: Knowledge, view: PlayerView) -> dict[str, np.ndarray]:
    """Every part of the observation by name, in the layout's order: planes as (52,), single values as ()."""
    record = view.records[0]
    public, rules = record["public"], view.rules
    me, opponent = known.player, 1 - known.player
    mine = known.to_move == me
    parts = {name: np.zeros(52) for name in PLANES} | dict.fromkeys(SCALARS, 0.0)

    def ones(name: str, those: set[int]) -> None:
        parts[name][sorted(those)] = 1

    ones("hand", known.own)
    if known.taken < 0 and known.pile:
        ones("upcard", {known.pile[-1]})
    ones("taken", {known.taken} - {-1})
    for name, who in (("own_discards", me), ("opponent_discards", opponent)):
        for card in known.by[who]:
            parts[name][card] = 1 / (1 + known.turn - known.came[card])
    ones("opponent_declined", known.declined[opponent])
    ones("own_shown", known.shown[me])
    ones("opponent_shown", known.shown[opponent])

    deck = set(cards.cards_of(rules.deck_mask))
    unseen = deck - known.own - set(known.pile) - known.shown[opponent]
    held = rules.hand_size + (known.phase == DISCARD and not mine) - len(known.shown[opponent])
    parts["estimate"][sorted(unseen)] = held / max(len(unseen), 1)
    ones("estimate", known.shown[opponent])

    after = {card: deadwood(known.own - {card}) for card in known.own - {known.taken}}
    if known.phase == DISCARD and mine:
        parts["deadwood"] = min(after.values()) / 100
        for card, left in after.items():
            parts["discard_quality"][card] = 1 / (1 + left - min(after.values()))
    else:
        parts["deadwood"] = deadwood(known.own) / 100
    if mine and known.phase in (OFFER, DRAW):
        longer = known.own | {known.pile[-1]}
        saved = deadwood(known.own) - min(deadwood(longer - {card}) for card in known.own)
        parts["upcard_gain"] = max(-1.0, min(1.0, saved / 30))
    parts["to_move"] = mine
    for name, phase in (("offer", OFFER), ("stock_only", STOCK_ONLY), ("draw", DRAW), ("discard", DISCARD)):
        parts[name] = known.phase == phase
    parts["dealer"] = public["dealer"] == me
    parts["stock"] = known.stock / rules.initial_stock
    parts["turn"] = known.turn / rules.max_turns
    for name, who in (("own_score", me), ("opponent_score", opponent)):
        parts[name] = min(1.0, public["scores"][who] / rules.target_score)
    return {name: np.asarray(value, np.float32) for name, value in parts.items()}


def deadwood(hand: set[int]) -> int:
    return melds.deadwood(cards.mask_of(hand))
