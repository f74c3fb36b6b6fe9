//! User-defined policies of any kind, as part of a plan, and their failures.

use std::error::Error as AnyError;
use std::fmt;
use std::sync::Arc;

use ssdlab_base::error::Error;

/// An error of a user-defined policy. It ends the run.
pub type Failure = Box<dyn AnyError + Send + Sync>;

/// A user-defined policy as part of a plan: its name, its source, and how to make one.
pub struct Custom<P: ?Sized> {
    kind: &'static str,
    name: String,
    source_hash: String,
    make: Arc<dyn Fn() -> Box<P> + Send + Sync>,
    /// A second instance answers every call, too.
    twice: bool,
}

impl<P: ?Sized> Custom<P> {
    /// A user-defined policy that `make` creates, once for each place where it is used. `kind` and `name`: for messages. `source`:
    /// identifies the policy (its source text, or a name with a version); results have its hash.
    pub fn boxed(kind: &'static str, name: &str, source: &str, make: impl Fn() -> Box<P> + Send + Sync + 'static) -> Self {
        let source_hash = blake3::hash(source.as_bytes()).to_hex().to_string();
        Custom { kind, name: name.to_string(), source_hash, make: Arc::new(make), twice: false }
    }

    /// The policy with a check, if `on`, that it is deterministic: a second instance answers every call, too, and must answer the same.
    #[must_use]
    pub fn checked(&self, on: bool) -> Self {
        Custom { twice: on, ..self.clone() }
    }

    /// BLAKE3 hash of the policy's source, hexadecimal.
    pub fn source_hash(&self) -> &str {
        &self.source_hash
    }

    /// Creates the policy for one place where it is used.
    pub fn make(&self) -> AtWork<P> {
        let twin = self.twice.then(|| (self.make)());
        AtWork { kind: self.kind, name: self.name.clone(), policy: (self.make)(), twin, calls: 0, failure: None }
    }
}

impl<P: ?Sized> Clone for Custom<P> {
    fn clone(&self) -> Self {
        let (name, source_hash) = (self.name.clone(), self.source_hash.clone());
        Custom { kind: self.kind, name, source_hash, make: Arc::clone(&self.make), twice: self.twice }
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
    /// A second instance, which must answer as the first one does ([`Custom::checked`]).
    twin: Option<Box<P>>,
    calls: u64,
    /// Failure of the policy, which is not called again: the run ends.
    failure: Option<Failure>,
}

impl<P: ?Sized> AtWork<P> {
    /// Calls the policy and returns its choice; `None` also after a failure, now or before.
    pub fn ask<T: PartialEq + fmt::Display>(&mut self, question: impl Fn(&mut P) -> Result<Option<T>, Failure>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        self.calls += 1;
        let answer = question(&mut self.policy).and_then(|answer| match &mut self.twin {
            None => Ok(answer),
            Some(twin) => same(answer, question(twin)?, self.calls),
        });
        answer.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    /// The policy has failed, unless it has before: it is not called again.
    pub fn fail(&mut self, reason: impl Into<Failure>) {
        self.failure.get_or_insert(reason.into());
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

/// The answer of two instances of a policy to the same call.
fn same<T: PartialEq + fmt::Display>(one: Option<T>, other: Option<T>, call: u64) -> Result<Option<T>, Failure> {
    if one == other {
        return Ok(one);
    }
    let shown = |answer: &Option<T>| answer.as_ref().map_or("nothing".to_string(), |answer| answer.to_string());
    let (one, other) = (shown(&one), shown(&other));
    Err(format!("is not deterministic: two instances, called with the same arguments, chose {one} and {other} in call {call}").into())
}
