//! Integers with meaning. Time is a `u64` count of nanoseconds; every index has a type of its own, so that a block
//! number can never be passed where a page number is meant.

/// Simulated time or a duration, in nanoseconds.
pub type Ns = u64;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
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

/// The time `bytes` need on a bus of `ps_per_byte`, in nanoseconds, rounded once to the nearest (halves up).
#[inline]
pub const fn transfer_ns(bytes: u64, ps_per_byte: u64) -> Ns {
    (bytes * ps_per_byte + 500) / 1000
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
}
