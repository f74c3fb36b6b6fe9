"""Prints a trace (CSV) of the text of Event Tracing for Windows: python etw_to_csv.py < server.csv > server.trace.csv."""

import csv
import sys


def requests(lines):
    """The requests of the lines, each at its arrival."""
    for line in lines:
        kind, _, rest = line.strip().partition(",")
        if kind in ("DiskRead", "DiskWrite") and not rest.lstrip().startswith("TimeStamp"):
            # From the right of the process's name, which may hold commas:
            # thread, IRP, offset, size, elapsed time, disk, ...
            time, *columns = [column.strip() for column in next(csv.reader([rest], skipinitialspace=True))]
            offset = next(
                index for index in range(3, len(columns)) if columns[index].startswith("0x") and columns[index - 1].startswith("0x")
            )
            address, size, elapsed, disk = columns[offset : offset + 4]
            yield (
                int(time) - int(elapsed),
                "RW"[kind == "DiskWrite"],
                int(address, 16),
                int(size, 16),
                disk,
            )


if __name__ == "__main__":
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["timestamp_us", "op", "offset_bytes", "size_bytes", "device"])
    rows.writerows(sorted(requests(sys.stdin)))
