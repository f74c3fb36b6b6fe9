"""Serving a drive to programs, for `ssdlab.serve` and the command `ssdlab serve`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Unpack

from ssdlab import _core
from ssdlab.asking.option import complete, picked, takes
from ssdlab.asking.options import RunOptions, ServeOptions, SetupOptions
from ssdlab.asking.plans import Setup, length_of, timeline_of, value_text, warn_of_idle_keys
from ssdlab.checks import shown, text
from ssdlab.errors import Error, UsageError
from ssdlab.runs.batch import Job, Log, check_apart, claim, keep
from ssdlab.runs.result import Result
from ssdlab.system import signals
from ssdlab.system.folders import ResultFolder
from ssdlab.system.platforms import need_linux

__all__ = ["DriveState", "Served", "prepared", "serve", "until_stopped"]

UNIX = "unix:"


class DriveState(NamedTuple):
    """The state of a served drive.

    Attributes:
        uri: address that programs connect to, or path of the file; `None` until the drive is ready.
        written: pages written so far to prepare the drive.
        to_write: pages to write to prepare the drive; 0 if there are none.
        clients: number of connections, or of open file handles.
        answered: number of answered requests.
        late: number of requests answered more than 100 us after the simulated drive completed them.
        late_ns: total lateness of all requests, ns of real time.
        late_max_ns: maximum lateness, ns of real time.
    """

    uri: str | None
    written: int
    to_write: int
    clients: int
    answered: int
    late: int
    late_ns: int
    late_max_ns: int


class Served(NamedTuple):
    """A drive to serve: the run, the address or file, and the options."""

    job: Job
    options: ServeOptions


@takes(ServeOptions, without=RunOptions)
def serve(progress: Callable[[DriveState], object] | None = None, **options: Unpack[ServeOptions]) -> Result:
    """Serves a simulated drive to programs as a block device (NBD) or as a file (FUSE), until Ctrl-C or a power failure.

    Requests are answered when the simulated drive has completed them; `result.late` reports where this machine was too slow. See
    `docs/howto/live.md`.

    Args:
        progress: called about twelve times a second with the state of the drive. If it returns True, the drive's power fails.

    Raises:
        ssdlab.Error: a subclass of it, with a message that says what to do.
    """
    asked = complete("serve", ServeOptions, options)
    pairs = tuple((key, value_text(value)) for key, value in (asked["set"] or {}).items())
    folder = ResultFolder(None if asked["out"] is None else Path(asked["out"]), "run")
    served = prepared(asked, pairs, folder)
    warn_of_idle_keys([served.job.idle])
    with folder:
        result = until_stopped(served, folder, progress)
        folder.commit()
    result.settle_log()
    return result


def prepared(asked: ServeOptions, pairs: tuple[tuple[str, str], ...], folder: ResultFolder) -> Served:
    """Checks system and options as far as possible before the drive starts; `pairs`: single keys with TOML text."""
    need_linux("a drive is served", "serve it on a Linux machine, or replay a trace of the program with `ssdlab run`")
    _check_place(asked)
    _check_requests(pairs)
    series = asked.get("series")
    setup = Setup(set=pairs, series=asked["out"] is not None if series is None else series, **picked(SetupOptions, asked))
    setup = setup.with_changes(fit=asked["size"])
    wanted = timeline_of(asked["timeline"], asked["timeline_window"], asked["timeline_limit"])
    log: Log = "kept" if asked["log_requests"] else None
    if asked["power_cut"] is not None and length_of("power_cut", asked["power_cut"]) is None:
        raise UsageError(f"power_cut = {asked['power_cut']}: expected a time or a number of requests above 0, such as 17s or 20k")
    job = Job.prepare("run", setup, asked["scheme"], folder=folder.stage, log=log, timeline=wanted)
    record = asked["record"]
    state = None if asked["data"] is None else _state_of(asked["data"])
    own = [Path(file) for file in (record, asked["data"]) if file is not None]
    _check_different([*own, *([] if state is None else [state])], asked["timeline"])
    check_apart(setup.inputs(job.plan.config), own)
    # the run is repeated by a replay of its requests, from its starting state
    began = {} if state is None or not state.exists() else {"state": f"{record}.state"}
    again = None if record is None else setup.with_changes(trace=record, **began).command(asked["scheme"])
    entries = {key: value for key, value in {**job.entries, "command": again}.items() if value is not None}
    return Served(replace(job, entries=entries), asked)


def _scale_of(value: object) -> float:
    """Converts `scale` to a number; the core checks its range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"scale = {shown(value)}: expected 0.001 to 1000000; 1 is real time, 10 ten times slower")
    return float(value)


def _state_of(data: str | os.PathLike[str]) -> Path:
    """The file with the state of the drive, beside the file with its data."""
    return Path(f"{os.fspath(data)}.state")


def _check_different(own: list[Path], timeline: object) -> None:
    """Refuses output paths that coincide, since only the last file written would remain."""
    files = [*own, *([] if timeline is None else [Path(str(timeline))])]
    places = [os.path.realpath(file) for file in files]
    for number, file in enumerate(files):
        if places[number] in places[:number]:
            raise UsageError(f"{file}: data, state, record and timeline need a file each: choose another name")


def _check_place(asked: ServeOptions) -> None:
    """Refuses both or none of `nbd` and `file`, and an invalid one."""
    if (asked["nbd"] is None) == (asked["file"] is None):
        raise UsageError("serve needs one place: --nbd unix:PATH, --nbd HOST:PORT or --file MOUNTPOINT (in Python nbd=... or file=...)")
    if asked["nbd"] is None:
        return
    nbd = text("nbd", asked["nbd"])
    if nbd == UNIX or ":" not in nbd:
        raise UsageError(f"nbd = {nbd}: expected unix: and the path of a socket, or a host and a port, as localhost:10809")


def _check_requests(pairs: tuple[tuple[str, str], ...]) -> None:
    """Refuses single keys that describe requests: they have no effect here. In a file that other runs share they are allowed."""
    if key := next((key for key, _ in pairs if key.partition(".")[0].strip() == "workload"), None):
        raise UsageError(f"{key}: the requests of a served drive come from the programs that use it: leave the key out")


def until_stopped(
    served: Served, folder: ResultFolder, progress: Callable[[DriveState], object] | None, warn: Callable[[str], object] = warnings.warn
) -> Result:
    """Serves the drive; its result is written to `folder`. `warn` is called with the reason if the data could not be kept."""
    asked, job = served.options, served.job
    nbd = asked["nbd"]
    unix, tcp = (Path(nbd.removeprefix(UNIX)), None) if nbd and nbd.startswith(UNIX) else (None, nbd)
    claim(job, folder)
    try:
        returned, unkept = _core.serve(
            job.plan,
            unix=unix,
            tcp=tcp,
            file=None if asked["file"] is None else Path(asked["file"]),
            remote=asked["allow_remote"],
            scale=_scale_of(asked["scale"]),
            data=None if asked["data"] is None else Path(asked["data"]),
            record=None if asked["record"] is None else Path(asked["record"]),
            power_cut=length_of("power_cut", asked["power_cut"]),
            progress=None if progress is None else lambda state: progress(DriveState(*state)),
        )
    except Error:
        signals.obeyed()  # the signal ended the drive; the error is a later one
        raise
    signals.obeyed()
    if unkept is not None:
        warn(unkept)
    result = job.result(returned)
    keep(job, result)
    return result
