"""Load as a share of what a drive sustains: against closed forms, the same again, kept, shown, and refused where it means nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv as pcsv
import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.experiments.sweeping.definition import define
from ssdlab.experiments.sweeping.running import prepare
from ssdlab.runs import batch, capacity
from ssdlab.system import states

READ_NS, WRITE_NS = 76_300, 926_400
READS: Mapping[str, Any] = {"device": "bux2011", "requests": 10_000, "set": {"workload.read_share": 1.0}}
"""A single die that only reads: an M/D/1 queue, whose capacity is 1 over the time of a read."""
FLAT = {"device": "bux2011", "requests": 10_000, "set": {"ftl.precondition.kind": "fill", "workload.read_share": 0.7}}
"""A single die with enough free blocks for all writes: an M/G/1 queue."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for capacities of its own, for each test."""
    monkeypatch.setenv(states.FOLDER_VARIABLE, str(tmp_path / "states"))
    return tmp_path / "states" / capacity.FOLDER


def test_the_capacity_of_one_die_that_reads_is_one_over_the_time_of_a_read() -> None:
    result = ssdlab.run(**READS, load=0.8)
    found = result.capacity
    assert found.low_iops < 1e9 / READ_NS < found.high_iops
    assert found.high_iops - found.low_iops < 0.02 * found.iops
    assert found.iops == pytest.approx(1e9 / READ_NS, rel=1e-4)
    assert 0.9 * found.iops < found.sustained_iops < found.iops < found.grew_iops < 1.15 * found.iops
    assert result.utilisation.chips[0] == pytest.approx(0.8, rel=0.03)  # of a Poisson process of 10,000
    assert found.time_scale == pytest.approx(1e6 / READ_NS, rel=0.03)  # the workload has a request in each millisecond


@pytest.mark.parametrize("dies", [2, 8])
def test_the_capacity_of_several_dies_is_that_of_all(dies: int) -> None:
    """Addresses are uniform, so that all dies have the same load in the long run."""
    keys = {"device.channels": dies, "device.blocks_per_plane": 128, "ftl.precondition.kind": "fill", "workload.read_share": 1.0}
    result = ssdlab.run(device="bux2011", requests=20_000, load=0.8, set=keys)
    assert result.capacity.low_iops < dies * 1e9 / READ_NS < result.capacity.high_iops
    assert result.capacity.high_iops - result.capacity.low_iops < 0.1 * result.capacity.iops
    assert sum(result.utilisation.chips) / dies == pytest.approx(0.8, rel=0.03)


def test_the_capacity_of_a_mixture_is_one_over_the_mean_service_time() -> None:
    found = ssdlab.run(**FLAT, load=0.5).capacity
    assert found.low_iops < 1e9 / (0.7 * READ_NS + 0.3 * WRITE_NS) < found.high_iops
    assert found.high_iops - found.low_iops < 0.2 * found.iops


def test_the_capacity_with_collection_is_that_of_the_theory() -> None:
    """Each block that is collected costs an erase and the copies of its valid pages, and gives room for the other pages."""
    result = ssdlab.run(device="bux2011", requests=20_000, load=1.1)
    assert "load-above-capacity" in {remark.code for remark in result.remarks}
    valid = result.gc.pages_moved / result.gc.jobs
    per_write = (valid * 950_700 + 3_000_300) / (256 - valid)
    found = result.capacity
    assert found.low_iops < 1e9 / (0.5 * READ_NS + 0.5 * (WRITE_NS + per_write)) < found.high_iops


def test_the_search_is_deterministic_and_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ssdlab.run(**READS, load=0.8)
    assert len(list(folder.iterdir())) == 1
    again = ssdlab.run(**READS, load=0.8, state_cache=False)
    assert (again.digest, again.capacity.to_dict()) == (first.digest, first.capacity.to_dict())

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a run of a search")

    monkeypatch.setattr(capacity, "execute", refuse)
    assert ssdlab.run(**READS, load=0.8).capacity.to_dict() == first.capacity.to_dict()
    assert ssdlab.run(**READS, load=1.3).capacity.iops == first.capacity.iops  # another share of it
    with pytest.raises(AssertionError):
        ssdlab.run(**{**READS, "seed": 2}, load=0.8)
    kept = next(folder.iterdir())
    whole = kept.read_text()
    iops = f'"iops": {first.capacity.iops}'
    assert iops in whole
    for damaged in ("damaged", whole.replace(iops, '"iops": "many"'), whole.replace(iops, '"iops": null')):
        kept.write_text(damaged)
        with pytest.raises(AssertionError):
            ssdlab.run(**READS, load=0.8)


def test_the_command_repeats_the_run_without_a_search(ssdlab_command: Ssdlab) -> None:
    result = ssdlab.run(**READS, load=0.7)
    assert "--scale-time" in result.command
    assert "--load" not in result.command
    assert ssdlab_command(*result.command.split()[1:], "--json").json()["digest"] == result.digest


def test_the_line_of_a_run_and_its_page_show_the_capacity(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    words = ["--device", "bux2011", "--requests", "5000", "--set", "workload.read_share=1.0", "--load", "0.8", "--out", "out"]
    out = ssdlab_command("run", *words).out
    assert "Load 0.8 of what the drive sustains: 13,106 (13,041 to 13,172) requests/s" in out
    assert "13,106 (13,041 to 13,172) requests/s" in (tmp_path / "out" / "report.html").read_text()


SLOW_AND_FAST = {"as it is": {}, "slow": {"set": {"device.read_ns": 100_600}}}


def test_a_comparison_loads_each_drive_by_its_own_capacity_or_that_of_one() -> None:
    own = ssdlab.compare(variants=SLOW_AND_FAST, **READS, load=0.8)
    assert own["slow"].capacity.iops == pytest.approx(1e9 / 126_600, rel=1e-3)
    chips = [run.utilisation.chips[0] for run in own.values()]
    assert chips[0] == pytest.approx(chips[1], rel=1e-3)
    of_one = ssdlab.compare(variants=SLOW_AND_FAST, **READS, load=0.5, load_of="as it is")
    scales = {run.config.workload.time_scale for run in of_one.values()}
    assert len(scales) == 1
    assert of_one["slow"].utilisation.chips[0] == pytest.approx(0.5 * 126.6 / 76.3, rel=0.03)
    assert of_one["slow"].capacity["of"] == "as it is"
    assert "13,106 (13,041 to 13,172)" in str(of_one)


def test_searches_take_as_many_jobs_as_the_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[int | None] = []

    def noted(*args: Any, workers: int | None, **others: Any) -> Any:
        asked.append(workers)
        return batch.execute(*args, workers=workers, **others)

    monkeypatch.setattr(capacity, "execute", noted)
    ssdlab.compare(variants=SLOW_AND_FAST, **READS, load=0.8, jobs=1)
    (tmp_path / "own.toml").write_text(STUDY)
    ssdlab.run_study(tmp_path / "own.toml", jobs=1)
    ssdlab.sweep({"load": [0.5]}, **READS, jobs=1)
    assert set(asked) == {1}


def test_seeds_of_a_comparison_have_one_rate() -> None:
    found = ssdlab.compare(variants=SLOW_AND_FAST, **READS, load=0.8, seeds=2)
    assert found.seeds is not None
    assert len({run.config.workload.time_scale for run in found.seeds.runs["slow"].values()}) == 1


SWEEP = """
device = "bux2011"
requests = 4000
seeds = 2
[set]
workload.read_share = 1.0
ftl.precondition.kind = "fill"
[grid]
device.read_ns = [50300, 100600]
load = [0.5, 0.9]
"""


def test_a_sweep_has_load_as_an_axis_and_columns_of_the_capacity(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "load.toml").write_text(SWEEP)
    out = ssdlab_command("sweep", "load.toml", "--out", "out").out
    assert "13,106 (13,041 to 13,172)" in out
    table = pcsv.read_csv(tmp_path / "out" / "results.csv").to_pylist()
    assert {(row["device.read_ns"], round(row["capacity.iops"])) for row in table} == {(50_300, 13_106), (100_600, 7_899)}
    assert all(row["capacity.low_iops"] < row["capacity.iops"] < row["capacity.high_iops"] for row in table)
    means = pcsv.read_csv(tmp_path / "out" / "means.csv").to_pylist()
    assert all(row["iops"] == pytest.approx(row["load"] * row["capacity.iops"], rel=0.05) for row in means)
    assert len(means) == 4
    page = (tmp_path / "out" / "report.html").read_text()
    assert '"capacity.iops":"capacity"' in page.replace('": "', '":"')
    ssdlab_command("sweep", "load.toml", "--out", "out", "--resume")
    point = next((tmp_path / "out").glob("*load=0.9_seed=2"))
    saved = json.loads((point / "result.json").read_text())
    assert saved["capacity"]["load"] == 0.9
    (point / "report.html").unlink()
    ssdlab_command("report", str(point))


def test_a_sweep_takes_the_capacity_of_a_named_point() -> None:
    axes = {"device.read_ns": [50_300, 100_600], "load": [0.4, 0.6]}
    filled = {**READS, "set": {**READS["set"], "ftl.precondition.kind": "fill"}}
    found = ssdlab.sweep(axes, **filled, load_of="device.read_ns = 100600")
    assert {round(point.result.capacity.iops) for point in found} == {7_899}
    assert [round(point.result.utilisation.chips[0], 1) for point in found] == [0.2, 0.4, 0.4, 0.6]
    with pytest.raises(ssdlab.ConfigError, match="no axis has it"):
        ssdlab.sweep(axes, **filled, load_of="npgc")
    with pytest.raises(ssdlab.ConfigError, match="other requests"):
        ssdlab.sweep({"load": [0.4], "workload.read_share": [0.5, 1.0]}, device="bux2011", requests=5000, load_of="1.0")


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ("0.4", "no axis has it"),
        ("load = 0.4", "beside load and seed"),
        ("seed = 1", "no axis has it"),
        ("50300, 100600", "two values of device.read_ns"),
    ],
)
def test_a_text_that_names_no_drive_is_refused(of: str, message: str) -> None:
    axes = {"device.read_ns": [50_300, 100_600], "load": [0.4, 0.6], "seed": [1, 2]}
    with pytest.raises(ssdlab.ConfigError, match=message):
        ssdlab.sweep(axes, **READS, load_of=of)


def test_seeds_with_a_label_or_beside_another_axis_have_loads() -> None:
    seeds = [{"label": "one", "seed": 1}, {"label": "two", "seed": 2}]
    labelled = ssdlab.sweep({"device.read_ns": [50_300, 100_600], "seed": seeds}, **READS, load=0.5, load_of="50300")
    assert {round(point.result.capacity.iops) for point in labelled} == {13_106}
    beside = {"zip": [{"axes": ["seed", "requests"], "rows": [[1, 4000], [2, 5000]]}], "grid": {"device.read_ns": [50_300, 100_600]}}
    filled = {"device": "bux2011", "load": 0.5, "load_of": "50300", "set": {**READS["set"], "ftl.precondition.kind": "fill"}}
    zipped = prepare(define("sweep", {**beside, **filled}))
    assert {round(task.point.loaded.entry["iops"]) for task in zipped.tasks if task.point.loaded} == {13_106}
    assert len(zipped.tasks) == 4


def test_points_without_a_rate_are_left_out_where_the_sweep_says_so() -> None:
    few: dict[str, Any] = {"device": "bux2011", "load": 0.5, "grid": {"requests": [500, 3000]}, "set": dict(READS["set"])}
    with pytest.raises(ssdlab.UsageError, match="500 requests after the warm-up"):
        prepare(define("sweep", few))
    prepared = prepare(define("sweep", {**few, "leave_out_refused": True}))
    assert [task.point.values["requests"] for task in prepared.tasks] == [3000]
    assert ["500 requests after the warm-up" in str(reason) for _, reason in prepared.refused] == [True]
    with pytest.raises(ssdlab.UsageError, match="500 requests after the warm-up"):
        prepare(define("sweep", {**few, "grid": {"requests": [500]}, "leave_out_refused": True}))
    never: dict[str, Any] = {"device": "bux2011", "requests": 3000, "load": 0.5, "set": dict(READS["set"]), "leave_out_refused": True}
    empty = prepare(define("sweep", {**never, "grid": {"ftl.precondition.kind": ["none", "fill"]}}))
    assert ["never full" in str(reason) for _, reason in empty.refused] == [True]
    assert len(empty.tasks) == 1


def test_drives_of_a_sweep_by_load_are_settled_unless_it_says_how_they_are_prepared() -> None:
    def prepared(**table: Any) -> tuple[object, object]:
        sweep = define("sweep", {"device": "bux2011", "grid": {"load": [0.5]}, **table})
        (point,) = sweep.points()
        assert ("settled first" in sweep.to_toml()) == (point.set.get("ftl.precondition.settle") == 8)
        return point.set.get("ftl.precondition.kind"), point.set.get("ftl.precondition.settle")

    assert prepared() == ("steady", 8)
    assert prepared(set={"gc.soft": 0.1}) == ("steady", 8)
    assert prepared(set={"ftl.precondition.settle": 0}) == (None, 0)
    assert prepared(prefill="some.csv") == prepared(trace="some.csv") == prepared(state="some.state") == (None, None)
    assert prepared(grid={"time_scale": [0.5]}) == (None, None)


STUDY = (
    'title = "Loads"\nplace = ""\nabout = "x"\ndevice = "bux2011"\nschemes = ["npgc", "rwp"]\nseeds = [1, 2]\nrequests = 3000\n'
    'load_of = "npgc"\n[set]\nworkload.read_share = 1.0\n[[vary]]\nname = "load"\nkey = "load"\nvalues = [0.5, 0.8]\n'
    '[metrics]\nbusy = { of = "iops * 76.3e-6", title = "Busy" }\ncapacity = { of = "capacity.iops", title = "Capacity" }\n'
    '[[rows]]\nwhat = "busy"\nvalue = "busy[rwp, 0.8]"\n[[rows]]\nwhat = "capacity"\nvalue = "capacity[rwp, 0.8]"\n'
)


def test_a_study_has_loads(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "own.toml").write_text(STUDY)
    studies = ssdlab_command("study", "run", "own.toml", "--json").json()["studies"]
    print(json.dumps(studies)[:3000])
    values = {row["what"]: row["measured"]["mean"] for study in studies.values() for row in study["rows"]}
    assert values["busy"] == pytest.approx(0.8, rel=0.05)
    assert values["capacity"] == pytest.approx(1e9 / READ_NS, rel=1e-3)


def test_a_rate_that_depends_on_the_length_is_uncertain() -> None:
    """On a drive of 768 pages the queue of an overload soon has several writes of each page, of which GC programs but the last."""
    small = {"device.channels": 2, "device.blocks_per_plane": 32, "device.pages_per_block": 16, "device.overprovisioning": 0.25}
    keys = {**small, "workload.read_share": 0.5, "ftl.precondition.settle": 8}
    found = ssdlab.run(scheme="pgc", requests=20_000, load=0.9, set=keys)
    (told,) = [remark for remark in found.remarks if remark.code == "capacity-uncertain"]
    assert f"{found.capacity.drift:.0%} more requests/s in its second half" in told.sentence
    assert found.capacity.high_iops < ssdlab.run(scheme="pgc", requests=60_000, load=0.9, set=keys).capacity.low_iops
    assert ssdlab.run(**FLAT, load=0.5).capacity.drift == 0


def test_a_trace_is_loaded_by_its_own_times(tmp_path: Path) -> None:
    """Reads at even distances, of one die: the capacity is the same, and bursts do not change it."""
    lines = ["timestamp_us,op,offset_bytes,size_bytes"]
    lines += [f"{index // 4 * 4000},R,{index * 4096},4096" for index in range(4000)]
    (tmp_path / "reads.csv").write_text("\n".join(lines) + "\n")
    result = ssdlab.run(device="bux2011", trace=tmp_path / "reads.csv", load=0.9)
    assert result.capacity.iops == pytest.approx(1e9 / READ_NS, rel=1e-3)
    assert result.utilisation.chips[0] == pytest.approx(0.9, rel=0.01)


def test_requests_that_complete_out_of_order_give_a_first_guess(tmp_path: Path) -> None:
    """All at once, the last to complete may be among the first to arrive, so that the work seems not to advance any further."""
    sizes = [(index * 7919) % 13 + 1 for index in range(3000)]
    rows = [f"{500 * index},W,{index % 500 * 65536},{4096 * size}" for index, size in enumerate(sizes)]
    (tmp_path / "writes.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "\n".join(rows) + "\n")
    for scheme in ("npgc", "pgc", "slacker"):
        found = ssdlab.run(device="demo-4g", scheme=scheme, trace=tmp_path / "writes.csv", fit="trace", load=0.6).capacity
        assert found.sustained_iops < found.grew_iops < 1.3 * found.sustained_iops


def test_bursts_of_a_trace_hide_no_capacity(tmp_path: Path) -> None:
    """A hundred bursts of fifty reads at uneven distances: the drive works without a rest at its capacity, and no faster."""
    gaps = [1_000 + (index * 7919) % 90_000 for index in range(100)]
    starts = [sum(gaps[:index]) for index in range(100)]
    rows = [f"{start},R,{(50 * burst + index) * 4096},4096" for burst, start in enumerate(starts) for index in range(50)]
    (tmp_path / "bursts.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n" + "\n".join(rows) + "\n")
    found = ssdlab.run(device="bux2011", trace=tmp_path / "bursts.csv", load=0.5).capacity
    assert found.low_iops <= 1e9 / READ_NS <= found.high_iops
    assert found.high_iops - found.low_iops < 0.1 * found.iops


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"load": 0.8, "queue_depth": 4}, "workload.queue_depth = 4 is a closed loop"),
        ({"load": 0.8, "time_scale": 2.0}, "load and time_scale"),
        ({"load": 0.8, "set": {"workload.time_scale": 2.0}}, "load and time_scale"),
        ({"load": 0.0}, "load = 0.0: expected a number above 0"),
        ({"load": "much"}, "load = "),
        ({"load_of": "npgc"}, "needs load"),
        ({"load": 1e9, "set": {"workload.read_share": 1.0}}, r"load: load 1e\+09 of 13,106 requests/s is .* expected from 1e-06 to 1e\+06"),
        ({"load": 0.8, "requests": 500}, "500 requests after the warm-up: expected at least 1,000"),
        ({"load": 0.8, "requests": 1500, "warm_up": 1000}, "500 requests after the warm-up"),
        ({"load": 0.8, "set": {"ftl.precondition.kind": "none", "workload.read_share": 1.0}}, "never full"),
        (
            {
                "load": 0.8,
                "set": {"workload.flows": [{"name": "a", "queue_depth": 2, "part": [0, 0.5]}, {"name": "b", "part": [0.5, 1.0]}]},
            },
            "flow a: workload.queue_depth = 2 is a closed loop",
        ),
        ({"load": 0.8, "load_of": "nonsense"}, "nonsense"),
    ],
)
def test_what_has_no_capacity_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ssdlab.Error, match=message):
        ssdlab.run(**{"device": "bux2011", "requests": 5000, **options})


def test_a_variant_that_is_not_there_is_named() -> None:
    with pytest.raises(ssdlab.UsageError, match=r'load_of = "slo" is no variant; did you mean "?slow'):
        ssdlab.compare(variants=SLOW_AND_FAST, **READS, load=0.8, load_of="slo")
