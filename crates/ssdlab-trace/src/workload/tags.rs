//! Placement handles of requests that name none themselves (`workload.handle`, `workload.handle_ranges`).

use ssdlab_keys::config::Workload;

/// Which handle the requests of a flow get.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags {
    /// The handle outside of all ranges; `None`: requests name none.
    handle: Option<u8>,
    /// End of each range, byte, and its handle, in ascending order. A range begins where the one before it ends.
    ranges: Vec<(u64, u8)>,
}

impl Tags {
    /// The handles of a flow that may address `exported_bytes`.
    pub(super) fn new(config: &Workload, exported_bytes: u64) -> Self {
        let end = |share: f64| if share >= 1.0 { u64::MAX } else { (exported_bytes as f64 * share) as u64 };
        Tags { handle: config.handle, ranges: config.handle_ranges.iter().map(|&(share, handle)| (end(share), handle)).collect() }
    }

    /// The handle of a request that begins at byte `offset`.
    #[inline]
    pub(super) fn of(&self, offset: u64) -> Option<u8> {
        if self.ranges.is_empty() {
            return self.handle;
        }
        self.ranges.iter().find(|(end, _)| offset < *end).map(|&(_, handle)| handle).or(self.handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_each_other_and_the_handle_of_the_flow_holds_behind_them() {
        let tags = |handle, ranges: &[(f64, u8)]| {
            let tags = Tags::new(&Workload { handle, handle_ranges: ranges.to_vec(), ..Workload::default() }, 1000);
            [0, 499, 500, 899, 900, 999].map(|offset| tags.of(offset))
        };
        assert_eq!(tags(None, &[]), [None; 6]);
        assert_eq!(tags(Some(3), &[]), [Some(3); 6]);
        assert_eq!(tags(None, &[(0.5, 1), (0.9, 2)]), [Some(1), Some(1), Some(2), Some(2), None, None]);
        assert_eq!(tags(Some(7), &[(0.5, 1), (1.0, 0)]), [Some(1), Some(1), Some(0), Some(0), Some(0), Some(0)]);
    }
}
