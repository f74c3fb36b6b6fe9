"""The requests of fio's jobs against those that fio itself issues: kinds, sizes and addresses.

`tests/data/fio-requests.json` has what fio 3.33 issued for each job, as counts. With fio installed,
`UPDATE=1 pytest tests/test_fio_requests.py` writes it again. Where fio is installed, a test compares its requests with those that are kept.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import PATIENCE_S, ROOT
from server import Server

Requests = Sequence[tuple[str, int, int]]
"""Kind, offset and size of each request."""

KEPT = ROOT / "tests" / "data" / "fio-requests.json"
BLOCK = 4096
DRAWS = "size=4000k\nio_size=160m\n"

EXACT = {
    "write": "rw=write\nbs=16k\nsize=40k\nio_size=96k",
    "read": "rw=read\nbs=4k\nsize=66k\nloops=2",
    "trim": "rw=trim\nbs=8k\nsize=64k\noffset=64k",
    "trimwrite": "rw=trimwrite\nbs=4k\nsize=64k",
    "copies": "rw=write\nbs=4k\nsize=32k\nnumjobs=3\noffset_increment=64k",
}
"""Jobs whose requests are the same one by one."""
PASSES = {
    "loops": "rw=randwrite\nbs=4k\nsize=256k\nloops=3",
    "io_size": "rw=randread\nbs=8k\nsize=256k\nio_size=768k",
    "new orders": "rw=randwrite\nbs=4k\nsize=256k\nio_size=768k\nrandrepeat=0",
    "randtrim": "rw=randtrim\nbs=4k\nsize=66k",
    "randrw": "rw=randrw\nrwmixread=30\nbs=4k\nsize=16m",
}
"""Jobs with the random map: each block once a pass."""
DRAWN = {
    "uniform": f"rw=randwrite\nnorandommap\n{DRAWS}",
    "zipf 1.2": f"rw=randwrite\nrandom_distribution=zipf:1.2\n{DRAWS}",
    "zipf 0.8": f"rw=randread\nrandom_distribution=zipf:0.8\n{DRAWS}",
    "pareto": f"rw=randwrite\nrandom_distribution=pareto:0.2\n{DRAWS}",
    "normal": f"rw=randwrite\nrandom_distribution=normal:10\n{DRAWS}",
    "normal without deviation": f"rw=randwrite\nrandom_distribution=normal\n{DRAWS}",
    "zoned": f"rw=randwrite\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\n{DRAWS}",
    "zoned in part": f"rw=randwrite\nrandom_distribution=zoned:60/10:40/20\n{DRAWS}",
    "zoned_abs": f"rw=randwrite\nrandom_distribution=zoned_abs:60/400k:30/800k:10/2m\n{DRAWS}",
    "bssplit": "rw=randwrite\nbssplit=4k/50:8k/30:32k/20\nnorandommap\nsize=256m",
    "bsrange": "rw=randread\nbsrange=4k-18k\nnorandommap\nsize=256m",
    "sizes by direction": "rw=randrw\nbs=4k,8k\nrwmixread=70\nnorandommap\nsize=128m",
    "mixed in a row": "rw=rw\nbs=4k\nrwmixread=70\nsize=64m",
    "percentage_random": "rw=randwrite\nbs=4k\nnorandommap\npercentage_random=40\nsize=64m",
}
"""Jobs that draw."""
JOBS = {**EXACT, **PASSES, **DRAWN}
DISTRIBUTIONS = [name for name, text in DRAWN.items() if DRAWS in text]
HASHED = ("zipf", "pareto", "normal")
"""Distributions that are scattered from an offset of the seed, so that only the counts of blocks by size can be compared."""
SIGMAS = 5


def job_file(folder: Path, text: str) -> Path:
    file = folder / "job.fio"
    file.write_text(f"[job]\nioengine=null\nfilename=drive\nwrite_iolog={folder / 'log'}\n{text}\n")
    return file


def by_fio(folder: Path, text: str) -> Requests:
    subprocess.run(["fio", str(job_file(folder, text))], cwd=folder, check=True, capture_output=True)
    # fio appends a number to the log of each further copy of a job
    words = [line.split() for log in sorted(folder.glob("log*")) for line in log.read_text().splitlines()]
    return [(kind, int(offset), int(size)) for _, _, kind, offset, size in (line for line in words if len(line) == 5)]


def by_ssdlab(folder: Path, text: str) -> Requests:
    rows = ssdlab.run(device="demo-4g", fio=job_file(folder, text), log_requests=True).requests
    return list(zip(rows["kind"].to_pylist(), rows["offset_bytes"].to_pylist(), rows["size_bytes"].to_pylist(), strict=True))


def summary(name: str, requests: Requests) -> dict[str, Any]:
    """What is kept of the requests of a job, as JSON has it."""
    if name in EXACT:
        return {"requests": sorted(requests) if name == "copies" else list(requests)}
    if name in PASSES:
        return {"offsets": [offset for _, offset, _ in requests][:200], "kinds": Counter(kind for kind, _, _ in requests)}
    blocks = Counter(offset // BLOCK for _, offset, _ in requests)
    ends: dict[str, int] = {}
    in_row = 0
    for kind, offset, size in requests:
        in_row += ends.get(kind) == offset
        ends[kind] = offset + size
    return {
        "count": len(requests),
        "kinds": Counter(kind for kind, _, _ in requests),
        "sizes": Counter(f"{kind} {size}" for kind, _, size in requests),
        "misaligned": sum(offset % BLOCK > 0 for _, offset, _ in requests),
        "in_row": in_row,
        **({"blocks": [blocks[block] for block in range(1000)]} if name in DISTRIBUTIONS else {}),
    }


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text())
    return found


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def agree(what: str, count: int, of: int, other: int, other_of: int) -> None:
    """Two counts of independent draws have one probability."""
    share = (count + other) / (of + other_of)
    deviation = math.sqrt(share * (1 - share) * (1 / of + 1 / other_of))
    assert abs(count / of - other / other_of) <= SIGMAS * deviation + 1e-9, f"{what}: {count} of {of} against {other} of {other_of}"


@pytest.mark.parametrize("name", EXACT)
def test_requests_are_those_of_fio_one_by_one(name: str, tmp_path: Path) -> None:
    assert plain(summary(name, by_ssdlab(tmp_path, EXACT[name]))) == kept()[name]


@pytest.mark.parametrize("name", PASSES)
def test_the_random_map_has_each_block_once_a_pass_as_fio(name: str, tmp_path: Path) -> None:
    requests = by_ssdlab(tmp_path, PASSES[name])
    size = requests[0][2]
    blocks = {"randtrim": 16, "randrw": 4096, "io_size": 32}.get(name, 64)
    ours, fios = [[offset // size for _, offset, _ in requests], [offset // size for offset in kept()[name]["offsets"]]]
    for offsets in (ours, fios):
        for start in range(0, len(offsets) - blocks + 1, blocks):
            assert sorted(offsets[start : start + blocks]) == list(range(blocks)), name
    assert len(ours) == sum(kept()[name]["kinds"].values())
    if name in ("loops", "io_size", "new orders"):
        same = [offsets[:blocks] == offsets[blocks : 2 * blocks] for offsets in (ours, fios)]
        assert same == [name != "new orders"] * 2
    reads = [sum(kind == "read" for kind, _, _ in requests), kept()[name]["kinds"].get("read", 0)]
    agree("reads", reads[0], len(ours), reads[1], len(ours))


@pytest.mark.parametrize("name", DRAWN)
def test_draws_are_those_of_fio_within_their_sampling_error(name: str, tmp_path: Path) -> None:
    ours, fios = plain(summary(name, by_ssdlab(tmp_path, DRAWN[name]))), kept()[name]
    of = ours["count"], fios["count"]
    assert ours["misaligned"] == fios["misaligned"] == 0
    for part in ("kinds", "sizes"):
        assert ours[part].keys() == fios[part].keys()
        for key in fios[part]:
            agree(f"{part} {key}", ours[part][key], of[0], fios[part][key], of[1])
    agree("requests in a row", ours["in_row"], of[0], fios["in_row"], of[1])
    if name not in DISTRIBUTIONS:
        return
    blocks = [sorted(one["blocks"], reverse=True) if name.startswith(HASHED) else one["blocks"] for one in (ours, fios)]
    for start, end in [(0, 1), (0, 3), (0, 10), (0, 30), *((start, start + 100) for start in range(0, 1000, 100))]:
        counts = [sum(one[start:end]) for one in blocks]
        agree(f"blocks {start} to {end}", counts[0], of[0], counts[1], of[1])
    reached = [sum(count > 0 for count in one) for one in blocks]
    assert reached[0] == pytest.approx(reached[1], abs=12), "some blocks are hardly ever drawn"


def test_fio_issues_what_is_kept_of_it(tmp_path: Path) -> None:
    """Fio's draws are the same in each run, but for those of `randrepeat=0`."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed: its requests are compared as they are kept in tests/data/fio-requests.json")
    found = {}
    for name, text in JOBS.items():
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        found[name] = plain(summary(name, by_fio(folder, text)))
    if os.environ.get("UPDATE"):
        KEPT.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items()) + "\n}\n")
    same = {name: one for name, one in found.items() if name != "new orders"}
    assert same == {name: kept()[name] for name in same}


def test_there_are_twelve_jobs_and_more() -> None:
    assert len(JOBS) >= 12
    assert kept().keys() == JOBS.keys()


def lacks_nbd() -> str | None:
    """Why fio cannot use a served drive."""
    if sys.platform != "linux" or shutil.which("fio") is None:
        return "needs Linux and fio"
    engines = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=False).stdout
    return None if "nbd" in engines.split() else "this fio has no engine for NBD"


SMALL_DRIVE = {
    "device.channels": 2,
    "device.blocks_per_plane": 64,
    "device.pages_per_block": 32,
    "device.overprovisioning": 0.2,
    "gc.soft": 2,
}


@pytest.mark.parametrize("more", ["norandommap", "randrepeat=0"])
def test_a_job_writes_as_much_as_fio_on_the_served_drive(more: str, tmp_path: Path) -> None:
    """Write amplification within 1 %: of uniform writes, and of the random map in new orders."""
    reason = lacks_nbd()
    if reason is not None:
        pytest.skip(reason)
    options = f"rw=randwrite\nbs=4k\niodepth=4\nsize=12m\nio_size=240m\n{more}\n"
    settings = [word for key, value in SMALL_DRIVE.items() for word in ("--set", f"{key}={value}")]
    server = Server(tmp_path, ["serve", "--nbd", "unix:s", "--scale", "0.05", "--json", "--quiet", *settings])
    try:
        end = time.monotonic() + PATIENCE_S
        while not (tmp_path / "s").exists() and time.monotonic() < end:
            time.sleep(0.05)
        (tmp_path / "served.fio").write_text(f"[job]\nioengine=nbd\nuri=nbd+unix:///?socket={tmp_path / 's'}\n{options}")
        subprocess.run(["fio", "served.fio"], cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE_S)
    finally:
        server.stop()
    (tmp_path / "job.fio").write_text(f"[job]\nioengine=libaio\n{options}")
    result = ssdlab.run(fio=tmp_path / "job.fio", set=SMALL_DRIVE).to_dict()
    assert server.result["requests"] == result["requests"] == {"read": 0, "write": 61440, "trim": 0, "flush": 0}
    assert result["gc"]["write_amplification"] > 1.5
    assert server.result["gc"]["write_amplification"] == pytest.approx(result["gc"]["write_amplification"], rel=0.01)
    print(f"\n{more}: {server.result['gc']['write_amplification']:.4f} served, {result['gc']['write_amplification']:.4f} simulated", end="")
