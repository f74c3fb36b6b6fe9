"""A page in a headless Chromium, driven by Playwright."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from find_browser import FLAGS, HELP, MISSING, PATIENCE_MS, found

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, FloatRect


class Page:
    """A page in the browser, with its log and its requests, and methods to inspect and control it."""

    def __init__(self, context: BrowserContext) -> None:
        self._page = context.pages[0]
        self._session = context.new_cdp_session(self._page)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._page.on("request", lambda request: self.requests.append(request.url))
        self._page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self._page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the browser's DevTools protocol; returns its result."""
        answer: dict[str, Any] = self._session.send(method, parameters)
        return answer

    def open(self, file: Path, *, width: int = 1300, height: int = 900, dark: bool = False) -> float:
        """Opens a file in a window of this size; returns the processor time until it was drawn, s."""
        self.resize(width, height)
        self.scheme(dark=dark)
        self.call("Performance.disable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.visit(file.resolve().as_uri())
        assert self.value("document.documentElement.dataset.drawn") == "yes", self.complaints
        return self.busy_s()

    def unfold(self) -> None:
        """Opens the figures that are folded, and waits until they are drawn."""
        self.value("document.querySelectorAll('figure > details').forEach(figure => { figure.open = true; })")
        self.until("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg'))")

    def visit(self, url: str) -> None:
        """Navigates to an address in the same window."""
        self._page.goto(url)

    def busy_s(self) -> float:
        """Processor time of the page's main thread since it was opened, s; other load on the machine does not count."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def resize(self, width: int, height: int) -> None:
        """Changes the size of the window."""
        self._page.set_viewport_size({"width": width, "height": height})

    def scheme(self, *, dark: bool) -> None:
        """Sets the reader's preference for light or dark."""
        self._page.emulate_media(color_scheme="dark" if dark else "light")

    def value(self, expression: str) -> Any:
        """Evaluates a script expression; returns its value."""
        return self._page.evaluate(expression)

    def until(self, expression: str) -> None:
        """Waits until a script expression is true. It is polled from outside, since the page forbids scripts from text."""
        ends = time.monotonic() + PATIENCE_MS / 1000
        while not self.value(expression):
            assert time.monotonic() < ends, f"{expression}: not true in {PATIENCE_MS} ms"
            self._page.wait_for_timeout(20)

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
        self._page.keyboard.press(f"Shift+{key}" if shift else key)

    def screenshot(self, file: Path, *, top: float = 0, height: float | None = None) -> None:
        """Saves a picture of the whole page, or of `height` pixels from `top` on."""
        part: FloatRect | None = None if height is None else {"x": 0, "y": top, "width": self.value("innerWidth"), "height": height}
        self._page.screenshot(path=file, full_page=True, clip=part)


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Starts a browser with a page. Without a browser, the test is skipped; in continuous integration it fails."""
    program = found()
    if program is None:
        in_ci = os.environ.get("CI") == "true"
        (pytest.fail if in_ci else pytest.skip)(f"{MISSING}: {HELP}" if in_ci else MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=program.path, args=FLAGS, env={**os.environ, **program.environment}, timeout=PATIENCE_MS
        )
        context.set_default_timeout(PATIENCE_MS)
        try:
            yield Page(context)
        finally:
            context.close()
