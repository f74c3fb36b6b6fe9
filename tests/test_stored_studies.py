"""The stored results of studies: what their pages say and show is made of them."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import ssdlab
from conftest import ROOT
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import parse
from ssdlab.experiments.study.page_parts import rows, summary
from test_studies import TINY

sys.path.insert(0, str(ROOT / "tools"))

import run_studies
import stored_studies

PAPERS = stored_studies.papers()
WAY = run_studies.Way()
PICTURES = sorted(stored_studies.STORED.glob("*.svg"))


@pytest.mark.parametrize("paper", PAPERS)
def test_stored_rows_are_what_their_studies_say(paper: str) -> None:
    """Names, bounds and published numbers are those of the study's file; difference, verdict and grade follow from the stored number."""
    made = [stored_studies.row_line(result.study.name, row) for result in stored_studies.stored(paper) for row in result.to_dict()["rows"]]
    assert made == stored_studies.read(paper)


def test_stored_sizes_are_those_of_the_studies() -> None:
    sizes = stored_studies.read("runs")
    assert {line["study"] for line in sizes} == set(library.shipped())
    for line in sizes:
        study = library.load(line["study"])
        runs = len(study.schemes) * len(list(study.combinations())) * len(study.seeds)
        expected = (runs, len(study.seeds), study.setup.get("requests", ""), study.setup.get("device", ""))
        assert tuple(line[name] for name in stored_studies.RUNS[1:5]) == tuple(map(str, expected)), line["study"]


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_the_numbers_of_its_rows(paper: str) -> None:
    """A page has the counts, and of each row study, finding, published and simulated number, grade; of our own only the simulated one."""
    ours = ROOT / "docs" / f"{paper}.md"
    page = (ours if ours.exists() else ROOT / "docs" / f"studies-{paper}.md").read_text()
    results = [stored_studies.as_json(result) for result in stored_studies.stored(paper)]
    assert ours.exists() or summary([(Path(), result) for result in results]) in " ".join(page.split())
    known = {
        (result["study"].split("/")[1], row["what"], *((cells[2],) if ours.exists() else (cells[1], cells[2], cells[6])))
        for result in results
        for row, cells in zip(result["rows"], rows(result), strict=True)
    }
    shown = [tuple(line.strip("| ").split(" | ")) for line in page.splitlines() if line.startswith("| ")][2:]
    assert len(shown) > 4
    assert not [row for row in shown if row not in known]


def numbers(svg: str) -> list[float]:
    """The numbers of a drawing, without names of its parts."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", re.sub(r"#\w+|id=\"\w+\"", "", svg))]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_a_picture_is_drawn_from_the_stored_points(picture: Path) -> None:
    (name,) = (line["study"] for line in stored_studies.read("runs") if line["study"].replace("/", "-") == picture.stem)
    (result,) = (result for result in stored_studies.stored(name.split("/")[0]) if result.study.name == name)
    drawn = stored_studies.figure(result)
    assert drawn is not None
    assert numbers(drawn) == pytest.approx(numbers(picture.read_text()), abs=0.01)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_figure_has_all_its_points(paper: str) -> None:
    """Of each panel as many points as there are combinations, but for those that a run does not have."""
    for result in stored_studies.stored(paper):
        figure = result.study.figure
        if figure is not None and figure.panels:
            found = Counter(metric for metric, *_ in result.points)
            most = len(result.study.schemes) * len(list(result.study.combinations()))
            assert set(figure.panels) <= set(found) <= set(result.study.metrics), result.study.name
            assert all(0.4 * most <= found[metric] <= most for metric in figure.panels), result.study.name


def test_a_run_is_stored_as_it_was_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    monkeypatch.setattr(stored_studies, "STORED", tmp_path)
    monkeypatch.setattr(library, "load", lambda _: parse("own/tiny", TINY, tmp_path))
    ssdlab.run_study(path, quick=True, out=tmp_path / "quick")
    with pytest.raises(SystemExit, match="not all runs of the full study"):
        stored_studies.store(tmp_path / "quick")
    study = tmp_path / "quick" / "own" / "tiny" / "study.json"
    result = json.loads(study.read_text()) | {"quick": False}
    result["rows"] = [row for row in result["rows"] if "reason" not in row]
    study.write_text(json.dumps(result))
    assert stored_studies.store(tmp_path / "quick") == ["own/tiny"]
    lines = stored_studies.read("own")
    assert [line["finding"] for line in lines] == [row["what"] for row in result["rows"]]
    assert float(lines[0]["simulated"]) == pytest.approx(result["rows"][0]["measured"]["mean"])
    assert stored_studies.read("own-points")


def test_a_study_is_run_again_when_its_runs_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TINY[: TINY.index('[[rows]]\nwhat = "what no run has"')]
    tiny = parse("own/tiny", text, tmp_path)
    monkeypatch.setattr(stored_studies, "STORED", tmp_path)
    monkeypatch.setattr(run_studies, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(library, "load", lambda _: tiny)
    monkeypatch.setattr(ssdlab, "__version__", "1.0.0")

    def ran(*, force: bool = False) -> bool:
        assert run_studies.run_again([tiny], WAY, force=force) == 0
        return "stored, 12 runs" in capsys.readouterr().out

    def change(**cells: str) -> None:
        stored_studies.write("runs", stored_studies.RUNS, [line | cells for line in stored_studies.read("runs")])

    assert ran()
    (line,) = stored_studies.read("runs")
    assert not ran()
    assert run_studies.check([tiny], WAY) == 0
    assert ran(force=True)
    change(version=ssdlab.__version__)
    assert not ran(force=True), "it goes on where it was interrupted"
    change(digest="")
    assert run_studies.check([tiny], WAY) == 1
    assert "STALE own/tiny: measured by 1.0.0, without a digest" in capsys.readouterr().out
    change(digest=line["digest"])
    tiny = parse("own/tiny", text.replace("values = [4, 16]", "values = [4, 32]").replace(", 16]", ", 32]"), tmp_path)
    assert run_studies.check([tiny], WAY) == 1
    assert "and its runs give other results now" in capsys.readouterr().out
    change(version="0.9.0")
    assert ran()
    assert stored_studies.read("runs")[0]["digest"] != line["digest"]
    change(version="0.9.0")
    tiny = parse("own/tiny", text.replace('workload = "lee2013-synthetic"', 'trace = "none.csv"').replace("requests = 2000", ""), tmp_path)
    assert run_studies.check([tiny], WAY) == 0
    assert not ran()


def test_probes_meet_each_scheme_and_each_point() -> None:
    for name in library.shipped():
        study = library.load(name)
        schemes, points, _ = zip(*stored_studies.probes(study), strict=True)
        assert set(schemes) == set(study.schemes)
        assert len(set(points)) == len(list(study.combinations()))


def test_rows_of_changed_sources_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssdlab, "__version__", "1.0.0+g1a2b3c4d5e.dirty")
    monkeypatch.setattr(sys, "argv", ["run_studies.py", "lee2013/tab5"])
    with pytest.raises(SystemExit, match="commit the changes"):
        run_studies.main()
