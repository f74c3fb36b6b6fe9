//! A folder with the states of drives that took long to prepare, so that a later run with the same configuration and seed need not prepare its
//! drives again. It is the run that it would be without the folder: what is kept is everything that the preparation leaves.
//!
//! Whatever is wrong with the folder or a file of it, the drives are prepared as without one.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::plan::{Control, Plan, Verify};
use super::prepare::prepare;
use super::settle::{Prepared, settle};
use super::wall_clock;
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::{Cancellable, WholeFile};
use ssdlab_drive::ftl::{Columns, Ftl, Key, keep, take_kept};
use ssdlab_keys::config::{Config, PreconditionKind};
use ssdlab_keys::memory;
use ssdlab_result::stats::PreconditionReport;

/// The layout of the files. Another one makes all that are there those of another program.
const FORMAT: &str = "ssdlab-kept 1";
/// End of the names of the files.
const ENDING: &str = ".kept";

/// A folder for the states of prepared drives, and what is kept there.
#[derive(Clone, Debug)]
pub struct StateCache {
    /// The folder, which is made when a state is stored.
    pub folder: PathBuf,
    /// What identifies the code of this program: a state that other code has prepared is never taken.
    pub code: String,
    /// Drives that were prepared in less time than this are not stored.
    pub least: Duration,
    /// The most bytes of all files. Those that have not been used for the longest time are removed.
    pub most_bytes: u64,
}

impl StateCache {
    /// A folder of up to 2 GiB with drives that took a second or more. `code` must differ for programs whose crates differ in anything.
    pub fn new(folder: PathBuf, code: String) -> Self {
        StateCache { folder, code, least: Duration::from_secs(1), most_bytes: 2 << 30 }
    }
}

/// The drives that a plan begins with.
pub(super) struct PreparedDrives {
    pub ftls: Vec<Ftl>,
    pub report: PreconditionReport,
    /// They were taken from the folder.
    pub earlier: bool,
}

/// Takes the drives that a plan begins with from its folder of states, or else prepares them. `settles`: with the timed end of the preparation
/// (`ftl.precondition.settle`).
///
/// # Errors
/// Errors of the preparation; [`ssdlab_base::error::Error::Interrupted`].
pub(super) fn prepared(plan: &Plan, control: &Control, settles: bool) -> Result<PreparedDrives> {
    let entry = Entry::of(plan, settles);
    let found = entry.as_ref().and_then(|entry| entry.take(&plan.config, &control.caller));
    control.caller.check()?;
    if let Some((ftls, report)) = found {
        return Ok(PreparedDrives { ftls, report, earlier: true });
    }
    let began = wall_clock();
    let untimed = prepare(plan, control)?;
    let (ftls, report) = if settles { settle(plan, untimed, control)? } else { untimed };
    if let Some(entry) = entry.filter(|entry| began.elapsed() >= entry.cache.least) {
        // Without room or rights for the file, the next run prepares its drives as this one did.
        let _ = entry.store(&ftls, &report, &control.caller);
        control.caller.check()?;
    }
    Ok(PreparedDrives { ftls, report, earlier: false })
}

/// Nothing but the configuration and the seed determines how the drives are prepared: no file, and no policy of the user's own. Verify mode
/// prepares them itself, as that is part of what it checks.
fn depends_on_key_alone(plan: &Plan) -> bool {
    let wanted = &plan.config.ftl.precondition;
    let reads_files = plan.state.is_some() || wanted.prefill.is_some() || wanted.kind == PreconditionKind::Trace;
    !reads_files && !plan.asks_policies() && plan.verify == Verify::Off
}

/// The file of one configuration and seed.
struct Entry<'a> {
    cache: &'a StateCache,
    key: Key,
    path: PathBuf,
}

impl<'a> Entry<'a> {
    /// `None` without a folder, or if more than the key determines how the drives are prepared.
    fn of(plan: &'a Plan, settles: bool) -> Option<Self> {
        let cache = plan.state_cache.as_ref().filter(|_| depends_on_key_alone(plan))?;
        let what = serde_json::json!([FORMAT, cache.code, settles, plan.seed, plan.config.to_value()]);
        let hash = blake3::hash(what.to_string().as_bytes());
        Some(Entry { cache, key: *hash.as_bytes(), path: cache.folder.join(format!("{}{ENDING}", hash.to_hex())) })
    }

    /// Reads the drives. `None` without the file, if it is not what was written under this key, or once a stop is requested.
    fn take(&self, config: &Config, caller: &Caller) -> Option<Prepared> {
        // A pipe could be waited for.
        fs::metadata(&self.path).ok().filter(fs::Metadata::is_file)?;
        memory::check(config, false, Columns::BYTES).ok()?;
        let file = File::open(&self.path).ok()?;
        let (ftls, report) = take_kept(config, &self.key, Interruptible { file: &file, caller }).ok()?;
        let report = serde_json::from_slice(&report).ok()?;
        // Where the time cannot be set, the file counts as used when it was stored.
        let _ = file.set_modified(time_of_use());
        Some((ftls, report))
    }

    /// Writes the drives, and removes other files as far as there is no room for this one.
    fn store(&self, ftls: &[Ftl], report: &PreconditionReport, caller: &Caller) -> Result<()> {
        let failed = |error| Error::io("write", &self.path, error);
        fs::create_dir_all(&self.cache.folder).map_err(failed)?;
        let mut file = WholeFile::create(&self.path)?;
        let writer = Limited { inner: Cancellable { file: &mut file, caller }, left: self.cache.most_bytes };
        let report = serde_json::to_vec(report).map_err(|error| failed(error.into()))?;
        keep(ftls, &report, &self.key, writer).map_err(failed)?;
        file.commit()?;
        remove_oldest(self.cache, &self.path).map_err(failed)
    }
}

#[expect(clippy::disallowed_methods, reason = "it tells which file has been used last, and no result depends on it")]
fn time_of_use() -> SystemTime {
    SystemTime::now()
}

/// Removes the files that have not been used for the longest time until all together have no more than `most_bytes`; never `newest`. What writers
/// that were killed have left counts as files.
fn remove_oldest(cache: &StateCache, newest: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(&cache.folder)?.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.contains(ENDING));
        // Another process may have removed it.
        if let Some(about) = entry.metadata().ok().filter(|about| ours && about.is_file()) {
            files.push((entry.path() == newest, about.modified()?, about.len(), entry.path()));
        }
    }
    files.sort();
    let mut total: u64 = files.iter().map(|(_, _, bytes, _)| bytes).sum();
    for (_, _, bytes, path) in files.into_iter().filter(|(is_newest, ..)| !is_newest) {
        if total > cache.most_bytes {
            // What cannot be removed, or was by another process, makes no difference here.
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }
    Ok(())
}

/// Reads a file until a stop is requested, then fails: a large file takes a while to read.
struct Interruptible<'a> {
    file: &'a File,
    caller: &'a Caller,
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.caller.check().map_err(std::io::Error::other)?;
        self.file.read(buffer)
    }
}

/// Writes up to a number of bytes, then fails.
struct Limited<W> {
    inner: W,
    left: u64,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(std::io::ErrorKind::FileTooLarge)?;
        self.inner.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
