"""Garbage collection by the host beside that by the drive, on the same flash with the same data and load.

A drive with zones (`ftl.placement = "zones"`) moves no data: the host has a log, appends what it writes to a zone, and collects zones
itself. `HostLog` is such a log, with a choice of victims: the zone with the fewest valid units (greedy), or one that is old as well
(cost-benefit).

Prints for growing shares of the flash that hold data the write amplification, and response times of reads and writes.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import ssdlab

FLASH = {
    "device.channels": 4,
    "device.blocks_per_plane": 192,
    "device.pages_per_block": 32,
    "device.transfer_ps_per_byte": 2_500,
    "gc.scope": "none",
    "gc.priority": "host",
}
UNIT = 4096
ZONE = 4 * 32
"""Units of a zone: a block of each of four dies."""
UNITS = 192 * ZONE
REQUESTS = 6_000
RATE = 2_500
"""Requests a second; half of them are reads."""
LOOK_NS = 20_000
"""The host looks for completions every 20 us."""
FREE = 4
"""Free zones below which the host collects; the last is kept for that."""
MOVES = 8
"""Units that the host moves at a time."""


class HostLog:
    """A log of the host on a drive with zones."""

    def __init__(self, drive: ssdlab.Simulator, zones: int, *, by_age: bool) -> None:
        self.drive, self.by_age = drive, by_age
        self.where: dict[int, tuple[int, int]] = {}
        """By logical unit: zone and place in it."""
        self.holds: list[dict[int, int]] = [{} for _ in range(zones)]
        """By zone: the logical unit of each place with valid data."""
        self.left = [ZONE] * zones
        self.closed = [0] * zones
        self.under_way = [0] * zones
        self.free = deque(range(zones))
        self.full: set[int] = set()
        self.open: dict[bool, int | None] = {False: None, True: None}
        """The zone that the host's writes fill, and that of moves."""
        self.waiting: deque[tuple[int, Callable[[int], None]]] = deque()
        self.victim: int | None = None
        self.to_move: list[int] = []
        self.moving = 0
        self.then: dict[int, Callable[[ssdlab.Completion], None]] = {}
        self.newest: dict[int, int] = {}
        """By logical unit: the number of the last write."""
        self.written = self.moved = 0

    def send(
        self,
        op: Literal["append", "read", "zone-reset"],
        zone: int,
        place: int,
        at: int,
        then: Callable[[ssdlab.Completion], None],
        units: int = 1,
    ) -> None:
        """Sends a command on a place of a zone."""
        number = self.drive.submit(ssdlab.Request(op=op, offset=(zone * ZONE + place) * UNIT, length=units * UNIT, arrival_ns=at))
        self.then[number] = then

    def zone_for(self, *, moves: bool) -> int | None:
        """The open zone of writes or of moves; `None`: the host has to wait for a free one."""
        zone = self.open[moves]
        if zone is None and len(self.free) > (0 if moves else 1):
            zone = self.open[moves] = self.free.popleft()
        return zone

    def append(self, unit: int, at: int, then: Callable[[int], None], *, moved_from: tuple[int, int] | None = None) -> bool:
        """Appends a unit. A move counts only if the unit still is where it was read."""
        zone = self.zone_for(moves=moved_from is not None)
        if zone is None:
            return False
        self.left[zone] -= 1
        self.under_way[zone] += 1
        if self.left[zone] == 0:
            self.open[moved_from is not None] = None
            self.full.add(zone)
            self.closed[zone] = self.written

        number = self.newest[unit] = self.newest.get(unit, 0) + (moved_from is None)

        def done(completion: ssdlab.Completion) -> None:
            self.under_way[zone] -= 1
            if self.where.get(unit) == moved_from if moved_from else number == self.newest[unit]:
                old = self.where.get(unit)
                if old is not None:
                    del self.holds[old[0]][old[1]]
                place = completion.offset // UNIT % ZONE
                self.where[unit], self.holds[zone][place] = (zone, place), unit
            then(completion.completed_ns)

        self.send("append", zone, 0, at, done)
        return True

    def write(self, unit: int, at: int, then: Callable[[int], None]) -> None:
        """Writes a unit of the user."""
        self.written += 1
        if self.waiting or not self.append(unit, at, then):
            self.waiting.append((unit, then))

    def read(self, unit: int, at: int, then: Callable[[int], None]) -> None:
        """Reads a unit of the user."""
        self.send("read", *self.where[unit], at, lambda completion: then(completion.completed_ns))

    def worth(self, zone: int) -> float:
        """What it gains to collect a zone (LFS, 1991)."""
        valid = len(self.holds[zone]) / ZONE
        return (1 - valid) * (self.written - self.closed[zone] if self.by_age else 1) / (1 + valid if self.by_age else 1)

    def collect(self, now: int) -> None:
        """Goes on with the victim, or picks one."""
        while self.waiting and self.append(self.waiting[0][0], now, self.waiting[0][1]):
            self.waiting.popleft()
        if self.victim is None:
            ripe = [zone for zone in self.full if self.under_way[zone] == 0 and len(self.holds[zone]) < ZONE]
            if len(self.free) >= FREE or not ripe:
                return
            self.victim = victim = max(ripe, key=self.worth)
            self.full.remove(victim)
            self.to_move = list(self.holds[victim])
        victim = self.victim
        while self.to_move and self.moving < MOVES:
            place = self.to_move.pop()
            unit = self.holds[victim].get(place)
            if unit is not None:
                self.moving += 1
                self.send("read", victim, place, now, partial(self.move, unit, (victim, place)))
        if not self.to_move and self.moving == 0 and not self.holds[victim]:
            self.moving = 1  # until the reset ends
            self.send("zone-reset", victim, 0, now, lambda _: self.freed(victim), ZONE)

    def move(self, unit: int, place: tuple[int, int], _: ssdlab.Completion) -> None:
        """A unit of the victim has been read: appends it elsewhere, unless it was overwritten meanwhile."""
        if self.where.get(unit) != place:
            self.moving -= 1
            return
        self.moved += 1

        def moved(_: int) -> None:
            self.moving -= 1

        assert self.append(unit, self.drive.now_ns, moved, moved_from=place), "a zone is kept for moves"

    def freed(self, zone: int) -> None:
        """The zone is empty."""
        self.moving, self.victim, self.left[zone] = 0, None, ZONE
        self.free.append(zone)

    def look(self) -> None:
        """Takes completions."""
        for completion in self.drive.completions():
            assert completion.status == "done", completion.op
            self.then.pop(completion.index)(completion)


class Plain:
    """A drive that collects by itself."""

    def __init__(self, drive: ssdlab.Simulator) -> None:
        self.drive = drive
        self.then: dict[int, Callable[[int], None]] = {}

    def send(self, op: Literal["read", "write"], unit: int, at: int, then: Callable[[int], None]) -> None:
        """Sends a request."""
        self.then[self.drive.submit(ssdlab.Request(op=op, offset=unit * UNIT, length=UNIT, arrival_ns=at))] = then

    def write(self, unit: int, at: int, then: Callable[[int], None]) -> None:
        """Writes a unit of the user."""
        self.send("write", unit, at, then)

    def read(self, unit: int, at: int, then: Callable[[int], None]) -> None:
        """Reads a unit of the user."""
        self.send("read", unit, at, then)

    def collect(self, now: int) -> None:
        """The drive does."""

    def look(self) -> None:
        """Takes completions."""
        for completion in self.drive.completions():
            self.then.pop(completion.index)(completion.completed_ns)


def arrivals(draw: random.Random, start: int, count: int, used: int, *, reads: float) -> Iterator[tuple[int, str, int]]:
    """Random requests of single units: time, kind, unit."""
    at = float(start)
    for _ in range(count):
        at += draw.expovariate(RATE / 1e9)
        yield int(at), "read" if draw.random() < reads else "write", draw.randrange(used)


def play(side: HostLog | Plain, requests: Iterator[tuple[int, str, int]]) -> dict[str, list[int]]:
    """Sends requests at their times. Returns response times by kind, ns."""
    times: dict[str, list[int]] = {"read": [], "write": []}
    todo, sent = deque(requests), 0
    while todo or sum(map(len, times.values())) < sent:
        side.collect(side.drive.now_ns)
        until = side.drive.now_ns + LOOK_NS
        while todo and todo[0][0] <= until:
            at, op, unit = todo.popleft()
            at, came, sent = max(at, side.drive.now_ns), at, sent + 1
            getattr(side, op)(unit, at, lambda ended, op=op, came=came: times[op].append(ended - came))
        side.drive.run_until(until)
        side.look()
    return times


def by_host(share: float, *, by_age: bool) -> tuple[float, dict[str, list[int]]]:
    """Write amplification and response times of the log."""
    zoned = {"ftl.placement": "zones", "ftl.precondition.kind": "none", "device.overprovisioning": 0.0105, "gc.soft": 1}
    side = HostLog(ssdlab.Simulator(set=FLASH | zoned, seed=1), 189, by_age=by_age)
    used, draw = int(share * UNITS), random.Random(1)
    for number in range(5 * used // 2):
        # All units once, then at random.
        side.write(number if number < used else draw.randrange(used), side.drive.now_ns, lambda _: None)
        while number % 8 == 7 and (side.then or side.waiting):
            side.collect(side.drive.now_ns)
            side.drive.run_to_idle()
            side.look()
    before = side.written, side.moved
    times = play(side, arrivals(random.Random(2), side.drive.now_ns, REQUESTS, used, reads=0.5))
    return 1 + (side.moved - before[1]) / (side.written - before[0]), times


def by_drive(share: float) -> tuple[float, dict[str, list[int]]]:
    """Write amplification and response times of the drive."""
    plain = {"ftl.precondition.kind": "steady", "device.overprovisioning": 1 - share, "gc.soft": 2, "ftl.frontier": "separate"}
    side = Plain(ssdlab.Simulator(set=FLASH | plain, seed=1))
    times = play(side, arrivals(random.Random(2), 0, REQUESTS, int(share * UNITS) // 4 * 4, reads=0.5))
    return side.drive.finish().gc.write_amplification, times


if __name__ == "__main__":
    print(f"{'data':>5} {'collects':>18} {'amplification':>14} {'reads':>9} {'p99':>9} {'writes':>9} {'p99':>9}")
    for share in (0.70, 0.85, 0.95):
        sides = {
            "drive": partial(by_drive, share),
            "host,greedy": partial(by_host, share, by_age=False),
            "host,cost-benefit": partial(by_host, share, by_age=True),
        }
        for name, run in sides.items():
            amplification, times = run()
            figures = [
                f
                for kind in ("read", "write")
                for f in (sum(times[kind]) / len(times[kind]), sorted(times[kind])[len(times[kind]) * 99 // 100])
            ]
            columns = " ".join(f"{ns / 1e3:6,.0f} us" for ns in figures)
            print(f"{share:5.0%} {name:>18} {amplification:14.2f} {columns}")
