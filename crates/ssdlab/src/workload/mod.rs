//! Requests from generators and traces.

use crate::error::Result;
use crate::request::Request;

/// A stream of requests in order of arrival, all of them inside the drive's exported range.
pub trait RequestSource: Send {
    /// The next request, or `None` at the end.
    fn next_request(&mut self) -> Result<Option<Request>>;

    /// How much of the input has been consumed, 0..=1, for a progress bar, where known without reading ahead.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// What was done to the input so far.
    fn report(&self) -> u32 {
        0
    }
}

/// Stand-in until the readers are merged.
pub fn open(_: &crate::config::Workload, _: u64, _: u64, _: Option<u64>) -> Result<Box<dyn RequestSource>> {
    Err(crate::error::Error::Usage("not merged".into()))
}
/// Stand-in until the readers are merged.
pub fn read_prefill(_: &std::path::Path, _: u64) -> Result<Vec<(u64, u64)>> {
    Ok(Vec::new())
}
