"""The traces of runs: names, hashes, and the source of each for a reviewer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdlab.checks import nearest
from ssdlab.errors import FileError, UsageError
from ssdlab.experiments.artifact.parts import Reads

__all__ = ["Input", "check_sources", "hash_of", "inputs_of", "sources_of"]

SHIPPED = "mariadb_oltp_write_only_paced."
SHIPPED_SOURCE = "comes with the sources of ssdlab, in their folder `traces`"


@dataclass
class Input:
    """A trace, or a prefill list of the ranges with data before the trace."""

    name: str
    file: Path
    used_by: list[str] = field(default_factory=list)
    source: str | None = None

    def to_dict(self, *, included: bool) -> dict[str, Any]:
        """The entry of the input in `artifact.json`."""
        source = "in this kit, in `traces`" if included else self.source
        where = {} if source is None else {"source": source}
        return {"name": self.name, "bytes": self.file.stat().st_size, "sha256": hash_of(self.file), **where, "used_by": self.used_by}


def inputs_of(parts: Mapping[str, Reads]) -> dict[str, Input]:
    """Collects the traces that the runs of some parts read, by name. `parts`: what each part reads, by its name.

    Raises:
        UsageError: two traces that runs read have one name but different contents.
    """
    found: dict[str, Input] = {}
    for part, reads in parts.items():
        for name, file in reads.traces:
            known = found.setdefault(name, Input(name, file, source=SHIPPED_SOURCE if name.startswith(SHIPPED) else None))
            if known.file != file and hash_of(known.file) != hash_of(file):
                raise UsageError(f"{known.file} and {file}: two traces of one name: rename one of them")
            if part not in known.used_by:
                known.used_by.append(part)
    return found


def sources_of(words: Iterable[str]) -> dict[str, str]:
    """The source of each trace, by name, from words such as `web_3.csv=https://...`."""
    sources = {}
    for word in words:
        name, equals, where = word.partition("=")
        if not equals or not name or not where.strip():
            raise UsageError(f'--source "{word}": expected TRACE=WHERE, such as web_3.csv=https://...')
        sources[name] = where.strip()
    return sources


def check_sources(found: Mapping[str, Input], sources: Mapping[str, str]) -> None:
    """Records the source of each trace.

    Raises:
        UsageError: a source is given for a trace that no run reads.
    """
    for name, where in sources.items():
        if name not in found:
            known = ", ".join(found) or "none"
            raise UsageError(f"--source {name}: no run of this kit reads this trace{nearest(name, found)} (traces: {known})")
        found[name].source = where


def hash_of(file: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as reason:
        raise FileError(f"{file}: cannot read: {reason.strerror}", reason.errno, str(file)) from reason
