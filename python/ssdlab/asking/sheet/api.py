"""`ssdlab.check`: what a drive will do, computed from its configuration without a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab import _core
from ssdlab.asking.options import Set
from ssdlab.asking.plans import value_text
from ssdlab.asking.sheet.claims import CLAIMS, Claim
from ssdlab.asking.sheet.summary import Summary, summary_of
from ssdlab.checks import check_texts, mapping, nearest, positive
from ssdlab.errors import UsageError

__all__ = ["DriveCheck", "check", "checked"]


@dataclass(frozen=True)
class DriveCheck:
    """What a drive will do, beside the numbers of a data sheet.

    `summary` has the computed numbers, `claims` those of the sheet beside them, and `uncomputed` the names of the sheet that have no
    computed number, each with the reason.
    """

    summary: Summary
    claims: tuple[Claim, ...]
    uncomputed: Mapping[str, str]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The sheet's numbers as `ssdlab check --json` has them."""
        return [{**one._asdict(), "ratio": one.ratio, "verdict": one.verdict} for one in self.claims]

    def to_dict(self) -> dict[str, Any]:
        """What `ssdlab check --json` prints; without a sheet it has no `sheet`."""
        return {**self.summary.to_dict(), **({"sheet": self.rows} if self.claims or self.uncomputed else {})}


def check(device: str, *, scheme: str | None = None, set: Set | None = None, sheet: Mapping[str, float] | None = None) -> DriveCheck:
    """Computes what a drive will do, without a run: rates and the limits that bind them, latencies, spare, write amplification.

        ssdlab.check("nvme-tlc-2023", scheme="nvme", sheet={"read_iops": 530_000}).claims[0].verdict

    Args:
        device: a device preset, or a file with one.
        scheme: scheme presets joined by `+`, which decide about GC and the cache.
        set: single keys, such as `{"device.program_us": 600}`.
        sheet: numbers of a data sheet to compare with: `read_iops`, `write_iops`, `read_mb_s`, `write_mb_s`, `read_us`, `write_us`,
            `capacity_gb`, `tbw`, `dwpd`, `watts`.

    Raises:
        ConfigError: the configuration is invalid.
        UsageError: the sheet has an unknown name or a number that is not above 0.
    """
    claims = {name: positive(f"sheet {name}", value) for name, value in mapping("sheet", sheet or {}).items()}
    for name in claims:
        if name not in CLAIMS:
            raise UsageError(f"sheet: no number is named {name}{nearest(name, CLAIMS)}: expected one of {', '.join(CLAIMS)}")
    return checked(device, scheme, tuple((key, value_text(value)) for key, value in mapping("set", set or {}).items()), claims)


def checked(device: str, scheme: str | None, keys: tuple[tuple[str, str], ...], claims: Mapping[str, float]) -> DriveCheck:
    """What the drive of a configuration will do. `keys`: single keys with TOML text."""
    check_texts({"device": device, "scheme": scheme})
    config = _core.build_config(device=device, schemes=[] if scheme is None else scheme.split("+"), set=list(keys))
    summary = summary_of(config)
    return DriveCheck(summary, tuple(summary.claims(claims)), summary.without(claims))
