"""Checks all dependencies with cargo-deny and pip-audit. Needs network; run it by `make audit`.

Checks that lack the data of advisories are reported in a line that begins with LEFT OUT.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("check", "licenses", "bans", "sources")


def judged(audit: dict[str, Any]) -> tuple[list[str], int, int]:
    """The advisories in pip-audit's output, the number of audited packages, and the number of packages that could not be audited."""
    packages = audit["dependencies"]
    found = [f"{package['name']} {package['version']}: {entry['id']}" for package in packages for entry in package.get("vulns", ())]
    skipped = sum("skip_reason" in package for package in packages)
    return found, len(packages) - skipped, skipped


def run(*words: str, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs a tool in the folder of the sources."""
    print(f"$ {' '.join(words)}", flush=True)
    return subprocess.run(words, cwd=ROOT, check=False, text=True, capture_output=quiet)


def crates(deny: str) -> bool:
    """Checks licences, sources and versions of crates, and advisories if their database can be fetched; returns whether all is well."""
    well = run(deny, "--locked", *CRATES).returncode == 0
    if run(deny, "fetch", "db", quiet=True).returncode:
        print("LEFT OUT: advisories about crates: the database cannot be fetched")
        return well
    return run(deny, "--locked", "check", "--disable-fetch", "advisories").returncode == 0 and well


def packages(pip_audit: str, requirements: str) -> bool:
    """Checks Python packages for advisories; returns whether there are none."""
    words = (pip_audit, "--requirement", requirements, "--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
    done = run(*words, quiet=True)
    try:
        found, audited, skipped = judged(json.loads(done.stdout))
    except ValueError:
        print(f"LEFT OUT: advisories about the packages of {requirements}: {done.stderr.strip().splitlines()[-1:]}")
        return True
    if skipped:
        print(f"LEFT OUT: advisories about {skipped} packages of {requirements}: the registry has no data about them")
    print(f"{requirements}: {audited} packages audited, {len(found)} advisories", *found, sep="\n  ")
    return not found


def main(deny: str, pip_audit: str) -> None:
    """Runs all checks; exits with an error if one fails."""
    outcomes = [crates(deny), *(packages(pip_audit, name) for name in ("requirements.lock", "requirements-dev.lock"))]
    if not all(outcomes):
        sys.exit("error: see above")


if __name__ == "__main__":
    main(*sys.argv[1:])
