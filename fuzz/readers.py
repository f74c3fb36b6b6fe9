"""Fuzzing by coverage of the files that Python reads: `python fuzz/readers.py study|sweep|result [options of libFuzzer]`.

A file is read, or refused with one of the package's errors. A study that is read has rows that can be asked for; a sweep that is read is
written as a file that says the same; a result that is read prints, and is saved as it was.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import atheris

with atheris.instrument_imports(include=["ssdlab"]):
    import ssdlab
    from ssdlab.asking.keys import read_toml
    from ssdlab.errors import Error, InternalError
    from ssdlab.experiments.study.definition import parse
    from ssdlab.experiments.sweeping.definition import define
    from ssdlab.pages.report.runs import undamaged
    from ssdlab.pages.tables import run_tables
    from ssdlab.system.json_text import json_text

FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
"""For what is read from a folder; in memory where the system has a file system there."""
PRINTED_OF = 64
"""Results per printed table. The tables of all results are made; printing them takes 30 times as long as all else."""


@contextlib.contextmanager
def errors_of_the_package() -> Iterator[None]:
    """A refusal is no fault if it is one of the package's errors and says something."""
    try:
        yield
    except InternalError:
        raise
    except Error as error:
        message = str(error)
        assert message, "an error without a message"


def study(data: bytes) -> None:
    """A study's definition."""
    with errors_of_the_package():
        read = parse("own/fuzz", data.decode(errors="replace"), Path())
        assert read.metrics
        assert read.schemes
        assert all(row.what for row in read.rows)


def sweep(data: bytes) -> None:
    """A sweep's definition."""
    with errors_of_the_package():
        read = define("fuzz.toml", read_toml("fuzz.toml", data.decode(errors="replace")))
        if len(read) > 100:
            return
        points = list(read.points())
        again = define("again.toml", read_toml("again.toml", read.to_toml()))
        assert list(again.points()) == points, "the file that is written says something else"


def result(data: bytes) -> None:
    """The file of a saved result."""
    folder = Path(FOLDER.name)
    (folder / "result.json").write_bytes(data)
    # As the commands that read results do: what a damaged file lacks shows where it is used.
    with errors_of_the_package(), undamaged(folder):
        read = ssdlab.load(folder)
        assert run_tables(read)
        if crc32(data) % PRINTED_OF == 0:
            assert str(read)
        assert repr(read)
        saved = json.loads(json_text(read.to_dict()))
        assert saved == json.loads(data), "it is saved as something else"


READERS = {"study": study, "sweep": sweep, "result": result}


def main() -> None:
    """Fuzzes the reader that the first argument names."""
    name, *options = sys.argv[1:] or [""]
    if name not in READERS:
        sys.exit(f"error: expected one of {', '.join(READERS)}, found {name!r}")
    atheris.Setup([sys.argv[0], *options], READERS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
