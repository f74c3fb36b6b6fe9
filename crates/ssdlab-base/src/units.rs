//! Integers with meaning. Time is a `u64` count of nanoseconds; every index has a type of its own, so that a block
//! number can never be passed where a page number is meant.

use std::num::NonZeroU32;

/// Simulated time or a duration, in nanoseconds.
pub type Ns = u64;

/// The earlier of two times; `None`: never.
#[inline(always)]
pub fn earliest(one: Option<Ns>, other: Option<Ns>) -> Option<Ns> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as an offset into a flat array.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index_type!(
    /// A logical page number: the host's byte offset divided by the page size.
    Lpn
);
index_type!(
    /// A physical page number, device-wide: `block * pages_per_block + page`.
    Ppn
);
index_type!(
    /// A block number, device-wide: `plane * blocks_per_plane + block`.
    BlockId
);
index_type!(
    /// A plane number, device-wide: `die * planes_per_die + plane`.
    PlaneId
);
index_type!(
    /// A die number, device-wide: `chip * dies_per_chip + die`.
    DieId
);
index_type!(
    /// A chip number, device-wide: `channel * chips_per_channel + chip`.
    ChipId
);
index_type!(
    /// A channel number.
    ChannelId
);
index_type!(
    /// A block pool: the blocks of one plane, or of one die, that share a free list and frontiers.
    PoolId
);

index_type!(
    /// An operation slot of a die: `2 * die`, or one more where the cache register lets a second operation share the die.
    SlotId
);

impl SlotId {
    /// The die that the slot belongs to.
    #[inline(always)]
    pub const fn die(self) -> DieId {
        DieId(self.0 / 2)
    }

    /// The second slot of this slot's die.
    #[inline(always)]
    pub const fn other(self) -> SlotId {
        SlotId(self.0 ^ 1)
    }
}

/// Name of an entry in a slab: its place. An `Option` of a name made by `slab_id!` takes four bytes.
pub trait SlabId: Copy + Eq + std::fmt::Debug {
    /// The name of the place `number`, from 0.
    fn new(number: u32) -> Self;
    /// Number of the place.
    fn number(self) -> u32;
}

/// A plain number names a place, too, for slabs that are private to a module.
impl SlabId for u32 {
    #[inline(always)]
    fn new(number: u32) -> Self {
        number
    }

    #[inline(always)]
    fn number(self) -> u32 {
        self
    }
}

macro_rules! slab_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(NonZeroU32);

        impl SlabId for $name {
            #[inline(always)]
            fn new(number: u32) -> Self {
                $name(NonZeroU32::new(number + 1).expect("one more than a number that fits"))
            }

            #[inline(always)]
            fn number(self) -> u32 {
                self.0.get() - 1
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.number().fmt(f)
            }
        }
    };
}

slab_id!(
    /// A page transaction: a request's part of one page.
    TxnId
);
slab_id!(
    /// A request of the host that a drive has taken in and not completed.
    ReqId
);

/// The time `bytes` need on a bus of `ps_per_byte`, in nanoseconds, rounded once to the nearest (halves up).
#[inline]
pub const fn transfer_ns(bytes: u64, ps_per_byte: u64) -> Ns {
    (bytes * ps_per_byte + 500) / 1000
}

/// The time that `parts` of `of` equal parts of `bytes` need on a bus of `ps_per_byte`, in nanoseconds, rounded once to the nearest (halves
/// up).
#[inline]
pub const fn part_transfer_ns(bytes: u64, parts: u64, of: u64, ps_per_byte: u64) -> Ns {
    (bytes * parts * ps_per_byte + 500 * of) / (1000 * of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfer_time_rounds_once_to_the_nearest_nanosecond() {
        assert_eq!(transfer_ns(4096, 25_000), 102_400);
        assert_eq!(transfer_ns(8640, 3_003), 25_946); // 25,945.92
        assert_eq!(transfer_ns(1, 500), 1); // half up
        assert_eq!(transfer_ns(1, 499), 0);
    }

    #[test]
    fn parts_of_a_transfer_round_once_too() {
        // 16 KiB with 1,952 spare bytes: 4,584 bytes a quarter.
        assert_eq!(part_transfer_ns(18_336, 1, 4, 833), 3_818); // 3,818.472
        assert_eq!(part_transfer_ns(18_336, 3, 4, 833), 11_455); // 11,455.416
        assert_eq!(part_transfer_ns(18_336, 4, 4, 833), transfer_ns(18_336, 833));
        // A part need not be of whole bytes: 6.5 of 13.
        assert_eq!(part_transfer_ns(13, 1, 2, 1_000), 7); // half up
        assert_eq!(part_transfer_ns(13, 1, 2, 999), 6); // 6.4935
        // The largest values of a configuration.
        assert_eq!(part_transfer_ns(1_114_112, 16, 16, 1_000_000_000), 1_114_112_000_000);
    }
}
