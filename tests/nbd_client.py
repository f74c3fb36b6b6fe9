"""A client of the NBD protocol, written from its specification, independently of ssdlab."""

from __future__ import annotations

import socket
import struct
from typing import Self

OPTION, REPLY, REQUEST, ANSWER = 0x49484156454F5054, 0x3E889045565A9, 0x25609513, 0x67446698
GO = 7
READ, WRITE, LEAVE, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
FUA, NO_HOLE = 1, 2


class RefusedError(Exception):
    """The server replied with an error number."""

    def __init__(self, code: int) -> None:
        super().__init__(f"error {code}")
        self.code = code


class Client:
    """A connection to a server; a context manager."""

    def __init__(self, place: str | tuple[str, int], *, agree: bool = True, export: str = "") -> None:
        self.socket = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
        self.socket.settimeout(60)
        self.socket.connect(place)
        self.bytes = self.flags = 0
        self._answers: dict[int, bytes | RefusedError] = {}
        self._lengths: dict[int, int] = {}
        self._cookie = 0
        if agree:
            self.agree(export)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def agree(self, export: str = "") -> None:
        """Negotiates the connection to an export."""
        assert self.take(16) == b"NBDMAGICIHAVEOPT"
        assert struct.unpack(">H", self.take(2))[0] & 3 == 3
        name = struct.pack(">I", len(export)) + export.encode() + struct.pack(">H", 0)
        self.socket.sendall(struct.pack(">I", 3) + struct.pack(">QII", OPTION, GO, len(name)) + name)
        while True:
            magic, option, kind, length = struct.unpack(">QIII", self.take(20))
            data = self.take(length)
            assert (magic, option) == (REPLY, GO)
            if kind == 1:
                return
            assert kind == 3, hex(kind)
            if data[:2] == b"\0\0":
                self.bytes, self.flags = struct.unpack(">QH", data[2:])

    def take(self, length: int) -> bytes:
        """Receives this many bytes."""
        found = bytearray()
        while len(found) < length:
            more = self.socket.recv(length - len(found))
            if not more:
                raise ConnectionError("the server has closed the connection")
            found += more
        return bytes(found)

    def send(self, kind: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0) -> int:
        """Sends a request; returns its cookie."""
        self._cookie += 1
        self._lengths[self._cookie] = length if kind == READ else 0
        self.socket.sendall(struct.pack(">IHHQQI", REQUEST, flags, kind, self._cookie, offset, length or len(data)) + data)
        return self._cookie

    def wait(self, cookie: int) -> bytes:
        """Waits for the reply to a request; replies may come in any order. Returns its data."""
        while cookie not in self._answers:
            magic, code, answered = struct.unpack(">IIQ", self.take(16))
            assert magic == ANSWER
            length = self._lengths.pop(answered)
            self._answers[answered] = RefusedError(code) if code else self.take(length)
        answer = self._answers.pop(cookie)
        if isinstance(answer, RefusedError):
            raise answer
        return answer

    def read(self, offset: int, length: int) -> bytes:
        """Reads a range of bytes."""
        return self.wait(self.send(READ, offset, length))

    def write(self, offset: int, data: bytes, flags: int = 0) -> None:
        """Writes bytes at an offset."""
        self.wait(self.send(WRITE, offset, 0, data, flags))

    def ask(self, kind: int, offset: int = 0, length: int = 0, flags: int = 0) -> None:
        """Sends a request without data, and waits for its reply."""
        self.wait(self.send(kind, offset, length, b"", flags))
