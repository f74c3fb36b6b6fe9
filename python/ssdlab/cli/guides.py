"""Needed arguments and examples of each command, for its help and for a call without arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["GUIDES", "NO_GUIDE", "Guide"]


class Guide(NamedTuple):
    """Usage of a command."""

    examples: tuple[str, ...]
    """Example command lines. A test runs them in order in a folder with `trace.csv`, `sweep.toml` and `ours.py`."""
    needs: str = ""
    """Description of the needed arguments, printed for a call without arguments; empty if none are needed."""


NO_GUIDE = Guide(())

GUIDES: Mapping[str, Guide] = MappingProxyType(
    {
        "run": Guide(
            (
                "ssdlab run --device demo-4g --scheme pgc --workload lee2013-synthetic --requests 20k",
                "ssdlab run --device demo-4g --scheme pgc --trace trace.csv --out results/pgc",
                "ssdlab run --device demo-4g --scheme pgc+slacker --trace trace.csv --set gc.soft=0.06 --json",
                "ssdlab run --device demo-4g --scheme pgc --trace trace.csv --timeline run.json.gz --blocks --out results/seen",
            ),
            "Give it a workload (--workload NAME) or a trace (--trace FILE). Name a device (--device NAME) and a scheme (--scheme NAME) "
            "as well, or it takes the defaults.",
        ),
        "compare": Guide(
            (
                "ssdlab compare --device demo-4g --scheme npgc --scheme pgc --workload lee2013-synthetic --requests 20k",
                "ssdlab compare --device demo-4g --scheme npgc --scheme pgc --trace trace.csv --out results/both",
                "ssdlab compare --scheme npgc --scheme pgc --workload lee2013-synthetic --requests 20k --warm-up 2k --seeds 3",
                "ssdlab compare --device demo-4g --trace trace.csv --variant 'as it is:' --variant 'small buffer: buffer.bytes=1MiB'",
            ),
            "Give it two schemes or more (--scheme NAME, once for each) or two variants or more (--variant 'LABEL: OPTIONS', --variants "
            "FILE.toml), and a workload (--workload NAME) or a trace (--trace FILE).",
        ),
        "sweep": Guide(
            ("ssdlab sweep sweep.toml --out results/sweep", "ssdlab sweep sweep.toml --out results/sweep --resume"),
            "Give it a file that names the grid, and a folder for the results (--out DIR). A file of three lines is a sweep:\n\n"
            '    workload = "lee2013-synthetic"\n    [grid]\n    scheme = ["npgc", "pgc"]',
        ),
        "explore": Guide(
            (
                "ssdlab explore --device demo-4g --scheme pgc --workload lee2013-synthetic",
                "ssdlab explore --device nvme-4g --scheme nvme --trace trace.csv --fit trace --set gc.soft=0.06",
            ),
            "Give it a workload (--workload NAME) or a trace (--trace FILE). Name a device (--device NAME) and a scheme (--scheme NAME) "
            "as well, or it begins with the defaults.",
        ),
        "report": Guide(("ssdlab report results/both", "ssdlab report results/both --out both.html")),
        "plot": Guide(("ssdlab plot results/both", "ssdlab plot results/both latency_tail --out tail.pdf --width 3.4in")),
        "why": Guide(("ssdlab why results/pgc --slowest 3", "ssdlab why results/both --remarks")),
        "timeline": Guide(("ssdlab timeline run.json.gz", "ssdlab timeline results/seen --out seen.html")),
        "precondition": Guide(
            (
                "ssdlab precondition --device lee2013 --out warm.state",
                "ssdlab run --device lee2013 --state warm.state --trace trace.csv",
            )
        ),
        "queueing": Guide(
            (
                "ssdlab queueing --read-rate 1 --write-rate 0.5 --requests 100k",
                "ssdlab queueing --trace trace.csv --priority rwp --show simulation",
            )
        ),
        "serve": Guide(
            (
                "ssdlab serve --device demo-4g --scheme pgc --nbd unix:drive.sock --record mine.csv --out results/live",
                "ssdlab compare --device demo-4g --scheme npgc --scheme pgc --trace mine.csv",
                "ssdlab serve --device demo-4g --scheme pgc --file mnt --record mine.csv",
            ),
            "Give it a place (--nbd unix:PATH, --nbd HOST:PORT or --file MOUNTPOINT). Name a device (--device NAME) and a scheme "
            "(--scheme NAME) as well, or it takes the defaults.",
        ),
        "calibrate": Guide(
            (
                "ssdlab calibrate mine.json --out mine.toml",
                "ssdlab calibrate measurements/ssd-iq --drive pe8110 --out pe8110.toml",
                "ssdlab calibrate --print-jobs > drive.fio",
            ),
            "Give it measurements of a drive (tables or what fio printed), or --print-jobs for the job file that measures one.",
        ),
        "import": Guide(
            (
                "ssdlab import ssdconfig.xml workload.xml --out mine",
                "ssdlab import run-blackbox.sh",
                "ssdlab import ssd_config.h --profile SAMSUNG_970PRO --capacity 60GiB --out mine",
            ),
            "Give it configurations of MQSim, FEMU, NVMeVirt or SimpleSSD, and a folder for the presets (--out DIR).",
        ),
        "check": Guide(
            (
                "ssdlab check demo-4g --scheme pgc",
                "ssdlab check nvme-tlc-2023 --scheme nvme --sheet read_iops=1M,write_mb_s=5000",
            ),
            "Give it a device (NAME, or FILE.toml).",
        ),
        "cliffs": Guide(
            ("ssdlab cliffs measurements/slc/drives.csv", "ssdlab cliffs mine.csv --drive NM710 --out results/cliffs"),
            "Give it a table with a row for each drive (docs/cliffs.md has the columns).",
        ),
        "list": Guide(("ssdlab list schemes", "ssdlab list scheduler.order")),
        "show": Guide(("ssdlab show device demo-4g", "ssdlab show scheme pgc")),
        "schema": Guide(("ssdlab schema",)),
        "bug-report": Guide(("ssdlab bug-report", "ssdlab bug-report results/both --out bug.md")),
        "trace": Guide(("ssdlab trace info trace.csv",)),
        "trace info": Guide(("ssdlab trace info trace.csv", "ssdlab trace info trace.csv --format csv --json")),
        "trace convert": Guide(
            ("ssdlab trace convert trace.csv trace.parquet", "ssdlab trace convert trace.csv trace.csv.zst --time-order sort")
        ),
        "trace sample": Guide(("ssdlab trace sample trace.csv part.csv --skip 1 --requests 2",)),
        "trace collections": Guide(("ssdlab trace collections", "ssdlab trace collections --json")),
        "trace record": Guide(("ssdlab trace record --dev /dev/nvme0n1 --out mine.csv.zst -- fio job.fio",)),
        "study": Guide(("ssdlab study list",)),
        "study list": Guide(("ssdlab study list",)),
        "study show": Guide(("ssdlab study show lee2013/fig10a",)),
        "study run": Guide(("ssdlab study run bux2011/sec4 --quick --out results/studies",)),
        "study report": Guide(("ssdlab study report results/studies",)),
        "arena": Guide(("ssdlab arena list",)),
        "arena run": Guide(("ssdlab arena run ours.py --by mean",)),
        "arena list": Guide(("ssdlab arena list",)),
        "artifact": Guide(
            ("ssdlab artifact bux2011/sec4 --out kit",),
            "Give it studies that were run (`ssdlab study run`) or folders of results, and a folder for the kit (--out DIR).",
        ),
    }
)
