"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.api import Kind, config_keys, presets
from ssdlab.checks import amount, text
from ssdlab.errors import UsageError
from ssdlab.plans import Window
from ssdlab.progress import show_reading

__all__ = ["TimeOrder", "Verify", "folder", "parse_settings", "parse_window"]


class Verify(StrEnum):
    """How much is checked while a run goes on."""

    off = "off"
    end = "end"
    every = "every"


def _hush(quiet: bool) -> bool:
    """Also what is read before a command has begun its work shows nothing then."""
    if quiet:
        show_reading(False)
    return quiet


def count(text: str) -> int:
    """A number such as 5000, 5k or 2M."""
    return _amount(text, in_bytes=False)


def size(text: str) -> int:
    """A number of bytes such as 4096, 4k, 4KiB or 4kB."""
    return _amount(text, in_bytes=True)


def _amount(text: str, *, in_bytes: bool) -> int:
    try:
        return amount("", text, in_bytes=in_bytes)
    except UsageError as error:
        raise typer.BadParameter(str(error).removeprefix(" = ")) from error


def _preset(kind: Kind) -> Callable[[str], list[str]]:
    """What a shell may complete a preset's name to, also behind a +."""

    def complete(incomplete: str) -> list[str]:
        before, plus, last = incomplete.rpartition("+")
        return [f"{before}{plus}{name}" for name in presets(kind) if name.startswith(last)]

    return complete


def _format(incomplete: str) -> list[str]:
    choices = config_keys()["workload.format"]["choices"]
    return [choice["name"] for choice in choices if choice["name"].startswith(incomplete)]


def _key(incomplete: str) -> list[str]:
    return [f"{name}=" for name in config_keys() if name.startswith(incomplete)]


Device = Annotated[
    str | None, typer.Option(help="Device preset (see `ssdlab list devices`).", metavar="NAME", autocompletion=_preset("device"))
]
Scheme = Annotated[
    str | None, typer.Option(help="Scheme preset, or several joined by +.", metavar="NAME[+NAME...]", autocompletion=_preset("scheme"))
]
Schemes = Annotated[
    list[str],
    typer.Option(
        "--scheme", help="A scheme to compare; give it once for each.", metavar="NAME[+NAME...]", autocompletion=_preset("scheme")
    ),
]
Workload = Annotated[str | None, typer.Option(help="Workload preset.", metavar="NAME", autocompletion=_preset("workload"))]
Trace = Annotated[Path | None, typer.Option(help="Replay this trace, plain, .gz, .bz2 or .zst; - is standard input.", metavar="FILE")]
Format = Annotated[
    str | None, typer.Option(help="The trace's format, where its content does not tell.", metavar="NAME", autocompletion=_format)
]
UnitBytes = Annotated[
    int | None,
    typer.Option(help="Bytes of one unit of address and size, for formats with units of their own.", metavar="N", parser=size),
]
Volume = Annotated[
    str | None,
    typer.Option(help="Only requests of this volume of the trace (disk, LUN, ASU), as `ssdlab trace info` lists it.", metavar="NAME"),
]
TimeScale = Annotated[float | None, typer.Option("--scale-time", help="Let requests arrive X times faster.", metavar="X")]
BadLines = Annotated[
    int | None,
    typer.Option(
        "--skip-bad-lines", help="Leave out up to N lines of the trace that cannot be read (they are counted).", metavar="N", parser=count
    ),
]
Prefill = Annotated[
    Path | None,
    typer.Option(help="CSV of the ranges that held data before; written first, untimed.", metavar="FILE"),
]
Fit = Annotated[
    str | None,
    typer.Option(help="Give the device just the blocks that the trace's addresses, or so many bytes (64MiB), need.", metavar="trace|BYTES"),
]
Requests = Annotated[
    int | None,
    typer.Option(
        help="Stop after N requests, such as 5000, 20k or 2M (default: the whole trace, or 100,000 generated ones).",
        metavar="N",
        parser=count,
    ),
]
WarmUp = Annotated[
    str | None,
    typer.Option(help="Leave the beginning out of all figures: a time, such as 17s or 500ms, or a number of requests.", metavar="TIME|N"),
]
Seed = Annotated[int, typer.Option(help="Seed of all random streams.", metavar="N", min=0, max=2**64 - 1)]
Seeds = Annotated[
    int,
    typer.Option(help="Run every scheme under N seeds, from --seed on: means, differences and their 95 % intervals.", metavar="N", min=1),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Set one configuration key; may be repeated.", metavar="KEY=VALUE", autocompletion=_key)
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file of configuration keys.", metavar="FILE.toml")]


def folder(text: str) -> Path:
    """A folder by its name."""
    if not text:
        raise typer.BadParameter("expected the name of a folder; . is the current one")
    return Path(text)


Out = Annotated[Path | None, typer.Option(help="Folder for the results.", metavar="DIR", parser=folder)]
OutWithReport = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Folder for the results, and for report.html, a page with tables and figures.", metavar="DIR", parser=folder
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
ExpectGc = Annotated[bool, typer.Option("--expect-gc", help="Fail if garbage collection never ran.")]
State = Annotated[Path | None, typer.Option(help="Begin with this device state, saved by `ssdlab precondition`.", metavar="FILE")]
VerifyLevel = Annotated[Verify, typer.Option("--verify", help="Check all invariants: at the end, or after every event (small devices).")]
LogRequests = Annotated[bool, typer.Option("--log-requests", help="Write requests.parquet, a row for each request (needs --out).")]
TimelineFile = Annotated[
    Path | None,
    typer.Option("--timeline", help="Write a timeline for the Perfetto viewer, .json or .json.gz.", metavar="FILE"),
]
Timelines = Annotated[
    bool, typer.Option("--timelines", help="Write timeline.json.gz, for the Perfetto viewer, for each scheme (needs --out).")
]
TimelineWindow = Annotated[
    str | None,
    typer.Option(help="Show only this part of the run, in us; START or END may be left out.", metavar="START:END"),
]
TimelineLimit = Annotated[
    int | None,
    typer.Option(help="End a timeline when it has N slices (default: 200,000).", metavar="N", parser=count),
]
Paired = Annotated[
    bool, typer.Option("--paired", help="Also compare request by request with the first scheme: how many are faster, slower, unchanged.")
]
Jobs = Annotated[int | None, typer.Option(help="Runs at once (default: as many as processors).", metavar="N", min=1)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no tables.", callback=_hush)]


class TimeOrder(StrEnum):
    """What to do where a trace's times go back."""

    error = "error"
    clamp = "clamp"
    sort = "sort"


def parse_settings(settings: list[str] | None) -> tuple[tuple[str, str], ...]:
    """The pairs of `--set KEY=VALUE`; the value is left as it is written."""
    pairs = []
    for setting in settings or []:
        text("--set", setting)
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UsageError(f'--set "{setting}": expected KEY=VALUE, such as gc.soft=0.05')
        pairs.append((key.strip(), value.strip()))
    return tuple(pairs)


def parse_window(text: str | None) -> Window | None:
    """The times of `--timeline-window START:END`, us."""
    if text is None:
        return None
    start, colon, end = text.partition(":")
    try:
        times = tuple(float(us) if us.strip() else None for us in (start, end))
    except ValueError:
        times = ()
    if not colon or len(times) != 2:
        raise UsageError(f'--timeline-window "{text}": expected START:END in microseconds, such as 1000:2500')
    return times
