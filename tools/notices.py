"""Writes `LICENSE-THIRD-PARTY.txt`: the licences of the crates compiled into the package, and of the scripts in its pages.

`make wheel` and `make release` run it; the file goes into the wheel beside `LICENSE`. Needs cargo and the crates' sources, which a build
has fetched.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "LICENSE-THIRD-PARTY.txt"
PACKAGE = "ssdlab-python"
TEXT = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
VENDORED = ROOT / "python" / "ssdlab" / "pages" / "report" / "web" / "vendor"
"""Scripts of others that pages contain, each with `NAME.LICENSE`."""
HEAD = "ssdlab contains the following libraries, compiled or as scripts. Each is under the licence that stands with it.\n"


def metadata() -> dict[str, Any]:
    """The metadata of a build on Linux, from cargo."""
    words = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]
    return dict(json.loads(subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout))


def compiled_in(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The crates that the package is linked with, without crates that are only needed to build or test it."""
    packages = {crate["id"]: crate for crate in data["packages"]}
    needs = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
    waiting = [crate["id"] for crate in data["packages"] if crate["name"] == PACKAGE]
    found = set(waiting)
    while waiting:
        for dep in needs[waiting.pop()]:
            runs_in_the_compiler = any("proc-macro" in target["kind"] for target in packages[dep["pkg"]]["targets"])
            linked = not runs_in_the_compiler and any(kind["kind"] is None for kind in dep["dep_kinds"])
            if linked and dep["pkg"] not in found:
                found.add(dep["pkg"])
                waiting.append(dep["pkg"])
    crates = (packages[name] for name in found if packages[name]["source"])
    return sorted(crates, key=lambda crate: (crate["name"], crate["version"]))


def texts(crate: Mapping[str, Any]) -> str:
    """The licence files of a crate or, if it has none, its authors and the name of the licence."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and TEXT.match(file.name))
    if files:
        return "\n\n".join(file.read_text(errors="replace").strip() for file in files)
    return f"{crate['license']}\nCopyright {', '.join(crate['authors']) or 'its authors'}: {crate['repository'] or crate['name']}"


def notices(crates: Iterable[Mapping[str, Any]]) -> str:
    """All licence texts; a text that several crates share appears once, with their names."""
    of_text: dict[str, list[str]] = defaultdict(list)
    for crate in crates:
        of_text[texts(crate)].append(f"{crate['name']} {crate['version']} ({crate['license']})")
    return HEAD + "".join(f"\n{'=' * 80}\n" + "\n".join(names) + f"\n{'-' * 80}\n{text}\n" for text, names in of_text.items())


def of_scripts() -> str:
    """The licences of the scripts of others that pages contain."""
    licences = sorted(VENDORED.glob("*.LICENSE"))
    return "".join(f"\n{'=' * 80}\n{file.stem}\n{'-' * 80}\n{file.read_text().strip()}\n" for file in licences)


def main() -> None:
    """Writes the file."""
    crates = compiled_in(metadata())
    FILE.write_text(notices(crates) + of_scripts())
    print(f"{FILE.name}: the licences of {len(crates)} crates")


if __name__ == "__main__":
    main()
