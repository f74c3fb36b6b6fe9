//! Keys that cancel a part of the effect of other keys, which a reader of the results must know. Keys without any effect are idle
//! ([`IdleKey`](super::IdleKey)).

use super::{Config, Priority, Scope, Suspendable, SuspendedForReads, workload_rules};
use crate::remark::Remark;

impl Config {
    /// Remarks on keys that cancel a part of the effect of others, and on flows of one trace with different time scales; empty without any.
    /// `written`: keys that the user wrote.
    pub fn remarks(&self, written: &[String]) -> Vec<Remark> {
        self.gc_is_never_suspended(written).into_iter().chain(workload_rules::of_flows(&self.workload)).collect()
    }

    /// Remark: `scheduler.suspend` names operations, but reads never suspend those of GC. `None` if they do, if it names none, if
    /// `gc.suspend` names the same ones, or if presets alone decide it.
    fn gc_is_never_suspended(&self, written: &[String]) -> Option<Remark> {
        let named = |kind: &SuspendedForReads| {
            let of_gc = if *kind == SuspendedForReads::Program { Suspendable::Program } else { Suspendable::Erase };
            self.gc.suspend.contains(&of_gc)
        };
        if self.scheduler.suspend.iter().all(named) {
            return None;
        }
        let Cause { keys, why, remedy } = self.why_gc_is_not_suspended()?;
        let by_user = |key: &String| key == "scheduler.suspend" || keys.contains(&key.as_str());
        let sentence = format!("scheduler.suspend never suspends operations of GC here: {why}.");
        written.iter().any(by_user).then(|| Remark::note("gc-not-suspended", "", sentence, remedy))
    }

    /// The reason why reads never suspend an operation of GC by `scheduler.suspend`, and the remedy; `None` if they do.
    fn why_gc_is_not_suspended(&self) -> Option<Cause> {
        let (gc, device) = (&self.gc, &self.device);
        let value = |what: serde_json::Value| what.to_string();
        let rules = [
            (
                !gc.suspend.is_empty(),
                "gc.suspend",
                format!("gc.suspend = {}", value(serde_json::to_value(&gc.suspend).unwrap_or_default())),
                "gc.suspend = []",
            ),
            (gc.pipeline, "gc.pipeline", "gc.pipeline = true".into(), "gc.pipeline = false"),
            (gc.merge, "gc.merge", "gc.merge = true".into(), "gc.merge = false"),
            (
                gc.advances_with_requests(),
                "gc.advance",
                format!("gc.advance = {}", value(serde_json::to_value(gc.advance).unwrap_or_default())),
                "gc.advance = \"alone\"",
            ),
        ];
        let set: Vec<_> = rules.into_iter().filter(|(on, ..)| *on).collect();
        if !set.is_empty() {
            let values = set.iter().map(|(_, _, value, _)| value.as_str()).collect::<Vec<_>>().join(", ");
            let without = set.iter().map(|(.., without)| *without).collect::<Vec<_>>().join(", ");
            let remedy = format!("Name the operations of GC in gc.suspend, or set {without}.");
            let keys = set.iter().map(|(_, key, ..)| *key).collect();
            return Some(Cause { keys, why: format!("with {values} gc.suspend alone does"), remedy });
        }
        let alone_on_the_die = match gc.scope {
            Scope::Chip | Scope::Channel | Scope::Device => true,
            Scope::Die => device.die_interleave || device.dies_per_chip == 1,
            Scope::Plane | Scope::Block | Scope::None => false,
        };
        if alone_on_the_die {
            let scope = value(serde_json::to_value(gc.scope).unwrap_or_default());
            let why = format!("with gc.scope = {scope} no read begins on the die of a job before its end");
            let remedy = "Set gc.scope = \"none\", \"block\" or \"plane\" to have reads begin during a job.".into();
            return Some(Cause { keys: vec!["gc.scope"], why, remedy });
        }
        (gc.priority == Priority::Gc).then(|| Cause {
            keys: vec!["gc.priority"],
            why: "with gc.priority = \"gc\" they go before reads".into(),
            remedy: "Set gc.priority = \"host\" to have reads go first.".into(),
        })
    }
}

/// What keeps `scheduler.suspend` from operations of GC.
struct Cause {
    /// Keys that decide it.
    keys: Vec<&'static str>,
    /// The reason, as the end of a sentence.
    why: String,
    remedy: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Advance;

    fn remarks(change: impl FnOnce(&mut Config)) -> Vec<Remark> {
        let mut config = Config::default();
        config.scheduler.suspend = vec![SuspendedForReads::Program, SuspendedForReads::Erase];
        (config.gc.scope, config.gc.priority) = (Scope::None, Priority::Host);
        change(&mut config);
        config.remarks(&["scheduler.suspend".to_string()])
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
            "scheduler.suspend never suspends operations of GC here: with gc.suspend = [\"erase\"], gc.pipeline = true gc.suspend alone does."
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
        let followed = |c: &mut Config| (c.gc.merge, c.gc.suspend) = (true, vec![Suspendable::Program, Suspendable::Erase]);
        assert_eq!(remarks(followed), [], "the remedy is followed");
    }

    #[test]
    fn a_scheme_that_decides_both_has_no_remark() {
        let mut config = Config::default();
        (config.scheduler.suspend, config.gc.merge) = (vec![SuspendedForReads::Erase], true);
        let count = |key: &str| config.remarks(&[key.to_string()]).len();
        assert_eq!(["gc.soft", "gc.merge", "gc.scope", "scheduler.suspend"].map(count), [0, 1, 0, 1]);
    }
}
