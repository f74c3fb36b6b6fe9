//! A drive that takes requests one by one: a host that keeps one request under way, each at the instant at which the one before it ended.

use ssdlab::config::Layers;
use ssdlab::request::{Request, RequestKind};
use ssdlab::simulation::{Control, Plan, Simulation};

fn main() -> ssdlab::error::Result<()> {
    let config = Layers { device: Some("demo-4g".to_string()), schemes: vec!["pgc".to_string()], ..Layers::default() }.build()?;
    let mut drive = Simulation::new(&Plan::new(config, 1), &Control::default())?;
    drive.take_completions(); // from now on they are kept
    let pages = drive.exported_bytes() / 16384;
    let mut arrival_ns = 0;
    for number in 0..5_000 {
        let offset = number * 7919 % pages * 16384;
        drive.submit(Request {
            arrival_ns,
            kind: RequestKind::Write,
            offset,
            length: 16384,
            high_priority: false,
            flow: 0,
            handle: None,
        })?;
        drive.run_to_idle()?;
        arrival_ns = drive.take_completions()[0].completed_ns;
    }
    let result = drive.finish()?;
    println!("{} writes, {:?} in a second, {} jobs", result.requests.write, result.iops, result.gc.jobs);
    assert_eq!(result.requests.write, 5_000);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
