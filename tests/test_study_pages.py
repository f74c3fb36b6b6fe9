"""Pages of findings in Markdown: lines of prose are short, and say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from markdown import markdown

from ssdlab.study import report
from ssdlab.study.page_markdown import COLUMNS, wrapped
from ssdlab.study.page_parts import EFFECTS_CAPTION, EFFECTS_INTRODUCTION, READING

WORDS = "The mean falls by 12.5 % where a job holds one die at a time, and writes of others go on. "
TEXTS = {
    "a paragraph": WORDS * 4,
    "a paragraph of several lines": f"{WORDS * 2}\n{WORDS}\n{WORDS * 3}",
    "items": f"- **one**: {WORDS * 3}\n- two\n- {WORDS * 2}",
    "a heading, a table and a picture": f"# {WORDS * 2}\n\n| a | b |\n| --- | --: |\n| {WORDS * 2} | 1 |\n\n![{WORDS * 2}](a.svg)",
    "marks of lists amid words": " ".join(["a - b + c * d # e 12. f 3) g > h of"] * 20),
    "a word longer than a line": f"see {'long' * 40} and what follows it",
}


def shown(text: str) -> str:
    """As a reader sees it: where lines of the source end does not show."""
    return re.sub(r"\s+", " ", markdown(text, extensions=["tables"])).replace(" </", "</")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_broken_lines_say_the_same(text: str) -> None:
    broken = wrapped(text)
    assert shown(broken) == shown(text)
    assert wrapped(broken) == broken
    long = [line for line in broken.splitlines() if len(line) > COLUMNS]
    assert all(line.startswith(("|", "#", "!")) or " " not in line for line in long), long


def test_a_paragraph_becomes_lines() -> None:
    assert [len(line) > COLUMNS // 2 for line in wrapped(WORDS * 4).splitlines()] == [True] * 4


ROOT = Path(__file__).parent.parent
STUDIES = sorted((ROOT / "studies").glob("*/*.toml"))


@pytest.mark.parametrize("path", STUDIES, ids=[f"{path.parent.name}/{path.stem}" for path in STUDIES])
def test_the_page_of_a_study_has_its_texts_as_they_are_now(path: Path) -> None:
    study = tomllib.loads(path.read_text())
    page = " ".join((ROOT / "docs" / f"studies-{path.parent.name}.md").read_text().split())
    section = page.partition(f"## {path.parent.name}/{path.stem}: {study['title']} ")[2].partition(" ## ")[0]
    own = [study["about"], *(text if isinstance(text, str) else text["text"] for text in study.get("discussion", []))]
    own += [f"| {row['what']}" for row in study["rows"]] + [row["note"] for row in study["rows"] if "note" in row]
    missing = [text for text in own if " ".join(text.split()) not in section]
    missing += [text for text in study.get("deviations", []) if " ".join(text.split()) not in page]
    assert not missing, "`ssdlab study report` writes the page again"


@pytest.mark.parametrize("paper", sorted({path.parent.name for path in STUDIES}))
def test_the_head_of_a_page_is_what_would_be_written_now(paper: str) -> None:
    page = " ".join((ROOT / "docs" / f"studies-{paper}.md").read_text().split())
    title, about, causes = report._about(paper)
    assert not [text for text in (f"# {title} {about.strip()}", causes, *READING) if " ".join(text.split()) not in page]
    table = page.partition("## Not reproduced ")[2]
    assert table.startswith((causes or "The causes, where they are known, are below") if table else "")


def test_the_head_of_the_effects_is_what_would_be_written_now() -> None:
    page = " ".join((ROOT / "docs" / "effects.md").read_text().split())
    assert not [text for text in (EFFECTS_INTRODUCTION, EFFECTS_CAPTION) if text not in page]
