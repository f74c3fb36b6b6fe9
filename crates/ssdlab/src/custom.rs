//! User-defined policies of any kind, as part of a plan, and their failures.

use std::error::Error as AnyError;
use std::fmt;
use std::sync::Arc;

use crate::error::Error;

/// An error of a user-defined policy. It ends the run.
pub type Failure = Box<dyn AnyError + Send + Sync>;

/// A user-defined policy as part of a plan: its name, its source, and how to make one.
pub struct Custom<P: ?Sized> {
    kind: &'static str,
    name: String,
    source_hash: String,
    make: Arc<dyn Fn() -> Box<P> + Send + Sync>,
}

impl<P: ?Sized> Custom<P> {
    /// A user-defined policy that `make` creates, once for each place where it is used. `kind` and `name`: for messages. `source`:
    /// identifies the policy (its source text, or a name with a version); results have its hash.
    pub fn boxed(kind: &'static str, name: &str, source: &str, make: impl Fn() -> Box<P> + Send + Sync + 'static) -> Self {
        Custom { kind, name: name.to_string(), source_hash: blake3::hash(source.as_bytes()).to_hex().to_string(), make: Arc::new(make) }
    }

    /// BLAKE3 hash of the policy's source, hexadecimal.
    pub fn source_hash(&self) -> &str {
        &self.source_hash
    }

    /// Creates the policy for one place where it is used.
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

/// A user-defined policy in use.
pub struct AtWork<P: ?Sized> {
    kind: &'static str,
    name: String,
    policy: Box<P>,
    /// Failure of the policy, which is not called again: the run ends.
    failure: Option<Failure>,
}

impl<P: ?Sized> AtWork<P> {
    /// Calls the policy and returns its choice; `None` also after a failure, now or before.
    pub fn ask<T>(&mut self, question: impl FnOnce(&mut P) -> Result<Option<T>, Failure>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        question(&mut self.policy).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    /// Takes the failure of the policy, if it has failed.
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
