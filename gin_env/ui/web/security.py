"""Checks of every request (own host, own origin, a small body), and the headers of every response.

The server has no password. A page of another site that is open in the same browser must not reach it, neither
by a request (`Origin`) nor by a host name that the site points to this computer (`Host`).
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class Guard:
    """Middleware that refuses foreign hosts and origins and large bodies, and adds HEADERS.

    Parameters
    ----------
    host : the address that is served. At a loopback address only its names are accepted; elsewhere also any
        IP address and this computer's names.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app, self._host = app, host
        headers = HEADERS | (LOOPBACK_HEADERS if host in LOOPBACK else {})
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # no WebSockets, no lifespan

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is None:
            await self._app(scope, receive, send_with_headers)
        else:
            status, reason = refusal
            await PlainTextResponse(reason + "\n", status)(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """Status and reason for a request that is refused."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return 421, "this host name is not served here"
        if any(_netloc(origin) != hosts[0].lower() for origin in origins):
            return 403, "requests from other origins are refused"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and (
            method != "GET" or headers.get("sec-fetch-mode") != "navigate"
        ):
            return 403, "requests from other sites are refused"
        if method not in ("GET", "HEAD"):
            if not origins:
                return 403, "a request that changes something needs an Origin"
            if "transfer-encoding" in headers:  # it overrides the length
                return 411, "the length of the request is missing"
            length = headers.get("content-length", "")
            if not length.isascii() or not length.isdigit():
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
