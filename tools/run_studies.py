"""Runs studies again and stores their rows in `docs/studies`: `make studies`, `make stale-studies`.

    python tools/run_studies.py [--jobs N] [--traces DIR] [--force | --check] [PAPER | PAPER/STUDY ...]

Runs every study, or those named, whose stored rows are stale: its probes (`stored_studies.probes`) no longer give the digest that was
stored with the rows, or none was. Each study is stored as soon as it has ended, so that the same command continues after an interrupt.
`--force` also runs studies that are not stale, unless the present version and commit stored them. `--check` runs none: it names those that
are stale, and ends with 1 if there are any. Studies whose traces are missing are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import stored_studies

import ssdlab
from ssdlab.errors import TraceError
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import Study
from ssdlab.experiments.study.running import Prepared, prepare, run
from ssdlab.runs.batch import execute

RESULTS = Path("results/studies")


@dataclass(frozen=True)
class Way:
    """How studies are run: number of runs at once, and a folder to search for traces first."""

    jobs: int | None = None
    traces: Path | None = None


def stored(study: Study) -> Mapping[str, str]:
    """The line of a study in `runs.csv`; empty if it is not stored."""
    return next((line for line in stored_studies.read("runs") if line["study"] == study.name), {})


def stale(study: Study, line: Mapping[str, str], way: Way) -> str | None:
    """Why the stored rows of a study are older than what the core computes now; `None` if they are not.

    Raises:
        TraceError: a trace is missing.
    """
    if not line.get("digest"):
        return f"measured by {line['version']}, without a digest" if line else "not stored yet"
    prepared = _whole(study, None, way)
    batch = execute([prepared.jobs[key] for key in stored_studies.probes(study)], workers=way.jobs)
    batch.raise_failure()
    now = stored_studies.digest(study, lambda key: str(batch.finished[prepared.jobs[key].label]["digest"]))
    return None if now == line["digest"] else f"measured by {line['version']}, and its runs give other results now"


def _whole(study: Study, out: Path | None, way: Way) -> Prepared:
    """A study whose traces are all there."""
    prepared = prepare(study, out=out, traces=way.traces)
    for reason in prepared.skipped.values():
        raise TraceError(reason)
    return prepared


def check(studies: list[Study], way: Way) -> int:
    """Names the studies that are stale; returns their number."""
    found = 0
    for study in studies:
        try:
            reason = stale(study, stored(study), way)
        except TraceError as absent:
            print(f"LEFT OUT {study.name}: {absent}", flush=True)
            continue
        if reason is not None:
            found += 1
            print(f"STALE {study.name}: {reason}", flush=True)
    print(f"{found} of {len(studies)} studies are stale", flush=True)
    return found


def run_again(studies: list[Study], way: Way, *, force: bool = False) -> int:
    """Runs and stores the studies that are stale, or all that another version stored; returns the number of those that failed."""
    failed = 0
    for number, study in enumerate(studies, 1):
        head, begun = f"[{number}/{len(studies)}] {study.name}", time.monotonic()
        line = stored(study)
        try:
            if line.get("version") == ssdlab.__version__ or not (force or stale(study, line, way)):
                print(f"{head}: up to date, by {line['version']}", flush=True)
                continue
            print(head, flush=True)
            result = run(_whole(study, RESULTS, way), workers=way.jobs)
        except TraceError as absent:
            print(f"LEFT OUT {study.name}: {absent}", flush=True)
            continue
        if result.failed:
            failed += 1
            print(f"{head}: FAILED: {next(iter(result.failed.values()))}", flush=True)
            continue
        stored_studies.store(RESULTS, study.name)
        print(f"{head}: stored, {len(result.runs)} runs in {time.monotonic() - begun:.0f} s", flush=True)
    return failed


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PAPER/STUDY")
    parser.add_argument("--jobs", type=int, help="runs at once (default: as many as processors)")
    parser.add_argument("--traces", type=Path, help="folder to search for traces")
    parser.add_argument("--force", action="store_true", help="also run studies that are not stale")
    parser.add_argument("--check", action="store_true", help="only name the stale studies")
    asked = parser.parse_args()
    studies = library.find(asked.names or list(library.shipped()))
    way = Way(asked.jobs, asked.traces)
    if asked.check:
        return 1 if check(studies, way) else 0
    if ssdlab.__version__.endswith(".dirty"):
        sys.exit(f"ssdlab {ssdlab.__version__}: a stored row names the commit that made it: commit the changes, and `make build`")
    return 1 if run_again(studies, way, force=asked.force) else 0


if __name__ == "__main__":
    sys.exit(main())
