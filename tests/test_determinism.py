"""Equal commands give equal results: repeated, on any number of threads, and compared with the goldens below."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, ROOT, SMALL, SMALL_OPTIONS, Ssdlab

# Closed loops keep an arrival rate, which has no effect and is in the recorded digests.
pytestmark = pytest.mark.filterwarnings("ignore::ssdlab.IdleKeyWarning")

WALL_CLOCK = ("prepare_s", "wall_s", "requests_per_s")
"""The only figures of a result in real time."""

TRACE = ROOT / "traces" / "mariadb_oltp_write_only_paced"
TRIMS = "timestamp_us,op,offset_bytes,size_bytes\n" + "".join(
    f"{i * 150},{'WWRWT'[i % 5]},{i * 7919 % 700 * 4096},{(1 + i % 3) * 4096}\n" for i in range(4000)
)


def simulated(result: dict[str, Any]) -> dict[str, Any]:
    """A result without figures that depend on the speed of the machine."""
    return {key: value for key, value in result.items() if key not in WALL_CLOCK}


@pytest.mark.parametrize("more", [[], ["--set", "workload.queue_depth=8"], ["--set", "ftl.precondition.kind=steady"]])
def test_the_same_command_twice(ssdlab_command: Ssdlab, tmp_path: Path, more: list[str]) -> None:
    runs = []
    for folder in ("first", "second"):
        runs.append(ssdlab_command("run", *SMALL_OPTIONS, *more, "--requests", 3000, "--json", "--log-requests", "--out", folder).json())
    assert set(WALL_CLOCK) <= set(runs[0])
    assert simulated(runs[0]) == simulated(runs[1])
    logs = [(tmp_path / folder / "requests.parquet").read_bytes() for folder in ("first", "second")]
    assert logs[0] == logs[1]


def test_one_thread_and_two(ssdlab_command: Ssdlab) -> None:
    schemes = [part for scheme in ("npgc", "cep", "rwp", "npgc+fr-fcfs") for part in ("--scheme", scheme)]
    command = ["compare", *SMALL_OPTIONS, *schemes, "--requests", 3000, "--json"]
    one, two = (ssdlab_command(*command, "--jobs", jobs).json()["runs"] for jobs in (1, 2))
    assert list(one) == list(two) == ["npgc", "cep", "rwp", "npgc+fr-fcfs"]
    assert {name: run["digest"] for name, run in one.items()} == {name: run["digest"] for name, run in two.items()}
    assert {name: simulated(run) for name, run in one.items()} == {name: simulated(run) for name, run in two.items()}


def test_a_saved_state_is_the_state(tmp_path: Path) -> None:
    """A drive that was saved and loaded runs as the one that was prepared on the spot."""
    values = {**SMALL, "ftl.precondition.kind": "soft"}
    ssdlab.precondition(tmp_path / "warm.state", set=values)
    prepared = ssdlab.run(set=values, requests=2000)
    loaded = ssdlab.run(set=values, requests=2000, state=tmp_path / "warm.state")
    assert prepared.gc.jobs > 0
    assert prepared.digest == loaded.digest


def test_another_seed_is_another_run() -> None:
    assert len({ssdlab.run(set=SMALL, requests=500, seed=seed).digest for seed in range(1, 6)}) == 5


def closed_loop(_: Path) -> ssdlab.Result:
    return ssdlab.run(set={**SMALL, "workload.queue_depth": 4}, scheme="rwp", requests=5000)


def one_at_a_time(_: Path) -> ssdlab.Result:
    """A run in which no operation waits for an older one on its page."""
    return ssdlab.run(set={**SMALL, "workload.queue_depth": 1}, scheme="rwp", requests=5000)


def open_loop_with_trims(folder: Path) -> ssdlab.Result:
    (folder / "trims.csv").write_text(TRIMS)
    return ssdlab.run(trace=folder / "trims.csv", set=DRIVE, scheme="npgc")


def shipped_trace(_: Path) -> ssdlab.Result:
    return ssdlab.run(device="demo-4g", scheme="npgc", trace=f"{TRACE}.csv.zst", prefill=f"{TRACE}.prefill.csv", requests=5000)


RUNS = {run.__name__: run for run in (closed_loop, one_at_a_time, open_loop_with_trims, shipped_trace)}

GOLDEN = {
    "closed_loop": "34e124e601fd3f0af289c0c0169bb4db53584979daa831b7ab8fa03cfa057297",
    "one_at_a_time": "8d5d9426e68ea80c717b5d9a6a1fd26113e876d16c490d12e8088b1b28bcd540",
    "open_loop_with_trims": "5d8f5bc9d9bf7a2b3e7fd07d68e789785c78d1e9190de1681b2f8c3afe01dcd5",
    "shipped_trace": "22ef13c8c77e196c624a4a3aeac68725d85a0f356c7e64ee2e1c25e55b5a0513",
}


@pytest.mark.parametrize("name", RUNS)
def test_golden_digest(name: str, tmp_path: Path) -> None:
    digest = RUNS[name](tmp_path).digest
    assert digest == GOLDEN[name], (
        "the simulator behaves differently from before. If that is meant, say what changed in the CHANGELOG, since users' results change "
        f"too, and replace the line in {Path(__file__).name} by:\n    {json.dumps(name)}: {json.dumps(digest)},\n"
    )


def test_the_goldens_have_something_to_show(tmp_path: Path) -> None:
    """Garbage collection runs, and every kind of request is there."""
    assert closed_loop(tmp_path).gc.jobs > 0
    trims = open_loop_with_trims(tmp_path)
    assert trims.gc.jobs > 0
    assert trims.counters.trimmed_pages > 0
    assert min(trims["requests"][kind] for kind in ("read", "write", "trim")) > 0
    assert shipped_trace(tmp_path)["requests"]["write"] > 1000
