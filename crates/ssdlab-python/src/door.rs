//! The one way from Python to long work: it happens in worker threads without the GIL, while the calling thread stays awake for
//! Ctrl-C and progress. What the work wants of Python (a policy written there) is done by the calling thread as well: Ctrl-C reaches it
//! there, and of several runs at once only one is in Python at a time.

use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use ssdlab::error::Error;
use ssdlab::gc::victim::Failure as Reason;
use ssdlab::simulation::Control;

use crate::errors::{Failure, guarded};

/// How often the calling thread looks for signals and reports progress.
const POLL: Duration = Duration::from_millis(80);
/// How long work that was asked to stop may take to do so; then the caller no longer waits for it.
const GRACE: Duration = Duration::from_secs(5);
/// Worker threads get the stack that a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// Something to be done in Python for a worker thread. Returns what is no error but a wish to stop: Ctrl-C, `sys.exit()`.
type Errand = Box<dyn FnOnce(Python<'_>) -> Option<PyErr> + Send>;

/// What worker threads send to the thread that waits for them.
pub enum Message<M> {
    /// Something to be done there.
    Errand(Errand),
    /// Something to be known.
    Report(M),
}

thread_local! {
    /// In a worker thread: the way to the thread that waits for it.
    static CALLER: OnceCell<Box<dyn Fn(Errand)>> = const { OnceCell::new() };
}

/// Does a piece of work in Python, from wherever the simulation runs.
///
/// # Errors
/// Those of the work; that the run is to stop, if the calling thread does not do anything for it any more.
pub fn in_python<T: Send + 'static>(work: impl FnOnce(Python<'_>) -> Result<T, Reason> + Send + 'static) -> Result<T, Reason> {
    CALLER.with(|caller| {
        let Some(send) = caller.get() else { return Python::attach(work) };
        let (sender, receiver) = channel();
        send(Box::new(move |py| {
            let outcome = work(py);
            let raised = outcome.as_ref().err().and_then(|reason| reason.downcast_ref::<PyErr>());
            let stop = raised.filter(|raised| !raised.is_instance_of::<PyException>(py)).map(|raised| raised.clone_ref(py));
            // The worker waits for it.
            let _ = sender.send(outcome);
            stop
        }));
        // An errand that is dropped takes its sender with it.
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
            // If the receiver is gone, so is the errand.
            let _ = caller.set(Box::new(move |errand| drop(errands.send(Message::Errand(errand)))));
        });
        work(&sender);
    };
    let spawned = thread::Builder::new().name("ssdlab".into()).stack_size(STACK_BYTES).spawn(body);
    spawned.map(drop).map_err(|reason| Failure::Core(Error::Simulation(format!("cannot start a thread: {reason}"))))
}

/// Receives messages of worker threads until `on` breaks. `on` is called with each report, and with `None` every now and then;
/// its second argument says whether the work has been asked to stop. A signal, or an error of `on`, calls `cancel` and is
/// returned at the end; a second signal, or a long silence after the first, ends the wait at once. Errands are done as long as nothing
/// has been asked to stop.
pub fn attend<M: Send>(
    py: Python<'_>,
    inbox: &Mutex<Receiver<Message<M>>>,
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
            // Dropped: that ends the work which waits for it.
            Ok(Message::Errand(_)) if stopping => Ok(ControlFlow::Continue(())),
            Ok(Message::Errand(errand)) => match errand(py) {
                Some(stop) => Err(stop),
                // Many errands leave no time for a timeout.
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
            (None, Some((_, since))) if since.elapsed() > GRACE => break,
            _ => {}
        }
    }
    interrupt.map(|(error, _)| error)
}

/// Does one piece of work; Ctrl-C asks through `control.caller` for an end, and is raised.
pub fn call<T: Send + 'static>(
    py: Python<'_>,
    control: Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> ssdlab::error::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let worker_control = Arc::clone(&control);
    spawn(sender, move |sender| {
        // The receiver is gone only if the caller no longer waits.
        let _ = sender.send(Message::Report(guarded(|| work(&worker_control))));
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
    control.caller.ask();
}

/// What is known of a run's progress: phase, completed, expected (requests; while preparing, pages), share of the input in millionths.
pub type Snapshot = (i64, u64, u64, u64);

/// The phase of a run that has not begun; the others are [`Control::phase`]'s.
pub const WAITING: i64 = -1;

/// A look at a run's progress.
pub fn snapshot(control: &Control) -> Snapshot {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    (read(&control.phase).cast_signed(), read(&control.completed), read(&control.expected), control.caller.millionths())
}
