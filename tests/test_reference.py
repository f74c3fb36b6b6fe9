"""The reference is complete and has nothing else: the command line, the API, the figures of a result."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import subprocess
import sys
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, PATIENCE_S, ROOT, SLOW, Ssdlab
from nbd_client import Client
from ssdlab import _core, queueing
from ssdlab.system import states
from test_serve import Drive, served

sys.path.insert(0, str(ROOT / "tools"))

import command_reference

REFERENCE = ROOT / "docs" / "reference"


def test_the_reference_of_the_command_line_has_what_help_has(ssdlab_command: Ssdlab) -> None:
    """The page is made of the same objects as the help; this finds out should that no longer be so."""
    shown = set(re.findall(r"--[a-z][a-z-]+", ssdlab_command("compare", "--help").out)) - {"--help"}
    section = command_reference.page().partition("## `ssdlab compare`")[2].partition("\n## ")[0]
    assert len(shown) > 20
    assert shown == set(re.findall(r"[`>](--[a-z][a-z-]+)", section))


def public() -> dict[str, Any]:
    """Every public name, as users write it."""
    names = {f"ssdlab.{name}": getattr(ssdlab, name) for name in ssdlab.__all__}
    return names | {f"ssdlab.queueing.{name}": getattr(queueing, name) for name in queueing.__all__}


def test_every_public_name_is_described() -> None:
    """On the page, which is made of the docstrings; a class with what may be called and asked of it."""
    page = (REFERENCE / "api.md").read_text()
    on_page = set(re.findall(r"^::: (\S+)$", page, re.MULTILINE)) | set(re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE))
    assert on_page == set(public())
    for name, thing in public().items():
        if callable(thing):
            assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"
        if inspect.isclass(thing) and thing.__module__.startswith("ssdlab"):
            for part, what in vars(thing).items():
                if not part.startswith("_") and (callable(what) or isinstance(what, property) or inspect.isgetsetdescriptor(what)):
                    assert (inspect.getdoc(what) or "").strip(), f"{name}.{part} has no docstring"


def described_figures() -> set[str]:
    """The entries on the page of statistics, with classes expanded."""
    names: set[str] = set()
    for section in _core.statistics_reference().split("\n## ")[1:]:
        classes = re.findall(r"^\| `(\w+)` \|", section.partition("| entry |")[0], re.MULTILINE)[1:]  # behind the head
        for name in re.findall(r"^\| `([\w.]+)` \|", section.partition("| entry |")[2], re.MULTILINE):
            names |= {name.replace("CLASS", which) for which in classes} if "CLASS" in name else {name}
    return names


def figures(result: dict[str, Any], prefix: str = "") -> set[str]:
    """The entries of a result; the configuration is one."""
    names: set[str] = set()
    for key, value in result.items():
        name = f"{prefix}{key}"
        names |= figures(value, f"{name}.") if isinstance(value, dict) and name != "config" else {name}
    return names


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Results that together have all entries that a result can have."""
    trace = tmp_path_factory.mktemp("figures") / "some.csv"
    trace.write_text("0,W,0,4096\n10,R,0,4096\nno request\n20,R,4096,4096\n30,F,0,0\n40,T,0,4096\n")
    events = trace.with_name("events.txt")
    events.write_text("8,0 1 1 0.0 9 Q W 0 + 8 [a]\n8,0 1 2 0.5 9 D W 0 + 8 [a]\n")
    writes = DRIVE | {"workload.read_share": 0.5, "workload.interarrival_us": 500}
    cache = {"cache.policy": "lru", "cache.bytes": 64 * 4096}
    of_trace = [
        sys.executable,
        "-m",
        "ssdlab",
        "run",
        "--device",
        "demo-4g",
        "--trace",
        trace,
        "--format",
        "csv",
        "--skip-bad-lines",
        "1",
        "--fit",
        str(4 << 30),
        "--json",
    ]
    with served(trace.parent) as drive, Client(drive.socket) as client:
        client.write(0, b"hello")
    cut = Drive(trace.parent, ["--power-cut", "1"])
    with Client(cut.socket) as client, contextlib.suppress(ConnectionError):
        client.write(0, b"hello")
    out, _ = cut.process.communicate(timeout=PATIENCE_S)
    more: dict[str, Any] = {"timeline": trace.with_name("some.json"), "blocks": True, "out": trace.parent / "seen"}
    tagged = trace.with_name("tagged.csv")
    tagged.write_text("timestamp_us,op,offset_bytes,size_bytes,handle\n0,W,0,4096,1\n")
    zoned = trace.with_name("zoned.csv")
    zoned.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,append,0,4096\n10000,zone-reset,0,4096\n20000,R,0,4096\n")
    zones = DRIVE | {"ftl.placement": "zones", "ftl.precondition.kind": "none"}
    sleepy = {"power_states.power_mw": [40.0], "power_states.entry_us": [20], "power_states.exit_us": [50]}
    placed = DRIVE | {"ftl.placement": "handles", "ftl.handles": 2}
    seen = ssdlab.run(scheme="slacker", set=writes | {"workload.request_kb": 16}, requests=2_000, **more).to_dict()
    seen.pop("checksum", None)  # of the file, not a figure
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(states.FOLDER_VARIABLE, str(trace.parent / "states"))
        earlier = [ssdlab.run(set=SLOW, requests=50).to_dict() for _ in range(2)]
    return [
        *earlier,
        ssdlab.run(set=writes | {"ftl.precondition.kind": "steady"}, requests=4_000, series=True, victim=lambda _: None).to_dict(),
        ssdlab.run(scheme="gcar-lru+pgc", set=writes | cache, requests=4_000, series=True).to_dict(),
        ssdlab.run(set=writes | cache | {"cache.gc_aware": False}, requests=2_000, eviction=lambda _: None).to_dict(),
        seen,
        ssdlab.run(set=writes | {"array.level": "rais5", "array.drives": 4, "array.degraded": 1}, requests=2_000).to_dict(),
        ssdlab.run(set=writes | {"ftl.precondition.settle": 1}, requests=1_000, warm_up=100, series=True).to_dict(),
        ssdlab.run(trace=events, set=DRIVE).to_dict(),
        ssdlab.run(set=writes, requests=1_000, order=lambda _: None).to_dict(),
        ssdlab.run(set=writes | {"buffer.bytes": 65536, "buffer.protected": False, "workload.flush_every": 2}, requests=99).to_dict(),
        ssdlab.run(trace=tagged, set=placed, series=True).to_dict(),
        ssdlab.run(trace=zoned, set=zones).to_dict(),
        ssdlab.run(
            set=writes | {"energy.idle_mw": 1_000.0, "thermal.resistance_c_per_w": 10.0} | sleepy, requests=500, series=True
        ).to_dict(),
        ssdlab.run(trace=tagged, set=DRIVE | {"ftl.placement": "custom"}, placement=lambda _: 0).to_dict(),
        ssdlab.run(set=writes | {"errors.retry": "in-order", "workload.read_share": 0.5}, requests=500).to_dict(),
        ssdlab.run(set=writes | {"ftl.map_cache_bytes": 65_536}, requests=1_000).to_dict(),
        ssdlab.run(set=writes | {"wear.endurance": 3, "wear.erase": "pulses", "ftl.precondition.pe_cycles": 2}, requests=20_000).to_dict(),
        ssdlab.run(set=writes | {"slc.static_blocks": 1, "wear.rated_cycles": 1_000}, requests=1_000, series=True).to_dict(),
        ssdlab.run(set=writes | {"host.command_ns": 1_000, "buffer.bytes": 65_536}, requests=1_000).to_dict(),
        ssdlab.run(set=writes | {"workload.flows": [{"name": "other"}]}, requests=1_000, alone=True).to_dict(),
        json.loads(subprocess.run(of_trace, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout),
        drive.result,
        json.loads(out),
    ]


def test_every_figure_of_a_result_is_described(results: list[dict[str, Any]]) -> None:
    described = described_figures()
    assert len(described) > 200
    for result in results:
        unknown = figures(result) - described
        assert not unknown


def test_every_figure_that_is_described_is_of_some_result(results: list[dict[str, Any]]) -> None:
    missing = described_figures() - {name for result in results for name in figures(result)}
    assert not missing
