"""The names that the core gives to reasons, resources, causes and triggers in `slowest.json`, in words."""

from __future__ import annotations

from ssdlab import _core

__all__ = ["CAUSES", "SERVED", "TRIGGERS", "WAITS"]

WAITS = {
    "host_operation": "for the die, which served the host",
    "bus": "for the bus",
    "gc_operation": "for the die, which collected garbage",
    "gc_scope": "because a GC job excludes the host",
    "hard_threshold": "because its pool had fewer free blocks than the hard threshold",
    "free_block": "for a free block",
    "register": "for the page register or open block of a suspended operation",
    "power": "for power that other dies draw (energy.cap_w)",
    "heat": "because the drive was too warm (thermal)",
    "power_state": "for the drive to leave a power state (power_states)",
    "queue_full": "for a place in the queue of its chip",
    "no_room": "for a chip with room",
    "stripe_lock": "for an earlier update of the same stripe",
    "page_order": "for an earlier operation on the same page",
    "paused": "while its program was suspended or paused",
    "buffer_full": "for a place in the write buffer",
    "pace": "for credit that GC earns (gc.pace)",
    "write_rate": "for the rate of writes (host.write_bytes_per_us)",
    "quota": "for the quota of its queue (host.quota_iops, host.quota_mb_s)",
    "slot": "for a slot of the host interface",
    "queue": "in its queue of the host",
    "core": "for a core of the controller",
    "link": "for the link to the host",
    "translation_page": "for its part of the mapping table",
    "zone": "for a zone: for its reset or finish, or in a log of the host for a free one",
}
"""What a wait was for, by reason."""
SERVED = {
    "transfer": "on the bus",
    "array": "in the flash array",
    "retry": "in steps of its read that failed",
    "decode": "in the decoder",
    "dram": "in the DRAM",
    "core": "on a core",
    "link": "on the link",
}
"""Place at which a request was served, by resource."""
CAUSES = {
    "fetch": "a cache that fetches",
    "destage": "a cache that destages",
    "padding": "a cache that fills a group",
    "drain": "the write buffer",
    "fill": "the rest of a buffered unit",
    "update": "new parity",
    "parity": "parity",
    "map_read": "a translation page",
    "map_write": "a changed translation page",
    "map_update": "a translation page after GC",
    "degraded": "a drive that is not read",
    "rebuild": "the rebuild of a drive",
    "log_move": "moves of a log of the host",
}
"""What a request to a drive is for, by its cause."""
TRIGGERS = dict(_core.triggers())
"""Why a job began, by its trigger."""
