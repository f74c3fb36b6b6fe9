//! How late the answers of a served drive were.

use schemars::JsonSchema;
use serde::Serialize;

use ssdlab_keys::remark::Remark;

/// Delay of answers, in real time, beyond the times at which the simulated drive had completed the requests: the host or the simulator was
/// slower than the drive. Response times are simulated times, without this delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LateResult {
    /// Factor by which the drive was slower than real time.
    #[schemars(extend("unit" = "number"))]
    pub scale: f64,
    /// Number of answers that came more than 100 us after they were due.
    #[schemars(extend("unit" = "count"))]
    pub count: u64,
    /// Mean delay of all answers, in real time.
    #[schemars(extend("unit" = "ns"))]
    pub mean: f64,
    /// Longest delay of an answer, in real time.
    #[schemars(extend("unit" = "ns"))]
    pub max: u64,
}

/// Share of the simulated response time, in real time, up to which the mean delay has no remark.
const SMALL: f64 = 0.1;
/// Share of answers that may come more than 100 us late without a remark.
const FEW: f64 = 0.01;

impl LateResult {
    /// Remark: answers were late. `answers`: number of answers; `response_ns`: mean simulated response time, ns.
    pub fn remark(&self, answers: u64, response_ns: f64) -> Option<Remark> {
        let due_ns = response_ns * self.scale;
        if self.count == 0 || (self.mean <= SMALL * due_ns && self.count as f64 <= FEW * answers as f64) {
            return None;
        }
        let us = |ns: f64| if ns < 99_950.0 { format!("{:.1} us", ns / 1e3) } else { format!("{:.1} ms", ns / 1e6) };
        let sentence = format!(
            "This machine is too slow: {} of {answers} answers came more than 100 us late, the mean {}; the drive takes {} (scale {}).",
            self.count,
            us(self.mean),
            us(due_ns),
            self.scale
        );
        // With this scale the drive takes ten times as long as the answers were late.
        let enough = 10f64.powf((self.mean / (SMALL * response_ns).max(1.0)).log10().ceil()).clamp(10.0 * self.scale, 1e6);
        let remedy = format!("Serve it again with --scale {enough:.0}, or keep other work off this machine.");
        let why = "The programs waited for that, so that requests came later and fewer at a time than at a drive of this speed.";
        Some(Remark::warning("served-late", "", sentence, remedy).because(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(scale: f64, count: u64, mean: f64) -> LateResult {
        LateResult { scale, count, mean, max: 2 * mean as u64 }
    }

    /// 4.2 ms are 75 times 56 us: 1,000 times slower the drive takes 56 ms, more than ten times as long.
    #[test]
    fn late_answers_are_said_with_a_scale_that_is_large_enough() {
        let remark = late(1.0, 3110, 4.2e6).remark(6492, 56e3).expect("half of the answers were late");
        assert!(
            remark.sentence.contains("3110 of 6492 answers") && remark.sentence.contains("4.2 ms") && remark.sentence.contains("56.0 us")
        );
        assert!(remark.remedy.contains("--scale 1000,"), "{}", remark.remedy);
        let slower = late(100.0, 3110, 4.2e6).remark(6492, 56e3).expect("4.2 ms are not small beside 5.6 ms");
        assert!(slower.remedy.contains("--scale 1000,"), "{}", slower.remedy);
        assert!(late(1.0, 7, 4.2e6).remark(10, 0.0).expect("a drive that takes no time").remedy.contains("--scale 1000000,"));
    }

    #[test]
    fn few_answers_that_are_a_little_late_are_no_remark() {
        assert_eq!(late(1.0, 0, 9e3).remark(1000, 10e3), None, "no answer is later than a thread takes to wake up");
        assert_eq!(late(1.0, 10, 5e3).remark(1000, 56e3), None);
        assert!(late(1.0, 11, 5e3).remark(1000, 56e3).is_some(), "one in a hundred: the 99th percentile of the programs");
        assert!(late(1.0, 10, 5.7e3).remark(1000, 56e3).is_some(), "a tenth of the response time");
        assert_eq!(late(10.0, 10, 5.7e3).remark(1000, 56e3), None);
    }
}
