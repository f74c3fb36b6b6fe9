//! The drive that a run begins with: prepared, or loaded from a saved state; and saving one.

use std::path::Path;
use std::sync::atomic::Ordering;

use super::plan::{Control, Plan, Verify};
use super::{settle, state_cache};
use ssdlab_base::caller::Caller;
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::{Cancellable, WholeFile};
use ssdlab_base::inputs;
use ssdlab_drive::ftl::{Columns, Ftl};
use ssdlab_drive::precondition;
use ssdlab_drive::precondition::Own;
use ssdlab_drive::storage::drive_seed;
use ssdlab_keys::config::{Config, PreconditionKind};
use ssdlab_keys::geometry::Geometry;
use ssdlab_keys::memory;
use ssdlab_result::stats::PreconditionReport;
use ssdlab_trace::workload;

/// Prepares a drive and saves its state to a file.
///
/// # Errors
/// Errors of preconditioning or of writing the file; [`Error::Interrupted`].
pub fn precondition(plan: &Plan, out: &Path, control: &Control) -> Result<PreconditionReport> {
    only_of_one_drive(&plan.config)?;
    Plan { save_state: Some(out.into()), ..plan.clone() }.check()?;
    let prepared = state_cache::prepared(plan, control, true)?;
    save_state(&plan.config, &prepared.ftls[0], out, &control.caller)?;
    control.phase.store(2, Ordering::Relaxed);
    Ok(prepared.report)
}

pub(super) fn only_of_one_drive(config: &Config) -> Result<()> {
    if config.array.drives() > 1 {
        let message = "a saved state is that of one drive, and an array has several; set array.level = \"none\"";
        return Err(Error::Usage(message.into()));
    }
    Ok(())
}

/// Refuses to save a drive that a run has written, where zones have states and a log of the host its places.
pub(super) fn not_of_zones(config: &Config) -> Result<()> {
    if config.has_zones() {
        let message = "the state of a drive does not keep write pointers of zones; save that of a prepared drive (`ssdlab precondition`)";
        return Err(Error::Usage(message.into()));
    }
    Ok(())
}

pub(super) fn save_state(config: &Config, ftl: &Ftl, out: &Path, caller: &Caller) -> Result<()> {
    if ftl.has_failed_blocks() {
        return Err(Error::Usage(format!(
            "{}: blocks of the drive have failed (wear), which a saved state does not keep; save the state of a run without wear",
            out.display()
        )));
    }
    let mut file = WholeFile::create(out)?;
    let saved = ftl.save(config, Cancellable { file: &mut file, caller });
    caller.check()?;
    saved.map_err(|error| Error::io("write", out, error))?;
    file.commit()
}

pub(super) fn prepare(plan: &Plan, control: &Control) -> Result<(Vec<Ftl>, PreconditionReport)> {
    memory::check(&plan.config, plan.verify != Verify::Off, Columns::BYTES)?;
    if let Some(path) = &plan.state {
        if plan.config.array.drives() > 1 {
            return Err(Error::Usage(format!(
                "{}: a saved state is that of one drive, and an array has several; leave it out",
                path.display()
            )));
        }
        let ftl = load_state(&plan.config, path)?;
        let report = precondition::report(&ftl, "state".to_string());
        return Ok((vec![ftl], report));
    }
    let wanted = &plan.config.ftl.precondition;
    let ranges = match &wanted.prefill {
        Some(path) if !matches!(wanted.kind, PreconditionKind::None | PreconditionKind::Fill) => {
            let exported = Geometry::new(&plan.config).exported_bytes();
            Some(workload::read_prefill(Path::new(path), exported)?)
        }
        _ => None,
    };
    let twice = plan.verify != Verify::Off;
    let victim = plan.victim.as_ref().map(|victim| victim.checked(twice));
    let placement = plan.placement.as_ref().map(|placement| placement.checked(twice));
    let prepared: Vec<_> = (0..plan.config.array.drives())
        .map(|drive| {
            let seed = drive_seed(plan.seed, drive);
            let watch = |written, expected| {
                control.completed.store(written, Ordering::Relaxed);
                control.expected.store(expected, Ordering::Relaxed);
                control.caller.check()
            };
            let of_drive = if plan.config.array.replaces(drive) { &without_data(&plan.config) } else { &plan.config };
            precondition::prepare(of_drive, ranges.as_deref(), Own { victim: victim.as_ref(), placement: placement.as_ref() }, seed, &watch)
        })
        .collect::<Result<_>>()?;
    let (ftls, reports): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    settle::replay(plan, (ftls, PreconditionReport::of_all(&reports)), control)
}

/// The configuration by which a new drive of an array is prepared: it holds no data.
fn without_data(config: &Config) -> Config {
    let mut config = config.clone();
    config.ftl.precondition.kind = PreconditionKind::None;
    config
}

pub(super) fn load_state(config: &Config, path: &Path) -> Result<Ftl> {
    let unreadable = |error| Error::io("read", path, error);
    let file = inputs::open(path).map_err(unreadable)?;
    // A folder can be opened; only reading it would fail, and pass for a damaged state.
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
    }
    Ftl::load(config, file)
        .map_err(|reason| Error::Config(format!("{}: {reason}; `ssdlab precondition` saves one for this configuration", path.display())))
}
