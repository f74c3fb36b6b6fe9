//! The requests of a workload or trace as arrivals at the die of [`ssdlab_result::queueing`].

use serde::Serialize;

use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::Config;
use ssdlab_keys::geometry::Geometry;
use ssdlab_result::queueing::{Arrival, LAST_ARRIVAL, UserOp};
use ssdlab_trace::workload::{self, WorkloadReport};

/// Requests between two checks for a stop request.
const REQUESTS_PER_LOOK: u64 = 1 << 14;

/// The page accesses of a workload, in order of arrival.
#[derive(Clone, Debug)]
pub struct Replay {
    /// One arrival for each page that a request touches, at the time of the request.
    pub arrivals: Vec<Arrival>,
    /// Numbers of requests that were taken and left out.
    pub report: ReplayReport,
}

/// Numbers of a workload's requests that were taken and left out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplayReport {
    /// Reads and writes taken, each of one page or more.
    pub requests: u64,
    /// Trims left out: the model has no operation for them.
    pub trims_left_out: u64,
    /// Flushes left out: the model has no operation for them.
    pub flushes_left_out: u64,
    /// Report of the workload on itself: changes to a trace, and remarks.
    #[serde(flatten)]
    pub workload: WorkloadReport,
}

/// The page accesses that a run of the drive `config` would make under `seed`. `requests`: maximum number of requests.
///
/// # Errors
/// [`Error::Config`] for a closed loop, in which requests have no times; errors of the workload; [`Error::Interrupted`].
pub fn replay(config: &Config, seed: u64, requests: Option<u64>, caller: &Caller) -> Result<Replay> {
    if config.workload.queue_depth > 0 {
        let depth = config.workload.queue_depth;
        let message =
            format!("workload.queue_depth = {depth}: a closed loop has no arrival times, which the queueing model needs; set it to 0");
        return Err(Error::Config(message));
    }
    let exported = Geometry::new(config).exported_bytes();
    let page_bytes = u64::from(config.device.page_bytes);
    let mut source = workload::open_cancellable(&config.workload, exported, seed, requests, caller)?;
    let (mut arrivals, mut report) = (Vec::new(), ReplayReport::default());
    let mut taken = 0_u64;
    while let Some(request) = source.next_request()? {
        taken += 1;
        if taken.is_multiple_of(REQUESTS_PER_LOOK) {
            caller.check()?;
        }
        let op = match request.kind {
            RequestKind::Read => UserOp::Read,
            RequestKind::Write | RequestKind::Append => UserOp::Write,
            RequestKind::Trim
            | RequestKind::ZoneOpen
            | RequestKind::ZoneClose
            | RequestKind::ZoneFinish
            | RequestKind::ZoneReset
            | RequestKind::Copy => {
                report.trims_left_out += 1;
                continue;
            }
            RequestKind::Flush => {
                report.flushes_left_out += 1;
                continue;
            }
        };
        report.requests += 1;
        let Some(arrival) = Arrival::new(request.arrival_ns, op) else {
            let message = format!("a request arrives at {} ns; at most {LAST_ARRIVAL} ns (292 years) can be simulated", request.arrival_ns);
            return Err(Error::Usage(message));
        };
        let pages = (request.offset + request.length - 1) / page_bytes - request.offset / page_bytes + 1;
        arrivals.extend(std::iter::repeat_n(arrival, pages as usize));
    }
    report.workload = source.report();
    Ok(Replay { arrivals, report })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_keys::config::SizeDistribution;

    #[test]
    fn every_page_that_a_request_touches_arrives_with_it() {
        let mut config = Config::default();
        config.workload.request_kb = 6.0;
        config.workload.request_size = SizeDistribution::Exponential;
        config.workload.align_kb = 0.5;
        let replay = replay(&config, 7, Some(500), &Caller::default()).unwrap();
        let exported = Geometry::new(&config).exported_bytes();
        let mut source = workload::open(&config.workload, exported, 7, Some(500)).unwrap();
        let mut expected = Vec::new();
        while let Some(request) = source.next_request().unwrap() {
            let op = if request.kind == RequestKind::Read { UserOp::Read } else { UserOp::Write };
            for byte in request.offset..request.offset + request.length {
                if byte == request.offset || byte.is_multiple_of(4096) {
                    expected.push(Arrival::new(request.arrival_ns, op).unwrap());
                }
            }
        }
        assert_eq!((replay.arrivals, replay.report.requests), (expected, 500));
    }

    #[test]
    fn a_closed_loop_is_refused() {
        let mut config = Config::default();
        config.workload.queue_depth = 4;
        let message = replay(&config, 1, Some(1), &Caller::default()).unwrap_err().to_string();
        assert!(message.starts_with("workload.queue_depth = 4: "), "{message}");
    }
}
