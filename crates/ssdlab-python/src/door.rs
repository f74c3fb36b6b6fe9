//! The one way from Python to long work: it happens in worker threads without the GIL, while the calling thread stays awake for
//! Ctrl-C and progress.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use ssdlab::error::Error;
use ssdlab::simulation::Control;

use crate::errors::{Failure, guarded};

/// How often the calling thread looks for signals and reports progress.
const POLL: Duration = Duration::from_millis(80);
/// How long work that was asked to stop may take to do so; then the caller no longer waits for it.
const GRACE: Duration = Duration::from_secs(5);
/// Worker threads get the stack that a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// Starts a worker thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let spawned = thread::Builder::new().name("ssdlab".into()).stack_size(STACK_BYTES).spawn(work);
    spawned.map(drop).map_err(|reason| Failure::Core(Error::Simulation(format!("cannot start a thread: {reason}"))))
}

/// Receives messages of worker threads until `on` breaks. `on` is called with each message, and with `None` every now and then;
/// its second argument says whether the work has been asked to stop. A signal, or an error of `on`, calls `cancel` and is
/// returned at the end; a second signal, or a long silence after the first, ends the wait at once.
pub fn attend<M: Send>(
    py: Python<'_>,
    inbox: &Mutex<Receiver<M>>,
    cancel: impl Fn(),
    mut on: impl FnMut(Option<M>, bool) -> PyResult<ControlFlow<()>>,
) -> Option<PyErr> {
    let mut interrupt: Option<(PyErr, Instant)> = None;
    loop {
        let message = py.detach(|| inbox.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL));
        let step = match message {
            Ok(message) => on(Some(message), interrupt.is_some()),
            Err(RecvTimeoutError::Timeout) => on(None, interrupt.is_some()),
            Err(RecvTimeoutError::Disconnected) => Ok(ControlFlow::Break(())),
        };
        let reason = match step {
            Ok(ControlFlow::Break(())) => break,
            Ok(ControlFlow::Continue(())) => py.check_signals().err(),
            Err(error) => Some(error),
        };
        match (reason, &interrupt) {
            (Some(error), None) => {
                cancel();
                interrupt = Some((error, Instant::now()));
            }
            (Some(_), Some(_)) => break,
            (None, Some((_, since))) if since.elapsed() > GRACE => break,
            _ => {}
        }
    }
    interrupt.map(|(error, _)| error)
}

/// Does one piece of work; Ctrl-C sets `control.cancel` and is raised.
pub fn call<T: Send + 'static>(
    py: Python<'_>,
    control: Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> ssdlab::error::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let worker_control = Arc::clone(&control);
    spawn(move || {
        // The receiver is gone only if the caller no longer waits.
        let _ = sender.send(guarded(|| work(&worker_control)));
    })?;
    let mut outcome = None;
    let interrupt = attend(
        py,
        &Mutex::new(receiver),
        || cancel(&control),
        |message, stopping| {
            if message.is_some() {
                outcome = message;
                return Ok(ControlFlow::Break(()));
            }
            if let (Some(progress), false) = (progress, stopping) {
                progress.call1((vec![snapshot(&control)],))?;
            }
            Ok(ControlFlow::Continue(()))
        },
    );
    match (interrupt, outcome) {
        (Some(error), _) => Err(error),
        (None, Some(outcome)) => Ok(outcome?),
        (None, None) => Err(Failure::Panic("a worker thread vanished".into()).into()),
    }
}

/// Asks the work to stop.
pub fn cancel(control: &Control) {
    control.cancel.ask();
}

/// What is known of a run's progress: phase, requests completed, requests expected, share of the input in millionths.
pub type Snapshot = (i64, u64, u64, u64);

/// The phase of a run that has not begun; the others are [`Control::phase`]'s.
pub const WAITING: i64 = -1;

/// A look at a run's progress.
pub fn snapshot(control: &Control) -> Snapshot {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    (read(&control.phase).cast_signed(), read(&control.completed), read(&control.expected), read(&control.input_millionths))
}
