"""A placement policy of one's own: which data share a block, decided in Python.

Pages that were overwritten soon the last time are expected to be overwritten soon again: they fill blocks of their own, which are empty, or
nearly so, when garbage collection comes to them.

Prints the policy beside built-in ones: pages written to flash for each page of the host, and how valid the blocks were that were collected.
"""

import ssdlab

DRIVE = {
    "device.channels": 1,
    "device.blocks_per_plane": 320,  # many small blocks: each stream keeps one open
    "device.pages_per_block": 16,
    "device.overprovisioning": 0.2,
    "gc.soft": 3,
    "gc.victim": "cost-benefit",
    "workload.read_share": 0,
    "workload.queue_depth": 4,
    "workload.address": "zipf",
    "workload.zipf_exponent": 1.0,
}
OURS = {"ftl.placement": "custom", "ftl.host_streams": 2, "ftl.move_streams": 1}
SOON = 8
"""A page is overwritten soon if that takes fewer writes than the drive has pages, divided by this."""


class Soon:
    """Two streams of host writes, by how long the last version of a page lived. Page moves have one, for which nothing is asked."""

    def __init__(self):
        self.now, self.last = 0, {}

    def __call__(self, placing):
        """The stream of a page: 0 if its last version lived shortly."""
        for what, page, *_ in placing.events:
            if what == placing.WRITTEN:
                self.last[page] = self.now
                self.now += 1
        lived = self.now - self.last.get(placing.page, -placing.pages)
        return 0 if lived < placing.pages // SOON else 1


def run(keys, placement=None):
    """Twelve thousand writes after as many, from a full drive."""
    return ssdlab.run(set=DRIVE | keys, requests=24_000, warm_up=12_000, placement=placement)


runs = {
    "none": run({}),
    "Soon (ours)": run(OURS, Soon),
    "hot-cold": run({"ftl.placement": "hot-cold"}),
    "oracle": run({"ftl.placement": "oracle"}),
}

print(f"{'placement':12} {'write ampl.':>11} {'pages moved':>12}")
for name, r in runs.items():
    print(f"{name:12} {r.gc.write_amplification:11.3f} {r.gc.pages_moved:12,}")

ours = runs["Soon (ours)"]
print("\nWhat each stream of ours did:")
for stream in ours["streams"]:
    valid = stream.get("valid_share")
    shown = "none collected" if valid is None else f"{valid:.0%} valid when collected"
    print(f"  {stream['writer']} {stream['class']}: {stream['blocks_opened']:,} blocks opened, {shown}")
