//! Watchers: what is counted, recorded and checked while a drive works. None of them changes what the drive does.
//!
//! | file | question |
//! |---|---|
//! | `probes` | which counter, gauge or check does an event of the drive change? |
//! | `gauges` | how many jobs and free blocks were there over time? |
//! | `clocks` | for how long did each reason hold each die? |
//! | `waits` | why does an operation wait? |
//! | `blocks` | in which state was each block? |
//! | `timeline` | which stages were there, of which request or job? |
//! | `slowest` | what did the drive do recently, to explain the slowest requests? |
//! | `ahead` | would a read that comes now wait for GC, and for how long? |
//! | `verify` | does each page hold the data written last, and do all counts agree with a recount? |
//! | `placed` | does every page lie in a stream of its handle? |
//! | `planted` | which defects can a test plant, to see that verify mode finds them? |
//! | `report` | which state and statistics of a drive can its callers read? |

pub(super) mod ahead;
pub(super) mod blocks;
pub(super) mod clocks;
pub(super) mod gauges;
pub(super) mod placed;
pub(super) mod planted;
pub(super) mod probes;
pub(super) mod report;
pub(super) mod slowest;
pub(super) mod timeline;
pub(super) mod verify;
pub(super) mod waits;
