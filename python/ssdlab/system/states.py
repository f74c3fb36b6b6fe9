"""The folder where the states of drives that took long to prepare are kept for later runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["FOLDER_VARIABLE", "state_folder", "use_states"]

FOLDER_VARIABLE = "SSDLAB_STATES"
"""Environment variable that names another folder; empty: none."""

_used = True


def use_states(used: bool) -> None:
    """Sets whether the runs of this process from now on use the folder."""
    global _used  # noqa: PLW0603 (commands whose runs are made far from their options)
    _used = used


def state_folder() -> Path | None:
    """The folder, in the cache folder of the user; `None` if there is none, or runs are not to use it."""
    if not _used:
        return None
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return Path(named).absolute() if named else None
    return None if (cache := _cache_folder()) is None else cache / "ssdlab" / "states"


def _cache_folder() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():  # others do not count, says the standard
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
