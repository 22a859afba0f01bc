"""The server of `gin-rummy play --web` and `gin-rummy replay --web`: Starlette with uvicorn.

Pages, scripts and cards are served from memory. Everything that takes time (compiling kernels, bots,
estimators) runs in threads, so that the page can say what it is waiting for.

The server has no password. A page of another site that is open in the same browser must not reach it, neither
by a request (`Origin`) nor by a host name that the site points to this computer (`Host`). So `Guard` checks
every request (own host, own origin, a small body), and adds headers to every response.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import signal
import socket
import sys
import traceback
import webbrowser
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from gin_env.ui.card_art import card_sheet

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import Headers
    from starlette.middleware import Middleware
    from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise ImportError('playing in the browser needs Starlette: pip install "gin-env[play]"') from error

from gin_env.ui.web.table_api import Handler, TableApi

Endpoint = Callable[[Request], Awaitable[Response]]
STATIC = Path(__file__).parent / "static"
REQUEST_SECONDS = 10.0
"""Time in which a connection must have sent the head of its next request."""
KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
MAX_BODY = 4096
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LOOPBACK_HEADERS = {"Cross-Origin-Opener-Policy": "same-origin"}
"""Headers of a server for this computer only; browsers reject them from other addresses without HTTPS."""


def create_app(api: TableApi, host: str = "127.0.0.1") -> Starlette:
    """Return the application: pages, the sheet of cards, and the requests that `api` answers."""
    page = "replay.html" if api.recorded is not None else "index.html"
    pages = {"/": page, "/replay": "replay.html", "/puzzle": "puzzle.html", "/board": "board.html"}
    routes = [Route(path, _file(name)) for path, name in pages.items()]
    routes.append(Route("/cards.svg", _content(card_sheet(), "image/svg+xml")))
    routes += [
        Route(f"/{path.name}", _file(path.name)) for path in STATIC.iterdir() if path.suffix != ".html"
    ]
    drawing = asyncio.Semaphore(1)  # the pictures of one hand take hundreds of megabytes
    routes += [Route(f"/hand.{kind}", _picture(api, kind, drawing)) for kind in ("gif", "png")]
    judging = asyncio.Semaphore(4)  # links of many hands must not take the threads of the tables
    for name, handler in api.handlers().items():
        turn = judging if name in ("replay", "review", "analyse") else nullcontext()
        routes.append(Route(f"/api/{name}", _answer(handler, turn), methods=["POST"]))
    return Starlette(routes=routes, middleware=[Middleware(Guard, host=host)])


def serve(api: TableApi, host: str, port: int) -> None:
    """Serve until Ctrl-C or SIGTERM. Raises OSError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # before the browser opens
    except OSError as error:
        listener.close()
        raise OSError(
            f"cannot serve at {host}, port {port} ({error.strerror}): choose another --port"
        ) from error
    address = web_address(host, port)
    print(f"Gin Rummy is at {address} (Ctrl-C stops it)", file=sys.stderr, flush=True)
    if host not in LOOPBACK:
        print("Anyone who can reach this address can open it, without a password", file=sys.stderr)
    elif sys.stdout.isatty() and (
        # A browser would open in a window, not in this terminal.
        sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    ):
        webbrowser.open(address)
    config = uvicorn.Config(
        create_app(api, host),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        http=_Protocol,
        lifespan="off",
        limit_concurrency=100,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=16_384,
    )
    api.warm_up()
    # uvicorn raises the signal that stopped it again: end normally, so that bots' programs are stopped too.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


class _Protocol(H11Protocol):
    """HTTP/1.1 that closes connections which send no request; uvicorn does so only after a response."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._silence = self.loop.call_later(REQUEST_SECONDS, self._close_if_silent)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._silence.cancel()
        self._silence = self.loop.call_later(REQUEST_SECONDS, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def web_address(host: str, port: int) -> str:
    """Return the address to open; that of this computer itself if all of its addresses are served."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _file(name: str) -> Endpoint:
    path = STATIC / name
    return _content(path.read_text(encoding="utf-8"), KINDS[path.suffix])


def _content(text: str, kind: str) -> Endpoint:
    async def get(request: Request) -> Response:
        return Response(text, media_type=kind, headers={"Cache-Control": "no-cache"})

    return get


def _picture(api: TableApi, kind: str, turn: AbstractAsyncContextManager[None]) -> Endpoint:
    """Return an endpoint that draws the hand of the query ``link`` as a file to save."""

    async def get(request: Request) -> Response:
        try:
            async with turn:
                content = await run_in_threadpool(api.picture, request.query_params.get("link", ""), kind)
        except ValueError as error:
            return Response(str(error), 400, media_type="text/plain")
        headers = {"Content-Disposition": f'attachment; filename="gin-rummy-hand.{kind}"'}
        return Response(content, media_type=f"image/{kind}", headers=headers)

    return get


def _answer(handler: Handler, turn: AbstractAsyncContextManager[None]) -> Endpoint:
    """Return an endpoint that takes a JSON object and answers with JSON, computed in a thread."""

    async def post(request: Request) -> Response:
        headers = {"Cache-Control": "no-store"}
        try:
            content = json.loads(await asyncio.wait_for(request.body(), REQUEST_SECONDS))
        except (ClientDisconnect, TimeoutError):
            return Response(status_code=408, headers=headers)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            return JSONResponse({"error": "the request must be a JSON object"}, 400, headers)
        token = request.headers.get("x-gin-session", "")
        try:
            async with turn:
                status, answer = await run_in_threadpool(handler, content, token)
        except (ValueError, TypeError, ImportError, OSError) as error:
            status, answer = 400, {"error": str(error)}
        except Exception as error:  # a user's own bot can raise anything
            traceback.print_exc()
            status, answer = 500, {"error": f"{type(error).__name__}: {error}"}
        return JSONResponse(answer, status, headers)

    return post


# --- Checks of requests --------------------------------------------------------------------------------


class Guard(BaseHTTPMiddleware):
    """Middleware that refuses foreign hosts and origins and large bodies, and adds HEADERS.

    Parameters
    ----------
    host : the address that is served. At a loopback address only its names are accepted; elsewhere also any
        IP address and this computer's names.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        super().__init__(app)
        self._host = host
        self._headers = HEADERS | (LOOPBACK_HEADERS if host in LOOPBACK else {})

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        refusal = self._refusal(request.method, request.headers)
        if refusal is None:
            response = await call_next(request)
        else:
            status, reason = refusal
            response = PlainTextResponse(reason + "\n", status)
        response.headers.update(self._headers)
        return response

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """Status and reason for a request that is refused."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return 421, "this host name is not served here"
        if any(_netloc(origin) != hosts[0].lower() for origin in origins):
            return 403, "requests from other origins are refused"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and (
            method != "GET" or headers.get("sec-fetch-dest") != "document"
        ):
            return 403, "requests from other sites are refused"
        if method not in ("GET", "HEAD"):
            if not origins:
                return 403, "a request that changes something needs an Origin"
            length = headers.get("content-length", "")
            # A transfer encoding overrides the length.
            if "transfer-encoding" in headers or not length.isascii() or not length.isdigit():
                return 411, "the length of the request is missing"
            if len(length) > 9 or int(length) > MAX_BODY:
                return 413, f"a request must be at most {MAX_BODY} bytes long"
        return None

    def _is_own(self, header: str) -> bool:
        """Return whether a `Host` header names this server; the port can differ if it is forwarded."""
        try:
            name = (urlsplit(f"//{header}").hostname or "").lower()
        except ValueError:
            return False
        if self._host.lower() in LOOPBACK:
            return name in LOOPBACK
        own = socket.gethostname().lower()
        return name in (*LOOPBACK, self._host.lower(), own, f"{own}.local") or _is_address(name)


def _netloc(origin: str) -> str | None:
    """Host and port of an origin; None for one that is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    """Return whether this is an IP address, which cannot be redirected by DNS."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
