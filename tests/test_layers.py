"""The layers of the Python package: a module imports only from layers below its own, as the table in `docs/architecture.md` says.

Within a room (a subpackage in the table) the order is that of the map in the docstring of its `__init__.py`.
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
LAST = 1_000
"""Position of a room's `__init__.py`, after its modules."""

Place = tuple[int, int, int]
"""Layer of a module, position in the row, and position in its room's map."""


def places(text: str, maps: Mapping[str, str]) -> dict[str, Place]:
    """The place of each module and room, from the rows `| 3 | `tables`, `pages` | ... |` below the heading, and from the rooms' maps."""
    section = text.split(f"{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    rows = [(int(layer), re.findall(r"`(\w+)`", names)) for layer, names in re.findall(r"^\| (\d+) \| ([^|]+) \|", section, re.MULTILINE)]
    found: dict[str, Place] = {}
    for layer, names in rows:
        for at, name in enumerate(names):
            inside = [
                f"{name}.{own}"
                for row in re.findall(r"^\| (`[^|]+`) \|", maps.get(name, ""), re.MULTILINE)
                for own in re.findall(r"\w+", row)
            ]
            for place, module in [(LAST, name), *enumerate(inside)]:
                assert module not in found, f"{module} is in the table twice"
                found[module] = (layer, at, place)
    return found


def table() -> dict[str, Place]:
    """The places in the package."""
    rooms = {file.parent.name: file.read_text() for file in PACKAGE.glob("*/__init__.py")}
    return places(TABLE.read_text(), {room: ast.get_docstring(ast.parse(text)) or "" for room, text in rooms.items()})


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
    """The reason why a module must not import another; `None` if it may. Within a subpackage of a room only circles are refused."""
    own, used = (unit(found, name) for name in (module, other))
    if own not in found or used not in found:
        return f"{own if own not in found else used} is not in the table, or in the map of its room"
    (layer, *place), (used_layer, *used_place) = found[own], found[used]
    if own == used or (used_layer, used_place) < (layer, place):
        return None
    return f"{module} (layer {layer}) imports {other} (layer {used_layer})"


def unit(found: Mapping[str, Place], module: str) -> str:
    """What counts as one module: a module or subpackage of a room, or a module or package outside of rooms."""
    room, *inner = module.split(".")
    is_room = any(name.startswith(f"{room}.") for name in found)
    return f"{room}.{inner[0]}" if is_room and inner else room


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
    found = table()
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


def test_the_table_and_the_maps_name_every_module() -> None:
    found = table()
    assert set(found) == {unit(found, module) for module in modules(PACKAGE)}


def test_imports_are_found_wherever_they_stand() -> None:
    known = dict.fromkeys(("errors", "pages", "pages.page", "runs.result", "tables"), Path())
    text = """
import ssdlab.errors
from ssdlab import tables, __version__
if TYPE_CHECKING:
    from ssdlab.runs.result import Result

def late():
    from ssdlab.pages import page
    import_module("ssdlab.pages.page")
    import json
"""
    found = [(2, "errors"), (3, "tables"), (3, "__init__"), (5, "runs.result"), (8, "pages.page"), (9, "pages.page")]
    assert sorted(imports("api", text, known)) == sorted(found)


def test_what_goes_upwards_or_round_is_objected_to() -> None:
    text = f"{HEADING}\n\n| 1 | `pages`, `result` | |\n| 0 | `errors`, `checks` | |\n\n## Next\n\n| 5 | `other` | |\n"
    found = places(text, {"pages": "Map.\n\n| module | question |\n|---|---|\n| `tables`, `why` | `what`? |\n| `report` | |\n"})
    rooms = {"pages": (1, 0, LAST), "pages.tables": (1, 0, 0), "pages.why": (1, 0, 1), "pages.report": (1, 0, 2)}
    assert found == {**rooms, "result": (1, 1, LAST), "errors": (0, 0, LAST), "checks": (0, 1, LAST)}
    allowed = [("result", "pages.report.page"), ("result", "errors"), ("checks", "errors"), ("pages.report.page", "pages.report.runs")]
    allowed += [("pages.report.page", "pages.why.words"), ("pages", "pages.report"), ("result", "pages"), ("pages.tables", "checks")]
    assert not any(objection(found, *pair) for pair in allowed)
    refused = [("errors", "result"), ("pages.report.page", "result"), ("errors", "checks"), ("pages.tables", "pages.why.words")]
    assert all(objection(found, *pair) for pair in [*refused, ("pages.why", "pages"), ("errors", "pages.tables")])
    assert str(objection(found, "new", "errors")).startswith("new is not in the table")
    assert str(objection(found, "pages.new.part", "errors")).startswith("pages.new is not in the table")
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == []
