"""A bot that asks a language model behind a chat interface: ``chat:MODEL@URL``.

>>> play_match("chat:qwen3@http://localhost:8000/v1", "simple", games=20, episode="hand")
>>> bot = agents.make("chat:qwen3@http://localhost:8000/v1,attempts=5,answers=answers.jsonl", programs=True)

Any server with the endpoint ``/chat/completions`` works; without ``@URL`` it is that of OpenAI. For each
decision, the model reads the rules and the player's view in words. Like every bot, it has no memory between
decisions. API keys come from the environment (`api_key`) and are sent to no other server.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from gin_env.game.actions import IllegalActionError
from gin_env.game.words import find_action, rules_in_words
from gin_env.observations.illegal_actions import explain_illegal
from gin_env.observations.views import PlayerView
from gin_env.support import specs
from gin_env.support.atomic import write_text
from gin_env.support.checks import check_integer, check_number, printable
from gin_env.support.files import check_regular_file
from gin_env.support.specs import NamedObject

try:
    import openai
except ImportError as error:
    raise ImportError('gin_env.agents.chat needs the openai library: pip install "gin-env[chat]"') from error

OPENAI = "https://api.openai.com/v1"
KEYS = "GIN_ENV_CHAT_KEYS"
"""Environment variable with the keys of servers: ``HOST=KEY``, or several separated by commas."""
ASK = "Answer with one of the actions that are listed, word for word, and nothing after it."
Message = dict[str, str]
_ENTRIES = ("answer", "input_tokens", "output_tokens")
_PARAMETERS = re.compile(r",(?=(?:attempts|parallel|answers|timeout)=)")


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

    def __str__(self) -> str:
        tokens = f"{self.input_tokens:,} tokens read and {self.output_tokens:,} written"
        if self.unmetered_answers:
            tokens += f", without those of {self.unmetered_answers:,} answers"
        return (
            f"{self.decisions:,} decisions, {self.illegal_answers:,} illegal answers, "
            f"{self.replaced_actions:,} actions played at random, {tokens}"
        )


class AnswerFile:
    """A JSON Lines file of models' answers by question, so that a repeated match does not pay for them again.

    Raises ValueError, with the line, for a file that does not hold answers. A cut last line is dropped.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self.by_key: dict[str, dict[str, Any]] = {}
        text = ""
        if self.path.exists():
            check_regular_file(self.path)
            text = self.path.read_text(encoding="utf-8")
        *lines, cut = text.split("\n")
        for number, line in enumerate(lines, 1):
            try:
                answer = json.loads(line)
                self.by_key[answer["key"]] = {name: answer[name] for name in _ENTRIES}
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: not an answer ({error!r})") from error
        if cut or not text:
            write_text(self.path, "".join(f"{line}\n" for line in lines))

    def add(self, answer: dict[str, Any]) -> None:
        """Append an answer to the file, which is closed before this returns."""
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            self.by_key[answer["key"]] = answer
            file.write(json.dumps(answer) + "\n")


def api_key(url: str) -> str | None:
    """Return the key for a server: its own in `KEYS`, for OpenAI also OPENAI_API_KEY; None if it has none.

    Raises ValueError for entries of `KEYS` that are not HOST=KEY.
    """
    address = urlsplit(url)
    entries = [entry.partition("=") for entry in os.environ.get(KEYS, "").split(",") if entry]
    if any(not host or not key for host, _, key in entries):
        raise ValueError(f"{KEYS} must be HOST=KEY, or several separated by commas")
    own = {host.strip(): key for host, _, key in entries}.get(address.netloc)
    return own or (os.environ.get("OPENAI_API_KEY") if is_openai(url) else None)


def is_openai(url: str) -> bool:
    """Return whether the server is OpenAI's, by an encrypted connection."""
    address = urlsplit(url)
    return address.scheme == "https" and address.hostname == urlsplit(OPENAI).hostname


def make_chat(text: str, params: dict[str, Any]) -> ChatBot:
    """Return the bot of ``chat:MODEL``, ``chat:MODEL@URL`` or either with ``,key=value`` behind it.

    Raises TypeError or ValueError for other texts and parameters.
    """
    named, *given = _PARAMETERS.split(text.removeprefix("chat:"))
    model, found, address = named.partition("@http")
    if not model or re.search(r"://[^/]*@", address):
        raise ValueError(f"a language model must be chat:MODEL@URL without a password, not {text!r}")
    _, every = specs.all_parameters(f"chat:{','.join(given)}" if given else "chat", params, "bot")
    bot = ChatBot(model, found[1:] + address if found else OPENAI, **every)
    bot.name = text + "".join(f",{key}={specs.format_value(value)}" for key, value in params.items())
    return bot


class ChatBot(NamedObject):
    """A bot that asks a language model for each action.

    Parameters
    ----------
    model : the model's name on the server.
    url : base URL of the server's API, such as ``"http://localhost:8000/v1"``.
    attempts : maximum number of answers per decision. After an answer without a legal action, the bot
        explains the error to the model and asks again. After the last one, it plays a random legal action and
        counts it.
    parallel : maximum number of concurrent questions.
    answers : a file that keeps every answer. A question with an answer in the file is not sent, so the same
        match with the same seed continues where it was interrupted.
    timeout : maximum number of seconds to wait for an answer. The openai library retries after time-outs,
        lost connections and overload.

    Attributes
    ----------
    usage : see `Usage`.
    """

    slow = True

    def __init__(
        self,
        model: str,
        url: str = OPENAI,
        *,
        attempts: int = 3,
        parallel: int = 8,
        answers: str | Path | None = None,
        timeout: float = 600.0,
    ) -> None:
        self.name = f"chat:{model}@{url}"
        self.model, self.url = model, url
        self.attempts = check_integer("attempts", attempts, 1, 100)
        self.usage = Usage()
        self._parallel = check_integer("parallel", parallel, 1, 1000)
        self._answers = AnswerFile(answers) if answers is not None else None
        self._client = openai.OpenAI(
            base_url=url,
            api_key=api_key(url) or "none",
            timeout=check_number("timeout", timeout, 0.0, 1e6),
            max_retries=4,
        )
        if not is_openai(url):  # the library sends what OPENAI_ORG_ID and OPENAI_PROJECT_ID say to any server
            self._client.organization = self._client.project = None

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
        random, legal = int(view.array["random"][0]), view.masks()[0].nonzero()[0]
        self.usage.add(decisions=1)
        for _ in range(self.attempts):
            answer = self._ask(messages, random)
            try:
                action = find_action(answer)
                if action in legal:
                    return action
                reason = explain_illegal(view.array[0], action)
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
        known = self._answers.by_key.get(key) if self._answers is not None else None
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
            reply = self._client.chat.completions.create(model=self.model, messages=messages)
        except openai.OpenAIError as error:
            raise ConnectionError(
                f"{self.name} at {self.url} does not answer: {printable(error, 500)}"
            ) from error
        if not getattr(reply, "choices", None):
            said = printable(repr(reply), 200)
            raise ConnectionError(f"{self.name} at {self.url} does not answer like a chat server: {said}")
        usage = reply.usage
        answer = reply.choices[0].message.content or ""
        return {
            "answer": answer.encode(errors="replace").decode(),  # a lone surrogate cannot be stored
            "input_tokens": usage and usage.prompt_tokens,
            "output_tokens": usage and usage.completion_tokens,
        }
