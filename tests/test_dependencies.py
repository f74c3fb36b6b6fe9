"""The checks of dependencies report planted faults."""

from __future__ import annotations

import sys
import tomllib

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import audit
import dependencies

LICENCES = ("MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception")


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("Unlicense/MIT", True),
        ("Apache-2.0 / GPL-2.0", False),
        ("Apache-2.0", False),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0", True),
        ("(GPL-3.0-only OR MIT) AND Unicode-3.0", True),
        ("MIT AND OpenSSL", False),
    ],
)
def test_a_licence_is_allowed_if_its_expression_can_be_met(expression: str, outcome: bool) -> None:
    assert dependencies.allowed(expression, LICENCES) is outcome


def test_crates_of_another_licence_or_from_elsewhere_are_found() -> None:
    crate = {"name": "a", "version": "1.0.0", "license": "MIT", "source": dependencies.REGISTRY}
    ours = crate | {"source": None, "license": None}
    bad = [crate | {"license": "GPL-3.0-only"}, crate | {"license": None}, crate | {"source": "git+https://example.org/a"}]
    found = list(dependencies.objections([crate, ours, *bad], LICENCES))
    assert [line.partition(":")[2].split()[0] for line in found] == ["licence", "licence", "from"]


def test_each_dependency_has_a_reason() -> None:
    names = dependencies.crates_of_ours() | dependencies.packages_of_ours()
    assert {"serde", "proptest", "pyo3", "typer", "ray", "mkdocstrings"} <= names
    assert dependencies.unexplained((ROOT / "docs" / "maintaining.md").read_text(), names) == []
    assert dependencies.unexplained("| `typer` | commands |\n| `rich` | |\n", ["typer", "rich", "numpy"]) == ["numpy", "rich"]


def test_every_dependency_of_python_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert all(">=" in line for line in project["dependencies"])


def test_advisories_and_packages_without_data_are_told_apart() -> None:
    packages = [
        {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]},
        {"name": "b", "version": "1", "vulns": []},
        {"name": "c", "skip_reason": "not found"},
    ]
    assert audit.judged({"dependencies": packages}) == (["a 1: PYSEC-1"], 2, 1)
