"""The server of the page: for this machine only, and only for who knows the token in its address.

Tornado serves it: an HTTP server with WebSockets in one package without further ones. A WebSocket carries each change to the server and
progress and results back, and its end stops the runs of a page that was closed. The standard library has no WebSockets, and says of its
`http.server` that it only implements basic security checks.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ssdlab.checks import shown, whole
from ssdlab.errors import Error, UsageError
from ssdlab.experiments.exploring import page
from ssdlab.experiments.exploring.choice import Bench
from ssdlab.experiments.exploring.runs import Runner
from ssdlab.experiments.exploring.showing import Asked, in_a_line, show

__all__ = ["serve"]

ADDRESS = "127.0.0.1"
MOST_PORTS = 65535
MOST_BYTES = 1 << 20
"""Maximum length of a message from the page."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def serve(bench: Bench, *, port: int, workers: int, ready: Callable[[str], object]) -> None:
    """Serves the page until an exception such as Ctrl-C; then no run works any more.

    Args:
        bench: what is explored.
        port: port of the address; 0 for a free one.
        workers: maximum number of runs at once.
        ready: called with the address as soon as it answers.

    Raises:
        UsageError: the port is in use, or not allowed.
    """
    listening = _listening(port)
    runner = Runner(bench, workers)
    try:
        asyncio.run(_serve(bench, runner, listening, ready))
    finally:
        runner.close()
        listening.close()


def _listening(port: int) -> socket.socket:
    """A socket that listens at the port on this machine."""
    if whole("port", port) > MOST_PORTS:
        raise UsageError(f"port = {port}: expected 0 to {MOST_PORTS}")
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((ADDRESS, port))
        found.listen()
    except OSError as reason:
        found.close()
        why = "in use" if reason.errno == errno.EADDRINUSE else (reason.strerror or str(reason)).lower()
        raise UsageError(f"port = {port}: {why}; choose another port, or leave it out for a free one") from reason
    found.setblocking(False)
    return found


async def _serve(bench: Bench, runner: Runner, listening: socket.socket, ready: Callable[[str], object]) -> None:
    site = _Site(bench, runner, listening.getsockname()[1])
    routes: list[Any] = [
        (rf"/{site.token}/{name}", handler, {"site": site})
        for name, handler in (("", _Document), ("page.js", _Script), ("page.css", _Style), ("socket", _Socket))
    ]
    # requests of others are not reported: any user of the machine could fill the terminal
    logging.getLogger("tornado").addHandler(logging.NullHandler())
    logging.getLogger("tornado").propagate = False
    application = Application(
        routes, default_handler_class=_Nothing, default_handler_args={"site": site}, websocket_max_message_size=MOST_BYTES
    )
    server = HTTPServer(application)
    server.add_socket(listening)
    ready(f"http://{ADDRESS}:{site.port}/{site.token}/")
    try:
        await asyncio.Event().wait()
    finally:
        site.ended = True
        server.stop()


@dataclass
class _Site:
    """What the handlers of requests share."""

    bench: Bench
    runner: Runner
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    ended: bool = False
    """Whether the server stops: a message sent now would be a task that nobody awaits."""

    @cached_property
    def document(self) -> str:
        """The page."""
        return page.document(self.bench)


class _Guarded(RequestHandler):
    """A handler that refuses requests without the token, and those for another host: a page elsewhere may have a name with our address."""

    def initialize(self, site: _Site) -> None:
        """Keeps what handlers share."""
        self.site = site

    def set_default_headers(self) -> None:
        """Forbids to load from elsewhere, to be framed, and to tell the address to other pages."""
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuses requests of others."""
        token = self.request.path.removeprefix("/").partition("/")[0]
        if self.request.host not in {f"{name}:{self.site.port}" for name in (ADDRESS, "localhost")}:
            raise HTTPError(403)
        if not secrets.compare_digest(token.encode(), self.site.token.encode()):
            raise HTTPError(403)

    def write_error(self, status_code: int, **_: Any) -> None:
        """Writes an error as a line of text."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        told = {403: "expected the address that `ssdlab explore` printed, with its token", 404: "no such page"}
        self.finish(f"{status_code}: {told.get(status_code, 'request refused')}\n")


class _Nothing(_Guarded):
    def prepare(self) -> None:
        super().prepare()
        raise HTTPError(404)


class _Document(_Guarded):
    def get(self) -> None:
        self.finish(self.site.document)


class _Script(_Guarded):
    def get(self) -> None:
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(page.script())


class _Style(_Guarded):
    def get(self) -> None:
        self.set_header("Content-Type", "text/css; charset=utf-8")
        self.finish(page.style())


class _Socket(_Guarded, WebSocketHandler):
    """The connection of a page. A new request ends the work on the one before."""

    def initialize(self, site: _Site) -> None:
        super().initialize(site)
        self._task: asyncio.Task[None] | None = None

    def check_origin(self, origin: str) -> bool:
        """Whether the connection comes from this page; its host was checked."""
        return urlsplit(origin).netloc == self.request.host

    def on_message(self, message: str | bytes) -> None:
        """Begins what the page asks for; `null` in place of it only ends the work on the request before."""
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.create_task(self._answer(message))

    def on_close(self) -> None:
        """Stops the runs of the page."""
        if self._task is not None:
            self._task.cancel()

    async def _answer(self, message: str | bytes) -> None:
        number: Any = None

        def send(told: Mapping[str, Any]) -> None:
            if self.site.ended:
                return
            with contextlib.suppress(WebSocketClosedError):  # `on_close` stops the work
                self.write_message(json.dumps({"id": number, **told}, separators=(",", ":"), allow_nan=False))

        try:
            data = _parsed(message)
            if data is not None:
                number = None if data.get("id") is None else whole("id", data["id"])
                await show(self.site.bench, self.site.runner, Asked.read(data), send)
        except Error as error:
            send({"kind": "refused", "key": "", "message": in_a_line(error)})
        except Exception as error:
            send({"kind": "refused", "key": "", "message": f"internal error, please report it: {type(error).__name__}: {error}"})


def _parsed(message: str | bytes) -> dict[str, Any] | None:
    """The object in a message, or `None` for `null`.

    Raises:
        UsageError: the message is not JSON, or another value.
    """
    try:
        data = json.loads(message)
    except (ValueError, RecursionError) as reason:
        raise UsageError(f"invalid message: expected JSON ({reason})") from reason
    if data is not None and not isinstance(data, dict):
        raise UsageError(f"invalid message {shown(data)}: expected an object")
    return data
