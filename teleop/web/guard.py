"""What stands before all else of a server: refuses whom the rules refuse, and tells browsers what to keep to."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from .rules import COOKIE, Rules

_HEADERS = {
    # Nothing from elsewhere, no script or style in the page itself, and no frame around it.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE = ("GET", "HEAD")
#: What a page needs before it can bring the token.
_OPEN = ("/", "/api/login")


class Guard:
    """ASGI middleware for HTTP and WebSockets alike: CORS middleware lets every WebSocket pass."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif (fault := self._fault(scope)) is not None:
            await _refuse(*fault)(scope, receive, send)
        else:
            await self._app(scope, receive, _adding_headers(send))

    def _fault(self, scope: Scope) -> tuple[bool, int, str] | None:
        headers, is_line = Headers(scope=scope), scope["type"] == "websocket"
        knows = self._knows_token(headers)
        acts = is_line or scope["method"] not in _SAFE
        fault = self._rules.fault(headers.get("host"), headers.get("origin"), acts=acts, knows_token=knows)
        if fault is None and self._rules.token is not None and not knows and not _is_open(scope["path"]):
            fault = 401, "this server asks for the token that it printed when it started; open the address it printed"
        return None if fault is None else (is_line, *fault)

    def _knows_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._rules.is_token(given.strip())
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return morsel is not None and self._rules.is_cookie(morsel.value)


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith("/page/")


def _refuse(is_line: bool, status: int, sentence: str) -> ASGIApp:
    """Before a WebSocket is accepted its refusal is seen as HTTP 403, whatever the reason."""
    return WebSocketClose(code=1008, reason=sentence[:120]) if is_line else PlainTextResponse(sentence, status)


def _adding_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return send_with_headers
