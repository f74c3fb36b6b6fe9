//! Policies of the user's own, of whatever kind: how a plan carries one, and what becomes of its errors.

use std::error::Error as AnyError;
use std::fmt;
use std::sync::Arc;

use crate::error::Error;

/// Why a policy cannot choose: whatever error says it. It ends the run.
pub type Failure = Box<dyn AnyError + Send + Sync>;

/// A policy of the user's own as a plan carries it: what it is called, where it comes from, and how to make one.
pub struct Custom<P: ?Sized> {
    kind: &'static str,
    name: String,
    source_hash: String,
    make: Arc<dyn Fn() -> Box<P> + Send + Sync>,
}

impl<P: ?Sized> Custom<P> {
    /// `kind` and `name`: for messages. `source`: what tells this policy from others, its source text or a name with a version; results have
    /// its hash. `make`: makes one, anew for each place where it is used.
    pub fn boxed(kind: &'static str, name: &str, source: &str, make: impl Fn() -> Box<P> + Send + Sync + 'static) -> Self {
        Custom { kind, name: name.to_string(), source_hash: blake3::hash(source.as_bytes()).to_hex().to_string(), make: Arc::new(make) }
    }

    /// BLAKE3 over the source, hexadecimal.
    pub fn source_hash(&self) -> &str {
        &self.source_hash
    }

    /// One at work.
    pub fn make(&self) -> AtWork<P> {
        AtWork { kind: self.kind, name: self.name.clone(), policy: (self.make)(), failure: None }
    }
}

impl<P: ?Sized> Clone for Custom<P> {
    fn clone(&self) -> Self {
        Custom { kind: self.kind, name: self.name.clone(), source_hash: self.source_hash.clone(), make: Arc::clone(&self.make) }
    }
}

impl<P: ?Sized> fmt::Debug for Custom<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("name", &self.name).field("source_hash", &self.source_hash).finish_non_exhaustive()
    }
}

/// A policy of the user's own at work.
pub struct AtWork<P: ?Sized> {
    kind: &'static str,
    name: String,
    policy: Box<P>,
    /// Why it could not choose. It is not asked again: the run is about to end.
    failure: Option<Failure>,
}

impl<P: ?Sized> AtWork<P> {
    /// What the policy chooses; `None` also if it cannot, now or before.
    pub fn ask<T>(&mut self, question: impl FnOnce(&mut P) -> Result<Option<T>, Failure>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        question(&mut self.policy).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    /// Why the policy could not choose, if it could not.
    pub fn take_failure(&mut self) -> Option<Error> {
        let reason = self.failure.take()?;
        Some(Error::Policy { kind: self.kind, policy: self.name.clone(), reason })
    }
}

impl<P: ?Sized> fmt::Debug for AtWork<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtWork").field("name", &self.name).finish_non_exhaustive()
    }
}
