//! Flows that begin later than the run (`start_s`).

use super::{RequestSource, WorkloadReport};
use ssdlab_base::error::Result;
use ssdlab_base::request::Request;
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Workload;

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

    fn draw_others(&mut self) {
        self.inner.draw_others();
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

#[cfg(test)]
mod tests {
    use crate::workload::open;
    use ssdlab_keys::config::Layers;

    /// The requests that prepare a drive are others than those of the run, also of a flow that begins later.
    #[test]
    fn a_later_flow_draws_others_when_asked() {
        let offsets = |start_s: &str, others: bool| {
            let set = vec![("workload.start_s".to_string(), start_s.to_string())];
            let config = Layers { set, ..Layers::default() }.build().unwrap();
            let mut source = open(&config.workload, 1 << 30, 7, Some(50)).unwrap();
            if others {
                source.draw_others();
            }
            std::iter::from_fn(|| source.next_request().unwrap()).map(|request| request.offset).collect::<Vec<_>>()
        };
        for start_s in ["0.0", "1.0"] {
            assert_ne!(offsets(start_s, false), offsets(start_s, true), "{start_s}");
        }
        assert_eq!(offsets("0.0", true), offsets("1.0", true));
    }
}
