"""Builds and checks the files of a release, and prints what to upload: `make release`; `make wheel` only builds the wheel.

| file in dist/ | check |
|---|---|
| wheel | name, size, licences, stripped, C library no newer than its tag; the tutorial in a clean environment without Rust, in time |
| source distribution | has all files that the build needs and no built ones; a wheel can be built from it |
| crates | each compiles on its own, outside the workspace |
| evidence | stored rows of studies, performance and calibrated drives, and the site with all pages made of them |

Needs Rust and network (packages from the registry). Nothing is uploaded.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import newcomer  # noqa: E402 (beside this file)
import notices  # noqa: E402

DIST = ROOT / "dist"
TARGET = ROOT / "target"
MOST_BYTES = 12_000_000
"""Maximum size of the wheel, bytes."""
MOST_S = 60
"""Maximum time from the tutorial's first command to a report, s, without the installation."""
KEPT = ("PIP_", "SSL_", "REQUESTS_CA_BUNDLE", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Prefixes of variables that the clean environment keeps: they configure access to the package registry."""
NEEDED_SOURCES = (
    "Cargo.lock", "Cargo.toml", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml",
    "crates/ssdlab-keys/presets/devices/demo-4g.toml", "crates/ssdlab-python/studies/lee2013/fig10a.toml", "python/ssdlab/__init__.py",
)  # fmt: skip
CRATES = ("ssdlab-base", "ssdlab-keys", "ssdlab-trace", "ssdlab-result", "ssdlab-drive", "ssdlab")
"""The library and its parts, in the order in which they are published."""
EVIDENCE = ("docs/studies", "docs/evidence", "docs/performance", "docs/cliffs", "site")
TABLES = tuple(f"results/{name}/results.parquet" for name in ("baseline", "claims", "cache", "flows", "confirm"))
"""Tables of the sweeps behind docs/baseline.md and docs/findings.md, which are too large for git; packed if they were made."""
BUILT = re.compile(r"\.so$|/target/|__pycache__|\.venv/")


class ReleaseError(Exception):
    """The reason why a file must not be uploaded."""


def expect(holds: bool, objection: str) -> None:
    """Raises a `ReleaseError` unless a condition holds."""
    if not holds:
        raise ReleaseError(objection)


def version() -> str:
    """The version, from `Cargo.toml`, as Python's packages write it: `1.1.0.dev0` for `1.1.0-dev0`."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]).replace("-", ".", 1)


def check_texts(wanted: str, citation: str, changelog: str) -> None:
    """Checks that texts with a version name this one, and that the changelog has no unreleased entries."""
    cited = re.search(r"^version: (.*)$", citation, re.MULTILINE)
    expect(cited is not None and cited[1] == wanted, f"CITATION.cff: expected version {wanted}, as in Cargo.toml")
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    named = bool(headings) and headings[0].split(" ")[0] == wanted
    expect(named, f"CHANGELOG.md: expected {wanted} in its first heading, as in Cargo.toml; found {headings[:1]}")


def check_wheel(wheel: Path, most_bytes: int = MOST_BYTES) -> None:
    """Checks that a wheel runs where its name claims, for every Python from the oldest on, and has no superfluous symbols."""
    tags = re.fullmatch(r"ssdlab-[\w.]+-cp311-abi3-manylinux_(\d+)_(\d+)_\w+\.whl", wheel.name.replace("manylinux2014", "manylinux_2_17"))
    if tags is None:
        raise ReleaseError(f"{wheel.name}: expected abi3 from Python 3.11 on, and a manylinux tag")
    size = wheel.stat().st_size
    expect(size < most_bytes, f"{wheel.name}: {size:,} bytes: expected less than {most_bytes:,}")
    with zipfile.ZipFile(wheel) as archive:
        (library,) = (name for name in archive.namelist() if name.endswith(".so"))
        content = archive.read(library)
        licences = {Path(name).name for name in archive.namelist()}
    expect(b"\0.symtab\0" not in content[-8192:], f"{library}: expected it stripped; it has a table of symbols")
    expect({"LICENSE", notices.FILE.name} <= licences, f"{wheel.name}: expected LICENSE and {notices.FILE.name} in it")
    newest = max(((int(major), int(minor)) for major, minor in re.findall(rb"\bGLIBC_(\d+)\.(\d+)", content)), default=(0, 0))
    allowed = (int(tags[1]), int(tags[2]))
    expect(newest <= allowed, f"{wheel.name}: needs glibc {newest[0]}.{newest[1]}, newer than its tag says")


def check_sources(archive: Path) -> None:
    """Checks that a source distribution has all files that it is built from, and no built ones."""
    with tarfile.open(archive) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    missing = [name for name in NEEDED_SOURCES if name not in names]
    expect(not missing, f"{archive.name}: {', '.join(missing)} missing: see [tool.maturin] in pyproject.toml")
    built = sorted(name for name in names if BUILT.search(name))
    expect(not built, f"{archive.name}: {', '.join(built[:3])}: expected nothing that was built")


def run(*words: str | Path, cwd: Path = ROOT, **env: str) -> None:
    """Runs a step of the build; its output is shown."""
    print(f"$ {' '.join(map(str, words))}", flush=True)
    done = subprocess.run([*map(str, words)], cwd=cwd, env={**os.environ, **env}, check=False)
    expect(done.returncode == 0, f"`{words[0]}` failed: see above")


def tool(name: str) -> Path:
    """A program of the Python environment that runs this script."""
    return Path(sys.executable).with_name(name)


def build_wheel() -> Path:
    """Builds and checks the wheel."""
    for old in DIST.glob("*.whl"):
        old.unlink()
    notices.main()
    run("rustup", "component", "add", "llvm-tools")  # reads the profile that `pgo-command` of pyproject.toml leaves
    run(tool("maturin"), "build", "--release", "--pgo", "--locked", "--out", DIST, CARGO_INCREMENTAL="0")
    (wheel,) = DIST.glob("*.whl")
    check_wheel(wheel)
    return wheel


def build_sources(folder: Path) -> Path:
    """Builds and checks the source distribution, and a wheel from it. Compiled dependencies are reused."""
    for old in DIST.glob("ssdlab-*.tar.gz"):
        old.unlink()
    run(tool("maturin"), "sdist", "--out", DIST)
    archive = DIST / f"ssdlab-{version()}.tar.gz"
    check_sources(archive)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, archive, CARGO_TARGET_DIR=str(TARGET))
    (wheel,) = folder.glob("*.whl")
    expect(wheel.name.startswith(f"ssdlab-{version()}-cp311-abi3-"), f"{archive.name}: built {wheel.name}")
    return archive


def build_crates() -> list[Path]:
    """Packages the library and the crates that it is made of, and checks that each compiles outside the workspace."""
    chosen = [word for name in CRATES for word in ("--package", name)]
    run("cargo", "package", *chosen, "--locked", "--target-dir", TARGET)
    return [Path(shutil.copy2(TARGET / "package" / f"{name}-{version()}.crate", DIST)) for name in CRATES]


def pack_evidence() -> Path:
    """Packs what the release was measured with: stored rows, and the site that `make docs` makes of them."""
    run("make", "docs")
    packed = DIST / f"ssdlab-{version()}-evidence.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for path in (*EVIDENCE, *(table for table in TABLES if (ROOT / table).is_file())):
            archive.add(ROOT / path, f"ssdlab-{version()}-evidence/{path}")
    for table in TABLES:
        if not (ROOT / table).is_file():
            print(f"LEFT OUT of the evidence: {table}: docs/findings.md and docs/baseline.md say how to make it")
    return packed


def clean_environment(place: Path) -> dict[str, str]:
    """The environment of a user without Rust: a new home and a new Python environment."""
    home, venv = place / "home", place / "venv"
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    path = f"{venv / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    found = shutil.which("cargo", path=path) or shutil.which("rustc", path=path)
    expect(found is None, f"{found}: the environment is not one without Rust")
    return {key: value for key, value in os.environ.items() if key.startswith(KEPT)} | {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}


def walk(wheel: Path, place: Path) -> float:
    """Installs the wheel without Rust, and follows the tutorial to its report; returns the time after the installation, s."""
    folder = place / "work"
    folder.mkdir()
    env = clean_environment(place)
    newcomer.step(["bash", "-c", f"pip install --quiet --disable-pip-version-check {wheel}"], folder, env)
    started = time.monotonic()
    expect(newcomer.follow(folder, env), f"the tutorial has ended, and there is no {newcomer.REPORT}")
    took = time.monotonic() - started
    expect(took < MOST_S, f"the tutorial took {took:.0f} s from its first command to its report: expected less than {MOST_S}")
    return took


def print_uploads(files: list[Path]) -> None:
    """Prints the files to upload, and the commands."""
    print("\nTo upload:")
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"  {file.relative_to(ROOT)}  {file.stat().st_size:,} bytes  SHA-256 {digest}")
    packages = " ".join(str(file.relative_to(ROOT)) for file in files if file.suffix != ".crate" and "evidence" not in file.name)
    chosen = " ".join(f"--package {name}" for name in CRATES)
    print(f"\n  git tag v{version()} && git push origin v{version()}\n  twine upload {packages}\n  cargo publish {chosen}")
    print("  and the evidence to the page of the release")


def main(words: list[str]) -> None:
    """Builds and checks everything, or only the wheel."""
    DIST.mkdir(exist_ok=True)
    if words == ["wheel"]:
        wheel = build_wheel()
        print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size:,} bytes")
        return
    check_texts(version(), (ROOT / "CITATION.cff").read_text(), (ROOT / "CHANGELOG.md").read_text())
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        place = Path(name)
        wheel = build_wheel()
        took = walk(wheel, place)
        files = [wheel, build_sources(place / "wheels"), *build_crates(), pack_evidence()]
    print(f"\nWithout Rust, from the tutorial's first command to its report: {took:.1f} s")
    print_uploads(files)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ReleaseError as objection:
        sys.exit(f"error: {objection}")
