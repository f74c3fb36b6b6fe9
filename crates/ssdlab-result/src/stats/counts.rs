//! Records of numbers that are summed over drives, and of which a run reports the counts since its warm-up.

/// Declares a record of present values (`now`) and of counts (`counted`). Records of several drives are added up; for a part of a run, the
/// counts before it are subtracted.
macro_rules! counts {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            now { $($(#[$of_state:meta])* $state:ident: $state_type:ty,)* }
            counted { $($(#[$of_count:meta])* $count:ident: $count_type:ty,)* }
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[$of_state])* pub $state: $state_type,)*
            $($(#[$of_count])* pub $count: $count_type,)*
        }

        impl $name {
            /// The sum of the records of two drives.
            #[must_use]
            pub fn joined(self, other: Self) -> Self {
                $name { $($state: self.$state + other.$state,)* $($count: self.$count + other.$count,)* }
            }

            /// The present values, and the counts since `before`.
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
                /// Guests present.
                here: u64,
            }
            counted {
                /// Guests who came.
                came: u64,
                /// Time that all guests stayed, ns.
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
