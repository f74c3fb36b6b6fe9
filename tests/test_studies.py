"""Studies: their files, their arithmetic, and `ssdlab study` from end to end on a small drive."""

from __future__ import annotations

import contextlib
import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import ROOT, SMALL, Ssdlab, interrupted_study
from ssdlab.analysis.paired import paired_by_size
from ssdlab.analysis.uncertainty import Estimate
from ssdlab.cli import studies as cli_studies
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import Row, parse
from ssdlab.experiments.study.evaluation import Outcome
from ssdlab.experiments.study.expressions import AbsentError, Formula, lookup
from ssdlab.experiments.study.running import prepare
from ssdlab.runs.batch import Job, Pairs

SETTINGS = "\n".join(f"{key} = {value}" for key, value in SMALL.items())
TINY = f"""
title = "A small drive"
place = "nowhere"
about = "Host requests go first, or wait."
deviations = ["It is small."]

device = "lee2013"
workload = "lee2013-synthetic"
schemes = ["npgc", "rwp"]
requests = 2000
quick = 300
seeds = [1, 2, 3]

[set]
{SETTINGS}

[[vary]]
name = "request size (KB)"
key = "workload.request_kb"
values = [4, 16]

[metrics]
mean = {{ of = "latency_ns.all.mean / 1e6", title = "Mean (ms)" }}
none = "nothing.like.that"

[[rows]]
what = "mean at 16 KB, rwp against npgc"
value = "change(mean[rwp, 16], mean[npgc, 16])"
unit = "%"
paper = -20.5
at_most = 0

[[rows]]
what = "what cannot be"
value = "min(mean[npgc])"
at_most = 0

[[rows]]
what = "what no run has"
value = "none[npgc, 4]"

[figure]
panels = ["mean"]
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


# arithmetic


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("-a[x, 1] ** 2", -4.0),
        ("max(a[x]) / min(a[x])", 3.0),
        ("mean(a[x])", 11 / 3),
        ("change(a[x, 1], 8)", -75.0),
        ("max(change(a[x], a[x]))", 0.0),
        ("min(growth(a[x]))", 1.5),
        ("max(1, a[x], 7)", 7.0),
        ("count(a[x], 3)", 2.0),
        ("count(a[x] - 1, 1) + count(4, 4)", 2.0),
    ],
)
def test_rows_are_arithmetic(text: str, value: float) -> None:
    formula = Formula(text, "here")
    stand_for = {("x", "1"): 2.0, ("x",): (2.0, 3.0, 6.0)}
    assert formula.number(lambda name: stand_for[formula.references[name].where]) == pytest.approx(value)


@pytest.mark.parametrize("text", ["1 / 0", "change(1, 0)", "0 / 0 + 1", "10 ** 1000", "(0 - 1) ** 0.5"])
def test_what_is_no_finite_number_is_not_measured(text: str) -> None:
    with pytest.raises(AbsentError, match="finite"):
        Formula(text, "here").number(lambda _: 0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 +", "cannot be read"),
        ("median(1, 2)", 'no function median; did you mean "mean"? (there are min, max, mean'),
        ("__import__('os').system('true')", "no function"),
        ("(lambda: 1)()", "no function"),
        ("'a' * 9", "not arithmetic"),
        ("1 if 2 else 3", "not arithmetic"),
        ("[1, 2]", "not arithmetic"),
    ],
)
def test_what_is_not_arithmetic_is_refused(text: str, words: str) -> None:
    with pytest.raises(ssdlab.ConfigError, match=re.escape(words)):
        Formula(text, "here").number(lambda _: 0.0)


def test_a_list_is_no_number() -> None:
    with pytest.raises(ssdlab.ConfigError, match="list of 2 numbers; name one of them"):
        Formula("a[x]", "here").number(lambda _: (1.0, 2.0))


def test_an_entry_that_a_result_does_not_have_is_named_with_the_nearest() -> None:
    assert lookup({"a": {"mean": 2}}, "a.mean") == 2.0
    with pytest.raises(AbsentError, match=r'no a\.maen; did you mean "mean"'):
        lookup({"a": {"mean": 2}}, "a.maen")


def test_parts_of_a_list_are_found_by_their_names() -> None:
    result = {"flows": [{"name": "load", "iops": 3}, {"name": "probe", "latency_ns": {"read": {"p50": 7}}}]}
    assert lookup(result, "flows.probe.latency_ns.read.p50") == 7.0
    assert Formula("flows.load.iops / 2", "here").number(lambda name: lookup(result, name)) == 1.5
    with pytest.raises(AbsentError, match=r'no flows\.prob\.iops; did you mean "probe"'):
        lookup(result, "flows.prob.iops")


# intervals and verdicts


def test_the_interval_is_students() -> None:
    estimate = Estimate.of([1.0, 2.0, 3.0])
    assert estimate.mean == 2.0
    assert estimate.half == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert Estimate.of([5.0]).half is None


@pytest.mark.parametrize(
    ("values", "bounds", "verdict"),
    [
        ([1.0, 1.2, 1.1], {"at_least": 0.8}, "yes"),
        ([1.0, 1.2, 1.1], {"at_least": 1.0}, "within interval"),
        ([1.0, 1.2, 1.1], {"at_most": 1.2}, "within interval"),
        ([1.0, 1.2, 1.1], {"at_least": 0.8, "at_most": 1.4}, "yes"),
        ([1.1], {"at_least": 1.0}, "yes"),
        ([0.9, 1.0, 1.0], {"at_least": 1.0}, "within interval"),
        ([0.1, 0.1, 0.11], {"at_least": 1.0}, "NO"),
        ([0.1], {"at_least": 0.0, "at_most": 0.05}, "NO"),
        ([0.1], {}, ""),
    ],
)
def test_verdicts(values: list[float], bounds: dict[str, float], verdict: str) -> None:
    assert Outcome(Row("", Formula("1", ""), **bounds), Estimate.of(values)).verdict == verdict


# files


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("requests =", "request =", ["unknown key", "request", "requests"]),
        ("[metrics]", "[metrics", ["TOML"]),
        ('key = "workload.request_kb"', 'key = "request_kb"', ["vary[0]", "request_kb"]),
        ("values = [4, 16]", "values = [4, 4]", ["vary[0]", "label"]),
        ("values = [4, 16]", 'values = [4, 16]\nlabels = ["a"]', ["1 labels for 2 values"]),
        ("mean[rwp, 16]", "mean[rpw, 16]", ["rows[0]", "rpw", 'did you mean "rwp"']),
        ("mean[rwp, 16]", "maen[rwp, 16]", ["metric", "maen", 'did you mean "mean"']),
        ("mean[rwp, 16]", "mean[rwp, 15]", ["request size (KB)", "15"]),
        ("mean[rwp, 16]", "mean[rwp, 16, 1]", ["more values"]),
        ("mean[rwp, 16]", "mean", ["mean needs brackets"]),
        ('panels = ["mean"]', 'panels = ["mean"]\npublished = true\nrelative_to = "rwp"', ["figure: published", "relative to a scheme"]),
        ('panels = ["mean"]', 'over_time = ["wait"]\npublished = true', ["figure: published", "without panels"]),
        ('panels = ["mean"]', 'panels = ["meen"]', ["figure", "meen", 'did you mean "mean"']),
        ("paper = -20.5", 'paper = "-20.5"', ["paper", "number"]),
        ("seeds = [1, 2, 3]", "seeds = [1, 1]", ["twice"]),
        ("min(mean[npgc])", "mean[npgc]", ["rows[1]", "list of 2 numbers"]),
        ("min(mean[npgc])", "change(mean[npgc, 4])", ["rows[1]", "change(mean[npgc, 4]): wrong number of arguments"]),
        ("min(mean[npgc])", "max(growth(mean[npgc]) - mean[rwp])", ["rows[1]", "growth(mean[npgc])", "lists of 1 and 2 numbers"]),
        ("min(mean[npgc])", "[mean[npgc]]", ["rows[1]", "[mean[npgc]] is not arithmetic"]),
        ('what = "what cannot be"', 'what = ""', ["rows[1]", "what is missing"]),
        ("nothing.like.that", "change(nothing.like.that)", ["metrics.none", "wrong number of arguments"]),
        ("values = [4, 16]", 'values = [4, 16]\nlabels = ["<16", "16"]', ["no request size", "4"]),
        ('schemes = ["npgc", "rwp"]', 'schemes = "npgc"', ["schemes", "list of text"]),
        ("device.channels = 2", "device.chanels = 2", ["own/tiny", "device.chanels", "device.channels"]),
        ('device = "lee2013"', 'device = "lee2031"', ["lee2031", "lee2013"]),
    ],
)
def test_a_mistake_in_a_file_is_one_clear_line(ssdlab_command: Ssdlab, tiny: Path, old: str, new: str, words: list[str]) -> None:
    assert old in TINY
    tiny.write_text(TINY.replace(old, new, 1))
    message = ssdlab_command("study", "run", tiny).failed(2)
    assert all(word in message for word in words), message


@pytest.mark.parametrize("arguments", [[], ["--all", "lee2013"]])
def test_studies_are_named_or_all_are_asked_for(ssdlab_command: Ssdlab, arguments: list[str]) -> None:
    assert "name studies, or give --all" in ssdlab_command("study", "run", *arguments).failed(2)


def test_of_many_studies_those_without_their_traces_are_left_out(
    ssdlab_command: Ssdlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = {prepared.study.name for prepared in cli_studies.prepared_of(["wu2017"], quick=True, out=tmp_path, traces=None)}
    assert "wu2017/fig6" in found
    assert "wu2017/traces" not in found
    assert "was not found" in ssdlab_command("study", "run", "wu2017/traces").failed(1)


def test_labels_whose_results_would_lie_in_one_folder_are_refused(ssdlab_command: Ssdlab, tiny: Path, tmp_path: Path) -> None:
    text = TINY.replace("values = [4, 16]", 'values = [4, 16]\nlabels = ["<4", ">4"]')
    tiny.write_text(text.replace(", 16]", ", >4]").replace("npgc, 4]", "npgc, <4]").replace("[4, >4]", "[4, 16]"))
    message = ssdlab_command("study", "run", tiny).failed(2)
    assert '"npgc", "<4" and of "npgc", ">4"' in message
    assert "same folder" in message
    assert not (tmp_path / "results").exists()


def test_two_files_of_one_name_are_refused(ssdlab_command: Ssdlab, tiny: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "tiny.toml"
    other.parent.mkdir()
    other.write_text(TINY)
    message = ssdlab_command("study", "run", tiny, other).failed(2)
    assert "both are named own/tiny" in message
    assert len(library.find([str(tiny), f"{other.parent}/../tiny.toml", "lee2013/fig10a", "lee2013/fig10a"])) == 2


def test_whole_numbers_are_labels_with_all_their_digits(tmp_path: Path) -> None:
    study = parse(
        "own/tiny", TINY.replace("[4, 16]", "[1000001, 1000002]").replace(", 16]", ", 1000002]").replace(", 4]", ", 1000001]"), tmp_path
    )
    assert study.axes[0].labels == ("1000001", "1000002")


@pytest.mark.parametrize("name", library.shipped())
def test_every_study_names_what_there_is(name: str) -> None:
    study = library.load(name)
    assert study.place
    assert study.about
    assert study.rows
    assert {part for scheme in study.schemes for part in scheme.split("+")} <= set(ssdlab.presets("scheme"))
    assert all(point.setup.get("workload", "cello-like") in ssdlab.presets("workload") for axis in study.axes for point in axis.points)
    requests, quick = study.setup.get("requests"), study.setup.get("quick")
    assert requests is None or (quick is not None and quick < requests)
    with contextlib.suppress(ssdlab.TraceError):  # captured traces do not come with the package
        prepare(study, quick=True)


def test_every_study_is_built_in() -> None:
    files = {str(path.relative_to(ROOT / "studies").with_suffix("")) for path in (ROOT / "studies").glob("*/*.toml")}
    assert set(library.shipped()) == files


# the command


def test_list_and_show(ssdlab_command: Ssdlab) -> None:
    done = ssdlab_command("study", "list")
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines()] == list(library.shipped())
    shown = ssdlab_command("study", "show", "lee2013/fig10a")
    assert shown.out == (ROOT / "studies" / "lee2013" / "fig10a.toml").read_text()


def test_run_and_report(ssdlab_command: Ssdlab, tiny: Path, tmp_path: Path) -> None:
    done = ssdlab_command("study", "run", tiny, "--out", "results")
    assert done.code == 0, done.err
    assert "-20.5 %" in done.out
    assert "NO" in done.out, "a row that does not reproduce is shown"
    assert "the run has no nothing.like.that" in done.out
    folder = tmp_path / "results" / "own" / "tiny"
    result = json.loads((folder / "study.json").read_text())
    first, second, third = result["rows"]
    assert first["difference"] == pytest.approx(first["measured"]["mean"] + 20.5)
    assert len(first["measured"]["values"]) == 3
    assert first["measured"]["interval"] > 0
    assert second["reproduced"] == "NO"
    assert third["reproduced"] == "not measured"
    assert "measured" not in third
    assert {len({run["digest"] for run in result["runs"] if run["scheme"] == scheme}) for scheme in ("npgc", "rwp")} == {6}
    assert len(list(folder.glob("runs/*/result.json"))) == 12
    ET.parse(folder / "figure.svg")
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")

    page = ssdlab_command("study", "report", "results")
    assert page.code == 0, page.err
    text = (tmp_path / "results" / "report.html").read_text()
    assert "data:image/png;base64," in text
    assert "http" not in text, "nothing is loaded from elsewhere"
    assert "what cannot be" in text
    assert "This says nothing about size; the grade does." in text
    assert ssdlab_command("study", "report", "results", "--out", "page.md").code == 0
    text = (tmp_path / "page.md").read_text()
    assert "| what cannot be |" in text
    assert "It is small." in text
    assert "](page/own-tiny.svg)" in text
    assert (tmp_path / "page" / "own-tiny.svg").is_file()


def test_the_same_study_gives_the_same_files_and_leaves_nothing_of_another(ssdlab_command: Ssdlab, tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "studies" / "own" / "tiny"

    def files() -> dict[str, str]:
        assert ssdlab_command("study", "run", tiny, "--quick", "--quiet").code == 0
        return {name: (folder / name).read_text() for name in ("study.json", "figure.svg")}

    before = files()
    assert files() == before
    tiny.write_text(TINY.replace("[4, 16]", "[8, 16]").replace("none[npgc, 4]", "none[npgc, 8]"))
    assert files() != before
    assert len(list((folder / "runs").iterdir())) == 8, "two sizes, two schemes, two seeds: none of the earlier run's"


def test_a_figure_that_fails_does_not_cost_the_study(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no figure")

    monkeypatch.setattr("ssdlab.experiments.study.figures.draw", fail)
    with pytest.raises(ValueError, match="no figure"):
        ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
    assert json.loads((tmp_path / "out" / "own" / "tiny" / "study.json").read_text())["runs"]


def test_panels_that_share_a_scale_hold_all_their_points(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second column has the larger values: its panel must not be cut off where the first one's ends."""
    head, figure = TINY.partition("[[rows]]")[0], TINY.partition("[figure]")[2]
    gaps = '[[vary]]\nname = "gap"\nkey = "workload.interarrival_us"\nvalues = [3000, 6000]\n\n[metrics]'
    tiny.write_text(head.replace("[metrics]", gaps).replace("[4, 16]", "[4, 64]") + "[figure]" + figure)
    drawings: list[Any] = []
    monkeypatch.setattr("ssdlab.experiments.study.figures.save", lambda drawing, _: drawings.append(drawing))
    ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
    tops = []
    for panel in drawings[0].axes:
        heights = [height for line in panel.get_lines() for height in line.get_ydata()]
        low, high = panel.get_ylim()
        assert low == 0
        assert max(heights) <= high
        tops.append(max(heights))
    assert len(tops) == 2
    assert tops[0] < tops[1]


@pytest.mark.parametrize("labels", ["", '\nlabels = ["small", "large"]'])
def test_published_numbers_stand_in_the_panels(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: str) -> None:
    """Over numbers where the points are, over names at the bar of their scheme; of a change of two means there is none."""
    last = "large" if labels else "16"
    text = TINY.replace("rwp, 16]", f"rwp, {last}]").replace("npgc, 16]", f"npgc, {last}]").replace("[4, 16]", f"[4, 16]{labels}")
    row = f'[[rows]]\nwhat = "as published"\nvalue = "mean[rwp, {last}]"\nunit = "ms"\npaper = 2.5\n\n[figure]\npublished = true'
    tiny.write_text(text.replace("[figure]", row).replace("npgc, 4]", "npgc, small]" if labels else "npgc, 4]"))
    drawings: list[Any] = []
    monkeypatch.setattr("ssdlab.experiments.study.figures.save", lambda drawing, _: drawings.append(drawing))
    ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
    (panel,) = drawings[0].axes
    ((xs, ys),) = [line.get_data() for line in panel.get_lines() if line.get_label() == "published"]
    assert list(ys) == [2.5]
    assert list(xs) == pytest.approx([1.2] if labels else [16.0])


@pytest.mark.parametrize("formula", ["0 * latency_ns.all.mean", "0 - latency_ns.all.mean", "nothing.like.that"])
@pytest.mark.filterwarnings("error")
def test_a_logarithmic_figure_of_nothing_above_0_is_drawn(tiny: Path, tmp_path: Path, formula: str) -> None:
    text = TINY.replace('panels = ["mean"]', 'panels = ["mean", "none"]\nlog = true').replace("nothing.like.that", formula)
    tiny.write_text(text)
    ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
    ET.parse(tmp_path / "out" / "own" / "tiny" / "figure.svg")


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"study": 1}'])
def test_what_is_no_result_of_a_study_is_named(ssdlab_command: Ssdlab, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "results" / "own" / "tiny"
    folder.mkdir(parents=True)
    (folder / "study.json").write_text(text)
    message = ssdlab_command("study", "report", "results").failed(2)
    assert "own/tiny/study.json: no result of a study" in message


def test_a_result_with_a_broken_row_is_named(ssdlab_command: Ssdlab, tiny: Path, tmp_path: Path) -> None:
    result = ssdlab.run_study(tiny, quick=True, out=tmp_path / "results").to_dict()
    (tmp_path / "results" / "own" / "tiny" / "study.json").write_text(json.dumps({**result, "rows": [{}]}))
    assert "no result of a study" in ssdlab_command("study", "report", "results").failed(2)


def test_quick_is_shorter(ssdlab_command: Ssdlab, tiny: Path) -> None:
    study = ssdlab_command("study", "run", tiny, "--quick", "--json").json()["studies"]["own/tiny"]
    assert study["quick"]
    assert study["seeds"] == [1, 2]
    assert study["setup"]["requests"] == 300


def test_quick_takes_one_seed_where_runs_are_many(tiny: Path) -> None:
    schemes, values = '["npgc", "rwp"]', "values = [4, 16]"
    text = (
        tiny.read_text().replace(values, f"values = {list(range(1, 11))}").replace("rwp, 16]", "rwp, 10]").replace("npgc, 16]", "npgc, 10]")
    )
    tiny.write_text(text)
    assert library.load(str(tiny)).shortened().seeds == (1, 2), "2 schemes x 10 values x 2 seeds are 40 runs"
    tiny.write_text(text.replace(schemes, '["npgc", "rwp", "pgc"]'))
    longer = library.load(str(tiny))
    assert longer.shortened().seeds == (1,)
    assert longer.seeds == (1, 2, 3)


def test_schemes_see_the_same_requests(ssdlab_command: Ssdlab, tiny: Path, tmp_path: Path) -> None:
    assert ssdlab_command("study", "run", tiny, "--quick", "--quiet").code == 0
    counts = {
        path.parent.name.split("_", 1)[0]: json.loads(path.read_text())["requests"]
        for path in (tmp_path / "results" / "studies" / "own" / "tiny" / "runs").glob("*_16_seed2/result.json")
    }
    assert counts["npgc"] == counts["rwp"]


def test_an_unknown_study_is_named_with_the_nearest(ssdlab_command: Ssdlab) -> None:
    message = ssdlab_command("study", "run", "lee2013/fig1oa").failed(2)
    assert 'did you mean "lee2013/fig10a"' in message
    assert "no-such.toml" in ssdlab_command("study", "run", "no-such.toml").failed(1)
    assert "no results of studies" in ssdlab_command("study", "report", "nowhere").failed(2)


WITH_TRACES = """
title = "Traces"
device = "demo-4g"
schemes = ["npgc"]
requests = 200
[[vary]]
name = "trace"
points = [
  { label = "here", trace = "here.csv" },
  { label = "absent", trace = "absent.csv" },
]
[metrics]
mean = "latency_ns.all.mean"
[[rows]]
what = "of the one that is here"
value = "mean[npgc, here]"
at_least = 0
[[rows]]
what = "of the other"
value = "mean[npgc, absent]"
at_least = 0
"""


def test_a_trace_that_is_not_there_is_skipped_with_the_reason(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    study = tmp_path / "traces.toml"
    study.write_text(WITH_TRACES)
    message = ssdlab_command("study", "run", study).failed(1)
    assert "here.csv" in message
    assert "--traces" in message
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "here.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n9,R,0,4096\n")
    result = ssdlab_command("study", "run", study, "--traces", folder, "--json").json()["studies"]["own/traces"]
    here, absent = result["rows"]
    assert here["reproduced"] == "yes"
    assert absent["reproduced"] == "not measured"
    assert "absent.csv" in absent["reason"]
    assert result["skipped"][0]["values"] == ["absent"]


def test_from_python(tiny: Path, tmp_path: Path) -> None:
    assert "lee2013/fig10a" in ssdlab.studies()
    result = ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
    assert result.outcomes[0].verdict in ("yes", "within interval", "NO")
    assert result.estimate("mean", "rwp", ("16",)).mean > 0
    assert ssdlab.study_report(tmp_path / "out", tmp_path / "page.html") == 1
    assert ssdlab.run_study(tiny, quick=True).to_dict() == result.to_dict(), "without a folder nothing is written, and nothing else changes"


def test_a_run_that_fails_leaves_the_others(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    study = tmp_path / "traces.toml"
    study.write_text(WITH_TRACES)
    (tmp_path / "here.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n9,R,0,4096\n")
    (tmp_path / "absent.csv").write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\nnonsense\n")
    done = ssdlab_command("study", "run", study)
    assert done.code == 1
    assert "absent.csv:3" in done.err
    result = json.loads((tmp_path / "results" / "studies" / "own" / "traces" / "study.json").read_text())
    assert [row["reproduced"] for row in result["rows"]] == ["yes", "not measured"]
    assert "did not finish" in result["rows"][1]["reason"]


def test_a_study_of_which_every_run_fails_has_no_results(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    study = tmp_path / "traces.toml"
    study.write_text(WITH_TRACES)
    for name in ("here.csv", "absent.csv"):
        (tmp_path / name).write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\nnonsense\n")
    done = ssdlab_command("study", "run", study)
    assert done.code == 1
    assert all(f"{name}:3" in done.err for name in ("here.csv", "absent.csv"))
    assert "results:" not in done.out
    assert not list((tmp_path / "results").rglob("study.json"))
    assert "no results of studies" in ssdlab_command("study", "report", "results/studies").failed(2)
    for name in ("here.csv", "absent.csv"):
        (tmp_path / name).write_text("timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n9,R,0,4096\n")
    assert ssdlab_command("study", "run", study).code == 0
    assert list((tmp_path / "results").rglob("study.json"))


@pytest.mark.parametrize("json_", [False, True])
def test_ctrl_c_keeps_the_runs_that_had_finished(tiny: Path, tmp_path: Path, json_: bool) -> None:
    first = tmp_path / "first.toml"
    first.write_text(TINY.replace("requests = 2000", "requests = 100").replace("[1, 2, 3]", "[1]"))
    tiny.write_text(TINY.replace("seeds = [1, 2, 3]", f"seeds = {list(range(1, 100))}").replace("requests = 2000", "requests = 200_000"))
    folder = tmp_path / "results" / "studies" / "own" / "tiny"
    arguments = [str(first), str(tiny), "--json"] if json_ else [str(tiny)]
    out, kept = interrupted_study(arguments, folder, tmp_path)
    if json_:
        printed = json.loads(out)
        assert list(printed["studies"]) == ["own/first"]
        assert printed["interrupted"]["study"] == "own/tiny"
        # Ctrl-C may come when a result has just been written
        assert len(kept) - len(printed["interrupted"]["runs"]) in (0, 1)
    else:
        assert out == ""
    assert 0 < len(kept) < 4 * 99
    assert all(json.loads(path.read_text())["requests"] for path in kept)
    assert not (folder / "study.json").exists()


# pairing

PAIRED = TINY.replace('schemes = ["npgc", "rwp"]', 'schemes = ["npgc", "rwp"]\npaired = "BASE"').replace(
    'none = "nothing.like.that"', 'none = "paired.all.slower"'
)


@pytest.mark.parametrize(("base", "other"), [("npgc", "rwp"), ("rwp", "npgc")], ids=["first", "last"])
def test_each_request_is_paired_with_the_same_one_of_another_scheme(tiny: Path, tmp_path: Path, base: str, other: str) -> None:
    tiny.write_text(PAIRED.replace("BASE", base))
    result = ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
    runs = tmp_path / "out" / "own" / "tiny" / "runs"
    found = json.loads((runs / f"{other}_16_seed2" / "result.json").read_text())
    settings = {**SMALL, "workload.request_kb": 16}
    logged = ssdlab.compare(
        device="lee2013", workload="lee2013-synthetic", schemes=[base, other], requests=300, seed=2, set=settings, paired=True
    )
    sizes = found["paired"].pop("by_size")
    assert found["paired"] == logged.paired[other]
    assert sum(size["requests"] for size in sizes.values()) in (0, 300)
    assert "paired" not in json.loads((runs / f"{base}_16_seed2" / "result.json").read_text())
    assert result.estimate("none", other, ("16",)) is not None
    assert result.estimate("none", base, ("16",)) is None
    assert not list(runs.glob("*/requests.parquet")), "the logs were for the pairing only"


class Logged:
    """A result with the interface that pairing uses."""

    def __init__(self, name: str, told: list[str]) -> None:
        self.name, self.told = name, told

    def pair_with(self, base: Logged, tolerance: float) -> None:
        assert tolerance == 0.5
        self.told.append(f"{self.name} with {base.name}")

    def drop_log(self) -> None:
        self.told.append(f"no more {self.name}")


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        ("b x y", "b, x with b, no more x, y with b, no more y, no more b"),
        ("x b y", "b, x with b, no more x, y with b, no more y, no more b"),
        ("x y b", "b, x with b, no more x, y with b, no more y, no more b"),
        ("b -x y", "b, y with b, no more y, no more b"),
        ("x -b y", "no more x, no more y"),
        ("x", "no more x"),
    ],
)
def test_logs_of_pairs_go_as_soon_as_they_are_compared(ended: str, told: str) -> None:
    jobs = {name: Job(label=name, plan=None, base=None if name == "b" else "b", tolerance=0.5) for name in "bxy"}
    pairs, heard, kept = Pairs(jobs.values()), [], []
    for name in ended.split():
        result = None if name.startswith("-") else Logged(name, heard)
        if name == "b":
            heard.append("b")
        kept += pairs.settled(jobs[name.lstrip("-")], result)
    kept += pairs.left()
    assert ", ".join(heard) == told
    assert sorted(job.label for job, _ in kept) == sorted(name for name in ended.split() if not name.startswith("-"))


def test_a_tolerance_of_pairs_leaves_out_small_changes(tiny: Path, tmp_path: Path) -> None:
    found = {}
    for tolerance in (None, 0.3):
        tiny.write_text(PAIRED.replace('"BASE"', '"npgc"' + (f"\npaired_tolerance = {tolerance}" if tolerance else "")))
        ssdlab.run_study(tiny, quick=True, out=tmp_path / "out")
        file = tmp_path / "out" / "own" / "tiny" / "runs" / "rwp_16_seed2" / "result.json"
        found[tolerance] = json.loads(file.read_text())["paired"]["all"]
    settings = {**SMALL, "workload.request_kb": 16}
    runs = ssdlab.compare(
        device="lee2013", workload="lee2013-synthetic", schemes=["npgc", "rwp"], requests=300, seed=2, set=settings, log_requests=True
    )
    times = zip(*(runs[scheme].requests["response_ns"].to_pylist() for scheme in ("npgc", "rwp")), strict=True)
    changes = [(after - before) / before for before, after in times]
    for tolerance, row in found.items():
        assert row["slower"] == sum(change > (tolerance or 0) for change in changes) / 300
        assert row["faster"] == sum(change < -(tolerance or 0) for change in changes) / 300
    assert found[0.3]["same"] > found[None]["same"], "some changes are small"


def test_sizes_of_pairs_have_numbers_of_their_own(tmp_path: Path) -> None:
    settings = {**SMALL, "workload.request_size": "table", "workload.size_table": [[4, 1], [16, 1]]}
    runs = ssdlab.compare(
        device="lee2013", workload="lee2013-synthetic", schemes=["npgc", "rwp"], requests=300, set=settings, log_requests=True
    )
    sizes = paired_by_size(runs["npgc"], runs["rwp"])
    assert list(sizes) == ["kb4", "kb16"]
    assert sum(size["requests"] for size in sizes.values()) == 300
    before, after = (runs[scheme].requests.to_pylist() for scheme in ("npgc", "rwp"))
    means = [[row["response_ns"] for row in rows if row["size_bytes"] == 4096] for rows in (before, after)]
    assert sizes["kb4"]["change"] == pytest.approx(100 * (sum(means[1]) / sum(means[0]) - 1))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"BASE"', '"npgcc"', ['paired: no scheme of the study "npgcc"', 'did you mean "npgc"']),
        ('"BASE"', "1", ["paired", "text"]),
        ('"BASE"', '"rwp"\npaired_tolerance = 1.5', ["paired_tolerance = 1.5", "expected 0 to 1"]),
        ('paired = "BASE"', "paired_tolerance = 0.1", ["paired_tolerance = 0.1", "beside `paired`"]),
        ('paired = "BASE"', 'paired = "rwp"\nengine = "queueing"', ["paired", "only runs of the drive"]),
    ],
)
def test_what_cannot_be_paired_is_refused(ssdlab_command: Ssdlab, tiny: Path, old: str, new: str, words: list[str]) -> None:
    tiny.write_text(PAIRED.replace(old, new))
    message = ssdlab_command("study", "run", tiny).failed(2)
    assert all(word in message for word in words), message
