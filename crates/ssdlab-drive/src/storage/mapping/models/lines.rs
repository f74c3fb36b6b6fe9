//! Lines through the places of units, each with a bounded error: greedy, so that a line is as long as it can be from its first unit on (piecewise
//! linear regression with a shrinking cone). All in integers.

use super::Point;

/// A slope is a multiple of 1 / 2^16.
const SLOPE_BITS: u32 = 16;

/// Steeper lines are not tried: units that a buffer programs in the order of their addresses are at most one place apart for each unit.
const SLOPE_MAX: i64 = 1 << SLOPE_BITS;

/// A line through the places of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its first and last unit.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The place of the first unit.
    place: u32,
    slope: u32,
    /// Number of units from which it was made.
    pub(super) units: u32,
    /// These units are equally far apart, so that first and last unit and their number say which they are.
    pub(super) regular: bool,
}

impl Line {
    /// The place that the line gives for a unit from its first on: the nearest.
    pub(super) fn predict(&self, unit: u32) -> u32 {
        let rise = (u64::from(unit - self.first) * u64::from(self.slope) + (1 << (SLOPE_BITS - 1))) >> SLOPE_BITS;
        self.place + rise as u32
    }
}

/// The slopes that give the place of one unit from that of another within the error: lowest and highest.
fn slopes((unit, place): Point, first: Point, error: u32) -> (i64, i64) {
    let (run, rise) = (i64::from(unit - first.0), i64::from(place) - i64::from(first.1));
    // Rounded to the nearest, `slope x run / 2^16` is within `error` of `rise` if `-error - 1/2 <= slope x run / 2^16 - rise < error + 1/2`.
    let (low, high) = ((2 * (rise - i64::from(error)) - 1) << (SLOPE_BITS - 1), (2 * (rise + i64::from(error)) + 1) << (SLOPE_BITS - 1));
    (-(-low).div_euclid(run), (high - 1).div_euclid(run))
}

/// The slope nearest to that from one unit to another.
fn steepness(last: Point, first: Point) -> i64 {
    let (run, rise) = (i64::from(last.0 - first.0), i64::from(last.1) - i64::from(first.1));
    ((rise << (SLOPE_BITS + 1)) + run).div_euclid(2 * run)
}

/// Calls `each` with the lines through `points`, the units of one row of blocks by address.
pub(super) fn fit(points: &[Point], error: u32, each: &mut dyn FnMut(Line)) {
    let mut left = points;
    while let Some(&first) = left.first() {
        let (mut low, mut high, mut count) = (0, SLOPE_MAX, 1);
        for &point in &left[1..] {
            let (lowest, highest) = slopes(point, first, error);
            if lowest.max(low) > highest.min(high) {
                break;
            }
            (low, high, count) = (lowest.max(low), highest.min(high), count + 1);
        }
        let (these, rest) = left.split_at(count);
        // Through the last unit, too, if that is within the error of all: so no place of units equally far apart is wrong.
        let last = these[count - 1];
        let slope = if count == 1 { 0 } else { steepness(last, first).clamp(low, high) as u32 };
        let step = these.get(1).map_or(1, |second| second.0 - first.0);
        let regular = these.windows(2).all(|pair| pair[1].0 - pair[0].0 == step);
        each(Line { first: first.0, last: last.0, place: first.1, slope, units: count as u32, regular });
        left = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_base::rng::Rng;

    fn lines(points: &[Point], error: u32) -> Vec<Line> {
        let mut all = Vec::new();
        fit(points, error, &mut |line| all.push(line));
        all
    }

    #[test]
    fn data_in_order_lie_on_one_line() {
        let points: Vec<Point> = (40..500).map(|unit| (unit, unit + 7000)).collect();
        let all = lines(&points, 0);
        assert_eq!((all.len(), all[0].first, all[0].last, all[0].units, all[0].regular), (1, 40, 499, 460, true));
        assert!(points.iter().all(|&(unit, place)| all[0].predict(unit) == place));
    }

    #[test]
    fn every_third_unit_lies_on_one_line() {
        let points: Vec<Point> = (0..80).map(|at| (3 * at, 100 + at)).collect();
        let all = lines(&points, 0);
        assert_eq!((all.len(), all[0].units, all[0].regular), (1, 80, true));
        assert!(points.iter().all(|&(unit, place)| all[0].predict(unit) == place));
    }

    #[test]
    fn a_line_ends_where_places_leave_it() {
        // By hand: 0, 1, 2 rise by one each; from 2 to 10 by one in all, which no slope gives beside it without error.
        let points = [(0, 50), (1, 51), (2, 52), (10, 53), (11, 54)];
        let ends: Vec<(u32, u32)> = lines(&points, 0).iter().map(|line| (line.first, line.last)).collect();
        assert_eq!(ends, [(0, 2), (10, 11)]);
        // With an error of one: slopes from (2 - 1.5) / 2 on for 2, below (3 + 1.5) / 10 for 10 and (4 + 1.5) / 11 for 11, and from (4 - 1.5) / 11 on.
        let ends: Vec<(u32, u32)> = lines(&points, 1).iter().map(|line| (line.first, line.last)).collect();
        assert_eq!(ends, [(0, 11)]);
        // Whatever the error, units equally far apart are where the line says.
        let even: Vec<Point> = (0..120).map(|at| (2 * at, 100 + at)).collect();
        assert!(even.iter().all(|&(unit, place)| lines(&even, 16)[0].predict(unit) == place));
        // A place that falls begins a line.
        assert_eq!(lines(&[(0, 9), (1, 3)], 0).len(), 2);
    }

    /// Whether some slope gives all places within the error, by trying all.
    fn fits(points: &[Point], error: u32) -> bool {
        (0..=SLOPE_MAX as u64).any(|slope| {
            points.iter().all(|&(unit, place)| {
                let rise = (u64::from(unit - points[0].0) * slope) as f64 / SLOPE_MAX as f64;
                ((rise + 0.5).floor() - (f64::from(place) - f64::from(points[0].1))).abs() <= f64::from(error)
            })
        })
    }

    #[test]
    fn lines_are_within_the_error_and_as_long_as_they_can_be() {
        let mut rng = Rng::new(8, "lines");
        for case in 0..60 {
            let (mut unit, mut place, error) = (0, 1000, case % 5);
            let points: Vec<Point> = (0..12)
                .map(|_| {
                    unit += 1 + rng.below(if case % 2 == 0 { 2 } else { 9 }) as u32;
                    place += 1 + (rng.below(8) == 0) as u32;
                    (unit, place)
                })
                .collect();
            let mut at = 0;
            for line in lines(&points, error) {
                let of = &points[at..at + line.units as usize];
                at += of.len();
                assert_eq!((line.first, line.last), (of[0].0, of[of.len() - 1].0));
                assert!(of.iter().all(|&(unit, place)| line.predict(unit).abs_diff(place) <= error));
                assert!(at == points.len() || !fits(&points[at - of.len()..=at], error), "case {case}: a line could be longer");
            }
            assert_eq!(at, points.len());
        }
    }
}
