"""`_core.pyi` agrees with the built module."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab
from ssdlab import _core

STUB = Path(ssdlab.__file__).with_name("_core.pyi")


@pytest.mark.full
def test_stub_agrees_with_the_built_module() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "ssdlab._core"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stub_names_everything() -> None:
    """Checked apart from mypy, which knows nothing of what a stub forgets to export."""
    names = {node.name for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    built = {name for name in dir(_core) if not name.startswith("_")}
    assert names == built


def test_everything_public_has_a_docstring() -> None:
    public = [getattr(ssdlab, name) for name in ssdlab.__all__ if name != "__version__"]
    assert [thing for thing in public if not thing.__doc__] == []
