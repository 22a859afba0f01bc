"""A chat server with scripted players instead of language models, to try `chat:` bots without one.

    python examples/language_models/scripted_server.py --port 8000
    gin-rummy match chat:talker@http://localhost:8000/v1 simple --games 20 --hands --seed 1

Players: `first` and `last` take the first and the last action on the list, `talker` talks around the last,
`hasty` answers some questions with an impossible action first, `silent` never names one. Tokens are words.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Messages = list[dict[str, str]]


def listed(messages: Messages) -> list[str]:
    """Return the legal actions, which end each question."""
    return messages[-1]["content"].splitlines()[-1].removeprefix("You may: ").removesuffix(".").split("; ")


def hasty(messages: Messages) -> str:
    """Answer with the last legal action or, depending on the question, with an illegal card."""
    first_try = len(messages) == 2
    return "draw the joker" if first_try and len(messages[-1]["content"]) % 3 == 0 else listed(messages)[-1]


PLAYERS: dict[str, Callable[[Messages], str]] = {
    "first": lambda messages: listed(messages)[0],
    "last": lambda messages: listed(messages)[-1],
    "talker": lambda messages: f"Not {listed(messages)[0]}. Let me think. I will {listed(messages)[-1]}!",
    "hasty": hasty,
    "silent": lambda messages: "I cannot say.",
}


class Handler(BaseHTTPRequestHandler):
    """Answers ``POST /v1/chat/completions``."""

    def do_POST(self) -> None:
        """Let the named player answer the last message."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        player = PLAYERS.get(request["model"])
        if player is None or not self.path.endswith("/chat/completions"):
            self._reply(404, {"error": {"message": f"no player {request['model']!r} at {self.path}"}})
            return
        answer = player(request["messages"])
        read, written = sum(len(each["content"].split()) for each in request["messages"]), len(answer.split())
        streamed = request.get("stream", False)
        message = {"role": "assistant", "content": answer}
        reply = {
            "id": "scripted",
            "object": "chat.completion.chunk" if streamed else "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "delta" if streamed else "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }
        if streamed:
            self._send("text/event-stream", f"data: {json.dumps(reply)}\n\ndata: [DONE]\n\n")
        else:
            self._reply(200, reply)

    def _reply(self, status: int, content: dict[str, Any]) -> None:
        self._send("application/json", json.dumps(content), status)

    def _send(self, kind: str, content: str, status: int = 200) -> None:
        body = content.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def serve(port: int = 0) -> ThreadingHTTPServer:
    """Return a server at this port of this machine (0: a free one); call its ``serve_forever``."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve scripted players.")
    parser.add_argument("--port", type=int, default=8000)
    serve(parser.parse_args().port).serve_forever()
