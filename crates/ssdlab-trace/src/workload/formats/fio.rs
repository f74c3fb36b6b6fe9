//! What both versions of fio's I/O log share: a header line, file actions without an address, and the names of the actions.

use super::Bad;
use ssdlab_base::request::RequestKind;

/// Action of a line of fio's I/O log.
pub(super) enum Action {
    Io(RequestKind),
    /// A wait (version 2 only).
    Wait,
    /// A file is added, opened, closed or removed.
    File,
}

/// The action called `name`.
pub(super) fn action(name: &[u8]) -> Result<Action, Bad> {
    Ok(match name {
        b"read" => Action::Io(RequestKind::Read),
        b"write" => Action::Io(RequestKind::Write),
        b"trim" => Action::Io(RequestKind::Trim),
        b"sync" | b"datasync" | b"sync_file_range" => Action::Io(RequestKind::Flush),
        b"wait" => Action::Wait,
        b"add" | b"open" | b"close" | b"unlink" => Action::File,
        _ => return Err(Bad::new("an action: read, write, trim, sync, datasync, wait, add, open or close", name)),
    })
}

/// Header line of a fio log, and whether it has been read.
pub(super) struct Header {
    pub(super) text: &'static str,
    pub(super) expected: &'static str,
    pub(super) state: HeaderState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderState {
    Awaited,
    Seen,
    /// The first line is not the header: no line can be read.
    Absent,
}

impl Header {
    /// Whether `line` is the header. An error if the first line is not the header, and for a second header.
    pub(super) fn is(&mut self, line: &[u8]) -> Result<bool, Bad> {
        match self.state {
            HeaderState::Seen if line.starts_with(b"fio version ") => {
                Err(Bad::new("one log: a second header begins another log here, whose times start anew; split the file", line))
            }
            HeaderState::Seen => Ok(false),
            HeaderState::Awaited if line.trim_ascii() == self.text.as_bytes() => {
                self.state = HeaderState::Seen;
                Ok(true)
            }
            HeaderState::Awaited | HeaderState::Absent => {
                self.state = HeaderState::Absent;
                Err(Bad::new(self.expected, line))
            }
        }
    }
}
