"""Writing of imported presets, with the table beside them: all files or none."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab._core import write_file
from ssdlab.asking.importing.ledger import Imported, Preset, Row
from ssdlab.asking.plans import value_text
from ssdlab.errors import UsageError
from ssdlab.system.folders import held, make_folder

__all__ = ["files_of", "markdown", "preset_text", "write"]

WIDTH = 120
"""Width of comment lines, characters."""


def write(imported: Sequence[Imported], folder: Path, *, force: bool = False) -> list[Path]:
    """Writes presets and tables into a folder; returns the files.

    Raises:
        UsageError: a file exists with other content, and `force` is false; nothing is written. Or two inputs have one name.
        FileError: a file cannot be written; of several, files that are replaced (`force`) may have been.
    """
    texts: dict[Path, str] = {}
    for one in imported:
        for path, text in files_of(one, folder).items():
            if path in texts:
                raise UsageError(
                    f"{one.file}: two files to import have this name, and their presets would have one name: import them into two folders"
                )
            texts[path] = text
    there = [path for path, text in texts.items() if not _is_free(path, text)]
    if there and not force:
        raise UsageError(
            f"{there[0]}: exists{f', and {len(there) - 1} others' if len(there) > 1 else ''}: --force replaces, or choose another --out"
        )
    if folders := [path for path in there if path.is_dir()]:
        raise UsageError(f"{folders[0]}: there is a folder of this name: choose another --out")
    make_folder(folder)
    with held(folder):
        _write_all(texts)
    return list(texts)


def _is_free(path: Path, text: str) -> bool:
    """Whether the file may be written without a loss: it does not exist, or has this text already."""
    if path.is_dir() or path.is_symlink():
        return False
    try:
        return path.read_bytes() == _encoded(text)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")


def files_of(imported: Imported, folder: Path) -> dict[Path, str]:
    """The files of an import and their texts: presets, then the table."""
    stem = Path(imported.file).stem or "imported"
    files = {folder / f"{stem}-{preset.kind}{preset.label}.toml": preset_text(preset, imported) for preset in imported.presets}
    return {**files, folder / f"{stem}-import.md": markdown(imported)}


def preset_text(preset: Preset, imported: Imported) -> str:
    """The TOML of a preset. Each key has the key of theirs that it comes from as a comment."""
    name = Path(imported.file).name
    head = {
        "description": f"The {preset.kind} of {name}, imported from {imported.form}.",
        "source": f"ssdlab import {name} ({imported.form}). The table beside this file has every key.",
    }
    lines = [f"{key} = {value_text(value)}" for key, value in head.items()]
    return "\n".join([*lines, *_sections(preset.settings, preset.comments)]) + "\n"


def _sections(settings: Mapping[str, Any], comments: Mapping[str, str]) -> Iterator[str]:
    sections: dict[str, list[str]] = {}
    for key in settings:
        section, _, _ = key.rpartition(".")
        sections.setdefault(section, []).append(key)
    for section, keys in sorted(sections.items()):
        yield from ("", f"[{section}]")
        for key in keys:
            comment = "".join(character if character.isprintable() else " " for character in comments.get(key, ""))
            yield from (f"# {line}" for line in textwrap.wrap(comment, WIDTH - 2))
            yield f"{key.rpartition('.')[2]} = {value_text(settings[key])}"


def markdown(imported: Imported) -> str:
    """The table of an import as Markdown."""
    counts = ", ".join(f"{imported.to_dict()['counts'][fate]} {fate}" for fate in imported.to_dict()["counts"])
    lines = [f"# {Path(imported.file).name}", "", f"{imported.form}. {len(imported.rows)} keys: {counts}.", ""]
    if imported.problem:
        lines += [f"**Does not run**: {_cell(imported.problem)}", ""]
    lines += ["| line | key | value | | sets | how |", "|--:|---|---|---|---|---|"]
    lines += [_line(row) for row in imported.rows]
    if imported.fixed:
        lines += ["", "Set without a key in the file, by what the simulator does or by its defaults:", "", "| sets | why |", "|---|---|"]
        lines += [f"| {_settings(row)} | {_cell(row.note)} |" for row in imported.fixed]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    place = f"{row.section}: " if " " in row.section else ""
    return (
        f"| {row.line} | {_cell(place)}`{_cell(row.name)}` | {_cell(row.value)} | {row.fate.value} | {_settings(row)} | {_cell(row.note)} |"
    )


def _settings(row: Row) -> str:
    return _cell(", ".join(f"`{key} = {value_text(value)}`" for key, value in row.settings.items()))


def _cell(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text).replace("|", "\\|")


def _write_all(texts: Mapping[Path, str]) -> None:
    """Writes each file whole; after an error those that were not there before are removed again."""
    new: list[Path] = []
    try:
        for path, text in texts.items():
            is_new = not path.exists()
            write_file(path, _encoded(text))
            new += [path] if is_new else []
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
