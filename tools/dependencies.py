"""Checks the dependencies without network: licences and sources of crates by deny.toml, and reasons in docs/maintaining.md.

`make lint` runs it. `make audit` repeats the checks with cargo-deny, and checks advisories.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
WORD = re.compile(r"[A-Za-z0-9.-]+(?: WITH [A-Za-z0-9.-]+)?|[()]")
NAME = re.compile(r"[A-Za-z0-9_.-]+")


def allowed(expression: str, licences: Iterable[str]) -> bool:
    """Whether an SPDX expression is satisfied by these licences. `/`, in old crates, means OR."""
    known = {*licences}
    words = WORD.findall(expression.replace("/", " OR "))
    terms = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    # the rest has brackets, True, False, `and` and `or`, with the same precedence as in SPDX
    return bool(eval(" ".join(terms.get(word) or str(word in known) for word in words)))


def objections(crates: Iterable[Mapping[str, Any]], licences: Iterable[str]) -> Iterator[str]:
    """Objections to crates from other sources."""
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        if crate["source"] is None:  # a crate of this workspace
            continue
        if crate["source"] != REGISTRY:
            yield f"{name}: from {crate['source']}: expected crates from crates.io"
        if not crate["license"] or not allowed(crate["license"], licences):
            yield f"{name}: licence {crate['license']}: expected one that deny.toml allows"


def unexplained(maintaining: str, names: Iterable[str]) -> list[str]:
    """Dependencies without a row in the tables of docs/maintaining.md."""
    rows = [line.split("|") for line in maintaining.splitlines() if line.startswith("| `")]
    explained = {name for row in rows if row[2].strip() for name in re.findall(r"`([^`]+)`", row[1])}
    return sorted({*names} - explained)


def crates_of_ours() -> set[str]:
    """The crates in the manifests, including that of `make fuzz`."""
    files = (*ROOT.glob("crates/*/Cargo.toml"), ROOT / "fuzz" / "Cargo.toml")
    manifests = (tomllib.loads(file.read_text()) for file in files)
    parts = [part for manifest in manifests for part in (manifest, *manifest.get("target", {}).values())]
    named = {name for part in parts for kind in ("dependencies", "dev-dependencies") for name in part.get(kind, {})}
    return named - {folder.name for folder in (ROOT / "crates").iterdir()}


def packages_of_ours() -> set[str]:
    """The packages in pyproject.toml, including extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    return {found[0] for line in lines if (found := NAME.match(line))}


def metadata() -> list[dict[str, Any]]:
    """The crates of a build on Linux, from cargo."""
    words = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]
    crates = json.loads(subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    return list(crates)


def main() -> None:
    """Prints objections, if any."""
    licences = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"]
    found = list(objections(metadata(), licences))
    maintaining = (ROOT / "docs" / "maintaining.md").read_text()
    names = crates_of_ours() | packages_of_ours()
    found += [f"{name}: docs/maintaining.md has no reason for it" for name in unexplained(maintaining, names)]
    if found:
        sys.exit("\n".join(f"error: {line}" for line in found))


if __name__ == "__main__":
    main()
