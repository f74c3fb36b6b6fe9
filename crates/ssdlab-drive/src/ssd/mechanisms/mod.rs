//! Mechanisms: steps of an operation that only some configurations have. The other files of `ssd` call them by path, at the place where they
//! act: `merge::try_merge(ssd, ..)`.
//!
//! | file | question | keys |
//! |---|---|---|
//! | `units` | which mapping units share a flash operation? | `ftl.map_unit_bytes`, `device.pages_per_program` |
//! | `burst` | which page moves are one event, and what interrupts them? | none: results are those of move after move |
//! | `ages` | which steps does a read take that has errors, and which blocks are moved for that? | `errors` |
//! | `merge` | how do host operations merge with page moves (lee2013 III-B)? | `gc.merge` |
//! | `advance` | which steps of a job may begin where it advances with host operations only? | `gc.advance` |
//! | `idle` | what does idle time change? | `gc.trigger = "idle"` |
//! | `pace` | which writes wait for credit that GC earns? | `gc.pace` |
//! | `estimates` | when will operations end (elyasi2017)? | `scheduler.read_bypass`, `write_bypass`, `write_pausing`, `estimates` |
//! | `slc` | when are blocks in SLC mode folded in idle time, and what is counted of them? | `slc` |
//! | `order` | what does a user-defined order decide? | none: the policy comes with the plan |
//! | `power` | which operation waits for power? | `energy.cap_w` |
//! | `superblock` | to which die do the page moves of a superblock go, and the reads that wait for the pages? | `ftl.reclaim_unit` |
//! | `wear` | what if a program or an erase fails, and when is the drive read-only? | `wear` |
//! | `planes` | which programs go plane by plane? | `device.plane_programs` |
//! | `pause` | when does an operation stop for reads? | `scheduler.write_pausing`, `scheduler.suspend` |

pub(super) mod advance;
pub(super) mod ages;
pub(super) mod burst;
pub(super) mod estimates;
pub(super) mod idle;
pub(super) mod merge;
pub(super) mod order;
pub(super) mod pace;
pub(super) mod pause;
pub(super) mod planes;
pub(super) mod power;
pub(super) mod slc;
pub(super) mod superblock;
pub(super) mod units;
pub(super) mod wear;
