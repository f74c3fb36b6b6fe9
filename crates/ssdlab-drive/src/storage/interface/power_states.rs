//! Commands wait while the drive is in a power state, or enters or leaves one (`power_states`).

use super::Interface;
use crate::ssd::{Commands, Ssd};
use crate::storage::Store;
use crate::storage::observed::Levels;
use ssdlab_base::units::Ns;

impl<B: Store + Levels> Interface<B> {
    fn with_drive<T>(&mut self, mut see: impl FnMut(&mut Ssd) -> T) -> Option<T> {
        let mut seen = None;
        self.lower.each_level_mut(&mut |level| {
            if let Some(drive) = level.drive_mut() {
                seen = Some(see(drive));
            }
        });
        seen
    }

    /// Commands that have waited get slots if the drive is operational by now.
    #[inline(always)]
    pub(super) fn release(&mut self, now: Ns) {
        if self.state.as_deref().is_some_and(|state| state.is_held) {
            self.release_held(now);
        }
    }

    #[cold]
    fn release_held(&mut self, now: Ns) {
        let is_operational = self.with_drive(|drive| drive.is_operational());
        if let Some(state) = self.state.as_deref_mut().filter(|_| is_operational == Some(true)) {
            (state.is_held, state.held_until) = (false, now);
            state.outside.released(now);
            self.settle(now, false);
        }
    }

    /// The round is over: the drive may enter a power state, or begin to leave it for a command.
    #[inline(always)]
    pub(super) fn end_round(&mut self, now: Ns) {
        if self.state.as_deref().is_some_and(|state| state.has_power_states) {
            self.end_round_of_drive(now);
        }
    }

    #[inline(never)]
    fn end_round_of_drive(&mut self, now: Ns) {
        let Some(state) = self.state.as_deref_mut() else { return };
        let came = std::mem::replace(&mut state.came_before, state.all_came) < state.all_came;
        let commands = match (state.commands.is_empty(), came) {
            (false, _) => Commands::Outstanding,
            (true, true) => Commands::Passed,
            (true, false) => Commands::None,
        };
        let is_operational = self.with_drive(|drive| {
            drive.end_round(now, commands);
            drive.is_operational()
        });
        if let Some(state) = self.state.as_deref_mut() {
            state.is_held = is_operational == Some(false);
        }
    }
}
