"""The `README.md` of a kit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab.system.progress import duration

__all__ = ["duration", "readme", "release", "unpublished"]


def readme(manifest: Mapping[str, Any]) -> str:
    """Builds the text from the content of `artifact.json`."""
    parts = [
        "# Artifact kit",
        "This folder has what it takes to repeat simulations of solid-state drives, and to compare the results with the expected ones.",
        "## Run it",
        "```sh\npython3 reproduce.py\n```",
        _steps(manifest),
        "## How long it takes",
        _times(manifest),
        "## What is compared",
        _rules(manifest),
        "## ssdlab",
        _version(manifest),
        "## Traces",
        _traces(manifest),
        "## What is in this folder",
        _contents(manifest),
    ]
    return "\n\n".join(parts) + "\n"


def _steps(manifest: Mapping[str, Any]) -> str:
    return (
        "The script needs Python 3.11 or newer. It does the following:\n\n"
        "1. It checks the files of this kit and the traces by their SHA-256.\n"
        f"2. It looks for ssdlab {release(manifest)}. If its own Python does not have it, the script installs it into\n"
        "   `reproduced/venv`.\n"
        "3. It runs everything again. The results go to `reproduced/results`.\n"
        "4. It compares the results with those in `expected`, and prints what came out.\n\n"
        "The last line says `REPRODUCED` (exit code 0) or `DIFFERENT` (exit code 1). An error in the kit itself\n"
        "ends with exit code 2. `reproduced/comparison.json` has all differences.\n"
        "`python3 reproduce.py NAME` runs one part (the names are in the table below); `python3 reproduce.py --help` lists the options."
    )


def release(manifest: Mapping[str, Any]) -> str:
    """The version without its commit, as package indexes have it."""
    return str(manifest["made_by"]["version"]).partition("+")[0]


def unpublished(manifest: Mapping[str, Any]) -> bool:
    """Whether a reviewer cannot install the version: a development version, which no package index has, without its wheel."""
    return ".dev" in release(manifest) and "wheel" not in manifest


def _times(manifest: Mapping[str, Any]) -> str:
    time = manifest["expected_time"]
    return (
        f"The {time['runs']} runs took {duration(time['processor_s'])} of processor time where the kit was made "
        f"({manifest['made_by']['system']}).\n"
        "Several runs go on at once, one for each processor: divide the time by the number of processors.\n"
        f"The longest run took {duration(time['longest_run_s'])}.\n\n" + _table(("part", "runs", "processor time"), _part_times(manifest))
    )


def _part_times(manifest: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for part in manifest["parts"]:
        name = f"{part['name']}{' (quick)' if part['quick'] else ''}: {part['title']}"
        yield name, str(part["runs"]), duration(part["processor_s"])


def _rules(manifest: Mapping[str, Any]) -> str:
    same, other = (manifest["tolerances"][name] for name in ("same_version", "other_version"))
    return (
        "- **The same version of ssdlab, built from the same commit**: the digest of each run is the same, and all numbers are equal\n"
        f"  up to {same:g} of their size. A digest is the SHA-256 of all numbers that a run counts.\n"
        "- **Another version or commit** (`--python PATH`): each mean agrees if its 95 % confidence interval meets the expected one, or\n"
        f"  if it is within {100 * other:g} % of the expected mean. Digests are not compared.\n\n"
        "A study marked `quick` was run with fewer requests and seeds, and is run again in the same way."
    )


def _version(manifest: Mapping[str, Any]) -> str:
    made = manifest["made_by"]
    lines = [f"- version: {made['version']}"]
    if "commit" in made:
        changed = ", with changes that no commit has" if made.get("uncommitted_changes") else ""
        lines.append(f"- commit: {made['commit']}{changed}")
    if "source" in made:
        lines.append(f"- sources: {made['source']}")
    if "wheel" in manifest:
        lines.append(f"- package: `{manifest['wheel']}`, which the script installs")
    lines.append(f"- Python {made['python']}, {made['system']}")
    lines.append(f"- packages: {', '.join(f'{name} {version}' for name, version in made['packages'].items())}")
    where = "" if "wheel" in manifest else f"The script asks pip for `ssdlab=={release(manifest)}`. "
    where = "No package index has this development version. " if unpublished(manifest) else where
    commit = ", at this commit" if "commit" in made else ""
    return (
        "\n".join(lines)
        + f"\n\n{where}To build this version from its sources{commit}, run `make build` in their folder.\n"
        + "Then name the Python that has it: `python3 reproduce.py --python .../.venv/bin/python`."
    )


def _traces(manifest: Mapping[str, Any]) -> str:
    if not manifest["traces"]:
        return "The runs need no traces: ssdlab generates their requests."
    rows = (
        (f"`{trace['name']}`", str(trace["bytes"]), trace.get("source", "ask the authors of this kit"), f"`{trace['sha256']}`")
        for trace in manifest["traces"]
    )
    return (
        "Put the traces into the folder `traces`, or name the folder that has them: `--traces DIR`.\n"
        "`--partial` leaves out the runs whose traces are not there.\n\n" + _table(("trace", "bytes", "where it is had", "SHA-256"), rows)
    )


def _contents(manifest: Mapping[str, Any]) -> str:
    rows = [
        ("`reproduce.py`", "the script"),
        ("`artifact.json`", "versions, times, tolerances, and the SHA-256 of each file, for programs"),
        *_definitions(manifest),
        ("`configurations`", "the complete configuration of each run, with the command that repeats it alone"),
        ("`expected`", "the results that the new ones are compared with, and their figures"),
    ]
    rows += [("`wheels`", "ssdlab as a package")] if "wheel" in manifest else []
    rows += [("`traces`", "the traces")] if any(name.startswith("traces/") for name in manifest["files"]) else []
    rows += [(f"`{own['name']}`", f"a file that {', '.join(own['used_by'])} reads") for own in manifest.get("own_files", ())]
    return _table(("file or folder", "what it is"), rows)


def _definitions(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    kinds = {part["kind"] for part in manifest["parts"]}
    if "study" in kinds:
        yield "`studies`", "the studies: what is run, what is measured, what was published"
    if "runs" in kinds:
        yield "`runs`", "the options of each run of a comparison or sweep"


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
