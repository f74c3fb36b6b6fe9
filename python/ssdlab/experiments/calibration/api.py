"""The function `ssdlab.calibrate`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from ssdlab.checks import nearest, path, text, whole
from ssdlab.errors import Interrupted, UsageError
from ssdlab.experiments.calibration import csv_tables, fio
from ssdlab.experiments.calibration.fitting import Fit
from ssdlab.experiments.calibration.measurements import Measurements, averaged
from ssdlab.experiments.calibration.parameters import KEYS, value_at
from ssdlab.experiments.calibration.result import Calibration, calibration_of, most_used
from ssdlab.experiments.calibration.rule import fitted_rows, waiting_rows
from ssdlab.experiments.calibration.runs import Candidate, Runs
from ssdlab.runs.batch import check_apart

__all__ = ["BASE", "SCHEME", "calibrate", "measurements_of"]

BASE = "nvme-tlc-superpage-2023"
SCHEME = "nvme"
Path_ = str | os.PathLike[str]


def calibrate(
    measurements: Path_ | Iterable[Path_],
    *,
    drive: str | None = None,
    base: str = BASE,
    scheme: str = SCHEME,
    seed: int = 1,
    jobs: int | None = None,
    journal: Path_ | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> Calibration:
    """Fits a simulated drive to measurements of a real one, and predicts the measurements that were not fitted.

    `docs/howto/my-drive.md` is a walk-through; `docs/calibration.md` lists the rows that each value is fitted to. Equal arguments give
    equal results. A calibration takes some ten minutes of processor time.

    Args:
        measurements: tables (CSV) with the columns of the published measurements, a folder of such tables, or fio's output (JSON) for the
            job file of `ssdlab calibrate --print-jobs`.
        drive: name of the drive in the tables; may be left out if there is only one.
        base: device preset to start from. Values that the measurements do not determine keep their value in it.
        scheme: scheme presets of the drive, joined by `+`.
        seed: seed of all runs.
        jobs: maximum number of runs at once (default: one per processor). It does not change the result.
        journal: file that keeps each run. With the journal of a calibration that was interrupted the same call goes on where it stopped.
        progress: called again and again, from any thread, with the present step, in words, and the share of the work that is done, 0 to 1.

    Raises:
        ssdlab.Error: the measurements cannot be read, or have no row that a drive could be fitted to.
        ssdlab.Interrupted: Ctrl-C. Its `finished` has the entry `partial` once a step of the search has ended: the
            :class:`Calibration` of what was found so far, with the rows that were simulated.
    """
    places = [measurements] if isinstance(measurements, str | os.PathLike) else list(measurements)
    found = measurements_of([Path(path("measurements", place)) for place in places], None if drive is None else text("drive", drive))
    candidate = Candidate(text("base", base), text("scheme", scheme))
    candidate.tree()  # reports errors in these values before the first run
    _check_scheme(candidate)
    if find_spec("scipy") is None:
        raise UsageError("calibration needs SciPy: pip install 'ssdlab[calibrate]'")
    workers = None if jobs is None else whole("jobs", jobs, least=1)
    kept = None if journal is None else Path(path("journal", journal))
    if kept is not None:
        check_apart([*places, *([base] if base.endswith(".toml") else [])], [kept])
    runs = Runs(seed=whole("seed", seed), workers=workers, journal=kept)
    rows = fitted_rows(found)
    if not rows:
        left = "; ".join(f"{count} left out: {reason}" for reason, count in found.left_out.items())
        expected = "expected sequential or uniform writes at full speed, or a probe under load"
        raise UsageError(f"{found.drive}: nothing to fit a drive to: {expected}{f' ({left})' if left else ''}")
    fit = Fit(rows, waiting_rows(found), candidate, runs, progress or (lambda _, __: None), used_bytes=most_used(found))
    points = list(dict.fromkeys(row.point for row in found.rows))
    fit.check(points)
    try:
        fitted = fit.run()
        results = dict(zip(points, fit.simulated(fitted, points, waits=True), strict=True))
    except KeyboardInterrupt as stopped:
        if (best := fit.best) is None:
            raise Interrupted from stopped
        partial = calibration_of(found, candidate, runs.seed, best, fit.settings(best), fit.known(best, points), runs.done)
        raise Interrupted({"partial": replace(partial, is_partial=True)}) from stopped
    return calibration_of(found, candidate, runs.seed, fitted, fit.settings(fitted), results, runs.done)


def _check_scheme(candidate: Candidate) -> None:
    """Refuses a scheme that sets keys of the device, which would override every device preset."""
    plain, tree = Candidate(candidate.device, SCHEME).tree(), candidate.tree()
    key = next((key for key in KEYS if value_at(tree, key) != value_at(plain, key)), None)
    if key is not None:
        value = value_at(tree, key)
        raise UsageError(f"scheme {candidate.scheme}: it sets {key} ({value}), which a calibration finds: choose one that does not")


def measurements_of(places: Iterable[Path], drive: str | None) -> Measurements:
    """Reads the measurements of one drive from files and folders.

    Raises:
        UsageError: `drive` is not given and there are several, no drive has that name, or the type of a file is not known.
        FileError: a file cannot be read.
    """
    named = list(places)
    files = [file for place in named for file in (csv_tables.tables_in(place) if place.is_dir() else [place])]
    csv_tables.check_named(place for place in named if csv_tables.is_table(place) and not place.is_dir())
    if not files:
        raise UsageError("no measurements: expected tables (.csv), a folder of tables, or fio's output (.json)")
    csvs = [file for file in files if csv_tables.is_table(file)]
    if len(csvs) < len(files):
        if csvs:
            other = next(file for file in files if file not in csvs)
            raise UsageError(f"{csvs[0]} and {other}: tables and fio's output cannot be combined: give one kind")
        return _by_fio(files, drive)
    return csv_tables.read(csvs, _named(csv_tables.drives_in(csvs), drive))


def _by_fio(files: Iterable[Path], drive: str | None) -> Measurements:
    parts = [fio.read(file, drive) for file in {os.path.realpath(file): file for file in files}.values()]  # each file counts once
    rows = averaged(row for part in parts for row in part.rows)
    return Measurements(parts[0].drive, rows, sum((Counter(part.left_out) for part in parts), Counter()))


def _named(drives: Iterable[str], drive: str | None) -> str:
    names = list(drives)
    if not names:
        raise UsageError("no measurements in the tables: expected columns device and steady_write_iops, waf_measured or probe_read_p50_us")
    if drive is None and len(names) == 1:
        return names[0]
    if drive not in names:
        hint = "" if drive is None else nearest(drive, names)
        asked = "several drives" if drive is None else f'no drive "{drive}"'
        raise UsageError(f"the tables have {asked}: name one of {', '.join(names)} (--drive){hint}")
    return drive
