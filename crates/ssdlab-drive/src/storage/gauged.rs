//! The inputs of a run's time series: sums over all drives, and over the caches.

use super::Storage;
use ssdlab_base::units::Ns;
use ssdlab_result::stats::{Gauged, Readings, SeriesShape};

impl Storage {
    /// The properties of the storage that do not change during a run.
    pub fn shape(&self) -> SeriesShape {
        let mut shape = SeriesShape { cached: self.is_cached(), ..SeriesShape::default() };
        self.drives().into_iter().for_each(|drive| drive.add_shape(&mut shape));
        shape
    }
}

impl Gauged for Storage {
    fn read(&mut self, now: Ns) -> Readings {
        let mut readings = Readings::new();
        self.each_drive_mut(|drive| drive.add_readings(now, &mut readings));
        let stats = self.stats(now);
        (readings.drawn.commands, readings.drawn.link_bytes) = (stats.commands, stats.link_bytes);
        if let Some(cache) = stats.cache {
            readings.cache_hits = cache.counters.read_hits + cache.counters.write_hits;
            readings.cache_lookups = cache.counters.lookups;
            readings.cache_dirty = cache.dirty_pages;
        }
        readings
    }

    fn fewest_free_blocks(&self) -> u32 {
        self.drives().into_iter().map(|drive| drive.fewest_free_blocks()).min().unwrap_or(0)
    }
}
