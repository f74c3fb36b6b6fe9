"""Runs whose profile `make wheel` optimises the core for: the schemes and drives that take most of the time of a day's work."""

import ssdlab

SMALL = {"ftl.precondition.kind": "steady", "device.blocks_per_plane": 16}
NVME = {"ftl.precondition.kind": "steady", "device.blocks_per_plane": 64, "device.pages_per_block": 72, "workload.queue_depth": 64}
RUNS = (
    ("lee2013", "npgc", "uniform-4k-write", SMALL),
    ("lee2013", "pgc", "uniform-4k-write", SMALL),
    ("lee2013", "fpgc", "uniform-4k-write", SMALL),
    ("lee2013", "npgc", "uniform-4k-write", {"workload.read_share": 0.7}),
    ("nvme-tlc-2023", "nvme", "uniform-4k-write", NVME),
    ("nvme-tlc-2023", "nvme", "uniform-4k-write", {**NVME, "workload.read_share": 0.7}),
    ("elyasi2017", "slacker", "rocksdb-like", {}),
    ("wu2017", "gcar-lru", "fin1-like", {}),
)

for device, scheme, workload, keys in RUNS:
    ssdlab.run(device=device, scheme=scheme, workload=workload, set=keys, requests=20_000, seed=1)
