//! Records of numbers that are summed over drives, and of which a run reports what was counted since its warm-up.

/// A record of what there is `now` and of what was `counted`. Those of several drives are added up; for a part of a run, what was counted
/// before it is subtracted.
macro_rules! counts {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            now { $($(#[$of_state:meta])* $state:ident: $state_type:ty,)* }
            counted { $($(#[$of_count:meta])* $count:ident: $count_type:ty,)* }
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$of_state])* pub $state: $state_type,)*
            $($(#[$of_count])* pub $count: $count_type,)*
        }

        impl $name {
            /// Those of two drives together.
            #[must_use]
            pub fn joined(self, other: Self) -> Self {
                $name { $($state: self.$state + other.$state,)* $($count: self.$count + other.$count,)* }
            }

            /// What is there now, and what was counted since `before`.
            #[must_use]
            pub fn since(self, before: &Self) -> Self {
                $name { $($state: self.$state,)* $($count: self.$count - before.$count,)* }
            }
        }
    };
}

pub(super) use counts;

#[cfg(test)]
mod tests {
    counts! {
        /// Guests of a house.
        pub struct Guests {
            now {
                /// Those in it.
                here: u64,
            }
            counted {
                /// Those who came.
                came: u64,
                /// How long all stayed.
                stayed_ns: u128,
            }
        }
    }

    #[test]
    fn houses_add_up_and_only_counts_have_a_before() {
        let (before, after) = (Guests { here: 5, came: 7, stayed_ns: 100 }, Guests { here: 3, came: 9, stayed_ns: 250 });
        assert_eq!(before.joined(after), Guests { here: 8, came: 16, stayed_ns: 350 });
        assert_eq!(after.since(&before), Guests { here: 3, came: 2, stayed_ns: 150 });
    }
}
