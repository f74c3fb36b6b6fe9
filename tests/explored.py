"""A running `ssdlab explore` for tests of its page, and a client that speaks with it as the page does."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tornado.websocket import WebSocketClientConnection, websocket_connect

from conftest import PATIENCE_S

__all__ = ["Explored", "explored"]

Message = dict[str, Any]


class Explored:
    """A process of `ssdlab explore`.

    Attributes:
        process: the process.
        address: the address that it printed.
    """

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.port = urlsplit(address).port
        self.path = urlsplit(address).path

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, str, http.client.HTTPMessage]:
        """Requests a path; returns status, text and headers of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path, headers=dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    async def connect(self) -> WebSocketClientConnection:
        """A connection as the page has it."""
        return await websocket_connect(f"ws{self.address.removeprefix('http')}socket")

    def ask(self, message: object) -> list[Message]:
        """Sends a message; returns the answers without progress, up to those of the whole run or a refusal."""

        async def answers() -> list[Message]:
            connection = await self.connect()
            try:
                await connection.write_message(message if isinstance(message, str) else json.dumps(message))
                return [told async for told in until_answered(connection)]
            finally:
                connection.close()

        return asyncio.run(asyncio.wait_for(answers(), PATIENCE_S))

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Ends the process by a signal; returns its exit code and what it printed on standard error after the address."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said


async def until_answered(connection: WebSocketClientConnection) -> Any:
    """The messages without progress, up to the figures of the whole run or a refusal."""
    while True:
        text = await connection.read_message()
        assert text is not None, "the server closed the connection"
        told = json.loads(text)
        if told["kind"] != "progress":
            yield told
        if told["kind"] == "refused" or (told["kind"] == "shown" and not told["sampled"]):
            return


@contextmanager
def explored(folder: Path, *words: object) -> Iterator[Explored]:
    """Starts `ssdlab explore`; it is ended if it still runs."""
    command = [sys.executable, "-m", "ssdlab", "explore", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("exploring at http://127.0.0.1:"), line
        assert line.endswith("/ until Ctrl-C\n"), line
        yield Explored(process, line.split()[2])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
