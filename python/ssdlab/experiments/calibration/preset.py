"""A device preset in TOML: the preset that a calibration started from, with the fitted values and their uncertainty."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.asking.plans import value_text
from ssdlab.errors import FileError
from ssdlab.experiments.calibration.parameters import KEYS

__all__ = ["preset_text"]

WIDTH = 140
"""Width of comment lines, characters."""


def preset_text(
    base: str,
    drive: str,
    scheme: str,
    settings: Mapping[str, Any],
    remarks: Mapping[str, str],
    overprovisioning: float,
    *,
    caveat: str = "",
) -> str:
    """Builds the text of the preset.

    Args:
        base: device preset, or file with one, that the calibration started from. Values that were not fitted keep its comments.
        drive: name of the drive.
        scheme: scheme that the preset was calibrated with.
        settings: fitted values, by configuration key.
        remarks: comment on each value, by its name in the calibration.
        overprovisioning: over-provisioning of the fitted drive.
        caveat: sentence at the end of the description, with a blank in front.
    """
    original = text = _text_of(base)
    head = {
        "source": f"ssdlab calibrate, from the device {base}: values with the word fitted. Of others, see there.",
        "description": f"A drive that was calibrated to behave as measured of {drive}. It goes with the scheme {scheme}.{caveat}",
    }
    found = {**settings, "device.overprovisioning": round(overprovisioning, 6)}
    for name, value in head.items():
        text = _headed(text, f"{name} = {value_text(value)}")
    for key, value in found.items():
        text = _with(text, key, value, remarks.get(KEYS.get(key, ""), ""))
    wanted = _changed(tomllib.loads(original), {**head, **found})
    return text if _says(text, wanted) else "\n".join(_afresh(wanted, {key: remarks.get(name, "") for key, name in KEYS.items()})) + "\n"


def _changed(tree: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Sets some keys in the tree of a preset; returns it."""
    for key, value in values.items():
        *sections, name = key.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return tree


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    """Whether a text parses to this tree. `_with` does not handle all TOML, such as a list over several lines."""
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _afresh(tree: Mapping[str, Any], remarks: Mapping[str, str], section: str = "") -> Iterator[str]:
    """The lines of a preset without the comments of the base."""
    for name, value in tree.items():
        if not isinstance(value, dict):
            yield from _entry(name, value, remarks.get(f"{section}{name}", ""))
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from ("", f"[{section}{name}]")
            yield from _afresh(value, remarks, f"{section}{name}.")


def _text_of(base: str) -> str:
    if not base.endswith(".toml"):
        return _core.preset_text("device", base)
    try:
        return Path(base).read_text(encoding="utf-8-sig")  # some editors write a byte order mark
    except OSError as reason:
        raise FileError(f"{base}: cannot read: {reason.strerror}", reason.errno, base) from reason


def _headed(text: str, line: str) -> str:
    """The text with a line of its head replaced, or prepended if the head lacks it, as in user-defined files."""
    found = re.search(rf"^{line.split(' ', maxsplit=1)[0]} *= .*$", text, flags=re.MULTILINE)
    return f"{line}\n{text}" if found is None else text[: found.start()] + line + text[found.end() :]


def _with(text: str, key: str, value: Any, remark: str) -> str:
    """The text with the value of a key and its comment replaced or added."""
    section, name = key.split(".", 1)
    lines = _entry(name, value, remark)
    parts = list(_sections(text))
    for index, (header, body) in enumerate(parts):
        if header == section:
            parts[index] = (header, _replaced(body, name, lines))
            break
    else:
        parts.append((section, ["", f"[{section}]", *lines]))
    return "\n".join(line for _, body in parts for line in body) + "\n"


def _entry(name: str, value: Any, remark: str) -> list[str]:
    comment = [f"# {line}" for line in textwrap.wrap(remark[:1].upper() + remark[1:] + ".", WIDTH - 2)] if remark else []
    return [*comment, f"{name} = {value_text(value)}"]


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    header, body = "", list[str]()
    for line in text.rstrip("\n").split("\n"):
        found = re.fullmatch(r"\[([\w.]+)\]\s*(?:#.*)?", line)
        if found:
            yield header, body
            header, body = found[1], []
        body.append(line)
    yield header, body


def _replaced(body: list[str], name: str, lines: list[str]) -> list[str]:
    """The lines of a section with the lines of one key, comment included, replaced or added at the end."""
    for place, line in enumerate(body):
        if re.match(rf"{re.escape(name)}\s*=", line):
            begin = place
            while body[begin - 1].startswith("#"):
                begin -= 1
            return [*body[:begin], *lines, *body[place + 1 :]]
    end = len(body)
    while not body[end - 1].strip():
        end -= 1
    return [*body[:end], *lines, *body[end:]]
