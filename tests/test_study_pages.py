"""Pages of findings in Markdown: line breaks in the source do not change the rendered page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown import markdown

from ssdlab.experiments.study.page_markdown import wrapped
from ssdlab.experiments.study.page_parts import counted, warnings
from ssdlab.experiments.study.results import Ran

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
    """A text as rendered, without the line breaks of the source."""
    return re.sub(r"\s+", " ", markdown(text, extensions=["tables"])).replace(" </", "</")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_broken_lines_say_the_same(text: str) -> None:
    broken = wrapped(text)
    assert shown(broken) == shown(text)
    assert wrapped(broken) == broken


RAN: Ran = (
    Path("own"),
    {
        "study": "own/one",
        "rows": [{"reproduced": "yes", "grade": "ours"}],
        "remarks": [
            {
                "code": "not-settled",
                "severity": "warning",
                "about": "gc",
                "sentence": "Too short.",
                "remedy": "Write more.",
                "where": ["a"],
            },
            {"code": "few-blocks", "severity": "note", "about": "gc", "sentence": "Few.", "remedy": "More."},
        ],
    },
)


def test_warnings_that_the_command_prints_are_on_the_page_too() -> None:
    assert warnings(RAN[1]) == ["a: Too short. Write more. (not-settled)"]
    assert warnings({"study": "of an earlier version"}) == []


def test_one_finding_of_one_study_is_singular() -> None:
    assert counted(1, "finding") + counted(2, "finding") + counted(3, "study", "studies") == "1 finding2 findings3 studies"
