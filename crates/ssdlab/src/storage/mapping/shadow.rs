//! Verify mode: versions of translation pages. An entry that changes makes a new version of its page.

/// By translation page: its last version, and the version that flash has, or will when the program on its way has ended.
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

    /// Keeps the first thing found wrong.
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

    /// A translation page is written as it is.
    pub(super) fn written(&mut self, page: u32) {
        self.flash[page as usize] = self.latest[page as usize];
    }

    /// Flash must have the last version of a translation page.
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
