"""What makes two runs the same: hashes of the files and policies that affect a result, besides its configuration."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ssdlab.asking.imported import imported
from ssdlab.asking.plans import Setup
from ssdlab.errors import FileError
from ssdlab.system.inputs import place

__all__ = ["hashes_of_inputs", "listed", "without_absent"]


def hashes_of_inputs(config: Mapping[str, Any], setup: Setup) -> dict[str, str]:
    """Hashes of the files and user-defined policies of a run, by name.

    Args:
        config: the run's configuration.
        setup: its options.
    """
    return {name: _hash_of(Path(file)) for name, file in _inputs(config, setup).items()} | _hashes_of_policies(setup)


def _inputs(config: Mapping[str, Any], setup: Setup) -> dict[str, str | os.PathLike[str]]:
    """Files that affect the results of a run, besides its configuration."""
    files = {
        "trace": config["workload"].get("trace"),
        "prefill": config["ftl"]["precondition"].get("prefill"),
        "state": setup.options["state"],
        "fio": setup.options["fio"],
    }
    return {name: file for name, file in files.items() if file is not None}


def _hashes_of_policies(setup: Setup) -> dict[str, str]:
    """Hashes of the policies, each with the modules of the user's own that it imports."""
    policies = {kind: policy for kind, policy in setup.policies.items() if policy is not None}
    texts = {kind: [policy.source, *itertools.chain(*sorted(imported(policy).items()))] for kind, policy in policies.items()}
    return {kind: hashlib.sha256("\0".join(parts).encode()).hexdigest() for kind, parts in texts.items()}


def _hash_of(file: Path) -> str:
    """The hash of a file's content; it is computed once for all points."""
    try:
        status = place(file).stat()
        return _hash_at(file, status.st_mtime_ns, status.st_size)
    except OSError as reason:
        raise FileError(f"{file}: cannot read: {reason.strerror}", reason.errno, str(file)) from reason


@lru_cache(maxsize=1024)
def _hash_at(file: Path, changed_ns: int, size: int) -> str:  # noqa: ARG001
    with place(file).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def listed(values: tuple[int, str] | None) -> list[int | str] | None:
    """A tuple as the list that JSON gives back."""
    return None if values is None else list(values)


def without_absent(value: Any) -> Any:
    """A value without `None` entries, which results leave out."""
    if isinstance(value, Mapping):
        return {key: without_absent(entry) for key, entry in value.items() if entry is not None}
    return value
