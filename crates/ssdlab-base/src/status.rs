//! What became of a request.

/// What became of a request, from the best to the worst. Of a request in parts the worst of these holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The request was carried out.
    #[default]
    Done,
    /// Data that the request needed could not be read: a flash read has too many errors (`errors.retry`).
    Lost,
    /// The drive, being read-only, rejected the request or a part of it (`wear`). Data of that part may be old or new.
    Rejected,
}

impl Status {
    /// The name of the status.
    pub fn name(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Lost => "lost",
            Status::Rejected => "rejected",
        }
    }

    /// Adds what became of another part of the request.
    #[inline(always)]
    pub fn add(&mut self, part: Status) {
        *self = (*self).max(part);
    }
}
