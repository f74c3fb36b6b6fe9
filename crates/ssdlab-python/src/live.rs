//! A drive that is served to programs.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use ssdlab::error::Error;
use ssdlab::simulation::Control;
use ssdlab_live::{Address, Options, Place, PowerCut, Status};

use crate::errors::{Failure, guarded, json};
use crate::runs::PyPlan;
use crate::workers::{self, Message, attend};

/// Maximum time for the end of a drive: what clients wrote has to reach the disk.
const PATIENCE: Duration = Duration::from_secs(600);

/// Progress of a drive: address or file (`None`: not yet), pages prepared, pages to be prepared, clients, requests answered, late ones, and
/// sum and maximum of the lateness, ns.
type DriveState = (Option<String>, u64, u64, u64, u64, u64, u64, u64);

/// Serves a drive until Ctrl-C or a power failure. Returns the result as JSON text, and the reason if its data could not be kept.
/// `power_cut`: time of the power failure, ns, or number of requests before it. `progress` is called regularly with the progress; the power
/// fails if it returns a true value.
#[pyfunction]
#[pyo3(signature = (plan, *, unix=None, tcp=None, file=None, remote=false, scale=1.0, data=None, record=None, power_cut=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn serve(
    py: Python<'_>,
    plan: &PyPlan,
    unix: Option<PathBuf>,
    tcp: Option<String>,
    file: Option<PathBuf>,
    remote: bool,
    scale: f64,
    data: Option<PathBuf>,
    record: Option<PathBuf>,
    power_cut: Option<(u64, String)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let place = match (unix, tcp, file) {
        (Some(path), None, None) => Place::Socket(Address::Unix(path)),
        (None, Some(address), None) => Place::Socket(Address::Tcp(address)),
        (None, None, Some(folder)) => Place::File(folder),
        _ => return Err(Failure::Core(Error::Usage("serve needs one place: a Unix socket, a host and a port, or a folder".into())).into()),
    };
    let power_cut = power_cut.map(|(length, unit)| if unit == "ns" { PowerCut::Time(length) } else { PowerCut::Requests(length) });
    let options = Options { place, remote, scale, data, record, power_cut };
    let (plan, control, status) = (plan.0.clone(), Arc::new(Control::default()), Arc::new(Status::default()));
    let (sender, receiver) = channel();
    let (theirs, shown) = (Arc::clone(&control), Arc::clone(&status));
    workers::spawn(sender, move |sender| {
        let outcome = guarded(|| json(&ssdlab_live::serve(&plan, &options, &theirs, &shown)?));
        // Without a receiver, the caller no longer waits.
        let _ = sender.send(Message::Report(outcome));
    })?;
    let mut outcome = None;
    let interrupt = attend(
        py,
        &Mutex::new(receiver),
        PATIENCE,
        || workers::cancel(&control),
        |message, stopping| {
            if message.is_some() {
                outcome = message;
                return Ok(ControlFlow::Break(()));
            }
            if let (Some(progress), false) = (&progress, stopping) {
                let cut_power = progress.call1((state(&control, &status),))?;
                status.cut_power.store(cut_power.is_truthy()?, Ordering::Relaxed);
            }
            Ok(ControlFlow::Continue(()))
        },
    );
    if let (Some(progress), Some(_)) = (&progress, &outcome) {
        progress.call1((state(&control, &status),))?; // the final state
    }
    match (outcome, interrupt) {
        // Ctrl-C is the regular end of a served drive.
        (Some(outcome), _) => Ok((outcome?, status.unkept.get().cloned())),
        (None, Some(error)) => Err(error),
        (None, None) => Err(Failure::Panic("a worker thread vanished".into()).into()),
    }
}

fn state(control: &Control, status: &Status) -> DriveState {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    (
        status.uri.get().cloned(),
        read(&control.completed),
        read(&control.expected),
        read(&status.clients),
        read(&status.answered),
        read(&status.late),
        read(&status.late_total_ns),
        read(&status.late_max_ns),
    )
}
