"""Zones: traces with their commands, and a drive fitted to figures of a real one.

The figures are means of NVMeBenchmarks (IEEE Cluster 2023), ``data/spdk/zns-a`` and ``data/custom/zns-a``: a Western Digital ZN540.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab import Request, Simulator
from ssdlab.pages import tables
from ssdlab.runs.api import Op

DRIVE = str(Path(__file__).parent.parent / "examples" / "zn540-like-17g.toml")
UNIT = 4096
ZONE = 275_712
"""Units of a zone that can be written."""
DISTANCE = 2**31

FITTED = {
    "write": 11.36,
    "append": 14.83,
    "open": 9.57,
    "close": 10.96,
    f"finish {ZONE - 1}": 2_582.17,
    "reset 0": 1_614.94,
    f"reset finished {ZONE - 1}": 15_363.32,
}
"""Response times, us, by command and the units that were written in the zone: those from which a value of the drive was chosen."""

PREDICTED = {
    "finish 0": 13.47,
    "finish 1": 907_442.95,
    "finish 17232": 848_157.63,
    "finish 34464": 792_295.60,
    "finish 68928": 680_822.14,
    "finish 137856": 456_650.12,
    "reset finished 1": 1_655.27,
    "reset finished 17232": 2_489.64,
    "reset finished 34464": 3_335.87,
    "reset finished 68928": 5_052.30,
    "reset finished 137856": 8_491.93,
    "reset 17232": 5_162.13,
    "reset 34464": 6_047.65,
    "reset 68928": 7_880.38,
    "reset 137856": 11_316.41,
    f"reset {ZONE}": 15_810.07,
}
"""Those that follow."""


class Zoned:
    """The drive, command by command, each in a zone of its own."""

    def __init__(self) -> None:
        self.simulator = Simulator(device=DRIVE, seed=1)
        self.zones = iter(range(16))

    def time(self, op: Op, offset: int, length: int = UNIT) -> float:
        """The response time of a command, us."""
        self.simulator.submit(Request(op=op, offset=offset, length=length))
        self.simulator.run_to_idle()
        (done,) = self.simulator.completions()
        assert done.status == "done", op
        return done.response_ns / 1_000

    def written(self, units: int) -> int:
        """The first byte of a zone with so many units, written in order, 256 KiB at a time."""
        at = next(self.zones) * DISTANCE
        for first in range(0, units, 64):
            self.time("append", at, min(64, units - first) * UNIT)
        self.wait()
        return at

    def wait(self) -> None:
        """Waits until all programs have ended."""
        self.simulator.run_until(self.simulator.now_ns + 200_000_000)


def measured() -> Iterator[tuple[str, float]]:
    drive = Zoned()
    at = drive.written(0)
    yield "open", drive.time("zone-open", at)
    yield "write", drive.time("write", at)
    yield "append", drive.time("append", at)
    yield "close", drive.time("zone-close", at)
    for units in (0, 1, 17_232, 34_464, 68_928, 137_856, ZONE - 1):
        at = drive.written(units)
        yield f"finish {units}", drive.time("zone-finish", at)
        drive.wait()
        yield f"reset finished {units}", drive.time("zone-reset", at)
    yield "reset 0", drive.time("zone-reset", drive.written(0))
    for units in (17_232, 34_464, 68_928, 137_856, ZONE):
        yield f"reset {units}", drive.time("zone-reset", drive.written(units))


def test_a_drive_takes_commands_of_zones_as_one_that_was_measured() -> None:
    found = dict(measured())
    off = {what: found[what] / us - 1 for what, us in {**FITTED, **PREDICTED}.items()}
    print({what: f"{found[what]:.1f} us, {share:+.1%}" for what, share in off.items()})
    assert all(abs(off[what]) < 0.15 for what in FITTED), off
    assert all(abs(off[what]) < (0.25 if what == "finish 0" else 0.1) for what in PREDICTED), off


def test_reads_and_writes_take_as_long_as_measured() -> None:
    reads = {
        "zones.size_bytes": 0,
        "ftl.precondition.kind": "fill",
        "workload.read_share": 1.0,
        "workload.request_kb": 4,
        "workload.align_kb": 4,
    }
    for depth, us in ((1, 72.64), (16, 91.46), (256, 585.07)):
        result = ssdlab.run(device=DRIVE, set={**reads, "workload.queue_depth": depth}, requests=20_000)
        print(depth, result.latency_ns.read.mean / 1_000, us)
        assert abs(result.latency_ns.read.mean / 1_000 / us - 1) < 0.15, depth


def test_a_trace_has_commands_of_zones(tmp_path: Path) -> None:
    rows = ["zone-open,0,4096", "append,0,8192", "W,8192,4096", "R,0,4096", "zone-reset,0,4096", "zone-finish,65536,4096", "W,65536,4096"]
    trace = tmp_path / "zones.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "".join(f"{5000 * at},{row}\n" for at, row in enumerate(rows)))
    keys = {"device.channels": 2, "device.pages_per_block": 8, "device.overprovisioning": 0.4, "device.blocks_per_plane": 24}
    result = ssdlab.run(set={**keys, "ftl.placement": "zones", "ftl.precondition.kind": "none", "workload.trace": str(trace)})
    counters = result.to_dict()["counters"]
    assert result.to_dict()["requests"] == {"read": 1, "write": 2, "trim": 0, "flush": 0, "zone": 3}
    assert (counters["zone_appends"], counters["zone_resets"], counters["zone_finishes"], counters["zone_errors"]) == (1, 1, 1, 1)
    assert [remark["code"] for remark in result.to_dict()["remarks"] if remark["code"] == "zone-errors"]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"cache.policy": "lru"}, "a cache does not write in the order of the host"),
        ({"array.level": "rais0", "array.drives": 2}, "an array has no zones"),
        ({"slc.static_blocks": 2}, "folding would mix zones"),
        ({"ftl.map_cache_bytes": 65536}, "zones need few mapping entries"),
        ({"ftl.map_unit_bytes": 1024}, "must be full"),
        ({"ftl.precondition.kind": "steady"}, "cannot be overwritten at random"),
        ({"zones.max_active": 2, "zones.max_open": 3}, "zones.max_open = 3"),
        ({"zones.size_bytes": 4096}, "zones.size_bytes = 4096"),
        ({"zones.blocks": 4096}, "leaves no zone"),
        ({"ftl.allocation": "dynamic"}, "fill its blocks evenly"),
    ],
)
def test_what_zones_do_not_go_with_says_so(keys: dict[str, object], says: str) -> None:
    with pytest.raises(ssdlab.ConfigError, match=says):
        ssdlab.Simulator(set={"ftl.placement": "zones", "ftl.precondition.kind": "none", **keys})


LOG = {"ftl.placement": "zones", "ftl.precondition.kind": "none", "device.overprovisioning": 0.3, "zones.log": "greedy"}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"zones.log_spare": 0.0}, "the log needs three that its data do not fill"),
        ({"zones.log_spare": 0.5, "zones.log_free": 4096}, "as many are never free; set it to"),
        ({"zones.blocks": 250}, "a log needs four"),
        ({"zones.max_open": 1}, "writes to two zones at a time"),
        ({"host.queues": 2}, "for which it has one queue"),
        ({"ftl.unmapped_read": "flash"}, "sends no read for them"),
        ({"wear.endurance": 1000}, "no remedy for blocks that fail"),
    ],
)
def test_what_a_log_does_not_go_with_says_so(keys: dict[str, object], says: str) -> None:
    with pytest.raises(ssdlab.ConfigError, match=says):
        ssdlab.Simulator(set={**LOG, "zones.log_spare": 0.3, **keys})


def test_a_written_drive_with_zones_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match="does not keep write pointers of zones"):
        ssdlab.run(set={**LOG, "zones.log_spare": 0.3}, requests=10, save_state=tmp_path / "state")
    assert not list(tmp_path.iterdir())


def test_commands_of_zones_are_not_for_a_log(tmp_path: Path) -> None:
    trace = tmp_path / "zones.csv"
    trace.write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n9000,R,0,4096\n19000,zone-reset,0,4096\n")
    result = ssdlab.run(set={**LOG, "zones.log_spare": 0.3, "workload.trace": str(trace)}).to_dict()
    assert result["counters"]["zone_errors"] == 1
    (remark,) = (remark for remark in result["remarks"] if remark["code"] == "zone-errors")
    assert "a log of the host takes requests of any address" in remark["sentence"]


def test_why_names_moves_of_a_log(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    keys = {**LOG, "device.channels": 1, "device.blocks_per_plane": 40, "ftl.precondition.kind": "fill", "workload.interarrival_us": 2_000}
    keys["zones.log_spare"] = 0.2
    ssdlab.run(set=keys, requests=3_000, slowest=100, out=tmp_path / "log")
    assert "moves of a log of the host" in ssdlab_command("why", str(tmp_path / "log")).out


@pytest.mark.parametrize(
    ("log", "counter", "says"), [("greedy", "log_collections", "zones collected"), ("bast", "log_full_merges", "full merges")]
)
def test_the_text_of_a_run_says_what_its_log_wrote(log: str, counter: str, says: str) -> None:
    keys = {**LOG, "device.channels": 1, "device.blocks_per_plane": 40, "ftl.precondition.kind": "fill", "workload.interarrival_us": 20_000}
    spare = {"zones.log_blocks": 4} if log == "bast" else {"zones.log_spare": 0.2}
    result = ssdlab.run(set={**keys, **spare, "zones.log": log, "workload.read_share": 0.0}, requests=2_000)
    counters = result.to_dict()["counters"]
    assert counters[counter] > 0
    written, moved = counters["log_written_units"], counters["log_moved_units"]
    each = (written + moved + counters["log_padded_units"]) / written
    said = f"Log of the host: {each:.3f} units written for each of the host, {moved:,} moved"
    text = " ".join(tables.as_text(tables.run_tables(result)).split())
    assert said in text
    assert f"{counters[counter]:,} {says}" in text


def test_why_has_words_for_waits_for_a_zone(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    keys = {**LOG, "device.channels": 1, "device.blocks_per_plane": 40, "ftl.precondition.kind": "fill", "workload.interarrival_us": 100}
    keys |= {"zones.log": "bast", "zones.log_blocks": 2, "workload.read_share": 0.0}
    ssdlab.run(set=keys, requests=500, slowest=100, out=tmp_path / "log")
    assert "in a log of the host for a free one" in " ".join(ssdlab_command("why", str(tmp_path / "log")).out.split())
