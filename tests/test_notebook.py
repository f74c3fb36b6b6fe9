"""Results, configurations and presets in notebooks: tables with all numbers, and texts that are escaped as HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

import ssdlab
from conftest import SMALL
from ssdlab import queueing
from ssdlab.pages.notebook import of_mapping, of_tables
from ssdlab.section import Section


class Page(HTMLParser):
    """Checks that elements are closed, and collects table rows and text."""

    VOID = ("br",)

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.text = ""
        self.tags: set[str] = set()
        self._open: list[str] = []
        self.feed(page)
        assert self._open == [], self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        self.tags.add(tag)
        # No colour: it has to be seen on light and on dark ground.
        assert all(name == "style" and "color" not in str(value) and "background" not in str(value) for name, value in attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def compared() -> ssdlab.Comparison:
    return ssdlab.compare(schemes=["npgc", "pgc"], set=SMALL, requests=300, paired=True)


def test_a_run_is_shown_as_its_tables(compared: ssdlab.Comparison) -> None:
    page = Page(compared["pgc"]._repr_html_())
    printed = str(compared["pgc"])
    (reads,) = [row for row in page.rows if row[0] == "reads" and len(row) == 8]
    (line,) = [line for line in printed.splitlines() if line.split()[:1] == ["reads"] and str(reads[1]) in line][:1]
    assert line.split() == " ".join(reads).split()
    for words in ("Response times", "Garbage collection [a]: ", "Digest: ", "scheme pgc"):
        assert words in page.text


def test_a_comparison_has_a_row_for_each_scheme(compared: ssdlab.Comparison) -> None:
    page = Page(compared._repr_html_())
    assert [row[0] for row in page.rows if row[0] in ("npgc", "pgc")][:2] == ["npgc", "pgc"]
    assert "The same requests, one by one, against npgc" in page.text


def test_a_sweep_has_a_row_for_each_point() -> None:
    sweep = ssdlab.sweep({"scheme": ["npgc", "pgc"], "time_scale": [1, 2]}, set=SMALL, requests=100)
    page = Page(sweep._repr_html_())
    assert [row[:2] for row in page.rows[1:]] == [["npgc", "1"], ["npgc", "2"], ["pgc", "1"], ["pgc", "2"]]


def test_the_queueing_model_is_shown_as_its_table() -> None:
    result = queueing.simulate(device="bux2011", priority="cep", requests=500)
    page = Page(result._repr_html_())
    assert len(page.rows) > 3
    assert any("cep" in cell for row in page.rows for cell in row)


def test_a_configuration_is_shown_by_its_keys(compared: ssdlab.Comparison) -> None:
    rows = dict(Page(compared["npgc"].config._repr_html_()).rows)  # type: ignore[arg-type]
    assert rows["gc.soft"] == "0.1"
    assert rows["device.channels"] == "2"
    assert rows["device.cache_register"] in ("true", "false")
    assert set(rows) <= set(ssdlab.config_keys())
    part = Page(compared["npgc"].config.gc._repr_html_())
    assert part.text.startswith("config.gc")
    assert ["soft", "0.1"] in part.rows


def test_long_lists_are_cut() -> None:
    page = Page(Section({"values": list(range(100))})._repr_html_())
    assert page.rows == [["values", "0, 1, 2, 3, 4, 5, 6, 7, ... 92 more"]]


def test_presets_are_a_dictionary_and_a_table() -> None:
    schemes = ssdlab.presets("scheme")
    assert isinstance(schemes, dict)
    assert schemes == dict(schemes)
    assert ["npgc", schemes["npgc"]] in Page(schemes._repr_html_()).rows  # type: ignore[attr-defined]


def test_names_are_text_and_not_html(compared: ssdlab.Comparison) -> None:
    evil = "<script>alert('x')</script>&amp;"
    data: dict[str, Any] = compared["npgc"].to_dict()
    result = ssdlab.Result({**data, "digest": evil}, title=evil)
    for shown in (
        result._repr_html_(),
        ssdlab.Comparison({evil: result})._repr_html_(),
        Section({evil: {"a": evil, "b": [evil]}}, evil)._repr_html_(),
        of_mapping(evil, {evil: evil}),
        of_tables([evil]),
    ):
        page = Page(shown)
        assert "script" not in page.tags
        assert "<script" in page.text
