"""The commands and examples in README and docs are run, so that they stay correct; `pages.py` describes the handling of each block."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import ssdlab
from browser import browser
from conftest import ROOT
from pages import PAGES, Block, blocks, differs, pictures
from ssdlab.experiments.study import library
from ssdlab.experiments.study.grading import CONTRADICTED, DIRECTION, INCONCLUSIVE, OURS, SIZE

sys.path.insert(0, str(ROOT / "tools"))

import stored_studies

CLAIMS = (DIRECTION, CONTRADICTED, INCONCLUSIVE)
"""Grades of verbal claims; with `SIZE`, those of published numbers, in the order of the table in docs/validity.md."""
NUMBERS = (SIZE, *CLAIMS)
PUBLISHED = sorted(set(stored_studies.papers()) - set(stored_studies.OTHERS))
"""Papers whose experiments were repeated."""

PROGRAMS = ("cat", "cut", "grep", "head", "ls", "sort", "tail", "wc")
"""Programs in a reader's shell other than `ssdlab` and `python`."""

NOT_RUN = {
    "make": "builds what the tests run with, or runs the tests",
    "run": "runs all tests; `test_ci.py` runs it with a `make` that does nothing",
    "pip": "installs packages, which needs network or minutes",
    "python": "makes pages from tables whose runs take half an hour; `test_cross.py` compares the pages with the stored tables",
    "python3": "makes an environment to install into",
    ".": "puts an environment into the shell that reads the page",
    "sudo": "needs root; `test_trace_record.py` has what it does",
    "git": "needs network",
    "cd": "goes into a folder that git makes",
    "valgrind": "needs a program that `cargo` builds; `make instructions` runs it",
    "callgrind_annotate": "reads what valgrind wrote",
    "buildah": "makes images of containers, which few machines can",
    "podman": "runs a container",
    "mmdebstrap": "needs network",
    "cargo": "builds for minutes; `make test` runs these tests and examples",
    "blkdiscard": "empties a drive",
    "fio": "overwrites a drive, for hours; `test_calibration_fio.py` has what it wrote",
    "grep": "reads what fio wrote",
    "mkdir": "makes folders for a mount",
    "mkfs.ext4": "needs a drive that is served; `test_serve_databases.py` has what it does",
    "losetup": "needs a drive that is served, and root; `test_serve_databases.py` has what it does",
    "mount": "needs root; `test_serve_databases.py` has what it does",
    "umount": "needs root; `test_serve_databases.py` has what it does",
    "cat": "joins what fio wrote",
    "ssdlab": "needs what a command before it made that is not run, a trace of the reader's, or other machines",
}
"""Programs of `console` blocks, with the reason why no test runs them."""

COMMAND = re.compile(r"^ssdlab ((?:arena|study|trace) \w+|[\w-]+)", re.MULTILINE)
LONG = {"arena.md", "arrays.md", "compare.md", "exercises.md", "index.md", "load.md", "placement-or-preemption.md"}
"""Pages whose commands take 20 seconds and more of processor time."""
LANGUAGES = {"sh", "python", "text", "toml", "csv", "rust", "console"}
MOST_SECONDS = 600


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The only folder on PATH, so that a block with other programs fails."""
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    for name, command in {"python": "", "ssdlab": " -m ssdlab"}.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{command} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder in which the pages' paths exist."""
    for name in ("traces", "presets", "studies", "measurements", "sweeps"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(block: Block, workplace: Path, programs: Path) -> str:
    """The output of a block."""
    command = [sys.executable, "-c", block.text] if block.language == "python" else ["/bin/bash", "-euo", "pipefail", "-c", block.text]
    environment = os.environ | {"PATH": str(programs), "COLUMNS": "80"}
    done = subprocess.run(command, cwd=workplace, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    assert done.returncode == 0, f"{block.place}: {done.stderr}"
    return done.stdout


def check(block: Block, printed: str | None, workplace: Path, programs: Path) -> str | None:
    """Runs or checks a block after one that printed `printed`; returns its output."""
    assert block.language in LANGUAGES, f"{block.place}: {block.language or 'no language'}: expected one of {', '.join(sorted(LANGUAGES))}"
    if block.file is not None:
        assert block.language != "sh", f"{block.place}: a file that is a command"
        (workplace / block.file).write_text(block.text)
        return None
    match block.language:
        case "sh" | "python":
            return run(block, workplace, programs)
        case "text":
            assert block.follows, f"{block.place}: what is this the output of?"
            assert printed is not None, f"{block.place}: the block before it prints nothing"
            difference = differs(block.text, printed)
            assert difference is None, f"{block.place}: {difference}"
        case "toml":
            check_toml(block, workplace)
        case "csv":
            pytest.fail(f"{block.place}: a file without a name: put a line with its name and a colon before it")
        case "rust":
            check_rust(block)
        case "console":
            check_console(block)
    return None


def check_toml(block: Block, workplace: Path) -> None:
    """Checks a TOML block; a complete study without a file name is also prepared."""
    if "title" in tomllib.loads(block.text):
        shown = workplace / "shown.toml"
        shown.write_text(block.text)
        assert library.load(str(shown)).rows, block.place


def check_rust(block: Block) -> None:
    """Checks that a Rust block is a verbatim example of the crate, which `cargo test` compiles and runs."""
    examples = (ROOT / "crates" / "ssdlab" / "examples").glob("*.rs")
    assert any(block.text == path.read_text().partition("\n#[test]\n")[0] for path in examples), f"{block.place}: nothing compiles this"


def check_console(block: Block) -> None:
    """Checks that the commands begin with `$`, or `#` for root, and use programs that tests cannot run."""
    commands = [line[2:] for line in block.text.splitlines() if line.startswith(("$ ", "# "))]
    assert commands, f"{block.place}: no line begins with $ or #"
    for command in commands:
        words = [word for word in command.split() if not re.match(r"[A-Z]+=", word)]
        program = words[0].rpartition("/")[2]
        assert program in NOT_RUN, f"{block.place}: {program}: let the tests run it (```sh), or say in NOT_RUN why they cannot"


def commands_of(page: Path) -> set[str]:
    """The commands of `ssdlab` that a page runs, and `python` if it runs code."""
    run = [block for block in blocks(page) if block.language in {"sh", "python"} and block.file is None]
    found = {words for block in run if block.language == "sh" for words in COMMAND.findall(block.text)}
    return found | {"python" for block in run if block.language == "python"}


def of_landing() -> set[Path]:
    """The README, pages that run no command, and enough others, but long ones, that every command is on one of them."""
    of = {page: commands_of(page) for page in PAGES if page.name not in LONG}
    chosen = {page for page, commands in of.items() if not commands} | {ROOT / "README.md"}
    left = set().union(*of.values()) - of[ROOT / "README.md"]
    while left:
        best = max((page for page in of if of[page] & left), key=lambda page: len(of[page] & left) / len(of[page]))
        chosen.add(best)
        left -= of[best]
    return chosen


LANDING = of_landing()


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(ROOT)), marks=[pytest.mark.full] * (page not in LANDING)) for page in PAGES]
)
def test_page(page: Path, workplace: Path, programs: Path) -> None:
    """All blocks of a page run in order in one folder, as for a reader who follows it from top to end."""
    printed: str | None = None
    named: dict[str, Block] = {}
    for block in blocks(page):
        printed = check(block, printed, workplace, programs)
        if block.language in {"sh", "python"} and block.file is None:
            named = {name: file for name, file in named.items() if name not in block.text}
        elif block.file is not None:
            named[block.file] = block
    assert not named, f"nothing uses these files: {', '.join(file.place for file in named.values())}"
    for picture in pictures(page):
        made = workplace / picture.name
        assert not made.exists() or made.read_bytes() == picture.read_bytes(), (
            f"{picture.name}: the page's commands draw another: make gallery"
        )


def test_pages_have_blocks() -> None:
    """If the pattern of blocks matched nothing, the tests of blocks would pass without a check."""
    found = [block for page in PAGES for block in blocks(page)]
    for language, least in {"sh": 25, "python": 15, "text": 3, "rust": 1, "toml": 3, "console": 3}.items():
        assert sum(block.language == language for block in found) >= least, language
    fences = sum(len(re.findall(r"^```", page.read_text(), re.MULTILINE)) for page in PAGES)
    assert fences == 2 * len(found)


def test_what_a_page_shows_is_compared() -> None:
    """The comparison finds what differs, and nothing else."""
    printed = "name     value\n────────────\na          1.5\n\nb            2\nSimulated 3 s in 0.5 s, after 1 ms of preparation\n"
    shown = "name value\n────\na   1.5\nb   2\nSimulated 3 s in 9.9 s, after 2 s of preparation\n"
    assert differs(shown, printed) is None
    assert differs("...\nb 2\n...\n", printed) is None
    assert differs("name value\n...\n", printed) is None
    for wrong in ("...\nb 3\n...\n", "name value\n", "a 1.5\n...\n", "...\nb 2\n", "...\nb 2\n...\na 1.5\n...\n", shown + "c 4\n"):
        assert differs(wrong, printed), wrong


def test_links_of_the_readme_lead_somewhere() -> None:
    """Links of the pages outside of the site; mkdocs checks the others."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            assert file.exists(), f"{page.name}: {target}"
            if anchor:
                assert anchor in anchors(file), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without warnings: it has every page, also those that are made, and all links and anchors between pages are valid.

    The first worker that needs it builds it for all.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            built = folder.with_suffix(".part")
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(built)]
            environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PICTURES": "none"}
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
            assert done.returncode == 0, done.stderr
            built.rename(folder)
    return folder


@pytest.mark.full
def test_every_page_is_in_the_site_and_in_its_navigation(site: Path) -> None:
    """Pages of evidence are in the list of `evidence/index.md` instead, which the navigation has."""
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    evidence = (ROOT / "docs" / "evidence" / "index.md").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        place = page.relative_to(ROOT / "docs")
        assert (site / place.with_suffix(".html")).exists(), place
        if place.parent.name == "evidence" and place.name != "index.md":
            assert f"]({place.name})" in evidence, place
        else:
            assert f": {place}\n" in f"{navigation}\n", place


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'(?:src|rel="stylesheet" href)="?(https?:[^" >]+)', page.read_text())
        assert not loaded, f"{page.relative_to(site)}: {loaded}"


def test_commands_are_copied_without_their_prompt(site: Path, tmp_path: Path) -> None:
    with browser(tmp_path / "profile") as page:
        page.visit((site / "tutorial.html").as_uri())
        # As the theme's button takes the text.
        copied = (
            "(() => { const c = document.querySelector('pre code:has(.gp)'); c.toggleAttribute('data-md-copying'); return c.innerText; })()"
        )
        assert page.value(copied).startswith("make build ")


def test_long_references_can_be_filtered(site: Path, tmp_path: Path) -> None:
    """The rows with all words stay, with the headings of their sections."""
    shown = "[...document.querySelectorAll('{}')].filter(part => part.offsetParent).map(part => (part.cells?.[0] ?? part).innerText.trim())"
    with browser(tmp_path / "profile") as page:
        page.visit((site / "configuration.html").as_uri())
        every = page.value(shown.format("tbody tr"))
        for words in ("rated wear", ""):
            page.value(f"document.querySelector('.filter input').value = '{words}'")
            page.value("document.querySelector('.filter input').dispatchEvent(new Event('input'))")
            rows = page.value(shown.format("tbody tr"))
            assert "wear.rated_cycles" in rows
            assert (len(rows) < 20) if words else rows == every
            assert not [head for head in page.value(shown.format("table")) if "\n" not in head], "a table without rows"
            assert ("gc" in {title.rstrip("¶") for title in page.value(shown.format("h2"))}) == (not words)


@pytest.mark.full
def test_the_site_is_searched_from_disk(site: Path, tmp_path: Path) -> None:
    """For pages from disk, browsers run no worker, which the search would use."""
    with browser(tmp_path / "profile") as page:
        page.visit(f"{(site / 'index.html').as_uri()}?q=preemption")
        page.until("document.querySelector('.md-search-result__meta')?.textContent.includes('matching')")
        titles = page.value("[...document.querySelectorAll('.md-search-result__item h1')].map(title => title.textContent)")
        assert "Preemption" in titles, page.complaints
        assert not [url for url in page.requests if not url.startswith(("file:", "data:", "about:"))]


def findings(paper: str) -> Counter[tuple[bool, str]]:
    """Number of stored rows of a paper by whether they have a published number, and grade."""
    return Counter((bool(row["published"]), row["grade"]) for row in stored_studies.read(paper) if row["grade"] != OURS)


def test_validity_counts_what_the_studies_found() -> None:
    """The page's table has, for each paper, the count of published numbers and claims of each grade."""
    page = (ROOT / "docs" / "validity.md").read_text()
    rows = re.findall(r"^\| (\w+) \| ((?:\d+ \| )+)\[findings\]\([\w.-]+\) \|$", page, re.MULTILINE)
    for paper, counts in rows:
        found = findings(paper)
        numbers, claims = ([found[published, grade] for grade in grades] for published, grades in ((True, NUMBERS), (False, CLAIMS)))
        assert [int(count) for count in counts.split(" | ") if count] == [sum(numbers), *numbers, sum(claims), *claims], paper
    assert sorted(paper for paper, _ in rows) == PUBLISHED


def test_the_readme_counts_what_the_studies_and_calibrations_found() -> None:
    page = " ".join((ROOT / "README.md").read_text().split())
    counts = sum(map(findings, PUBLISHED), Counter())
    found = re.search(r"of (\d+) published .* papers, (\d+) come .*, (\d+) in .* only, (\d+) are .*, and (\d+) are .*; for (\d+) of", page)
    assert found is not None
    numbers = [counts[True, grade] for grade in NUMBERS]
    in_view = sum(
        row["calibrated"] == "yes" for paper in PUBLISHED for row in stored_studies.read(paper) if row["published"] and row["grade"] != OURS
    )
    assert [int(count) for count in found.groups()] == [sum(numbers), *numbers, in_view]
    drives = re.findall(r"\| (?:well|\*\*(badly)) fitted", (ROOT / "docs" / "evidence" / "calibrated-drives.md").read_text())
    assert (len(drives), drives.count("badly")) == (4, 2), "the README says how many drives fit"
    assert "Of four drives on sale that were calibrated, two fit well and two badly" in page


def test_names_in_the_policy_space() -> None:
    """The page of schemes names keys and counters in passing: each is a key of the configuration or a figure of the result."""
    page = (ROOT / "docs" / "schemes.md").read_text()
    result = ssdlab.run(device="lee2013", scheme="pgc", workload="lee2013-synthetic", requests=500).to_dict()

    def known(name: str) -> bool:
        for tree in (result, result["config"]):
            found = tree
            for part in name.split("."):
                found = found.get(part) if isinstance(found, dict) else None
            if found is not None:
                return True
        return False

    names = set(re.findall(r"`((?:gc|counters|device|ftl|scheduler)\.[a-z0-9_.]+)(?:=[^`]*)?`", page))
    assert len(names) > 25
    # A key without a default value is not in the result.
    assert not {name for name in names - set(ssdlab.config_keys()) if not known(name)}
