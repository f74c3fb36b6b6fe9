"""The Rust core of ssdlab. Use the functions of `ssdlab` instead: they are made of these."""

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final

__all__ = [
    "Candidates",
    "Completion",
    "Config",
    "EvictionCandidates",
    "OrderChoices",
    "Placing",
    "Plan",
    "Simulator",
    "StandIn",
    "Traffic",
    "abandon_files",
    "amount",
    "build_config",
    "configuration_reference",
    "fit_device",
    "idle_by_hand",
    "keys",
    "precondition",
    "prefill_end",
    "preset_text",
    "presets",
    "queueing_die",
    "queueing_formula",
    "queueing_formulas",
    "queueing_simulate",
    "remarks_of_result",
    "replay_cache",
    "run_many",
    "schema",
    "serve",
    "statistics_reference",
    "statistics_schema",
    "studies",
    "trace_convert",
    "trace_info",
    "triggers",
    "version",
    "write_file",
]

_Path: TypeAlias = str | os.PathLike[str]
# phase (-1 waiting, 0 preconditioning, 1 simulating, 2 done); completed and expected (0: unknown), which are requests, while
# preconditioning pages; share of the input in millionths
_Snapshot: TypeAlias = tuple[int, int, int, int]
_Progress: TypeAlias = Callable[[list[_Snapshot]], object]
_Policy: TypeAlias = tuple[Callable[..., Any], str, str, tuple[str, int] | None]
"""A policy, its name, the text whose hash the result has, and file and line of its definition."""

@final
class Config:
    def json(self) -> str: ...
    def get(self, key: str) -> str: ...
    @property
    def exported_bytes(self) -> int: ...
    @property
    def reserve_blocks(self) -> int: ...
    @property
    def uncounted_blocks(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Plan:
    def __new__(
        cls,
        config: Config,
        *,
        seed: int,
        requests: int | None = None,
        warm_up: tuple[int, str] | None = None,  # how long, in "requests" or "ns"
        verify: str = "off",
        request_log: _Path | None = None,
        timeline: tuple[_Path, int, int | None, int | None] | None = None,  # file, from and to in ns, slices at most
        blocks: _Path | None = None,
        series: bool = False,
        alone: bool = False,
        state: _Path | None = None,
        state_cache: _Path | None = None,  # a folder
        save_state: _Path | None = None,
        victim: _Policy | None = None,
        eviction: _Policy | None = None,
        order: _Policy | None = None,
        placement: _Policy | None = None,
        slowest: tuple[_Path, int, Sequence[int], int | None] | None = None,  # file, slowest, requests by number, stages kept at a time
    ) -> Plan: ...
    @property
    def config(self) -> Config: ...
    def config_of_result(self) -> str: ...

@final
class Candidates:
    @property
    def pool(self) -> int: ...
    @property
    def pages_per_block(self) -> int: ...
    @property
    def blocks(self) -> memoryview[int]: ...
    @property
    def valid_pages(self) -> memoryview[int]: ...
    @property
    def erases(self) -> memoryview[int]: ...
    @property
    def ages(self) -> memoryview[int]: ...
    def __len__(self) -> int: ...

@final
class EvictionCandidates:
    @property
    def pages(self) -> memoryview[int]: ...
    @property
    def dirty(self) -> memoryview[int]: ...
    @property
    def ages(self) -> memoryview[int]: ...
    @property
    def homes(self) -> memoryview[int]: ...
    @property
    def in_gc(self) -> memoryview[int]: ...
    def __len__(self) -> int: ...

@final
class Placing:
    WRITTEN: ClassVar[int]
    OPENED: ClassVar[int]
    COLLECTED: ClassVar[int]
    @property
    def page(self) -> int: ...
    @property
    def moved(self) -> bool: ...
    @property
    def handle(self) -> int | None: ...
    @property
    def is_new(self) -> bool: ...
    @property
    def stream(self) -> int: ...
    @property
    def pages(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def pages_per_block(self) -> int: ...
    @property
    def host_streams(self) -> int: ...
    @property
    def move_streams(self) -> int: ...
    @property
    def events(self) -> list[tuple[int, ...]]: ...

@final
class OrderChoices:
    READ: ClassVar[int]
    PROGRAM: ClassVar[int]
    MOVE: ClassVar[int]
    ERASE: ClassVar[int]
    HOST: ClassVar[int]
    GC: ClassVar[int]
    MAPPING: ClassVar[int]
    @property
    def now_ns(self) -> int: ...
    @property
    def die(self) -> int: ...
    @property
    def situation(self) -> str: ...
    @property
    def queued_reads(self) -> int: ...
    @property
    def queued_writes(self) -> int: ...
    @property
    def gc(self) -> int | None: ...
    @property
    def gc_victim(self) -> int | None: ...
    @property
    def gc_valid_pages(self) -> int | None: ...
    @property
    def gc_free_blocks(self) -> int | None: ...
    @property
    def gc_begun(self) -> bool | None: ...
    @property
    def kinds(self) -> memoryview[int]: ...
    @property
    def causes(self) -> memoryview[int]: ...
    @property
    def ready_ns(self) -> memoryview[int]: ...
    @property
    def serials(self) -> memoryview[int]: ...
    @property
    def arrivals_ns(self) -> memoryview[int]: ...
    @property
    def offsets(self) -> memoryview[int]: ...
    @property
    def sizes(self) -> memoryview[int]: ...
    @property
    def requests(self) -> memoryview[int]: ...
    @property
    def request_sizes(self) -> memoryview[int]: ...
    @property
    def flows(self) -> memoryview[int]: ...
    @property
    def high_priority(self) -> memoryview[int]: ...
    @property
    def pools(self) -> memoryview[int]: ...
    @property
    def slack_ns(self) -> memoryview[int]: ...
    def __len__(self) -> int: ...

@final
class Completion:
    @property
    def index(self) -> int: ...
    @property
    def flow(self) -> int: ...
    @property
    def op(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def arrival_ns(self) -> int: ...
    @property
    def completed_ns(self) -> int: ...
    @property
    def status(self) -> Literal["done", "lost", "rejected"]: ...
    @property
    def response_ns(self) -> int: ...
    @property
    def parts_ns(self) -> dict[str, int]: ...

@final
class Simulator:
    def __new__(cls, plan: Plan) -> Simulator: ...
    def submit(
        self,
        op: str,
        offset: int,
        length: int,
        *,
        arrival_ns: int,
        high_priority: bool = False,
        flow: int = 0,
        handle: int | None = None,
    ) -> int: ...
    def run_until(self, until_ns: int) -> None: ...
    def run_to_idle(self) -> None: ...
    def completions(self) -> list[Completion]: ...
    @property
    def now_ns(self) -> int: ...
    def mapping(self) -> list[int]: ...
    def erase_counts(self) -> list[int]: ...
    def free_blocks(self, pool: int) -> list[int]: ...
    def finish(self) -> str: ...

@final
class Traffic:
    @staticmethod
    def drawn(kind: str, *, read_per_ms: float, write_per_ms: float, requests: int, seed: int) -> Traffic: ...
    @staticmethod
    def renewal(*, read_gaps_ns: Sequence[int], write_gaps_ns: Sequence[int], requests: int, seed: int) -> Traffic: ...
    @staticmethod
    def replayed(*, arrival_ns: Sequence[int], is_write: Sequence[bool], seed: int) -> Traffic: ...
    @staticmethod
    def of_drive(config: Config, *, requests: int | None, seed: int) -> tuple[Traffic, str]: ...
    @property
    def requests(self) -> int: ...
    @property
    def rates_per_ms(self) -> tuple[float, float] | None: ...

def abandon_files() -> None: ...
def build_config(
    *,
    device: str | None = None,
    schemes: Sequence[str] = ...,
    workload: str | None = None,
    file: _Path | None = None,
    set: Sequence[tuple[str, str]] = ...,
    fitted: Sequence[tuple[str, str]] = ...,
    sized: bool = ...,
) -> Config: ...

@final
class StandIn:
    def __new__(cls, path: _Path, copy: _Path) -> StandIn: ...

def fit_device(config: Config, bytes: int) -> tuple[int, float] | None: ...
def idle_by_hand(config: Config, set: Sequence[tuple[str, str]], from_state: bool) -> list[tuple[str, str]]: ...
def replay_cache(
    config: Config,
    requests: Sequence[tuple[str, int, int]],
    in_gc: Sequence[tuple[int, int, bool]],
    eviction: _Policy | None = None,
) -> tuple[list[tuple[int, str, int]], str]: ...
def run_many(
    plans: Sequence[Plan],
    *,
    jobs: int = 1,
    progress: _Progress | None = None,
    finished: Callable[[int, str | Exception], object] | None = None,
) -> tuple[list[Any], BaseException | None]: ...
def serve(
    plan: Plan,
    *,
    unix: _Path | None = None,
    tcp: str | None = None,
    file: _Path | None = None,
    remote: bool = False,
    scale: float = 1.0,
    data: _Path | None = None,
    record: _Path | None = None,
    power_cut: tuple[int, str] | None = None,
    progress: Callable[[tuple[str | None, int, int, int, int, int, int, int]], object] | None = None,
) -> tuple[str, str | None]: ...
def queueing_die(config: Config) -> tuple[int, int, int, int, int, str]: ...
def queueing_formula(name: str, arguments: Sequence[Any], out: Any, shape: Sequence[int]) -> None: ...

# name, equation, dimension, arguments, sentences, symbols
def queueing_formulas() -> list[tuple[str, str, str, list[str], str, str]]: ...
def queueing_simulate(
    traffic: Traffic,
    *,
    times_ns: Sequence[int],  # to read, write, copy, erase
    pages: int,
    valid: Sequence[int],
    priority: str,
    free_blocks: int | None = None,
    series: bool = False,
    progress: _Progress | None = None,
) -> tuple[str, dict[str, dict[str, bytes]] | None]: ...
def precondition(plan: Plan, out: _Path, *, progress: _Progress | None = None) -> str: ...
def prefill_end(path: _Path) -> int: ...
def trace_info(
    path: _Path,
    *,
    format: str | None = None,
    unit_bytes: int | None = None,
    time_unit: str | None = None,
    event: str | None = None,
    fio_wait: str | None = None,
    device: str | None = None,
    skip: int = 0,
    limit_s: float = 0.0,
    time_scale: float = 1.0,
    progress: _Progress | None = None,
) -> str: ...
def trace_convert(
    source: _Path,
    target: _Path,
    *,
    format: str | None = None,
    unit_bytes: int | None = None,
    time_unit: str | None = None,
    event: str | None = None,
    fio_wait: str | None = None,
    device: str | None = None,
    bad_lines: int = 0,
    time_order: str | None = None,
    skip: int = 0,
    limit_s: float = 0.0,
    time_scale: float = 1.0,
    requests: int | None = None,
    progress: _Progress | None = None,
) -> str: ...
def amount(name: str, text: str, bytes: bool) -> int: ...
def presets(kind: str) -> list[tuple[str, str, str]]: ...
def preset_text(kind: str, name: str) -> str: ...
def studies() -> list[tuple[str, str]]: ...
def schema() -> str: ...
def configuration_reference() -> str: ...
def statistics_reference() -> str: ...
def statistics_schema() -> str: ...
def triggers() -> list[tuple[str, str]]: ...
def remarks_of_result(result: str) -> str: ...
def keys() -> str: ...
def write_file(path: _Path, content: str | bytes) -> None: ...
def version() -> str: ...
