//! Writes ahead, for the oracle of `ftl.placement`: the workload is read a second time, ahead of the requests that the drive gets.

use std::path::Path;

use super::{Plan, Simulation};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::inputs;
use ssdlab_base::request::{Request, RequestKind};
use ssdlab_drive::ssd::Ssd;
use ssdlab_keys::config::{Config, Placement, Workload};
use ssdlab_trace::workload::{Flows, RequestSource};

/// The workload once more, read ahead.
pub(super) struct Foresight {
    source: Box<dyn RequestSource>,
    over: bool,
    /// Units of the writes that the drive was given.
    drawn: u64,
}

impl Simulation {
    /// Lets an oracle know the writes ahead, if there is one. `open`: opens the workload once more.
    ///
    /// # Errors
    /// [`Error::Config`] if the order of writes depends on completions; errors of `open`.
    pub(super) fn foretell(&mut self, open: impl FnOnce() -> Result<Flows>) -> Result<()> {
        if self.plan.config.ftl.placement != Placement::Oracle {
            return Ok(());
        }
        check_order(&self.plan)?;
        let mut flows = open()?;
        let source = flows.open.take().or_else(|| flows.closed.pop().map(|flow| flow.source));
        self.foresight = source.map(|source| Box::new(Foresight { source, over: false, drawn: 0 }));
        if let Some(mut placing) = self.storage.first_drive_mut().foretold() {
            placing.begin();
        }
        Ok(())
    }

    /// A request is given to the drive, whose oracle must know the writes ahead by then.
    #[cold]
    pub(super) fn look_ahead(&mut self, request: &Request) -> Result<()> {
        let Some(foresight) = &mut self.foresight else {
            return Err(not_known("requests are submitted one by one"));
        };
        foresight.follow(request, self.storage.first_drive_mut())
    }
}

impl Foresight {
    fn follow(&mut self, request: &Request, drive: &mut Ssd) -> Result<()> {
        if request.kind == RequestKind::Write {
            let geometry = drive.ftl().geometry();
            self.drawn += geometry.units_over(request.offset + request.length) - geometry.units_in(request.offset);
        }
        while !self.over && drive.foretold().is_some_and(|placing| placing.wants_more(self.drawn)) {
            match self.source.next_request()? {
                Some(request) => tell(&request, drive),
                None => self.over = true,
            }
        }
        Ok(())
    }
}

fn tell(request: &Request, drive: &mut Ssd) {
    let (geometry, end) = (drive.ftl().geometry(), request.offset + request.length);
    let (inside, over) = (geometry.units_in(end) as u32, geometry.units_over(end) as u32);
    let (first, first_whole) = (geometry.units_in(request.offset) as u32, geometry.units_over(request.offset) as u32);
    let Some(mut placing) = drive.foretold() else { return };
    match request.kind {
        RequestKind::Write => (first..over).for_each(|unit| placing.write(unit)),
        RequestKind::Trim => (first_whole..inside).for_each(|unit| placing.trim(unit)),
        _ => {}
    }
}

/// Checks that the order of writes does not depend on completions, and that the workload can be read twice.
fn check_order(plan: &Plan) -> Result<()> {
    let Config { workload, .. } = &plan.config;
    let flows = workload.separate_flows().map_err(Error::Config)?;
    let sends = |name: &str| workload.only.as_ref().is_none_or(|only| only == name);
    let sending: Vec<&Workload> = flows.iter().filter(|flow| sends(&flow.name)).map(|flow| &flow.workload).collect();
    if sending.len() > 1 && sending.iter().any(|flow| flow.queue_depth > 0) {
        return Err(not_known(
            "a flow in closed loop beside others sends when its requests complete (workload.queue_depth, workload.flows)",
        ));
    }
    for trace in sending.iter().filter_map(|flow| flow.trace.as_ref()) {
        if !inputs::is_repeatable(Path::new(trace)).map_err(|error| Error::io("read", Path::new(trace), error))? {
            return Err(not_known(&format!("{trace} can be read only once")));
        }
    }
    Ok(())
}

fn not_known(why: &str) -> Error {
    Error::Config(format!("ftl.placement = \"oracle\": the writes of the run must be known ahead, but {why}; choose another placement"))
}
