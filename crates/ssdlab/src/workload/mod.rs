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
}
