"""The identity of this ssdlab: version, commit where known, system and packages."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from ssdlab import _core

__all__ = ["identity"]

PACKAGES = ("numpy", "pyarrow", "matplotlib", "rich", "typer")
"""Packages that ssdlab imports. They do not affect the results of a run."""
SOURCES = Path(__file__).resolve().parents[4]
"""The folder of the sources, for a package that runs from its sources."""


def identity(sources: Path = SOURCES, version: str | None = None) -> dict[str, Any]:
    """Version, commit (where known), location of the sources (where the package metadata has it), Python, system and packages.

    `version`: with the commit that the package was built from, if it is not that of this package (`1.1.0+g1a2b3c4`).
    """
    version = version or _core.version()
    source = _source()
    return {
        "version": version,
        **_commit(sources, version),
        **({} if source is None else {"source": source}),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(_packages()),
    }


def _commit(sources: Path, version: str) -> dict[str, Any]:
    """The commit that the package was built from, and that of the sources if it is another one (`sources_commit`)."""
    found = _commit_of_sources(sources) or _commit_of_installation()
    built, _, dirty = version.partition("+g")[2].partition(".")
    changes = {"uncommitted_changes": True} if dirty else {}
    if not built or found.get("commit", "").startswith(built):
        return {**found, **changes}
    if "commit" not in found:
        return {"commit": built, **changes}
    whole = _git(sources, "rev-parse", "--verify", "--quiet", f"{built}^{{commit}}")
    return {**found, "commit": whole or built, **changes, "sources_commit": found["commit"]}


def _commit_of_sources(sources: Path) -> dict[str, Any]:
    """The commit of the sources, and whether they have uncommitted changes."""
    if not ((sources / ".git").exists() and (sources / "Cargo.toml").is_file()):
        return {}
    commit, changes = _git(sources, "rev-parse", "HEAD"), _git(sources, "status", "--porcelain", "--untracked-files=no")
    if not commit:
        return {}
    return {"commit": commit, **({"uncommitted_changes": True} if changes else {})}


def _git(folder: Path, *words: str) -> str | None:
    """The output of a git command; `None` if git is missing or fails."""
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _commit_of_installation() -> dict[str, Any]:
    """The commit that pip recorded when it installed the package from a repository (PEP 610)."""
    try:
        note = json.loads(metadata.distribution("ssdlab").read_text("direct_url.json") or "{}")
        return {"commit": str(note["vcs_info"]["commit_id"])}
    except (metadata.PackageNotFoundError, ValueError, LookupError, TypeError):
        return {}


def _source() -> str | None:
    """The location of the sources, from the package metadata."""
    try:
        entries = metadata.metadata("ssdlab").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    urls = dict(entry.split(", ", 1) for entry in entries if ", " in entry)
    return next((urls[name] for name in ("Source", "Repository", "Homepage") if name in urls), None)


def _packages() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
