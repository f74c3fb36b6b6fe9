//! Pages of parity (`ftl.parity_stripe`), worked by hand to the nanosecond. One die, whose stripes have their page of parity behind the first
//! of data. A page takes 102.4 us on the bus, a read 25 us, a program 200 us, an erase 1.5 ms: a write 302.4 us, and with a page of parity
//! 604.8 us, of which all but the transfer of the data is array time.

use crate::common::{one_die, plan};
use crate::timelines::{Case, Stage, array, bus, changed, filled, pages, play_all, read, write};
use ssdlab::config::{Config, PoolScope, Priority, Scope};
use ssdlab::ftl::Ftl;
use ssdlab::gc::untimed::{self, UntimedCounts};
use ssdlab::gc::victim::Picker;
use ssdlab::rng::Rng;
use ssdlab::simulation::{Control, run};
use ssdlab::stats::Part;
use ssdlab::units::Lpn;

const MS: u64 = 1_000_000;

/// Seven pages a block in stripes of three: data, parity, data, data, parity, data, and one that is left.
fn drive() -> Config {
    changed(one_die(), |c| {
        c.device.pages_per_block = 7;
        c.device.overprovisioning = 0.7;
        c.ftl.parity_stripe = 3;
        (c.gc.scope, c.gc.priority) = (Scope::None, Priority::Host);
    })
}

fn with_parity() -> (u64, Vec<(Part, u64)>) {
    (604_800, vec![(Part::Transfer, 102_400), (Part::Array, 502_400)])
}

fn alone() -> (u64, Vec<(Part, u64)>) {
    (302_400, vec![(Part::Transfer, 102_400), (Part::Array, 200_000)])
}

fn program(at: u64, array_ns: u64) -> [Stage; 2] {
    [bus(0, at, at + 102_400), array(0, at + 102_400, at + 102_400 + array_ns)]
}

/// A page is moved, of which the program takes so long, and its block is erased.
fn job(at: u64, program_ns: u64) -> [Stage; 5] {
    let programmed = at + 229_800 + program_ns;
    [
        array(0, at, at + 25_000),
        bus(0, at + 25_000, at + 127_400),
        bus(0, at + 127_400, at + 229_800),
        array(0, at + 229_800, programmed),
        array(0, programmed, programmed + 1_500_000),
    ]
}

fn cases() -> Vec<Case> {
    use Part::{Array, BusQueue, Transfer};
    let five = |address: fn(u64) -> u64| (0..5).map(|ms| write(ms * MS, address(ms))).collect::<Vec<_>>();
    let one_read = (127_400, vec![(Array, 25_000), (Transfer, 102_400)]);
    let array_ns = [502_400, 200_000, 502_400, 200_000, 200_000];
    vec![
        Case {
            name: "the first and third page of a block are programmed with parity, what is left of it is not",
            config: drive(),
            requests: five(|ms| ms),
            responses: vec![with_parity(), alone(), with_parity(), alone(), alone()],
            stages: (0..).zip(array_ns).flat_map(|(ms, ns)| program(ms * MS, ns)).collect(),
        },
        Case {
            // Data lie in flash pages 0, 2, 3, 5 and 6, parity in 1 and 4.
            name: "times by page are those of the flash page",
            config: changed(drive(), |c| {
                c.device.program_ns_by_page = vec![100_000, 200_000, 300_000, 350_000, 400_000, 600_000, 700_000];
                c.device.read_ns_by_page = vec![10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000];
            }),
            requests: [five(|ms| ms), vec![read(9 * MS, 1), read(10 * MS, 3)]].concat(),
            responses: [402_400, 300_000, 852_400, 600_000, 700_000]
                .map(|ns| (102_400 + ns, vec![(Transfer, 102_400), (Array, ns)]))
                .into_iter()
                .chain([30_000, 60_000].map(|ns| (102_400 + ns, vec![(Array, ns), (Transfer, 102_400)])))
                .collect(),
            stages: [
                (0..).zip([402_400, 300_000, 852_400, 600_000, 700_000]).flat_map(|(ms, ns)| program(ms * MS, ns)).collect(),
                vec![array(0, 9 * MS, 9_030_000), bus(0, 9_030_000, 9_132_400)],
                vec![array(0, 10 * MS, 10_060_000), bus(0, 10_060_000, 10_162_400)],
            ]
            .concat(),
        },
        Case {
            name: "on two planes parity is programmed on both at a time, after two transfers",
            config: changed(drive(), |c| {
                c.device.planes_per_die = 2;
                c.device.multiplane = true;
                c.ftl.pool = PoolScope::Plane;
            }),
            requests: vec![pages(write(0, 0), 2)],
            responses: vec![(809_600, vec![(BusQueue, 102_400), (Transfer, 102_400), (Array, 604_800)])],
            stages: vec![bus(0, 0, 102_400), bus(0, 102_400, 204_800), array(0, 204_800, 809_600)],
        },
        Case {
            name: "a program of three pages has a program of parity",
            config: changed(drive(), |c| {
                (c.device.pages_per_block, c.device.pages_per_program) = (6, 3);
                c.device.overprovisioning = 0.8;
                c.ftl.parity_stripe = 2;
            }),
            requests: vec![pages(write(0, 0), 3)],
            responses: vec![(1_014_400, vec![(Transfer, 307_200), (Array, 707_200)])],
            stages: vec![bus(0, 0, 307_200), array(0, 307_200, 1_014_400)],
        },
        Case {
            // Data, parity, data, data: four of eight blocks are filled. The seventh write takes the third free block, which leaves one.
            // Block 0 has page 2 left, and block 1 page 5. The first goes to the first page of a block, the second to the second.
            name: "a page move completes a stripe, too",
            config: changed(filled(drive()), |c| {
                c.device.pages_per_block = 4;
                c.device.overprovisioning = 0.625;
                c.ftl.parity_stripe = 4;
            }),
            requests: [0, 3, 6, 1, 4, 9, 7].into_iter().zip(0..).map(|(page, ms)| write(ms * MS, page)).chain([read(12 * MS, 5)]).collect(),
            responses: vec![with_parity(), alone(), alone(), with_parity(), alone(), alone(), with_parity(), one_read],
            stages: [
                (0..7).flat_map(|ms| program(ms * MS, if ms % 3 == 0 { 502_400 } else { 200_000 })).collect(),
                job(6_604_800, 502_400).to_vec(),
                job(8_837_000, 200_000).to_vec(),
                vec![array(0, 12 * MS, 12_025_000), bus(0, 12_025_000, 12_127_400)],
            ]
            .concat(),
        },
    ]
}

#[test]
fn timelines() {
    play_all(&cases());
}

/// Sequential writes leave nothing to move: what is programmed beyond them is parity. A saturated die gives the n-th part of its time to it.
#[test]
fn sequential_writes_are_amplified_by_parity_alone() {
    for stripe in [0_u32, 2, 5, 16] {
        let mut config = changed(one_die(), |c| {
            (c.device.blocks_per_plane, c.device.pages_per_block) = (64, 80);
            c.device.overprovisioning = 0.6;
            c.ftl.parity_stripe = stripe;
        });
        config.workload.read_share = 0.0;
        config.workload.sequential_share = 1.0;
        config.workload.queue_depth = 4;
        let mut plan = plan(config);
        plan.requests = Some(20_000);
        let result = run(&plan, &Control::default()).unwrap();
        let expected = if stripe == 0 { 1.0 } else { f64::from(stripe) / f64::from(stripe - 1) };
        let gc = &result.gc;
        assert!(gc.jobs > 100 && gc.pages_moved == 0, "{} jobs moved {} pages", gc.jobs, gc.pages_moved);
        let amplification = gc.write_amplification.unwrap();
        assert!((amplification / expected - 1.0).abs() < 0.001, "one in {stripe}: {amplification}, and not {expected}");
        let erases_ns = gc.erases as f64 * 1_500_000.0;
        let busy_ns = result.simulated_ns as f64 - erases_ns;
        let a_write_ns = busy_ns / 20_000.0;
        assert!((a_write_ns / (302_400.0 * expected) - 1.0).abs() < 0.01, "one in {stripe}: a write takes {a_write_ns} ns");
    }
}

/// Greedy collection of uniform writes by the same spare: what moves depends on the pages of data, and parity multiplies all programs.
#[test]
fn random_writes_are_amplified_as_without_parity_and_by_parity() {
    let amplification = |pages_per_block: u32, stripe: u32| {
        let config = changed(one_die(), |c| {
            (c.device.blocks_per_plane, c.device.pages_per_block) = (200, pages_per_block);
            // As many pages are exported of both drives.
            c.device.overprovisioning = 1.0 - 0.85 * 200.0 * 56.0 / (200.0 * f64::from(pages_per_block));
            c.ftl.parity_stripe = stripe;
        });
        let mut ftl = Ftl::new(&config);
        let pages = ftl.geometry().exported_units;
        ftl.fill(pages);
        let (mut rng, mut victims) = (Rng::new(1, "test"), Picker::new(&config.gc, 1, "test/victim"));
        let mut counts = UntimedCounts::default();
        for _ in 0..6 * pages {
            let lpn = Lpn(rng.below(u64::from(pages)) as u32);
            let pool = ftl.geometry().static_pool(lpn);
            assert!(untimed::write(&mut ftl, &mut victims, pool, &[lpn], &mut counts));
        }
        ftl.check().unwrap();
        (pages, counts)
    };
    let ((with, counts), (without, plain)) = (amplification(64, 8), amplification(56, 0));
    assert_eq!((with, counts.pages_moved, counts.erases), (without, plain.pages_moved, plain.erases));
    let (data, parity) = ((counts.host_programs + counts.pages_moved) as f64, counts.parity_units as f64);
    assert!((parity * 7.0 / data - 1.0).abs() < 0.01, "{parity} pages of parity for {data} of data");
    assert_eq!(plain.parity_units, 0);
}
