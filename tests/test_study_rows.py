"""Rows of a study must be able to fail.

Before runs, the known ranges of a result's entries (only some, such as errors of estimates, are negative; a share is at most 1) determine
the range of a row's value. Bounds that contain this range test nothing. After runs, a row of a findings page that is exactly 0 under every
seed has usually compared two zeros. Rows whose finding is exactly 0 are listed here, with the reason.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Sequence

import pytest

from conftest import ROOT
from ssdlab.experiments.study import library
from ssdlab.experiments.study.definition import Row, Study, parse
from ssdlab.experiments.study.expressions import Formula
from ssdlab.experiments.study.grading import DIRECTION, SIZE
from test_studies import TINY

sys.path.insert(0, str(ROOT / "tools"))

import stored_studies

Range = tuple[float, float]
ANY: Range = (-math.inf, math.inf)
POSITIVE: Range = (0.0, math.inf)
SIGNED = re.compile(r"bias|error|change|difference")
"""Names of entries that can be negative."""

EXACTLY_NOTHING = {
    "bux2011/fig11: cep, longest at any utilisation less (16)": "the report: under cep each collection takes exactly (16)",
    "bux2011/fig14: cep, simulation against (16), where they differ most": "the same",
    "bux2011/fig15: mean backlog at 0.71, cep against rwp": "the report: backlogs are identical under both priorities",
    "bux2011/fig15: longest backlog at 0.71, cep against rwp": "the same",
    "bux2011/fig3: longest collection less the shortest, cep": "the report: all collections take equally long",
    "bux2011/sec4: (10) with A = 4/3 against (8) with v = 64": "two forms of one formula",
    "lee2013/fig10a: gain in the mean at 64 KiB less the largest at any size": "the largest less itself, where the claim holds",
    "lee2013/fig13: none: fewest free blocks": "the paper: without a threshold free blocks run out",
    "lee2013/tab9: merged writes, OpenMail": "the paper: none is merged",
}
"""Rows that are exactly 0 according to the paper."""


def entry(path: str) -> Range:
    """The range of an entry of a result."""
    if SIGNED.search(path):
        return ANY
    return (0.0, 1.0) if path.endswith("share") else POSITIVE


def hull(ranges: Sequence[Range]) -> Range:
    return (min(low for low, _ in ranges), max(high for _, high in ranges))


def product(one: float, other: float) -> float:
    return 0.0 if 0 in (one, other) else one * other  # a bound that is 0 stays 0


def combined(operator: ast.operator, left: Range, right: Range) -> Range:
    if isinstance(operator, ast.Add):
        return (left[0] + right[0], left[1] + right[1])
    if isinstance(operator, ast.Sub):
        return (left[0] - right[1], left[1] - right[0])
    if isinstance(operator, ast.Mult):
        corners = [product(a, b) for a in left for b in right]
        return (min(corners), max(corners))
    if isinstance(operator, ast.Div) and right[0] >= 0:
        inverse = (0.0 if math.isinf(right[1]) else 1 / right[1], math.inf if right[0] == 0 else 1 / right[0])
        return combined(ast.Mult(), left, inverse)
    return ANY


def called(function: str, arguments: Sequence[Range]) -> Range:
    if function == "change":
        return (-100.0, math.inf) if all(low >= 0 for low, _ in arguments) else ANY
    if function == "abs":
        return POSITIVE
    if function in ("min", "max"):
        pick = min if function == "min" else max
        return (pick(low for low, _ in arguments), pick(high for _, high in arguments))
    return hull(arguments) if function == "mean" else POSITIVE  # growth, count, formulas of the model


def value_range(study: Study, formula: Formula) -> Range:
    """The range of a formula's value, for a row or a metric."""

    def of(node: ast.AST) -> Range:
        if isinstance(node, ast.Constant):
            return (float(node.value), float(node.value))
        if isinstance(node, ast.BinOp):
            return combined(node.op, of(node.left), of(node.right))
        if isinstance(node, ast.UnaryOp):
            return combined(ast.Sub(), (0.0, 0.0), of(node.operand))
        if isinstance(node, ast.Call):
            return called(ast.unparse(node.func), [of(argument) for argument in node.args])
        name = ast.unparse(node)
        if name in formula.references:
            metric = study.metrics[formula.references[name].metric]
            return hull([value_range(study, part) for part in metric.formulas.values()])
        return entry(name)

    return of(formula._tree)


def cannot_fail(study: Study, row: Row) -> bool:
    """Whether the row's bounds contain its range. Arithmetic without runs is a test of the formulas."""
    if not row.formula.references or (row.at_least is None and row.at_most is None):
        return False
    low, high = value_range(study, row.formula)
    return (row.at_least is None or row.at_least <= low) and (row.at_most is None or high <= row.at_most)


def test_a_study_of_our_own_hides_no_published_number() -> None:
    """What it repeats of a paper for comparison is graded in a study of the paper's experiment."""
    studies = [library.load(name) for name in library.shipped()]
    numbers = [(study.name.split("/")[0], row) for study in studies for row in study.rows if row.paper is not None]
    graded = {(paper, row.paper, row.unit) for paper, row in numbers if row.claim is not None}
    assert not [(paper, row.what) for paper, row in numbers if (paper, row.paper, row.unit) not in graded]
    assert len(graded) > 100


@pytest.mark.parametrize("name", library.shipped())
def test_no_row_holds_for_any_outcome(name: str) -> None:
    study = library.load(name)
    assert not [row.what for row in study.rows if cannot_fail(study, row)], "bounds that no measurement can miss"


@pytest.mark.parametrize(
    ("metric", "value", "bounds", "expected"),
    [
        ("latency_ns.all.mean", "mean[rwp, 16]", "at_least = 0", True),
        ("latency_ns.all.mean", "mean[rwp, 16]", "at_least = 0.1", False),
        ("latency_ns.all.mean", "mean[rwp, 16] - mean[rwp, 4]", "at_least = 0", False),
        ("latency_ns.all.mean", "change(mean[rwp, 16], mean[npgc, 16])", "at_least = -100", True),
        ("latency_ns.all.mean", "change(mean[rwp, 16], mean[npgc, 16])", "at_most = 0", False),
        ("latency_ns.all.mean", "max(abs(change(mean[rwp], mean[npgc])))", "at_least = 0", True),
        ("latency_ns.all.mean", "max(abs(change(mean[rwp], mean[npgc])))", "at_most = 5", False),
        ("latency_ns.all.mean", "min(mean[rwp], 3)", "at_most = 3", True),
        ("latency_ns.all.mean", "mean[rwp, 4] / mean[rwp, 16]", "at_least = -0.5", True),
        ("100 * gc.time_share", "mean[rwp, 16]", "at_most = 100", True),
        ("100 * gc.time_share", "mean[rwp, 16]", "at_most = 99", False),
        ("100 * gc.time_share", "-mean[rwp, 16]", "at_most = 0", True),
        ("slack.error", "mean[rwp, 16]", "at_least = 0", False),
        ("latency_ns.all.mean", "mean_wait_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256, 64)", "at_least = 0", False),
    ],
)
def test_bounds_that_no_measurement_can_miss_are_found(metric: str, value: str, bounds: str, expected: bool) -> None:
    text = TINY.replace("latency_ns.all.mean / 1e6", metric)
    text = text.replace("change(mean[rwp, 16], mean[npgc, 16])", value, 1).replace("paper = -20.5\nat_most = 0", bounds, 1)
    study = parse("own/tiny", text, ROOT)
    assert cannot_fail(study, study.rows[0]) == expected


def test_no_finding_compares_nothing_with_nothing() -> None:
    """Of the stored findings: exactly 0 under every seed, and yet graded as agreement."""
    rows = [row for paper in stored_studies.papers() for row in stored_studies.read(paper)]
    assert len(rows) > 1000
    empty = [row for row in rows if float(row["simulated"]) == 0 and not float(row["interval"] or 0) and row["grade"] in (SIZE, DIRECTION)]
    names = [f"{row['study']}: {row['finding']}" for row in empty]
    assert not [name for name in names if not name.startswith(tuple(EXACTLY_NOTHING))], (
        "make them test something, or say here why exactly 0 is the finding"
    )
