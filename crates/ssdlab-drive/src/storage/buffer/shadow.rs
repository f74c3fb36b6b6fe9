//! Verify mode of a write buffer: versions of units. Each write of the host is a version of the units that it touches.

/// Versions by unit: the last that arrived at the drive, came into the buffer, and was sent to the flash. 0: no data.
pub(super) struct Shadow {
    arrived: Vec<u32>,
    entered: Vec<u32>,
    sent: Vec<u32>,
    last: u32,
    defect: Option<String>,
}

impl Shadow {
    pub(super) fn new(units: u32) -> Self {
        let none = vec![0; units as usize];
        Shadow { arrived: none.clone(), entered: none.clone(), sent: none, last: 0, defect: None }
    }

    /// A write of `units` arrives. Returns its version.
    pub(super) fn write_arrives(&mut self, units: std::ops::Range<u32>) -> u32 {
        self.last += 1;
        self.arrived[units.start as usize..units.end as usize].fill(self.last);
        self.last
    }

    /// A trim of `units` arrives.
    pub(super) fn trim_arrives(&mut self, units: std::ops::Range<u32>) {
        self.arrived[units.start as usize..units.end as usize].fill(0);
    }

    /// A write or trim of `units` is rejected: what has come in remains the newest.
    pub(super) fn rejected(&mut self, units: std::ops::Range<u32>) {
        let range = units.start as usize..units.end as usize;
        self.arrived[range.clone()].copy_from_slice(&self.entered[range]);
    }

    /// Notes the version of a unit that a write brings into the buffer.
    pub(super) fn enters(&mut self, unit: u32, version: u32) {
        self.entered[unit as usize] = version;
    }

    /// Units are trimmed, in the buffer and below.
    pub(super) fn trimmed(&mut self, units: std::ops::Range<u32>) {
        let range = units.start as usize..units.end as usize;
        self.entered[range.clone()].fill(0);
        self.sent[range].fill(0);
    }

    /// A unit is sent to the flash.
    pub(super) fn sends(&mut self, unit: u32, version: u32) {
        self.sent[unit as usize] = version;
    }

    /// Checks a read: it must find the last version that came before it. `found`: the version in the buffer; `None`: it is not there.
    pub(super) fn reads(&mut self, unit: u32, found: Option<u32>, passes: bool) {
        let version = found.unwrap_or(self.sent[unit as usize]);
        let expected = if passes { self.arrived[unit as usize] } else { self.entered[unit as usize] };
        if version != expected {
            self.note(format!("a read of unit {unit} gets version {version}, but version {expected} was written last"));
        }
    }

    /// Checks that the version of a unit, in the buffer (`found`) or in flash, is the last that came in.
    pub(super) fn check(&self, unit: u32, found: Option<u32>) -> Result<(), String> {
        let (version, expected) = (found.unwrap_or(self.sent[unit as usize]), self.entered[unit as usize]);
        let sentence = || format!("unit {unit} has version {version} in the end, but version {expected} was written last");
        if version == expected { Ok(()) } else { Err(sentence()) }
    }

    pub(super) fn note(&mut self, sentence: String) {
        self.defect.get_or_insert(sentence);
    }

    /// The first contradiction found during the run.
    pub(super) fn defect(&self) -> Result<(), String> {
        self.defect.clone().map_or(Ok(()), Err)
    }
}
