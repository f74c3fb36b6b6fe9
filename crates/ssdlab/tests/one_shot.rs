//! Programs of several pages (`device.pages_per_program`), worked by hand to the nanosecond. One die; three pages of 4,096 bytes a program, two
//! programs a block. A read takes 25 us, a program 200 us, an erase 1.5 ms; a page takes 102.4 us on the bus, so three take 307.2 us.

use crate::common::{one_die, plan};
use crate::timelines::{Case, Stage, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{Buffer, Config, Frontier, PoolScope, Priority, Scope};
use ssdlab::request::Request;
use ssdlab::simulation::{Control, run};
use ssdlab::stats::Part;

fn drive() -> Config {
    changed(one_die(), |c| {
        c.device.pages_per_block = 6;
        c.device.pages_per_program = 3;
        c.ftl.frontier = Frontier::Shared;
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    })
}

fn three(request: Request) -> Request {
    pages(request, 3)
}

fn program(at: u64) -> [Stage; 2] {
    [bus(0, at, at + 307_200), array(0, at + 307_200, at + 507_200)]
}

fn flash_read(at: u64) -> [Stage; 2] {
    [array(0, at, at + 25_000), bus(0, at + 25_000, at + 127_400)]
}

fn cases() -> Vec<Case> {
    use Part::{Array, BusQueue, DieQueue, Dram, Transfer};
    let write_parts = || (507_200, vec![(Transfer, 307_200), (Array, 200_000)]);
    let read_parts = || (127_400, vec![(Array, 25_000), (Transfer, 102_400)]);
    let second_parts = (1_014_400, vec![(DieQueue, 507_200), (Transfer, 307_200), (Array, 200_000)]);
    vec![
        Case {
            name: "three pages are one program, and three reads",
            config: drive(),
            requests: vec![three(write(0, 0)), three(read(1_000_000, 0))],
            responses: vec![write_parts(), (382_200, vec![(DieQueue, 254_800), (Array, 25_000), (Transfer, 102_400)])],
            stages: [program(0), flash_read(1_000_000), flash_read(1_127_400), flash_read(1_254_800)].concat(),
        },
        Case {
            name: "one page takes as long: what is left of the program is padding",
            config: drive(),
            requests: vec![write(0, 0)],
            responses: vec![write_parts()],
            stages: program(0).to_vec(),
        },
        Case {
            name: "four pages are two programs",
            config: drive(),
            requests: vec![pages(write(0, 0), 4)],
            responses: vec![second_parts.clone()],
            stages: [program(0), program(507_200)].concat(),
        },
        Case {
            name: "on two planes: all pages in, then one program",
            config: changed(drive(), |c| {
                c.device.planes_per_die = 2;
                c.device.multiplane = true;
                c.ftl.pool = PoolScope::Plane;
            }),
            requests: vec![pages(write(0, 0), 6)],
            responses: vec![(814_400, vec![(BusQueue, 307_200), (Transfer, 307_200), (Array, 200_000)])],
            stages: vec![bus(0, 0, 307_200), bus(0, 307_200, 614_400), array(0, 614_400, 814_400)],
        },
        Case {
            name: "two units a page: six are one program, and three reads",
            config: changed(drive(), |c| c.ftl.map_unit_bytes = Some(2048)),
            requests: vec![three(write(0, 0)), three(read(1_000_000, 0))],
            responses: vec![write_parts(), (382_200, vec![(DieQueue, 254_800), (Array, 25_000), (Transfer, 102_400)])],
            stages: [program(0), flash_read(1_000_000), flash_read(1_127_400), flash_read(1_254_800)].concat(),
        },
        Case {
            name: "programs of a block differ in time",
            config: changed(drive(), |c| c.device.program_ns_by_page = vec![100_000, 300_000]),
            requests: vec![three(write(0, 0)), three(write(1_000_000, 3))],
            responses: vec![(407_200, vec![(Transfer, 307_200), (Array, 100_000)]), (607_200, vec![(Transfer, 307_200), (Array, 300_000)])],
            stages: vec![bus(0, 0, 307_200), array(0, 307_200, 407_200), bus(0, 1_000_000, 1_307_200), array(0, 1_307_200, 1_607_200)],
        },
        Case {
            name: "a write buffer has three writes share a program",
            config: changed(drive(), |c| c.buffer = Buffer { bytes: 6 * 4096, ..Buffer::default() }),
            requests: vec![write(0, 0), write(10_000, 7), write(20_000, 4), read(1_000_000, 7)],
            responses: vec![(1_000, vec![(Dram, 1_000)]), (1_000, vec![(Dram, 1_000)]), (1_000, vec![(Dram, 1_000)]), read_parts()],
            stages: [program(20_000), flash_read(1_000_000)].concat(),
        },
        Case {
            // Four of eight blocks are filled. The fifth write takes the third free block, which leaves one. Blocks 0 to 3 have lost three
            // pages each, block 0 first.
            name: "a job reads three pages, and programs them together",
            config: filled(drive()),
            requests: [(0, 0), (1, 6), (2, 12), (3, 18), (4, 0), (9, 20)]
                .map(|(ms, page)| if page == 20 { read(ms * 1_000_000, page) } else { three(write(ms * 1_000_000, page)) })
                .to_vec(),
            responses: vec![write_parts(), write_parts(), write_parts(), write_parts(), write_parts(), read_parts()],
            stages: [
                (0..5).flat_map(|ms| program(ms * 1_000_000)).collect(),
                [flash_read(4_507_200), flash_read(4_634_600), flash_read(4_762_000), program(4_889_400)].concat(),
                vec![array(0, 5_396_600, 6_896_600)],
                flash_read(9_000_000).to_vec(),
            ]
            .concat(),
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// A saturated die programs three pages in 507.2 us, where single pages would take 907.2 us; a write buffer lets small writes do so.
#[test]
fn pages_that_share_a_program_share_its_time() {
    for (together, period_ns) in [(1, 302_400.0), (3, 507_200.0 / 3.0)] {
        let mut config = changed(one_die(), |c| {
            c.device.blocks_per_plane = 4_000;
            c.device.pages_per_block = 6;
            c.device.pages_per_program = together;
            c.buffer = Buffer { bytes: 6 * 4096, ..Buffer::default() };
        });
        (config.workload.read_share, config.workload.queue_depth) = (0.0, 32);
        let mut plan = plan(config);
        plan.requests = Some(10_000);
        let rate = run(&plan, &Control::default()).unwrap().iops.unwrap();
        assert!((rate * period_ns / 1e9 - 1.0).abs() < 0.01, "{together} pages: {rate} writes a second");
    }
}
