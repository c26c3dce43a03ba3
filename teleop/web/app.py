"""The ASGI application: the page, what it asks for over HTTP, and its line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from ...storage.errors import DemoloomError
from .driving_line import serve_line
from .framing import jpeg
from .guard import Guard
from .rules import COOKIE
from .server import Server, about, take_facts
from .take_pictures import TakePictures

#: Bytes of the body of a request.
_MOST_BODY = 4096


def make_app(server: Server) -> Starlette:
    """The application that serves what `server` offers; its sessions end with it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await server.sessions.close("the server stops")

    handlers = _Handlers(server)
    return Starlette(
        routes=handlers.routes(),
        middleware=[Middleware(Guard, rules=server.rules)],
        exception_handlers={DemoloomError: _not_found},
        lifespan=lifespan,
    )


class _Handlers:
    """One method for each address."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pictures = TakePictures(server.takes)

    def routes(self) -> list[Route | WebSocketRoute]:
        return [
            Route("/", self.page),
            Route("/page/{name}", self.page_file),
            Route("/api/about", self.about),
            Route("/api/login", self.login, methods=["POST"]),
            Route("/api/starts/{index:int}.jpg", self.start),
            Route("/api/takes", self.takes),
            Route("/api/takes/{id}", self.delete_take, methods=["DELETE"]),
            Route("/api/takes/{id}/frames/{step:int}.jpg", self.take_frame),
            WebSocketRoute("/drive", self.drive),
        ]

    async def page(self, request: Request) -> Response:
        return self._file("index.html")

    async def page_file(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    async def about(self, request: Request) -> Response:
        return JSONResponse(about(self._server))

    async def login(self, request: Request) -> Response:
        token = _token_in(await _body(request))
        if not self._server.rules.is_token(token):
            return PlainTextResponse("this is not the token; it was printed when the server started", 403)
        answer = JSONResponse({})
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, self._server.rules.cookie, httponly=True, samesite="strict", secure=secure)
        return answer

    async def start(self, request: Request) -> Response:
        frame = self._server.starts.frame(request.path_params["index"])
        return _picture(await run_in_threadpool(jpeg, frame))

    async def takes(self, request: Request) -> Response:
        summaries = await run_in_threadpool(self._server.takes.summaries)
        return JSONResponse([take_facts(summary, self._server.offer.spec.fps) for summary in summaries])

    async def delete_take(self, request: Request) -> Response:
        id = request.path_params["id"]
        await run_in_threadpool(self._server.takes.delete, id)
        self._pictures.forget(id)
        return JSONResponse({})

    async def take_frame(self, request: Request) -> Response:
        id, step, camera = request.path_params["id"], request.path_params["step"], request.query_params.get("camera")
        return _picture(await run_in_threadpool(self._pictures.jpeg, id, step, camera))

    async def drive(self, socket: WebSocket) -> None:
        await serve_line(socket, self._server)

    def _file(self, name: str) -> Response:
        if (file := self._server.page.get(name)) is None:
            raise HTTPException(404)
        return Response(file.content, media_type=file.media_type)


def _picture(data: bytes) -> Response:
    return Response(data, media_type="image/jpeg")


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BODY:
            raise HTTPException(413, f"a request has at most {_MOST_BODY} bytes")
    return body


def _token_in(body: bytes) -> str:
    try:
        token = json.loads(body)["token"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return token if isinstance(token, str) and token.isascii() else ""


async def _not_found(request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 404)
