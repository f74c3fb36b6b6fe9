"""Statements of a study about its results: descriptions, and explanations that name the rows that show them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.experiments.study import library
from ssdlab.experiments.study.statements import Shown, Statement, statements
from test_studies import TINY

CAUSAL = re.compile(r"\b(because|since|therefore|hence|thus|so that|due to|explains?|the reason)\b", re.IGNORECASE)
"""Words of explanations. A description with one of them should name the rows that show it."""


def test_a_text_describes_and_a_table_explains() -> None:
    found = statements(
        "here",
        [
            "It grows.",
            {"text": "Why it grows.", "shown_by": "a/b: one: of two"},
            {"text": "Why it shrinks.", "shown_by": ["a/b: x", "c/d: y"]},
            {"text": "It stops.", "shown_by": "not explained"},
        ],
    )
    assert found == (
        Statement("It grows."),
        Statement("Why it grows.", (Shown("a/b", "one: of two"),)),
        Statement("Why it shrinks.", (Shown("a/b", "x"), Shown("c/d", "y"))),
        Statement("It stops.", ()),
    )
    assert [statement.to_dict().get("shown_by") for statement in found][::3] == [None, []]


def with_discussion(tiny: Path, *entries: str) -> Path:
    tiny.write_text(TINY.replace('device = "lee2013"', f'discussion = [{", ".join(entries)}]\ndevice = "lee2013"', 1))
    return tiny


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('{ text = "why" }', ["discussion[0]", "expected a text, or text and shown_by"]),
        ('{ shown_by = "not explained" }', ["discussion[0]", "expected a text, or text and shown_by"]),
        ('{ text = "why", shown_by = "not explained", by = "me" }', ["discussion[0]", 'unknown key "by"']),
        ('{ text = "why", shown_by = "nobody" }', ["discussion[0]: shown_by", 'expected "PAPER/STUDY: ROW"']),
        ('{ text = "why", shown_by = [] }', ["discussion[0]: shown_by", 'expected "PAPER/STUDY: ROW"']),
        ('{ text = "why", shown_by = [1] }', ["discussion[0]: shown_by", 'expected "PAPER/STUDY: ROW"']),
        ('{ text = "why", shown_by = "own/tiny: what can be" }', ["no row of own/tiny", 'did you mean "what cannot be"']),
        ('{ text = "why", shown_by = "lee2013/fig10: x" }', ['"lee2013/fig10": no such study', "lee2013/fig10a"]),
        ('{ text = "why", shown_by = "other.toml: x" }', ['"other.toml": no such study']),
        ('{ text = "why", shown_by = "lee2013/polling: a look" }', ["no row of lee2013/polling"]),
        ("1", ["discussion", "a list of text or a table"]),
    ],
)
def test_a_wrong_explanation_is_one_clear_line(ssdlab_command: Ssdlab, tmp_path: Path, entry: str, words: list[str]) -> None:
    path = with_discussion(tmp_path / "tiny.toml", entry)
    message = ssdlab_command("study", "run", path).failed(2)
    assert all(word in message for word in words), message


def test_rows_need_names_of_their_own(ssdlab_command: Ssdlab, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace("what no run has", "what cannot be"))
    assert 'two are called "what cannot be"' in ssdlab_command("study", "run", path).failed(2)


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_page_shows_what_was_measured_beside_an_explanation(tmp_path: Path, ending: str) -> None:
    shown = '{ text = "Here is why.", shown_by = ["own/tiny: what cannot be", "lee2013/polling: looks in a page move, with the bus"] }'
    path = with_discussion(tmp_path / "tiny.toml", '"As it is."', shown, '{ text = "Unknown.", shown_by = "not explained" }')
    result = ssdlab.run_study(path, quick=True, out=tmp_path / "results")
    mean = result.outcomes[1].estimate
    assert mean is not None
    ssdlab.study_report(tmp_path / "results", tmp_path / f"page.{ending}")
    page = (tmp_path / f"page.{ending}").read_text()
    text = " ".join(page.split())
    measured = re.search(r"Here is why\. \[Shown by own/tiny: what cannot be \(([\d.]+) ± ", text)
    assert measured is not None
    assert float(measured[1]) == pytest.approx(mean.mean, rel=0.01)
    assert "; lee2013/polling: looks in a page move, with the bus.]" in text, "not measured in this folder"
    assert "Unknown. [Cause not shown by a run.]" in text
    assert "As it is.\n" in page or "As it is.</p>" in page


@pytest.mark.parametrize("name", library.shipped())
def test_a_description_gives_no_causes(name: str) -> None:
    texts = [statement.text for statement in library.load(name).discussion if statement.shown_by is None]
    assert not [text for text in texts if CAUSAL.search(text)], "say which rows show the cause (shown_by), or that it is not explained"
