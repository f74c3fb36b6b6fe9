//! Parts common to blkparse and ftrace: the kernel's letters for block requests, and devices that hand requests on.

use std::collections::BTreeSet;

use super::text::{Words, units};
use super::{Bad, Parsed, Record, SECTOR_BYTES};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::TraceEvent;
use ssdlab_keys::remark::Remark;

/// Request kind of the letters that the kernel prints (`blk_fill_rwbs`): F (flush before), then R, W, D (discard) N (neither: `None`)
/// or Z (zones), then further letters. Writing zeroes (WZ) transfers no data and leaves the range without any, like a trim.
pub(super) fn kind_of(rwbs: &[u8]) -> Result<Option<RequestKind>, Bad> {
    Ok(match rwbs {
        [b'F', b'N', ..] => Some(RequestKind::Flush),
        [b'F', rest @ ..] if matches!(rest, [b'R' | b'W' | b'D', ..]) => return kind_of(rest),
        [b'F', ..] => Some(RequestKind::Flush),
        [b'W', b'Z', ..] | [b'D', ..] => Some(RequestKind::Trim),
        [b'R', ..] => Some(RequestKind::Read),
        [b'W', ..] => Some(RequestKind::Write),
        [b'N', ..] => None,
        [b'Z', b'A', ..] => Some(RequestKind::Append),
        [b'Z', b'O', ..] => Some(RequestKind::ZoneOpen),
        [b'Z', b'C', ..] => Some(RequestKind::ZoneClose),
        [b'Z', b'F', ..] => Some(RequestKind::ZoneFinish),
        [b'Z', b'R', b'A', ..] => {
            return Err(Bad::new(
                "commands on one zone (leave a reset of all zones out of the trace: a run begins with empty zones)",
                rwbs,
            ));
        }
        [b'Z', b'R', ..] => Some(RequestKind::ZoneReset),
        _ => return Err(Bad::new("read, write, discard or flush letters (RWBS)", rwbs)),
    })
}

/// Builds a request from `sector + sectors`; `words` begins at the `+`. Without a sector it is a flush, whatever `kind`.
pub(super) fn range<'a>(time_ns: u64, kind: RequestKind, sector: Option<&[u8]>, mut words: Words<'a>, device: &'a [u8]) -> Parsed<'a> {
    let (Some(sector), true) = (sector, kind != RequestKind::Flush) else {
        return Record::new(time_ns, if sector.is_none() { RequestKind::Flush } else { kind }, 0, 0, device);
    };
    let offset = units(sector, SECTOR_BYTES, "a sector number")?;
    let plus = words.take("sector + sectors")?;
    if plus != b"+" {
        return Err(Bad::new("a + between sector and sectors", plus));
    }
    let length = units(words.take("sector + sectors")?, SECTOR_BYTES, "a number of sectors")?;
    Record::new(time_ns, kind, offset, length, device)
}

/// Pairs of devices of which the first hands requests on to the second.
#[derive(Default)]
pub(super) struct HandedOn(BTreeSet<(Name, Name)>);

/// The name of a device, as the trace has it.
type Name = Box<[u8]>;

impl HandedOn {
    /// Maximum number of pairs that are kept, the first ones of the trace.
    const PAIRS: usize = 64;

    pub(super) fn add(&mut self, from: &[u8], to: &[u8]) {
        let is_known = self.0.iter().any(|(upper, lower)| **upper == *from && **lower == *to);
        if !is_known && self.0.len() < Self::PAIRS {
            self.0.insert((from.into(), to.into()));
        }
    }

    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        self.0.iter().map(|(upper, lower)| (text(upper), text(lower))).collect()
    }
}

/// The remark on requests that the driver gave back and that were issued again, if `times` is not 0 and issue events are requests.
pub(super) fn requeued(event: Option<TraceEvent>, times: u64) -> Vec<Remark> {
    if event != Some(TraceEvent::Issue) || times == 0 {
        return Vec::new();
    }
    let sentence = format!("The driver gave back {times} requests, which were issued again: each counts as often as it was issued.");
    vec![Remark::warning(
        "requeued",
        "workload.trace.requests",
        sentence,
        "--event queue (workload.event) counts each once, before merging.",
    )]
}
