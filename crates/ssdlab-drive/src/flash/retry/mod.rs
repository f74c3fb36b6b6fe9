//! Read retry: with which step of the retry table a read begins, which steps fail, and how steps follow each other.
//!
//! Step 0 is a plain read. Each later step leaves fewer errors. A policy is a file here.

mod ar2;
mod in_order;
mod last_good;
mod none;
mod pr2;

use ssdlab_keys::config::RetryPolicy;

/// The steps of one read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The step of the retry table with which the read begins.
    pub first: u8,
    /// Number of steps that fail before the last.
    pub failed: u8,
    /// The last step fails, too: the data are lost.
    pub uncorrectable: bool,
    /// The retry table has a step behind the last.
    pub has_more: bool,
}

/// How retry steps follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// The array reads for the next retry step while the data of one are transferred and decoded.
    pub pipelined: bool,
    /// Array reads of retry steps are shorter.
    pub shortened: bool,
}

/// How retry steps follow each other under a policy.
pub(super) fn pace(policy: RetryPolicy) -> Pace {
    match policy {
        RetryPolicy::Off | RetryPolicy::None | RetryPolicy::InOrder | RetryPolicy::LastGood => Pace::default(),
        RetryPolicy::Pr2 => pr2::PACE,
        RetryPolicy::Ar2 => ar2::PACE,
    }
}

/// The steps of a read that the step `needed` would correct. `table`: the last step, and `table + 1` as `needed`: none would. `good`: the
/// last step that was good for a read of the block.
#[inline]
pub(super) fn steps(policy: RetryPolicy, needed: u8, table: u8, good: &mut u8) -> Steps {
    match policy {
        RetryPolicy::Off => Steps::default(),
        RetryPolicy::None => none::steps(needed),
        RetryPolicy::InOrder => in_order::steps(needed, table),
        RetryPolicy::LastGood => last_good::steps(needed, table, good),
        RetryPolicy::Pr2 => pr2::steps(needed, table),
        RetryPolicy::Ar2 => ar2::steps(needed, table),
    }
}

/// The steps of a read that begins with step `first`, one after the other until one is good.
#[inline]
fn from(first: u8, needed: u8, table: u8) -> Steps {
    let last = needed.clamp(first, table);
    Steps { first, failed: last - first, uncorrectable: needed > table, has_more: last < table }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u8 = 4;

    fn read(policy: RetryPolicy, needed: u8, good: &mut u8) -> (u8, u8, bool) {
        let Steps { first, failed, uncorrectable, .. } = steps(policy, needed, TABLE, good);
        (first, failed, uncorrectable)
    }

    #[test]
    fn without_retries_a_read_succeeds_at_once_or_never() {
        assert_eq!(read(RetryPolicy::None, 0, &mut 0), (0, 0, false));
        assert_eq!(read(RetryPolicy::None, 1, &mut 0), (0, 0, true));
    }

    #[test]
    fn steps_go_in_order_until_one_is_good_or_the_table_ends() {
        for policy in [RetryPolicy::InOrder, RetryPolicy::Pr2, RetryPolicy::Ar2] {
            for needed in 0..=TABLE {
                assert_eq!(read(policy, needed, &mut 3), (0, needed, false), "{policy:?}");
                assert_eq!(steps(policy, needed, TABLE, &mut 3).has_more, needed < TABLE);
            }
            assert_eq!(read(policy, TABLE + 1, &mut 0), (0, TABLE, true));
        }
    }

    /// A step that is good stays the first until one more is needed; that of a failed read is not kept.
    #[test]
    fn a_read_begins_with_the_last_good_step_of_its_block() {
        let mut good = 0;
        let reads = [1, 1, 0, 3, 2, TABLE + 1, 4, 4];
        let expected =
            [(0, 1, false), (1, 0, false), (1, 0, false), (1, 2, false), (3, 0, false), (3, 1, true), (3, 1, false), (4, 0, false)];
        for (needed, expected) in reads.into_iter().zip(expected) {
            assert_eq!(read(RetryPolicy::LastGood, needed, &mut good), expected);
        }
    }
}
