"""`ssdlab bug-report`: describes version, machine, results and configuration for an issue, without private data.

Files are named without their folders. The names of the user and the machine are replaced in all texts from the user or the system: files,
volumes, commands, messages, the kernel's release. Nothing is sent anywhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import locale
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from ssdlab import _core
from ssdlab.asking.plans import Setup, value_text
from ssdlab.errors import Error
from ssdlab.pages.report.runs import leaves, saved_in, undamaged, words_of
from ssdlab.system.checksums import is_changed
from ssdlab.system.platforms import processors

__all__ = ["bug_report"]

INTRODUCTION = """\
# Bug report

What did you do, what happened, and what did you expect? Write it here, with the command and what it
printed. Read the rest before you publish it: it has no folders, no user name and no machine name, but
the names of your files.
"""
FOLDERS = re.compile(r"""[^=,\["'\n/]*/(?:.*/)?""")
"""Matches from the first path in a line up to the last slash.

The end of a path is ambiguous, since folder names may contain any character.
"""
OPTION = re.compile(r"(?:--[\w-]+=)?(?:[\w.]+=)?")
"""Matches the part of a command-line word before a value: `--set=workload.trace=`."""
USER_VARIABLES = ("USER", "LOGNAME", "USERNAME", "SUDO_USER")
GIB = 1 << 30


class Private:
    """Removes private data from texts: the names of the user and the machine, and folders."""

    def __init__(self) -> None:
        self._names = {name: kind for kind, names in (("user", _user_names()), ("host", _host_names())) for name in names if name}

    def without(self, text: str) -> str:
        """A text without private names, each path reduced to its file name."""
        return self._without_names(FOLDERS.sub(".../", text))

    def in_value(self, value: str) -> str:
        """A configuration value without private names. A value with a slash is taken as one path."""
        _, slash, name = value.rpartition("/")
        return self._without_names(f".../{name}" if slash else value)

    def in_word(self, word: str) -> str:
        """A word of a command without private names; the option and key before its value are kept."""
        found = OPTION.match(word)
        begin = 0 if found is None else found.end()
        return self._without_names(word[:begin]) + self.in_value(word[begin:])

    def _without_names(self, text: str) -> str:
        for name, kind in sorted(self._names.items(), key=lambda entry: -len(entry[0])):
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", f"<{kind}>", text, flags=re.IGNORECASE)
        return text


def _user_names() -> set[str]:
    names = {os.environ.get(name, "") for name in USER_VARIABLES}
    names |= {Path(os.environ.get(name, "")).name for name in ("HOME", "USERPROFILE")}
    if sys.platform != "win32":
        import pwd  # noqa: PLC0415 (Windows has none)

        with contextlib.suppress(KeyError):  # a user without an entry, as in containers
            entry = pwd.getpwuid(os.getuid())
            names |= {entry.pw_name, entry.pw_gecos.split(",")[0], Path(entry.pw_dir).name}
    return names


def _host_names() -> set[str]:
    name = platform.node()
    return {name, name.split(".")[0]} - {"localhost"}


def bug_report(folder: Path | None, config: Path | None) -> str:
    """Describes version and machine and, if given, results and a configuration, as Markdown.

    Args:
        folder: results of `ssdlab run` or `compare`, as written with `--out`. Damaged results are reported as damaged.
        config: TOML file of configuration keys. If it is refused, the report has the reason.
    """
    private = Private()
    parts = [INTRODUCTION, _versions(), _machine(private)]
    parts += [] if config is None else [_configuration_file(config, private)]
    parts += [] if folder is None else [_results(folder, private)]
    return "\n".join(parts)


def _table(heading: str, rows: Iterator[tuple[str, str]]) -> str:
    return f"## {heading}\n\n| | |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in rows)


def _versions() -> str:
    return _table("Versions", _version_rows())


def _version_rows() -> Iterator[tuple[str, str]]:
    yield "ssdlab", _core.version()
    yield "core", f"SHA-256 {hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]}"
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    for library in sorted(_libraries()):
        with contextlib.suppress(PackageNotFoundError):
            yield library, version(library)


def _libraries() -> set[str]:
    """Names of the packages that ssdlab needs, and Ray, which sweeps over several machines need."""
    try:
        needed = requires("ssdlab") or []
    except PackageNotFoundError:  # run from the sources
        needed = ["matplotlib", "numpy", "pyarrow", "rich", "typer"]
    return {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed if "extra ==" not in line} | {"ray"}


def _machine(private: Private) -> str:
    return _table("Machine", ((name, private.without(value)) for name, value in _machine_rows()))


def _machine_rows() -> Iterator[tuple[str, str]]:
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "C library", " ".join(platform.libc_ver()).strip() or "not known"
    yield "processors", f"{os.cpu_count()}, {processors()} of them usable"
    if sys.platform != "win32":
        yield "memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / GIB:.1f} GiB"
    yield "text", f"{locale.getpreferredencoding(False)}, files' names {sys.getfilesystemencoding()}"


def _configuration_file(file: Path, private: Private) -> str:
    """The effective configuration of a file, or the reason why it is refused."""
    head = f"## Configuration {private.in_value(file.name)}\n\n"
    try:
        tree = json.loads(Setup(config=file).build(None).json())
    except Error as error:
        return f"{head}It is refused: {private.without(str(error).replace(str(file), file.name))}\n"
    return head + _toml(_lines(tree, private))


def _results(folder: Path, private: Private) -> str:
    """The runs in a folder of results."""
    try:
        with undamaged(folder):
            file, data = saved_in(folder)
            runs = data.get("runs") or {"run": data}
            return f"## Results in {file.name}\n\n" + "\n".join(_run_sections(runs, private))
    except Error as error:
        return f"## Results\n\nThey cannot be read: {private.without(str(error))}\n"


def _run_sections(runs: Mapping[str, Mapping[str, Any]], private: Private) -> Iterator[str]:
    """A section for each run with its configuration; for runs after the first, only the lines that differ."""
    first: list[str] = []
    for name, data in runs.items():
        lines = _lines(data["config"], private)
        yield _table(f"Run {private.without(name)}", _run_rows(data, private)).replace("## ", "### ", 1)
        yield _toml([line for line in lines if line not in first])
        first = first or lines


def _run_rows(data: Mapping[str, Any], private: Private) -> Iterator[tuple[str, str]]:
    yield "ssdlab", str(data["version"])
    yield "digest", f"{data['digest']}, seed {data['seed']}"
    words = [private.in_word(word) for word in words_of(data.get("command"))]
    yield "command", f"`{shlex.join(words)}`" if words else "not known (policies written in Python, or a pipe)"
    yield "file", "changed after ssdlab wrote it" if is_changed(data) else "as ssdlab wrote it"


def _lines(tree: Mapping[str, Any], private: Private) -> list[str]:
    """A configuration as lines of a TOML file: `key = value`."""
    words = _known_words()
    return [f"{key} = {value_text(_scrubbed(value, words, private))}" for key, value in leaves(tree) if value is not None]


def _scrubbed(value: Any, words: set[str], private: Private) -> Any:
    """A configuration value without private data, also in nested lists and tables."""
    if isinstance(value, str):
        return value if value in words else private.in_value(value)
    if isinstance(value, Mapping):
        return {key: _scrubbed(entry, words, private) for key, entry in value.items()}
    return [_scrubbed(entry, words, private) for entry in value] if isinstance(value, list) else value


def _known_words() -> set[str]:
    """The values of keys with fixed choices, which cannot be private."""
    return {choice["name"] for key in json.loads(_core.keys()) for choice in key.get("choices", ())}


def _toml(lines: list[str]) -> str:
    return "```toml\n" + "".join(f"{line}\n" for line in lines) + "```\n" if lines else "The configuration is that of the first run.\n"
