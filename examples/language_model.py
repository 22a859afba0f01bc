"""Let a language model play Gin Rummy, in words, against any bot.

    python examples/language_model.py --stand-in --episodes 20                 # no model: a scripted answer
    python examples/language_model.py --url http://localhost:8000/v1 --model NAME --opponent tonic

Any server with the usual chat interface (``/chat/completions``) will do; a key is read from OPENAI_API_KEY.
The model reads the rules once and then one position after the other; an answer that names no legal action is
explained to it, and three of them lose the hand.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.request
from collections.abc import Callable

from tqdm import tqdm

from gin_env.matches.intervals import wilson_interval
from gin_env.wrappers.text import TextGinRummy

ASK = "Answer with one of the actions that are listed, and nothing else."
Model = Callable[[list[dict[str, str]]], str]


def stand_in(messages: list[dict[str, str]]) -> str:
    """What a model might answer: the last action on the list, with some talk around it."""
    return f"Let me think. I will {messages[-1]['content'].splitlines()[-1].rpartition('; ')[2]}"


def served(url: str, name: str) -> Model:
    """A model behind an HTTP interface."""

    def answer(messages: list[dict[str, str]]) -> str:
        request = urllib.request.Request(
            f"{url.rstrip('/')}/chat/completions",
            json.dumps({"model": name, "messages": messages}).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {os.getenv('OPENAI_API_KEY', '')}",
            },
        )
        with urllib.request.urlopen(request, timeout=300) as reply:
            return str(json.load(reply)["choices"][0]["message"]["content"])

    return answer


def play(model: Model, env: TextGinRummy, seed: int) -> tuple[float, int]:
    """One hand: (reward, answers that named no legal action)."""
    text, info = env.reset(seed=seed)
    messages = [{"role": "system", "content": ASK}]
    reward, over = 0.0, False
    while not over:
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": model(messages)})
        text, reward, over, _, info = env.step(messages[-1]["content"])
    return reward, info["misses"]


def main() -> None:
    """Play some hands and say how they went."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--opponent", default="simple", help="a bot's name (default: simple)")
    parser.add_argument("--episodes", type=int, default=10, help="hands to play (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="of the first hand; the others follow")
    parser.add_argument("--url", help="of the server, such as http://localhost:8000/v1")
    parser.add_argument("--model", default="", help="its name there")
    parser.add_argument("--stand-in", action="store_true", help="play without a model, to see how it works")
    given = parser.parse_args()
    if not given.stand_in and not given.url:
        parser.error("name a server by --url, or try --stand-in")
    model = stand_in if given.stand_in else served(given.url, given.model)
    env = TextGinRummy(given.opponent)
    hands = [play(model, env, given.seed + number) for number in tqdm(range(given.episodes), unit="hand")]
    won, decided = sum(reward > 0 for reward, _ in hands), sum(reward != 0 for reward, _ in hands)
    low, high = wilson_interval(won / decided, decided) if decided else (0.0, 1.0)
    print(f"{won} of {decided} decided hands won against {given.opponent} (95 %: {low:.0%} to {high:.0%})")
    print(f"{sum(misses for _, misses in hands)} answers named no legal action")


if __name__ == "__main__":
    main()
