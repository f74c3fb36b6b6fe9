"""Files that `make release` refuses, and the version in the texts of a release."""

from __future__ import annotations

import io
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import ssdlab
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import notices
import release

NAME = "ssdlab-1.0.0-cp311-abi3-manylinux_2_28_x86_64.whl"
LIBRARY = b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.28\0.text\0"


LICENCES = ("LICENSE", "LICENSE-THIRD-PARTY.txt")


def wheel(folder: Path, name: str = NAME, library: bytes = LIBRARY, licences: tuple[str, ...] = LICENCES) -> Path:
    """Writes a wheel with a library of these bytes."""
    file = folder / name
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ssdlab/_core.abi3.so", library)
        for licence in licences:
            archive.writestr(f"ssdlab-1.0.0.dist-info/licenses/{licence}", "")
    return file


def sources(folder: Path, names: list[str]) -> Path:
    """Writes a source distribution of empty files."""
    file = folder / "ssdlab-1.0.0.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"ssdlab-1.0.0/{name}"), io.BytesIO())
    return file


def test_the_version_is_the_same_everywhere() -> None:
    """Between releases the changelog may begin with what is to come, which `make release` refuses."""
    assert release.version() == ssdlab.__version__.partition("+")[0]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = changelog[changelog.index(f"## {release.version()}") :]
    release.check_texts(release.version(), (ROOT / "CITATION.cff").read_text(), newest)
    older = [line for line in changelog.removesuffix(newest).splitlines() if line.startswith("## ")]
    assert older in ([], ["## Unreleased"])
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert [entry["version"].replace("-", ".") for entry in locked if entry["name"] == "ssdlab"] == [release.version()]


@pytest.mark.parametrize(
    ("citation", "changelog", "objection"),
    [
        ("version: 0.9.0\n", "## 1.0.0 - today\n", "CITATION"),
        ("version: 1.0.0\n", "## Unreleased\n\n## 1.0.0 - today\n", "CHANGELOG"),
        ("version: 1.0.0\n", "", "CHANGELOG"),
    ],
)
def test_texts_of_another_version_are_refused(citation: str, changelog: str, objection: str) -> None:
    with pytest.raises(release.ReleaseError, match=objection):
        release.check_texts("1.0.0", citation, changelog)


def test_a_good_wheel_passes(tmp_path: Path) -> None:
    release.check_wheel(wheel(tmp_path))


def test_a_wheel_without_the_licences_of_what_is_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(release.ReleaseError, match=r"expected LICENSE and LICENSE-THIRD-PARTY\.txt"):
        release.check_wheel(wheel(tmp_path, licences=("LICENSE",)))


def test_the_licences_are_those_of_what_is_linked() -> None:
    names = [crate["name"] for crate in notices.compiled_in(notices.metadata())]
    assert {"pyo3", "parquet", "zstd-sys"} <= set(names)
    assert not {"proptest", "serde_derive", "cc", "ssdlab"} & set(names)
    crates = [crate for crate in notices.compiled_in(notices.metadata()) if crate["name"] in ("pyo3", "zstd-sys")]
    written = notices.notices(crates)
    assert written.count("=" * 80) == 2
    assert "PyO3 Project and Contributors" in written


def test_every_script_of_others_has_its_licence() -> None:
    scripts = {file.name.partition(".")[0] for file in notices.VENDORED.iterdir()}
    assert scripts == {file.stem for file in notices.VENDORED.glob("*.LICENSE")} == {"uPlot"}
    assert "Leon Sorokin" in notices.of_scripts()


@pytest.mark.parametrize(
    ("name", "library", "most_bytes", "objection"),
    [
        ("ssdlab-1.0.0-cp311-abi3-linux_x86_64.whl", LIBRARY, 1000, "manylinux"),
        ("ssdlab-1.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", LIBRARY, 1000, "abi3"),
        (NAME, LIBRARY, 10, "less than 10"),
        (NAME, LIBRARY + b".symtab\0", 1000, "stripped"),
        (NAME, LIBRARY + b"GLIBC_2.34\0", 1000, "glibc 2.34"),
    ],
)
def test_a_wheel_that_is_not_what_its_name_says_is_refused(
    name: str, library: bytes, most_bytes: int, objection: str, tmp_path: Path
) -> None:
    with pytest.raises(release.ReleaseError, match=objection):
        release.check_wheel(wheel(tmp_path, name, library), most_bytes)


def test_sources_must_be_whole_and_clean(tmp_path: Path) -> None:
    release.check_sources(sources(tmp_path, [*release.NEEDED_SOURCES]))
    with pytest.raises(release.ReleaseError, match=r"demo-4g.toml missing"):
        release.check_sources(sources(tmp_path, [name for name in release.NEEDED_SOURCES if "demo-4g" not in name]))
    with pytest.raises(release.ReleaseError, match=r"_core.abi3.so: expected nothing"):
        release.check_sources(sources(tmp_path, [*release.NEEDED_SOURCES, "python/ssdlab/_core.abi3.so"]))


@pytest.mark.full
def test_the_clean_environment_has_no_rust_and_nothing_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARGO_HOME", "/somewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "https://example.org/simple")
    env = release.clean_environment(tmp_path)
    assert set(env) >= {"PATH", "HOME", "PIP_INDEX_URL"}
    assert not {"CARGO_HOME", "PYTHONPATH", "VIRTUAL_ENV"} & set(env)
    monkeypatch.setattr(release.shutil, "which", lambda *_, **__: "/usr/bin/cargo")
    (tmp_path / "other").mkdir()
    with pytest.raises(release.ReleaseError, match="without Rust"):
        release.clean_environment(tmp_path / "other")
