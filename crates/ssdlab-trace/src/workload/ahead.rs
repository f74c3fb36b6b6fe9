//! Draws requests from a source shortly before they arrive, so that the state of their pages can be prefetched into the processor's cache.

use super::RequestSource;
use ssdlab_base::error::Result;
use ssdlab_base::request::{Request, RequestKind};

/// Number of requests drawn ahead: enough that a prefetch ends before its request arrives, few enough that the cache still holds it then.
const DEPTH: usize = 8;

/// A request source, and the requests drawn from it that have not been returned yet.
pub struct Ahead<'a> {
    source: &'a mut dyn RequestSource,
    /// Ring buffer: the `count` requests from `first` on have been drawn and not returned.
    drawn: [Request; DEPTH],
    first: usize,
    count: usize,
    /// Number of requests to draw ahead: [`DEPTH`], or 1 for a source that may block (a pipe).
    depth: usize,
    /// End or error of the source, once drawing has met it; reported after the requests in `drawn`.
    end: Option<Result<()>>,
}

impl<'a> Ahead<'a> {
    /// Wraps a source, of which nothing has been drawn yet.
    pub fn new(source: &'a mut dyn RequestSource) -> Self {
        let depth = if source.is_at_hand() { DEPTH } else { 1 };
        let none = Request { arrival_ns: 0, kind: RequestKind::Flush, offset: 0, length: 0, high_priority: false, flow: 0, handle: None };
        Ahead { source, drawn: [none; DEPTH], first: 0, count: 0, depth, end: None }
    }

    /// The next request, or `None` at the end. Calls `foresee` with each request as it is drawn, before it is returned.
    ///
    /// # Errors
    /// The error of the source, after the requests drawn before it have been returned.
    #[inline]
    pub fn next(&mut self, mut foresee: impl FnMut(&Request)) -> Result<Option<Request>> {
        while self.count < self.depth && self.end.is_none() {
            match self.source.next_request() {
                Ok(Some(request)) => {
                    foresee(&request);
                    self.drawn[(self.first + self.count) % DEPTH] = request;
                    self.count += 1;
                }
                Ok(None) => self.end = Some(Ok(())),
                Err(error) => self.end = Some(Err(error)),
            }
        }
        if self.count == 0 {
            return self.end.take().map_or(Ok(None), |end| end.map(|()| None));
        }
        let request = self.drawn[self.first];
        self.first = (self.first + 1) % DEPTH;
        self.count -= 1;
        Ok(Some(request))
    }

    /// The source that requests are drawn from.
    pub fn source(&self) -> &dyn RequestSource {
        self.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::error::Error;

    /// Requests at offsets 0, 1, ..., `end - 1`, then an error. Counts the calls.
    struct Counted {
        drawn: u64,
        end: u64,
        at_hand: bool,
    }

    impl RequestSource for Counted {
        fn next_request(&mut self) -> Result<Option<Request>> {
            self.drawn += 1;
            if self.drawn > self.end {
                return Err(Error::Usage("the end".into()));
            }
            Ok(Some(Request {
                arrival_ns: 0,
                kind: RequestKind::Read,
                offset: self.drawn - 1,
                length: 1,
                high_priority: false,
                flow: 0,
                handle: None,
            }))
        }

        fn is_at_hand(&self) -> bool {
            self.at_hand
        }
    }

    fn offsets(source: &mut Counted, count: usize) -> (Vec<u64>, Vec<u64>) {
        let mut ahead = Ahead::new(source);
        let mut foreseen = Vec::new();
        let taken = (0..count).map(|_| ahead.next(|request| foreseen.push(request.offset)).unwrap().unwrap().offset).collect();
        (taken, foreseen)
    }

    #[test]
    fn a_request_is_foreseen_so_many_before_it_is_taken() {
        let mut source = Counted { drawn: 0, end: 100, at_hand: true };
        let (taken, foreseen) = offsets(&mut source, 5);
        assert_eq!(taken, [0, 1, 2, 3, 4]);
        assert_eq!(foreseen, (0..4 + DEPTH as u64).collect::<Vec<_>>());
    }

    #[test]
    fn of_a_pipe_nothing_is_drawn_ahead() {
        let mut source = Counted { drawn: 0, end: 100, at_hand: false };
        offsets(&mut source, 5);
        assert_eq!(source.drawn, 5);
    }

    #[test]
    fn an_error_comes_in_its_place_and_nothing_is_drawn_behind_it() {
        let mut source = Counted { drawn: 0, end: 3, at_hand: true };
        let mut ahead = Ahead::new(&mut source);
        let taken: Vec<bool> = (0..4).map(|_| ahead.next(|_| ()).is_ok()).collect();
        assert_eq!(taken, [true, true, true, false]);
        assert_eq!(source.drawn, 4);
    }
}
