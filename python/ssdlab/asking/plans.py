"""Conversion of a caller's options to the core's configuration and plan."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Unpack, cast

from ssdlab import _core
from ssdlab.asking.fio import SUFFIX, Flows, flows_of, load
from ssdlab.asking.option import complete, options_of
from ssdlab.asking.options import DEFAULT_SEED, Path_, RunOptions, SetupOptions, Window
from ssdlab.asking.policies import KINDS, described
from ssdlab.checks import amount, check_numbers, check_paths, check_texts, path, positive, shown, text, truth, whole
from ssdlab.errors import ConfigError, IdleKeyWarning, UsageError
from ssdlab.system.inputs import Held, hold, is_passing, named, place
from ssdlab.system.progress import ReadProgress
from ssdlab.system.states import state_folder

__all__ = [
    "AMOUNTS",
    "BLOCKS_KEY",
    "DEEPEST",
    "DEFAULT_REQUESTS",
    "DEFAULT_SEED",
    "SHORTHANDS",
    "SPARE_KEY",
    "Fitted",
    "Loaded",
    "Setup",
    "Slowest",
    "Timeline",
    "as_fitted",
    "files_of",
    "fitted_device",
    "grown_warning",
    "idle_warnings",
    "is_preset_file",
    "memory_of",
    "needed_bytes",
    "requests_of",
    "sparse_warning",
    "timeline_of",
    "value_text",
    "warm_up_of",
    "warn_of_idle_keys",
    "whole",
]

DEFAULT_REQUESTS = 100_000
"""Default number of requests of a generated workload."""


class Timeline(NamedTuple):
    """A timeline to write, in the form of the core."""

    file: Path
    start_ns: int = 0
    end_ns: int | None = None
    limit: int | None = None


class Slowest(NamedTuple):
    """The slowest requests to explain, in the form of the core."""

    file: Path
    most: int
    """Number of the slowest reads and writes."""
    requests: Sequence[int] = ()
    """Requests to explain in any case, by number."""
    stages: int | None = None
    """Number of stages of operations that are kept at a time."""


def timeline_of(file: str | os.PathLike[str] | None, window: Window | None, limit: int | None, *, page: bool = False) -> Timeline | None:
    """The timeline described by a caller's options; `None` without a file. `page`: it may be a page (`.html`), too."""
    if file is None:
        if window is not None or limit is not None:
            raise UsageError("a window or a limit was given for a timeline, but no timeline was asked for: give its file too")
        return None
    name = os.fspath(path("timeline", file))
    if not name.endswith((".json", ".json.gz", ".html") if page else (".json", ".json.gz")):
        pages = ", or .html, a page of its own" if page else ""
        raise UsageError(f'timeline = "{name}": expected a file name that ends with .json or .json.gz, which viewers open{pages}')
    if window is None:
        start, end = None, None
    elif isinstance(window, Sequence) and not isinstance(window, str) and len(window) == 2:
        start, end = (None if us is None else _window_ns(us) for us in window)
        if end is not None and end <= (start or 0):
            raise UsageError(f"timeline_window: from {window[0] or 0} to {window[1]} us: it must end after it begins")
    else:
        raise UsageError(f"timeline_window = {shown(window)}: expected a pair (start_us, end_us)")
    return Timeline(Path(name), start or 0, end, None if limit is None else whole("timeline_limit", limit, least=1))


def _window_ns(us: object) -> int:
    """Converts microseconds to nanoseconds."""
    if isinstance(us, bool) or not isinstance(us, Real) or not math.isfinite(us) or us < 0:
        raise UsageError(f"timeline_window: invalid time {shown(us)}: expected microseconds >= 0")
    return whole("timeline_window", us * 1000 if isinstance(us, int) else round(float(us) * 1000))


NS_OF = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
"""Units of time, ns."""
LENGTH = re.compile(rf"(?P<number>\d+(\.\d+)?)\s*(?P<unit>{'|'.join(NS_OF)})?", re.ASCII)
"""Matches the length of a run: a number of requests, or a time with its unit."""


def _amounts(options: Mapping[str, Any]) -> dict[str, int]:
    """The numbers in texts such as 20k or 64MiB, of options that count."""
    texts = {name: value for name in AMOUNTS if isinstance(value := options[name], str)}
    return {name: amount(name, value, in_bytes=AMOUNTS[name]) for name, value in texts.items()}


def warm_up_of(value: str | int | None) -> tuple[int, str] | None:
    """The length of a warm-up in the form of the core; `None` without a warm-up or for a length of 0."""
    return length_of("warm_up", value)


def length_of(name: str, value: str | int | None) -> tuple[int, str] | None:
    """A number of requests or a time in the form of the core; `None` for `None` or 0. `name`: option name for messages."""
    if value is None:
        return None
    length = LENGTH.fullmatch(value.strip()) if isinstance(value, str) else None
    if isinstance(value, str) and re.fullmatch(r"[\d.]+\s*m", value.strip()):
        raise UsageError(f'{name} = "{value}": write min for minutes, or M for millions of requests')
    if length is not None and length["unit"]:
        from fractions import Fraction  # noqa: PLC0415 (importing it takes a while)

        long, unit = round(Fraction(length["number"]) * NS_OF[length["unit"]]), "ns"
    else:
        try:
            number = amount(name, value, in_bytes=False) if isinstance(value, str) else value
            long, unit = whole(name, number), "requests"
        except UsageError as reason:
            if not isinstance(value, str):
                raise
            units = ", ".join(NS_OF)
            wanted = f"expected a number of requests, such as 20k, or a time, such as 17s or 500ms (units: {units})"
            raise UsageError(f'{name} = "{value}": {wanted}') from reason
    return (whole(name, long), unit) if long else None


KNOWN = options_of(SetupOptions)
BLOCKS_KEY = "device.blocks_per_plane"
SPARE_KEY = "device.overprovisioning"
SCALE_KEY = "workload.time_scale"
SHORTHANDS = {name: option.key for name, option in KNOWN.items() if option.key is not None}
"""Configuration keys by the options that set them."""
AMOUNTS = {name: option.form == "size" for name, option in KNOWN.items() if option.form in ("count", "size")}
"""Options that may be a text such as 20k, each with whether it counts bytes."""
FIT_TO_TRACE = "trace"
OF_TRACES = tuple(name for name, option in KNOWN.items() if (option.key or "").startswith("workload."))
"""Options about traces, and the queue depth, which jobs have themselves."""
INPUTS = tuple(name for name, option in KNOWN.items() if option.check == "path")
"""Options with names of input files."""
CHECKS = {"text": check_texts, "number": check_numbers, "path": check_paths}
"""Checks of options before they reach the core, by kind."""
REPEATED = {name: option for name, option in options_of(RunOptions).items() if option.usage and (name == "scheme" or name in KNOWN)}
"""The options in a command that repeats a run."""


DEEPEST = 32
"""Maximum nesting depth of lists and tables in a configuration value."""


def value_text(value: object, depth: int = 0) -> str:
    """A Python value as TOML text, as `--set` takes it."""
    if depth > DEEPEST:
        raise UsageError(f"{shown(value)}: configuration value nested too deeply (limit {DEEPEST})")
    if isinstance(value, bool | str | None):
        if value is None:
            raise UsageError("None is not a configuration value: leave the key out")
        return _quoted(value)
    if isinstance(value, int | float):
        return repr(value.item() if hasattr(value, "item") else value)  # numbers of NumPy that are floats have another repr
    if isinstance(value, os.PathLike):
        return _quoted(os.fspath(path("the configuration value", value)))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(key)} = {value_text(entry, depth + 1)}" for key, entry in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(value_text(entry, depth + 1) for entry in value) + "]"
    if hasattr(value, "item"):  # a number of NumPy
        return value_text(value.item())
    raise UsageError(f"{shown(value)} is not a configuration value: expected a number, a text, true, false, or a list of these")


def _refuse_commas(scheme: str | None) -> None:
    """Refuses a comma-separated list of schemes; names of files may contain commas."""
    names = [name.strip() for name in (scheme or "").split(",")]
    if len(names) > 1 and not any(name.endswith(".toml") or "/" in name for name in names):
        options = " ".join(f"--scheme {name}" for name in names)
        raise UsageError(f'scheme = "{scheme}": expected one scheme: repeat --scheme to compare ({options}), or join by + to merge them')


def _quoted(value: object) -> str:
    """A TOML text: JSON, except for lone surrogates, DEL and NUL, which no file or name has."""
    if isinstance(value, str) and "\0" in value:
        raise UsageError(f"{shown(value)} is not a configuration value: expected a text without NUL characters")
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        raise UsageError(f"{shown(value)} is not a configuration value: not valid UTF-8 (give a file of this name as -, standard input)")
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def needed_bytes(config: _core.Config, fit: str | int) -> int:
    """Minimum exported bytes of a fitted device: the extent of the trace, or the given number."""
    return _extent(config) if fit == FIT_TO_TRACE else _bytes(fit)


Pairs = tuple[tuple[str, str], ...]
"""Configuration keys with their TOML text."""


def as_fitted(parts: Sequence[str], fit: Mapping[str, Any] | None) -> list[str]:
    """The parts of a run's description with the over-provisioning of the fitted drive, which may be more than was asked for.

    Args:
        parts: the parts, such as `device.overprovisioning = 0.07`.
        fit: the entry of the run's result; `None` if the drive was not fitted.
    """
    asked = f"{SPARE_KEY} = "
    return [f"{asked}{fit['overprovisioning']:g}" if fit and part.startswith(asked) else part for part in parts]


class Fitted(NamedTuple):
    """A device with the fewest blocks that exports the needed bytes and can be simulated."""

    blocks: int
    """Blocks per plane."""
    overprovisioning: float
    """Over-provisioning with these blocks: at least the configured one, more if whole blocks or thresholds need it."""

    def settings(self) -> tuple[tuple[str, str], ...]:
        """The configuration keys of the device, as pairs of key and TOML text."""
        return ((BLOCKS_KEY, str(self.blocks)), (SPARE_KEY, repr(self.overprovisioning)))


class Loaded(NamedTuple):
    """What became of `load`: the factor of the workload's rate, and the entry `capacity` of the result."""

    time_scale: float
    entry: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The load in words."""
        of = f" of {self.entry['of']}" if "of" in self.entry else ""
        return f"load {self.entry['load']:g}{of}"


MOST_DOUBLED = 12
"""How often the bytes to fit are doubled in search of a size that can be simulated."""


def fitted_device(config: _core.Config, fit: str | int) -> Fitted:
    """The configured device with the fewest blocks per plane that exports `fit` bytes, or the trace's extent, and can be simulated."""
    wanted = needed_bytes(config, fit)
    found = _core.fit_device(config, wanted)
    if found is None:
        remedy = "set more device.channels, chips or dies, or larger pages (device.page_bytes, of which a drive has less than 2^31; "
        remedy += "ftl.map_unit_bytes), or leave out fit and set workload.range"
        raise ConfigError(f"fit = {fit}: no device of this shape that can be simulated exports {wanted:,} bytes; {remedy}")
    return Fitted(*found)


def _bytes(fit: str | int) -> int:
    if isinstance(fit, str):
        try:
            fit = amount("fit", fit, in_bytes=True)
        except UsageError as error:
            raise UsageError(f'{error}; or "trace"') from error
    return whole("fit", fit, least=1)


def _extent(config: _core.Config) -> int:
    """Exported bytes that the traces of a workload and its flows need, each in its part, and the prefill file."""
    workload, prefill = _value(config, "workload"), _value(config, "ftl.precondition.prefill")
    ends = [_extent_of(flow) for flow in (workload, *workload["flows"]) if flow.get("trace") is not None]
    if not ends:
        raise UsageError('fit = "trace": no trace is given: give one, or a number of bytes in place of "trace"')
    return max(*ends, 1 if prefill is None else _core.prefill_end(prefill))


PART_STEP = 1 << 16
"""Alignment of parts of the exported range, bytes."""


def _extent_of(flow: Mapping[str, Any]) -> int:
    """Exported bytes with which the trace of a flow fits into its part."""
    info = _info_of(flow)
    together = info.get("concatenated_end_bytes") if flow.get("volumes") == "concatenated" else None
    end: int = together or info["max_end_bytes"]
    start, stop = flow.get("part", (0.0, 1.0))
    return end if stop - start == 1.0 else math.ceil((end + 2 * PART_STEP) / (stop - start))


def _moved_bytes(config: _core.Config) -> int:
    """Bytes that the traces of a workload and its flows read and write: they touch no more."""
    workload = _value(config, "workload")
    infos = [_info_of(flow) for flow in (workload, *workload["flows"]) if flow.get("trace") is not None]
    moved: float = sum(1024 * info["requests"][kind] * mean for info in infos for kind, mean in info["mean_kb"].items())
    return round(moved)


READING = ("format", "unit_bytes", "time_unit", "event", "fio_wait", "device")
"""Keys of a workload that determine how its trace is read."""


def _info_of(flow: Mapping[str, Any]) -> Mapping[str, Any]:
    """What `trace info` reports of the trace of a flow."""
    trace = Path(flow["trace"])
    content = place(trace)
    changed_ns = content.stat().st_mtime_ns if content.exists() else 0
    return _trace_info(trace, changed_ns, **{key: flow.get(key) for key in READING})


@lru_cache(maxsize=64)
def _trace_info(trace: Path, changed_ns: int, **reading: Any) -> Mapping[str, Any]:  # noqa: ARG001
    """The report on a trace. It is cached as long as the file does not change."""
    with ReadProgress(trace) as progress:
        return cast("Mapping[str, Any]", json.loads(_core.trace_info(trace, **reading, progress=progress.callback)))


def _value(config: _core.Config, key: str) -> Any:
    """The value of a key or section of a configuration; `None` for a key that is not set."""
    return json.loads(config.get(key))


RUN_BYTES, PAGE_BYTES = 64_000_000, 12
"""Memory of a run: a fixed part, and bytes for each physical page or mapping unit (docs/performance.md)."""


def memory_of(config: _core.Config) -> int:
    """Upper bound of the memory that a run takes, bytes: that of a drive full of data."""
    device, array = _value(config, "device"), _value(config, "array")
    drives = 1 if array["level"] == "none" else array["drives"]
    pages = math.prod(device[key] for key in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane"))
    units = (
        pages * device["pages_per_block"] * max(1, device["page_bytes"] // (_value(config, "ftl.map_unit_bytes") or device["page_bytes"]))
    )
    return int(RUN_BYTES + PAGE_BYTES * units * drives)


def _words(flag: str, value: object) -> list[str]:
    """The words of an option on the command line; empty for `None` and false."""
    if value is None or value is False:
        return []
    return [flag] if value is True else [flag, str(value)]


def _traces(workload: Mapping[str, Any]) -> list[str]:
    """The traces of a workload and of its flows."""
    return [trace for part in (workload, *workload["flows"]) if (trace := part.get("trace")) is not None]


def files_of(config: _core.Config) -> list[str]:
    """The files that a configuration names: traces of its workload and flows, and the prefill file.

    Raises:
        UsageError: a name contains characters that file names cannot have.
    """
    prefill = _value(config, "ftl.precondition.prefill")
    named = [("workload.trace", trace) for trace in _traces(_value(config, "workload"))]
    named += [] if prefill is None else [("ftl.precondition.prefill", prefill)]
    return [str(path(key, file)) for key, file in named]


def is_preset_file(name: str) -> bool:
    """Whether the core takes the name of a device, scheme or workload as a file."""
    return "/" in name or name.endswith(".toml")


def _read_once(workload: Mapping[str, Any]) -> str | None:
    """The trace of a workload if a run reads it only once, else `None`."""
    trace = workload.get("trace")
    several = trace is None or workload.get("repeat", 1) > 1 or workload.get("volumes") == "concatenated"
    return None if several or _traces(workload).count(str(trace)) > 1 else trace


def requests_of(config: _core.Config, asked: int | None) -> int | None:
    """Number of requests of a run of `config`; `None` for the whole trace."""
    if asked is not None:
        return whole("requests", asked, least=1)
    workload = _value(config, "workload")
    return None if _traces(workload) or _is_bounded(workload) else DEFAULT_REQUESTS


def _is_bounded(workload: Mapping[str, Any]) -> bool:
    """Whether each flow of a generated workload ends by bytes or by time."""
    flows = (workload, *(flow for flow in workload["flows"] if flow.get("name") is not None))
    return all(flow.get("total_bytes") or flow.get("run_s") for flow in flows)


GROWN = 4.0
"""Ratio of flash to needed bytes of a fitted drive that grew, from which on there is a warning before the run."""


def grown_warning(fit: Mapping[str, Any] | None, config: _core.Config) -> str | None:
    """A line on a fitted drive that grew far beyond the bytes that are needed, which takes long; `fit`: the entry of its result."""
    if fit is None or fit["blocks_per_plane"] <= fit["blocks_per_plane_before"]:
        return None
    flash, needed, blocks = fit["exported_bytes"] / (1 - fit["overprovisioning"]), fit["needed_bytes"], fit["blocks_per_plane"]
    if flash < GROWN * needed:
        return None
    soft = _value(config, "gc.soft")
    kept = (soft if soft >= 1 else soft * blocks) > fit["overprovisioning"] * blocks / 2
    why = f"to keep gc.soft = {soft:g} free: lower gc.soft" if kept else "since it is made of whole blocks: lower device.pages_per_block"
    return (
        f"fit = {fit['to']}: {blocks:,} blocks per plane, {flash / needed:,.0f} times the bytes that are needed, {why}; the run takes long"
    )


SPARSE, LARGE_BYTES = 16, 64 * 10**9
"""Ratio of exported bytes of a drive fitted to a trace to those that the trace moves, and bytes, above which both there is a warning."""
WHOLE = ("fill", "soft", "steady")
"""Preparations that write the whole drive, without a prefill file."""


def sparse_warning(fit: Mapping[str, Any] | None, config: _core.Config) -> str | None:
    """A line on a large drive, fitted to the addresses of a trace that touches little of them; `fit`: the entry of its result."""
    if fit is None or fit["to"] != FIT_TO_TRACE or fit["exported_bytes"] <= LARGE_BYTES:
        return None
    prepared, moved = _value(config, "ftl.precondition"), _moved_bytes(config)
    if prepared["kind"] not in WHOLE or prepared.get("prefill") is not None or fit["exported_bytes"] <= SPARSE * moved:
        return None
    return (
        f"fit = {FIT_TO_TRACE}: the drive exports {fit['exported_bytes'] / 10**9:,.0f} GB, and the trace touches at most "
        f"{math.ceil(moved / 10**6):,} MB; preparing the drive takes long: leave out --fit and give --set workload.range=compact, "
        "which keeps the drive small"
    )


def idle_warnings(runs: Sequence[Mapping[str, str]]) -> list[str]:
    """A line for each key set by hand that has no effect in any of the runs; `runs`: what each such key needs, for each run.

    A key with an effect in some of the runs gets no line: the results of the other runs list it.
    """
    lines = []
    for key in runs[0] if runs else ():
        needs = dict.fromkeys(idle.get(key) for idle in runs)
        if None not in needs:
            where = "" if len(runs) == 1 else " in any of the runs"
            lines.append(f"{key} has no effect{where}: it needs {', or '.join(map(str, needs))}; set that as well, or leave {key} out")
    return lines


def warn_of_idle_keys(runs: Sequence[Mapping[str, str]], lines: Sequence[str] = ()) -> None:
    """Warns of keys set by hand that have no effect in any of the runs, and of further `lines`. The calling function's caller is warned."""
    for line in dict.fromkeys((*idle_warnings(runs), *lines)):
        warnings.warn(line, IdleKeyWarning, stacklevel=3)


class Setup:
    """The drive, workload and options of runs, from which plans for several schemes are made.

    Args:
        set: pairs of key and TOML text, as on the command line.
        series: whether runs are recorded over time.
        shared: whether several runs read the inputs. A single run streams its trace, which may be larger than the disk.
        fitted_as: device to use instead of the one that `fit` finds for this run; see `ssdlab.runs.variants`.
        loaded_as: the rate that `load` stands for; see `ssdlab.runs.capacity`.
        options: options of a run.
    """

    def __init__(
        self,
        *,
        set: tuple[tuple[str, str], ...] = (),
        series: bool = False,
        shared: bool = False,
        fitted_as: Fitted | None = None,
        loaded_as: Loaded | None = None,
        **options: Unpack[SetupOptions],
    ) -> None:
        self.options = complete("Setup", SetupOptions, options)
        self.options |= cast("SetupOptions", _amounts(self.options))
        self.set = set
        self.series = series
        self.shared = shared
        self.fitted_as = fitted_as
        self.loaded_as = loaded_as
        self.held: dict[str, Held] = {}
        """Copies of inputs that can be read only once, by name: they are needed until the last run has ended."""
        self.policies = {kind: described(kind, self.options.get(kind)) for kind in KINDS}
        """User-defined policies in the form of the core, by kind; `None` where a key chooses the policy."""
        for check, those in CHECKS.items():
            those({name: value for name, value in self.options.items() if KNOWN[name].check == check})
        text("verify", self.options["verify"])
        if self.options["fit"] is not None and not isinstance(self.options["fit"], str):
            whole("fit", self.options["fit"], least=1)
        self.options |= cast("SetupOptions", {name: named(cast("Path_ | None", self.options.get(name))) for name in INPUTS})
        if (trace := self.options["trace"]) is not None and os.fspath(trace).endswith(SUFFIX) and self.options["fio"] is None:
            self.options |= {"fio": trace, "trace": None}
        self._refuse_beside_fio()
        self._refuse_beside_load()

    def with_changes(self, **changes: Any) -> Setup:
        """A copy with some options changed."""
        own = {"set": self.set, "series": self.series, "shared": self.shared, "fitted_as": self.fitted_as, "loaded_as": self.loaded_as}
        return Setup(**{**own, **self.options, **changes})

    def _refuse_beside_fio(self) -> None:
        beside = [name for name in (*OF_TRACES, "workload") if self.options.get(name) is not None]
        beside += [self.options["fit"]] if self.options["fit"] == FIT_TO_TRACE else []
        if self.options["fio"] is not None and beside:
            raise UsageError(f"a job file of fio and {beside[0]} were both given, but the jobs are the workload: leave one of them out")

    def _refuse_beside_load(self) -> None:
        share, of = self.options["load"], self.options["load_of"]
        if share is None:
            if of is not None:
                raise UsageError(f'load_of = "{of}" needs load, a share of what it sustains: give load too')
            return
        positive("load", share)
        if self.options["time_scale"] is not None or any(key == SCALE_KEY for key, _ in self.set):
            raise UsageError(f"load and time_scale ({SCALE_KEY}) were both given, and both set the rate of requests: leave one of them out")

    def fio(self, scheme: str | None) -> Flows | None:
        """The jobs of the job file for the drive under `scheme`; `None` without one."""
        file = self.options["fio"]
        if file is None:
            return None
        fit = self.options["fit"]
        more = () if fit is None else (self.fitted_as or fitted_device(self._bare(scheme, (), sized=False), fit)).settings()
        return self._jobs(file, self._bare(scheme, more, sized=True))

    def _jobs(self, file: str | os.PathLike[str], drive: _core.Config) -> Flows:
        self._hold([file])
        return flows_of(load(file, place(Path(file))), drive.exported_bytes)

    def build(self, scheme: str | None) -> _core.Config:
        """The checked configuration under `scheme`: names of scheme presets, joined by `+`."""
        asked = self.options
        check_texts({"scheme": scheme})
        _refuse_commas(scheme)
        if asked["workload"] is not None and asked["trace"] is not None:
            raise UsageError("a workload preset and a trace were both given: leave one of them out")
        if asked["prefill"] is not None and asked["state"] is not None:
            raise UsageError("prefill and state were both given, but a saved state is already prepared: leave one of them out")
        for name, kind in KINDS.items():
            if self.policies[name] is not None and kind.excludes_key and kind.key in dict(self.set):
                raise UsageError(f"{name} and {kind.key} were both given, and both choose the policy: leave one of them out")
        config, fit = self._layers(scheme, ()), asked["fit"]
        if fit is None:
            return config
        found = self.fitted_as or fitted_device(config, fit)
        try:
            return self._layers(scheme, found.settings())
        except ConfigError as error:
            raise ConfigError(f"fit = {fit}: {self._unfit(scheme, config, found, error)}") from error

    def _unfit(self, scheme: str | None, config: _core.Config, found: Fitted, error: ConfigError) -> str:
        """Why the fitted device cannot be simulated, and what size can; `error`: the check that refuses it."""
        needed = needed_bytes(config, self.options["fit"] or FIT_TO_TRACE)
        for wanted in (needed << times for times in range(1, MOST_DOUBLED + 1)):
            larger = _core.fit_device(config, wanted)
            if larger is not None and self._works(scheme, Fitted(*larger)):
                return (
                    f"no device of this shape can collect at this size with {SPARE_KEY} = {_value(config, SPARE_KEY):g}; "
                    f"fit {wanted} bytes or more, make blocks smaller (device.pages_per_block), or raise {SPARE_KEY}"
                )
        return f"with {found.blocks} blocks per plane this device cannot be simulated: {error}"

    def _works(self, scheme: str | None, found: Fitted) -> bool:
        """Whether the device passes the checks of the configuration at this size."""
        try:
            self._bare(scheme, found.settings(), sized=True)
        except ConfigError:
            return False
        return True

    def _layers(self, scheme: str | None, more: tuple[tuple[str, str], ...]) -> _core.Config:
        asked = self.options
        if asked["fit"] is not None and any(key == BLOCKS_KEY for key, _ in self.set):
            raise UsageError(f"fit and {BLOCKS_KEY} were both given, but fit sets that key: leave one of them out")
        self._hold([asked["config"]])
        # capacity and spare blocks are only known after fitting
        sized = asked["fit"] is None or bool(more)
        config = self._bare(scheme, more, sized=sized)
        if asked["fio"] is not None and sized:
            keys = self._jobs(asked["fio"], config).settings
            config = self._bare(scheme, more, sized=True, jobs=tuple((key, value_text(value)) for key, value in keys.items()))
        again = self.shared or asked["fit"] == FIT_TO_TRACE or _value(config, "ftl.precondition.kind") == "trace"
        streamed = None if again else _read_once(_value(config, "workload"))
        self._hold(file for file in self.inputs(config) if file != streamed)
        return config

    def _bare(self, scheme: str | None, more: Pairs, *, sized: bool, jobs: Pairs = ()) -> _core.Config:
        """The configuration with only these keys of a job file, which depend on the bytes that the drive exports."""
        return _core.build_config(
            device=self.options["device"],
            schemes=scheme.split("+") if scheme else [],
            workload=self.options["workload"],
            file=self.options["config"],
            set=[*jobs, *self._shorthands(), *self.set],
            fitted=[*more],
            sized=sized,
        )

    def leaves_to_presets(self, key: str, scheme: str | None) -> bool:
        """Whether only presets of ssdlab can have set a key, no file and no option of the caller."""
        presets = [self.options["device"], self.options["workload"], *(scheme.split("+") if scheme else [])]
        files = self.options["config"] is not None or any(name is not None and is_preset_file(name) for name in presets)
        return not files and key not in dict(self.set)

    def _hold(self, files: Iterable[str | os.PathLike[str] | None]) -> None:
        """Copies files that can be read only once."""
        for file in files:
            if file is not None and (copy := hold(file)) is not None:
                self.held[copy.name] = copy

    def unfitted(self, scheme: str | None) -> _core.Config:
        """The configuration under `scheme` before `fit` sets the number of blocks; its capacity is not checked if `fit` will set it."""
        return self._layers(scheme, ())

    def idle(self, config: _core.Config) -> dict[str, str]:
        """The keys in `set` that have no effect in `config`, each with what it needs."""
        return dict(_core.idle_by_hand(config, self.set, self.options["state"] is not None))

    def fitted(self, scheme: str | None) -> dict[str, Any] | None:
        """The effect of `fit`, for the result: blocks per plane and over-provisioning before and after, needed and exported bytes."""
        fit = self.options["fit"]
        if fit is None:
            return None
        before, after = self._layers(scheme, ()), self.build(scheme)
        devices = {"_before": _value(before, "device"), "": _value(after, "device")}
        return {
            "to": fit,
            **{f"{key}{when}": device[key] for key in ("blocks_per_plane", "overprovisioning") for when, device in devices.items()},
            "needed_bytes": needed_bytes(before, fit),
            "exported_bytes": after.exported_bytes,
        }

    def title(self, scheme: str | None) -> str:
        """A line that describes a run: device, scheme, workload, and keys set by hand."""
        return ", ".join(as_fitted(self.title_parts(scheme), self.fitted(scheme)))

    def title_parts(self, scheme: str | None) -> list[str]:
        """The parts of the line that describes a run."""
        asked = self.options
        trace = dict(self.set).get("workload.trace", asked["trace"])
        workload = f"trace {trace}" if trace is not None else f"workload {asked['workload'] or 'default'}"
        workload = workload if asked["fio"] is None else f"jobs {os.fspath(asked['fio'])}"
        parts = [f"Device {asked['device'] or 'default'}", f"scheme {scheme or 'default'}", workload]
        if asked["config"] is not None:
            parts.append(f"config {os.fspath(asked['config'])}")
        parts += [] if self.loaded_as is None else [self.loaded_as.text]
        parts += [f"{kind} policy {policy.name}" for kind, policy in self.policies.items() if policy is not None]
        return [*parts, *(f"{key} = {value}" for key, value in self.set if key != "workload.trace")]

    def command(self, scheme: str | None) -> str | None:
        """The command that repeats a run under `scheme`; `None` with a policy that is not in a file, or an input that is a pipe."""
        if not all(isinstance(self.options.get(kind), str | None) for kind in KINDS):
            return None
        if any(is_passing(file) for file in self.inputs(self._layers(scheme, ()))):
            return None
        said: dict[str, object] = {**self.options, "scheme": scheme}
        if self.fitted_as is not None:
            said["fit"] = None
        if self.loaded_as is not None:
            said |= {"load": None, "load_of": None, "time_scale": self.loaded_as.time_scale}
        if warm_up_of(self.options["warm_up"]) is None:
            said["warm_up"] = None
        if self.options["verify"] == "off":
            said["verify"] = None
        said["state_cache"] = None  # it changes no result
        words = [word for name, option in REPEATED.items() for word in _words(option.flags[0], said[name])]
        pairs = self.set if self.fitted_as is None else (*self.set, *self.fitted_as.settings())
        settings = [word for key, value in pairs for word in ("--set", f"{key}={value}")]
        return shlex.join(["ssdlab", "run", *words, *settings])

    def plan(
        self,
        scheme: str | None,
        request_log: Path | None = None,
        timeline: Timeline | None = None,
        save_state: Path | None = None,
        slowest: Slowest | None = None,
        blocks: Path | None = None,
    ) -> _core.Plan:
        """The plan of a run under `scheme`: everything that determines it, and the paths of its files."""
        config, asked = self.build(scheme), self.options
        if asked["load"] is not None and self.loaded_as is None:
            raise UsageError(
                f"load = {asked['load']:g}: here the rate that a drive sustains is not searched for: give time_scale in its place"
            )
        jobs = self.fio(scheme)
        warm_up = warm_up_of(asked["warm_up"])
        if jobs is not None and jobs.warm_up_ns:
            if warm_up is not None:
                raise UsageError(f"warm_up and ramp_time of {jobs.file} were both given: leave one of them out")
            warm_up = (jobs.warm_up_ns, "ns")
        return _core.Plan(
            config,
            seed=whole("seed", asked["seed"]),
            requests=requests_of(config, asked["requests"]),
            warm_up=warm_up,
            verify=asked["verify"],
            request_log=request_log,
            timeline=timeline,
            blocks=blocks,
            series=truth("series", self.series),
            alone=truth("alone", asked["alone"]),
            state=asked["state"],
            state_cache=state_folder() if truth("state_cache", asked["state_cache"]) else None,
            save_state=save_state,
            **self.policies,
            slowest=slowest,
        )

    def inputs(self, config: _core.Config) -> list[str | os.PathLike[str]]:
        """The files that a run under `config` reads."""
        files = (*files_of(config), *(self.options[name] for name in ("state", "config", "fio")))
        return [file for file in files if file is not None]

    def _shorthands(self) -> list[tuple[str, str]]:
        """Configuration keys set by options such as `trace`; keys in `set` take precedence."""
        values: dict[str, Any] = {key: self.options.get(option) for option, key in SHORTHANDS.items()}
        if self.loaded_as is not None:
            values[SCALE_KEY] = self.loaded_as.time_scale
        values["ftl.precondition.kind"] = "ranges" if self.options["prefill"] is not None else None
        named = {key for key, _ in self.set}
        return [(key, value_text(value)) for key, value in values.items() if value is not None and key not in named]
