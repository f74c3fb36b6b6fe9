"""The layers of the Python package: a module imports only from layers below its own, as the table in `docs/architecture.md` says.

Every import counts: at the top of a file, inside a function, and for type checkers only. An import inside a function delays loading; it
must not bypass the layers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "ssdlab"
TABLE = ROOT / "docs" / "architecture.md"
HEADING = "## The layers of the Python package"
REMEDY = "move code to where it belongs, or pass what is needed as an argument (the table is in docs/architecture.md)"

Place = tuple[int, int]
"""Layer of a module, and its position in the row."""


def places(text: str) -> dict[str, Place]:
    """The place of each module or subpackage, from the rows `| 3 | `tables`, `report` | ... |` below the heading."""
    section = text.split(f"{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    found: dict[str, Place] = {}
    for layer, names in re.findall(r"^\| (\d+) \| ([^|]+) \|", section, re.MULTILINE):
        for place, name in enumerate(re.findall(r"`(\w+)`", names)):
            assert name not in found, f"{name} stands twice in the table"
            found[name] = (int(layer), place)
    return found


def modules(package: Path) -> dict[str, Path]:
    """Every file of the package by its module name without the package; the built core is a module too."""
    found = {".".join(file.relative_to(package).with_suffix("").parts): file for file in package.rglob("*.py")}
    return {**{name.removesuffix(".__init__"): file for name, file in found.items()}, "_core": package / "_core.pyi"}


def imports(module: str, text: str, known: Mapping[str, Path]) -> Iterator[tuple[int, str]]:
    """Line numbers and modules of the package's imports in a file."""

    def named(name: str) -> str:
        """The module that `ssdlab.a.b` is, or is a name in."""
        parts = name.split(".")[1:]
        while parts and ".".join(parts) not in known:
            parts.pop()
        return ".".join(parts) or "__init__"

    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: a relative import: write it in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [str(value.value) for value in node.args[:1] if isinstance(value, ast.Constant)]
        yield from ((node.lineno, named(name)) for name in names if name.split(".")[0] == "ssdlab")


def objection(found: Mapping[str, Place], module: str, other: str) -> str | None:
    """The reason why a module must not import another; `None` if it may. Within a subpackage only circles are refused."""
    own, used = module.partition(".")[0], other.partition(".")[0]
    if own not in found or used not in found:
        return f"{own if own not in found else used} is not in the table"
    if own == used or found[used] < found[own]:
        return None
    return f"{module} (layer {found[own][0]}) imports {other} (layer {found[used][0]})"


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle; empty without one."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for other in sorted(graph.get(module, ())):
            found = visit(other, [*path, module])
            if found:
                return found
        done.add(module)
        return []

    return next((found for module in sorted(graph) if (found := visit(module, []))), [])


def used() -> dict[str, list[tuple[int, str]]]:
    known = modules(PACKAGE)
    return {module: list(imports(module, file.read_text(), known)) for module, file in known.items()}


def test_a_module_imports_only_from_layers_below_its_own() -> None:
    found = places(TABLE.read_text())
    count = 0
    objections = []
    for module, others in used().items():
        count += len(others)
        objections += [f"{module}:{line}: {reason}" for line, other in others if (reason := objection(found, module, other))]
    assert count > 400, f"only {count} imports found: the pattern no longer fits the sources"
    assert not objections, "\n".join([REMEDY, *objections])


def test_no_files_import_each_other_in_a_circle() -> None:
    found = circle({module: {other for _, other in others} for module, others in used().items()})
    assert not found, f"{' -> '.join(found)}: {REMEDY}"


def test_the_table_names_every_module() -> None:
    there = {module.split(".")[0] for module in modules(PACKAGE)}
    assert set(places(TABLE.read_text())) == there


def test_imports_are_found_wherever_they_stand() -> None:
    known = dict.fromkeys(("errors", "report.page", "report", "result", "tables"), Path())
    text = """
import ssdlab.errors
from ssdlab import tables, __version__
if TYPE_CHECKING:
    from ssdlab.result import Result

def late():
    from ssdlab.report import page
    import_module("ssdlab.report.page")
    import json
"""
    found = [(2, "errors"), (3, "tables"), (3, "__init__"), (5, "result"), (8, "report.page"), (9, "report.page")]
    assert sorted(imports("api", text, known)) == sorted(found)


def test_what_goes_upwards_or_round_is_objected_to() -> None:
    found = places(f"{HEADING}\n\n| 1 | `report`, `result` | |\n| 0 | `errors`, `checks` | |\n\n## Next\n\n| 5 | `other` | |\n")
    assert found == {"report": (1, 0), "result": (1, 1), "errors": (0, 0), "checks": (0, 1)}
    allowed = [("result", "report.page"), ("result", "errors"), ("checks", "errors"), ("report.page", "report.runs")]
    assert not any(objection(found, *pair) for pair in allowed)
    assert all(objection(found, *pair) for pair in [("errors", "result"), ("report.page", "result"), ("errors", "checks")])
    assert objection(found, "new", "errors") == "new is not in the table"
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == []
