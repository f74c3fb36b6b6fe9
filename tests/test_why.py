"""The slowest requests: against timelines worked out by hand, against the timeline file of the same run, and in words."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import ROOT, SMALL, Ssdlab
from shares import FULL
from ssdlab import _core
from ssdlab.asking.plans import Setup, Slowest
from ssdlab.errors import UsageError
from ssdlab.pages import why
from ssdlab.pages.tables.numbers import duration
from ssdlab.pages.why import alike, names

READ, TRANSFER, PROGRAM, ERASE = 25_000, 102_400, 200_000, 1_500_000
"""Stages of the base drive, ns: a page takes `TRANSFER` on the bus."""
PAGE = 4096
ORIGIN = 6_000_000
"""When the job of `COLLECTING` begins, after the writes of `BEGINNING`."""
ONE_DIE: dict[str, Any] = {
    "device.channels": 1,
    "device.blocks_per_plane": 8,
    "device.pages_per_block": 4,
    "device.overprovisioning": 0.5,
    "ftl.precondition.kind": "fill",
    "gc.soft": 1.0,
}
COLLECTING = {
    **ONE_DIE,
    "device.blocks_per_plane": 24,
    "gc.soft": 9.0,
    "ftl.frontier": "separate",
    "gc.scope": "none",
    "gc.priority": "host",
}
"""24 blocks, of which 12 are filled. The last write of `BEGINNING` takes the fourth free block, which leaves 8: a job begins, on block 0,
which has the fewest valid pages, 2 and 3."""
BEGINNING = [
    *((410_000 * index, "W", page * PAGE, PAGE) for index, page in enumerate((0, 1, *range(4, 44, 4)))),
    (ORIGIN - TRANSFER - PROGRAM, "W", 44 * PAGE, PAGE),
]
MOST_LETTERS = 3_000
"""Bound of the length of a paragraph, however long the chain of waits: some 38 lines of a terminal."""
Row = tuple[int, str, int, int]


def test_every_reason_resource_and_cause_has_words() -> None:
    """A name without words would make the pages of a run unreadable."""
    reasons = (ROOT / "crates" / "ssdlab-base" / "src" / "blocked.rs").read_text()
    causes = (ROOT / "crates" / "ssdlab-result" / "src" / "timeline" / "origin.rs").read_text()
    waits = re.findall(r'^ +\w+ = "(\w+)" in \w+,$', reasons, re.MULTILINE)
    (served,) = re.findall(r"NAMES: \[&'static str; Served::COUNT\] = \[(.*)\];", reasons)
    assert len(waits) >= 25
    assert set(names.WAITS) == set(waits)
    assert set(names.SERVED) == set(re.findall(r'"(\w+)"', served))
    assert set(names.CAUSES) == set(re.findall(r'Cause::\w+ => Some\("(\w+)"\)', causes))


def explained(tmp_path: Path, keys: dict[str, Any], rows: Sequence[Row], **options: Any) -> dict[int, Any]:
    """The explanations of all requests of a trace, by number. Rows: arrival in ns, R or W, first byte, length."""
    trace, out = tmp_path / "trace.csv", tmp_path / "out"
    lines = [f"{at / 1000:.3f},{op},{offset},{size}" for at, op, offset, size in rows]
    trace.write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *lines, ""]))
    ssdlab.run(trace=trace, set=keys, out=out, slowest=len(rows), **options)
    found = json.loads((out / "slowest.json").read_text())["slowest"]
    check_sums(found)
    return {one["request"]: one for one in found}


def check_sums(found: Sequence[Mapping[str, Any]]) -> None:
    """Shares and segments add up to the response time of each request, and segments have no gaps."""
    for one in found:
        assert sum(share["ns"] for share in one["shares"]) == one["response_ns"]
        check_segments(one["segments"], one["arrival_ns"], one["completed_ns"])
        for page in one["pages"]:
            if page["segments"]:
                check_segments(page["segments"], page["from_ns"], page["to_ns"])


def check_segments(segments: Sequence[Mapping[str, Any]], at: int, end: int) -> None:
    for segment in segments:
        assert segment["from_ns"] == at < segment["to_ns"]
        assert sum(share["ns"] for share in segment["shares"]) == segment["to_ns"] - at
        at = segment["to_ns"]
    assert at == end


def told(one: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> str:
    """The paragraph of a request as the file has it."""
    return why.paragraph(why.explained_from(one, "request"), config)


def shown(segments: Sequence[Mapping[str, Any]], origin: int = 0) -> list[tuple[str, int, int]]:
    """Segments as what, start and end."""
    return [("+".join(share["what"] for share in one["shares"]), one["from_ns"] - origin, one["to_ns"] - origin) for one in segments]


def stages(operation: Mapping[str, Any], origin: int = 0) -> list[tuple[str, int, int]]:
    return [(stage["name"], stage["from_ns"] - origin, stage["to_ns"] - origin) for stage in operation["stages"]]


def test_a_read_behind_an_erase(tmp_path: Path) -> None:
    """The job moves two pages, 429.8 us each, and erases from 859.6 us on; a read that comes at 1 ms waits for all of the erase."""
    one = explained(tmp_path, COLLECTING, [*BEGINNING, (ORIGIN + 1_000_000, "R", 9 * PAGE, PAGE)])[13]
    assert shown(one["segments"], ORIGIN) == [
        ("gc_operation", 1_000_000, 2_359_600),
        ("array", 2_359_600, 2_384_600),
        ("transfer", 2_384_600, 2_487_000),
    ]
    (behind,) = one["segments"][0]["behind"]
    erase = one["operations"][behind["operation"]]
    assert (behind["ns"], stages(erase, ORIGIN)) == (1_359_600, [("erase", 859_600, 2_359_600)])
    assert (erase["die"], erase["block"], erase["job"], erase["host"]) == (0, 0, 0, False)
    (job,) = one["jobs"]
    setter = one["operations"][job["set_off_by"]]
    assert {key: value for key, value in job.items() if key != "set_off_by"} == {
        "drive": 0,
        "job": 0,
        "pool": 0,
        "die": 0,
        "victim": 0,
        "valid_pages": 2,
        "trigger": "soft",
        "free_blocks": 8,
        "from_ns": ORIGIN - TRANSFER - PROGRAM,
        "to_ns": ORIGIN + 2_359_600,
    }
    assert (setter["request"], stages(setter, ORIGIN)[-1]) == (12, ("program", -PROGRAM, 0))
    words = told(one)
    assert "It waited 1.36 ms for the die, which collected garbage: 1.36 ms for the erase of block 0 on die 0 (GC job 0, " in words
    assert "begun 140 us before" in words
    assert "GC job 0 began 1.30 ms before the request came, when pool 0 had 8 free blocks, fewer than the soft threshold; " in words
    assert "; the program of page 44 in block " in words
    assert "for request 12 had just taken one. It collected block 0, with 2 valid pages, and ended 1.36 ms after the request came." in words


def test_requests_that_wait_alike_are_shown_once(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    """Reads 13 and 14 wait 1.36 ms for one erase, and 14 then 127.4 us for 13, 8 % of its time. Read 15 and the writes wait for nothing."""
    reads = [(ORIGIN + at, "R", 9 * PAGE, PAGE) for at in (1_000_000, 1_000_000, 9_000_000)]
    found = explained(tmp_path, COLLECTING, [*BEGINNING, *reads])
    groups = alike.grouped(why.explained_from(one, "request") for one in found.values())
    assert [[one.request for one in group] for group in groups] == [[14, 13], list(range(13)), [15]]
    shown = ssdlab_command("why", "out").out
    assert [line.split(",")[0] for line in shown.splitlines() if line.startswith("Request")] == ["Request 14", "Request 0", "Request 15"]
    assert "13 (1.49 ms). --request N" in " ".join(shown.split())
    both = ssdlab_command("why", "out", "--request", "13", "--request", "14").out
    assert [line.split(",")[0] for line in both.splitlines() if line.startswith("Request")] == ["Request 13", "Request 14"]


def test_a_read_that_suspends_a_program(tmp_path: Path) -> None:
    """A program runs from 102.4 us on. A read at 200 us suspends it, which takes 10 us; then it has 102.4 us left, and 20 us are lost."""
    keys = {**ONE_DIE, "scheduler.order": "fr-fcfs", "scheduler.suspend": ["program", "erase"], "device.page_registers": 2}
    keys |= {"device.suspend_ns": 10_000, "device.resume_ns": 20_000, "device.min_run_ns": 50_000}
    keys |= {"gc.scope": "none", "gc.priority": "host"}
    found = explained(tmp_path, keys, [(0, "W", 0, PAGE), (200_000, "R", 5 * PAGE, PAGE)])
    write, read = found[0], found[1]
    assert shown(read["segments"]) == [("host_operation", 200_000, 210_000), ("array", 210_000, 235_000), ("transfer", 235_000, 337_400)]
    assert shown(write["segments"]) == [
        ("transfer", 0, 102_400),
        ("array", 102_400, 200_000),
        ("paused", 200_000, 210_000),
        ("paused", 210_000, 337_400),
        ("array", 337_400, 459_800),
    ]
    (behind,) = read["segments"][0]["behind"]
    program = read["operations"][behind["operation"]]
    assert (behind["ns"], program["request"]) == (10_000, 0)
    assert ("suspending", 200_000, 210_000) in stages(program)
    # the write names the read for which it was suspended
    of_read = write["operations"][write["segments"][3]["behind"][0]["operation"]]
    assert (of_read["request"], stages(of_read)) == (1, [("read", 210_000, 235_000), ("transfer out", 235_000, 337_400)])


def test_a_write_behind_moves_that_it_preempts(tmp_path: Path) -> None:
    """The first move programs until 429.8 us. A write at 300 us goes before the second move."""
    one = explained(tmp_path, COLLECTING, [*BEGINNING, (ORIGIN + 300_000, "W", 9 * PAGE, PAGE)])[13]
    assert shown(one["segments"], ORIGIN) == [
        ("gc_operation", 300_000, 429_800),
        ("transfer", 429_800, 532_200),
        ("array", 532_200, 732_200),
    ]
    (behind,) = one["segments"][0]["behind"]
    move = one["operations"][behind["operation"]]
    assert (behind["ns"], move["lpn"], move["block"], move["job"]) == (129_800, 2, 0, 0)
    assert stages(move, ORIGIN)[-1] == ("move: program", 229_800, 429_800)
    assert "129.8 us" not in told(one)
    assert "130 us for the move of page 2 out of block 0 on die 0 (GC job 0, begun 300 us before)" in told(one)


def test_a_write_that_waits_for_room_in_the_buffer(tmp_path: Path) -> None:
    """Four units fill the buffer, and their program takes 302.4 us from time 0 on. A fifth write, at 10 us, waits for its end."""
    keys = {**ONE_DIE, "device.blocks_per_plane": 12, "device.overprovisioning": 0.66, "ftl.map_unit_bytes": 1024}
    keys |= {"buffer.bytes": 4096, "buffer.access_ns": 1000, "buffer.protected": True, "buffer.drain": "full", "buffer.timeout_us": 0}
    rows = [*((0, "W", unit * 1024, 1024) for unit in range(4)), (10_000, "W", 4096, 1024), (5_000_000, "R", 60 * 1024, 1024)]
    one = explained(tmp_path, keys, rows)[4]
    assert shown(one["segments"]) == [("buffer_full", 10_000, 302_400), ("dram", 302_400, 303_400)]
    (place,) = one["segments"][0]["pages"]
    page = one["pages"][place]
    assert (page["cause"], page["write"], page["from_ns"], page["to_ns"]) == ("drain", True, 0, 302_400)
    assert shown(page["segments"]) == [("transfer", 0, TRANSFER), ("array", TRANSFER, TRANSFER + PROGRAM)]
    program = one["operations"][page["segments"][0]["by"]]
    assert stages(program) == [("transfer in", 0, TRANSFER), ("program", TRANSFER, TRANSFER + PROGRAM)]
    words = told(one)
    assert "It waited 292 us for a place in the write buffer." in words
    assert "The place came from the program of page 0 in block " in words
    assert "for the write buffer, asked for 10.0 us before the request came, and ended 292 us after it came; of its 302 us" in words
    assert "for a place in the write buffer, full with 4 units." in told(one, {"buffer": {"bytes": 4096}, "ftl": {"map_unit_bytes": 1024}})


@pytest.mark.parametrize("passing", [True, False])
def test_a_read_behind_an_older_write_names_it(tmp_path: Path, ssdlab_command: Ssdlab, passing: bool) -> None:
    """Write 4 waits for room until 302.4 us. Read 5 of its bytes and read 6 of its page come in with it, 7 too if reads do not pass."""
    keys = {**ONE_DIE, "device.blocks_per_plane": 12, "device.overprovisioning": 0.66, "ftl.map_unit_bytes": 1024}
    keys |= {"buffer.bytes": 4096, "buffer.access_ns": 1000, "buffer.protected": True, "buffer.drain": "full", "buffer.timeout_us": 0}
    keys |= {"buffer.reads_pass": passing}
    rows = [*((0, "W", unit * 1024, 1024) for unit in range(4)), (10_000, "W", 4096, 512), (20_000, "R", 4096, 512)]
    rows += [(30_000, "R", 4608, 512), (40_000, "R", 60 * 1024, 1024)]
    found = explained(tmp_path, keys, [*rows, (5_000_000, "R", 60 * 1024, 1024)])
    room = "which waited for a place in the write buffer"
    assert f"It waited 282 us behind an older write (`ssdlab why --request 5` names it), {room}." in told(found[5])
    older = {one.request: one.to_dict().get("older") for one in ssdlab.slow_requests(tmp_path / "out", requests=[4, 5, 6, 7, 8])}
    write = {"request": 4, "kind": "write", "arrival_ns": 10_000}
    assert older == {
        4: None,
        5: write | {"same": "bytes"},
        6: write | {"same": "unit"},
        7: None if passing else write | {"same": ""},
        8: None,
    }
    shown = ssdlab_command("why", "out", "--request", "5")
    assert "the run kept no log to find an older request in; the run is repeated" in shown.err
    assert f"It waited 282 us behind write 4 of the same bytes (10.0 us older), {room}" in " ".join(shown.out.split())


def test_a_write_for_which_the_buffer_waits_for_a_die(tmp_path: Path) -> None:
    """The program that makes room waits for a read: the chain goes on to the operation on the die."""
    keys = {**ONE_DIE, "device.blocks_per_plane": 12, "device.overprovisioning": 0.66, "ftl.map_unit_bytes": 1024}
    keys |= {"buffer.bytes": 4096, "buffer.access_ns": 1000, "buffer.protected": True, "buffer.drain": "full", "buffer.timeout_us": 0}
    rows = [(0, "R", 60 * 1024, 1024), *((1_000, "W", unit * 1024, 1024) for unit in range(4))]
    rows += [(10_000, "W", 4096, 1024), (5_000_000, "R", 60 * 1024, 1024)]
    one = explained(tmp_path, keys, rows)[5]
    read_ends = READ + TRANSFER
    assert shown(one["segments"])[0] == ("buffer_full", 10_000, read_ends + TRANSFER + PROGRAM)
    page = one["pages"][one["segments"][0]["pages"][0]]
    assert shown(page["segments"])[0] == ("host_operation", 1_000, read_ends)
    (behind,) = page["segments"][0]["behind"]
    assert stages(one["operations"][behind["operation"]]) == [("read", 0, READ), ("transfer out", READ, read_ends)]
    assert "it waited 126 us for the die" not in told(one), "the array took longest"


def test_a_write_for_which_two_programs_must_end(tmp_path: Path) -> None:
    """Eight units fill the buffer and two programs, one behind the other. Of five writes at 10 us the first four take the places of one."""
    keys = {**ONE_DIE, "device.blocks_per_plane": 12, "device.overprovisioning": 0.66, "ftl.map_unit_bytes": 1024}
    keys |= {"buffer.bytes": 8192, "buffer.access_ns": 1000, "buffer.protected": True, "buffer.drain": "full", "buffer.timeout_us": 0}
    rows = [*((0, "W", unit * 1024, 1024) for unit in range(8)), *((10_000, "W", unit * 1024, 1024) for unit in range(8, 13))]
    found = explained(tmp_path, keys, [*rows, (5_000_000, "R", 60 * 1024, 1024)])
    program = TRANSFER + PROGRAM
    assert shown(found[11]["segments"]) == [("buffer_full", 10_000, program), ("dram", program, program + 1_000)]
    one = found[12]
    assert shown(one["segments"]) == [("buffer_full", 10_000, 2 * program), ("dram", 2 * program, 2 * program + 1_000)]
    assert (found[11]["segments"][0]["programs"], one["segments"][0]["programs"]) == (1, 2)
    (place,) = one["segments"][0]["pages"]
    page = one["pages"][place]
    assert (page["lpn"], page["cause"]) == (4, "drain")
    assert shown(page["segments"]) == [
        ("host_operation", 0, program),
        ("transfer", program, program + TRANSFER),
        ("array", program + TRANSFER, 2 * program),
    ]
    (behind,) = page["segments"][0]["behind"]
    assert (behind["ns"], one["operations"][behind["operation"]]["lpn"]) == (program, 0)
    words = told(one)
    assert "It waited 595 us for a place in the write buffer." in words
    assert "and ended 595 us after it came (2 programs of the buffer ended during the wait); of its 605 us, it waited 302 us" in words


def test_a_write_to_a_full_cache(tmp_path: Path) -> None:
    """Pages 0 and 1 fill the cache. A read of page 9 at 990 us evicts page 0, a write of page 2 at 1 ms evicts page 1, for which it waits.

    The read takes until 1,117.4 us, the program of page 0 until 1,419.8 us, and then comes that of page 1.
    """
    keys = {**ONE_DIE, "device.blocks_per_plane": 24, "cache.policy": "lru", "cache.bytes": 2 * PAGE, "cache.access_ns": 1000}
    rows = [(0, "W", 0, PAGE), (0, "W", PAGE, PAGE), (990_000, "R", 9 * PAGE, PAGE), (1_000_000, "W", 2 * PAGE, PAGE)]
    found = explained(tmp_path, keys, rows)
    read, one = found[2], found[3]
    read_ends = 990_000 + READ + TRANSFER
    assert shown(read["segments"]) == [
        ("array", 990_000, 990_000 + READ),
        ("transfer", 990_000 + READ, read_ends),
        ("dram", read_ends, read_ends + 1_000),
    ]
    begin = read_ends + TRANSFER + PROGRAM
    assert shown(one["segments"]) == [
        ("host_operation", 1_000_000, begin),
        ("transfer", begin, begin + TRANSFER),
        ("array", begin + TRANSFER, begin + TRANSFER + PROGRAM),
        ("dram", begin + TRANSFER + PROGRAM, begin + TRANSFER + PROGRAM + 1_000),
    ]
    behind = [(entry["ns"], one["operations"][entry["operation"]]) for entry in one["segments"][0]["behind"]]
    assert [(ns, operation["cause"], operation["lpn"]) for ns, operation in behind] == [(302_400, "destage", 0), (117_400, "fetch", 9)]
    own = one["operations"][one["segments"][1]["by"]]
    assert (own["cause"], own["lpn"]) == ("destage", 1)
    assert "302 us for the program of page 0 in block " in told(one)
    assert "on die 0 for a cache that destages (begun 117 us later); 117 us for the read of page 9 in block 2" in told(one)


def test_an_update_that_waits_for_its_stripe(tmp_path: Path) -> None:
    """Three drives, stripes of a page on each. A second update of a stripe waits for the first.

    An update reads the other page of its stripe, 127.4 us, then writes page and parity, 302.4 us. The second comes at 100 us.
    """
    keys = {**ONE_DIE, "device.blocks_per_plane": 24, "array.level": "rais5", "array.drives": 3, "array.stripe_kb": 4}
    found = explained(tmp_path, keys, [(0, "W", 0, PAGE), (100_000, "W", PAGE, PAGE), (9_000_000, "R", 0, PAGE)])
    read, program = READ + TRANSFER, TRANSFER + PROGRAM
    first, one = found[0], found[1]
    end = read + program
    assert shown(first["segments"]) == [
        ("array", 0, READ),
        ("transfer", READ, read),
        ("transfer", read, read + TRANSFER),
        ("array", read + TRANSFER, end),
    ]
    assert shown(one["segments"]) == [
        ("stripe_lock", 100_000, end),
        ("array", end, end + READ),
        ("transfer", end + READ, end + read),
        ("transfer", end + read, end + read + TRANSFER),
        ("array", end + read + TRANSFER, 2 * end),
    ]
    assert one["drives"] == 3
    # parity is on drive 2; the first page of the stripe on drive 0
    ended = [(page["drive"], page.get("cause"), page["request"], page["from_ns"], page["to_ns"]) for page in one["pages"]]
    assert sorted(ended) == [(0, None, 0, read, end), (2, "parity", 0, read, end)]
    steps = [(segment["drive"], one["operations"][segment["by"]].get("cause")) for segment in one["segments"][1:]]
    assert steps == [(0, "update"), (0, "update"), (2, "parity"), (2, "parity")]
    words = told(one)
    assert "It waited 330 us for an earlier update of the same stripe." in words
    assert "on die 0 of drive 2 for parity, asked for 27.4 us after the request came" in words
    lines = why.timeline(why.explained_from(one, "request")).splitlines()
    assert any(line.startswith("drive 2 die 0: program page 0") for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_miss_of_the_mapping_cache(tmp_path: Path) -> None:
    """A read first reads its translation page, 127.4 us, then its own."""
    keys = {**ONE_DIE, "device.blocks_per_plane": 32, "ftl.map_cache_bytes": 2 * PAGE, "ftl.map_entry_bytes": 512}
    one = explained(tmp_path, keys, [(0, "R", 5 * PAGE, PAGE)])[0]
    assert shown(one["segments"]) == [
        ("translation_page", 0, 127_400),
        ("array", 127_400, 152_400),
        ("transfer", 152_400, 254_800),
    ]
    page = one["pages"][one["segments"][0]["pages"][0]]
    assert (page["cause"], page["request"], page["from_ns"], page["to_ns"]) == ("map_read", 0, 0, 127_400)
    assert shown(page["segments"]) == [("array", 0, READ), ("transfer", READ, READ + TRANSFER)]
    assert "for its part of the mapping table" in told(one)


def test_equally_slow_requests_are_in_order_of_arrival_and_the_warm_up_is_left_out(tmp_path: Path) -> None:
    rows = [(index * 1_000_000, "R", index * PAGE, PAGE) for index in range(6)]
    assert list(explained(tmp_path, ONE_DIE, rows)) == [0, 1, 2, 3, 4, 5]
    assert list(explained(tmp_path, ONE_DIE, rows, warm_up=2)) == [2, 3, 4, 5]


RUNS = [
    ("lee2013", "fpgc", "lee2013-synthetic", {}),
    ("lee2013", "pgc", "lee2013-synthetic", {}),
    ("lee2013", "npgc", "openmail-like", {}),
    ("ae2022", "bbgc", "mysql-like", {}),
    ("elyasi2017", "slacker", "fin1-like", {}),
    ("nvme-4g", "nvme", "uniform-4k-write", {"buffer.bytes": 1 << 18}),
    ("nvme-4g", "nvme", "fio-randread", {"ftl.map_cache_bytes": 1 << 20}),
    ("lee2013", "npgc", "lee2013-synthetic", {"array.level": "rais5", "array.drives": 4}),
    ("lee2013", "npgc", "lee2013-synthetic", {"array.level": "rais5", "array.drives": 4, "array.degraded": 1}),
    ("lee2013", "fpgc", "lee2013-synthetic", {"workload.interarrival_us": 20}),
    ("wu2017", "gcar-lru", "wu2017-financial1-like", {}),
    ("wu2017", "gcar-lru", "wu2017-prn_0-like", {"array.level": "rais5", "array.drives": 4}),
    ("wu2017", "fab", "wu2017-hm_0-like", {}),
    ("nvme-4g", "nvme", "uniform-4k-write", {"cache.policy": "lru", "cache.bytes": 1 << 20, "buffer.bytes": 1 << 17}),
    ("nvme-4g", "nvme", "uniform-4k-write", {"array.level": "rais5", "array.drives": 4, "buffer.bytes": 1 << 17}),
]
"""Device, scheme, workload and keys of runs with 125 slow requests each."""


@pytest.mark.parametrize(("device", "scheme", "workload", "keys"), RUNS)
def test_names_are_those_of_the_timeline(tmp_path: Path, device: str, scheme: str, workload: str, keys: dict[str, Any]) -> None:
    """1,875 slow requests: parts add up, and each named operation is in the timeline with the same stages."""
    options: dict[str, Any] = {
        "device": device,
        "scheme": scheme,
        "workload": workload,
        "requests": 4_000 if FULL else 1_000,
        "set": keys,
        "seed": 7,
    }
    timeline = tmp_path / "timeline.json"
    both = ssdlab.run(**options, out=tmp_path / "out", slowest=125, timeline=timeline, timeline_limit=10_000_000)
    assert not both.timeline.full
    text = (tmp_path / "out" / "slowest.json").read_text()
    found = json.loads(text)["slowest"]
    assert len(found) == 125
    check_sums(found)
    assert found[0]["response_ns"] == both.latency["all"]["max"]
    there = slices(json.loads(timeline.read_text())["traceEvents"])
    named = 0
    for one in found:
        for operation in one["operations"]:
            for stage in operation["stages"]:
                key = (operation["drive"], operation["die"], stage["name"], stage["from_ns"], stage["to_ns"])
                assert key in there
                args = there[key]
                assert args.get("job") == operation.get("job")
                if operation["pages"] == 1:
                    assert pages_of(args, "ppn") == pages_of(operation, "ppn")
                named += 1
        for job in one["jobs"]:
            # the timeline cuts a job that has not ended
            expected = {"to_ns": both.simulated_ns, **job}
            assert there[job["drive"], "job", job["job"]].items() <= expected.items()
        assert len(told(one)) < MOST_LETTERS
        assert why.timeline(why.explained_from(one, "request"))
    assert named > (100 if FULL else 25)
    # another run without the ring has the same response times; a second one with it explains the same
    assert ssdlab.run(**options).digest == both.digest
    ssdlab.run(**options, out=tmp_path / "again", slowest=125)
    assert (tmp_path / "again" / "slowest.json").read_text() == text


@pytest.mark.parametrize(
    ("device", "scheme", "workload", "keys"), [run for run in RUNS if run[0] != "nvme-4g" or "array.level" not in run[3]]
)
def test_long_waits_name_what_they_were_for(tmp_path: Path, device: str, scheme: str, workload: str, keys: dict[str, Any]) -> None:
    """A wait of 2 % of the response time names operations, jobs or pages, except for cores and the link; so does one in no known order.

    Drives of an array that have host interfaces are left out: the order of their parts is not recorded.
    """
    ssdlab.run(device=device, scheme=scheme, workload=workload, requests=4_000, set=keys, seed=7, out=tmp_path / "out", slowest=60)
    found = json.loads((tmp_path / "out" / "slowest.json").read_text())["slowest"]
    long = [segment for one in found for segment in one["segments"] if 50 * (segment["to_ns"] - segment["from_ns"]) >= one["response_ns"]]
    waits = [one for one in long if one["shares"][0]["waits"] and one["shares"][0]["what"] not in ("core", "link", "slot", "queue")]
    nameless = [one for one in waits if not any(one.get(kind) for kind in ("behind", "jobs", "pages"))]
    assert len(waits) >= 60
    # a read that a buffered or merged page answers waits for no flash operation of its own
    assert len(nameless) <= len(waits) // 100
    mixed = [one for one in waits if len(one["shares"]) > 1]
    assert len(mixed) <= len(waits) // 20, "the order is known"


def pages_of(args: Mapping[str, Any], key: str) -> list[int]:
    """An argument of a slice, which is a list for several pages."""
    value = args.get(key)
    return list(value) if isinstance(value, list) else [value] if value is not None else []


def slices(events: Sequence[Mapping[str, Any]]) -> dict[Any, Any]:
    """Slices of dies by drive, die, name, start and end; jobs by drive and number."""
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    found: dict[Any, Any] = {}
    for event in events:
        if event["ph"] != "X" or event["pid"] < 2:
            continue
        drive, process = divmod(event["pid"], 10)
        start = round(event["ts"] * 1000)
        end = start + round(event["dur"] * 1000)
        if process == 2:
            die = int(names[event["tid"]].split(",")[0].removeprefix("die "))
            found[drive, die, event["name"], start, end] = event["args"]
        elif process == 4:
            args = event["args"]
            job = {"victim": args["victim"], "valid_pages": args["valid_pages"], "from_ns": start, "to_ns": end}
            found[drive, "job", args["job"]] = job
    return found


def test_what_has_left_the_ring_is_said(tmp_path: Path) -> None:
    """A ring of 4,096 stages is too short for requests that wait behind a thousand others."""
    setup = Setup(device="demo-4g", workload="uniform-4k-write", series=False, requests=8_000, set=(("workload.queue_depth", "4000"),))
    file = tmp_path / "slowest.json"
    plan = setup.plan("pgc", slowest=Slowest(file, 20, (), 1))
    ((text,), _) = _core.run_many([plan])
    found = json.loads(file.read_text())
    assert found["digest"] == json.loads(text)["digest"]
    check_sums(found["slowest"])
    short = [one for one in found["slowest"] if "known_from_ns" in one]
    assert short
    assert "have left the ring of recent operations" in told(short[0])


def test_requests_by_number_repeat_the_run(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    run = ("run", "--device", "demo-4g", "--scheme", "pgc", "--workload", "lee2013-synthetic", "--requests", "3000")
    ssdlab_command(*run, "--out", "out", "--slowest", "4", "--quiet")
    shown = ssdlab_command("why", "out")
    assert not shown.err
    kept = json.loads((tmp_path / "out" / "slowest.json").read_text())["slowest"]
    assert len(kept) == 4
    assert all(f"{one['request']:,}" in shown.out for one in kept)
    again = ssdlab_command("why", "out", "--slowest", "6", "--json")
    more = json.loads(again.out)
    assert more["repeated"]
    assert [{key: value for key, value in one.items() if key != "paragraph"} for one in more["requests"][:4]] == kept
    (five,) = json.loads(ssdlab_command("why", "out", "--request", "5", "--json").out)["requests"]
    assert five["request"] == 5
    said = ssdlab_command("why", "out", "--request", "5")
    assert "these requests are not among those that the run kept; the run is repeated" in said.err
    first = ssdlab_command("why", "out", "--request", str(kept[0]["request"]))
    assert not first.err
    assert f"Request {kept[0]['request']:,}, a " in first.out
    ssdlab_command(*run, "--out", "none", "--slowest", "0", "--quiet")
    assert not (tmp_path / "none" / "slowest.json").exists()
    assert "the run kept no requests; the run is repeated" in ssdlab_command("why", "none", "--slowest", "1").err


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that kept its slowest requests, with waits of many kinds."""
    out = tmp_path_factory.mktemp("kept") / "out"
    keys = {"buffer.bytes": 1 << 18}
    ssdlab.run(device="nvme-4g", scheme="nvme", workload="uniform-4k-write", requests=3_000, set=keys, out=out, slowest=3)
    return out


DAMAGES = {
    "asked": (["asked"], 5, "asked: expected a list"),
    "a request": (["slowest", 1], 7, "slowest[1]: expected an object, found 7"),
    "its segments": (["slowest", 0, "segments"], None, "slowest[0].segments: missing"),
    "a text for a number": (
        ["slowest", 0, "response_ns"],
        "long",
        "slowest[0].response_ns: expected a whole number from 0 on, found 'long'",
    ),
    "a negative number": (
        ["slowest", 2, "segments", 0, "from_ns"],
        -1,
        "slowest[2].segments[0].from_ns: expected a whole number from 0 on",
    ),
    "another time": (["slowest", 0, "segments", 0, "from_ns"], 0, "slowest[0].segments[0]: it does not follow the one before it"),
    "no segments": (["slowest", 0, "segments"], [], "slowest[0].segments: they do not add up to the time"),
    "an unknown reason": (["slowest", 0, "segments", 0, "shares", 0, "what"], "luck", "no reason or resource is named 'luck'"),
    "a far operation": (["slowest", 0, "operations"], [], "slowest[0].operations: it has 0 entries, and number "),
    "a truth for a number": (["slowest", 0, "drives"], True, "slowest[0].drives: expected a whole number from 0 on, found True"),
}
"""Damages of the file by name: where, the value there (`None`: none), and what is said."""


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_one_line(tmp_path: Path, kept_run: Path, ssdlab_command: Ssdlab, name: str) -> None:
    place, value, message = DAMAGES[name]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "result.json").write_bytes((kept_run / "result.json").read_bytes())
    data = json.loads((kept_run / "slowest.json").read_text())
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    if value is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    (tmp_path / "out" / "slowest.json").write_text(json.dumps(data))
    line = ssdlab_command("why", "out").failed(2)
    assert line.startswith("out/slowest.json: damaged, or of another version: ")
    assert message in line
    assert line.endswith("; run it again")
    # the page leaves the table out
    ssdlab_command("report", "out")
    assert 'id="late"' not in (tmp_path / "out" / "report.html").read_text()


def test_a_file_that_was_changed_at_random_is_one_line_or_as_it_was(tmp_path: Path, kept_run: Path) -> None:
    """Each of 300 entries is left out, or becomes another value: nothing but an error of ssdlab comes of it."""
    draw = random.Random(5)
    text = (kept_run / "slowest.json").read_text()
    digest = json.loads(text)["digest"]
    file = tmp_path / "slowest.json"
    lines: list[str] = []
    for _ in range(300):
        data = json.loads(text)
        inner, place = data, "slowest"
        while isinstance(inner[place], dict | list) and inner[place] and draw.random() < 0.85:
            inner = inner[place]
            place = draw.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        if isinstance(inner, dict) and draw.random() < 0.3:
            del inner[place]
        else:
            inner[place] = draw.choice([-1, 0, 3, 1 << 70, 2.5, "x", None, True, [], {}, [1], {"what": "x"}])
        file.write_text(json.dumps(data))
        try:
            found = why.read_slowest(file, digest)
        except UsageError as error:
            lines += [str(error)]
            continue
        assert all(why.paragraph(one) and why.timeline(one) for one in (*found.slowest, *found.asked))
    assert len(lines) > 200
    assert [line for line in lines if "\n" in line or not line.endswith("run it again")] == []
    file.write_text(text[: len(text) // 2])
    with pytest.raises(UsageError, match="not JSON"):
        why.read_slowest(file, digest)


OURS = """
import numpy as np


class Fewest:
    def __call__(self, candidates):
        return int(candidates.blocks[np.asarray(candidates.valid_pages).argmin()])


def first(choices):
    return 0
"""


def test_runs_with_policies_in_files_are_repeated(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "ours.py").write_text(OURS)
    run = ("run", "--device", "demo-4g", "--scheme", "pgc", "--workload", "lee2013-synthetic", "--requests", "500", "--quiet")
    ssdlab_command(*run, "--victim", "ours.py:Fewest", "--order", "ours.py:first", "--out", "out", "--slowest", "2")
    kept = json.loads(ssdlab_command("why", "out", "--json").out)
    again = json.loads(ssdlab_command("why", "out", "--slowest", "3", "--json").out)
    assert (kept["repeated"], again["repeated"], len(again["requests"])) == (False, True, 3)
    assert again["requests"][:2] == kept["requests"]
    (tmp_path / "ours.py").rename(tmp_path / "theirs.py")
    line = ssdlab_command("why", "out", "--slowest", "3", "--json").failed(2)
    assert line.startswith('out: the run must be repeated, and cannot be: victim = "ours.py:Fewest": cannot read ours.py: No such file')
    assert "as seen from the folder where it was begun" in line
    assert json.loads(ssdlab_command("why", "out", "--json").out) == kept, "what was kept needs no policy"
    (tmp_path / "ours.py").write_text(OURS.replace("argmin", "argmax"))
    assert "came out differently" in ssdlab_command("why", "out", "--slowest", "3", "--json").failed(2)
    ssdlab.run(device="demo-4g", scheme="pgc", requests=500, victim=lambda candidates: int(candidates.blocks[0]), out=tmp_path / "own")
    with pytest.raises(UsageError, match=r"its command is not known \(it used a policy that is not in a file"):
        ssdlab.slow_requests(tmp_path / "own", requests=[3])


def test_slow_requests_are_records_in_python(tmp_path: Path, kept_run: Path, ssdlab_command: Ssdlab) -> None:
    found = ssdlab.slow_requests(kept_run)
    assert (len(found), found.repeated, found.folder) == (3, False, kept_run)
    assert found.to_dict() == json.loads(ssdlab_command("why", str(kept_run), "--json").out)
    table = found.table()
    assert table.column_names == ["request", "kind", "offset_bytes", "size_bytes", "arrival_ns", "response_ns", "blocked_by", "paragraph"]
    assert table["response_ns"].to_pylist() == sorted((one.response_ns for one in found), reverse=True)
    one = found[0]
    assert one.blocked_by == "buffer_full"
    assert sum(segment.ns for segment in one.explained.segments) == one.response_ns
    assert str(one) == f"{one.paragraph}\n\n{one.timeline}"
    # in the order in which they are named
    numbers = [one.request for one in ssdlab.slow_requests(kept_run, requests=[found[2].request, found[0].request])]
    assert numbers == [found[2].request, found[0].request]
    again = ssdlab.slow_requests(kept_run, requests=[17])
    assert (again.repeated, again[0].request) == (True, 17)
    for wrong, message in (
        ({"count": 2, "requests": [3]}, "give one of them"),
        ({"count": 0}, "expected a whole number from 1"),
        ({"requests": ["3"]}, "expected a whole number from 0"),
        ({"requests": [3_000]}, "the run had 3,000 requests, numbered from 0"),
        ({"of": 3}, "expected a text"),
    ):
        with pytest.raises(UsageError, match=message):
            ssdlab.slow_requests(kept_run, **wrong)


def test_a_kind_is_chosen_among_those_kept_or_all_of_the_log(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    """Reads of 4, 8 and 16 KiB among writes, each alone on an idle drive, so that longer ones are slower and writes slowest."""
    rows = ["0,W,0,16384", "20000,R,0,4096", "40000,R,0,8192", "60000,W,0,16384", "80000,R,0,16384", "100000,W,0,8192"]
    (tmp_path / "t.csv").write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *rows, ""]))

    def folder(name: str, **options: Any) -> Path:
        ssdlab.run(trace=tmp_path / "t.csv", set={**ONE_DIE, "device.blocks_per_plane": 24}, out=tmp_path / name, **options)
        return tmp_path / name

    def numbers(place: Path, kind: str, count: int | None = None) -> tuple[list[int], bool]:
        found = ssdlab.slow_requests(place, kind=kind, count=count)
        return [one.request for one in found], found.repeated

    every, few, log = folder("every", slowest=6), folder("few", slowest=3), folder("log", slowest=3, log_requests=True)
    assert numbers(every, "read") == numbers(every, "read", 5) == ([4, 2, 1], False), "of 16, 8 and 4 KiB"
    assert numbers(every, "read", 2) == ([4, 2], False)
    assert numbers(every, "all")[0] == [0, 3, 5, 4, 2, 1]
    assert numbers(few, "write", 2) == ([0, 3], False)
    assert numbers(log, "read", 2) == ([4, 2], True), "the three that were kept are writes"
    assert numbers(few, "read") == ([4, 2, 1], True), "found by repeating the run with a log"
    four = folder("four", slowest=4)
    assert numbers(four, "read") == ([4], False)
    ended = ssdlab_command("why", str(four), "--kind", "read", "--slowest", "2")
    assert "the run kept no log of its requests to find these; the run is repeated" in ended.err
    assert [line.split(",")[0] for line in ended.out.splitlines() if line.startswith("Request")] == ["Request 4", "Request 2"]
    of_none = json.loads((few / "result.json").read_text()) | {"command": ""}
    (few / "result.json").write_text(json.dumps(of_none))
    assert "run it again with a larger slowest (--slowest) and log_requests" in ssdlab_command("why", str(few), "--kind", "read").failed(2)
    for wrong, message in (({"kind": "trim"}, "expected read, write or all"), ({"kind": "read", "requests": [1]}, "give one of them")):
        with pytest.raises(UsageError, match=message):
            ssdlab.slow_requests(few, **wrong)
    (log / "requests.parquet").write_bytes(b"none")
    with pytest.raises(UsageError, match="not a log of requests, or damaged"):
        ssdlab.slow_requests(log, kind="read")


PERCENTILES = {"p50": 10, "p90": 18, "p95": 19, "p99.9": 20, "p0.1": 1, "p25": 5}
"""Rank, from the fastest, of the percentile of 20 requests: 20 p rounded up."""


def test_requests_at_a_percentile_are_those_next_to_its_rank(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    """Read number n of the trace, alone on an idle drive, is of n pages, so that its rank is n; request 0 prepares and is no read."""
    pages = 24
    rows = [f"0,W,0,{PAGE * pages}", *(f"{100_000 * count},R,0,{PAGE * count}" for count in range(1, 21)), f"9000000,W,0,{PAGE * pages}"]
    (tmp_path / "t.csv").write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *rows, ""]))

    def run(name: str, **options: Any) -> ssdlab.Result:
        keys = {**ONE_DIE, "device.blocks_per_plane": 24}
        return ssdlab.run(trace=tmp_path / "t.csv", set=keys, out=tmp_path / name, slowest=2, **options)

    result = run("log", log_requests=True)
    for at, rank in PERCENTILES.items():
        found = ssdlab.slow_requests(tmp_path / "log", at=at, kind="read")
        numbers = [one.request for one in found]
        assert numbers[0] == rank, at
        assert sorted(numbers) == list(range(min(max(rank - 2, 1), 16), min(max(rank - 2, 1), 16) + 5)), "five in a row"
    near = ssdlab.slow_requests(tmp_path / "log", at="p50", kind="read")[0]
    assert near.response_ns <= result.latency.read.p50 <= near.response_ns * 1.001, "the percentile of the result"
    # writes are slowest: of 22 requests the 20th in rank is the last read
    assert ssdlab.slow_requests(tmp_path / "log", at="p90")[0].request == 20
    assert ssdlab.slow_requests(tmp_path / "log", at="p99")[0].kind == "write"
    said = ssdlab_command("why", "log", "--at", "p99.9", "--kind", "read").out
    assert "Request 20, a read" in said
    # measured are six reads and a write, of which the fourth is request 18
    run("warm", log_requests=True, warm_up=15)
    assert sorted(one.request for one in ssdlab.slow_requests(tmp_path / "warm", at="p50")) == [16, 17, 18, 19, 20]
    assert [one.request for one in ssdlab.slow_requests(tmp_path / "warm", at="p50", kind="write")] == [21]
    run("bare")
    again, logged = (ssdlab.slow_requests(tmp_path / name, at="p90", kind="read") for name in ("bare", "log"))
    assert ([one.request for one in again], again.repeated) == ([one.request for one in logged], True)
    for at in ("99", "p0", "p100", "p99,9", "worst", "p1.1234567"):
        with pytest.raises(UsageError, match=r"expected a percentile above p0 and below p100, such as p99\.9"):
            ssdlab.slow_requests(tmp_path / "log", at=at)
    for wrong in ({"count": 3}, {"requests": [1]}):
        with pytest.raises(UsageError, match=r"at \(--at\) stands alone"):
            ssdlab.slow_requests(tmp_path / "log", at="p50", **wrong)


def test_a_long_chain_of_waits_is_summarised(tmp_path: Path) -> None:
    """Operations of others go between: the sentence has the first wait, the longest others and the sum of the rest."""
    ssdlab.run(device="elyasi2017", scheme="slacker", workload="fin1-like", requests=4_000, seed=7, out=tmp_path / "out", slowest=5)
    for one in ssdlab.slow_requests(tmp_path / "out"):
        waits = [segment for segment in one.explained.segments if segment.shares[0].what == "host_operation"]
        assert len(waits) > 5
        total, first = sum(segment.ns for segment in waits), waits[0].ns
        longest = sorted((segment.ns for segment in waits[1:]), reverse=True)[:2]
        left = duration(total - first - sum(longest))
        assert f"It waited {duration(total)} for the die, which served the host, in {len(waits)} stretches: first " in one.paragraph
        assert f"; and {len(waits) - 3} more, {left} together." in one.paragraph


def test_wrong_use_is_one_line(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    run = ("run", "--device", "demo-4g", "--scheme", "pgc", "--workload", "lee2013-synthetic", "--requests", "500")
    ssdlab_command(*run, "--out", "out", "--quiet")

    def refused(*words: str) -> str:
        ended = ssdlab_command("why", *words)
        assert len(ended.err.splitlines()) == 1
        return ended.err

    assert "request 500: the run had 500 requests, numbered from 0" in refused("out", "--request", "500")
    assert "give one of them" in refused("out", "--request", "5", "--slowest", "3")
    assert "neither result.json nor comparison.json is here" in refused("elsewhere")
    file = tmp_path / "out" / "slowest.json"
    text = file.read_text()
    file.write_text(text.replace('"digest":"', '"digest":"0'))
    assert "it belongs to another run than the result beside it" in refused("out")
    file.write_text("[]")
    assert "not a file of slowest requests" in refused("out")
    compared = ("compare", "--device", "demo-4g", "--scheme", "pgc", "--scheme", "npgc", "--workload", "lee2013-synthetic")
    ssdlab_command(*compared, "--requests", "500", "--out", "both", "--quiet")
    known = "there are pgc; npgc"
    assert f"both: it has 2 runs: name one, such as --of 'pgc' ({known})" in refused("both")
    assert f'"ngpc": both has no such run; did you mean "npgc"? ({known})' in refused("both", "--of", "ngpc")
    assert '"pgc": elsewhere' not in refused("elsewhere", "--of", "pgc")
    assert '"pgc": out has a single run: leave --of out' in refused("out", "--of", "pgc")
    with pytest.raises(UsageError, match="expected at most 10000 requests"):
        ssdlab.run(device="demo-4g", workload="lee2013-synthetic", requests=500, out=tmp_path / "many", slowest=20_000)


COMPARED = ("compare", "--device", "demo-4g", "--scheme", "pgc", "--scheme", "npgc", "--workload", "lee2013-synthetic")


def test_each_run_of_a_comparison_keeps_its_slowest_requests(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    one = (*COMPARED[:3], "--scheme", "npgc", *COMPARED[7:], "--requests", "500", "--slowest", "3", "--quiet")
    ssdlab_command("run", *one[1:], "--out", "one")
    ssdlab_command(*COMPARED, "--requests", "500", "--slowest", "3", "--seeds", "2", "--out", "both", "--quiet")
    ended = ssdlab_command("why", "both", "--of", "npgc", "--json")
    assert ended.err == "", "nothing is repeated"
    found = json.loads(ended.out)
    assert (found["repeated"], len(found["requests"])) == (False, 3)
    assert found["requests"] == json.loads(ssdlab_command("why", "one", "--json").out)["requests"]
    assert found == json.loads(ssdlab_command("why", "both/npgc", "--json").out)
    assert not (tmp_path / "both" / "npgc" / "seed-2" / "slowest.json").exists()
    ssdlab_command(*COMPARED, "--requests", "500", "--slowest", "0", "--out", "both", "--quiet")
    assert not list((tmp_path / "both").rglob("slowest.json")), "that of the runs before is gone"


def test_a_point_of_a_sweep_is_named_by_its_values(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    ssdlab.sweep({"scheme": ["npgc", "pgc"]}, device="demo-4g", workload="lee2013-synthetic", requests=300, out=tmp_path / "s")
    by_label, by_folder = (ssdlab_command("why", "s", "--of", name, "--slowest", "2", "--json") for name in ("scheme = pgc", "scheme=pgc"))
    assert by_label.out == by_folder.out
    found = json.loads(by_label.out)
    assert (found["repeated"], len(found["requests"])) == (True, 2)
    reads = json.loads(ssdlab_command("why", "s", "--of", "scheme = pgc", "--slowest", "2", "--kind", "read", "--json").out)["requests"]
    assert [one["kind"] for one in reads] == ["read", "read"]
    assert "s: it has 2 runs: name one, such as --of 'scheme = npgc'" in ssdlab_command("why", "s").failed(2)


def test_the_page_of_a_run_has_the_slowest_requests(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    """A row for each, with its words and its timeline; a page elsewhere has them too, and one of another run has none."""
    run = ("run", "--device", "demo-4g", "--scheme", "pgc", "--workload", "lee2013-synthetic", "--requests", "3000", "--quiet")
    ssdlab_command(*run, "--out", "out", "--slowest", "3")
    found = json.loads((tmp_path / "out" / "slowest.json").read_text())["slowest"]
    config = json.loads((tmp_path / "out" / "result.json").read_text())["config"]
    ssdlab_command("report", "out", "--out", "elsewhere.html")
    for page in ("out/report.html", "elsewhere.html"):
        text = (tmp_path / page).read_text()
        assert text.count('<details id="late-') == 3
        assert '<a href="#late">' in text
        for one in found:
            assert html.escape(told(one, config)) in text
            assert f'<span class="label" title="request {one["request"]:,}">' in text
    ssdlab_command(*run, "--seed", "5", "--out", "other", "--slowest", "0")
    (tmp_path / "other" / "slowest.json").write_bytes((tmp_path / "out" / "slowest.json").read_bytes())
    ssdlab_command("report", "other")
    assert 'id="late"' not in (tmp_path / "other" / "report.html").read_text()


@pytest.mark.parametrize("link", [0, 200])
def test_writes_that_wait_for_their_rate_are_explained(link: int, tmp_path: Path) -> None:
    """Reads of the same bytes wait behind them."""
    keys = {"host.write_bytes_per_us": 50, "host.link_bytes_per_us": link, "workload.queue_depth": 8, "workload.read_share": 0.3}
    drive = {key: value for key, value in SMALL.items() if not key.startswith("workload.")}
    ssdlab.run(set={**drive, **keys}, requests=500, out=tmp_path)
    slowest = json.loads((tmp_path / "slowest.json").read_text())
    shares = [share["what"] for request in slowest["slowest"] for part in request["segments"] for share in part["shares"]]
    assert "write_rate" in shares
