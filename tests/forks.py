"""Starts commands as children of a process that has imported all of ssdlab, so that they start at once.

`python -m ssdlab` imports modules for longer than most commands run. A child behaves the same, except for the interpreter's finalisation,
which takes as long. So commands after a fault, or with a failing system call, can be run by the thousand. Signals during imports need a
separate process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import selectors
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Never

# modules that commands import when they need them
LATE = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "typer._adapters",
)
STREAMS = {"out": 1, "err": 2}


class Forks:
    """A process that starts commands, one at a time.

    Args:
        env: its environment, to which the variables of a command are added.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        command = [sys.executable, __file__]
        self._parent = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._words, self._number = list[str](), 0
        self.answer()  # the process is ready

    def close(self) -> None:
        """Ends the process."""
        self._parent.communicate()

    def answer(self) -> Any:
        """The next answer of the process."""
        assert self._parent.stdout is not None
        line = self._parent.stdout.readline()
        assert line, "the process that starts commands has ended"
        return json.loads(line)

    def start(self, words: Sequence[str], folder: Path, env: Mapping[str, str], largest: int | None = None) -> int:
        """Starts a command with additional environment variables; `largest`: maximum file size, bytes.

        Returns:
            The number of the command's process.
        """
        assert self._parent.stdin is not None
        self._words = list(words)
        asked = {"words": self._words, "folder": str(folder), "env": dict(env), "largest": largest}
        print(json.dumps(asked), file=self._parent.stdin, flush=True)
        self._number = int(self.answer())
        return self._number

    def end(self, patience_s: float) -> subprocess.CompletedProcess[str]:
        """Waits for the started command; kills it after `patience_s`."""
        giving_up = threading.Timer(patience_s, os.kill, (self._number, signal.SIGKILL))
        giving_up.start()
        ended = self.answer()
        giving_up.cancel()
        return subprocess.CompletedProcess(self._words, ended["code"], ended["out"], ended["err"])


def _serve() -> None:
    """Starts commands until standard input ends."""
    for module in pkgutil.walk_packages(importlib.import_module("ssdlab").__path__, "ssdlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LATE:
        importlib.import_module(name)
    gc.freeze()  # otherwise garbage collection in a child would copy all pages with objects
    answers = os.fdopen(os.dup(1), "w")  # not inherited by programs that commands start
    print("{}", file=answers, flush=True)
    while line := sys.stdin.readline():
        pipes = {name: os.pipe() for name in STREAMS}
        number = os.fork()
        if number == 0:
            answers.close()
            for read, _ in pipes.values():
                os.close(read)
            _become(json.loads(line), {name: write for name, (_, write) in pipes.items()})
        for _, write in pipes.values():
            os.close(write)
        print(number, file=answers, flush=True)
        said = _read({name: read for name, (read, _) in pipes.items()})
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        print(json.dumps({"code": code, **said}), file=answers, flush=True)


def _read(streams: Mapping[str, int]) -> dict[str, str]:
    """Reads pipes until they are closed."""
    found = {name: bytearray() for name in streams}
    with selectors.DefaultSelector() as waiting:
        for name, stream in streams.items():
            waiting.register(stream, selectors.EVENT_READ, name)
        while waiting.get_map():
            for key, _ in waiting.select():
                if part := os.read(key.fd, 1 << 16):
                    found[key.data] += part
                else:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return {name: bytes(part).decode() for name, part in found.items()}


def _become(asked: Mapping[str, Any], streams: Mapping[str, int]) -> Never:
    """Turns this process into the command."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, number in STREAMS.items():
        os.dup2(streams[name], number)
        os.close(streams[name])
    os.chdir(asked["folder"])
    os.environ.update(asked["env"])
    sys.path[:0] = filter(None, asked["env"].get("PYTHONPATH", "").split(os.pathsep))
    if asked["largest"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest"], asked["largest"]))
    sys.argv = ["ssdlab", *asked["words"]]
    code: object = 1
    try:
        runpy.run_module("ssdlab", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    _serve()
