"""Published against measured numbers: the table, their agreement, the figure, and the pages of a folder of results."""

from __future__ import annotations

import csv
import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.experiments.study.effects import Effect, agreement, agreement_rows, csv_text, effects_of, rank_correlation
from ssdlab.experiments.study.grading import AMOUNT, CHANGE, RATIO, Claim, grade
from ssdlab.experiments.study.page_parts import summary
from test_studies import TINY


def effect(paper: str, published: float, measured: float | None, *, kind: str = CHANGE, half: float | None = 0.5, **keys: Any) -> Effect:
    low, high = (None, None) if measured is None or half is None else (measured - half, measured + half)
    found = "not measured" if measured is None else grade(Claim(kind, published, -1, 1), low or measured, measured, high or measured)
    fields = {"calibrated": False, "unit": "%"} | keys
    return Effect(paper, f"{paper}/one", "it", published, measured, low, high, kind=kind, grade=found, **fields)


EFFECTS = [
    effect("a", -20, -30),
    effect("a", -40, -10),
    effect("a", -60, 5, calibrated=True),
    effect("a", 0, 0.1),
    effect("b", 3, 2.5, kind=RATIO, unit="x", half=None),
    effect("b", 7, 8, kind=AMOUNT),
    effect("b", 7, None, kind=AMOUNT),
]


def test_a_line_for_each_published_number() -> None:
    lines = csv_text(EFFECTS).splitlines()
    assert lines[0] == "paper,study,finding,published,measured,low,high,unit,grade,calibrated"
    assert lines[1] == "a,a/one,it,-20,-30,-30.5,-29.5,%,size,false"
    assert lines[3] == "a,a/one,it,-60,5,4.5,5.5,%,contradicted,true"
    assert lines[5] == "b,b/one,it,3,2.5,,,x,size,false"
    assert lines[7] == "b,b/one,it,7,,,,%,not measured,false"
    assert len(lines) == 1 + len(EFFECTS)


def test_how_well_numbers_agree() -> None:
    first, second, both = agreement(EFFECTS)
    assert (first.name, first.numbers, first.compared, first.sign_right) == ("a", 4, 4, 3), "no effect where none is published is right"
    assert {name: count for name, count in first.grades.items() if count} == {"size": 2, "direction": 1, "contradicted": 1}
    assert (second.name, second.numbers, second.compared, second.sign_right) == ("b", 3, 1, 1), "amounts have no sign"
    assert second.correlation is None, "one number alone"
    assert (both.name, both.numbers, both.compared, both.sign_right) == ("all", 7, 5, 4)
    # Ranks of the changes -20, -40, -60, 0, +200 are 3 2 1 4 5; of -30, -10, 5, 0.1, +150 they are 1 2 4 3 5.
    assert both.correlation == pytest.approx(1 - 6 * (4 + 0 + 9 + 1 + 0) / (5 * 24))
    assert agreement_rows([first])[1] == ("a", "4", "2", "1", "1", "0", "0", "3 of 4", f"{first.correlation:.2f}")


def test_equal_values_share_a_rank() -> None:
    pairs = [(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 4.0)]
    assert rank_correlation(pairs) == pytest.approx(0.9486832980505138)  # Pearson's correlation of 1 2.5 2.5 4 and 1 2 3 4
    assert rank_correlation([(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]) is None


def test_studies_are_in_the_order_of_their_names() -> None:
    row = {"what": "it", "paper": 1, "kind": AMOUNT, "grade": "size", "measured": {"mean": 1.0}}
    studies = [
        (Path(), {"study": name, "rows": [row, {"what": "other", "grade": "ours"}, {**row, "grade": "ours"}]})
        for name in ("b/2", "a/3", "b/10")
    ]
    assert [effect.study for effect in effects_of(studies)] == ["a/3", "b/10", "b/2"]


def test_the_picture_has_a_point_for_each_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.colors import to_rgba

    from ssdlab.experiments.study import effects_figure

    drawings: list[Any] = []
    monkeypatch.setattr(effects_figure, "as_files", lambda drawing: drawings.append(drawing) or ("", b""))
    effects_figure.draw(EFFECTS)
    compares, amounts = drawings[0].axes
    points = [line for line in compares.get_lines() if line.get_marker() in effects_figure.MARKERS.values()]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in points] == [(-20, -30), (-40, -10), (-60, 5), (0, 0.1), (200, 150)]
    assert [line.get_marker() for line in points] == ["o", "^", "X", "o", "o"]
    assert [line.get_markerfacecolor() == "none" for line in points] == [False, False, True, False, False]
    assert to_rgba(points[0].get_markerfacecolor()) != to_rgba(points[4].get_markerfacecolor()), "papers have colours"
    assert points[2].get_zorder() > points[0].get_zorder(), "what is contradicted is in front"
    for panel in (compares, amounts):
        assert panel.get_xscale() == panel.get_yscale() == "symlog"
        assert panel.get_xlim() == panel.get_ylim()
        assert panel.collections, "the band"
    assert len([line for line in amounts.get_lines() if line.get_marker() == "o"]) == 1, "what was not measured has no point"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("effects", [EFFECTS[:1], EFFECTS[5:], EFFECTS[6:], [effect("a", 0, 0.0)]])
def test_any_numbers_make_a_picture(effects: list[Effect]) -> None:
    from ssdlab.experiments.study import effects_figure

    svg, png = effects_figure.draw(effects)
    ET.fromstring(svg)
    assert png.startswith(b"\x89PNG")
    assert effects_figure.draw(effects)[0] == svg, "the same each time"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A small study of two papers."""
    for paper in ("one", "other"):
        path = tmp_path / f"{paper}.toml"
        path.write_text(TINY)
        ssdlab.run_study(path, quick=True, out=tmp_path / "results")
        study = tmp_path / "results" / "own" / paper / "study.json"
        into = tmp_path / "results" / f"paper-{paper}" / "tiny"
        into.mkdir(parents=True)
        result = json.loads(study.read_text()) | {"study": f"paper-{paper}/tiny"}
        result["discussion"] = [{"text": "Why.", "shown_by": [{"study": "paper-one/tiny", "row": "what cannot be"}]}]
        (into / "study.json").write_text(json.dumps(result))
        (into / "figure.svg").write_text((study.parent / "figure.svg").read_text())
        for file in sorted(study.parent.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        study.parent.rmdir()
    return tmp_path / "results"


def test_a_folder_gets_a_page_for_each_paper(ssdlab_command: Ssdlab, results: Path, tmp_path: Path) -> None:
    done = ssdlab_command("study", "report", results, "--out", "docs")
    assert done.code == 0, done.err
    docs = tmp_path / "docs"
    assert sorted(path.name for path in docs.iterdir()) == [
        *("effects.csv", "effects.md", "effects.svg", "studies-paper-one", "studies-paper-one.md"),
        *("studies-paper-other", "studies-paper-other.md"),
    ]
    page = (docs / "studies-paper-other.md").read_text()
    assert page.startswith("# What the studies of paper-other found\n")
    assert "](studies-paper-other/paper-other-tiny.svg)" in page
    assert (docs / "studies-paper-other" / "paper-other-tiny.svg").is_file()
    assert "[Shown by paper-one/tiny: what cannot be (" in page, "measured on another page"
    assert "| grade |" in page
    assert page.count("| contradicted |") == 1
    effects = (docs / "effects.md").read_text()
    assert "| all | 2 |" in effects
    assert "![Published against measured](effects.svg)" in effects
    rows = list(csv.DictReader((docs / "effects.csv").open()))
    assert [(row["study"], row["published"]) for row in rows] == [("paper-one/tiny", "-20.5"), ("paper-other/tiny", "-20.5")]
    assert float(rows[0]["low"]) < float(rows[0]["measured"]) < float(rows[0]["high"])


def test_a_page_counts_what_was_calibrated_apart_and_what_has_no_bound() -> None:
    def row(reproduced: str | None, grade: str, **more: object) -> dict[str, object]:
        return {"grade": grade, **({} if reproduced is None else {"reproduced": reproduced}), **more}

    rows = [row("yes", "size"), row("NO", "contradicted"), row("yes", "size")]
    assert summary([(Path(), {"rows": rows})]) == ("3 findings in 1 study: 2 reproduced, 1 not reproduced. Grades: 2 size, 1 contradicted.")
    more = [*rows, row("NO", "size", calibrated=True), row("yes", "size", calibrated=True), row(None, "size", calibrated=True)]
    assert summary([(Path(), {"rows": more})]) == (
        "5 findings in 1 study: 3 reproduced, 2 not reproduced. "
        'Of the findings with which a parameter was chosen ("calibrated"), 1 of 2 are reproduced; of the others 2 of 3. '
        "Grades of all 6 rows (1 has no bound): 5 size, 1 contradicted."
    )


def test_contradicted_numbers_are_listed(results: Path, tmp_path: Path) -> None:
    study = results / "paper-one" / "tiny" / "study.json"
    result = json.loads(study.read_text())
    result["rows"][0]["grade"] = "contradicted"
    study.write_text(json.dumps(result))
    ssdlab.study_report(results, tmp_path / "docs")
    listed = (tmp_path / "docs" / "effects.md").read_text().partition("## Contradicted numbers")[2]
    assert listed.count("\n| mean at 16 KB, rwp against npgc | paper-one/tiny | -20.5 % |") == 1
    assert "paper-other" not in listed


@pytest.mark.parametrize("page", ["page.html", "page.md"])
def test_a_page_has_the_picture_and_the_table_beside_it(results: Path, tmp_path: Path, page: str) -> None:
    (tmp_path / "out").mkdir()
    ssdlab.study_report(results, tmp_path / "out" / page)
    text = " ".join((tmp_path / "out" / page).read_text().split())
    assert "Published against measured" in text
    assert "Rank correlation: Spearman's correlation of published and simulated" in html.unescape(text)
    assert text.count("data:image/png") == 1 if page.endswith("html") else "](page/effects.svg)" in text
    assert len((tmp_path / "out" / "effects.csv").read_text().splitlines()) == 3


def test_another_ending_is_refused(ssdlab_command: Ssdlab, results: Path) -> None:
    assert "expected a name that ends with .html or .md, or a folder" in ssdlab_command(
        "study", "report", results, "--out", "a.pdf"
    ).failed(2)


@pytest.mark.parametrize("page", ["page.html", "page.md"])
def test_a_deviation_of_several_studies_stands_once(results: Path, tmp_path: Path, page: str) -> None:
    study = results / "paper-other" / "tiny" / "study.json"
    result = json.loads(study.read_text())
    result["deviations"].append("Here it is <larger>.")
    study.write_text(json.dumps(result))
    ssdlab.study_report(results, tmp_path / page)
    text = html.unescape((tmp_path / page).read_text())
    assert text.count("It is small.") == 1
    assert text.count('D1: see "Deviations of several studies".') == 2
    assert text.index("Here it is <larger>.") < text.index("It is small."), "what both have is behind the studies"
    assert "D2:" not in text
    assert "D2<" not in text


def test_a_deviation_of_one_study_stands_with_it(results: Path, tmp_path: Path) -> None:
    ssdlab.study_report(results, tmp_path / "docs")
    text = (tmp_path / "docs" / "studies-paper-one.md").read_text()
    assert "\n- It is small.\n" in text
    assert "Deviations of several studies" not in text


def test_a_page_says_what_its_columns_mean(results: Path, tmp_path: Path) -> None:
    ssdlab.study_report(results, tmp_path / "page.html")
    ssdlab.study_report(results, tmp_path / "page.md")
    assert "<li><b>grade</b> inconclusive: the interval is too wide to decide.</li>" in (tmp_path / "page.html").read_text()
    assert "\n- **grade** inconclusive: the interval is too wide to decide.\n" in (tmp_path / "page.md").read_text()


@pytest.mark.parametrize("page", ["page.html", "page.md"])
@pytest.mark.parametrize("verdict", ["yes", "NO"])
def test_a_page_lists_what_was_not_reproduced(results: Path, tmp_path: Path, page: str, verdict: str) -> None:
    for paper in ("paper-one", "paper-other"):
        study = results / paper / "tiny" / "study.json"
        result = json.loads(study.read_text())
        for row in result["rows"]:
            row["reproduced"] = "yes"
        result["rows"][0]["reproduced"] = verdict if paper == "paper-other" else "yes"
        study.write_text(json.dumps(result))
    ssdlab.study_report(results, tmp_path / page)
    text = " ".join(html.unescape(re.sub(r"<[^>]+>|\|", " ", (tmp_path / page).read_text())).split())
    listed = text.partition("Not reproduced")[2].partition(" paper-one/tiny: ")[0]
    row = r"published simulated expected [-: ]*mean at 16 KB, rwp against npgc paper-other/tiny -20.5 % -?[0-9.]+ ± "
    assert bool(re.search(row, listed)) == (verdict == "NO")
    assert listed.count("rwp against npgc") == (verdict == "NO")
