"""Which mechanisms go together: all pairs are tried, and random sets of three and six.

`docs/model/combinations.md` has the pairs that are refused; what is refused when tried must be exactly those.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest

import ssdlab
from mechanisms import DRIVES, MECHANISMS, Keys, combinations, joined
from shares import FULL, ROOT, SEED

PAGE = ROOT / "docs" / "model" / "combinations.md"

pytestmark = pytest.mark.filterwarnings("ignore")


def refused_on(drive: str, keys: Keys) -> bool:
    """Whether a drive with these keys is refused by the configuration's rules."""
    try:
        ssdlab.Simulator(set=DRIVES[drive] | {"ftl.precondition.kind": "none"} | keys)
    except ssdlab.ConfigError:
        return True
    return False


def documented() -> set[frozenset[str]]:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", PAGE.read_text(), flags=re.MULTILINE)
    return {frozenset(row) for row in rows if set(row) <= set(MECHANISMS)}


REFUSED = documented()


def goes(names: Iterable[str]) -> bool:
    return not any(pair <= set(names) for pair in REFUSED)


@pytest.mark.parametrize("drive", DRIVES)
def test_exactly_the_documented_pairs_are_refused(drive: str) -> None:
    alone = [name for name in MECHANISMS if refused_on(drive, MECHANISMS[name])]
    assert alone == []
    refused = {frozenset(names) for names, keys in combinations(2) if refused_on(drive, keys)}
    assert refused == REFUSED, refused ^ REFUSED


def play(drive: str, names: tuple[str, ...], keys: Keys, run: int) -> None:
    """Every other run keeps the timelines of its slowest requests, as runs do by default."""
    slowest = {"slowest": 0} if run % 2 else {}
    try:
        result = ssdlab.run(set=DRIVES[drive] | keys, requests=300, verify="end", **slowest)
    except ssdlab.Error as error:
        pytest.fail(f"{drive}: {', '.join(names)}: {error}")
    assert sum(result.to_dict()["requests"].values()) == 300, names


@pytest.mark.parametrize("drive", DRIVES)
def test_pairs_run(drive: str) -> None:
    pairs = [(names, keys) for names, keys in combinations(2) if goes(names)]
    for run, (names, keys) in enumerate(pairs if FULL else random.Random(SEED).sample(pairs, 40)):
        play(drive, names, keys, run)


@pytest.mark.parametrize(("size", "number"), [(3, 1_000), (6, 300)])
def test_random_sets_run(size: int, number: int) -> None:
    dice, run = random.Random(f"{SEED} {size}"), 0
    while run < (number if FULL else 20):
        names = tuple(dice.sample(list(MECHANISMS), size))
        keys = joined(names)
        if keys is None or not goes(names):
            continue
        play(dice.choice(list(DRIVES)), names, keys, run)
        run += 1
