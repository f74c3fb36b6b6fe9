"""Remarks: beside every number that holds only under a condition, in the same words everywhere, and only there."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import DRIVE, ROOT, SMALL, Ssdlab
from ssdlab import _core
from ssdlab.analysis.remarks import Remark, gc_ran, of_comparison, of_fio, of_fit, of_preparation, of_run, of_runs, of_sweep, replays, shown

OVERLOADED = SMALL | {"workload.interarrival_us": 20, "workload.arrival": "fixed"}
"""An overload: a write takes 302.4 us on one of two dies, a read 127.4 us, with 20 us between requests."""


def codes(remarks: list[Remark]) -> list[str]:
    return [remark.code for remark in remarks]


def result(**entries: Any) -> dict[str, Any]:
    """A result with remarks that have these codes and sentences."""
    remarks = [
        {"code": code.replace("_", "-"), "severity": "warning", "sentence": said, "remedy": "Do it."} for code, said in entries.items()
    ]
    return {"remarks": remarks}


@pytest.mark.parametrize(
    ("gc", "ran"),
    [
        ({"jobs": 1}, True),
        ({"jobs": 0, "pages_moved": 3, "time_share": 0.1}, True),
        ({"jobs": 0, "pages_moved": 0, "time_share": 0.1}, True),
        ({"jobs": 0, "pages_moved": 0, "time_share": 0.0}, False),
        ({}, None),
    ],
)
def test_a_job_that_has_not_ended_is_collection(gc: dict[str, float], ran: bool | None) -> None:
    """Jobs are counted when they end; until then they move pages, and requests wait."""
    run = {"gc": gc, "flash": {"host_programs": 9}, "config": {"gc": {"scope": "block"}}}
    assert gc_ran(run) is ran
    assert ("no-collection" in codes(of_run(run))) == (ran is False)


@pytest.mark.parametrize(
    ("held", "jobs", "prefill", "spare_is_set", "is_said"),
    [
        (0.316, 5, None, True, True),
        (0.316, 5, "p.csv", False, True),
        (0.316, 5, None, False, False),
        (0.316, 0, None, True, False),
        (0.9, 5, None, True, False),
        (0.0, 5, None, True, False),
    ],
)
def test_a_drive_that_is_partly_full_has_more_spare_than_asked_for(
    held: float, jobs: int, prefill: str | None, spare_is_set: bool, is_said: bool
) -> None:
    config = {"device": {"overprovisioning": 0.2}, "ftl": {"precondition": {"prefill": prefill}}}
    run = {"gc": {"jobs": jobs}, "precondition": {"valid_share": held}, "config": config}
    found = list(of_preparation(run, spare_is_set=spare_is_set))
    assert codes(found) == (["partly-full"] if is_said else [])
    # 0.8 of the flash is exported, and 0.316 of that holds data: 0.2528 of the flash
    assert all("32% of the exported addresses held data: GC had 75% spare, not 20%" in remark.sentence for remark in found)


def test_a_run_on_a_partly_full_drive_says_so(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(f"offset_bytes,size_bytes\n0,{1 << 20}\n")
    keys = SMALL | {"workload.footprint": 0.3}
    partly = ssdlab.run(scheme="npgc", set=keys | {"ftl.precondition.kind": "steady"}, prefill=tmp_path / "p.csv", requests=3000)
    assert partly.gc.jobs > 0
    assert partly.precondition.valid_share < 0.9
    assert "partly-full" in codes(partly.remarks)
    assert "partly-full" not in codes(ssdlab.run(scheme="npgc", set=keys, requests=3000).remarks)


@pytest.mark.parametrize(
    ("device", "gap_us", "expected"), [("nvme-tlc-scaled-5g", 0, True), ("nvme-tlc-scaled-5g", 2_000, False), ("demo-4g", 0, False)]
)
def test_bursts_of_a_trace_on_a_scaled_drive_are_remarked(device: str, gap_us: int, expected: bool, tmp_path: Path) -> None:
    """200 writes of 64 KiB, at once or spread: a buffer of 1 MiB takes sixteen."""
    rows = [f"{index * gap_us},W,{index * 65536},65536" for index in range(200)]
    (tmp_path / "trace.csv").write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *rows]))
    said = {"ftl.precondition.kind": "none", "ftl.precondition.settle": 0}
    result = ssdlab.run(device=device, scheme="nvme", trace=tmp_path / "trace.csv", set=said)
    found = [remark for remark in result.remarks if remark.code == "scaled-bursts"]
    assert bool(found) == expected
    assert all("1/8 of the dies" in remark.sentence and "--device nvme-tlc-2023" in remark.remedy for remark in found)


@pytest.mark.parametrize(
    ("changed", "expected"), [({"device.planes_per_die": 2}, ""), ({"slc.dynamic_blocks": 2}, "writes to blocks in SLC mode")]
)
def test_pacing_by_room_says_where_it_falls_short(changed: dict[str, Any], expected: str) -> None:
    result = ssdlab.run(device="nvme-4g", scheme="nvme", requests=200, set={"gc.pace": "room", **changed})
    found = [remark.sentence for remark in result.remarks if remark.code == "room-falls-short"]
    assert [expected in sentence for sentence in found] == [True] * bool(expected)


def test_seeds_that_change_no_response_time_may_still_change_the_drive() -> None:
    runs = [
        ({"seed": seed}, {"digest": "d", "latency_ns": {"all": 1}, "gc": {"jobs": jobs}, "flash": {"reads": 1}})
        for seed, jobs in ((1, 5), (2, 6))
    ]
    assert codes(of_sweep({"seed": [1, 2]}, runs)) == []
    same = [(values, {**run, "gc": {"jobs": 5}}) for values, run in runs]
    assert codes(of_sweep({"seed": [1, 2]}, same)) == ["nothing-random"]


def test_what_is_said_of_schemes_holds_under_every_seed() -> None:
    """Two seeds: under the first neither scheme collects, and results are equal; under the second both collect, and differ."""

    def run(scope: str, jobs: int, mean: int, *more: str) -> dict[str, Any]:
        remarks = result(**dict.fromkeys(more, "It holds."))["remarks"]
        config = {"gc": {"scope": scope}}
        return {
            "config": config,
            "digest": f"{mean}",
            "latency_ns": {"mean": mean},
            "gc": {"jobs": jobs},
            "flash": {"r": 1},
            "remarks": remarks,
        }

    first = {"a": run("die", 0, 7), "b": run("none", 0, 7)}
    later = {"a": run("die", 5, 9, "not_settled"), "b": run("none", 5, 20)}
    assert codes(of_comparison(first)) == ["no-collection", "same-result"]
    seeds = {scheme: {1: first[scheme], 2: later[scheme]} for scheme in first}
    remarks = of_comparison(first, seeds_differ=True, of_seeds=seeds)
    assert [(remark.code, remark.where) for remark in remarks] == [("not-settled", ("a",))]
    assert remarks[0].sentence.startswith("Under seed 2: ")
    noted = {scheme: {**run_of, "remarks": result(no_collection="It did not run.")["remarks"]} for scheme, run_of in first.items()}
    seeds = {scheme: {1: noted[scheme], 2: later[scheme]} for scheme in noted}
    assert "no-collection" not in codes(of_comparison(noted, seeds_differ=True, of_seeds=seeds))
    alike = {scheme: {1: run_of, 2: run_of} for scheme, run_of in first.items()}
    assert codes(of_comparison(first, seeds_differ=True, of_seeds=alike)) == ["no-collection", "same-result"]


@pytest.fixture(scope="module")
def overloaded() -> ssdlab.Result:
    return ssdlab.run(set=OVERLOADED, requests=2000)


def test_an_overloaded_run_says_so_everywhere(overloaded: ssdlab.Result, tmp_path: Path) -> None:
    remark = next(remark for remark in overloaded.remarks if remark.code == "overloaded")
    assert remark.is_warning
    assert remark.concerns("latency_ns.all.p99")
    assert not remark.concerns("gc.jobs")
    assert not remark.concerns("latency_ns_of_another")
    assert remark.sentence in str(overloaded)
    assert re.search(r"^Response times \[[a-z](, [a-z])*\]$", str(overloaded), re.MULTILINE)
    assert html.escape(remark.sentence) in overloaded._repr_html_()
    assert remark.to_dict() in overloaded.to_dict()["remarks"]
    overloaded.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert f'<details class="warning"><summary>[a] {html.escape(remark.sentence)}' in page
    assert html.escape(remark.why) in page
    assert re.search(r'data-place="latency_ns.all.p99"[^>]*>[^<]*<sup class="told" title="Requests came faster', page)
    assert not re.search(r'data-place="requests.write"[^>]*>[^<]*<sup', page)


@pytest.mark.filterwarnings("ignore::ssdlab.IdleKeyWarning")
def test_a_closed_loop_of_the_same_requests_is_not_overloaded() -> None:
    found = ssdlab.run(set=OVERLOADED | {"workload.queue_depth": 32}, requests=2000)
    assert "overloaded" not in codes(found.remarks)


def test_a_comparison_marks_the_numbers_and_names_the_schemes(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    words = [f"--set={key}={value}" for key, value in OVERLOADED.items()]
    printed = ssdlab_command("compare", "--scheme", "npgc", "--scheme", "pgc", *words, "--requests", 2000, "--out", "out").out
    assert "Requests came faster than the drive completed them" in printed
    row = next(line for line in printed.splitlines() if line.startswith("npgc "))
    assert re.search(r"ms \[[a-z]", row)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Requests came faster than the drive completed them" in page
    comparison = ssdlab.load(tmp_path / "out")
    assert isinstance(comparison, ssdlab.Comparison)
    assert row in str(comparison)
    assert "overloaded" in codes(comparison.remarks)
    assert comparison.to_dict()["remarks"] == json.loads((tmp_path / "out" / "comparison.json").read_text())["remarks"]


def test_a_buffer_that_is_never_full_makes_two_runs_the_same() -> None:
    drive = SMALL | {"workload.interarrival_us": 20000}
    sweep = ssdlab.sweep({"buffer.bytes": [2**20, 2**21, 2**22], "workload.request_kb": [4, 8]}, set=drive, requests=200)
    found = next(remark for remark in sweep.remarks if remark.code == "same-result")
    assert found.is_warning
    assert found.sentence == "buffer.bytes changed nothing at 4 of 4 steps along it (no request waited for room in the write buffer)."
    assert found.why == "The first step is from 1048576 to 2097152, workload.request_kb = 4."
    assert found.sentence in str(sweep)
    assert found.to_dict() in sweep.to_dict()["remarks"]


def test_schemes_with_one_digest_are_named_with_what_differs() -> None:
    comparison = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL | {"ftl.precondition.kind": "none"}, requests=50)
    assert codes(comparison.remarks)[:2] == ["no-collection", "same-result"]
    same = comparison.remarks[1]
    assert same.where == ("npgc", "pgc")
    assert "gc.scope" in same.sentence
    assert "garbage collection did not run" in same.sentence
    assert comparison["npgc"].digest == comparison["pgc"].digest


def test_schemes_that_differ_in_something_else_need_no_collection() -> None:
    drive = SMALL | {"cache.bytes": 65536, "cache.place": "drive", "ftl.precondition.kind": "none"}
    found = ssdlab.compare(schemes=["lru", "fab"], set=drive, requests=50).remarks
    assert "no-collection" not in codes([remark for remark in found if remark.is_warning])


def test_schemes_that_differ_are_not_called_the_same() -> None:
    comparison = ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=3000)
    assert comparison["npgc"].digest != comparison["pgc"].digest
    assert not {"same-result", "no-collection"} & set(codes(comparison.remarks))


LONGEST_LINE = 200
"""Characters of a sentence of several runs, with names of keys and runs."""


def test_remarks_of_several_runs_are_one_short_line(tmp_path: Path) -> None:
    """What follows from a condition is in `why`."""
    options = ", ".join(f"o{number}" for number in range(40))
    fit = {"overprovisioning_before": 0.2, "overprovisioning": 0.25, "needed_bytes": 10**11, "exported_bytes": 2 * 10**11}
    sweep = ssdlab.sweep({"buffer.bytes": [2**20, 2**21], "workload.request_kb": [4, 8]}, set=SMALL, requests=50)
    variants = {
        "a": {},
        "b": {"set": {"workload.request_kb": 8, "workload.read_share": 0.3}},
        "c": {"set": {"device.overprovisioning": 0.4}},
    }
    compared = ssdlab.compare(variants=variants, set=SMALL, requests=50)
    found = [*of_fit(fit), *of_fit(fit, alike=True), *of_fio("job.fio", options.split(", "), []), *sweep.remarks, *compared.remarks]
    assert {"fit-spare", "fit-larger", "fio-ignored", "other-requests", "same-result"} <= set(codes(found))
    assert not [remark.sentence for remark in found if len(remark.sentence) > LONGEST_LINE]
    assert {remark.code for remark in found if options in remark.why} == {"fio-ignored"}


def test_the_terminal_explains_remarks(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    ssdlab.compare(schemes=["npgc", "pgc"], set=OVERLOADED, requests=2000, out=tmp_path / "both")
    loaded = ssdlab.load(tmp_path / "both")
    explained = next(remark for remark in loaded.remarks if remark.why)
    printed = ssdlab_command("why", "both", "--remarks")
    lines = printed.out.splitlines()
    assert len([line for line in lines if line.startswith("[")]) == len(loaded.remarks)
    assert not [line for line in lines if len(line) > 80]
    assert f"({explained.code}) {explained.why}" in " ".join(printed.out.split())
    as_json = json.loads(ssdlab_command("why", "both", "--remarks", "--json", "--of", "pgc").out)
    assert as_json["remarks"] == [remark.to_dict() for remark in loaded["pgc"].remarks]
    assert "leave --slowest, --at, --kind and --request out" in ssdlab_command("why", "both", "--remarks", "--slowest", "1").err


def test_equal_figures_with_different_digests_are_the_same_result() -> None:
    figures = {"latency_ns": {"all": {"mean": 1.5}}, "gc": {"jobs": 3}, "flash": {"reads": 5}}
    one, other = ({**figures, "digest": digest, "config": {"gc": {"soft": soft}}, "remarks": []} for digest, soft in (("a", 1), ("b", 2)))
    (found,) = of_comparison({"x": one, "y": other})
    assert (found.sentence, found.why) == ("gc.soft changed nothing.", "All figures are equal to the last digit.")
    assert of_comparison({"x": one, "y": other | {"flash": {"reads": 6}}}) == []
    (found,) = of_comparison({"x": one, "y": other | {"flash": {"reads": 6}, "digest": "a"}})
    assert (found.sentence, found.why) == ("gc.soft changed no response time.", "Every request took the same time (one digest).")


def test_an_axis_of_a_sweep_that_changes_something_is_not_named() -> None:
    points = [({"a": a, "b": b}, {"digest": f"{a * b}", "config": {"a": a, "b": b}, "remarks": []}) for a in (0, 1) for b in (1, 2, 3)]
    found = of_sweep({"a": [0, 1], "b": [1, 2, 3]}, points)
    assert [remark.sentence for remark in found] == ["b changed nothing at 2 of 4 steps along it."]


def test_the_keys_of_an_own_device_file_that_have_no_effect_are_named(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    own = ssdlab.preset_text("device", "demo-4g").replace("[device]\n", "[device]\nresume_ns = 100_000\nmax_suspends = 5\n", 1)
    (tmp_path / "mine.toml").write_text(own)
    new = ("--set", "ftl.precondition.kind=none", "--requests", 10, "--json")
    found = ssdlab_command("run", "--device", "./mine.toml", *new).json()
    assert {"device.resume_ns", "device.max_suspends"} <= {entry["key"] for entry in found["idle_keys"]}
    said = next(remark for remark in found["remarks"] if remark.get("about") == "config.device.resume_ns")
    assert said["sentence"] == "device.resume_ns, device.max_suspends have no effect: they need an entry in scheduler.suspend."
    shipped = ssdlab_command("run", "--device", "nvme-4g", "--set", "scheduler.suspend=[]", *new).json()
    assert "device.resume_ns" not in [entry["key"] for entry in shipped.get("idle_keys", ())]
    assert "no-suspension" in [remark["code"] for remark in shipped["remarks"]]


def test_keys_of_a_file_that_a_trace_replaces_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,R,0,4096\n")
    (tmp_path / "keys.toml").write_text("[workload]\nread_share = 0.5\n")
    found = ssdlab.run(set=DRIVE, config=tmp_path / "keys.toml", trace=tmp_path / "t.csv")
    assert [dict(entry) for entry in found["idle_keys"]] == [
        {"key": "workload.read_share", "needs": "generated requests (no workload.trace)"}
    ]
    assert "workload.read_share has no effect" in str(found)


def test_trims_that_no_class_has_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n10,T,0,4096\n20,T,0,4096\n30,T,0,4096\n")
    found = ssdlab.run(set=DRIVE, trace=tmp_path / "t.csv")
    assert str(found).count("\n3 trims are not in the response times.") == 1
    assert "left-out" not in codes(ssdlab.run(set=SMALL, requests=10).remarks)


OF_RUN_OR_CONFIGURATION = {"not-settled", "threshold-takes-spare", "few-blocks", "small-blocks", "frontiers-take-spare", "large-buffer"}
"""Codes of remarks that cannot be derived from a saved result."""


def test_results_of_version_1_0_have_the_remarks_that_they_decide(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text("cache.clean_window = 0.5\n")
    ssdlab.run(set=SMALL, config=tmp_path / "keys.toml", requests=20, out=tmp_path / "out")
    file = tmp_path / "out" / "result.json"
    saved = json.loads(file.read_text())
    new = [remark["code"] for remark in saved.pop("remarks") if remark["code"] not in OF_RUN_OR_CONFIGURATION]
    file.write_text(json.dumps(saved))
    loaded = ssdlab.load(tmp_path / "out")
    assert isinstance(loaded, ssdlab.Result)
    assert codes(loaded.remarks) == new
    assert "no-effect" in new
    assert "cache.clean_window has no effect" in str(loaded)
    assert of_run({}) == []


def test_remarks_of_several_runs_are_joined() -> None:
    every = of_runs({"x": result(a="Same."), "y": result(a="Same.")})
    assert [(remark.where, str(remark)) for remark in every] == [((), "Same. Do it. (a)")]
    some = of_runs({"x": result(a="One."), "y": result(a="Two."), "z": result()})
    assert [str(remark) for remark in some] == ["x: One. Do it. (a)", "y: Two. Do it. (a)"]
    many = of_runs({f"r{number}": result(a=f"It is {number}.5 % of p99.") for number in range(9)} | {"x": {"remarks": []}})
    assert [str(remark) for remark in many] == ["r0, r1, r2 and 6 more: It is 0.5 to 8.5 % of p99. Do it. (a)"]


def test_write_amplifications_of_unlike_variants_are_no_range() -> None:
    """What has not settled is of one variant each: a range of unlike ones is nobody's value. Other numbers, and close values, have one."""

    def told(*amplifications: float, among: int = 0) -> str:
        drifting = {
            f"v{at}": result(not_settled=f"Write amplification has not settled: {value:.3f}, {at + 1:+.1f} % between the halves.")
            for at, value in enumerate(amplifications)
        }
        (found,) = of_comparison(drifting | {f"w{at}": result(other="") | {"remarks": []} for at in range(among)})
        assert set(found.where) == (set(drifting) if among else set())
        return found.headed

    assert told(2.429, 8.417) == "Write amplification has not settled: 2.429 (v0), 8.417 (v1), +1.0 to +2.0 % between the halves."
    assert told(2.429, 8.417, among=1).startswith("v0, v1: Write amplification has not settled: 2.429, 8.417, +1.0 to +2.0 %")
    assert told(2.0, 8.0, 3.0, 4.0, 5.0).startswith("Write amplification has not settled: 2.000 (v0), 8.000 (v1), 3.000 (v2) and 2 more, +")
    assert told(2.0, 2.01).startswith("Write amplification has not settled: 2.000 to 2.010, +"), "0.5 % is the tolerance of the core"
    assert told(2.0, 2.011).startswith("Write amplification has not settled: 2.000 (v0), 2.011 (v1), +")
    assert told(2.429, 2.429).startswith("Write amplification has not settled: 2.429, +")


def test_points_of_a_sweep_are_named_by_the_values_that_they_share() -> None:
    axes: dict[str, list[Any]] = {"spare": [0.07, 0.1, 0.2], "scheme": ["npgc", "pgc"]}

    def told(has: Callable[[float, str], bool]) -> list[str]:
        points = [
            ({"spare": spare, "scheme": scheme}, result(**({"a": f"{spare}."} if has(spare, scheme) else {})))
            for spare in axes["spare"]
            for scheme in axes["scheme"]
        ]
        return [str(remark) for remark in of_sweep(axes, points)]

    assert told(lambda spare, _: spare == 0.07) == ["all points with spare = 0.07: 0.07. Do it. (a)"]
    both = told(lambda spare, scheme: spare < 0.2 and scheme == "pgc")
    assert both == ["all points with spare = 0.07 or 0.1, scheme = pgc: 0.07 to 0.1. Do it. (a)"]
    assert told(lambda *_: True) == ["0.07 to 0.2. Do it. (a)"]
    assert told(lambda spare, scheme: (spare == 0.07) != (scheme == "pgc"))[0].startswith("spare = 0.07, scheme = npgc; ")


def test_few_blocks_matter_where_victim_policies_differ() -> None:
    def run(victim: str, blocks: int) -> dict[str, Any]:
        shape = {"device": {"blocks_per_plane": blocks, "planes_per_die": 1}, "ftl": {"pool": "plane"}, "gc": {"victim": victim}}
        return {"config": shape, "remarks": []}

    assert codes(of_runs({"a": run("greedy", 57), "b": run("fifo", 57)})) == ["few-blocks"]
    assert codes(of_runs({"a": run("greedy", 57), "b": run("greedy", 57)})) == []
    assert codes(of_runs({"a": run("greedy", 500), "b": run("fifo", 500)})) == []


def test_what_a_preset_or_a_scheme_decides_has_no_remark() -> None:
    """Every preset of a device is described where it is listed, so that remarks speak of what the reader set."""
    found = ssdlab.compare(schemes=["pgc", "fpgc", "nvme"], device="nvme-4g", requests=50, set={"ftl.precondition.kind": "fill"})
    assert not {"threshold-takes-spare", "gc-not-suspended", "few-blocks", "small-blocks"} & set(codes(found.remarks))


def test_letters_go_on_after_z() -> None:
    remarks = [Remark("c", "note", "", f"{number}", "") for number in range(28)]
    assert [letter for letter, _ in shown(remarks).lettered()][24:] == ["y", "z", "aa", "ab"]


def test_every_code_of_the_package_is_in_the_reference() -> None:
    page = _core.statistics_reference()
    source = "".join((ROOT / "python" / "ssdlab" / "analysis" / name).read_text() for name in ("remarks.py", "differences.py"))
    made = {*re.findall(r'Remark\("([a-z-]+)"', source), "no-collection"}
    assert len(made) >= 4
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| (note|warning) \|", page.split("## Remarks")[1], re.MULTILINE))
    assert made <= set(listed)


STUDY = """
title = "A drive with too much to do"
place = "nowhere"
about = "Requests come faster than they complete."
schemes = ["npgc"]
requests = 2000
seeds = [1]

[metrics]
mean = "latency_ns.all.mean / 1e6"
requests = "requests.write + requests.read"

[[rows]]
what = "mean"
value = "mean[npgc]"

[[rows]]
what = "requests"
value = "requests[npgc]"

[set]
"""


def test_a_study_says_which_of_its_numbers_hold_under_a_condition(tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (tmp_path / "s.toml").write_text(STUDY + "".join(f"{key} = {json.dumps(value)}\n" for key, value in OVERLOADED.items()))
    printed = ssdlab_command("study", "run", "s.toml", "--out", "out")
    assert printed.code == 0, printed.err
    assert "Requests came faster than the drive completed them" in printed.out
    study = json.loads(next((tmp_path / "out").rglob("study.json")).read_text())
    rows = {row["what"]: row.get("remarks") for row in study["rows"]}
    assert rows == {"mean": ["overloaded"], "requests": None}
    assert "overloaded" in [remark["code"] for remark in study["remarks"]]


def test_traces_of_flows_are_replayed_too() -> None:
    assert replays({"config": {"workload": {"trace": "a.csv"}}})
    assert replays({"config": {"workload": {"trace": None, "flows": [{"name": "log"}, {"trace": "a.csv"}]}}})
    assert not replays({"config": {"workload": {"trace": None, "flows": [{"name": "log"}]}}})
    assert not replays({})
