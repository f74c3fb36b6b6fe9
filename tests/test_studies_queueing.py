"""Studies of the queueing model: their runs, its formulas in expressions, figures over formulas and over time."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import ssdlab
from conftest import Ssdlab, interrupted_study
from ssdlab.experiments.study.definition import parse
from ssdlab.experiments.study.expressions import AbsentError, Formula
from ssdlab.experiments.study.timelines import steps

QUEUE = """
title = "One die"
place = "nowhere"
about = "Users go first, or wait."

engine = "queueing"
device = "bux2011"
schemes = ["cep", "rwp"]
requests = 3000
quick = 500
seeds = [1, 2, 3]

[queueing]
read_per_ms = 1.0
write_per_ms = 0.5

[[vary]]
name = "valid pages"
key = "queueing.valid"
values = [0, 32, 64]

[metrics]
wait = { of = "wait_ns.all.mean / 1e6", title = "Mean wait (ms)" }
eq15 = { of = "mean_wait_rwp(1, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256, 64)", title = "(15)" }
eq16 = { of = "gc_duration_cep(0.9507, 3.0003, 64)", title = "(16)" }

[[rows]]
what = "cep against rwp"
value = "min(wait[cep, 32..64] / wait[rwp, 32..64])"
at_least = 1

[[rows]]
what = "overload"
value = "mean_wait_rwp(1, 5, 0.0763, 0.9264, 0.9507, 3.0003, 256, 64)"

[figure]
panels = ["wait"]
overlay = { wait = "eq15[rwp]" }
over_time = ["wait[64]", "queue[64]", "copies[64]", "duration[64]", "backlog[64]"]
window_ms = [0, 1000]
"""

BOTH = """
title = "A die and its model"
place = "nowhere"
about = "The same requests."

device = "bux2011"
schemes = ["rwp", "cep"]
requests = 2000
seeds = [1]

[set]
workload.request_kb = 4
workload.request_size = "fixed"
workload.read_share = 0.5
workload.interarrival_us = 1000

[[vary]]
name = "model"
points = [
  { label = "drive", set = { scheduler.order = "fcfs", device.blocks_per_plane = 64 } },
  { label = "queue", engine = "queueing", queueing = { arrivals = "replayed" } },
]

[[vary]]
name = "requests (us)"
key = "workload.interarrival_us"
values = [1000, 2000]

[metrics]
wait = { of = { drive = "(breakdown_ns.all.die_queue + breakdown_ns.all.gc) / 1e6", queueing = "wait_ns.all.mean / 1e6" }, title = "Wait" }
valid = { of = { drive = "gc.pages_moved / gc.jobs" }, title = "Valid" }

[[rows]]
what = "reads"
value = "wait[rwp, drive, 1000] / wait[rwp, queue, 1000]"

[[rows]]
what = "of the drive alone"
value = "valid[rwp, queue, 1000]"

[figure]
panels = ["wait"]
together = "model"
over_time = ["wait[*, 1000]"]
"""


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    path = tmp_path / "queue.toml"
    path.write_text(QUEUE)
    return path


# expressions


def test_formulas_of_the_model_are_functions() -> None:
    values = {"a": 64.0, "b": (32.0, 64.0)}
    assert Formula("gc_duration_cep(0.9507, 3.0003, a)", "here").number(values.__getitem__) == pytest.approx(63.8451)
    assert Formula("max(gc_duration_cep(0.9507, 3.0003, b))", "here").number(values.__getitem__) == pytest.approx(63.8451)
    with pytest.raises(AbsentError, match=r"mean_wait_rwp: .*utilisation.*below 1"):
        Formula("mean_wait_rwp(1, 5, 0.0763, 0.9264, 0.9507, 3.0003, 256, 64)", "here").number(values.__getitem__)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mean_wait_rwp(1, 2)", r"wrong number of arguments \(2\); mean_wait_rwp takes read_rate, write_rate"),
        ("gc_duration_cep(copy_time=1, erase_time=1, valid=1)", "no function|arithmetic"),
        ("mean_wait_rpw(1, 2)", 'no function mean_wait_rpw; did you mean "mean_wait_rwp"'),
        ("gc_duration_cep(1, 2, a)", "list of 2 numbers"),
        ("gc_duration_cep(1, a, b)", "lists of 2 and 3 numbers"),
        ("mean_wait_rwp(9, 9, 9, 9, 9, 9, 2, 1) + a", "list of 2 numbers"),
    ],
)
def test_a_formula_called_wrongly_is_found_before_the_runs(text: str, words: str) -> None:
    with pytest.raises(ssdlab.ConfigError, match=words):
        Formula(text, "here").check({"a": (1.0, 2.0), "b": (1.0, 2.0, 3.0)}.__getitem__)


# files


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('engine = "queueing"', 'engine = "queuing"', ["engine", "queuing", 'did you mean "queueing"', "drive"]),
        ("read_per_ms = 1.0", "reads_per_ms = 1.0", ["queueing", "reads_per_ms", 'did you mean "read_per_ms"']),
        ('"queueing.valid"', '"queueing.valdi"', ["vary[0]", "valdi", 'did you mean "valid"']),
        ('schemes = ["cep", "rwp"]', 'schemes = ["cep", "rwp", "npgc"]', ["own/queue", "npgc", "rwp", "cep", "fifo"]),
        ("[0, 32, 64]", "[0, 32, 64, 256]", ["own/queue", "valid", "256"]),
        ("[queueing]", "[set]\ngc.soft = 3\n[queueing]", ["own/queue", "gc.soft", "queueing", "workload."]),
        ("[queueing]", "[set]\ndevice.channels = 1\n[queueing]", ["own/queue", "device.channels", "queueing"]),
        ("[queueing]", "[set]\nworkload.read_share = 0.5\n[queueing]", ["own/queue", "workload.read_share", "replayed"]),
        ('device = "bux2011"', 'device = "bux2011"\ntime_scale = 2', ["time_scale", "poisson"]),
        ("[queueing]", "[queueing]\nfree_blocks = 0", ["own/queue", "free_blocks"]),
        ("[queueing]", '[queueing]\nfree_blocks = "two"', ["own/queue", "free_blocks", "two"]),
        ("[queueing]", "[queueing]\npages = { a = 1 }", ["own/queue", "pages"]),
        ("[queueing]", '[queueing]\narrivals = "poison"', ["own/queue", "arrivals", "poisson"]),
        ('device = "bux2011"', 'device = "bux2012"', ["bux2012", "bux2011"]),
        ('engine = "queueing"', "", ["over_time", "queue[64]", 'engine = "queueing"']),
        ("write_per_ms = 0.5", "write_per_ms = -0.5", ["write_per_ms", "-0.5"]),
        ("32..64] / wait", "64..32] / wait", ["rows[0]", "no values of valid pages from 64 to 32"]),
        ("32..64] / wait", "32..65] / wait", ["rows[0]", "65", "valid pages"]),
        ('wait = "eq15[rwp]"', 'wait = "eq14[rwp]"', ["overlay.wait", "eq14", "eq15, eq16"]),
        ('wait = "eq15[rwp]"', 'wait = "eq15[pwr]"', ["overlay.wait", "pwr"]),
        ('wait = "eq15[rwp]"', 'wiat = "eq15[rwp]"', ["overlay", "wiat", 'did you mean "wait"']),
        ('wait = "eq15[rwp]"', 'wait = "eq15["', ["overlay.wait", "mean[rwp]"]),
        ('wait = "eq15[rwp]"', "wait = 15", ["overlay.wait", "15"]),
        ('"wait[64]", "queue', '"waits[64]", "queue', ["over_time", "waits", 'did you mean "wait"']),
        ('"wait[64]", "queue', '"wait[65]", "queue', ["over_time", "65", "valid pages"]),
        ("window_ms = [0, 1000]", "window_ms = [1000, 0]", ["window_ms", "from"]),
        ("window_ms = [0, 1000]", "window_ms = 1000", ["window_ms", "list"]),
        ('over_time = ["wait[64]", "queue[64]", "copies[64]", "duration[64]", "backlog[64]"]', "", ["window_ms", "over_time"]),
        ("window_ms = [0, 1000]", 'together = "valid pages"', ["together", "valid pages"]),
        ('of = "wait_ns.all.mean / 1e6"', 'of = { que = "1" }', ["metrics.wait", "que", "engine"]),
        ('of = "wait_ns.all.mean / 1e6"', "of = { queueing = 1 }", ["metrics.wait", "expected an expression"]),
        ('"mean_wait_rwp(1, 0.5,', '"mean_wait_rwp(0.5,', ["metrics.eq15", "wrong number of arguments (7)", "read_rate"]),
    ],
)
def test_a_mistake_in_a_study_of_the_model_is_one_clear_line(
    ssdlab_command: Ssdlab, queue: Path, old: str, new: str, words: list[str]
) -> None:
    assert old in QUEUE
    queue.write_text(QUEUE.replace(old, new, 1))
    message = ssdlab_command("study", "run", queue).failed(2)
    assert all(word in message for word in words), message
    assert not (queue.parent / "results").exists()


def test_a_figure_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.ConfigError, match="figure: nothing to draw"):
        parse("own/queue", QUEUE.partition("[figure]")[0] + "[figure]\nlog = true\n", tmp_path)


def test_a_prepared_drive_means_nothing_to_the_model(ssdlab_command: Ssdlab, queue: Path) -> None:
    (queue.parent / "prefill.csv").write_text("offset_bytes,size_bytes\n0,4096\n")
    queue.write_text(QUEUE.replace("quick = 500", 'quick = 500\nprefill = "prefill.csv"'))
    assert 'prefill: engine = "queueing"' in ssdlab_command("study", "run", queue).failed(2)


def test_of_a_drive_only_waits_are_shown_over_time(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    path = tmp_path / "both.toml"
    path.write_text(BOTH.replace('over_time = ["wait[', 'over_time = ["copies['))
    message = ssdlab_command("study", "run", path).failed(2)
    assert "copies[drive, 1000]" in message
    assert 'engine = "queueing"' in message


# runs


def test_a_study_of_the_model(ssdlab_command: Ssdlab, queue: Path, tmp_path: Path) -> None:
    done = ssdlab_command("study", "run", queue)
    assert done.code == 0, done.err
    folder = tmp_path / "results" / "studies" / "own" / "queue"
    study = json.loads((folder / "study.json").read_text())
    first, second = study["rows"]
    assert first["reproduced"] == "yes"
    assert second["reproduced"] == "not measured"
    assert "utilisation" in second["reason"]
    assert len({run["digest"] for run in study["runs"]}) == 18
    results = [json.loads(path.read_text()) for path in folder.glob("runs/*/result.json")]
    assert len(results) == 18
    assert {sum(result["requests"].values()) for result in results} == {3000}
    ET.parse(folder / "figure.svg")
    assert (folder / "figure.svg").stat().st_size < 300_000
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_study_gives_the_same_files(ssdlab_command: Ssdlab, queue: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "studies" / "own" / "queue"

    def files() -> dict[str, str]:
        assert ssdlab_command("study", "run", queue, "--quick", "--quiet").code == 0
        return {name: (folder / name).read_text() for name in ("study.json", "figure.svg")}

    before = files()
    assert files() == before
    assert len(list(folder.glob("runs/*/result.json"))) == 12


def test_without_a_folder_nothing_else_changes(queue: Path, tmp_path: Path) -> None:
    with_folder = ssdlab.run_study(queue, quick=True, out=tmp_path / "out")
    assert ssdlab.run_study(queue, quick=True).to_dict() == with_folder.to_dict()
    assert {scheme for scheme, _, _ in with_folder.series} == {"cep", "rwp"}


def test_a_drive_and_its_model_in_one_study(tmp_path: Path) -> None:
    path = tmp_path / "both.toml"
    path.write_text(BOTH)
    result = ssdlab.run_study(path, out=tmp_path / "out")
    ratio, absent = result.outcomes
    assert ratio.estimate is not None
    assert ratio.estimate.mean > 0
    assert absent.verdict == "not measured"
    assert "valid is not defined for the engine queueing" in absent.reason
    counts = {
        path.parent.name: json.loads(path.read_text())["requests"]["read"] for path in (tmp_path / "out").glob("*/*/runs/*/result.json")
    }
    assert counts["rwp_drive_1000_seed1"] == counts["rwp_queue_1000_seed1"] == counts["cep_queue_1000_seed1"]
    folder = tmp_path / "out" / "own" / "both"
    ET.parse(folder / "figure.svg")
    assert (folder / "runs" / "rwp_drive_1000_seed1" / "requests.parquet").is_file()
    assert not (folder / "runs" / "rwp_drive_2000_seed1" / "requests.parquet").exists(), "only what the figure shows is kept"
    path.write_text(BOTH.replace('over_time = ["wait[*, 1000]"]', ""))
    ssdlab.run_study(path, out=tmp_path / "out")
    assert not list(folder.glob("runs/*/requests.parquet")), "nothing of the run before is left"


@pytest.mark.parametrize("json_", [False, True])
def test_ctrl_c_keeps_the_runs_that_had_finished(queue: Path, tmp_path: Path, json_: bool) -> None:
    seeds = f"seeds = {list(range(1, 100))}"
    queue.write_text(QUEUE.replace("seeds = [1, 2, 3]", seeds).replace("requests = 3000", "requests = 2_000_000"))
    folder = tmp_path / "results" / "studies" / "own" / "queue"
    out, kept = interrupted_study([str(queue), *(["--json"] if json_ else [])], folder, tmp_path)
    assert 0 < len(kept) < 6 * 99
    assert all(json.loads(path.read_text())["digest"] for path in kept)
    if json_:
        assert list(json.loads(out)) == ["studies", "interrupted"]
    assert not (folder / "study.json").exists()


def test_jobs_change_no_result(queue: Path) -> None:
    one, two = (ssdlab.run_study(queue, quick=True, jobs=jobs).to_dict() for jobs in (1, 2))
    assert one == two


# figures


def test_how_many_there_are_after_each_instant() -> None:
    times, counts = steps(np.array([0, 5]), np.array([2, 1]), np.array([3, 5, 9]))
    assert times.tolist() == [0, 3, 5, 9]
    assert counts.tolist() == [2, 1, 1, 0]


@pytest.mark.parametrize(
    ("metric", "engines"),
    [
        ('"1"', {"drive", "queueing"}),
        ('{ of = "1", title = "one" }', {"drive", "queueing"}),
        ('{ of = { drive = "1" } }', {"drive"}),
    ],
)
def test_a_metric_may_differ_by_engine(metric: str, engines: set[str], tmp_path: Path) -> None:
    text = f'title = "x"\nschemes = ["rwp"]\n[metrics]\none = {metric}\n'
    assert set(parse("own/x", text, tmp_path).metrics["one"].formulas) == engines
