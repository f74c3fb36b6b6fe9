//! How long something takes.

use std::time::Instant;

/// Real time and processor time of what this thread does, s.
pub fn seconds(work: impl FnOnce()) -> (f64, Option<f64>) {
    let (start, before) = (Instant::now(), processor_ns());
    work();
    let spent = processor_ns().zip(before).map(|(after, before)| (after - before) as f64 / 1e9);
    (start.elapsed().as_secs_f64(), spent)
}

/// Processor time of this thread, ns, where the kernel is Linux.
fn processor_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}
