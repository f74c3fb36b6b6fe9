"""Pages of findings in Markdown: line breaks in the source do not change the rendered page."""

from __future__ import annotations

import re

import pytest
from markdown import markdown

from ssdlab.study.page_markdown import wrapped

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
