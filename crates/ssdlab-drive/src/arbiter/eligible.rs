//! Whether a host operation may begin on a pool: decided by scopes, states and free space, before the arbiter decides what goes first.

use crate::views::PoolView;
use ssdlab_base::blocked::Blocked;

/// Whether a host operation may begin on a pool with this view.
///
/// # Errors
/// The reason why not; of several the one that lasts longest: an exclusion before a threshold before a lack of pages before a held
/// register.
#[inline(always)]
pub fn eligible(pool: PoolView) -> Result<(), Blocked> {
    match pool {
        PoolView { excluded: true, .. } => Err(Blocked::Scope),
        PoolView { stopped: true, .. } => Err(Blocked::HardThreshold),
        PoolView { no_page: true, .. } => Err(Blocked::FreeBlock),
        PoolView { register_held: true, .. } => Err(Blocked::Register),
        PoolView { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_reasons() {
        let free = PoolView::default();
        let cases = [
            (free, Ok(())),
            (PoolView { excluded: true, stopped: true, no_page: true, register_held: true }, Err(Blocked::Scope)),
            (PoolView { stopped: true, no_page: true, register_held: true, ..free }, Err(Blocked::HardThreshold)),
            (PoolView { no_page: true, register_held: true, ..free }, Err(Blocked::FreeBlock)),
            (PoolView { register_held: true, ..free }, Err(Blocked::Register)),
        ];
        for (view, expected) in cases {
            assert_eq!(eligible(view), expected, "{view:?}");
        }
    }
}
