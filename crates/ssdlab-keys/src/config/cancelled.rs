//! Keys that cancel a part of the effect of other keys, which a reader of the results must know. Keys without any effect are idle
//! ([`IdleKey`](super::IdleKey)).

use super::{Config, Priority, Scope, workload_rules};
use crate::remark::Remark;

impl Config {
    /// Remarks on keys that cancel a part of the effect of others, and on flows of one trace with different time scales; empty without any.
    pub fn remarks(&self) -> Vec<Remark> {
        self.gc_is_never_suspended().into_iter().chain(workload_rules::of_flows(&self.workload)).collect()
    }

    /// Remark: `scheduler.suspend` names operations, but reads never suspend those of GC. `None` if they do, or if it names none.
    fn gc_is_never_suspended(&self) -> Option<Remark> {
        let named = serde_json::to_value(&self.scheduler.suspend).unwrap_or_default();
        let (why, remedy) = self.why_gc_is_not_suspended().filter(|_| !self.scheduler.suspend.is_empty())?;
        let sentence = format!("scheduler.suspend = {named} holds for operations of the host only: {why}.");
        Some(Remark::note("gc-not-suspended", "", sentence, remedy))
    }

    /// The reason why reads never suspend an operation of GC by `scheduler.suspend`, and the remedy; `None` if they do.
    fn why_gc_is_not_suspended(&self) -> Option<(String, String)> {
        let (gc, device) = (&self.gc, &self.device);
        let value = |what: serde_json::Value| what.to_string();
        let rules = [
            (
                !gc.suspend.is_empty(),
                format!("gc.suspend = {}", value(serde_json::to_value(&gc.suspend).unwrap_or_default())),
                "gc.suspend = []",
            ),
            (gc.pipeline, "gc.pipeline = true".into(), "gc.pipeline = false"),
            (gc.merge, "gc.merge = true".into(), "gc.merge = false"),
            (
                gc.advances_with_requests(),
                format!("gc.advance = {}", value(serde_json::to_value(gc.advance).unwrap_or_default())),
                "gc.advance = \"alone\"",
            ),
        ];
        let set: Vec<_> = rules.into_iter().filter(|(on, ..)| *on).collect();
        if !set.is_empty() {
            let keys = set.iter().map(|(_, key, _)| key.as_str()).collect::<Vec<_>>().join(", ");
            let without = set.iter().map(|(.., without)| *without).collect::<Vec<_>>().join(", ");
            let remedy = format!("Name the operations of GC in gc.suspend, or set {without}.");
            return Some((format!("with {keys} gc.suspend alone decides about those of GC"), remedy));
        }
        let alone_on_the_die = match gc.scope {
            Scope::Chip | Scope::Channel | Scope::Device => true,
            Scope::Die => device.die_interleave || device.dies_per_chip == 1,
            Scope::Plane | Scope::Block | Scope::None => false,
        };
        if alone_on_the_die {
            let scope = value(serde_json::to_value(gc.scope).unwrap_or_default());
            let why = format!("with gc.scope = {scope} no read begins on the die of a job before the job has ended");
            return Some((why, "Set gc.scope = \"none\", \"block\" or \"plane\" to have reads begin during a job.".into()));
        }
        let why = "with gc.priority = \"gc\" operations of GC go before reads".to_string();
        (gc.priority == Priority::Gc).then(|| (why, "Set gc.priority = \"host\" or \"fifo\" to have reads go first.".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Advance, Suspendable, SuspendedForReads};

    fn remarks(change: impl FnOnce(&mut Config)) -> Vec<Remark> {
        let mut config = Config::default();
        config.scheduler.suspend = vec![SuspendedForReads::Program, SuspendedForReads::Erase];
        (config.gc.scope, config.gc.priority) = (Scope::None, Priority::Host);
        change(&mut config);
        config.remarks()
    }

    #[test]
    fn what_leaves_gc_alone_beside_suspension_is_said_and_how_to_change_it() {
        assert_eq!(remarks(|_| ()), []);
        assert_eq!(remarks(|c| c.scheduler.write_pausing = true), [], "a program that cannot pause is suspended");
        assert_eq!(remarks(|c| (c.scheduler.suspend.clear(), c.gc.merge = true).1), [], "nothing is asked for");
        let only = |remarks: Vec<Remark>| match &remarks[..] {
            [remark] => (remark.sentence.clone(), remark.remedy.clone()),
            other => panic!("{other:?}"),
        };
        let (sentence, remedy) = only(remarks(|c| (c.gc.pipeline, c.gc.suspend) = (true, vec![Suspendable::Erase])));
        assert_eq!(
            sentence,
            "scheduler.suspend = [\"program\",\"erase\"] holds for operations of the host only: with gc.suspend = [\"erase\"], gc.pipeline = \
             true gc.suspend alone decides about those of GC."
        );
        assert_eq!(remedy, "Name the operations of GC in gc.suspend, or set gc.suspend = [], gc.pipeline = false.");
        let says = |change: fn(&mut Config), what: &str| {
            let (sentence, _) = only(remarks(change));
            assert!(sentence.contains(what), "{sentence}");
        };
        says(|c| c.gc.advance = Advance::InTurns, "gc.advance = \"in-turns\"");
        says(|c| c.gc.scope = Scope::Die, "gc.scope = \"die\"");
        says(|c| c.gc.priority = Priority::Gc, "gc.priority = \"gc\"");
        let one_die_at_a_time = |c: &mut Config| (c.gc.scope, c.device.die_interleave, c.device.dies_per_chip) = (Scope::Die, false, 2);
        assert_eq!(remarks(one_die_at_a_time), [], "a read of another die of the chip suspends it");
    }
}
