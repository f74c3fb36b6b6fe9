"""The pages that are read first."""

from __future__ import annotations

import re

from conftest import ROOT

MOST_COLUMNS = 8
"""Of a table with keys and values: more are wider than the text of a page in a window of 1280 pixels."""


def test_the_first_page_of_the_documentation_shows_a_picture() -> None:
    (picture,) = re.findall(r"^!\[.{20,}\]\((\S+)\)$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    assert (ROOT / "docs" / picture).stat().st_size > 10_000


def test_the_readme_says_how_to_get_the_source_and_invents_no_address() -> None:
    readme = (ROOT / "README.md").read_text()
    installation = readme.partition("\n## Install\n")[2].partition("\n## ")[0]
    assert "git clone ADDRESS ssdlab" in installation
    assert not re.search(r"https?://|git@|github|gitlab", installation)


def test_the_table_of_schemes_is_no_wider_than_its_page() -> None:
    table = (ROOT / "docs" / "schemes.md").read_text().partition("<!-- schemes:")[2].partition("<!-- end of schemes -->")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert len(rows) > 30
    assert max(row.count("|") - 1 for row in rows) <= MOST_COLUMNS
