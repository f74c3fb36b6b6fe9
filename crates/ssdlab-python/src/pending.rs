//! STAND-INS. Delete this file when the core's own `workload::{info,convert}` and `simulation::{run,
//! precondition,Simulation}` are there, and import those in `runs`, `simulator` and `tools`. Nothing here simulates anything.
#![allow(dead_code, clippy::unnecessary_wraps, clippy::ptr_arg, missing_docs)]

pub mod info {
    use ssdlab::config::TraceFormat;
    use ssdlab::error::{Error, Result};
    use std::path::Path;

    pub fn trace_info(
        path: &Path,
        _format: Option<TraceFormat>,
        _unit_bytes: Option<u64>,
        _device: Option<&str>,
    ) -> Result<serde_json::Value> {
        std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
        Ok(
            serde_json::json!({"format": "csv", "requests": {"read": 1, "write": 2, "trim": 0, "flush": 0}, "bad_lines": 0, "bad": [], "mean_kb": {"read": 4.0, "write": 4.0},
            "span_s": 1.0, "max_end_bytes": 4096}),
        )
    }
}

pub mod convert {
    use ssdlab::config::TraceFormat;
    use ssdlab::error::{Error, Result};
    use std::path::Path;

    pub fn convert(
        source: &Path,
        target: &Path,
        _format: Option<TraceFormat>,
        _unit_bytes: Option<u64>,
        _device: Option<&str>,
    ) -> Result<serde_json::Value> {
        std::fs::copy(source, target).map_err(|reason| Error::io("read", source, reason))?;
        Ok(serde_json::json!({"requests": 3}))
    }
}

pub mod simulation {
    use ssdlab::error::{Error, Result};
    use ssdlab::request::Request;
    use ssdlab::simulation::{Control, Plan};
    use ssdlab::stats::Completion;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    pub fn run(plan: &Plan, control: &Control) -> Result<serde_json::Value> {
        let total = plan.requests.unwrap_or(300_000);
        if total == 666 {
            panic!("a planned panic");
        }
        if total == 667 {
            return Err(Error::Simulation("a planned error\nof two lines".into()));
        }
        control.expected.store(total, Ordering::Relaxed);
        control.phase.store(1, Ordering::Relaxed);
        for done in 0..total / 1000 {
            if control.cancelled() {
                return Err(Error::Interrupted);
            }
            control.completed.store(done * 1000, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let summary = serde_json::json!({"count": total, "mean": 123_456.7, "std": 1.0, "variance": 1.0, "cv": 0.1, "min": 1, "p50": 100_000, "p90": 2, "p95": 3,
            "p99": 1_400_000, "p99_9": 5, "p99_99": 6, "max": 20_000_000});
        let parts = serde_json::json!({"host_queue": 0.0, "die_queue": 1.0, "gc": 2.0, "bus_queue": 0.0, "transfer": 1.0, "array": 3.0, "suspended": 0.0, "dram": 0.0});
        Ok(serde_json::json!({
            "config": plan.config, "seed": plan.seed, "digest": format!("{total:064x}"), "requests": {"read": total / 2, "write": total - total / 2},
            "breakdown_ns": {"all": parts, "read": parts, "write": parts},
            "latency_ns": {"all": summary, "read": summary, "write": summary},
            "gc": {"jobs": 10, "pages_moved": 100, "erases": 10, "write_amplification": 1.5, "duration_ns": {"mean": 1.0, "max": 2}, "time_share": 0.1, "state_ns": {"s0": 1, "s1": 1, "s2": 0, "s3": 0}},
            "wear": {"mean": 1.0, "std": 0.1, "max": 2}, "flash": {"reads": 1, "programs": 2, "erases": 3},
            "simulated_ns": 1_000_000_000_u64, "wall_s": 0.5, "requests_per_s": 1000.0,
        }))
    }

    pub fn precondition(_plan: &Plan, out: &Path, _control: &Control) -> Result<serde_json::Value> {
        std::fs::write(out, "state").map_err(|source| Error::io("write", out, source))?;
        Ok(serde_json::json!({"pages_written": 1}))
    }

    pub struct Simulation {
        plan: Plan,
        now: u64,
        waiting: Vec<Completion>,
        next: u64,
        control: Arc<Control>,
    }

    impl Simulation {
        pub fn new(plan: &Plan, control: Arc<Control>) -> Result<Self> {
            Ok(Simulation { plan: plan.clone(), now: 0, waiting: Vec::new(), next: 0, control })
        }

        pub fn submit(&mut self, request: Request) -> Result<u64> {
            let index = self.next;
            self.next += 1;
            self.waiting.push(Completion {
                index,
                kind: request.kind,
                sequential: false,
                offset: request.offset,
                length: request.length,
                arrival_ns: request.arrival_ns,
                completed_ns: request.arrival_ns + 1000,
                parts: Default::default(),
            });
            Ok(index)
        }

        pub fn run_until(&mut self, until: u64) -> Result<()> {
            self.now = until;
            Ok(())
        }

        pub fn run_to_idle(&mut self) -> Result<()> {
            self.now += 1_000_000;
            Ok(())
        }

        pub fn take_completions(&mut self) -> Vec<Completion> {
            std::mem::take(&mut self.waiting)
        }

        pub fn now(&self) -> u64 {
            self.now
        }

        pub fn finish(self) -> Result<serde_json::Value> {
            run(&Plan { requests: Some(self.next), ..self.plan }, &self.control)
        }
    }
}
