"""A drive that is served to programs: what `ssdlab.serve` and the command `ssdlab serve` do."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Unpack

from ssdlab import _core, signals
from ssdlab.batch import Job, Log, check_apart, claim, keep
from ssdlab.checks import shown, text
from ssdlab.errors import Error, UsageError
from ssdlab.folders import ResultFolder
from ssdlab.option import complete, picked, takes
from ssdlab.options import RunOptions, ServeOptions, SetupOptions
from ssdlab.plans import Setup, length_of, timeline_of, value_text, warn_of_idle_keys
from ssdlab.result import Result

__all__ = ["Served", "Told", "prepared", "serve", "until_stopped"]

UNIX = "unix:"


class Told(NamedTuple):
    """How a drive that is served does.

    Attributes:
        uri: where programs connect, or the path of the file; `None`: not yet.
        written: pages that have been written to prepare the drive.
        to_write: how many there will be, 0 if none.
        clients: how many are connected, or how often the file is open.
        answered: requests answered.
        late: of these, the ones that came more than 100 us later than the simulated drive was done.
        late_ns: how late all of them were together, in real time.
        late_max_ns: how late the worst was.
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
    """A drive that is to be served: the run that it is, where, and how."""

    job: Job
    options: ServeOptions


@takes(ServeOptions, but=RunOptions)
def serve(told: Callable[[Told], object] | None = None, **options: Unpack[ServeOptions]) -> Result:
    """Serves a simulated drive to programs, as a block device (NBD) or as a file (FUSE), until Ctrl-C or a power cut.

    Requests are answered when the simulated drive has completed them; `result.late` says where this machine was too slow for that.
    `docs/howto/live.md` goes through it.

    Args:
        told: called about twelve times a second with how it goes. If it returns True, the power of the drive fails.

    Raises:
        ssdlab.Error: a subclass of it, with a message that says what to do.
    """
    asked = complete("serve", ServeOptions, options)
    pairs = tuple((key, value_text(value)) for key, value in (asked["set"] or {}).items())
    folder = ResultFolder(None if asked["out"] is None else Path(asked["out"]), "run")
    served = prepared(asked, pairs, folder)
    warn_of_idle_keys([served.job.idle])
    with folder:
        result = until_stopped(served, folder, told)
        folder.commit()
    result.settle_log()
    return result


def prepared(asked: ServeOptions, pairs: tuple[tuple[str, str], ...], folder: ResultFolder) -> Served:
    """Checks all that can be checked before the drive begins; `pairs`: single keys, as TOML text."""
    _check_place(asked)
    _check_requests(pairs)
    series = asked.get("series")
    setup = Setup(set=pairs, series=asked["out"] is not None if series is None else series, **picked(SetupOptions, asked))
    setup = setup.but(fit=asked["size"])
    wanted = timeline_of(asked["timeline"], asked["timeline_window"], asked["timeline_limit"])
    log: Log = "kept" if asked["log_requests"] else None
    if asked["power_cut"] is not None and length_of("power_cut", asked["power_cut"]) is None:
        raise UsageError(f"power_cut = {asked['power_cut']}: expected more than no time and no requests, such as 17s or 20k")
    job = Job.prepare("run", setup, asked["scheme"], folder=folder.stage, log=log, timeline=wanted)
    record = asked["record"]
    state = None if asked["data"] is None else _state_of(asked["data"])
    own = [Path(file) for file in (record, asked["data"]) if file is not None]
    _check_different([*own, *([] if state is None else [state])], asked["timeline"])
    check_apart(setup.inputs(job.plan.config), own)
    # What repeats the run is a replay of its requests, from the state that it began with.
    began = {} if state is None or not state.exists() else {"state": f"{record}.state"}
    again = None if record is None else setup.but(trace=record, **began).command(asked["scheme"])
    entries = {key: value for key, value in {**job.entries, "command": again}.items() if value is not None}
    return Served(replace(job, entries=entries), asked)


def _scale_of(value: object) -> float:
    """A number; the core says which."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"scale = {shown(value)}: expected 0.001 to 1000000; 1 is real time, 10 ten times slower")
    return float(value)


def _state_of(data: str | os.PathLike[str]) -> Path:
    """Where the state of the drive is, beside its data."""
    return Path(f"{os.fspath(data)}.state")


def _check_different(own: list[Path], timeline: object) -> None:
    """Each file has a place of its own: the last written would be all that is left."""
    files = [*own, *([] if timeline is None else [Path(str(timeline))])]
    places = [os.path.realpath(file) for file in files]
    for number, file in enumerate(files):
        if places[number] in places[:number]:
            raise UsageError(f"{file}: data, state, record and timeline need a file each: choose another name")


def _check_place(asked: ServeOptions) -> None:
    """One place, and one that can be."""
    if (asked["nbd"] is None) == (asked["file"] is None):
        raise UsageError("serve needs one place: --nbd unix:PATH, --nbd HOST:PORT or --file MOUNTPOINT (in Python nbd=... or file=...)")
    if asked["nbd"] is None:
        return
    nbd = text("nbd", asked["nbd"])
    if nbd == UNIX or ":" not in nbd:
        raise UsageError(f"nbd = {nbd}: expected unix: and the path of a socket, or a host and a port, as localhost:10809")


def _check_requests(pairs: tuple[tuple[str, str], ...]) -> None:
    """No key says which requests come: in a file of keys that other runs share it may stand, set by hand it would do nothing."""
    if key := next((key for key, _ in pairs if key.partition(".")[0].strip() == "workload"), None):
        raise UsageError(f"{key}: the requests of a served drive come from the programs that use it: leave the key out")


def until_stopped(
    served: Served, folder: ResultFolder, told: Callable[[Told], object] | None, warn: Callable[[str], object] = warnings.warn
) -> Result:
    """Serves the drive; its result is in `folder` afterwards. `warn` is told why its data could not be kept, if so."""
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
            told=None if told is None else lambda state: told(Told(*state)),
        )
    except Error:
        signals.obeyed()  # what failed is what came after it
        raise
    signals.obeyed()
    if unkept is not None:
        warn(unkept)
    result = job.result(returned)
    keep(job, result)
    return result
