"""Public collections of traces, and stratified pieces of those in a folder."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
from pathlib import Path

import pytest

import ssdlab
from conftest import DRIVE, Ssdlab
from ssdlab.experiments.populations.drawing import draw
from ssdlab.experiments.populations.manifest import collections

PIECE = 200
OWN_SIZE = ("device.blocks_per_plane", "gc.soft")
FITTED = "".join(f'"{key}" = {value!r}\n' for key, value in DRIVE.items() if key not in OWN_SIZE).replace("'", '"')
"""Keys of a drive that is fitted to a trace, as TOML."""


def rows(count: int, reads: int, step: int, gap_us: int, device: str = "") -> list[str]:
    """Requests of which `reads` in ten are reads, `step` bytes and `gap_us` apart."""
    ops = ["R" if index % 10 < reads else "W" for index in range(count)]
    return [f"{index * gap_us},{op},{index * step},4096{device and f',{device}'}" for index, op in enumerate(ops)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Traces of three kinds, one with two volumes, one compressed, and files that are none."""
    there = tmp_path / "traces"
    (there / "below").mkdir(parents=True)
    head = "timestamp_us,op,offset_bytes,size_bytes"
    (there / "writes.csv").write_text("\n".join([head, *rows(1000, 1, 4096, 100)]) + "\n")
    (there / "reads.csv.gz").write_bytes(gzip.compress("\n".join([head, *rows(650, 9, 1 << 20, 1000)]).encode() + b"\n"))
    two = [line for pair in zip(rows(450, 5, 4096, 50, "a"), rows(450, 5, 1 << 22, 50, "b"), strict=True) for line in pair]
    (there / "below" / "two.csv").write_text("\n".join([f"{head},device", *two]) + "\n")
    (there / "short.csv").write_text("\n".join([head, *rows(50, 1, 4096, 100)]) + "\n")
    (there / "notes.txt").write_text("no trace at all\n")
    (there / "picture.png").write_text("no trace by its name\n")
    return there


def test_each_collection_has_what_a_person_needs_and_a_reader_that_there_is() -> None:
    formats = {choice["name"] for choice in ssdlab.config_keys()["workload.format"]["choices"]}
    known = collections()
    assert len(known) >= 6
    for one in known:
        assert one.reader in formats, one.name
        assert one.where.startswith(("http://", "https://"))
        assert one.licence
        assert all(re.fullmatch(r"[0-9a-f]{32}", digest) for digest in one.md5.values())


def test_the_command_lists_them(ssdlab_command: Ssdlab) -> None:
    out = ssdlab_command("trace", "collections").out
    assert "http://iotta.snia.org/traces/block-io/388" in out
    assert "checksums: none published" in out
    assert ssdlab_command("trace", "collections", "--json").json()["collections"][1]["licence"] == "CC BY 4.0"


def test_pieces_are_of_all_strata_and_say_what_they_are(folder: Path, tmp_path: Path) -> None:
    found = draw(folder, tmp_path / "pieces", pieces=8, requests=PIECE, seed=1)
    assert found.considered == 5 + 3 + 2 * 2
    assert len(found.pieces) == 8
    assert {piece.stratum for piece in found.pieces} == {
        "mixed, small, fast",
        "mixed, large, fast",
        "reads, large, slow",
        "writes, small, slow",
    }
    assert found.strata == 4
    assert set(found.left_out) == {"notes.txt", "short.csv", "picture.png"}
    assert "no volume has 200 requests" in found.left_out["short.csv"]
    with (tmp_path / "pieces" / "drawn.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["file"] for row in table] == [piece.file for piece in found.pieces]
    for piece in found.pieces:
        info = ssdlab.trace_info(tmp_path / "pieces" / piece.file)
        assert sum(info["requests"].values()) == piece.requests == PIECE
        assert info["read_share"] == pytest.approx(piece.read_share)
        assert info["span_s"] == pytest.approx(piece.span_s)
        assert info["mean_kb"]["write"] == pytest.approx(4.0)
        assert hashlib.sha256((tmp_path / "pieces" / piece.file).read_bytes()).hexdigest() == piece.sha256
    volume = next(piece for piece in found.pieces if piece.volume == "b")
    assert volume.footprint_mib == PIECE
    assert volume.rate_per_s == pytest.approx(20_000, rel=0.01)


def written_as_listed(out: Path) -> list[dict[str, str]]:
    """The rows of the table, each of which has a file of its own with the hash it states."""
    with (out / "drawn.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(list(out.glob("*.zst"))) == len({row["file"] for row in table}) == len(table)
    assert all(hashlib.sha256((out / row["file"]).read_bytes()).hexdigest() == row["sha256"] for row in table)
    return table


def test_sources_and_volumes_with_names_alike_have_files_of_their_own(tmp_path: Path) -> None:
    there = tmp_path / "traces"
    (there / "a").mkdir(parents=True)
    head = "timestamp_us,op,offset_bytes,size_bytes"
    (there / "a" / "b.csv").write_text("\n".join([head, *rows(800, 1, 4096, 100)]) + "\n")
    (there / "a-b.csv").write_text("\n".join([head, *rows(800, 9, 1 << 20, 10)]) + "\n")
    volumes = [line for pair in zip(rows(400, 5, 4096, 50, "v 1"), rows(400, 5, 1 << 22, 50, "v/1"), strict=True) for line in pair]
    (there / "two.csv").write_text("\n".join([f"{head},device", *volumes]) + "\n")
    draw(there, tmp_path / "pieces", pieces=12, requests=PIECE, seed=1)
    assert len(written_as_listed(tmp_path / "pieces")) == 12


def test_requests_without_a_volume_are_pieces_of_their_own(tmp_path: Path) -> None:
    there = tmp_path / "traces"
    there.mkdir()
    mixed = [line for pair in zip(rows(400, 9, 4096, 50, "a"), rows(400, 1, 1 << 22, 50, " "), strict=True) for line in pair]
    (there / "some.csv").write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes,device", *mixed]).replace(", \n", ",\n") + "\n")
    found = draw(there, tmp_path / "pieces", pieces=20, requests=PIECE, seed=1)
    assert sorted((piece.volume, piece.read_share) for piece in found.pieces) == [("", 0.1), ("", 0.1), ("a", 0.9), ("a", 0.9)]
    for row in written_as_listed(tmp_path / "pieces"):
        info = ssdlab.trace_info(tmp_path / "pieces" / row["file"])
        assert info["read_share"] == pytest.approx(float(row["read_share"]))


def test_unreadable_lines_are_counted_and_files_with_many_left_out(folder: Path, ssdlab_command: Ssdlab) -> None:
    lines = (folder / "writes.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join([*lines, "junk"]) + "\n")
    (folder / "many.csv").write_text("\n".join([*lines, *["junk"] * 20]) + "\n")
    out = ssdlab_command("trace", "sample", "traces", "pieces", "--requests", str(PIECE)).out
    assert "left out: unreadable lines of few.csv: 1" in out
    assert "left out: many.csv: 20 of 1,020 lines cannot be read, more than 1%" in out
    words = ["--requests", str(PIECE), "--skip-bad-lines", "20", "--json"]
    found = ssdlab_command("trace", "sample", "traces", "all", *words).json()
    assert found["unreadable"] == {"few.csv": 1, "many.csv": 20}
    assert "many.csv" not in found["left_out"]


def test_pieces_that_were_drawn_before_are_no_traces(folder: Path) -> None:
    first = draw(folder, folder / "one", pieces=5, requests=PIECE, seed=1)
    second = draw(folder, folder / "two", pieces=5, requests=PIECE, seed=1)
    assert second.pieces == first.pieces
    assert second.left_out == {**first.left_out, "one": "pieces that were drawn before"}
    assert draw(folder / "one", folder / "one" / "three", pieces=5, requests=PIECE, seed=1).considered == 5


def test_the_draw_follows_the_seed_alone(folder: Path, tmp_path: Path) -> None:
    names = [
        [piece.file for piece in draw(folder, tmp_path / f"p{run}", pieces=5, requests=PIECE, seed=seed).pieces]
        for run, seed in enumerate((1, 1, 2, 3, 4))
    ]
    assert names[0] == names[1]
    assert len({tuple(one) for one in names}) > 1
    same = [(tmp_path / place / names[0][0]).read_bytes() for place in ("p0", "p1")]
    assert same[0] == same[1]


def test_volumes_that_were_drawn_least_come_first(folder: Path, tmp_path: Path) -> None:
    found = draw(folder, tmp_path / "pieces", pieces=4, requests=PIECE, seed=5)
    assert len({(piece.source, piece.volume) for piece in found.pieces}) == 4


def test_the_command_draws_and_a_sweep_takes_the_folder(folder: Path, tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    out = ssdlab_command("trace", "sample", "traces", "pieces", "--pieces", "4", "--requests", str(PIECE)).out
    assert "4 of 12 pieces, from 4 strata" in out
    assert 'trace = "pieces/*"' in out
    (tmp_path / "traces.toml").write_text(
        f'fit = "trace"\n[set]\n{FITTED}[grid]\nscheme = ["npgc", "pgc"]\ntrace = "pieces/*"\n'
        '[[questions]]\ncompare = "scheme"\nfigures = ["mean"]\n'
    )
    shown = ssdlab_command("sweep", "traces.toml", "--out", "out", "--json").json()
    assert len(shown["points"]) == 8
    assert shown["axes"]["trace"] == sorted(f"pieces/{file.name}" for file in (tmp_path / "pieces").glob("*.zst"))
    assert [row["workloads"] for row in shown["comparisons"]] == [4]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "pieces", "--pieces", "3"], "nowhere: there is no such file or folder"),
        (["nowhere", "pieces"], "nowhere: there is no such file or folder"),
        (["traces", "traces"], "expected a new or empty folder"),
        (["traces", "pieces", "--requests", "100k"], "none of 5 files gives a piece of 100,000 requests"),
        (["traces", "pieces", "--requests", "5"], "requests"),
        (["traces", "pieces", "--skip", "5"], "--skip is of one trace"),
        (["traces/writes.csv", "a.csv", "--pieces", "3"], "--pieces 3: traces/writes.csv is no folder"),
    ],
)
def test_mistakes_are_named(folder: Path, ssdlab_command: Ssdlab, words: list[str], message: str) -> None:
    done = ssdlab_command("trace", "sample", *words)
    assert message in done.err


def test_a_file_with_brackets_in_its_name_is_a_value(folder: Path, tmp_path: Path, ssdlab_command: Ssdlab) -> None:
    (folder / "writes.csv").rename(tmp_path / "my[1].csv")
    (tmp_path / "one.toml").write_text(f'fit = "trace"\n[set]\n{FITTED}[grid]\ntrace = ["my[1].csv"]\n')
    assert ssdlab_command("sweep", "one.toml", "--out", "out", "--json").json()["axes"]["trace"] == ["my[1].csv"]
    (tmp_path / "my[1].csv").unlink()
    ssdlab_command("report", "out")
    assert "my[1].csv: cannot read" in ssdlab_command("sweep", "one.toml", "--out", "again").err


def test_a_pattern_that_no_file_matches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.ConfigError, match=r'trace = ".*nothing.*": no file matches'):
        ssdlab.sweep({"trace": f"{tmp_path}/nothing*"}, device="demo-4g")
