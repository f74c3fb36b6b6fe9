//! Flows that begin later than the run (`start_s`).

use super::{RequestSource, WorkloadReport};
use crate::config::Workload;
use crate::error::Result;
use crate::request::Request;
use crate::units::Ns;

/// Start of a flow (`start_s`), ns after the start of the run or after the end of the flow that it follows.
pub(super) fn start_ns(config: &Workload) -> Ns {
    (config.start_s * 1e9).round() as Ns
}

/// A source whose requests arrive later by `start_ns`.
pub(super) fn later(start_ns: Ns, inner: Box<dyn RequestSource>) -> Box<dyn RequestSource> {
    if start_ns == 0 { inner } else { Box::new(Later { inner, start_ns }) }
}

struct Later {
    inner: Box<dyn RequestSource>,
    start_ns: Ns,
}

impl RequestSource for Later {
    fn next_request(&mut self) -> Result<Option<Request>> {
        let request = self.inner.next_request()?;
        Ok(request.map(|request| Request { arrival_ns: request.arrival_ns.saturating_add(self.start_ns), ..request }))
    }

    fn is_at_hand(&self) -> bool {
        self.inner.is_at_hand()
    }

    fn progress(&self) -> Option<f64> {
        self.inner.progress()
    }

    fn report(&self) -> WorkloadReport {
        self.inner.report()
    }
}
