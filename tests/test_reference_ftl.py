"""The reference FTL against small cases derived by hand, and its own invariants."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_ftl import OutOfSpace, ReferenceFtl


def config(
    *,
    geometry: tuple[int, int, int, int] = (1, 1, 1, 1),
    blocks: int = 6,
    pages: int = 2,
    overprovisioning: float = 0.5,
    soft: float = 2.0,
    victim: str = "greedy",
    **ftl: str | int,
) -> dict[str, Any]:
    """A configuration; ``geometry`` is channels, chips, dies and planes."""
    channels, chips, dies, planes = geometry
    return {
        "device": {
            "channels": channels,
            "chips_per_channel": chips,
            "dies_per_chip": dies,
            "planes_per_die": planes,
            "blocks_per_plane": blocks,
            "pages_per_block": pages,
            "page_bytes": 4096,
            "overprovisioning": overprovisioning,
        },
        "ftl": ftl,
        "gc": {"soft": soft, "victim": victim},
    }


def filled(**keys: Any) -> ReferenceFtl:
    ftl = ReferenceFtl(config(**keys))
    ftl.fill()
    return ftl


def test_a_fill_writes_the_blocks_in_order_and_counts_nothing() -> None:
    ftl = filled()
    assert ftl.mapping() == [0, 1, 2, 3, 4, 5]
    assert ftl.free_lists() == [[3, 4, 5]]
    assert ftl.host_programs == ftl.gc_programs == ftl.erases == 0


def test_two_jobs_by_hand() -> None:
    ftl = filled()
    ftl.write(0)  # block 3 is taken, two are left: no GC
    ftl.write(2)
    assert ftl.mapping() == [6, 1, 7, 3, 4, 5]
    assert (ftl.free_lists(), ftl.jobs) == ([[4, 5]], 0)
    # Block 4 is taken, one is left: GC. Blocks 0, 1, 2 have a valid page each; 0 has
    # had it for longest. Page 1 goes to block 5, the last one; block 0 returns. One is
    # still too few, so page 3 of block 1 follows and block 1 returns.
    ftl.write(4)
    assert ftl.mapping() == [6, 10, 7, 11, 8, 5]
    assert ftl.free_lists() == [[0, 1]]
    assert ftl.erase_counts() == [1, 1, 0, 0, 0, 0]
    assert (ftl.host_programs, ftl.gc_programs) == (3, 2)
    assert (ftl.erases, ftl.jobs) == (2, 2)
    ftl.check()


def test_the_page_that_triggers_is_placed_before_collection() -> None:
    # As above, but the triggering write makes block 0 empty: its job moves nothing.
    ftl = filled()
    ftl.write(0)
    ftl.write(2)
    ftl.write(1)
    assert ftl.mapping() == [6, 8, 7, 3, 4, 5]
    assert ftl.free_lists() == [[5, 0]]
    assert (ftl.gc_programs, ftl.jobs) == (0, 1)


def test_equal_victims_go_by_the_age_of_their_valid_count() -> None:
    # Blocks 1, then 0, then 2 lose a page: 1 is collected first, then 0.
    ftl = filled()
    for lpn in (2, 0, 4):
        ftl.write(lpn)
    assert ftl.free_lists() == [[1, 0]]
    # Page 3 of block 1 moved first, then page 1 of block 0.
    assert (ftl.mapping()[3], ftl.mapping()[1]) == (10, 11)


def test_fifo_victims_go_by_the_order_of_filling() -> None:
    # Blocks 2, then 1, then 0 lose a page, but 0 was filled first, then 1.
    ftl = filled(victim="fifo")
    for lpn in (4, 2, 0):
        ftl.write(lpn)
    assert ftl.free_lists() == [[0, 1]]


def test_fifo_takes_a_block_that_gains_nothing_for_filled_anew() -> None:
    # Block 0 keeps its pages: 1 is collected, though 2 is empty, and then 2.
    ftl = filled(victim="fifo")
    for lpn in (4, 5, 2):
        ftl.write(lpn)
    assert ftl.free_lists() == [[1, 2]]
    # Block 3 was filled before block 0 was passed over.
    assert ftl._age(ftl.pools[0], 3) == ftl._age(ftl.pools[0], 0) + 1


def test_cost_benefit_victims_go_by_age_where_they_cost_the_same() -> None:
    # One of two pages each is valid, which is worth half the age: 3, 2 and 1.
    ftl = filled(victim="cost-benefit")
    for lpn in (4, 2, 0):
        ftl.write(lpn)
    assert ftl.free_lists() == [[0, 1]]


def test_cost_benefit_weighs_what_is_gained_against_age() -> None:
    # Blocks of four pages; block 0 of age 4 has three valid pages, block 1 of age 3 two:
    # 1/3 x 4 against 2/2 x 3, halved.
    ftl = filled(victim="cost-benefit", blocks=9, pages=4, overprovisioning=5 / 9, soft=1)
    for lpn in (0, 4, 5, 12):
        ftl.write(lpn)
    pool = ftl.pools[0]
    assert [ftl._worth(pool, block) * 6 for block in (0, 1, 3)] == [4, 9, 1]
    assert ftl._victim(pool) == 1
    for lpn in (6, 7):
        ftl.trim(lpn)
    assert ftl._victim(pool) == 1


def test_wear_aware_victims_are_not_worn_more_than_average() -> None:
    # Greedy would collect 1 first, then 0.
    ftl = filled(victim="wear-aware")
    ftl.erases_of[1] = 1
    for lpn in (2, 0, 4):
        ftl.write(lpn)
    assert (ftl.free_lists(), ftl.victim_fallbacks) == ([[0, 2]], 0)
    ftl = filled(victim="wear-aware")
    ftl.erases_of[:3] = [1, 1, 1]
    for lpn in (2, 0, 4):
        ftl.write(lpn)
    assert (ftl.free_lists(), ftl.victim_fallbacks) == ([[1, 0]], 2)


def test_a_shared_frontier_takes_moves_into_the_hosts_block() -> None:
    ftl = filled(frontier="shared")
    for lpn in (0, 2, 4):
        ftl.write(lpn)
    # Page 1 goes beside page 4 in block 4, which is full then; block 0 is erased, which
    # makes two free blocks: enough.
    assert ftl.mapping() == [6, 9, 7, 3, 8, 5]
    assert ftl.free_lists() == [[5, 0]]
    assert (ftl.gc_programs, ftl.jobs) == (1, 1)
    ftl.check()


def test_the_soft_threshold_is_a_share_rounded_or_a_number() -> None:
    def blocks_of(soft: float, blocks: int = 10) -> int:
        return ReferenceFtl(config(soft=soft, blocks=blocks)).soft_blocks

    assert [blocks_of(soft) for soft in (0.0, 0.04, 0.14, 0.15, 0.25)] == [
        1,
        1,
        1,
        2,
        3,
    ]
    assert [blocks_of(soft) for soft in (1.0, 3.0)] == [1, 3]


def test_exported_pages_are_an_equal_whole_number_from_each_pool() -> None:
    keys: dict[str, Any] = {"geometry": (3, 1, 1, 1), "blocks": 5, "pages": 2}
    # 30 pages: 90 % are 27, 75 % are 22.5, of which 21 divide by 3.
    assert ReferenceFtl(config(overprovisioning=0.1, **keys)).exported_pages == 27
    assert ReferenceFtl(config(overprovisioning=0.25, **keys)).exported_pages == 21


@pytest.mark.parametrize(
    ("allocation", "expected"),
    [
        # Planes are numbered channel, chip, die, plane; each letter has two values.
        ("CWDP", [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15, 0]),
        ("PDWC", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]),
        ("WPCD", [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15, 0]),
    ],
)
def test_consecutive_pages_change_the_first_letter_fastest(allocation: str, expected: list[int]) -> None:
    ftl = ReferenceFtl(config(geometry=(2, 2, 2, 2), allocation=allocation))
    assert [ftl.pool_of(lpn) for lpn in range(17)] == expected


@pytest.mark.parametrize("allocation", ["CWDP", "PCWD", "CPWD"])
def test_a_pool_a_die_leaves_the_plane_out_of_the_permutation(allocation: str) -> None:
    keys = config(geometry=(2, 2, 1, 2), pool="die", allocation=allocation)
    ftl = ReferenceFtl(keys)
    assert [ftl.pool_of(lpn) for lpn in range(5)] == [0, 2, 1, 3, 0]


def test_a_pool_a_die_uses_its_planes_block_by_block_in_turn() -> None:
    ftl = ReferenceFtl(config(geometry=(1, 1, 2, 2), blocks=3, pool="die", pages=2))
    assert ftl.free_lists() == [[0, 3, 1, 4, 2, 5], [6, 9, 7, 10, 8, 11]]
    ftl.fill()
    # 12 of 24 pages: pages 0, 2, 4 ... go to die 0 and fill its block 0, then block 3.
    assert ftl.mapping() == [0, 12, 1, 13, 6, 18, 7, 19, 2, 14, 3, 15]
    assert ftl.free_lists() == [[4, 2, 5], [10, 8, 11]]


def test_a_trim_unmaps_and_a_trimmed_page_is_not_moved() -> None:
    ftl = filled()
    ftl.trim(1)
    ftl.trim(1)
    for lpn in (0, 2, 4):
        ftl.write(lpn)
    # Block 0 is empty: its job moves nothing and makes two free blocks.
    assert ftl.mapping() == [6, -1, 7, 3, 8, 5]
    assert (ftl.free_lists(), ftl.gc_programs) == ([[5, 0]], 0)


def test_a_trim_of_bytes_spares_pages_at_its_edges() -> None:
    ftl = filled()
    ftl.trim_bytes(1, 3 * 4096)  # pages 1 and 2 wholly, 0 and 3 partly
    assert [place == -1 for place in ftl.mapping()] == [False, True, True] + 3 * [False]
    ftl.trim_bytes(3 * 4096, 4095)
    assert ftl.mapping()[3] != -1
    ftl.trim_bytes(3 * 4096, 4096)
    assert ftl.mapping()[3] == -1


def test_a_partial_write_reads_what_it_does_not_write() -> None:
    ftl = filled()
    ftl.write_bytes(4096 - 512, 4096 + 1024)  # page 0 partly, 1 wholly, 2 partly
    assert (ftl.host_programs, ftl.rmw_reads) == (3, 2)
    ftl.trim(5)
    ftl.write_bytes(5 * 4096, 512)  # nothing there to read
    assert (ftl.host_programs, ftl.rmw_reads) == (4, 2)
    plain = filled(partial_write="program")
    plain.write_bytes(0, 512)
    assert (plain.host_programs, plain.rmw_reads) == (1, 0)


def test_starved_collection_begins_again_with_the_next_invalid_page() -> None:
    # All three spare blocks are below the threshold of four.
    ftl = ReferenceFtl(config(soft=4.0))
    for lpn in range(6):
        ftl.write(lpn)
    # Block 2, the third, was taken with three left: wanted, but nothing to gain.
    assert (ftl.free_lists(), ftl.jobs) == ([[3, 4, 5]], 0)
    ftl.trim(0)
    # Page 1 goes to block 3; block 0 returns; no block has an invalid page then.
    assert ftl.mapping() == [-1, 6, 2, 3, 4, 5]
    assert (ftl.free_lists(), ftl.jobs) == ([[4, 5, 0]], 1)


def test_starved_collection_begins_again_when_a_block_with_an_invalid_page_closes() -> None:
    ftl = ReferenceFtl(config(soft=6.0, pages=3))
    ftl.write(0)
    ftl.write(0)  # the page that became invalid lies in a frontier, which is no victim
    assert (ftl.free_lists(), ftl.jobs) == ([[1, 2, 3, 4, 5]], 0)
    ftl.write(1)
    assert ftl.mapping()[:2] == [3, 4]
    assert (ftl.free_lists(), ftl.jobs) == ([[2, 3, 4, 5, 0]], 1)


def test_a_victim_is_picked_before_or_after_the_write_that_asks_for_it() -> None:
    # Page 1's write takes block 4. Before it has landed, blocks 0 and 1 have a valid page each, and block 1 for longer: page 3 moves to
    # block 5. After it, block 0 has none, and one job will do.
    for decides, free in (("landed", [5, 0]), ("started", [1, 0])):
        ftl = ReferenceFtl(config(), decides=decides)  # type: ignore[arg-type]
        ftl.fill()
        for lpn in (2, 0, 1):
            ftl.write(lpn)
        assert ftl.free_lists() == [free]
        ftl.check()


def test_host_writes_leave_the_last_free_block_to_collection() -> None:
    # Four blocks, two full of valid data, one host frontier, one free.
    ftl = ReferenceFtl(config(blocks=4, overprovisioning=0.0, soft=1.0))
    for lpn in range(6):
        ftl.write(lpn)
    assert ftl.free_lists() == [[3]]
    with pytest.raises(OutOfSpace):
        ftl.write(6)
    ftl.trim(0)  # collection begins again: page 1 goes to block 3, block 0 returns
    ftl.trim(1)  # in a frontier, which is no victim
    with pytest.raises(OutOfSpace):
        ftl.write(6)
    ftl.trim(2)  # page 3 goes to block 3, which is full; block 1 returns
    assert ftl.free_lists() == [[0, 1]]
    # Block 0 is taken. Block 3 holds only page 3, which goes to block 1, the last one.
    ftl.write(6)
    assert ftl.mapping()[2:7] == [-1, 2, 4, 5, 0]
    assert ftl.free_lists() == [[3]]


def test_units_by_hand() -> None:
    """Two units a page, two pages a block: three blocks hold units 0 to 11."""
    ftl = filled(map_unit_bytes=2048)
    assert (ftl.mapping(), ftl.free_lists()) == (list(range(12)), [[3, 4, 5]])
    ftl.write_bytes(0, 4096)  # units 0 and 1 share a page of block 3
    ftl.write_bytes(2 * 2048, 2048)  # unit 2 and padding fill the other
    assert ftl.mapping()[:4] == [12, 13, 14, 3]
    assert (ftl.padded_units, ftl.jobs) == (1, 0)
    # Block 4 is taken, one is left: GC. Of block 0 a whole page and more can be gained,
    # of blocks 1 and 3 only a unit. Unit 3 goes to block 5 with padding. One free block
    # is still too few, but nothing more is to be gained.
    ftl.write_bytes(4 * 2048, 2048)
    assert ftl.mapping() == [12, 13, 14, 20, 16, 5, 6, 7, 8, 9, 10, 11]
    assert (ftl.free_lists(), ftl.jobs, ftl.padded_units) == ([[0]], 1, 3)
    # A part of unit 5 makes a page of block 1 worth gaining. Units 6 and 7 share a page.
    ftl.write_bytes(5 * 2048, 512)
    assert ftl.mapping() == [12, 13, 14, 20, 16, 18, 22, 23, 8, 9, 10, 11]
    assert (ftl.free_lists(), ftl.jobs, ftl.padded_units) == ([[0, 1]], 2, 4)
    assert (ftl.host_programs, ftl.gc_programs, ftl.rmw_reads) == (5, 3, 1)
    ftl.check()


def test_parity_by_hand() -> None:
    """Five pages a block in stripes of two: data, parity, data, parity, and one that is left."""
    ftl = filled(pages=5, blocks=5, overprovisioning=0.75, parity_stripe=2)
    # Six pages of data are two blocks; only they are counted.
    assert (ftl.mapping(), ftl.free_lists()) == (list(range(6)), [[2, 3, 4]])
    for lpn in (0, 1, 3):
        ftl.write(lpn)
    assert ftl.mapping() == [6, 7, 2, 8, 4, 5]
    assert (ftl.parity_programs, ftl.written[2], ftl.jobs) == (2, 5, 0)
    # Block 3 is taken, one is left: GC. Pages 2 and 5, the last of blocks 0 and 1, go to
    # block 4. Each is the first or second page of data of a block, as page 4 is.
    ftl.write(4)
    assert ftl.mapping() == [6, 7, 12, 8, 9, 13]
    assert (ftl.jobs, ftl.gc_programs, ftl.parity_programs) == (2, 2, 5)
    assert ftl.free_lists() == [[0, 1]]
    ftl.check()


def test_units_that_nobody_waits_for_share_a_program() -> None:
    ftl = ReferenceFtl(config(map_unit_bytes=2048))
    ftl.prefill([(0, 1), (5 * 2048, 1), (0, 2 * 2048), (9 * 2048, 1)])
    # Units 0 and 5, then 1 and 9.
    assert ftl.mapping() == [0, 2, -1, -1, -1, 1, -1, -1, -1, 3, -1, -1]
    ftl.overwrite(0)
    ftl.overwrite(0)  # the first of them goes alone
    ftl.overwrite(5)
    assert (ftl.mapping()[0], ftl.mapping()[5]) == (6, 7)
    assert (ftl.host_programs, ftl.padded_units) == (3, 1)


def test_a_prefill_writes_each_page_that_it_touches_once() -> None:
    ftl = ReferenceFtl(config())
    ftl.prefill([(4 * 4096 + 1, 1), (4095, 2), (0, 4096)])
    assert ftl.mapping() == [1, 2, -1, -1, 0, -1]
    assert ftl.host_programs == 0


def test_what_the_reference_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="allocation"):
        ReferenceFtl(config(allocation="dynamic"))
    ftl = filled()
    with pytest.raises(ValueError, match="page 6 is not one of 6"):
        ftl.write(6)
    with pytest.raises(ValueError, match="2 bytes at 24575 exceed 24576 bytes"):
        ftl.write_bytes(6 * 4096 - 1, 2)
    with pytest.raises(ValueError, match="erased"):
        ftl.fill()


@settings(max_examples=150, deadline=None)
@given(
    geometry=st.tuples(*[st.integers(1, 2)] * 4),
    pool=st.sampled_from(["plane", "die"]),
    frontier=st.sampled_from(["separate", "shared"]),
    soft=st.sampled_from([0.1, 2.0, 4.0]),
    operations=st.lists(st.tuples(st.booleans(), st.integers(0, 1 << 20)), max_size=300),
    is_filled=st.booleans(),
)
def test_any_sequence_of_writes_and_trims_keeps_the_invariants(
    geometry: tuple[int, int, int, int],
    pool: str,
    frontier: str,
    soft: float,
    operations: list[tuple[bool, int]],
    is_filled: bool,
) -> None:
    keys = config(
        geometry=geometry,
        blocks=8,
        pages=4,
        overprovisioning=0.4,
        soft=soft,
        pool=pool,
        frontier=frontier,
    )
    ftl = ReferenceFtl(keys)
    if is_filled:
        ftl.fill()
    holds_data = [is_filled] * ftl.exported_pages
    for is_trim, bits in operations:
        lpn = bits % ftl.exported_pages
        (ftl.trim if is_trim else ftl.write)(lpn)
        holds_data[lpn] = not is_trim
        assert [place != -1 for place in ftl.mapping()] == holds_data
    ftl.check()
    assert all(free for free in ftl.free_lists())
    assert sum(ftl.erase_counts()) == ftl.erases == ftl.jobs
