//! The controller's processors. A core fetches or completes a command, first come first served; completions go before fetches.

use std::collections::VecDeque;

use super::Command;
use crate::storage::desk::Desk;
use ssdlab_base::blocked::{Blocked, Served};
use ssdlab_base::units::Ns;
use ssdlab_keys::config::Host as Config;
use ssdlab_keys::memory::{self, Exhausted};
use ssdlab_result::stats::InterfaceStats;

/// A task of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Completes a command.
    Complete,
    /// Fetches a command.
    Fetch,
}

const TASKS: [Task; 2] = [Task::Complete, Task::Fetch];

/// Cores of equal speed, and the commands that wait for them.
#[derive(Debug)]
pub struct Cores {
    free: u32,
    /// Duration of each task, ns.
    takes_ns: [Ns; 2],
    /// By task: commands that wait for a core, in order.
    waiting: [VecDeque<u32>; 2],
    /// By task: end and command of each running task. Tasks of one kind take equally long, so that they end in the order of their start.
    running: [VecDeque<(Ns, u32)>; 2],
    /// Sum of the durations of all tasks begun, ns.
    begun_ns: Ns,
}

impl Cores {
    pub fn new(config: &Config) -> Self {
        Cores {
            free: config.cores,
            takes_ns: [config.completion_ns, config.command_ns],
            waiting: Default::default(),
            running: Default::default(),
            begun_ns: 0,
        }
    }

    pub fn make_room(&mut self, commands: usize) -> Result<(), Exhausted> {
        self.waiting.iter_mut().try_for_each(|queue| memory::make_room(queue, commands))?;
        self.running.iter_mut().try_for_each(|queue| memory::make_room(queue, commands))
    }

    /// A command waits from now on for a core to fetch it.
    pub fn ask_fetch(&mut self, place: u32) {
        self.waiting[Task::Fetch as usize].push_back(place);
    }

    /// A command waits from now on for a core to complete it. Of commands that do so at one instant, the first to arrive goes first. A
    /// completion that takes no time needs no core, and keeps the order in which the drive completed.
    pub fn ask_completion(&mut self, place: u32, commands: &Desk<Command>) {
        let rank = |place: u32| (commands[place].own.since, commands[place].own.number);
        let takes_time = self.takes_time(Task::Complete);
        let queue = &mut self.waiting[Task::Complete as usize];
        if !takes_time {
            return queue.push_back(place);
        }
        let behind = queue.iter().rposition(|&other| rank(other) < rank(place)).map_or(0, |at| at + 1);
        queue.insert(behind, place);
    }

    /// Tasks of this kind take time, so that they need a core.
    #[inline(always)]
    pub fn takes_time(&self, task: Task) -> bool {
        self.takes_ns[task as usize] > 0
    }

    /// A fetch waits, and a core is free.
    #[inline(always)]
    pub fn has_fetch_to_begin(&self) -> bool {
        self.free > 0 && !self.waiting[Task::Fetch as usize].is_empty()
    }

    /// A fetch requested now would begin at once.
    pub fn can_fetch(&self) -> bool {
        let before = |task: Task| if self.takes_time(task) { self.waiting[task as usize].len() } else { 0 };
        !self.takes_time(Task::Fetch) || self.free as usize > before(Task::Complete) + before(Task::Fetch)
    }

    /// Begins waiting tasks of a kind on free cores; a task that takes no time needs no core. Returns true if such a task has begun, which
    /// ends now.
    #[inline]
    pub fn begin(&mut self, now: Ns, task: Task, commands: &mut Desk<Command>, stats: &mut InterfaceStats) -> bool {
        !self.waiting[task as usize].is_empty() && self.begin_waiting(now, task, commands, stats)
    }

    fn begin_waiting(&mut self, now: Ns, task: Task, commands: &mut Desk<Command>, stats: &mut InterfaceStats) -> bool {
        let takes = self.takes_ns[task as usize];
        while (self.free > 0 || takes == 0)
            && let Some(place) = self.waiting[task as usize].pop_front()
        {
            let command = &mut commands[place];
            stats.core_waits += u64::from(now > command.own.since);
            command.times.wait(Blocked::Core, now - command.own.since);
            command.times.serve(Served::Core, takes);
            self.free -= u32::from(takes > 0);
            self.begun_ns += takes;
            self.running[task as usize].push_back((now + takes, place));
        }
        takes == 0
    }

    /// Takes out a task that has ended by `now`, with its command.
    pub fn ended(&mut self, now: Ns) -> Option<(Task, u32)> {
        for task in TASKS {
            if let Some(&(_, place)) = self.running[task as usize].front().filter(|(ends, _)| *ends <= now) {
                self.running[task as usize].pop_front();
                self.free += u32::from(self.takes_ns[task as usize] > 0);
                return Some((task, place));
            }
        }
        None
    }

    /// End of the next task to end; [`Ns::MAX`] if no task is running.
    pub fn next_end(&self) -> Ns {
        self.running.iter().map(|queue| queue.front().map_or(Ns::MAX, |&(ends, _)| ends)).min().unwrap_or(Ns::MAX)
    }

    /// Time that cores have worked until `now`, summed over cores, ns.
    pub fn busy_ns(&self, now: Ns) -> Ns {
        let to_come = self.running.iter().flatten().map(|(ends, _)| ends.saturating_sub(now)).sum::<Ns>();
        self.begun_ns - to_come
    }
}
