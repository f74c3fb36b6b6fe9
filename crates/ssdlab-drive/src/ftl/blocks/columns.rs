//! What is kept by block beside its record and its links: an array each, a *column*, declared in the table below.
//!
//! To add a column, add a line to the table, and the code that sets it. From the line follow its allocation, its reset by the erase, its place
//! in saved states, its bytes in the estimate of memory, what verify mode checks of erased blocks, and its value for a superblock. Not here:
//! what is drawn once and never changes (`flash`), the age of cells (`flash/cells.rs`), and what a levelling policy keeps to itself.

use serde::{Deserialize, Serialize};
use ssdlab_base::units::BlockId;
use ssdlab_keys::config::{Mode, Stream};
use ssdlab_result::stats::NO_STREAM;

/// Of a superblock: the value of the block that stands for it.
fn lead<T>(first: T, _: T) -> T {
    first
}

macro_rules! columns {
    (@where reset $($code:tt)*) => { $($code)* };
    (@where saved $($code:tt)*) => { $($code)* };
    (@where kept $($code:tt)*) => {};
    (@where unsaved $($code:tt)*) => {};
    ($($(#[doc = $doc:literal])* $visible:vis $name:ident: $kind:ty = $initial:expr, $erase:ident, $state:ident, $together:path;)*) => {
        /// The columns of all blocks.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub struct Columns {
            $($(#[doc = $doc])* $visible $name: Vec<$kind>,)*
        }

        /// The values of all columns for a block, or for a superblock together.
        #[derive(Clone, Copy, Debug)]
        pub struct Row {
            $($(#[doc = $doc])* pub $name: $kind,)*
        }

        impl Columns {
            /// Bytes of all columns a block.
            pub const BYTES: u64 = $(size_of::<$kind>() as u64 +)* 0;

            pub(super) fn new(blocks: usize) -> Self {
                Columns { $($name: vec![$initial; blocks],)* }
            }

            /// A block has been erased.
            #[inline(always)]
            pub(super) fn erased(&mut self, block: BlockId) {
                $(columns!(@where $erase self.$name[block.index()] = $initial;);)*
            }

            /// A column of an erased block that the erase has not reset, if there is one.
            pub(in crate::ftl) fn not_reset(&self, block: BlockId) -> Option<&'static str> {
                $(columns!(@where $erase if self.$name[block.index()] != $initial { return Some(stringify!($name)); });)*
                None
            }

            /// The values for the first of some blocks, and together with the others.
            pub(super) fn row(&self, first: BlockId, others: impl Iterator<Item = BlockId>) -> Row {
                let of = |block: BlockId| Row { $($name: self.$name[block.index()],)* };
                others.fold(of(first), |row, block| Row { $($name: $together(row.$name, of(block).$name),)* })
            }

            /// The names of the columns that a saved state has.
            pub fn saved() -> Vec<&'static str> {
                let all = [$((stringify!($name), stringify!($state))),*];
                all.into_iter().filter_map(|(name, state)| (state == "saved").then_some(name)).collect()
            }

            /// The columns that a saved state has, each as the low and the high halves of 64 bits.
            pub(super) fn parts(&self) -> Vec<Vec<u32>> {
                let mut parts = Vec::new();
                $(columns!(@where $state parts.extend(halves(self.$name.iter().map(|&value| u64::from(value)))););)*
                parts
            }

            /// The inverse of [`Columns::parts`].
            ///
            /// # Errors
            /// A sentence if a value is none that the column can have.
            pub(super) fn restore(&mut self, parts: &[Vec<u32>]) -> Result<(), String> {
                let mut parts = parts.chunks_exact(2);
                $(columns!(@where $state {
                    let part = parts.next().expect("as many as `parts` gives");
                    for (block, (here, value)) in self.$name.iter_mut().zip(joined(&part[0], &part[1])).enumerate() {
                        // Untouched memory stays untouched: what is there already is not written.
                        if u64::from(*here) != value {
                            *here = value.try_into().map_err(|_| format!("block {block} has an impossible {}", stringify!($name)))?;
                        }
                    }
                });)*
                Ok(())
            }
        }
    };
}

// Name, type and initial value; whether the erase resets it; whether a state saves it; how the blocks of a superblock make one value.
columns! {
    /// Number of erases, in preparation and run.
    pub(in crate::ftl) erases: u32 = 0, kept, saved, lead;
    /// Wear that erases in other modes than native have spared it, in millionths of an erase.
    pub(in crate::ftl) spared: u64 = 0, kept, saved, lead;
    /// The value of its pool's clock (`Blocks::closings`) when it closed last.
    pub(in crate::ftl) closed_at: u64 = 0, kept, saved, lead;
    /// The stream that has filled it, or [`NO_STREAM`].
    pub(in crate::ftl) stream: Stream = NO_STREAM, reset, saved, lead;
    /// Its mode. An erased block is in native mode, until it is opened in that of its part of the pool; one of a superblock when all are erased.
    pub(in crate::ftl) mode: Mode = Mode::Native, kept, saved, lead;
    /// It is always in SLC mode: of the static part of the cache.
    pub(in crate::ftl) is_static: bool = false, kept, unsaved, lead;
    /// Pages that the host had written when it was opened (`ftl.placement = "sepbit"`).
    pub(in crate::ftl) opened_at: u32 = 0, reset, saved, lead;
    /// A program of it has failed.
    pub(crate) failing: bool = false, reset, unsaved, std::cmp::max;
}

/// The low and the high halves of words.
pub(super) fn halves(words: impl Iterator<Item = u64> + Clone) -> [Vec<u32>; 2] {
    [words.clone().map(|word| word as u32).collect(), words.map(|word| (word >> 32) as u32).collect()]
}

/// Words, from their low and high halves.
pub(super) fn joined(low: &[u32], high: &[u32]) -> impl Iterator<Item = u64> {
    low.iter().zip(high).map(|(&low, &high)| u64::from(low) | u64::from(high) << 32)
}
