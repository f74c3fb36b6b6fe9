"""Files of sweeps and studies say what varies in one way: either takes what the other writes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ssdlab.errors import ConfigError
from ssdlab.experiments.study.definition import Study, parse
from ssdlab.experiments.sweeping.definition import Sweep, define

AS_STUDY = """
schemes = ["npgc", "pgc"]
seeds = [1, 2]
[[vary]]
name = "gc.soft"
key = "gc.soft"
values = [0.1, 0.2]
[[vary]]
name = "time_scale"
key = "time_scale"
values = [1, 2]
[[vary]]
name = "load"
points = [{ label = "light" }, { label = "heavy", skip = 5, set = { gc.hard = 0.01 } }]
"""
AS_SWEEP = """
seeds = 2
[grid]
scheme = ["npgc", "pgc"]
gc.soft = [0.1, 0.2]
time_scale = [1, 2]
load = [{ label = "light" }, { label = "heavy", skip = 5, set = { gc.hard = 0.01 } }]
"""


def sweep(text: str) -> Sweep:
    return define("s.toml", tomllib.loads(text))


def study(text: str) -> Study:
    return parse("own/s", f'title = "S"\n{text}\n[metrics]\njobs = "gc.jobs"\n', Path())


def test_a_sweep_and_a_study_take_the_same_words() -> None:
    assert list(sweep(AS_STUDY).points()) == list(sweep(AS_SWEEP).points())
    assert len(sweep(AS_STUDY)) == 32
    assert study(AS_STUDY).axes == study(AS_SWEEP).axes
    assert study(AS_SWEEP).schemes == ("npgc", "pgc")
    assert study(AS_SWEEP).seeds == (1, 2)
    both = sweep(AS_STUDY + '[grid]\ngc.scope = ["none"]\n')
    assert [axis.name for axis in both.axes] == ["scheme", "gc.soft", "time_scale", "load", "gc.scope", "seed"]
    assert sweep(both.to_toml()).groups == both.groups


def test_values_can_have_labels() -> None:
    found = sweep('[[vary]]\nname = "spare"\nkey = "device.overprovisioning"\nvalues = [0.1, 0.2]\nlabels = ["little", "much"]\n')
    assert [(dict(point.values), dict(point.set)) for point in found.points()] == [
        ({"spare": "little"}, {"device.overprovisioning": 0.1}),
        ({"spare": "much"}, {"device.overprovisioning": 0.2}),
    ]
    found = sweep('[[vary]]\nname = "speed"\nkey = "time_scale"\nvalues = [1, 2]\nlabels = ["as it is", "fast"]\n')
    assert [dict(point.options) for point in found.points()] == [{"time_scale": 1}, {"time_scale": 2}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[vary]]\nname = "a"\nkey = "gc.soft"\n', "vary[0]: expected a name, and either key and values, or points"),
        ('[[vary]]\nname = "a"\nkey = "gc.soft"\nvalues = [1, 2]\nlabels = ["x"]\n', "vary[0]: 1 labels for 2 values"),
        ('[[vary]]\nname = "a"\nvalue = 1\n', 'vary[0]: unknown key "value"'),
        ('schemes = ["npgc"]\n[grid]\nscheme = ["pgc"]\n', "scheme is varied twice"),
        ("seeds = [1]\n[grid]\nseed = [1, 2]\n", "seed is varied twice"),
        ("schemes = 3\n[grid]\nseed = [1, 2]\n", "schemes: expected a list of text"),
    ],
)
def test_what_varies_is_said_once_and_completely(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as of_sweep:
        sweep(text)
    assert says in str(of_sweep.value)
    with pytest.raises(ConfigError) as of_study:
        study(text if "scheme" in text else f'schemes = ["npgc"]\n{text}')
    assert says in str(of_study.value)


def test_a_grid_of_a_study_has_lists() -> None:
    with pytest.raises(ConfigError, match=r"own/s: grid\.gc\.soft: expected a list of values"):
        study('schemes = ["npgc"]\n[grid]\ngc.soft = 0.1\n')
    with pytest.raises(ConfigError, match=r"grid = 3: expected a table of axes"):
        study('schemes = ["npgc"]\ngrid = 3\n')
