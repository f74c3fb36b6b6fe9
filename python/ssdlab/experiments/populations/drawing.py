"""A stratified sample of pieces from the traces in a folder.

Each volume of each trace is cut into pieces of equally many requests. Pieces are put into strata by their share of reads (below 1/3, above
2/3, between), by the footprint and by the rate (below the median of all pieces, or not). Strata take turns; within one, pieces of volumes
that have been drawn least go first, in a random order.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import re
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ssdlab._core import write_file
from ssdlab.checks import whole
from ssdlab.errors import Error, FileError, TraceError, UsageError
from ssdlab.runs import api
from ssdlab.system.folders import DRAWN_FILE, folder_name, make_folder

__all__ = ["Drawn", "Piece", "draw"]

ENDINGS = (".csv", ".txt", ".ascii", ".spc", ".dat", ".trace", ".parquet", ".blkparse", ".log", ".vscsi", ".bin", ".gz", ".bz2", ".zst")
"""Endings of files that may be traces."""
SCANNED = 5_000_000
"""Default number of requests at the beginning of each file that are considered, in about 150 MB of memory."""
MEBIBYTE = 20
ANY_LINES = 10**9
"""Unreadable lines of a trace that are counted."""
MOST_UNREADABLE = 0.01
"""Maximum share of unreadable lines of a trace: the rate of its pieces is too low by about as much."""
UNSAFE = re.compile(r"[^\w+-]+", re.ASCII)
LEAST = 100
"""Minimum number of requests of a piece."""


@dataclass(frozen=True)
class Piece:
    """Requests in a row of a volume of a trace."""

    source: str
    """The trace, relative to the folder."""
    volume: str
    """Empty for requests without one."""
    first: int
    """Number of requests of the volume before it."""
    requests: int
    read_share: float
    mean_kib: float
    footprint_mib: int
    """Mebibytes of addresses in which requests begin."""
    rate_per_s: float
    """Requests per second; 0 if all arrive at once."""
    span_s: float
    stratum: str = ""
    of: int = 0
    """Number of pieces of the stratum, of which it is one."""
    file: str = ""
    """The file that was written."""
    sha256: str = ""


@dataclass(frozen=True)
class Drawn:
    """The outcome of drawing."""

    pieces: Sequence[Piece]
    considered: int
    """Number of pieces from which they were drawn."""
    strata: int
    left_out: Mapping[str, str]
    """Files that cannot be read as traces, or are too short, with the reasons."""
    unreadable: Mapping[str, int]
    """Number of lines that were left out, by file; only files with some."""


def draw(
    folder: Path,
    out: Path,
    *,
    pieces: int,
    requests: int,
    seed: int,
    scanned: int = SCANNED,
    progress: Callable[[str, float], None] | None = None,
    **reading: Any,
) -> Drawn:
    """Draws pieces of the traces in a folder and below, and writes them to another one, with a table of them.

    Equal arguments give equal pieces.

    Args:
        folder: the folder with traces.
        out: folder for the pieces, which must be new or empty.
        pieces: maximum number of pieces.
        requests: requests of a piece.
        seed: seed of the draw.
        scanned: number of requests at the beginning of each file that are considered.
        progress: callback for step and share, 0 to 1.
        reading: options of `trace_convert` by which the traces are read, such as `format`. Without `bad_lines`, files of which more than
            1 % of the lines cannot be read are left out.

    Raises:
        UsageError: a number is invalid, the folder has no traces, or `out` is not empty.
        FileError: a file cannot be read or written.
    """
    whole("pieces", pieces, least=1)
    whole("requests", requests, least=LEAST)
    whole("scan", scanned, least=requests)
    if not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder with traces that were downloaded (`ssdlab trace collections` lists public ones)")
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out}: expected a new or empty folder for the pieces: choose another one")
    drawn = {out, *(table.parent for table in folder.rglob(DRAWN_FILE) if table.parent != folder)}
    there = [file for file in sorted(folder.rglob("*")) if file.is_file() and drawn.isdisjoint(file.parents)]
    files = [file for file in there if file.suffix in ENDINGS]
    if not files:
        raise UsageError(f"{folder}: no file has the ending of a trace ({', '.join(ENDINGS)}); unpack archives first")
    found: list[Piece] = []
    left_out = {file.relative_to(folder).as_posix(): "not the ending of a trace" for file in there if file.suffix not in ENDINGS}
    left_out |= {place.relative_to(folder).as_posix(): "pieces that were drawn before" for place in sorted(drawn - {out})}
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as place:
        tables: dict[str, Path] = {}
        unreadable: dict[str, int] = {}
        for number, file in enumerate(files):
            name = file.relative_to(folder).as_posix()
            if progress is not None:
                progress(f"reading {name}", number / len(files))
            table = Path(place) / f"{number}.parquet"
            try:
                report = api.trace_convert(file, table, requests=scanned, time_order="sort", **{"bad_lines": ANY_LINES, **reading})
                if "bad_lines" not in reading:
                    _refuse_unreadable(report)
                cut = list(_cut(name, table, requests))
            except (TraceError, UsageError, FileError) as reason:
                left_out[name] = str(reason).removeprefix(f"{file}: ")
                continue
            tables[name] = table
            found += cut
            if report["bad_lines"]:
                unreadable[name] = report["bad_lines"]
            if not cut:
                left_out[name] = f"no volume has {requests:,} requests"
        if not found:
            first = files[0].relative_to(folder).as_posix()
            raise UsageError(f"{folder}: none of {len(files)} files gives a piece of {requests:,} requests; {first}: {left_out[first]}")
        strata = _strata(found)
        chosen = list(_chosen(strata, pieces, seed))
        make_folder(out)
        named = zip(chosen, _names(chosen), strict=True)
        written = [_written(piece, tables[piece.source], out / f"{name}.csv.zst") for piece, name in named]
    _write_table(out / DRAWN_FILE, written)
    return Drawn(written, len(found), len(strata), left_out, unreadable)


def _refuse_unreadable(report: Mapping[str, Any]) -> None:
    """Refuses a trace whose times and addresses would have gaps."""
    bad, read = report["bad_lines"], sum(report["requests"].values())
    if bad > MOST_UNREADABLE * (bad + read):
        raise UsageError(
            f"{bad:,} of {bad + read:,} lines cannot be read, more than {MOST_UNREADABLE:.0%} "
            "(`ssdlab trace info` shows the first; --skip-bad-lines N takes files with up to N)"
        )


def _cut(name: str, table: Path, requests: int) -> Iterator[Piece]:
    """The pieces of a trace, volume by volume."""
    import pyarrow.parquet as pq  # noqa: PLC0415 (it takes longer than many runs)

    rows = pq.read_table(table)
    named = rows["device"].to_pylist() if "device" in rows.column_names else [""] * len(rows)
    volumes = np.array([volume or "" for volume in named], dtype=object)
    times, offsets, sizes = (rows[column].to_numpy() for column in ("time_ns", "offset_bytes", "size_bytes"))
    reads = np.array(rows["op"].to_pylist(), dtype=object) == "R"
    for volume in sorted({*volumes}):
        own = np.flatnonzero(volumes == volume)
        for first in range(0, len(own) - requests + 1, requests):
            part = own[first : first + requests]
            span = float(times[part[-1]] - times[part[0]]) / 1e9
            yield Piece(
                source=name,
                volume=volume,
                first=first,
                requests=requests,
                read_share=float(reads[part].mean()),
                mean_kib=float(sizes[part].mean()) / 1024,
                footprint_mib=len(np.unique(offsets[part] >> MEBIBYTE)),
                rate_per_s=(requests - 1) / span if span else 0.0,
                span_s=span,
            )


def _strata(pieces: Sequence[Piece]) -> dict[str, list[Piece]]:
    """The pieces by stratum."""
    footprint, rate = (statistics.median_low(getattr(piece, name) for piece in pieces) for name in ("footprint_mib", "rate_per_s"))
    strata: dict[str, list[Piece]] = {}
    for piece in pieces:
        kind = "writes" if piece.read_share < 1 / 3 else "reads" if piece.read_share > 2 / 3 else "mixed"
        wide, fast = "large" if piece.footprint_mib > footprint else "small", "fast" if piece.rate_per_s > rate else "slow"
        strata.setdefault(f"{kind}, {wide}, {fast}", []).append(piece)
    return {name: [replace(piece, stratum=name, of=len(strata[name])) for piece in strata[name]] for name in sorted(strata)}


def _chosen(strata: Mapping[str, Sequence[Piece]], count: int, seed: int) -> Iterator[Piece]:
    """Pieces, stratum by stratum in turns."""
    rng = random.Random(seed)
    left = {name: rng.sample(list(of), len(of)) for name, of in strata.items()}
    used: Counter[tuple[str, str]] = Counter()
    while left and count:
        for name in list(left):
            if not count:
                return
            piece = min(left[name], key=lambda piece: used[piece.source, piece.volume])  # the first of equals
            left[name].remove(piece)
            if not left[name]:
                del left[name]
            used[piece.source, piece.volume] += 1
            count -= 1
            yield piece


def _names(pieces: Sequence[Piece]) -> list[str]:
    """A name for the file of each piece, with a hash where letters that it leaves out are the only difference."""
    parts = [(piece.source, piece.volume, str(piece.first)) for piece in pieces]
    plain = [UNSAFE.sub("-", "-".join(part for part in of if part)) for of in parts]
    count = Counter(name.casefold() for name in plain)
    return [folder_name(name, name if count[name.casefold()] == 1 else json.dumps(of)) for name, of in zip(plain, parts, strict=True)]


def _written(piece: Piece, table: Path, file: Path) -> Piece:
    """Writes a piece as a compressed trace."""
    try:
        api.trace_convert(table, file, volume=piece.volume, skip=piece.first, requests=piece.requests)
    except Error as error:
        raise type(error)(f"{piece.source}: {error}") from error
    return replace(piece, file=file.name, sha256=hashlib.sha256(file.read_bytes()).hexdigest())


def _write_table(file: Path, pieces: Sequence[Piece]) -> None:
    import io  # noqa: PLC0415

    content = io.StringIO()
    rows = csv.DictWriter(content, fieldnames=list(Piece.__dataclass_fields__), lineterminator="\n")
    rows.writeheader()
    rows.writerows(asdict(piece) for piece in pieces)
    write_file(file, content.getvalue())
