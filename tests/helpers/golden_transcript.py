"""The golden transcript tests/data/golden_hand.txt: the output of the public methods during one hand.

    python tests/helpers/golden_transcript.py    # writes it again; read the diff, since users will see it too

The deck is fixed, so the transcript does not depend on random numbers. Observations are not in it: they are
compared with those of `reference_rules`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import gin_env
from gin_env import actions, agents, cards, estimators, gin_rummy_v0, melds
from gin_env.game.state import OUTCOME_NAMES, PHASE_NAMES, status

FILE = Path(__file__).parents[1] / "data" / "golden_hand.txt"
DECK = random.Random(33).sample(range(52), 52)
BOT = "simple:knock_at=8"


def transcript() -> str:
    """Return the whole transcript."""
    env = gin_rummy_v0.raw_env(render_mode="ansi")
    env.reset(seed=0, options={"deck": DECK, "dealer": 0})
    lines = [
        f"deck: {' '.join(map(cards.card_text, DECK))}",
        f"rules: {env.rules.text}",
        f"action space {env.action_space('player_0')}",
    ]
    bot = agents.make(BOT)
    number = 0
    while env.agents and not any(env.terminations.values()):
        view = gin_env.PlayerView.from_env(env, env.agent_selection)
        action = int(bot.act(view)[0])
        lines += ["", f"--- Decision {number} " + "-" * 60, env.render().rstrip()]
        lines += describe(env, env.agent_selection)
        lines.append(f"{BOT} plays {action}: {actions.describe(action)}")
        env.step(action)
        number += 1
    lines += ["", "--- The end " + "-" * 62, env.render().rstrip()]
    for agent in env.possible_agents:
        lines += describe(env, agent)
    lines.append(f"rewards {env.rewards}, terminations {env.terminations}, truncations {env.truncations}")
    return "\n".join(lines) + "\n"


def describe(env: gin_rummy_v0.raw_env, agent: str) -> Iterator[str]:
    """Return the output of the environment, the view and the card functions for one agent."""
    view = gin_env.PlayerView.from_env(env, agent)
    public = view.records["public"][0]
    hand = int(view.hands[0])
    seen = env.observe(agent)
    phase, outcome = PHASE_NAMES[public["phase"]], OUTCOME_NAMES[public["outcome"]]
    yield f"{agent}: hand {cards.format(hand)}"
    yield f"  deadwood {melds.deadwood(hand)}, melds {melds.best_melds(hand)}"
    yield f"  phase '{phase}', outcome '{outcome}', points {public['points']}"
    yield f"  own draws from the stock: {' '.join(map(cards.card_text, view.stock_draws())) or 'none'}"
    events = view.history()
    for event in events[-1:]:
        card = cards.card_text(event.card) if event.card >= 0 else "unseen"
        yield f"  event {len(events)}: player {event.player}, {actions.describe(event.action)} ({card})"
    legal = np.flatnonzero(seen["action_mask"]).tolist()
    yield f"  legal: {', '.join(map(actions.describe, legal)) or 'nothing'}"
    estimate = estimators.make("bayes").estimate(view)[0]
    likely = np.argsort(-estimate, kind="stable")[:5].tolist()
    yield "  bayes expects: " + " ".join(f"{cards.card_text(card)}={estimate[card]:.3f}" for card in likely)
    yield f"  status: {status(env.games.state[0]) or 'sound'}"


if __name__ == "__main__":
    FILE.write_text(transcript())
    print(f"written to {FILE}")
