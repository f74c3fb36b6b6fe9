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

import stored_studies

PAPERS = stored_studies.papers()
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
        assert tuple(line[name] for name in stored_studies.RUNS[1:-1]) == tuple(map(str, expected)), line["study"]


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
