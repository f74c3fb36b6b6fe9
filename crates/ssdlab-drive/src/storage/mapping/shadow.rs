//! Verify mode: versions of translation pages. Each change of an entry makes a new version of its page.

/// By translation page: the latest version, and the version that flash has or will have once an outstanding program ends.
#[derive(Debug)]
pub(super) struct Shadow {
    latest: Vec<u32>,
    flash: Vec<u32>,
    defect: Option<String>,
}

impl Shadow {
    pub(super) fn new(pages: u32) -> Self {
        Shadow { latest: vec![0; pages as usize], flash: vec![0; pages as usize], defect: None }
    }

    /// Records a contradiction; only the first is kept.
    pub(super) fn note(&mut self, sentence: String) {
        self.defect.get_or_insert(sentence);
    }

    pub(super) fn defect(&self) -> Result<(), String> {
        self.defect.clone().map_or(Ok(()), Err)
    }

    /// An entry of a translation page changes.
    pub(super) fn changed(&mut self, page: u32) {
        self.latest[page as usize] += 1;
    }

    /// The present version of a translation page is written to flash.
    pub(super) fn written(&mut self, page: u32) {
        self.flash[page as usize] = self.latest[page as usize];
    }

    /// Checks that flash has the latest version of a translation page.
    pub(super) fn check(&self, page: u32) -> Result<(), String> {
        let (flash, latest) = (self.flash[page as usize], self.latest[page as usize]);
        if flash == latest {
            return Ok(());
        }
        Err(format!(
            "flash has version {flash} of translation page {page}, of which version {latest} is the last, and nothing is to write it"
        ))
    }
}
