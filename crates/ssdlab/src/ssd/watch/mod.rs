//! Watchers: what is counted, recorded and checked while a drive works. None of them changes what the drive does.
//!
//! | file | question |
//! |---|---|
//! | `probes` | what has happened (counters), and who else is told? |
//! | `gauges` | how many jobs and free blocks were there over time? |
//! | `clocks` | for how long did each reason hold each die? |
//! | `waits` | why does an operation wait? |
//! | `timeline` | which stages were there, of which request or job? |
//! | `verify` | does each page hold the data that was written last, and do sums agree with what they sum? |
//! | `planted` | does verify mode find defects? It plants them |
//! | `report` | which state and statistics can be read from a drive? |

pub(super) mod clocks;
pub(super) mod gauges;
pub(super) mod planted;
pub(super) mod probes;
pub(super) mod report;
pub(super) mod timeline;
pub(super) mod verify;
pub(super) mod waits;
