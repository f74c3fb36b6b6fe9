"""Theoretical results for quantities that a simulation measures, as functions.

Each function names its source and the conditions under which it holds. None was written from the simulator.
"""

from __future__ import annotations

import math


def md1_mean_wait(arrival_rate: float, service_time: float) -> float:
    """The mean waiting time of an M/D/1 queue, service excluded.

    Poisson arrivals at ``arrival_rate``, each served for exactly ``service_time`` by
    one server in order of arrival; the unit of the result is that of ``service_time``.
    With utilisation rho = rate x time, W = rho time / (2 (1 - rho)): the
    Pollaczek-Khinchine formula with no variance of service (L. Kleinrock, Queueing
    Systems, Vol. I, Wiley, 1975, chapter 5).
    """
    utilisation = arrival_rate * service_time
    if not 0.0 <= utilisation < 1.0:
        raise ValueError(f"a queue with utilisation {utilisation} has no mean wait")
    return utilisation * service_time / (2.0 * (1.0 - utilisation))


def greedy_write_amplification(pages_per_block: int, total_blocks: float, user_blocks: float) -> float:
    """Write amplification of greedy collection under uniform random page writes.

    ``total_blocks`` (T) are the blocks that can hold data and be victims: those of the
    device without the free list and the frontiers. ``user_blocks`` (U) are the logical
    pages over ``pages_per_block`` (c). Holds in steady state for many blocks, and for
    any c: blocks of 16 pages amplify less than blocks of 256. Simulations of 2048
    and 4096 blocks of 16, 64 and 256 pages, (T - U) / T being 7, 15 and 28 %, agreed
    within 0.7 %.

    Let host page writes be the clock, and let a block be in level i when i of its pages
    are valid. A host write invalidates one of the c U valid pages, each equally likely,
    so a block of level i falls to i - 1 at rate i / (c U). Per host write, f blocks
    enter at level c, just filled, and as many are collected. With very many blocks, the
    victims of greedy collection come from one level j and the level below: a block that
    falls below j is the emptiest of all and is collected at once. Above j nothing is
    collected, so the flow through each level is f, and the number of blocks in level i
    is

        n_i = f c U / i                                              for j < i <= c.

    All blocks are somewhere, n_j + sum of n_i = T, and all valid pages are somewhere,
    j n_j + sum of i n_i = c U. With h the sum of 1/i over j < i <= c these are

        n_j = T - f c U h    and    j n_j / (c U) + f (c - j) = 1,

    two linear equations in f and n_j, solved by

        f = (1 - j T / (c U)) / (c - j - j h).

    The level is the right one if n_j is not negative and no more blocks fall out of it
    than come in, j n_j / (c U) <= f. Each collection frees one block of c pages, all of
    which are programmed again, so the amplification is programs over host writes, c f.

    The approach, two levels of victims in a large device, is that of P. Desnoyers,
    Analytic Models of SSD Write Performance, ACM Trans. Storage 10(2), 2014,
    doi:10.1145/2577384 (greedy cleaning); the mean field of B. Van Houdt, A Mean Field
    Model for a Class of Garbage Collection Algorithms in Flash-Based Solid State
    Drives, SIGMETRICS 2013, tends to it as the number of choices grows. The workload is
    also that of W. Bux and I. Iliadis, Performance of Greedy Garbage Collection in
    Flash-Based Solid-State Drives, Performance Evaluation 67(11), 2010,
    doi:10.1016/j.peva.2010.07.003.
    """
    c, total, user = pages_per_block, total_blocks, user_blocks
    if not 0.0 < user < total:
        raise ValueError(f"{user} user blocks do not fit {total} blocks with a rest")
    valid_pages = c * user
    harmonic = 0.0
    for level in range(c - 1, -1, -1):
        harmonic += 1.0 / (level + 1)
        denominator = c - level - level * harmonic
        if denominator <= 0.0:
            continue
        flow = (1.0 - level * total / valid_pages) / denominator
        blocks_of_level = total - flow * valid_pages * harmonic
        falling = level * blocks_of_level / valid_pages
        if flow > 0.0 and blocks_of_level >= 0.0 and falling <= flow:
            return c * flow
    raise ArithmeticError("no level satisfies the equations")


def fifo_write_amplification(total_blocks: float, user_blocks: float) -> float:
    """Write amplification if blocks are collected in the order of their filling.

    Uniform random writes, steady state, many blocks with many pages each. Greedy
    collection tends to the same as the pages of a block become many: then all blocks of
    one age have equally many valid pages, and the oldest have the fewest.

    A block is collected after the other T - 1 have been filled, which takes T c / A
    host writes. A page survives one host write with probability 1 - 1/(c U), so a share
    v = exp(-T / (A U)) is still valid, and A = 1 / (1 - v). With alpha = T / U and W
    the principal branch of Lambert's function, A = alpha / (alpha + W(-alpha
    exp(-alpha))): X. Luojie and B. M. Kurkoski, An Improved Analytic Expression for
    Write Amplification in NAND Flash, ICNC 2012, arXiv:1110.4245; Desnoyers 2014 (there
    for LRU cleaning). Here the fixed point is found by bisection.
    """
    alpha = total_blocks / user_blocks
    if not alpha > 1.0:
        raise ValueError(f"{user_blocks} user blocks in {total_blocks} leave no rest")
    # (1 - v) alpha + ln v rises from minus infinity to its top at v = 1 / alpha, and
    # falls to its other zero, v = 1: the one wanted lies below 1 / alpha.
    low, high = 0.0, 1.0 / alpha
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle > 0.0 and (1.0 - middle) * alpha + math.log(middle) > 0.0:
            high = middle
        else:
            low = middle
    return 1.0 / (1.0 - high)


def fifo_write_amplification_of_passes(total_blocks: float, user_blocks: float) -> float:
    """Write amplification if blocks are collected in the order of their filling, and each pass writes every page once.

    Passes have random orders of their own. In units of a pass a page that is at U1 of one is at U2 of the next, so that 1 - U1 + U2 lies
    between its writes: triangular on 0 to 2, with survival function S. A block is collected when T = (total / user) / A passes have gone
    since it was filled; a page that is valid then is copied, and again after 2 T, 3 T ...: A = 1 + S(T) + S(2 T) + ... The fixed point is
    found by bisection, since copies only become more as A grows.
    """
    alpha = total_blocks / user_blocks

    def survival(passes: float) -> float:
        return 1.0 - passes * passes / 2.0 if passes < 1.0 else max(0.0, 2.0 - passes) ** 2 / 2.0

    low, high = 1.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2.0
        age = alpha / middle
        copies = sum(survival(times * age) for times in range(1, math.ceil(2.0 / age) + 1))
        if 1.0 + copies > middle:
            low = middle
        else:
            high = middle
    return low


def random_write_amplification(pages_per_block: int, total_blocks: float, user_blocks: float) -> float:
    """Write amplification if any block with an invalid page may be collected next.

    Uniform random writes, steady state, many blocks; c, T and U as for greedy
    collection, rho = U / T. Blocks change with the writes as in a mean field: one with i
    valid pages loses one in i of the U c writes that go around, and begins again with c
    when it is collected. That happens J times a write, J = 1 / (c - v), v being the mean
    number of valid pages of a victim. Blocks with all c valid pages, a share f, are born
    as often as they lose their first page: J = T f / U, so f (c - v) = rho. Victims are
    drawn from the others alone: v = (rho c - f c) / (1 - f). Both together give
    f / (1 - f) = rho / (c (1 - rho)), and

        A = c / (c - v) = 1 / (1 - rho + rho / c).

    As c grows this is the A = 1 / (1 - rho) of victims drawn from all blocks: B. Van
    Houdt, A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-based
    Solid State Drives, SIGMETRICS 2013, doi:10.1145/2465529.2465543 (Random).
    """
    rho = user_blocks / total_blocks
    return 1.0 / (1.0 - rho + rho / pages_per_block)


def d_choices_write_amplification(pages_per_block: int, total_blocks: float, user_blocks: float, choices: int) -> float:
    """Write amplification if the best of ``choices`` random blocks is collected.

    The mean-field model of Van Houdt 2013, for uniform random writes. Let G_i be the share
    of blocks with at least i valid pages, and x the collections in the time in which a
    page is overwritten once on average. Every block that is collected with fewer than i
    valid pages was born with c and has passed from i to i - 1:

        i (G_i - G_{i+1}) = x (1 - G_i^d),   i = c, ..., 1,   G_{c+1} = 0.

    Each has one root below 1, found by bisection from the top. All valid pages together,
    the sum of the G_i, are c U / T: this sets x, which grows with them. A victim has v =
    G_1^d + ... + G_c^d valid pages on average, and A = c / (c - v).

    With one choice A = 1 / (1 - U / T); with many it tends to greedy collection's.
    """
    wanted = pages_per_block * user_blocks / total_blocks

    def shares(x: float) -> list[float]:
        found, above = [], 0.0
        for valid in range(pages_per_block, 0, -1):
            low, high = above, 1.0
            for _ in range(60):
                middle = (low + high) / 2.0
                if valid * (middle - above) < x * (1.0 - middle**choices):
                    low = middle
                else:
                    high = middle
            above = low
            found.append(above)
        return found

    low, high = 0.0, 1.0
    while sum(shares(high)) < wanted:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if sum(shares(middle)) < wanted:
            low = middle
        else:
            high = middle
    valid_pages = sum(share**choices for share in shares(high))
    return pages_per_block / (pages_per_block - valid_pages)


def valid_pages_of_victims(pages_per_block: int, write_amplification: float) -> float:
    """The mean number v of pages that a collection must move.

    A = c / (c - v): bux2011, equation (9).
    """
    return pages_per_block * (1.0 - 1.0 / write_amplification)


def bux2011_max_throughput(
    *,
    reads_per_write: float,
    pages_per_block: int,
    valid_pages: float,
    write_time: float,
    read_time: float,
    copy_time: float,
    erase_time: float,
) -> float:
    """The most requests, reads and writes, that a die can serve in a unit of time.

    lambda_max = (1 + s) / (b_w + s b_r + v / (c - v) b_c + 1 / (c - v) b_e): W. Bux,
    System Performance Issues in Flash-Based Solid-State Drives, IBM Research Report RZ
    3801, 2011, equation (8), with s = ``reads_per_write``, c = ``pages_per_block``, v =
    ``valid_pages`` in each block collected, and b the service times of a page write, a
    page read, the copy of a page and the erase of a block.
    """
    freed = pages_per_block - valid_pages
    if not freed > 0.0:
        raise ValueError(f"{valid_pages} valid of {pages_per_block} pages free none")
    time_per_write = write_time + reads_per_write * read_time + valid_pages / freed * copy_time + erase_time / freed
    return (1.0 + reads_per_write) / time_per_write
