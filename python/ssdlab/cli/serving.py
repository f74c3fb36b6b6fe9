"""`ssdlab serve`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Self, Unpack

from ssdlab.asking import options as o
from ssdlab.asking.option import picked
from ssdlab.asking.plans import idle_warnings
from ssdlab.cli.options import parse_settings, parse_window
from ssdlab.cli.output import noting_old_results, of_states, print_json, print_tables, warn
from ssdlab.errors import UsageError
from ssdlab.runs.batch import REPORT_FILE
from ssdlab.runs.serving import DriveState, prepared, until_stopped
from ssdlab.system.folders import ResultFolder
from ssdlab.system.progress import CountProgress

__all__ = ["serve"]


class ServeWords(o.ServeOptions, total=False):
    """The options of `ssdlab serve`."""

    json: o.Json
    quiet: o.Quiet


def serve(**words: Unpack[ServeWords]) -> None:
    """The command `ssdlab serve`."""
    out, quiet = None if words["out"] is None else Path(words["out"]), words["quiet"]
    if words["log_requests"] and out is None:
        raise UsageError("--log-requests needs --out DIR: that is where requests.parquet goes")
    asked = picked(o.ServeOptions, {**words, "timeline_window": parse_window(words["timeline_window"])})
    folder = ResultFolder(out, "run")
    served = prepared(asked, parse_settings(words["set"]), folder)
    for line in idle_warnings([served.job.idle]):
        warn(line)
    with noting_old_results(folder), _Switch() as switch, folder:
        with CountProgress("", quiet=quiet) as progress:
            shown = _Shown(progress, switch, quiet=quiet)
            result = until_stopped(served, folder, shown, warn)
        if asked["file"] is not None and shown.state is not None and shown.state.clients and "power_cut" not in result:
            warn(f"{shown.state.uri} was still open: programs and file systems that use it get errors from now on")
        if folder.stage is not None:
            result.report(folder.stage / REPORT_FILE)
        folder.commit()
    if words["json"]:
        print_json(result.to_dict())
    elif not quiet:
        from ssdlab.pages import tables  # noqa: PLC0415 (it takes longer than many runs)

        where = [] if out is None else [f"results: {out}", f"report: {out / REPORT_FILE} (opens in a browser)"]
        print_tables([*tables.run_tables(result.to_dict(), result.title), *of_states([result.to_dict()]), *where])


class _Switch:
    """The power switch of the drive: SIGUSR1 turns it off. The signal is ignored afterwards.

    Attributes:
        is_off: whether the power has failed.
    """

    def __init__(self) -> None:
        self.is_off = False

    def __enter__(self) -> Self:
        if sys.platform == "win32":
            raise AssertionError("`need_linux` has refused it")
        self._before = signal.signal(signal.SIGUSR1, self._turn_off)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.platform == "win32":
            raise AssertionError("`need_linux` has refused it")
        # the user may send the signal again while the process ends
        signal.signal(signal.SIGUSR1, signal.SIG_IGN if self.is_off else self._before)

    def _turn_off(self, *_: object) -> None:
        self.is_off = True


class _Shown:
    """Prints the address once programs can connect, and shows the progress of the drive.

    Attributes:
        state: last state of the drive; `None` before the first.
    """

    def __init__(self, progress: CountProgress, switch: _Switch, *, quiet: bool) -> None:
        self._progress = progress
        self._switch = switch
        self._quiet = quiet
        self._is_said = False
        self.state: DriveState | None = None

    def __call__(self, state: DriveState) -> bool:
        self.state = state
        if state.uri is not None and not self._is_said:
            self._is_said = True
            if not self._quiet:
                print(f"serving at {state.uri} until Ctrl-C", file=sys.stderr, flush=True)
        if self._progress.callback is not None:
            self._progress.callback(_doing(state), state.answered if state.uri else state.written)
        return self._switch.is_off


def _doing(state: DriveState) -> str:
    """The activity of the drive and its lateness, as text."""
    if state.uri is None:
        return "preparing the drive; pages written"
    clients = "1 client" if state.clients == 1 else f"{state.clients} clients"
    if not state.answered:
        return f"{clients}; requests answered"
    mean, worst = state.late_ns / state.answered / 1e3, state.late_max_ns / 1e3
    return f"{clients}; late {state.late:,} (mean {mean:,.0f} us, worst {worst:,.0f} us); requests answered"
