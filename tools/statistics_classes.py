"""Writes `python/ssdlab/run_statistics.pyi`, the types of a result, from the classes that the built core's schema gives.

    .venv/bin/python tools/statistics_classes.py

A test compares the file with the output of this script. Change the core, not the file.
"""

from __future__ import annotations

from pathlib import Path

from ssdlab import run_statistics
from ssdlab.section import Section

FILE = Path(__file__).resolve().parent.parent / "python" / "ssdlab" / "run_statistics.pyi"
COMMAND = ".venv/bin/python tools/statistics_classes.py"
HEAD = f"# Written by {COMMAND} from the core's schema. Do not change it by hand.\n\nfrom ssdlab.section import Section, UntypedSection\n"


def text() -> str:
    """The content of the file."""
    classes = [getattr(run_statistics, name) for name in run_statistics.__all__]
    return HEAD + "".join(f"\nclass {kind.__name__}(Section):\n" + _entries(kind) for kind in classes)


def _entries(kind: type[Section]) -> str:
    methods = sorted(name for name in kind.__annotations__ if hasattr(Section, name))
    assert not methods, f"{methods} are methods of all parts of a result: choose other names"
    return "".join(f"    {name}: {of}\n" for name, of in kind.__annotations__.items())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
