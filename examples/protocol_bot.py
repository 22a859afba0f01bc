"""A program that plays Gin Rummy by the line protocol of docs/protocol.md; it needs nothing but Python.

    gin-rummy match "process:python examples/protocol_bot.py" random --games 20

Take it as a model for a bot in any language: read a line, answer a line, flush.
"""

import json
import sys

RANKS = "A23456789TJQK"


def points(card):
    """Deadwood points of a card such as TH."""
    return min(RANKS.index(card[0]) + 1, 10)


def usefulness(card, hand):
    """Return the number of cards near this one: of its rank, or next to it in its suit."""
    near = 0
    for other in hand:
        steps = abs(RANKS.index(card[0]) - RANKS.index(other[0]))
        near += other != card and (steps == 0 or (other[1] == card[1] and steps <= 2))
    return near


def decide(question):
    """Return one of the legal actions, in words."""
    hand, legal = question["hand"], question["legal"]
    knocks = [action for action in legal if action.startswith("knock")]
    if knocks:
        return knocks[0]
    discards = [action for action in legal if action.startswith("discard")]
    if discards:
        return min(discards, key=lambda action: (usefulness(action[-2:], hand), -points(action[-2:])))
    if "draw the upcard" in legal and usefulness(question["upcard"], hand) >= 2:
        return "draw the upcard"
    return "pass" if "pass" in legal else "draw from the stock"


def main():
    """Answer until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            reply = {"type": "ready", "protocol": 2, "name": "protocol bot"}
        else:
            reply = {"type": "action", "number": message["number"], "action": decide(message)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
