"""Figures of results: defined or absent, never null, NaN or infinite; and parts that add up."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, SMALL
from ssdlab.pages import tables

# Closed loops keep the arrival rate of the other drives, which has no effect.
pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.IdleKeyWarning")

HEADER = "timestamp_us,op,offset_bytes,size_bytes\n"
LINES = {
    "no reads": [f"{i * 100},W,{i * 7 % 90 * 4096},4096" for i in range(300)],
    "no writes": [f"{i * 100},R,{i * 7 % 90 * 4096},4096" for i in range(300)],
    "one read": ["0,R,0,4096"],
    "one write": ["0,W,0,4096"],
    "only trims": [f"{i * 100},T,{i * 4096},4096" for i in range(90)],
    "one trim of everything": ["0,T,0,368640"],
    "only flushes": [f"{i * 100},F,0,0" for i in range(9)],
    "one flush": ["0,F,0,0"],
    "all at one instant": [f"0,{'RW'[i % 2]},{i * 4096},4096" for i in range(50)],
    "reads of pages without data": ["0,T,0,368640", *(f"{10 + i},R,{i * 4096},4096" for i in range(20))],
    "everything": [f"{i * 50},{'RWTWF'[i % 5]},{0 if i % 5 == 4 else i * 13 % 90 * 4096},{0 if i % 5 == 4 else 4096}" for i in range(900)],
}


def not_defined(value: Any, path: str = "") -> Iterator[str]:
    """Paths of null, NaN or infinity in a JSON value."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from not_defined(entry, f"{path}.{key}")
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from not_defined(entry, f"{path}[{index}]")
    elif value is None or (isinstance(value, float) and not math.isfinite(value)):
        yield path


def check(result: ssdlab.Result) -> None:
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert list(not_defined(data)) == []
    assert set(data["breakdown_ns"]) == set(data["latency_ns"]) & {"all", "read", "write", "flush"}
    for kind, parts in data["breakdown_ns"].items():
        assert sum(parts.values()) == pytest.approx(data["latency_ns"][kind]["mean"], rel=1e-9), kind
        assert all(part >= 0 for part in parts.values())
    shown = tables.as_text(tables.run_tables(result))
    assert not {"nan", "inf", "None"} & set(shown.replace(",", " ").split())


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("kind", ["none", "fill"])
def test_figures_of_one_sided_workloads(name: str, kind: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text(HEADER + "\n".join(LINES[name]) + "\n")
    result = ssdlab.run(trace=trace, set={**DRIVE, "ftl.precondition.kind": kind}, verify="end")
    check(result)
    assert sum(result["requests"].to_dict().values()) == len(LINES[name])


@pytest.mark.parametrize("kind", ["none", "fill", "soft", "steady"])
def test_figures_of_no_requests_at_all(kind: str) -> None:
    check(ssdlab.Simulator(set={**SMALL, "ftl.precondition.kind": kind}, verify="end").finish())


BUSY = {
    "multi-plane": {"device.planes_per_die": 2, "device.multiplane": True, "workload.request_kb": 16},
    "cache register": {"device.cache_register": True, "scheduler.pipeline": True, "workload.request_kb": 16},
    "no interleaving": {"device.dies_per_chip": 2, "device.die_interleave": False},
    "bounded queues": {"scheduler.order": "fr-fcfs", "scheduler.read_queue": 2, "scheduler.write_queue": 2},
    "dynamic allocation": {"ftl.allocation": "dynamic", "device.chips_per_channel": 2},
    "partial pages": {"workload.align_kb": 0.5, "workload.request_kb": 1.5},
    "closed loop": {"workload.queue_depth": 8},
    "bursts": {"workload.arrival": "burst", "workload.burst_length": 50},
    "no transfer time": {"device.transfer_ps_per_byte": 0},
    "overload": {"workload.interarrival_us": 10},
    "a pool a die": {"ftl.pool": "die", "device.planes_per_die": 2, "gc.scope": "plane"},
    "one frontier": {"ftl.frontier": "shared", "device.copyback": True},
}


@pytest.mark.parametrize("name", BUSY)
@pytest.mark.parametrize("scheme", ["npgc", "cep", "rwp"])
def test_parts_add_up_whatever_the_drive(name: str, scheme: str) -> None:
    result = ssdlab.run(scheme=scheme, set={**SMALL, "workload.interarrival_us": 400, **BUSY[name]}, requests=3000, verify="end")
    assert result.gc.jobs > 0
    check(result)


def test_figures_of_a_trace_that_has_few(tmp_path: Path) -> None:
    for name, lines in LINES.items():
        trace = tmp_path / f"{name}.csv"
        trace.write_text(HEADER + "\n".join(lines) + "\n")
        info = ssdlab.trace_info(trace)
        assert list(not_defined(info)) == []
