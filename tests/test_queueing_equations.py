"""The functions of the single-die queue against an independent version of the report's equations (`reference_queueing`).

They must agree to twelve digits of exact values, for scalars and arrays; arguments outside an equation's domain are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import reference_queueing as reference
import ssdlab
from reference_queueing import TABLE_1
from ssdlab import queueing

TIMES = ["read_time", "write_time", "copy_time", "erase_time"]
RATE_NAMES = ["read_rate", "write_rate"]
BLOCK = ["pages", "valid"]


@dataclass(frozen=True)
class Equation:
    """A function of the product, the report's equation, and their arguments."""

    name: str
    expected: Callable[..., Any]
    arguments: list[str]

    @property
    def product(self) -> Callable[..., Any]:
        return getattr(queueing, self.name)

    def of(self, values: Mapping[str, Any]) -> Any:
        return self.product(**{name: values[name] for name in self.arguments})

    def exact(self, values: Mapping[str, float]) -> float:
        return float(self.expected(*[Fraction(values[name]) for name in self.arguments]))


EQUATIONS = [
    Equation("write_utilisation", reference.eq1, ["write_rate", "write_time"]),
    Equation("read_utilisation", reference.eq2, ["read_rate", "read_time"]),
    Equation("copy_utilisation", reference.eq3, ["write_rate", "copy_time", *BLOCK]),
    Equation("erase_utilisation", reference.eq4, ["write_rate", "erase_time", *BLOCK]),
    Equation("utilisation", reference.eq5, [*RATE_NAMES, *TIMES, *BLOCK]),
    Equation("max_write_rate", reference.eq6, ["reads_per_write", *TIMES, *BLOCK]),
    Equation("total_rate", reference.eq7, ["write_rate", "reads_per_write"]),
    Equation("max_throughput", reference.eq8, ["reads_per_write", *TIMES, *BLOCK]),
    Equation("write_amplification", reference.eq9, BLOCK),
    Equation("max_throughput_amplified", reference.eq10, ["reads_per_write", *TIMES, "pages", "amplification"]),
    Equation("copy_batch_rate", reference.eq11, ["write_rate", *BLOCK]),
    Equation("copy_rate", reference.eq12, ["write_rate", *BLOCK]),
    Equation("wait_balance_rwp", reference.eq13, ["read_queue", "write_queue", *RATE_NAMES, *TIMES, *BLOCK]),
    Equation("queue_length", reference.eq14, ["wait", "rate"]),
    Equation("mean_wait_rwp", reference.eq15, [*RATE_NAMES, *TIMES, *BLOCK]),
    Equation("gc_duration_cep", reference.eq16, ["copy_time", "erase_time", "valid"]),
    Equation("initial_work", reference.eq17, [*RATE_NAMES, "read_time", "write_time"]),
    Equation("relocation_time", reference.eq18, [*RATE_NAMES, "read_time", "write_time", "copy_time", "valid"]),
    Equation("gc_duration_rwp", reference.eq19, [*RATE_NAMES, *TIMES, "valid"]),
    Equation("mean_wait_cep_independent", reference.two_classes, [*RATE_NAMES, *TIMES, *BLOCK]),
]
NAMED = {equation.name: equation for equation in EQUATIONS}
ARGUMENTS = sorted({name for equation in EQUATIONS for name in equation.arguments})
each_equation = pytest.mark.parametrize("equation", EQUATIONS, ids=lambda equation: equation.name)
FORMULA = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

FINE = (
    TABLE_1
    | {"read_rate": 0.25, "write_rate": 0.125}
    | {
        "reads_per_write": 2.0,
        "amplification": 256 / 192,
        "read_queue": 3.0,
        "write_queue": 2.0,
        "wait": 5.0,
        "rate": 0.25,
    }
)
"""A value for each argument that no function refuses."""

positive = st.floats(1e-6, 1e6)
not_negative = st.just(0.0) | positive


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, float]:
    """A value for each argument, with a utilisation above 0 and below 1."""
    values = {name: draw(not_negative) for name in ("reads_per_write", "read_queue", "write_queue", "wait", "rate")}
    values |= {name: draw(positive) for name in TIMES}
    values["pages"] = float(draw(st.integers(1, 4096)))
    values["valid"] = draw(st.one_of(st.integers(0, int(values["pages"]) - 1).map(float), st.floats(0.0, values["pages"] * 0.99)))
    values["amplification"] = draw(st.floats(1.0, 100.0))
    per_write = reference.eq5(values["reads_per_write"], 1.0, *[values[name] for name in (*TIMES, *BLOCK)])
    values["write_rate"] = draw(st.floats(0.0, 0.99)) / per_write
    values["read_rate"] = values["reads_per_write"] * values["write_rate"]
    return values


def equal(value: float) -> Any:
    """Equal up to floating-point rounding."""
    return pytest.approx(value, rel=1e-12, abs=1e-300)


@each_equation
@FORMULA
@given(values=parameters())
def test_equations_are_those_of_the_report(equation: Equation, values: dict[str, float]) -> None:
    result = equation.of(values)
    assert type(result) is float
    assert result == equal(equation.exact(values))
    assert equation.product(*[values[name] for name in equation.arguments]) == result, "by position as by name"


@FORMULA
@given(values=parameters())
def test_the_report_agrees_with_itself(values: dict[str, float]) -> None:
    """What its equations imply of each other, exactly."""
    v = {name: Fraction(value) for name, value in values.items()}
    rates, times, block = [[v[name] for name in names] for names in (RATE_NAMES, TIMES, BLOCK)]
    br, bw, *_ = times
    assert reference.eq19(*rates, *times, v["valid"]) == reference.eq19_in_steps(*rates, *times, v["valid"])
    assert reference.eq8(v["reads_per_write"], *times, *block) == reference.eq10(
        v["reads_per_write"], *times, v["pages"], reference.eq9(*block)
    )
    limit = reference.eq6(v["reads_per_write"], *times, *block)
    assert reference.eq7(limit, v["reads_per_write"]) == reference.eq8(v["reads_per_write"], *times, *block)
    assert reference.eq5(v["reads_per_write"] * limit, limit, *times, *block) == 1
    wait = reference.eq15(*rates, *times, *block)
    queues = [reference.eq14(wait, rate) for rate in rates]
    assert reference.eq13(*queues, *rates, *times, *block) == wait
    # Without collections both waits are that of one class, the work that a request finds.
    nothing = (br, bw, Fraction(0), Fraction(0), *block)
    assert reference.eq15(*rates, *nothing) == reference.two_classes(*rates, *nothing) == reference.eq17(*rates, br, bw)


@each_equation
@settings(FORMULA, max_examples=25)
@given(rows=st.lists(parameters(), min_size=1, max_size=6))
def test_equations_of_arrays_are_those_of_their_elements(equation: Equation, rows: list[dict[str, float]]) -> None:
    columns = {name: np.array([row[name] for row in rows]) for name in ARGUMENTS}
    copies = {name: column.copy() for name, column in columns.items()}
    result = equation.of(columns)
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.float64
    assert result.tolist() == [equation.of(row) for row in rows]
    assert all((columns[name] == copies[name]).all() for name in ARGUMENTS)


@FORMULA
@given(values=parameters())
def test_all_equations_at_once(values: dict[str, float]) -> None:
    assume(values["write_rate"] > 0)
    load = {name: values[name] for name in (*RATE_NAMES, *TIMES, *BLOCK)}
    implied = load | {"reads_per_write": values["read_rate"] / values["write_rate"]}
    implied["amplification"] = queueing.write_amplification(values["pages"], values["valid"])
    implied["wait"] = queueing.mean_wait_rwp(**load)
    implied["rate"] = values["read_rate"] + values["write_rate"]
    implied |= {f"{op}_queue": implied["wait"] * values[f"{op}_rate"] for op in ("read", "write")}
    assert queueing.formulas(**load) == {equation.name: equal(equation.exact(implied)) for equation in EQUATIONS}


def test_equations_of_a_run_are_those_of_its_die_and_load() -> None:
    run = {"requests": 100, "formulas": True, "read_per_ms": 0.25, "write_per_ms": 0.125}
    expected = queueing.formulas(**{name: FINE[name] for name in (*RATE_NAMES, *TIMES, *BLOCK)})
    seen = queueing.simulate(**run)["formulas"]
    by_name = {re.sub("_(ns|per_ms)$", "", name): value / (1e6 if name.endswith("_ns") else 1) for name, value in seen.items()}
    assert by_name == {name: equal(value) for name, value in expected.items()}
    # Of several numbers of valid pages the mean is what counts: 32 and 96 collect as 64 and 64 do.
    assert queueing.simulate(**run, valid=[32, 96])["formulas"]["utilisation"] == equal(expected["utilisation"])


@each_equation
def test_equations_broadcast(equation: Equation) -> None:
    first, *_, last = equation.arguments
    column = FINE[first] * np.array([[0.25], [0.5], [1.0]])
    if first == "pages":
        column = np.array([[256.0], [300.0], [512.0]])
    row = FINE[last] * np.array([1.0, 1.25, 1.5, 2.0])
    result = equation.of(FINE | {first: column, last: row})
    assert result.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        assert result[i, j] == equation.of(FINE | {first: float(column[i, 0]), last: float(row[j])})
    assert equation.of(FINE | {first: column}).shape == (3, 1)
    assert equation.of(FINE | {last: row[:0]}).shape == (0,)
    assert equation.of(FINE | {first: column.reshape(1, 3, 1), last: row}).shape == (1, 3, 4)
    with pytest.raises((ssdlab.Error, ValueError), match=r"\(?3"):
        equation.of(FINE | {first: column[:, 0], last: row})


@each_equation
def test_equations_take_arrays_of_any_layout(equation: Equation) -> None:
    """Strided, transposed, read-only, of whole numbers, of single precision, lists: what NumPy takes."""
    name = equation.arguments[-1]
    values = np.array([FINE[name], FINE[name] * 2])
    expected = equation.of(FINE | {name: values}).tolist()
    strided = np.repeat(values, 3)[::3]
    assert not strided.flags.c_contiguous
    assert equation.of(FINE | {name: strided}).tolist() == expected
    assert equation.of(FINE | {name: values[::-1]}).tolist() == expected[::-1]
    assert equation.of(FINE | {name: np.array([values, values]).T}).tolist() == [[one, one] for one in expected]
    frozen = values.copy()
    frozen.flags.writeable = False
    assert equation.of(FINE | {name: frozen}).tolist() == expected
    light = FINE | {"read_rate": 0.01, "write_rate": 0.01}
    whole = np.array([2, 3])
    each = [equation.of(light | {name: float(one)}) for one in whole]
    for other in (whole, whole.astype(np.int32), whole.astype(np.float32), whole.astype(">f8"), whole.tolist()):
        assert equation.of(light | {name: other}).tolist() == each
    assert type(equation.of(FINE | {name: np.float64(FINE[name])})) is float
    assert equation.of({key: int(value) if value == int(value) else value for key, value in FINE.items()}) == equation.of(FINE)


@each_equation
def test_equations_refuse_what_is_outside_their_domain(equation: Equation) -> None:
    for name in equation.arguments:
        for bad in (-0.5, math.nan, math.inf, -math.inf):
            with pytest.raises(ssdlab.Error, match=rf"(?i)\b{name} is {re.escape(repr(bad))}: expected") as failed:
                equation.of(FINE | {name: bad})
            assert "index" not in str(failed.value)
            with pytest.raises(ssdlab.Error, match=rf"(?i)\b{name} is {re.escape(repr(bad))} \(at index 2\): expected"):
                equation.of(FINE | {name: np.array([FINE[name], FINE[name], bad, FINE[name], bad])})
            assert "\n" not in str(failed.value)


WITH_BLOCK = [equation for equation in EQUATIONS if set(BLOCK) <= set(equation.arguments)]
WITH_USERS = [NAMED[name] for name in ("initial_work", "relocation_time", "gc_duration_rwp")]
WITH_TOTAL = [NAMED[name] for name in ("mean_wait_rwp", "mean_wait_cep_independent")]


@pytest.mark.parametrize("equation", WITH_BLOCK, ids=lambda equation: equation.name)
def test_a_block_has_pages_and_is_not_all_valid(equation: Equation) -> None:
    for valid in (256.0, 256.5, 1000.0):
        with pytest.raises(ssdlab.Error, match=rf"\bvalid\b.*{valid:g}"):
            equation.of(FINE | {"valid": valid})
    with pytest.raises(ssdlab.Error, match=r"\bpages\b.*0"):
        equation.of(FINE | {"pages": 0.0, "valid": 0.0})
    with pytest.raises(ssdlab.Error, match=r"\bvalid\b.*index 1\b"):
        equation.of(FINE | {"pages": np.array([256.0, 64.0])})
    equation.of(FINE | {"valid": 0.0})
    equation.of(FINE | {"read_rate": 0.0, "write_rate": 0.001, "valid": 255.0})


def test_amplification_is_one_or_more() -> None:
    equation = NAMED["max_throughput_amplified"]
    equation.of(FINE | {"amplification": 1.0})
    with pytest.raises(ssdlab.Error, match=r"\bamplification\b.*0\.99"):
        equation.of(FINE | {"amplification": 0.99})
    with pytest.raises(ssdlab.Error, match=r"\bpages\b"):
        equation.of(FINE | {"pages": 0.0})


@pytest.mark.parametrize("equation", WITH_USERS + WITH_TOTAL, ids=lambda equation: equation.name)
def test_a_die_asked_for_too_much_has_no_mean_wait(equation: Equation) -> None:
    """Exactly 1 is too much. Where collections do not matter, only the users' utilisation is limited."""
    simple = FINE | {"read_time": 1.0, "write_time": 1.0, "copy_time": 1.0, "erase_time": 128.0, "pages": 256.0, "valid": 64.0}
    # Of users 1/4 + 1/4; of collections 1/4 x (64 + 128) / 192 = 1/4.
    half = {"read_rate": 0.25, "write_rate": 0.25}
    limits = [(0.5, 0.5), (0.75, 0.25)]
    if equation in WITH_TOTAL:
        # 1/4 + 3/8 + 3/8.
        limits = [(0.25, 0.375), (0.5, 0.25)]
    assert equation.of(simple | half) > 0
    for read_rate, write_rate in limits:
        with pytest.raises(ssdlab.Error, match=r"utilisation .*\bis 1: expected below 1: .*no mean wait$") as failed:
            equation.of(simple | {"read_rate": read_rate, "write_rate": write_rate})
        assert "index" not in str(failed.value)
        assert equation.of(simple | {"read_rate": read_rate - 1e-9, "write_rate": write_rate}) > 0
    rates = np.array([0.0, 0.1, 0.2, 0.25, 0.3, 1.0, 0.1, 2.0]) + (0.25 if equation in WITH_USERS else 0.0)
    with pytest.raises(ssdlab.Error, match=r"utilisation .*\bis 1\.5 \(at index 5\): expected below 1: .*no mean wait$"):
        equation.of(simple | half | {"read_rate": rates})
