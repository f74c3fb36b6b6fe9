"""A headless Chromium, spoken to through the pipe of its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# The browser reads from 3 and writes to 4.
START = """
import os, sys
ends = [os.dup(int(end)) for end in sys.argv[1:3]]
for place, end in zip((3, 4), ends):
    os.dup2(end, place)
    os.set_inheritable(place, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE_S = 60.0


def chromium() -> str:
    """The browser. Without one a report would go untested, so that is a failure, which says what to install."""
    found = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert found is not None, (
        f"pages are tested in Chromium: none of {', '.join(NAMES)} is on PATH; install one (Debian: apt install chromium)"
    )
    return found


class Page:
    """A page in the browser: what it logs, what it asks for, and ways to look at it and to touch it."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = into, out
        self._unread = b""
        self._last = 0
        self._session: dict[str, str] = {}
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Asks for something and waits for the answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters, **self._session}
        os.write(self._into, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                result = answer["result"]
                assert isinstance(result, dict)
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            if not select.select([self._out], [], [], PATIENCE_S)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._out, 1 << 20)
            if not part:
                raise ConnectionError("the browser has gone")
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self.loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.complaints.append(json.dumps(parameters))

    def open(self, file: Path, *, width: int = 1300, height: int = 900, dark: bool = False) -> float:
        """Opens a file in a window of this size; returns the processor time that it took until it was drawn, s."""
        self.resize(width, height)
        self.scheme(dark=dark)
        self.call("Performance.enable", timeDomain="threadTicks")
        self.loaded = False
        self.call("Page.navigate", url=file.resolve().as_uri())
        while not self.loaded:
            self._note(self._next())
        assert self.value("document.documentElement.dataset.drawn") == "yes", self.complaints
        return self.busy_s()

    def busy_s(self) -> float:
        """Processor time of the page's main thread since it began to open, s; other work on the machine does not count."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def resize(self, width: int, height: int) -> None:
        """Gives the window another size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, *, dark: bool) -> None:
        """What the page is told of the reader's preference."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def value(self, expression: str) -> Any:
        """What a script says."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, *, pressed: bool = False, clicks: int = 1) -> None:
        """Moves, presses or releases the mouse."""
        button = {"button": "left", "buttons": int(pressed), "clickCount": clicks} if kind != "mouseMoved" else {"buttons": int(pressed)}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def touch(self, kind: str, *points: tuple[float, float]) -> None:
        """Puts fingers onto the page (`touchStart`), moves them (`touchMove`), or lifts them (`touchEnd`, without points)."""
        at = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=at)

    def key(self, key: str, *, shift: bool = False) -> None:
        """Presses and releases a key."""
        letter = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 * shift, **(letter if kind == "keyDown" else {}))

    def screenshot(self, file: Path) -> None:
        """A picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(picture["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with a page, as long as it is needed."""
    program = chromium()
    theirs_in, into = os.pipe()
    out, theirs_out = os.pipe()

    process = subprocess.Popen(
        [sys.executable, "-c", START, str(theirs_in), str(theirs_out), program, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(theirs_in, theirs_out),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Page(into, out)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)
        os.close(into)
        os.close(out)
