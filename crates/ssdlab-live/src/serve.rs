//! The loop of the server: waits for whichever comes first, a client or the simulated drive.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ssdlab::error::{Error, Result};
use ssdlab::simulation::{Control, Plan, Simulation};
use ssdlab::stats::{LateResult, PowerCutResult, RunResult};

use crate::connection::Connection;
use crate::contents::{Contents, Memory, Sparse};
use crate::drive::{Answer, Ask, Drive, PowerCut};
use crate::fuse::{self, Mount};
use crate::listener::{Address, Listener};
use crate::nbd::Greeting;
use crate::record::Record;

/// Maximum length of a request, bytes: what the specification lets clients expect.
const LONGEST: u32 = 32 << 20;
/// Maximum time between two checks for a stop request.
const LOOK: Duration = Duration::from_millis(50);
/// Time before an event for which the loop stays awake: the system would wake it too late.
const AHEAD: Duration = Duration::from_micros(60);
/// Time after a request or answer for which the loop stays awake: a program's next request often comes soon, and waking up takes as long.
const AWAKE: Duration = Duration::from_micros(60);
/// Maximum number of bytes read at once.
const AT_ONCE: usize = 256 * 1024;

/// Where a drive is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// By NBD at a socket.
    Socket(Address),
    /// As a file in this folder, which is the mount point.
    File(PathBuf),
}

/// How a drive is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the drive is served.
    pub place: Place,
    /// Serve also at addresses that other machines reach.
    pub remote: bool,
    /// Factor by which the drive is slower than real time.
    pub scale: f64,
    /// File for the bytes of the drive; `None`: in memory.
    pub data: Option<PathBuf>,
    /// File for a trace of the requests; `None`: no trace.
    pub record: Option<PathBuf>,
    /// When the power of the drive fails; `None`: only on request.
    pub power_cut: Option<PowerCut>,
}

/// State of a running server. Shared between threads.
#[derive(Debug, Default)]
pub struct Status {
    /// Address at which clients connect, or path of the file, once it can be used.
    pub uri: OnceLock<String>,
    /// Number of connected clients, or of open handles of the file.
    pub clients: AtomicU64,
    /// Number of requests answered.
    pub answered: AtomicU64,
    /// Number of requests answered late.
    pub late: AtomicU64,
    /// Maximum lateness of an answer, ns.
    pub late_max_ns: AtomicU64,
    /// Sum of the lateness of all answers, ns.
    pub late_total_ns: AtomicU64,
    /// Why the data or the state of the drive could not be saved at its end.
    pub unkept: OnceLock<String>,
    /// Set to make the power of the drive fail.
    pub cut_power: AtomicBool,
}

/// Serves a drive until `control` requests a stop, or its power fails. Then requests under way end, and the run's result is what a replay
/// of its record gives, with how late answers were. The number of requests in the plan is ignored.
///
/// If the bytes of the drive are in a file, the state of the drive at its end is saved beside it, and the next drive on these bytes begins
/// with that state.
///
/// # Errors
/// [`Error::Usage`] for an address or a file that cannot be used; [`Error::Io`]; what the simulation meets.
pub fn serve(plan: &Plan, options: &Options, control: &Control, status: &Status) -> Result<RunResult> {
    if !(options.scale.is_finite() && (1e-3..=1e6).contains(&options.scale)) {
        return Err(Error::Usage(format!("scale = {}: expected 0.001 to 1000000; 1 is real time, 10 ten times slower", options.scale)));
    }
    if plan.config.wear.is_on() {
        return Err(Error::Usage(
            "wear: a served drive has no answer for writes that a worn drive rejects; set wear.endurance, wear.program_fails_ppm and \
             wear.erase_fails_ppm to 0"
                .into(),
        ));
    }
    if plan.config.has_zones() {
        return Err(Error::Usage(
            "ftl.placement = \"zones\": block devices that are served take writes at any address, and zones do not; choose another placement".into(),
        ));
    }
    let exported = plan.config.exported_bytes()?;
    // Before files are made, and before the drive is prepared, which may take long: clients that connect meanwhile wait.
    if options.power_cut.is_some() {
        plan.config.survivors_of_a_power_failure_are_known()?;
    }
    let block = plan.config.map_unit_bytes().next_power_of_two().clamp(512, 1 << 16);
    let (listener, mount) = match &options.place {
        Place::Socket(address) => (Some(Listener::open(address, options.remote)?), None),
        Place::File(folder) => {
            let files: Vec<_> = [&options.data, &options.record].into_iter().flatten().map(PathBuf::as_path).collect();
            (None, Some(Mount::open(folder, exported, block, &files)?))
        }
    };
    let (contents, state) = open_data(plan, options.data.as_deref(), exported)?;
    let handles = plan.config.handles();
    let record = options.record.as_deref().map(|path| Record::create(path, handles > 0)).transpose()?;
    let simulation = begin(plan, state.as_deref(), control)?;
    if let (Some(state), Some(record)) = (state.as_deref().filter(|path| path.exists()), &options.record) {
        // A replay of the record begins with this state, which that of the drive's end replaces.
        let copy = with_ending(record, ".state");
        fs::copy(state, &copy).map_err(|source| Error::io("write", &copy, source))?;
    }
    let _ =
        status.uri.set(listener.as_ref().map(Listener::uri).or(mount.as_ref().map(|mount| mount.uri().to_string())).unwrap_or_default());
    control.phase.store(1, Ordering::Relaxed);
    // Sleeps end when they should, not up to 50 us later.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let drive = Drive::new(simulation, options.scale, contents, record, options.power_cut);
    let greeting = Greeting { bytes: exported, preferred: block, longest: LONGEST, handles };
    let mut server = Server { drive, listener, mount, connections: Vec::new(), clients: 0, greeting, status, active: Instant::now() };
    let power_cut = match server.run(plan, control) {
        Ok(power_cut) => power_cut,
        Err(reason) => {
            // The requests until the failure show where it came from.
            server.drive.keep_record()?;
            return Err(reason);
        }
    };
    let (result, late, kept) = server.drive.finish(state.as_deref())?;
    if let Err(reason) = kept {
        let _ = status.unkept.set(format!("{reason}; the next drive on these data begins as if this one had been killed"));
    }
    let response_ns = result.latency_ns.all.as_ref().map_or(0.0, |all| all.mean);
    let result_late = LateResult { scale: options.scale, count: late.count, mean: late.mean_ns(), max: late.max.as_nanos() as u64 };
    let remarks = result.remarks.iter().cloned().chain(result_late.remark(late.answered, response_ns)).collect();
    Ok(RunResult { late: Some(result_late), power_cut, remarks, ..result })
}

/// The bytes of the drive, and the path of its state beside them; `None` for bytes in memory and for an array.
fn open_data(plan: &Plan, data: Option<&Path>, exported: u64) -> Result<(Box<dyn Contents>, Option<PathBuf>)> {
    let Some(path) = data else { return Ok((Box::new(Memory::default()), None)) };
    let is_new = fs::metadata(path).map_or(true, |about| about.len() == 0);
    let contents = Box::new(Sparse::open(path, exported)?);
    if plan.config.array.drives() > 1 {
        return Ok((contents, None));
    }
    let state = with_ending(path, ".state");
    let (data, shown) = (path.display(), state.display());
    match (state.exists(), &plan.state) {
        (true, _) if is_new => Err(Error::Usage(format!("{shown}: the state of a drive whose data ({data}) are gone; remove it"))),
        (true, Some(_)) => Err(Error::Usage(format!("{data}: the drive of these data goes on as {shown} says; leave out the other state"))),
        _ => Ok((contents, Some(state))),
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from([path.as_os_str(), OsStr::new(ending)].join(OsStr::new("")))
}

/// Begins the simulation of a plan, with the saved state `state` if there is one.
fn begin(plan: &Plan, state: Option<&Path>, control: &Control) -> Result<Simulation> {
    match state.filter(|path| path.exists()) {
        None => Simulation::new(plan, control),
        Some(path) => Simulation::new(&Plan { state: Some(path.to_path_buf()), ..plan.clone() }, control).map_err(|reason| match reason {
            Error::Config(reason) => {
                Error::Config(format!(
                    "{reason}; the data beside it belong to that drive: serve the same drive, or remove it, and a new drive begins with the data"
                ))
            }
            other => other,
        }),
    }
}

struct Server<'a> {
    drive: Drive,
    /// Listening socket; `None` while the server ends, or if it serves a file.
    listener: Option<Listener>,
    /// The mounted file; `None` if the server serves by NBD.
    mount: Option<Mount>,
    connections: Vec<Connection>,
    /// Number of connections so far.
    clients: u64,
    greeting: Greeting,
    status: &'a Status,
    /// When the last request came, or the last answer went.
    active: Instant,
}

impl Server<'_> {
    /// Serves until the end. Returns what a power failure did, if one ended it.
    fn run(&mut self, plan: &Plan, control: &Control) -> Result<Option<PowerCutResult>> {
        let mut room = vec![0; AT_ONCE];
        let mut asks = Vec::new();
        loop {
            if self.is_to_be_cut() {
                plan.config.survivors_of_a_power_failure_are_known()?;
                return self.cut_power().map(Some);
            }
            if control.cancelled() || self.mount.as_ref().is_some_and(Mount::is_over) {
                break;
            }
            let answers = self.drive.answers()?;
            self.send(&answers);
            self.wait_and_read(&mut room, &mut asks)?;
            if !asks.is_empty() {
                self.active = Instant::now();
            }
            for ask in asks.drain(..) {
                if self.is_to_be_cut() {
                    break;
                }
                self.drive.take(ask)?;
            }
        }
        self.end()?;
        Ok(None)
    }

    fn is_to_be_cut(&self) -> bool {
        self.drive.is_to_be_cut() || self.status.cut_power.load(Ordering::Relaxed)
    }

    /// Makes the power fail: clients get no answers any more.
    fn cut_power(&mut self) -> Result<PowerCutResult> {
        self.listener = None;
        self.connections.clear();
        let done = self.drive.cut_power();
        self.mount = None; // last: the unmount waits while a program has the file open
        done
    }

    /// Accepts no more requests, and answers those under way as soon as they are simulated, not when they are due.
    fn end(&mut self) -> Result<()> {
        self.listener = None;
        let answers = self.drive.drain()?;
        self.send(&answers);
        // Before the result and the data are brought to the disk, which may take long.
        self.mount = None;
        Ok(())
    }

    /// Sends answers to the clients that are still there, and updates the status.
    fn send(&mut self, answers: &[Answer]) {
        if !answers.is_empty() {
            self.active = Instant::now();
        }
        for answer in answers {
            if let (fuse::CLIENT, Some(mount)) = (answer.asker.client, &mut self.mount) {
                mount.answer(answer);
            } else if let Some(connection) = self.connections.iter_mut().find(|one| one.client() == answer.asker.client) {
                connection.answer(answer);
            }
        }
        for connection in &mut self.connections {
            connection.write();
        }
        self.connections.retain(|connection| !connection.is_over());
        let late = self.drive.late();
        let clients = self.mount.as_ref().map_or(self.connections.len() as u64, Mount::clients);
        self.status.clients.store(clients, Ordering::Relaxed);
        self.status.answered.store(late.answered, Ordering::Relaxed);
        self.status.late.store(late.count, Ordering::Relaxed);
        self.status.late_max_ns.store(late.max.as_nanos() as u64, Ordering::Relaxed);
        self.status.late_total_ns.store(late.total.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Waits for clients until the drive has something to do, and reads what they send.
    fn wait_and_read(&mut self, room: &mut [u8], asks: &mut Vec<Ask>) -> Result<()> {
        let due = self.drive.idle_for().unwrap_or(LOOK);
        // The requests of a file come by another thread, which may need this one's processor.
        let is_awake = self.mount.is_none() && self.active.elapsed() < AWAKE;
        let wait = if is_awake { Duration::ZERO } else { due.saturating_sub(AHEAD).min(LOOK) };
        let fd = match (&self.listener, &self.mount) {
            (Some(listener), _) => listener.fd(),
            (None, Some(mount)) => mount.fd(),
            (None, None) => return Ok(()),
        };
        let listening = PollFd::from_borrowed_fd(fd, PollFlags::IN);
        // A connection that wants no events would end the wait at once if its client has gone.
        let (places, connected): (Vec<usize>, Vec<PollFd<'_>>) = (self.connections.iter().enumerate())
            .map(|(place, connection)| (place, connection, connection.wanted()))
            .filter(|(_, _, wanted)| !wanted.is_empty())
            .map(|(place, connection, wanted)| (place, PollFd::from_borrowed_fd(connection.fd(), wanted)))
            .unzip();
        let mut waited_for: Vec<PollFd<'_>> = std::iter::once(listening).chain(connected).collect();
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        match poll(&mut waited_for, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(reason) => return Err(Error::Simulation(format!("cannot wait for clients: {}", io::Error::from(reason)))),
        }
        let ready: Vec<bool> = waited_for.iter().map(|one| !one.revents().is_empty()).collect();
        for (&place, _) in places.iter().zip(&ready[1..]).filter(|(_, is_ready)| **is_ready) {
            let connection = &mut self.connections[place];
            if connection.wants_input() {
                connection.read(room, asks);
            }
            connection.write();
        }
        if ready[0] {
            self.accept();
            if let Some(mount) = &mut self.mount {
                mount.read(asks);
            }
        }
        Ok(())
    }

    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        // If the system has no room for another connection, the others go on.
        while let Ok(Some(stream)) = listener.accept() {
            self.connections.push(Connection::new(stream, self.clients, self.greeting));
            self.clients += 1;
        }
    }
}
