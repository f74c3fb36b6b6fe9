"""The numbers of a data sheet: `read_iops=1M,write_mb_s=5000`."""

from __future__ import annotations

import re
from typing import NamedTuple

from ssdlab.checks import shown
from ssdlab.errors import UsageError

__all__ = ["CLAIMS", "SEQUENTIAL", "Claim", "parse_claims"]

CLAIMS = {
    "read_iops": "random reads of 4 KiB a second",
    "write_iops": "random writes of 4 KiB a second, steady",
    "read_mb_s": "sequential reads, MB/s",
    "write_mb_s": "sequential writes, MB/s",
    "read_us": "a read of 4 KiB on an idle drive, us",
    "write_us": "a write of 4 KiB on an idle drive, us",
    "capacity_gb": "exported, GB of 10^9 bytes",
    "tbw": "written in its life, random 4 KiB, TB",
    "dwpd": "drive writes a day, random 4 KiB",
    "watts": "highest power of all rates, W",
}
SEQUENTIAL = {"tbw": "written in its life, sequential, TB", "dwpd": "drive writes a day, sequential"}
"""What ratings are about where random writes have no closed form."""
AGREES, NEAR = 0.10, 0.25
"""Relative differences up to which a number agrees, or is near."""
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([kKMG]?)")
_TIMES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


class Claim(NamedTuple):
    """A number of a sheet beside the computed one."""

    name: str
    sheet: float
    computed: float
    about: str
    """What the number is."""

    @property
    def ratio(self) -> float:
        """Computed over the sheet's."""
        return self.computed / self.sheet

    @property
    def verdict(self) -> str:
        """Whether they agree."""
        difference = abs(self.ratio - 1)
        return "agrees" if difference <= AGREES else "near" if difference <= NEAR else "differs"


def parse_claims(text: str) -> dict[str, float]:
    """Reads `NAME=NUMBER,...`; numbers may end in k, M or G, powers of 1000."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        number = _NUMBER.fullmatch(value)
        if name not in CLAIMS or not equals:
            raise UsageError(f"--sheet {shown(part.strip())}: expected NAME=NUMBER with one of {', '.join(CLAIMS)}")
        if name in found:
            raise UsageError(f"--sheet: {name} is given twice: leave one of them out")
        if number is None or not float(number[1]):
            raise UsageError(f"--sheet {name} = {shown(value)}: expected a number above 0, such as 85000 or 1.1M")
        found[name] = float(number[1]) * _TIMES[number[2]]
    return found
