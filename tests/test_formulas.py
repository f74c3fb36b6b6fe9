"""The functions of `ssdlab.analysis.equations` and the table of `docs/queueing.md` are generated from the core's table of formulas.

`UPDATE=1 pytest tests/test_formulas.py` writes both.
"""

from __future__ import annotations

import inspect
import os
import textwrap
from pathlib import Path

import pytest

from conftest import ROOT
from ssdlab import queueing
from ssdlab.analysis import equations
from ssdlab.analysis.formulas import FORMULAS, Formula

RENEW = "UPDATE=1 .venv/bin/python -m pytest tests/test_formulas.py"
FUNCTIONS = Path("python/ssdlab/analysis/equations.py")
PAGE = Path("docs/queueing.md")
BEGIN = f"<!-- formulas: written by `{RENEW}` -->\n"
END = "<!-- end of formulas -->\n"
WIDTH = 140
HEAD = f'''\
"""A function for each formula of bux2011. `ssdlab.queueing` exports them.

Written by `{RENEW}` from the table in
`crates/ssdlab-result/src/queueing/formulas.rs`: change that, not this file.
"""

from __future__ import annotations

from ssdlab.analysis.formulas import Numbers, Value, evaluate
'''


def functions() -> str:
    """The text of `equations.py`."""
    names = "".join(f'    "{name}",\n' for name in sorted(FORMULAS))
    return f"{HEAD}\n__all__ = [\n{names}]\n" + "".join(f"\n\n{function(formula)}" for formula in FORMULAS.values())


def function(formula: Formula) -> str:
    parameters = [f"{argument}: Numbers" for argument in formula.arguments]
    signature = call(f"def {formula.name}(", parameters, ") -> Value:", "")
    body = call("return evaluate(", [f'"{formula.name}"', *formula.arguments], ")", "    ")
    return f"{signature}{docstring(formula)}{body}"


def call(before: str, arguments: list[str], after: str, indent: str) -> str:
    """A call on one line, with the arguments on one line, or with one argument per line: the first that fits, as in `ruff format`."""
    together = ", ".join(arguments)
    if len(whole := f"{indent}{before}{together}{after}") <= WIDTH:
        return f"{whole}\n"
    inner = f"{indent}    {together}" if len(indent) + 4 + len(together) <= WIDTH else ""
    inner = inner or "\n".join(f"{indent}    {argument}," for argument in arguments)
    return f"{indent}{before}\n{inner}\n{indent}{after}\n"


def docstring(formula: Formula) -> str:
    summary, stop, rest = formula.sentences.partition(". ")
    source = f"Equation {equation(formula)} of bux2011." if formula.equation.isdigit() else f"Section {formula.equation} of bux2011."
    text = textwrap.fill(f"{rest} {source}".strip(), WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f'    """{summary}{stop.strip()}\n\n{text}\n    """\n'


def equation(formula: Formula) -> str:
    return f"({formula.equation})" if formula.equation.isdigit() else f"section {formula.equation}"


def page(text: str) -> str:
    """The page with its table up to date."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"{PAGE} has no line {BEGIN}"
    assert end, f"{PAGE} has no line {END}"
    rows = "".join(f"| {equation(formula)} | `{formula.name}` | {formula.symbols} |\n" for formula in FORMULAS.values())
    return f"{before}{BEGIN}\n| equation | function of `ssdlab.queueing` | |\n|---|---|---|\n{rows}\n{END}{after}"


@pytest.mark.parametrize("path", [FUNCTIONS, PAGE], ids=str)
def test_what_is_made_of_the_table_is_current(path: Path) -> None:
    found = (ROOT / path).read_text()
    expected = functions() if path == FUNCTIONS else page(found)
    if "UPDATE" in os.environ:
        (ROOT / path).write_text(expected)
        found = expected
    assert found == expected, f"{path} does not follow the table of formulas: run `{RENEW}`"


def test_every_formula_is_a_documented_function() -> None:
    """A function has the name and arguments of the table, and `queueing` exports it."""
    assert sorted(FORMULAS) == equations.__all__
    for name, formula in FORMULAS.items():
        function = getattr(queueing, name)
        assert list(inspect.signature(function).parameters) == formula.arguments
        assert function.__doc__
        assert formula.dimension in {"time", "rate", "number"}
        assert len(formula.sentences) > len(formula.name)
        assert formula.sentences.endswith(".")
