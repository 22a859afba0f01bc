"""Bots that watch the matches they play."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gin_env import agents
from gin_env.game.state import OFFER


class PlaysItself:
    """A bot of which matches make no copies, so that a test can read what it has seen."""

    def __deepcopy__(self, memo):
        return self


class RemembersHands:
    """The bot `simple`, remembering its hands to recognise the other game of a deal.

    A line of the file `claims` is a hand that it believes its opponent to have: the ranks that it held in an
    earlier game with an upcard of the same rank, in which it was the dealer if it is not the dealer now.
    """

    name = "remembers-hands"

    def __init__(self, claims: Path) -> None:
        self.claims = claims
        self.hands: list[tuple[int, bool, list[int]]] = []

    def act(self, view):
        public = view.array["public"]
        for index in np.flatnonzero((public["turn"] == 0) & (public["phase"] == OFFER)):
            upcard = int(public["pile"][index]).bit_length() - 1
            deals = bool(public["dealer"][index] == view.array["player"][index])
            for rank, dealt, ranks in self.hands:
                if rank == upcard % 13 and dealt != deals:
                    with self.claims.open("a") as file:
                        file.write(f"{ranks}\n")
            hand = int(view.hands[index])
            self.hands.append(
                (upcard % 13, deals, sorted(card % 13 for card in range(52) if hand >> card & 1))
            )
        return agents.make("simple").act(view)


class PlaysBothGames(PlaysItself, RemembersHands):
    """`RemembersHands` that plays both games of each deal."""
