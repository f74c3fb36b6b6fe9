"""The rule by which a row is graded, and valid claims of a row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from conftest import Ssdlab
from ssdlab.experiments.study.definition import parse
from ssdlab.experiments.study.grading import AMOUNT, CHANGE, DIFFERENCE, RATIO, Claim, grade, size_band
from test_studies import TINY


@pytest.mark.parametrize(
    ("kind", "published", "low", "mean", "high", "expected"),
    [
        # A half to twice the published number, with its sign.
        (CHANGE, -10, -12, -11, -10, "size"),
        (CHANGE, -10, -5.2, -5.1, -5.0, "size"),
        (CHANGE, -10, -5.0, -4.9, -4.8, "direction"),
        (CHANGE, -10, -20.5, -20.1, -19, "direction"),
        (CHANGE, -10, -1, -0.5, -0.01, "direction"),
        (CHANGE, 300, 140, 150, 160, "size"),
        (CHANGE, 300, 600, 601, 602, "direction"),
        (DIFFERENCE, 8, 3.9, 4, 4.1, "size"),
        (DIFFERENCE, -90, -170, -160, -150, "size"),
        # What a reduction leaves counts too.
        (CHANGE, -66.6, -80, -70, -60, "size"),
        (CHANGE, -83.3, -99.1, -99, -98.9, "direction"),
        (CHANGE, -83.3, -67, -66.7, -66, "size"),
        (CHANGE, -83.3, -61, -60, -59, "direction"),
        # A ratio is the change that it is.
        (RATIO, 1.2, 1.3, 1.39, 1.4, "size"),
        (RATIO, 1.2, 1.4, 1.5, 1.6, "direction"),
        (RATIO, 1.2, 0.7, 0.8, 0.9, "contradicted"),
        (RATIO, 0.5, 0.45, 0.5, 0.6, "size"),
        (RATIO, 0.5, 0.15, 0.2, 0.22, "direction"),
        # Where the sign is not sure: could the published size be?
        (CHANGE, -10, -13, -6, 1, "inconclusive"),
        (CHANGE, -10, -6, -1, 4, "inconclusive"),
        (CHANGE, -60, -4, -1, 2, "contradicted"),
        (CHANGE, -10, 0.0, 0.0, 0.0, "contradicted"),
        (CHANGE, -10, 1, 2, 3, "contradicted"),
        (DIFFERENCE, 8, -9, -8, -7, "contradicted"),
        # An amount has no sign.
        (AMOUNT, 44.2, 22.0, 22.1, 22.2, "size"),
        (AMOUNT, 44.2, 0.01, 0.03, 0.05, "contradicted"),
        (AMOUNT, 44.2, 10, 20, 30, "inconclusive"),
        (AMOUNT, 44.2, 30, 60, 90, "size"),
        (AMOUNT, 44.2, 0, 0, 0, "contradicted"),
        (AMOUNT, 44.2, -1, 24, 49, "inconclusive"),
    ],
)
def test_the_grade_of_a_published_number(kind: str, published: float, low: float, mean: float, high: float, expected: str) -> None:
    assert grade(Claim(kind, published), low, mean, high) == expected
    if kind in (CHANGE, DIFFERENCE) and abs(published) < 20:  # not a reduction that leaves little: the rule has no side
        assert grade(Claim(DIFFERENCE, -published), -high, -mean, -low) == grade(Claim(DIFFERENCE, published), low, mean, high)


@pytest.mark.parametrize(
    ("claim", "low", "mean", "high", "expected"),
    [
        # Words only: the bounds.
        (Claim(CHANGE, None, None, 0), -3, -2, -1, "direction"),
        (Claim(CHANGE, None, None, 0), -3, -1, 1, "inconclusive"),
        (Claim(CHANGE, None, None, 0), 1, 2, 3, "contradicted"),
        (Claim(RATIO, None, 2, 3), 2, 2.5, 3, "direction"),
        # A published "no effect".
        (Claim(CHANGE, 0, -5, 5), -4, 1, 5, "size"),
        (Claim(CHANGE, 0, -5, 5), -41, -40, -39, "contradicted"),
        (Claim(CHANGE, 0, -5, 5), -6, -3, 0, "inconclusive"),
        (Claim(RATIO, 1, 0.97, 1.03), 0.98, 1, 1.02, "size"),
        (Claim(AMOUNT, 0, None, 1), 0, 0.2, 0.4, "size"),
        (Claim(AMOUNT, 0, None, 1), 2, 3, 4, "contradicted"),
        # An amount of another size, by what the text says of it.
        (Claim(AMOUNT, 0.1, None, 1), 0.3, 0.4, 0.5, "direction"),
        (Claim(AMOUNT, 0.1, None, 1), 0, 0, 0, "contradicted"),
        (Claim(AMOUNT, 0.1, None, 1), 0.9, 1.0, 1.1, "inconclusive"),
        (Claim(AMOUNT, 0.1, None, 1), 1.9, 2.0, 2.1, "contradicted"),
        # Bounds do not move the grade of a number that has a sign.
        (Claim(CHANGE, -10, None, -9), -8, -7, -6, "size"),
    ],
)
def test_the_grade_of_a_claim_with_bounds(claim: Claim, low: float, mean: float, high: float, expected: str) -> None:
    assert grade(claim, low, mean, high) == expected


def test_the_band_of_a_reduction_is_within_a_factor_of_two_both_ways() -> None:
    for published in (-1, -20, -40, -50, -70, -90, -99):
        low, high = size_band(Claim(CHANGE, published))
        assert low >= 2 * published
        assert high <= published / 2
        assert 100 + low >= (100 + published) / 2 - 1e-9
        assert 100 + high <= 2 * (100 + published) + 1e-9
        assert low < published < high


def row(**keys: object) -> str:
    lines = {"what": "it", "value": "change(mean[rwp, 16], mean[npgc, 16])", **keys}
    return "".join(f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}\n" for key, value in lines.items())


def study(text: str, head: str = "") -> str:
    start, _, rest = TINY.partition("[[rows]]")
    return start.replace("device =", f"{head}\ndevice =", 1) + f"[[rows]]\n{text}\n[figure]{rest.partition('[figure]')[2]}"


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"unit": "%", "paper": 12}, CHANGE),
        ({"unit": "%", "paper": 12, "value": "mean[rwp, 16]"}, AMOUNT),
        ({"unit": "%", "paper": -12, "value": "mean[rwp, 16]"}, CHANGE),
        ({"unit": "points", "paper": 12}, DIFFERENCE),
        ({"unit": "x", "paper": 12}, RATIO),
        ({"unit": "ms", "paper": 12}, AMOUNT),
        ({"unit": "ms", "paper": -12}, DIFFERENCE),
        ({"at_most": 0}, AMOUNT),
        ({}, None),
        ({"ours": True, "at_most": 0}, None),
    ],
)
def test_what_a_row_says_of_the_paper(keys: dict[str, Any], kind: str | None) -> None:
    (found,) = parse("own/tiny", study(row(**keys)), Path()).rows
    assert (None if found.claim is None else found.claim.kind) == kind


def test_a_study_speaks_for_its_rows() -> None:
    rows = f"{row(paper=-3, unit='%')}\n[[rows]]\n{row(what='other', at_most=0)}"
    number, words = parse("own/tiny", study(rows, "calibrated = true"), Path()).rows
    assert number.calibrated
    assert not words.calibrated
    for row_ in parse("own/tiny", study(rows, "ours = true"), Path()).rows:
        assert row_.ours
        assert row_.claim is None, "a published number beside it is for comparison"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ours": True, "paper": 3}, ["rows[0]: ours = true", "graded against it"]),
        ({"calibrated": True}, ["rows[0]: calibrated = true", "published number"]),
        ({"ours": 1}, ["rows[0]: ours", "true or false"]),
        ({"paper": 0, "unit": "%"}, ["rows[0]: paper = 0", "at_least and at_most", "at most 5 %"]),
        ({"paper": 0, "unit": "%", "at_most": 1}, ["rows[0]: paper = 0", "at_least and at_most"]),
        ({"paper": 0, "unit": "points", "at_least": -9, "at_most": 9}, ["at most 5 points"]),
        ({"paper": 1, "unit": "x", "at_least": 0.9, "at_most": 1.01}, ["paper = 1", "at most 5 %"]),
        ({"paper": math.nan}, ["rows[0]: paper = nan", "finite"]),
        ({"at_most": math.inf}, ["rows[0]: at_most = inf", "finite"]),
        ({"at_least": 7, "at_most": 2}, ["rows[0]: at_least = 7", "more than at_most = 2"]),
        ({"paper": -120, "unit": "%"}, ["rows[0]: paper = -120", "at most 100 %", "points"]),
        ({"paper": -0.3, "unit": "x"}, ["rows[0]: paper = -0.3", "a ratio is at least 0"]),
        ({"paper": 0, "unit": "ms"}, ["rows[0]: paper = 0", "at_most must say what counts as none", "at most 5 ms"]),
    ],
)
def test_what_a_row_may_not_say_is_one_clear_line(ssdlab_command: Ssdlab, tmp_path: Path, keys: dict[str, Any], words: list[str]) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(study(row(**keys)))
    message = ssdlab_command("study", "run", path).failed(2)
    assert all(word in message for word in words), message


def test_results_have_the_grade(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace("at_most = 0\n", "at_most = 0\ncalibrated = true\n", 1))
    result = ssdlab.run_study(path, quick=True)
    first, second, third = result.to_dict()["rows"]
    assert first["grade"] == result.outcomes[0].grade
    assert first["kind"] == CHANGE
    assert first["calibrated"]
    assert second["grade"] == "contradicted"
    assert "calibrated" not in second
    assert third["grade"] == "ours", "no bound, no number"
    assert "kind" not in third
