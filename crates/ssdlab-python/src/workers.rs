//! Worker threads without the GIL: all long tasks run in them. Meanwhile the calling thread handles Ctrl-C and reports progress. It also
//! runs the Python code that a task needs (a policy written in Python): there Ctrl-C can interrupt it, and only one run executes Python at
//! a time.

use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ssdlab::error::Error;
use ssdlab::gc::victim::Failure as Reason;
use ssdlab::simulation::Control;

use crate::errors::{Failure, guarded, raised};

/// Interval at which the calling thread checks for signals and reports progress.
const POLL: Duration = Duration::from_millis(80);
/// Maximum time that the caller waits for a task to stop after it has requested that.
pub const GRACE: Duration = Duration::from_secs(5);
/// Stack of a worker thread: as large as that of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// Python code that the calling thread runs for a worker thread. It returns an exception that requests a stop: Ctrl-C, `sys.exit()`.
type Errand = Box<dyn FnOnce(Python<'_>) -> Option<PyErr> + Send>;

/// A message from a worker thread to the calling thread.
pub enum Message<M> {
    /// Python code to run.
    Errand(Errand),
    /// A report.
    Report(M),
}

thread_local! {
    /// In a worker thread: sends an errand to the calling thread.
    static CALLER: OnceCell<Box<dyn Fn(Errand)>> = const { OnceCell::new() };
}

/// Runs `work` in Python: in a worker thread by way of the calling thread, elsewhere directly.
///
/// # Errors
/// The errors of `work`; a request to stop if the calling thread accepts no errands any more.
pub fn in_python<T: Send + 'static>(work: impl FnOnce(Python<'_>) -> Result<T, Reason> + Send + 'static) -> Result<T, Reason> {
    CALLER.with(|caller| {
        let Some(send) = caller.get() else { return Python::attach(work) };
        let (sender, receiver) = channel();
        send(Box::new(move |py| {
            let outcome = work(py);
            let raised = outcome.as_ref().err().and_then(|reason| raised(reason.as_ref()));
            let stop = raised.filter(|raised| raised.is_instance_of::<PyKeyboardInterrupt>(py)).map(|raised| raised.clone_ref(py));
            // The worker waits for the outcome.
            let _ = sender.send(outcome);
            stop
        }));
        // A dropped errand drops its sender, and the receiver gets an error.
        receiver.recv().unwrap_or_else(|_| Err("the run is to stop".into()))
    })
}

/// Starts a worker thread, whose messages go to `sender`.
pub fn spawn<M: Send + 'static>(
    sender: Sender<Message<M>>,
    work: impl FnOnce(&Sender<Message<M>>) + Send + 'static,
) -> Result<(), Failure> {
    let body = move || {
        let errands = sender.clone();
        CALLER.with(|caller| {
            // Without a receiver the errand is dropped.
            let _ = caller.set(Box::new(move |errand| drop(errands.send(Message::Errand(errand)))));
        });
        work(&sender);
    };
    let spawned = thread::Builder::new().name("ssdlab".into()).stack_size(STACK_BYTES).spawn(body);
    spawned.map(drop).map_err(|reason| Failure::Core(Error::Simulation(format!("cannot start a thread: {reason}"))))
}

/// Receives messages of worker threads until `on` breaks. It calls `on` with each report, and with `None` at least every [`POLL`]; the
/// second argument is true once a stop was requested. A signal, or an error of `on`, calls `cancel` and is returned at the end. A second
/// signal, or `grace` without an end after the first, ends the wait at once. Errands run until a stop is requested.
pub fn attend<M: Send>(
    py: Python<'_>,
    inbox: &Mutex<Receiver<Message<M>>>,
    grace: Duration,
    cancel: impl Fn(),
    mut on: impl FnMut(Option<M>, bool) -> PyResult<ControlFlow<()>>,
) -> Option<PyErr> {
    let mut interrupt: Option<(PyErr, Instant)> = None;
    let mut shown = Instant::now();
    loop {
        let message = py.detach(|| inbox.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL));
        let stopping = interrupt.is_some();
        let step = match message {
            Ok(Message::Report(report)) => on(Some(report), stopping),
            // Dropped: that ends the task which waits for it.
            Ok(Message::Errand(_)) if stopping => Ok(ControlFlow::Continue(())),
            Ok(Message::Errand(errand)) => match errand(py) {
                Some(stop) => Err(stop),
                // With many errands the receiver never times out.
                None if shown.elapsed() > POLL => {
                    shown = Instant::now();
                    on(None, stopping)
                }
                None => Ok(ControlFlow::Continue(())),
            },
            Err(RecvTimeoutError::Timeout) => on(None, stopping),
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
            (None, Some((_, since))) if since.elapsed() > grace => break,
            _ => {}
        }
    }
    interrupt.map(|(error, _)| error)
}

/// Runs one task in a worker thread. Ctrl-C requests a stop through `control.caller`, and is raised.
pub fn call<T: Send + 'static>(
    py: Python<'_>,
    control: Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> ssdlab::error::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let worker_control = Arc::clone(&control);
    spawn(sender, move |sender| {
        // Without a receiver, the caller no longer waits.
        let _ = sender.send(Message::Report(guarded(|| work(&worker_control))));
    })?;
    let mut outcome = None;
    let interrupt = attend(
        py,
        &Mutex::new(receiver),
        GRACE,
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

/// Requests the task to stop.
pub fn cancel(control: &Control) {
    control.caller.request_stop();
}

/// Progress of a run: phase, completed, expected (requests; while preparing, pages), share of the input in millionths.
pub type Snapshot = (i64, u64, u64, u64);

/// The phase of a run that has not begun; [`Control::phase`] has the others.
pub const WAITING: i64 = -1;

/// The present progress of a run.
pub fn snapshot(control: &Control) -> Snapshot {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    (read(&control.phase).cast_signed(), read(&control.completed), read(&control.expected), control.caller.millionths())
}
