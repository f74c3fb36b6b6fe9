"""`ssdlab.import_configuration`: presets from configurations of other simulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.asking.importing.ledger import Imported
from ssdlab.asking.importing.recognise import read
from ssdlab.asking.importing.writing import write
from ssdlab.asking.options import Path_
from ssdlab.asking.plans import value_text
from ssdlab.checks import path, shown, text, truth, whole
from ssdlab.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Import", "import_configuration"]


@dataclass(frozen=True)
class Import(Sequence[Imported]):
    """Configurations of other simulators that were read: one entry for each file, and the files that were written.

    `problems` has a line for each file that gives no preset, or presets that a run refuses.
    """

    files: tuple[Imported, ...]
    written: tuple[Path, ...]

    @property
    def problems(self) -> list[str]:
        """A line for each file without presets that run."""
        return [f"{one.file}: {one.problem}" for one in self.files if one.problem]

    def __getitem__(self, index: Any) -> Any:
        """A file by its place."""
        return self.files[index]

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Imported]:
        return iter(self.files)

    def table(self) -> pa.Table:
        """An Arrow table with a row for each key of the files, and what became of it. `settings` is TOML."""
        import pyarrow as pa  # noqa: PLC0415 (it takes a while to import)

        names = ("file", "line", "section", "name", "value", "fate", "settings", "note")
        rows = [row.to_dict() for one in self.files for row in (*one.rows, *one.fixed)]
        for row in rows:
            row["settings"] = "\n".join(f"{key} = {value_text(value)}" for key, value in row["settings"].items())
        return pa.table({name: [row[name] for row in rows] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """What `ssdlab import --json` prints."""
        return {"files": [one.to_dict() for one in self.files], "written": [str(path) for path in self.written]}


def import_configuration(
    files: Path_ | Sequence[Path_],
    *,
    out: Path_ | None = None,
    force: bool = False,
    profile: str | None = None,
    capacity: int | None = None,
) -> Import:
    """Reads configurations of MQSim, FEMU, NVMeVirt or SimpleSSD as presets, with a row for what became of every key.

        found = ssdlab.import_configuration("ssdconfig.xml", out="mine")
        found.table().to_pandas()

    Args:
        files: a file, or several that belong together.
        out: a folder for presets (`.toml`) and tables (`.md`); by default nothing is written.
        force: whether to replace files that exist.
        profile: for NVMeVirt, the drive of the header, a value of `BASE_SSD`.
        capacity: for NVMeVirt, the size of the memory, bytes.

    Raises:
        FileError: a file cannot be read or written.
        UsageError: a file is of no known form, a value in it cannot be read, or a file to write exists.
    """
    several = list(files) if isinstance(files, Sequence) and not isinstance(files, str) else [files]
    if not several:
        raise UsageError(f"files = {shown(files)}: expected a file, or a list of files")
    places = [Path(path("files", file)) for file in several]
    if profile is not None:
        text("profile", profile)
    read_files = read(places, profile=profile, capacity=None if capacity is None else whole("capacity", capacity, least=1))
    written = [] if out is None else write(read_files, Path(path("out", out)), force=truth("force", force))
    return Import(tuple(read_files), tuple(written))
