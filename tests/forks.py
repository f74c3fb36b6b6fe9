"""Commands as children of a process that has read in all of ssdlab: there they begin at once.

`python -m ssdlab` reads in modules for longer than most commands work. What a child does afterwards is the same, but for the clearing up
of the interpreter, which takes as long. So commands that go on from what a fault left, or that meet a system call that fails, can be run by
the thousand. A signal may come while modules are read in, and needs a command of its own.
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

# What commands read in when they need it.
LATE = ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "pyarrow.parquet", "scipy.optimize", "scipy.stats")
STREAMS = {"out": 1, "err": 2}


class Forks:
    """A process that starts commands, one at a time.

    Args:
        env: its environment, which that of a command is added to.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        command = [sys.executable, __file__]
        self._parent = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._words, self._number = list[str](), 0
        self.answer()  # it is ready

    def close(self) -> None:
        """Ends it."""
        self._parent.communicate()

    def answer(self) -> Any:
        """What the process says next."""
        assert self._parent.stdout is not None
        line = self._parent.stdout.readline()
        assert line, "the process that starts commands has ended"
        return json.loads(line)

    def start(self, words: Sequence[str], folder: Path, env: Mapping[str, str], largest: int | None = None) -> int:
        """Starts a command with its variables added to the environment; none of its files may grow beyond `largest`.

        Returns:
            The number of its process.
        """
        assert self._parent.stdin is not None
        self._words = list(words)
        asked = {"words": self._words, "folder": str(folder), "env": dict(env), "largest": largest}
        print(json.dumps(asked), file=self._parent.stdin, flush=True)
        self._number = int(self.answer())
        return self._number

    def end(self, patience_s: float) -> subprocess.CompletedProcess[str]:
        """The command that was started, when it has ended. If it takes longer, it is killed."""
        giving_up = threading.Timer(patience_s, os.kill, (self._number, signal.SIGKILL))
        giving_up.start()
        ended = self.answer()
        giving_up.cancel()
        return subprocess.CompletedProcess(self._words, ended["code"], ended["out"], ended["err"])


def _serve() -> None:
    """Starts commands until there are no more to start."""
    for module in pkgutil.walk_packages(importlib.import_module("ssdlab").__path__, "ssdlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LATE:
        importlib.import_module(name)
    gc.freeze()  # else each child would copy all that a search for garbage touches
    answers = os.fdopen(os.dup(1), "w")  # not inherited by what commands start
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
    """All that comes from these, until they end."""
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
    """The command, in this process, which ends with it."""
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
