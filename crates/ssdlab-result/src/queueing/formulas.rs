//! The closed forms of bux2011: equations (1) to (19), and the approximation that its section 5.2.2 rejects.
//!
//! [`FORMULAS`] is their table. The functions of this module, those of Python and the table of `docs/queueing.md` are made of it.
//!
//! Times are in any one unit, rates per that unit; results in the same. Every argument is finite and at least 0; further limits are with
//! each function. The names of the arguments stand for these symbols of the report:
//!
//! | argument | symbol | |
//! |---|---|---|
//! | `read_rate`, `write_rate` | λ_r, λ_w | arrivals in a unit of time |
//! | `reads_per_write` | s | λ_r / λ_w |
//! | `read_time`, `write_time`, `copy_time`, `erase_time` | b_r, b_w, b_c, b_e | service times |
//! | `pages` | c | pages of a block, above 0 |
//! | `valid` | v | valid pages of a block that GC collects; below `pages` where both are arguments |
//! | `amplification` | A | write amplification, at least 1 |
//! | `read_queue`, `write_queue` | Ω_r, Ω_w | mean numbers of reads and writes that wait |

use std::fmt;

/// An argument, or a load that follows from the arguments, at which a formula has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DomainError {
    /// The name of the argument or load.
    pub argument: &'static str,
    /// Value of the argument or load.
    pub value: f64,
    /// Expected range of the argument or load, and the reason.
    pub expected: &'static str,
}

impl DomainError {
    /// Message for one of many values; `place`: its index.
    pub fn at(&self, place: &str) -> String {
        format!("{} is {} (at index {place}): {}", self.argument, plain(self.value), self.expected)
    }
}

/// A number in few digits: very small and very large ones as powers of ten.
fn plain(value: f64) -> String {
    if value == 0.0 || (1e-6..1e15).contains(&value.abs()) || !value.is_finite() { value.to_string() } else { format!("{value:e}") }
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: {}", self.argument, plain(self.value), self.expected)
    }
}

impl std::error::Error for DomainError {}

/// Value of a formula, or the argument at which it has none.
pub type Value = Result<f64, DomainError>;

/// What the value of a formula measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A time, in the unit of the arguments.
    Time,
    /// A number per unit of time.
    Rate,
    /// A number or a share.
    Number,
}

impl Dimension {
    /// Name of the dimension in the Python package: `time`, `rate` or `number`.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Time => "time",
            Dimension::Rate => "rate",
            Dimension::Number => "number",
        }
    }
}

/// A closed form of the report, as [`FORMULAS`] lists it.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// Name of the formula's function.
    pub name: &'static str,
    /// Equation or section of the formula in the report.
    pub equation: &'static str,
    /// What the value of the formula measures.
    pub dimension: Dimension,
    /// Names of the arguments, in order.
    pub arguments: &'static [&'static str],
    /// Sentences that describe the value and its limits.
    pub sentences: &'static str,
    /// Right-hand side of the equation, in the symbols of the report.
    pub symbols: &'static str,
    function: fn(&[f64]) -> Value,
}

/// Largest number of arguments of a formula.
pub const MOST_ARGUMENTS: usize = 10;

impl Formula {
    /// The formula called `name`, if there is one.
    pub fn named(name: &str) -> Option<&'static Formula> {
        FORMULAS.iter().find(|formula| formula.name == name)
    }

    /// The value of the formula at `arguments`, as many as it has.
    ///
    /// # Errors
    /// An argument or load out of its range; arguments so large that `f64` does not hold the value.
    ///
    /// # Panics
    /// If the number of arguments differs from that of the formula.
    #[inline]
    pub fn value(&self, arguments: &[f64]) -> Value {
        assert_eq!(arguments.len(), self.arguments.len(), "{} takes {:?}", self.name, self.arguments);
        let value = (self.function)(arguments)?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(DomainError { argument: self.name, value, expected: "the arguments are too large, or too far apart, to compute with" })
    }
}

/// Declares the functions, each of which checks that its arguments are finite and at least 0, and the table of them.
macro_rules! formulas {
    ($(
        $(#[doc = $sentences:literal])+
        [$equation:literal, $dimension:ident, $symbols:literal]
        fn $name:ident($($argument:ident),+) $body:block
    )+) => {
        $(
            $(#[doc = $sentences])+
            ///
            #[doc = concat!("Equation or section ", $equation, " of the report: ", $symbols, ".")]
            ///
            /// # Errors
            /// An argument or a load that is out of its range.
            #[allow(clippy::too_many_arguments, reason = "the report's symbols, one by one")]
            pub fn $name($($argument: f64),+) -> Value {
                $(let $argument = checked(stringify!($argument), $argument)?;)+
                $body
            }
        )+

        /// All formulas, in the order of the report.
        pub static FORMULAS: &[Formula] = &[$(
            Formula {
                name: stringify!($name),
                equation: $equation,
                dimension: Dimension::$dimension,
                arguments: &[$(stringify!($argument)),+],
                sentences: concat!($($sentences),+),
                symbols: $symbols,
                function: |arguments| {
                    let &[$($argument),+] = arguments else { unreachable!("`value` checks how many there are") };
                    $name($($argument),+)
                },
            }
        ),+];
    };
}

formulas! {
    /// The share of time in which the die serves writes.
    ["1", Number, "λ_w b_w"]
    fn write_utilisation(write_rate, write_time) { Ok(write_rate * write_time) }

    /// The share of time in which the die serves reads.
    ["2", Number, "λ_r b_r"]
    fn read_utilisation(read_rate, read_time) { Ok(read_rate * read_time) }

    /// The share of time in which the die copies.
    ["3", Number, "v / (c - v) λ_w b_c"]
    fn copy_utilisation(write_rate, copy_time, pages, valid) { Ok(copy_rate(write_rate, pages, valid)? * copy_time) }

    /// The share of time in which the die erases.
    ["4", Number, "1 / (c - v) λ_w b_e"]
    fn erase_utilisation(write_rate, erase_time, pages, valid) { Ok(copy_batch_rate(write_rate, pages, valid)? * erase_time) }

    /// The share of time in which the die is busy. An overloaded die has 1 or more.
    ["5", Number, "ρ = (1) + (2) + (3) + (4)"]
    fn utilisation(read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid) {
        let room = room(pages, valid)?;
        Ok(host(read_rate, write_rate, read_time, write_time) + gc(write_rate, copy_time, erase_time, valid, room))
    }

    /// The highest rate of writes, each with `reads_per_write` reads. The times must not all be 0.
    ["6", Rate, "1 / (b_w + s b_r + v / (c - v) b_c + 1 / (c - v) b_e)"]
    fn max_write_rate(reads_per_write, read_time, write_time, copy_time, erase_time, pages, valid) {
        highest_rate(write_time + reads_per_write * read_time + (valid * copy_time + erase_time) / room(pages, valid)?)
    }

    /// The rate of reads and writes together.
    ["7", Rate, "(1 + s) λ_w"]
    fn total_rate(write_rate, reads_per_write) { Ok((1.0 + reads_per_write) * write_rate) }

    /// The highest rate of reads and writes together. The times must not all be 0.
    ["8", Rate, "(1 + s) · (6)"]
    fn max_throughput(reads_per_write, read_time, write_time, copy_time, erase_time, pages, valid) {
        Ok((1.0 + reads_per_write) * max_write_rate(reads_per_write, read_time, write_time, copy_time, erase_time, pages, valid)?)
    }

    /// The pages that the die writes for each page that the host writes.
    ["9", Number, "A = c / (c - v)"]
    fn write_amplification(pages, valid) { Ok(pages / room(pages, valid)?) }

    /// The highest rate of reads and writes together, from the write amplification, which is at least 1.
    ["10", Rate, "(1 + s) / (b_w + s b_r + (A - 1) b_c + A / c b_e)"]
    fn max_throughput_amplified(reads_per_write, read_time, write_time, copy_time, erase_time, pages, amplification) {
        let (s, pages) = (reads_per_write, at_least_one_page(pages)?);
        if amplification < 1.0 {
            let expected = "expected at least 1: a die writes what the host writes at least once";
            return Err(DomainError { argument: "amplification", value: amplification, expected });
        }
        let copies = (amplification - 1.0) * copy_time;
        Ok((1.0 + s) * highest_rate(write_time + s * read_time + copies + amplification / pages * erase_time)?)
    }

    /// The rate of GC jobs.
    ["11", Rate, "λ_w / (c - v)"]
    fn copy_batch_rate(write_rate, pages, valid) { Ok(write_rate / room(pages, valid)?) }

    /// The rate of copies.
    ["12", Rate, "v λ_w / (c - v)"]
    fn copy_rate(write_rate, pages, valid) { Ok(valid * copy_batch_rate(write_rate, pages, valid)?) }

    /// The mean wait of reads and writes that have priority (rwp), from the mean numbers of them that wait.
    ["13", Time, "(λ_r b_r² + λ_w b_w²) / 2 + λ_w (v b_c² + b_e²) / (2 (c - v)) + Ω_r b_r + Ω_w b_w"]
    fn wait_balance_rwp(read_queue, write_queue, read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid) {
        let room = room(pages, valid)?;
        Ok(host_residual(read_rate, write_rate, read_time, write_time)
            + gc_residual(write_rate, copy_time, erase_time, valid, room)
            + read_queue * read_time
            + write_queue * write_time)
    }

    /// The mean number of requests that wait, by Little's law.
    ["14", Number, "wait · rate"]
    fn queue_length(wait, rate) { Ok(wait * rate) }

    /// The mean wait of reads and writes that have priority (rwp). The utilisation (5) must be below 1.
    ["15", Time, "(λ_r b_r² + λ_w b_w² + λ_w (v b_c² + b_e²) / (c - v)) / (2 (1 - ρ_u))"]
    fn mean_wait_rwp(read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid) {
        let total = utilisation(read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid)?;
        below_one("utilisation", total)?;
        let gc_residual = gc_residual(write_rate, copy_time, erase_time, valid, room(pages, valid)?);
        let residual = host_residual(read_rate, write_rate, read_time, write_time) + gc_residual;
        Ok(residual / (1.0 - host(read_rate, write_rate, read_time, write_time)))
    }

    /// The duration of a GC job that has priority (cep).
    ["16", Time, "v b_c + b_e"]
    fn gc_duration_cep(copy_time, erase_time, valid) { Ok(valid * copy_time + erase_time) }

    /// The mean unfinished work of reads and writes that an arrival finds. (1) + (2) must be below 1.
    ["17", Time, "τ₀ = (λ_r b_r² + λ_w b_w²) / (2 (1 - ρ_u))"]
    fn initial_work(read_rate, write_rate, read_time, write_time) {
        let host = below_one("the utilisation by reads and writes", host(read_rate, write_rate, read_time, write_time))?;
        Ok(host_residual(read_rate, write_rate, read_time, write_time) / (1.0 - host))
    }

    /// The mean time from the arrival of the write that fills the block to the end of the last copy (rwp). (1) + (2) must be below 1.
    ["18", Time, "τ = (b_w + v b_c + τ₀) / (1 - ρ_u)"]
    fn relocation_time(read_rate, write_rate, read_time, write_time, copy_time, valid) {
        let work = initial_work(read_rate, write_rate, read_time, write_time)?;
        Ok((write_time + valid * copy_time + work) / (1.0 - host(read_rate, write_rate, read_time, write_time)))
    }

    /// The mean duration of a GC job over which reads and writes have priority (rwp), while GC jobs do not overlap.
    /// (1) + (2) must be below 1.
    ["19", Time, "τ - τ₀ - b_w + b_e"]
    fn gc_duration_rwp(read_rate, write_rate, read_time, write_time, copy_time, erase_time, valid) {
        let work = initial_work(read_rate, write_rate, read_time, write_time)?;
        let host = host(read_rate, write_rate, read_time, write_time);
        // The second form of (19): the first loses digits by cancellation.
        Ok((host * write_time + valid * copy_time + host * work) / (1.0 - host) + erase_time)
    }

    /// The mean wait of reads and writes over which GC has priority (cep), if GC jobs arrived as a Poisson stream of their own.
    /// The report rejects it as too high, since GC jobs come at regular intervals: after every c - v writes.
    /// The utilisation (5) must be below 1.
    ["5.2.2", Time, "½ (λ_r b_r² + λ_w b_w² + λ_w (v b_c + b_e)² / (c - v)) / ((1 - (3) - (4)) (1 - ρ))"]
    fn mean_wait_cep_independent(read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid) {
        // The lower class of the M/G/1 queue with two non-preemptive priorities; a service of the upper class is a GC job.
        let total = utilisation(read_rate, write_rate, read_time, write_time, copy_time, erase_time, pages, valid)?;
        let (total, room) = (below_one("utilisation", total)?, room(pages, valid)?);
        let job = valid * copy_time + erase_time;
        let residual = host_residual(read_rate, write_rate, read_time, write_time) + write_rate / room * job * job / 2.0;
        Ok(residual / ((1.0 - gc(write_rate, copy_time, erase_time, valid, room)) * (1.0 - total)))
    }
}

fn checked(argument: &'static str, value: f64) -> Value {
    if (0.0..f64::INFINITY).contains(&value) {
        return Ok(value);
    }
    Err(DomainError { argument, value, expected: "expected a finite number of at least 0" })
}

/// Checks that a load is below 1. The error shows it rounded to six decimals.
fn below_one(argument: &'static str, load: f64) -> Value {
    if load < 1.0 {
        return Ok(load);
    }
    let expected = "expected below 1: an overloaded die has no mean wait";
    Err(DomainError { argument, value: (load * 1e6).round() / 1e6, expected })
}

fn at_least_one_page(pages: f64) -> Value {
    if pages == 0.0 {
        return Err(DomainError { argument: "pages", value: pages, expected: "expected above 0: a block has at least one page" });
    }
    Ok(pages)
}

/// The pages that a GC job frees for writes of the host: c - v.
fn room(pages: f64, valid: f64) -> Value {
    if valid >= at_least_one_page(pages)? {
        let expected = "expected fewer than the block's pages: a block whose pages are all valid gives no room to write";
        return Err(DomainError { argument: "valid", value: valid, expected });
    }
    Ok(pages - valid)
}

/// Highest rate of operations that take `time` each.
fn highest_rate(time: f64) -> Value {
    if time > 0.0 {
        return Ok(1.0 / time);
    }
    let expected = "expected above 0: a die whose operations take no time has no maximum throughput";
    Err(DomainError { argument: "the time for a write with its reads, copies and erase", value: time, expected })
}

/// Share of time for reads and writes of the host, ρ_u.
fn host(read_rate: f64, write_rate: f64, read_time: f64, write_time: f64) -> f64 {
    read_rate * read_time + write_rate * write_time
}

/// The share of time for GC.
fn gc(write_rate: f64, copy_time: f64, erase_time: f64, valid: f64, room: f64) -> f64 {
    write_rate * (valid * copy_time + erase_time) / room
}

/// The mean residual service time of the read or write that an arrival finds in service.
fn host_residual(read_rate: f64, write_rate: f64, read_time: f64, write_time: f64) -> f64 {
    (read_rate * read_time * read_time + write_rate * write_time * write_time) / 2.0
}

/// The mean residual service time of the copy or erase that an arrival finds in service.
fn gc_residual(write_rate: f64, copy_time: f64, erase_time: f64, valid: f64, room: f64) -> f64 {
    write_rate * (valid * copy_time * copy_time + erase_time * erase_time) / (2.0 * room)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1 of the report, ms, and the load of section 5.1.
    const EXAMPLE: [(&str, f64); 14] = [
        ("read_rate", 1.0),
        ("write_rate", 0.5),
        ("read_time", 0.0763),
        ("write_time", 0.9264),
        ("copy_time", 0.9507),
        ("erase_time", 3.0003),
        ("pages", 256.0),
        ("valid", 64.0),
        ("reads_per_write", 2.0),
        ("amplification", 4.0 / 3.0),
        ("read_queue", 0.8),
        ("write_queue", 0.4),
        ("wait", 0.8),
        ("rate", 1.5),
    ];

    fn arguments(formula: &Formula, changed: &[(&str, f64)]) -> Vec<f64> {
        let value = |name: &str| changed.iter().chain(&EXAMPLE).find(|(known, _)| *known == name).expect("an example").1;
        formula.arguments.iter().map(|name| value(name)).collect()
    }

    /// The value of the formula `name` for the arguments of [`EXAMPLE`], with those of `changed` replaced.
    fn with(name: &str, changed: &[(&str, f64)]) -> Value {
        let formula = Formula::named(name).expect("a formula");
        formula.value(&arguments(formula, changed))
    }

    fn of(name: &str) -> f64 {
        with(name, &[]).unwrap()
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value}, expected {expected}");
    }

    #[test]
    fn the_examples_of_the_report() {
        // Section 5.1: 0.54 of the time for users, 0.71 in all.
        near(write_utilisation(0.5, 0.9264).unwrap() + read_utilisation(1.0, 0.0763).unwrap(), 0.5395);
        let total = utilisation(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap();
        assert_eq!((total * 100.0).round(), 71.0);
        near(write_amplification(256.0, 64.0).unwrap(), 4.0 / 3.0);
        let most = max_throughput(2.0, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap();
        assert!((most - 2.125).abs() < 5e-4, "{most}");
        near(max_throughput_amplified(2.0, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 4.0 / 3.0).unwrap(), most);
        near(gc_duration_cep(0.9507, 3.0003, 64.0).unwrap(), 63.8451);
    }

    #[test]
    fn what_must_agree_does() {
        let parts = ["write_utilisation", "read_utilisation", "copy_utilisation", "erase_utilisation"];
        near(of("utilisation"), parts.map(of).iter().sum());
        near(total_rate(of("max_write_rate"), 2.0).unwrap(), of("max_throughput"));
        near(of("copy_rate"), 64.0 * of("copy_batch_rate"));
        // At the maximum the die is busy all the time.
        let write = of("max_write_rate");
        near(with("utilisation", &[("read_rate", 2.0 * write), ("write_rate", write)]).unwrap(), 1.0);
        // (15) solves (13) with (14).
        let wait = of("mean_wait_rwp");
        let queue = |rate| queue_length(wait, rate).unwrap();
        near(with("wait_balance_rwp", &[("read_queue", queue(1.0)), ("write_queue", queue(0.5))]).unwrap(), wait);
        // (19) is (18) without the wait and service of the last write, and with the erase.
        let before = 0.9264 + of("initial_work");
        near(of("gc_duration_rwp"), of("relocation_time") - before + 3.0003);
        // A queue with reads only is M/D/1, whose wait is known.
        let reads = [("read_rate", 5.0), ("write_rate", 0.0)];
        let load = 5.0 * 0.0763;
        near(with("mean_wait_rwp", &reads).unwrap(), load * 0.0763 / (2.0 * (1.0 - load)));
        near(with("mean_wait_cep_independent", &reads).unwrap(), load * 0.0763 / (2.0 * (1.0 - load)));
        assert!(of("mean_wait_cep_independent") > 5.0 * wait);
    }

    #[test]
    fn the_table_has_every_formula_once_with_its_arguments_in_order() {
        let names: std::collections::BTreeSet<_> = FORMULAS.iter().map(|formula| formula.name).collect();
        assert_eq!((names.len(), FORMULAS.len()), (20, 20));
        assert_eq!(FORMULAS.iter().map(|formula| formula.arguments.len()).max(), Some(MOST_ARGUMENTS));
        near(utilisation(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap(), of("utilisation"));
        near(mean_wait_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap(), of("mean_wait_rwp"));
        near(gc_duration_rwp(1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 64.0).unwrap(), of("gc_duration_rwp"));
        near(max_throughput(2.0, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap(), of("max_throughput"));
        near(of("max_throughput"), of("max_throughput_amplified"));
        near(wait_balance_rwp(0.8, 0.4, 1.0, 0.5, 0.0763, 0.9264, 0.9507, 3.0003, 256.0, 64.0).unwrap(), of("wait_balance_rwp"));
        near(relocation_time(1.0, 0.5, 0.0763, 0.9264, 0.9507, 64.0).unwrap(), of("relocation_time"));
    }

    #[test]
    fn every_argument_of_every_formula_is_checked() {
        for formula in FORMULAS {
            for (place, name) in formula.arguments.iter().enumerate() {
                for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut arguments = arguments(formula, &[]);
                    arguments[place] = wrong;
                    let error = formula.value(&arguments).unwrap_err();
                    assert_eq!(error.argument, *name, "{}: {error}", formula.name);
                    assert!(error.to_string().starts_with(&format!("{name} is {wrong}: ")), "{error}");
                }
            }
        }
    }

    #[test]
    fn beyond_the_domain_there_is_a_reason() {
        let refused = |name: &str, changed: &[(&str, f64)]| with(name, changed).unwrap_err();
        let message = |name: &str, changed: &[(&str, f64)]| refused(name, changed).to_string();
        assert!(message("write_amplification", &[("valid", 256.0)]).starts_with("valid is 256: "));
        assert!(message("write_amplification", &[("pages", 0.0), ("valid", 0.0)]).starts_with("pages is 0: "));
        assert!(message("max_throughput_amplified", &[("amplification", 0.5)]).starts_with("amplification is 0.5: "));
        let idle = ["read_time", "write_time", "copy_time", "erase_time"].map(|name| (name, 0.0));
        assert!(message("max_write_rate", &idle).contains("no maximum throughput"));
        let over = [("write_rate", 0.83)];
        let error = refused("mean_wait_rwp", &over);
        assert_eq!(error.expected, "expected below 1: an overloaded die has no mean wait");
        assert!(error.at("5").starts_with("utilisation is 1.121") && error.at("5").contains(" (at index 5): "), "{}", error.at("5"));
        assert!(with("mean_wait_cep_independent", &over).is_err());
        // The load of reads and writes alone is below 1, so a GC job under rwp does end.
        assert!(with("gc_duration_rwp", &over).is_ok());
        let users = message("gc_duration_rwp", &[("write_rate", 1.0)]);
        assert!(users.starts_with("the utilisation by reads and writes is 1.0027: "), "{users}");
        assert!(message("queue_length", &[("wait", 1e200), ("rate", 1e200)]).contains("too large"));
    }
}
