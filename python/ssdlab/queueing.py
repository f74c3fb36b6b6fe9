"""A single flash die as a queueing model (bux2011): its formulas, and a simulation to compare them with.

from ssdlab import queueing

queueing.mean_wait_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256, 64)  # ms, and requests in a ms
queueing.simulate(device="bux2011", priority="cep").wait.all.mean  # ns

Times may be in any unit, with rates per that unit and results in the same. Every argument is a finite number of at least 0, or an array of
such numbers: arrays are broadcast as in NumPy, and give an array. Arguments for which a formula has no value raise `UsageError`.

The symbols of the report: `read_rate` and `write_rate` are lambda_r and lambda_w, `read_time`, `write_time`, `copy_time` and `erase_time`
b_r, b_w, b_c and b_e, `pages` and `valid` c and v, `reads_per_write` s, `amplification` A.

W. Bux. System Performance Issues in Flash-Based Solid-State Drives. IBM Research Report RZ 3801, 2011.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from ssdlab import _core
from ssdlab.analysis import equations
from ssdlab.analysis.equations import *  # noqa: F403 (all names are public here)
from ssdlab.analysis.equations import max_throughput, mean_wait_rwp, queue_length, write_amplification
from ssdlab.analysis.formulas import FORMULAS, Numbers, Value, evaluate_all
from ssdlab.asking.plans import DEFAULT_SEED, Setup, files_of, requests_of, value_text
from ssdlab.checks import mapping, shown, text, truth, whole
from ssdlab.errors import UsageError
from ssdlab.section import Section, UntypedSection

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "DEFAULT_REQUESTS",
    "QueueingResult",
    "formulas",
    "simulate",
]
__all__ += equations.__all__

DEFAULT_REQUESTS = 1_000_000
"""Default number of drawn requests."""

Arrivals = Literal["poisson", "deterministic", "renewal", "saturated", "replayed"]
Priority = Literal["rwp", "cep", "fifo"]
Progress = Callable[[Sequence[tuple[int, int, int, int]]], object]
Path_ = str | os.PathLike[str]

DEFAULT_DEVICE = "bux2011"
DEFAULT_VALID_SHARE = 4
"""By default, one of this many pages of a block is valid: 64 of 256, as in most of the report."""
NS_PER_MS = 1e6
RATES = {"read_per_ms": 1.0, "write_per_ms": 0.5}
"""Default rates, from section 5.1 of the report."""


EQUATIONS = {name: formula.equation for name, formula in FORMULAS.items()}
"""Equation or section of the report for each function."""


def formulas(
    *,
    read_rate: Numbers,
    write_rate: Numbers,
    read_time: Numbers,
    write_time: Numbers,
    copy_time: Numbers,
    erase_time: Numbers,
    pages: Numbers,
    valid: Numbers,
) -> dict[str, Value]:
    """Computes every formula, by the name of its function.

    Formulas with `reads_per_write` are left out if there are no writes. `queue_length` uses the wait under rwp.

    Raises:
        UsageError: an argument is invalid, or the die is overloaded, so that mean waits do not exist.
    """
    load = {
        "read_rate": read_rate,
        "write_rate": write_rate,
        "read_time": read_time,
        "write_time": write_time,
        "copy_time": copy_time,
        "erase_time": erase_time,
        "pages": pages,
        "valid": valid,
    }
    wait = mean_wait_rwp(**load)
    queues = {"read_queue": queue_length(wait, read_rate), "write_queue": queue_length(wait, write_rate)}
    known = load | queues | {"wait": wait, "rate": np.add(read_rate, write_rate), "amplification": write_amplification(pages, valid)}
    if np.all(np.asarray(write_rate) > 0):
        with np.errstate(all="ignore"):  # invalid values are refused below, by name
            known["reads_per_write"] = np.divide(read_rate, write_rate)
    return evaluate_all(known)


class QueueingResult(UntypedSection):
    """The result of a run of the queueing model.

    Its entries are those printed by `--json`: `result.wait.all.mean` (ns), `result.utilisation.total`, `result.digest`, ... The entry
    `requests` (counts) is `result["requests"]` or `result.request_counts`, because the attribute `result.requests` is the table of all
    requests.
    """

    def __init__(self, data: Mapping[str, Any], series: Mapping[str, Mapping[str, bytes]] | None = None) -> None:
        super().__init__(data)
        self._series = series

    @property
    def request_counts(self) -> Section:
        """Number of served reads and writes."""
        return cast("Section", self["requests"])

    @property
    def requests(self) -> pa.Table:
        """The table of requests in order of arrival: `arrival_ns`, `op`, `wait_ns`."""
        return self._table("requests")

    @property
    def collections(self) -> pa.Table:
        """The table of collections: `start_ns`, `end_ns`, `backlog_end_ns` (when the die is next idle), `valid`, `overlapped`."""
        return self._table("collections")

    @property
    def copies(self) -> pa.Table:
        """The table of copies: `entered_ns` (when the collection started) and `start_ns`."""
        return self._table("copies")

    def _table(self, name: str) -> pa.Table:
        if self._series is None:
            raise UsageError(f"this run kept no {name}: run it with series=True")
        # imported here because it takes longer than many runs
        import pyarrow as pa  # noqa: PLC0415

        def column(name: str, data: bytes) -> Any:
            if name == "is_write":
                return pa.DictionaryArray.from_arrays(np.frombuffer(data, np.int8), ["read", "write"])
            if name == "overlapped":
                return pa.array(np.frombuffer(data, np.bool_))
            # signed, so that differences may be negative; times and counts are below 2^63
            return pa.Array.from_buffers(pa.int64(), len(data) // 8, [None, pa.py_buffer(data)])

        columns = self._series[name]
        return pa.table({"op" if name == "is_write" else name: column(name, data) for name, data in columns.items()})

    def joined(self, entries: Mapping[str, Any]) -> QueueingResult:
        """A copy of the result with further entries."""
        return QueueingResult({**self.to_dict(), **entries}, self._series)

    def __repr__(self) -> str:
        return f"<QueueingResult: {self.priority}, {sum(self.request_counts.values()):,} requests>"

    def __str__(self) -> str:
        """The table that the command line prints."""
        from ssdlab.pages import tables  # noqa: PLC0415

        return tables.as_text(tables.queueing_tables({self.priority: self}, self.get("formulas", {})))

    def _repr_html_(self) -> str:
        """The table that the command line prints, as HTML for notebooks."""
        from ssdlab.pages import notebook, tables  # noqa: PLC0415

        return notebook.of_tables(tables.queueing_tables({self.priority: self}, self.get("formulas", {})))


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A die and its requests, for runs under several priorities. Fields are the arguments of `simulate`.

    `set` holds pairs of key and TOML text, as on the command line.
    """

    device: str | None = None
    scheme: str | None = None
    read_ns: int | None = None
    write_ns: int | None = None
    copy_ns: int | None = None
    erase_ns: int | None = None
    pages: int | None = None
    valid: int | Sequence[int] | None = None
    arrivals: str | None = None
    read_per_ms: float | None = None
    write_per_ms: float | None = None
    read_gaps_ns: Iterable[int] | None = None
    write_gaps_ns: Iterable[int] | None = None
    replay: Iterable[tuple[int, str]] | None = None
    trace: Path_ | None = None
    workload: str | None = None
    format: str | None = None
    unit_bytes: int | None = None
    volume: str | None = None
    time_scale: float | None = None
    bad_lines: int | None = None
    fit: Literal["trace"] | int | None = None
    set: tuple[tuple[str, str], ...] = ()
    config: Path_ | None = None
    free_blocks: int | None = None
    requests: int | None = None
    seed: int = DEFAULT_SEED

    @cached_property
    def kind(self) -> str:
        """The arrival process. Arguments that belong to another process are refused."""
        replays = self.replay is not None or self.trace is not None or self.workload is not None
        kind = ("replayed" if replays else "poisson") if self.arrivals is None else text("arrivals", self.arrivals)
        if kind not in get_args(Arrivals):
            raise UsageError(f'arrivals = "{kind}": expected one of {", ".join(get_args(Arrivals))}')
        rates, gaps = ("read_per_ms", "write_per_ms"), ("read_gaps_ns", "write_gaps_ns")
        streams = ("trace", "workload", "format", "unit_bytes", "volume", "time_scale", "bad_lines", "fit")
        meant = {"renewal": gaps, "replayed": ("replay", *streams)}.get(kind, rates)
        for name in (*rates, *gaps, "replay", *streams):
            if name not in meant and getattr(self, name) is not None:
                raise UsageError(f'{name} means nothing with arrivals = "{kind}": it is for {_meaning(name)}')
        if self.replay is not None and any(getattr(self, name) is not None for name in ("requests", *streams)):
            raise UsageError("replay has all requests: leave out requests, trace, workload and their options")
        names_requests = self.config is not None or any(key.startswith("workload.") for key, _ in self.set)
        if kind == "replayed" and not (replays or names_requests):
            raise UsageError('arrivals = "replayed": there is nothing to replay: name a trace or a workload, or give replay')
        for key, _ in self.set:
            if not key.startswith("device.") and not (key.startswith("workload.") and kind == "replayed"):
                raise UsageError(f"{key} means nothing to the queueing model, which takes device.* and, of replayed requests, workload.*")
        return kind

    @cached_property
    def _setup(self) -> Setup:
        """The setup, kept as long as the experiment, with copies of traces that can be read only once."""
        _ = self.kind  # refuses arguments without effect
        return Setup(
            device=DEFAULT_DEVICE if self.device is None else self.device,
            workload=self.workload,
            trace=self.trace,
            format=self.format,
            unit_bytes=self.unit_bytes,
            volume=self.volume,
            time_scale=self.time_scale,
            bad_lines=self.bad_lines,
            fit=self.fit,
            set=self.set,
            config=self.config,
            shared=True,
        )

    @cached_property
    def _core_config(self) -> _core.Config:
        return self._setup.build(self.scheme)

    @property
    def files(self) -> list[str]:
        """The files that the configuration names."""
        return files_of(self._core_config)

    def hold_inputs(self) -> None:
        """Reads inputs that can be read only once, for runs of copies of this experiment."""
        _ = self._core_config

    @cached_property
    def die(self) -> dict[str, int]:
        """Service times and pages per block: as given, or else those of the device."""
        *values, _priority = _core.queueing_die(self._core_config)
        names = ("read_ns", "write_ns", "copy_ns", "erase_ns", "pages")
        given = {name: getattr(self, name) for name in names}
        least = {"pages": 1}
        return {
            name: value if given[name] is None else whole(name, given[name], least=least.get(name, 0))
            for name, value in zip(names, values, strict=True)
        }

    @cached_property
    def valid_pages(self) -> list[int]:
        """Valid pages of successive victim blocks."""
        pages = self.die["pages"]
        if self.valid is None:
            return [pages // DEFAULT_VALID_SHARE]
        several = isinstance(self.valid, Iterable) and not isinstance(self.valid, str) and getattr(self.valid, "ndim", 1) > 0
        entries = list(cast("Iterable[int]", self.valid)) if several else [cast("int", self.valid)]
        for entry in entries:
            if whole("valid", entry) >= pages:
                most = f"0 to {pages - 1}" if pages > 1 else "0"
                raise UsageError(f"valid = {entry}: expected {most}, as a block of {_pages(pages)} must give room to write")
        return [whole("valid", entry) for entry in entries]

    @cached_property
    def _requests_seen(self) -> tuple[_core.Traffic, dict[str, Any]]:
        """The requests, and the entries of a workload for the result."""
        seed = whole("seed", self.seed)
        if self.kind == "replayed":
            return self._replayed(seed)
        requests = DEFAULT_REQUESTS if self.requests is None else whole("requests", self.requests, least=1)
        if self.kind == "renewal":
            read, write = (_gaps(name, getattr(self, name)) for name in ("read_gaps_ns", "write_gaps_ns"))
            return _core.Traffic.renewal(read_gaps_ns=read, write_gaps_ns=write, requests=requests, seed=seed), {}
        rates = {name: default if getattr(self, name) is None else _rate(name, getattr(self, name)) for name, default in RATES.items()}
        return _core.Traffic.drawn(self.kind, **rates, requests=requests, seed=seed), {}

    def _replayed(self, seed: int) -> tuple[_core.Traffic, dict[str, Any]]:
        if self.replay is not None:
            times, writes = _replay_list(self.replay)
            return _core.Traffic.replayed(arrival_ns=times, is_write=writes, seed=seed), {}
        requests = requests_of(self._core_config, self.requests)
        traffic, report = _core.Traffic.of_drive(self._core_config, requests=requests, seed=seed)
        return traffic, {"workload": json.loads(report)}

    @property
    def traffic(self) -> _core.Traffic:
        """The requests, identical in every run."""
        return self._requests_seen[0]

    def priority(self, asked: str | None) -> str:
        """The requested priority, or else that of the scheme, or else reads and writes first."""
        if asked is not None and self.scheme is not None:
            raise UsageError("priority and scheme were both given, but a scheme sets the priority (gc.priority): leave one of them out")
        if self.scheme is not None:
            return _core.queueing_die(self._core_config)[-1]
        return "rwp" if asked is None else text("priority", asked)

    def run(self, priority: str | None = None, *, series: bool = False, progress: Progress | None = None) -> QueueingResult:
        """Serves the requests under a priority."""
        die = self.die
        data, tables = _core.queueing_simulate(
            self.traffic,
            times_ns=[die["read_ns"], die["write_ns"], die["copy_ns"], die["erase_ns"]],
            pages=die["pages"],
            valid=self.valid_pages,
            priority=self.priority(priority),
            free_blocks=None if self.free_blocks is None else whole("free_blocks", self.free_blocks, least=1),
            series=truth("series", series),
            progress=progress,
        )
        return QueueingResult({**json.loads(data), **self._requests_seen[1]}, tables)

    def max_throughput_per_ms(self) -> float | None:
        """Maximum reads and writes per millisecond, in the mixture of the requests, by (8); `None` without writes."""
        rates = self.traffic.rates_per_ms
        if rates is None or rates[1] == 0:
            return None
        read, write, copy, erase = (self.die[name] / NS_PER_MS for name in ("read_ns", "write_ns", "copy_ns", "erase_ns"))
        valid = sum(self.valid_pages) / len(self.valid_pages)
        return float(max_throughput(rates[0] / rates[1], read, write, copy, erase, self.die["pages"], valid))

    def formulas(self) -> dict[str, float]:
        """The formulas for this die and load. The ends of the names give the units: times in ns, rates per ms.

        If all requests arrive at time 0 there are no rates, and only capacities are computed. For several numbers of valid pages, their
        mean is used; `mean_wait_cep_independent`, which depends on more than the mean, is left out.

        Raises:
            UsageError: the die is overloaded.
        """
        die = {f"{op}_time": self.die[f"{op}_ns"] / NS_PER_MS for op in ("read", "write", "copy", "erase")}
        die |= {"pages": self.die["pages"], "valid": sum(self.valid_pages) / len(self.valid_pages)}
        rates = self.traffic.rates_per_ms
        if rates is None or self.kind == "saturated":
            ratio = {"reads_per_write": rates[0] / rates[1]} if rates is not None and rates[1] > 0 else {}
            computed = evaluate_all(die | ratio | {"amplification": write_amplification(die["pages"], die["valid"])})
        else:
            computed = formulas(read_rate=rates[0], write_rate=rates[1], **die)
        if any(entry != self.valid_pages[0] for entry in self.valid_pages):
            computed.pop("mean_wait_cep_independent", None)
        return dict(_with_unit(name, value) for name, value in computed.items())


def _meaning(name: str) -> str:
    return {
        "read_per_ms": "poisson, deterministic and saturated arrivals",
        "write_per_ms": "poisson, deterministic and saturated arrivals",
        "read_gaps_ns": 'arrivals = "renewal"',
        "write_gaps_ns": 'arrivals = "renewal"',
    }.get(name, 'arrivals = "replayed"')


def _with_unit(name: str, value: float) -> tuple[str, float]:
    """A value in ms or per ms as an entry of a result, where times are in ns."""
    match FORMULAS[name].dimension:
        case "time":
            return f"{name}_ns", value * NS_PER_MS
        case "rate":
            return f"{name}_per_ms", value
        case _:
            return name, value


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _rate(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise UsageError(f"{name} = {shown(value)}: expected a number of requests in a millisecond")
    try:
        return float(value)
    except OverflowError as error:
        raise UsageError(f"{name} = {shown(value)}: too large; expected a number of requests in a millisecond") from error


def _gaps(name: str, values: Iterable[int] | None) -> list[int]:
    if values is None:
        return []
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"{name} = {shown(values)}: expected a list of whole numbers, ns")
    return [whole(f"{name}[{index}]", value) for index, value in enumerate(values)]


def _replay_list(replay: Iterable[tuple[int, str]]) -> tuple[list[int], list[bool]]:
    if isinstance(replay, str) or not isinstance(replay, Iterable):
        raise UsageError(f'replay = {shown(replay)}: expected a list of pairs of arrival in ns and "read" or "write"')
    times, writes = [], []
    for index, entry in enumerate(replay):
        if not isinstance(entry, Sequence) or len(entry) != 2 or entry[1] not in ["read", "write"]:
            raise UsageError(f'replay[{index}] = {shown(entry)}: expected a pair of arrival in ns and "read" or "write"')
        times.append(whole(f"replay[{index}]", entry[0]))
        writes.append(entry[1] == "write")
    return times, writes


def simulate(
    *,
    device: str | None = None,
    scheme: str | None = None,
    read_ns: int | None = None,
    write_ns: int | None = None,
    copy_ns: int | None = None,
    erase_ns: int | None = None,
    pages: int | None = None,
    valid: int | Sequence[int] | None = None,
    priority: Priority | None = None,
    arrivals: Arrivals | None = None,
    read_per_ms: float | None = None,
    write_per_ms: float | None = None,
    read_gaps_ns: Iterable[int] | None = None,
    write_gaps_ns: Iterable[int] | None = None,
    replay: Iterable[tuple[int, str]] | None = None,
    trace: Path_ | None = None,
    workload: str | None = None,
    format: str | None = None,
    unit_bytes: int | None = None,
    time_scale: float | None = None,
    bad_lines: int | None = None,
    fit: Literal["trace"] | int | None = None,
    set: Mapping[str, Any] | None = None,
    config: Path_ | None = None,
    free_blocks: int | None = None,
    requests: int | None = None,
    seed: int = DEFAULT_SEED,
    series: bool = False,
    formulas: bool = False,
) -> QueueingResult:
    """Simulates the queueing model of a single die. Equal arguments give equal results, bit for bit.

    Args:
        device: device preset, by default `bux2011`, for the service times and pages per block that are not given. One of its dies is
            simulated.
        scheme: scheme preset, whose `gc.priority` is used.
        read_ns, write_ns, copy_ns, erase_ns: service time of an operation, ns.
        pages: pages per block.
        valid: pages to copy in a collection, by default a quarter of a block. A list is used entry by entry, and again from its start. Each
            number is below `pages`.
        priority: operations that go first: those of requests (`"rwp"`, the default), copies and erases (`"cep"`), or in order of entry
            (`"fifo"`). Service is never interrupted.
        arrivals: arrival process: `"poisson"` (the default), `"deterministic"`, `"renewal"` (gaps drawn from lists), `"saturated"` (all at
            time 0), or `"replayed"`.
        read_per_ms, write_per_ms: mean requests per millisecond, by default 1 and 0.5; for `"saturated"` arrivals, their ratio.
        read_gaps_ns, write_gaps_ns: gaps of `"renewal"` arrivals; without a list there are no such requests.
        replay: pairs of arrival (ns) and `"read"` or `"write"`, in order of time.
        trace, workload: requests that a run of the drive would replay, split into pages; `format`, `unit_bytes`, `time_scale`, `bad_lines`,
            `fit`, `set` and `config` are as for `ssdlab.run`.
        free_blocks: blocks that collections may use before one is freed; writes wait meanwhile. By default there is no limit.
        requests: number of requests, by default 1,000,000; for a trace all requests, for a workload 100,000, as for `ssdlab.run`.
        seed: seed of the arrivals, which only depend on it and their own arguments.
        series: whether to keep every request, collection and copy (`result.requests`, `.collections`, `.copies`).
        formulas: whether to compute the formulas too (`result["formulas"]`); an overloaded die is then an error.

    Raises:
        ssdlab.Error: a subclass of it, with a message that says what to do.
        KeyboardInterrupt: Ctrl-C.
    """
    pairs = () if set is None else tuple((key, value_text(value)) for key, value in mapping("set", set).items())
    experiment = Experiment(
        device=device,
        scheme=scheme,
        read_ns=read_ns,
        write_ns=write_ns,
        copy_ns=copy_ns,
        erase_ns=erase_ns,
        pages=pages,
        valid=valid,
        arrivals=arrivals,
        read_per_ms=read_per_ms,
        write_per_ms=write_per_ms,
        read_gaps_ns=read_gaps_ns,
        write_gaps_ns=write_gaps_ns,
        replay=replay,
        trace=trace,
        workload=workload,
        format=format,
        unit_bytes=unit_bytes,
        time_scale=time_scale,
        bad_lines=bad_lines,
        fit=fit,
        set=pairs,
        config=config,
        free_blocks=free_blocks,
        requests=requests,
        seed=seed,
    )
    values = {"formulas": experiment.formulas()} if truth("formulas", formulas) else {}
    result = experiment.run(priority, series=series)
    return result.joined(values)
