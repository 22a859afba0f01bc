"""Bots that ask a language model through a chat interface, for `gin-rummy arena`.

>>> bot = ChatBot("qwen3", "http://localhost:8000/v1")
>>> play_match(bot, "simple", games=2, episode="hand", seed=1)

Any server with the endpoint ``/chat/completions`` works. For each decision, the model reads the rules and the
player's view in words. Like every bot, it has no memory between decisions.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from gin_env.game.actions import IllegalActionError
from gin_env.game.words import rules_in_words
from gin_env.observations.illegal_actions import explain_illegal
from gin_env.observations.views import PlayerView
from gin_env.support.atomic import write_text
from gin_env.support.checks import check_integer
from gin_env.wrappers.text import find_action

try:
    import openai
except ImportError as error:
    raise ImportError(
        'gin_env.wrappers.chat needs the openai library: pip install "gin-env[arena]"'
    ) from error

ASK = "Answer with one of the actions that are listed, word for word, and nothing after it."
Message = dict[str, str]
_ENTRIES = ("answer", "input_tokens", "output_tokens")


@dataclass
class Usage:
    """Counts of a model's decisions, answers and tokens so far, including answers read from a file."""

    decisions: int = 0
    answers: int = 0
    illegal_answers: int = 0
    """Answers without a legal action, after which the model was asked again."""
    replaced_actions: int = 0
    """Decisions without a legal answer in any attempt, for which a random legal action was played."""
    input_tokens: int = 0
    output_tokens: int = 0
    unmetered_answers: int = 0
    """Answers for which the server did not report tokens."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, **counts: int) -> None:
        """Add to the named counts. This is thread-safe."""
        with self._lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def counts(self) -> dict[str, int]:
        """Return all counts by name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "_lock"}

    def cost(self, input_price: float, output_price: float) -> float:
        """Return the cost of all tokens, given prices per million tokens."""
        return (self.input_tokens * input_price + self.output_tokens * output_price) / 1e6


class AnswerFile:
    """A JSON Lines file of models' answers, so that a resumed run does not pay for them twice.

    Parameters
    ----------
    path : the file. Its first line holds `setting`.
    setting : a JSON-serialisable description of the run. Raises ValueError if the file has another setting
        or a damaged line.
    """

    def __init__(self, path: str | Path, setting: dict[str, Any]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._answers: dict[str, dict[str, Any]] = {}
        header = json.dumps(setting)
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        lines = text.split("\n")
        if text and lines[0] != header:
            raise ValueError(
                f"{path} holds the answers of another run; choose another file ({lines[0][:200]})"
            )
        for number, line in enumerate(lines[1:-1], 2):  # the last line may have been cut short
            try:
                answer = json.loads(line)
                self._answers[answer["key"]] = {name: answer[name] for name in _ENTRIES}
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: not an answer ({error!r})") from error
        if not text.endswith("\n"):
            write_text(self.path, "\n".join([header, *lines[1:-1], ""]))

    def __len__(self) -> int:
        return len(self._answers)

    @staticmethod
    def setting_of(path: str | Path) -> dict[str, Any] | None:
        """Return the setting of a file, or None if it does not exist. Raises ValueError for other files."""
        if not Path(path).exists():
            return None
        try:
            with Path(path).open(encoding="utf-8") as file:
                setting: dict[str, Any] = json.loads(file.readline())
            return setting if isinstance(setting, dict) else {}
        except ValueError as error:
            raise ValueError(f"{path} is not a file of answers: {error}") from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the answer with this key, or None if there is none yet."""
        return self._answers.get(key)

    def add(self, answer: dict[str, Any]) -> None:
        """Append an answer to the file, which is closed before this returns."""
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            self._answers[answer["key"]] = answer
            file.write(json.dumps(answer) + "\n")


def without_password(address: str) -> str:
    """Return an address, or MODEL@ADDRESS, without ``user:password@``: it is written to results."""
    return re.sub(r"(https?://)[^/@]*@", r"\1", address)


def _own_key(url: str) -> str | None:
    """Return the key of OPENAI_API_KEY for OpenAI's own server, None for any other."""
    address = urlsplit(url)
    is_openai = address.scheme == "https" and address.hostname == "api.openai.com"
    return os.environ.get("OPENAI_API_KEY") if is_openai else None


class ChatBot:
    """A bot that asks a language model for each action.

    Parameters
    ----------
    model : the model's name on the server.
    url : base URL of the server's API, such as ``"http://localhost:8000/v1"``.
    attempts : maximum number of answers per decision. After an answer without a legal action, the bot
        explains the error to the model and asks again. After the last one, it plays a random legal action and
        counts it.
    parallel : maximum number of concurrent questions.
    answers : a file of answers, see `AnswerFile`. Questions with an answer in the file are not sent.
    key : API key for the server; default: none, and for
        api.openai.com the environment variable OPENAI_API_KEY, which is never sent to another server.
    timeout : maximum number of seconds to wait for an answer. The openai library retries after time-outs,
        lost connections and overload.
    name : the bot's name in results; default: `model`.
    """

    def __init__(
        self,
        model: str,
        url: str,
        *,
        attempts: int = 3,
        parallel: int = 8,
        answers: AnswerFile | None = None,
        key: str | None = None,
        timeout: float = 600,
        name: str | None = None,
    ) -> None:
        self.name = name or model
        self.model = model
        self.url = url
        self.attempts = check_integer("attempts", attempts, 1, 100)
        self.usage = Usage()
        self._parallel = check_integer("parallel", parallel, 1, 1000)
        self._answers = answers
        self._client = openai.OpenAI(
            base_url=url,
            api_key=key or _own_key(url) or "none",
            timeout=timeout,
            max_retries=4,
        )

    def act(self, view: PlayerView) -> np.ndarray:
        """Return an action for each view, int64 (n,). Raises ConnectionError without an answer."""
        views = [view[index] for index in range(len(view))]
        with ThreadPoolExecutor(min(self._parallel, len(views))) as pool:
            return np.fromiter(pool.map(self._decide, views), np.int64, len(views))

    def _decide(self, view: PlayerView) -> int:
        rules = rules_in_words(view.rules)
        messages = [
            {"role": "system", "content": f"{rules}\n\n{ASK}"},
            {"role": "user", "content": str(view)},
        ]
        random, legal = int(view.records["random"][0]), view.masks()[0].nonzero()[0]
        self.usage.add(decisions=1)
        for _ in range(self.attempts):
            answer = self._ask(messages, random)
            try:
                action = find_action(answer)
                if action in legal:
                    return action
                reason = explain_illegal(view.records, action)
            except IllegalActionError as error:
                reason = str(error)
            self.usage.add(illegal_answers=1)
            messages += [
                {"role": "assistant", "content": answer},
                {"role": "user", "content": f"Not possible: {reason}\n\n{view}"},
            ]
        self.usage.add(replaced_actions=1)
        return int(legal[random % len(legal)])

    def _ask(self, messages: list[Message], random: int) -> str:
        """Return the model's answer, from the file if it is there, otherwise from the server."""
        question = json.dumps([self.url, self.model, messages, random])
        key = hashlib.sha256(question.encode()).hexdigest()
        known = self._answers.get(key) if self._answers is not None else None
        if known is None:
            known = {"key": key, "player": self.name, **self._request(messages)}
            if self._answers is not None:
                self._answers.add(known)
        tokens = known["input_tokens"], known["output_tokens"]
        if None in tokens:
            self.usage.add(answers=1, unmetered_answers=1)
        else:
            self.usage.add(answers=1, input_tokens=tokens[0], output_tokens=tokens[1])
        return str(known["answer"])

    def _request(self, messages: list[Message]) -> dict[str, Any]:
        try:
            reply = self._client.chat.completions.create(model=self.model, messages=messages)  # type: ignore[arg-type]
        except openai.OpenAIError as error:
            raise ConnectionError(f"{self.name} at {self.url} does not answer: {error}") from error
        if not getattr(reply, "choices", None):
            raise ConnectionError(
                f"{self.name} at {self.url} does not answer like a chat server: {reply!r:.200}"
            )
        usage = reply.usage
        answer = reply.choices[0].message.content or ""
        return {
            "answer": answer.encode(errors="replace").decode(),  # a lone surrogate cannot be stored
            "input_tokens": usage and usage.prompt_tokens,
            "output_tokens": usage and usage.completion_tokens,
        }
