"""A host in a closed loop: programs that wait for an answer, think, and ask again, with the drive simulated beside them.

`ssdlab.Simulator` is a drive that takes requests one by one, so that the next request can depend on when the last one was answered. Here
each of some programs keeps one request under way and thinks for 200 us before the next; the more programs, the deeper the drive's queue.

Prints for growing numbers of programs what they get done in a second, how long they wait, and how much of that is garbage collection.
"""

import heapq
import random

import ssdlab

THINK_NS = 200_000
REQUESTS = 6_000
WRITES = 0.7
SIZE = 4096
SPAN = 1 << 30
"""The programs use the first GiB."""


def closed_loop(programs: int) -> tuple[list[ssdlab.Completion], ssdlab.Result]:
    """Serves `REQUESTS` requests, sent by this number of programs."""
    drive = ssdlab.Simulator(device="lee2013", scheme="npgc", seed=1)
    draw = random.Random(1)
    ready = [program * 1_000 for program in range(programs)]  # when each program asks next
    asked, answered = 0, []
    while len(answered) < REQUESTS:
        # Thinking takes longer than this step: a program that gets an answer in it asks again after it, so no answer is seen too late.
        until = drive.now_ns + THINK_NS // 2
        while ready and ready[0] <= until and asked < REQUESTS:
            op = "write" if draw.random() < WRITES else "read"
            offset = draw.randrange(0, SPAN, SIZE)
            drive.submit(ssdlab.Request(op=op, offset=offset, length=SIZE, arrival_ns=heapq.heappop(ready)))
            asked += 1
        drive.run_until(until)
        for done in drive.completions():
            answered.append(done)
            heapq.heappush(ready, done.completed_ns + THINK_NS)
    return answered, drive.finish()


print(f"{'programs':>8} {'requests/s':>11} {'mean':>9} {'p99':>9} {'of it GC':>9} {'GC jobs':>8}")
for programs in (1, 4, 16, 64):
    answered, result = closed_loop(programs)
    slow = sorted(answered, key=lambda done: done.response_ns)[-len(answered) // 100 :]  # the slowest hundredth
    waiting = sum(done.parts_ns["gc"] for done in slow) / sum(done.response_ns for done in slow)
    rate = len(answered) / max(done.completed_ns for done in answered) * 1e9
    mean, p99 = (ns / 1e6 for ns in (result.latency.all.mean, result.latency.all.p99))
    print(f"{programs:8} {rate:11,.0f} {mean:6.2f} ms {p99:6.2f} ms {waiting:9.1%} {result.gc.jobs:8,}")

print("\n'of it GC': which part of the slowest hundredth's response times was waiting for garbage collection.")
