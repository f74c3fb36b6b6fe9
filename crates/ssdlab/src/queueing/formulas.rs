//! The closed forms of bux2011, equations (1) to (19), and the approximation that its section 5.2.2 rejects.
//!
//! Times are in any one unit, rates per that unit; results in the same. Every argument is finite and at least 0; further limits are with
//! each function. [`FORMULAS`] lists them for callers that choose by name.

use std::fmt;

/// An argument, or a load that follows from the arguments, at which a formula has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DomainError {
    /// What it is called.
    pub argument: &'static str,
    /// Its value.
    pub value: f64,
    /// What would be right, and why.
    pub expected: &'static str,
}

impl DomainError {
    /// The message for one of many: `place` is its index.
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

/// The value of a formula.
pub type Value = Result<f64, DomainError>;

/// Arrivals in a unit of time, each at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Reads, lambda_r.
    pub read: f64,
    /// Writes, lambda_w.
    pub write: f64,
}

/// How long the die is busy with one operation, each at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// A read, b_r.
    pub read: f64,
    /// A write, b_w.
    pub write: f64,
    /// A copy, b_c.
    pub copy: f64,
    /// An erase, b_e.
    pub erase: f64,
}

/// A block that is collected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Its pages, c, above 0.
    pub pages: f64,
    /// Those that are valid when it is collected, v, below `pages`.
    pub valid: f64,
}

const AT_LEAST_ZERO: &str = "expected a finite number of at least 0";
const OVERLOAD: &str = "a die that is asked for more than it can do has no mean wait; it must be below 1";

fn checked(argument: &'static str, value: f64) -> Value {
    if (0.0..f64::INFINITY).contains(&value) { Ok(value) } else { Err(DomainError { argument, value, expected: AT_LEAST_ZERO }) }
}

/// A load below 1; messages show it without the last digits of its computation.
fn below_one(argument: &'static str, load: f64) -> Value {
    if load < 1.0 { Ok(load) } else { Err(DomainError { argument, value: (load * 1e6).round() / 1e6, expected: OVERLOAD }) }
}

impl Rates {
    fn checked(self) -> Result<Self, DomainError> {
        Ok(Rates { read: checked("read_rate", self.read)?, write: checked("write_rate", self.write)? })
    }
}

impl Times {
    fn checked(self) -> Result<Self, DomainError> {
        checked("read_time", self.read)?;
        checked("write_time", self.write)?;
        checked("copy_time", self.copy)?;
        checked("erase_time", self.erase)?;
        Ok(self)
    }
}

impl Block {
    fn checked(self) -> Result<Self, DomainError> {
        pages(self.pages)?;
        let Block { pages, valid } = self;
        checked("valid", valid)?;
        if valid >= pages {
            let expected = "a block of which all pages are valid gives no room to write; it must be less than the block's pages";
            return Err(DomainError { argument: "valid", value: valid, expected });
        }
        Ok(self)
    }

    /// Pages that a collection frees for user writes.
    fn room(self) -> f64 {
        self.pages - self.valid
    }
}

fn pages(value: f64) -> Value {
    if checked("pages", value)? == 0.0 {
        return Err(DomainError { argument: "pages", value, expected: "a block has at least one page" });
    }
    Ok(value)
}

/// (1): the share of time in which the die writes for the user.
///
/// # Errors
/// As for all: an argument that is not finite or below 0.
pub fn write_utilisation(write_rate: f64, write_time: f64) -> Value {
    Ok(checked("write_rate", write_rate)? * checked("write_time", write_time)?)
}

/// (2): the share of time in which the die reads for the user.
///
/// # Errors
/// As [`write_utilisation`].
pub fn read_utilisation(read_rate: f64, read_time: f64) -> Value {
    Ok(checked("read_rate", read_rate)? * checked("read_time", read_time)?)
}

/// (3): the share of time in which the die copies.
///
/// # Errors
/// As [`write_utilisation`]; a block without pages, or with all of them valid.
pub fn copy_utilisation(write_rate: f64, copy_time: f64, block: Block) -> Value {
    Ok(copy_rate(write_rate, block)? * checked("copy_time", copy_time)?)
}

/// (4): the share of time in which the die erases.
///
/// # Errors
/// As [`copy_utilisation`].
pub fn erase_utilisation(write_rate: f64, erase_time: f64, block: Block) -> Value {
    Ok(copy_batch_rate(write_rate, block)? * checked("erase_time", erase_time)?)
}

/// (5): the share of time in which the die is busy. It may be 1 and more: then more is asked for than the die can do.
///
/// # Errors
/// As [`copy_utilisation`].
pub fn utilisation(rates: Rates, times: Times, block: Block) -> Value {
    let (rates, times, block) = (rates.checked()?, times.checked()?, block.checked()?);
    Ok(total(rates, times, block))
}

fn total(rates: Rates, times: Times, block: Block) -> f64 {
    users(rates, times.read, times.write) + collection(rates.write, times, block)
}

/// The share of time for reads and writes of the user.
fn users(rates: Rates, read_time: f64, write_time: f64) -> f64 {
    rates.read * read_time + rates.write * write_time
}

/// The share of time for collection.
fn collection(write_rate: f64, times: Times, block: Block) -> f64 {
    write_rate * (block.valid * times.copy + times.erase) / block.room()
}

/// (6): the most writes in a unit of time, with `reads_per_write` (s) reads to each.
///
/// # Errors
/// As [`copy_utilisation`]; a write that costs no time at all.
pub fn max_write_rate(reads_per_write: f64, times: Times, block: Block) -> Value {
    let (s, times, block) = (checked("reads_per_write", reads_per_write)?, times.checked()?, block.checked()?);
    most(times.write + s * times.read + (block.valid * times.copy + times.erase) / block.room())
}

/// One in `time`.
fn most(time: f64) -> Value {
    if time > 0.0 {
        return Ok(1.0 / time);
    }
    let expected = "a die that needs no time for a write and what comes with it has no maximum throughput; it must be above 0";
    Err(DomainError { argument: "the time for a write with its reads, copies and erase", value: time, expected })
}

/// (7): reads and writes in a unit of time, from the writes.
///
/// # Errors
/// As [`write_utilisation`].
pub fn total_rate(write_rate: f64, reads_per_write: f64) -> Value {
    Ok((1.0 + checked("reads_per_write", reads_per_write)?) * checked("write_rate", write_rate)?)
}

/// (8): the most reads and writes in a unit of time.
///
/// # Errors
/// As [`max_write_rate`].
pub fn max_throughput(reads_per_write: f64, times: Times, block: Block) -> Value {
    Ok((1.0 + reads_per_write) * max_write_rate(reads_per_write, times, block)?)
}

/// (9): pages written for each page that the user writes.
///
/// # Errors
/// As [`copy_utilisation`].
pub fn write_amplification(block: Block) -> Value {
    let block = block.checked()?;
    Ok(block.pages / block.room())
}

/// (10): the most reads and writes in a unit of time, from the write amplification (A, at least 1).
///
/// # Errors
/// As [`max_write_rate`]; an amplification below 1.
pub fn max_throughput_amplified(reads_per_write: f64, times: Times, pages_of_block: f64, amplification: f64) -> Value {
    let (s, times, c) = (checked("reads_per_write", reads_per_write)?, times.checked()?, pages(pages_of_block)?);
    let a = checked("amplification", amplification)?;
    if a < 1.0 {
        let expected = "what the user writes is written at least once; it must be at least 1";
        return Err(DomainError { argument: "amplification", value: a, expected });
    }
    Ok((1.0 + s) * most(times.write + s * times.read + (a - 1.0) * times.copy + a / c * times.erase)?)
}

/// (11): collections in a unit of time.
///
/// # Errors
/// As [`copy_utilisation`].
pub fn copy_batch_rate(write_rate: f64, block: Block) -> Value {
    Ok(checked("write_rate", write_rate)? / block.checked()?.room())
}

/// (12): copies in a unit of time.
///
/// # Errors
/// As [`copy_utilisation`].
pub fn copy_rate(write_rate: f64, block: Block) -> Value {
    Ok(block.valid * copy_batch_rate(write_rate, block)?)
}

/// (13): the mean wait of reads and writes that go first (rwp), from the mean numbers of them that wait.
///
/// # Errors
/// As [`copy_utilisation`].
pub fn wait_balance_rwp(read_queue: f64, write_queue: f64, rates: Rates, times: Times, block: Block) -> Value {
    let (read_queue, write_queue) = (checked("read_queue", read_queue)?, checked("write_queue", write_queue)?);
    let (rates, times, block) = (rates.checked()?, times.checked()?, block.checked()?);
    Ok(user_residual(rates, times.read, times.write)
        + collection_residual(rates.write, times, block)
        + read_queue * times.read
        + write_queue * times.write)
}

/// The mean rest of the read or write that an arrival finds in service.
fn user_residual(rates: Rates, read_time: f64, write_time: f64) -> f64 {
    (rates.read * read_time * read_time + rates.write * write_time * write_time) / 2.0
}

/// The mean rest of the copy or erase that an arrival finds in service.
fn collection_residual(write_rate: f64, times: Times, block: Block) -> f64 {
    write_rate * (block.valid * times.copy * times.copy + times.erase * times.erase) / (2.0 * block.room())
}

/// (14), Little's law: how many wait on average.
///
/// # Errors
/// As [`write_utilisation`].
pub fn queue_length(wait: f64, rate: f64) -> Value {
    Ok(checked("wait", wait)? * checked("rate", rate)?)
}

/// (15): the mean wait of reads and writes that go first (rwp).
///
/// # Errors
/// As [`copy_utilisation`]; a utilisation (5) of 1 and more.
pub fn mean_wait_rwp(rates: Rates, times: Times, block: Block) -> Value {
    below_one("utilisation", utilisation(rates, times, block)?)?;
    let residual = user_residual(rates, times.read, times.write) + collection_residual(rates.write, times, block);
    Ok(residual / (1.0 - users(rates, times.read, times.write)))
}

/// (16): how long a collection takes that goes first (cep).
///
/// # Errors
/// As [`write_utilisation`].
pub fn gc_duration_cep(copy_time: f64, erase_time: f64, valid: f64) -> Value {
    Ok(checked("valid", valid)? * checked("copy_time", copy_time)? + checked("erase_time", erase_time)?)
}

/// (17): the mean unfinished work of reads and writes that an arrival finds.
///
/// # Errors
/// As [`write_utilisation`]; reads and writes that keep the die busy all the time, or would for longer.
pub fn initial_work(rates: Rates, read_time: f64, write_time: f64) -> Value {
    let (rates, read_time, write_time) = (rates.checked()?, checked("read_time", read_time)?, checked("write_time", write_time)?);
    let users = below_one("the utilisation by reads and writes", users(rates, read_time, write_time))?;
    Ok(user_residual(rates, read_time, write_time) / (1.0 - users))
}

/// (18): the mean time from the arrival of the write that fills the block to the end of the last copy (rwp).
///
/// # Errors
/// As [`initial_work`].
pub fn relocation_time(rates: Rates, read_time: f64, write_time: f64, copy_time: f64, valid: f64) -> Value {
    let work = initial_work(rates, read_time, write_time)?;
    let copies = checked("valid", valid)? * checked("copy_time", copy_time)?;
    Ok((write_time + copies + work) / (1.0 - users(rates, read_time, write_time)))
}

/// (19): how long a collection takes on average that comes after reads and writes (rwp), as long as collections do not overlap.
///
/// # Errors
/// As [`initial_work`].
pub fn gc_duration_rwp(rates: Rates, times: Times, valid: f64) -> Value {
    let (times, valid) = (times.checked()?, checked("valid", valid)?);
    let work = initial_work(rates, times.read, times.write)?;
    let users = users(rates, times.read, times.write);
    // The second line of (19): the first subtracts what nearly cancels.
    Ok((users * times.write + valid * times.copy + users * work) / (1.0 - users) + times.erase)
}

/// Section 5.2.2: the mean wait of reads and writes that come after collections (cep), if collections arrived as a Poisson stream of their
/// own. The report rejects it, as it is too high: collections come with some regularity, after every so many writes.
///
/// It is the wait of the lower class of the M/G/1 queue with two non-preemptive priorities; a service of the upper class is a collection.
///
/// # Errors
/// As [`mean_wait_rwp`].
pub fn mean_wait_cep_independent(rates: Rates, times: Times, block: Block) -> Value {
    let total = below_one("utilisation", utilisation(rates, times, block)?)?;
    let batch = block.valid * times.copy + times.erase;
    let residual = user_residual(rates, times.read, times.write) + rates.write / block.room() * batch * batch / 2.0;
    Ok(residual / ((1.0 - collection(rates.write, times, block)) * (1.0 - total)))
}

/// A formula that can be chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// The function's name.
    pub name: &'static str,
    /// Its equation or section in the report.
    pub equation: &'static str,
    /// The names of its arguments, in order.
    pub arguments: &'static [&'static str],
    function: fn(&[f64]) -> Value,
}

/// The most arguments that a formula has.
pub const MOST_ARGUMENTS: usize = 10;

impl Formula {
    /// The formula called `name`.
    pub fn named(name: &str) -> Option<&'static Formula> {
        FORMULAS.iter().find(|formula| formula.name == name)
    }

    /// Its value for as many arguments as it has.
    ///
    /// # Errors
    /// Those of its function; numbers so large that the value is none that `f64` holds.
    ///
    /// # Panics
    /// For another number of arguments.
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

fn rates(of: &[f64]) -> Rates {
    Rates { read: of[0], write: of[1] }
}

fn times(of: &[f64]) -> Times {
    Times { read: of[0], write: of[1], copy: of[2], erase: of[3] }
}

fn block(of: &[f64]) -> Block {
    Block { pages: of[0], valid: of[1] }
}

/// The arguments of a formula of the whole model.
const WHOLE: [&str; 8] = ["read_rate", "write_rate", "read_time", "write_time", "copy_time", "erase_time", "pages", "valid"];

macro_rules! formula {
    ($function:ident, $equation:literal, $arguments:expr, |$of:ident| $call:expr) => {
        Formula { name: stringify!($function), equation: $equation, arguments: $arguments, function: |$of| $call }
    };
}

/// All formulas, in the order of the report.
pub static FORMULAS: [Formula; 20] = [
    formula!(write_utilisation, "1", &["write_rate", "write_time"], |a| write_utilisation(a[0], a[1])),
    formula!(read_utilisation, "2", &["read_rate", "read_time"], |a| read_utilisation(a[0], a[1])),
    formula!(copy_utilisation, "3", &["write_rate", "copy_time", "pages", "valid"], |a| copy_utilisation(a[0], a[1], block(&a[2..]))),
    formula!(erase_utilisation, "4", &["write_rate", "erase_time", "pages", "valid"], |a| erase_utilisation(a[0], a[1], block(&a[2..]))),
    formula!(utilisation, "5", &WHOLE, |a| utilisation(rates(a), times(&a[2..]), block(&a[6..]))),
    formula!(max_write_rate, "6", &["reads_per_write", "read_time", "write_time", "copy_time", "erase_time", "pages", "valid"], |a| {
        max_write_rate(a[0], times(&a[1..]), block(&a[5..]))
    }),
    formula!(total_rate, "7", &["write_rate", "reads_per_write"], |a| total_rate(a[0], a[1])),
    formula!(max_throughput, "8", &["reads_per_write", "read_time", "write_time", "copy_time", "erase_time", "pages", "valid"], |a| {
        max_throughput(a[0], times(&a[1..]), block(&a[5..]))
    }),
    formula!(write_amplification, "9", &["pages", "valid"], |a| write_amplification(block(a))),
    formula!(
        max_throughput_amplified,
        "10",
        &["reads_per_write", "read_time", "write_time", "copy_time", "erase_time", "pages", "amplification"],
        |a| max_throughput_amplified(a[0], times(&a[1..]), a[5], a[6])
    ),
    formula!(copy_batch_rate, "11", &["write_rate", "pages", "valid"], |a| copy_batch_rate(a[0], block(&a[1..]))),
    formula!(copy_rate, "12", &["write_rate", "pages", "valid"], |a| copy_rate(a[0], block(&a[1..]))),
    formula!(
        wait_balance_rwp,
        "13",
        &["read_queue", "write_queue", "read_rate", "write_rate", "read_time", "write_time", "copy_time", "erase_time", "pages", "valid"],
        |a| wait_balance_rwp(a[0], a[1], rates(&a[2..]), times(&a[4..]), block(&a[8..]))
    ),
    formula!(queue_length, "14", &["wait", "rate"], |a| queue_length(a[0], a[1])),
    formula!(mean_wait_rwp, "15", &WHOLE, |a| mean_wait_rwp(rates(a), times(&a[2..]), block(&a[6..]))),
    formula!(gc_duration_cep, "16", &["copy_time", "erase_time", "valid"], |a| gc_duration_cep(a[0], a[1], a[2])),
    formula!(initial_work, "17", &["read_rate", "write_rate", "read_time", "write_time"], |a| initial_work(rates(a), a[2], a[3])),
    formula!(relocation_time, "18", &["read_rate", "write_rate", "read_time", "write_time", "copy_time", "valid"], |a| relocation_time(
        rates(a),
        a[2],
        a[3],
        a[4],
        a[5]
    )),
    formula!(gc_duration_rwp, "19", &["read_rate", "write_rate", "read_time", "write_time", "copy_time", "erase_time", "valid"], |a| {
        gc_duration_rwp(rates(a), times(&a[2..]), a[6])
    }),
    formula!(mean_wait_cep_independent, "5.2.2", &WHOLE, |a| mean_wait_cep_independent(rates(a), times(&a[2..]), block(&a[6..]))),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1 of the report, ms, and the load of section 5.1.
    const TIMES: Times = Times { read: 0.0763, write: 0.9264, copy: 0.9507, erase: 3.0003 };
    const BLOCK: Block = Block { pages: 256.0, valid: 64.0 };
    const RATES: Rates = Rates { read: 1.0, write: 0.5 };
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

    fn near(value: Value, expected: f64) {
        let value = value.unwrap();
        assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value}, expected {expected}");
    }

    #[test]
    fn the_examples_of_the_report() {
        // Section 5.1: 0.54 of the time for users, 0.71 in all.
        near(Ok(write_utilisation(0.5, 0.9264).unwrap() + read_utilisation(1.0, 0.0763).unwrap()), 0.5395);
        let total = utilisation(RATES, TIMES, BLOCK).unwrap();
        assert_eq!((total * 100.0).round(), 71.0);
        near(write_amplification(BLOCK), 4.0 / 3.0);
        let most = max_throughput(2.0, TIMES, BLOCK).unwrap();
        assert!((most - 2.125).abs() < 5e-4, "{most}");
        near(max_throughput_amplified(2.0, TIMES, 256.0, 4.0 / 3.0), most);
        near(gc_duration_cep(TIMES.copy, TIMES.erase, 64.0), 63.8451);
    }

    #[test]
    fn what_must_agree_does() {
        let parts = [
            write_utilisation(0.5, TIMES.write),
            read_utilisation(1.0, TIMES.read),
            copy_utilisation(0.5, TIMES.copy, BLOCK),
            erase_utilisation(0.5, TIMES.erase, BLOCK),
        ];
        near(utilisation(RATES, TIMES, BLOCK), parts.map(Result::unwrap).iter().sum());
        near(total_rate(max_write_rate(2.0, TIMES, BLOCK).unwrap(), 2.0), max_throughput(2.0, TIMES, BLOCK).unwrap());
        near(copy_rate(0.5, BLOCK), 64.0 * copy_batch_rate(0.5, BLOCK).unwrap());
        // At the maximum the die is busy all the time.
        let write = max_write_rate(2.0, TIMES, BLOCK).unwrap();
        near(utilisation(Rates { read: 2.0 * write, write }, TIMES, BLOCK), 1.0);
        // (15) solves (13) with (14).
        let wait = mean_wait_rwp(RATES, TIMES, BLOCK).unwrap();
        let queue = |rate| queue_length(wait, rate).unwrap();
        near(wait_balance_rwp(queue(1.0), queue(0.5), RATES, TIMES, BLOCK), wait);
        // (19) is (18) without the wait and service of the last write, and with the erase.
        let relocation = relocation_time(RATES, TIMES.read, TIMES.write, TIMES.copy, 64.0).unwrap();
        let before = TIMES.write + initial_work(RATES, TIMES.read, TIMES.write).unwrap();
        near(gc_duration_rwp(RATES, TIMES, 64.0), relocation - before + TIMES.erase);
        // A queue that only reads is M/D/1: its wait is known apart.
        let reads = Rates { read: 5.0, write: 0.0 };
        let load = 5.0 * TIMES.read;
        near(mean_wait_rwp(reads, TIMES, BLOCK), load * TIMES.read / (2.0 * (1.0 - load)));
        near(mean_wait_cep_independent(reads, TIMES, BLOCK), load * TIMES.read / (2.0 * (1.0 - load)));
        assert!(mean_wait_cep_independent(RATES, TIMES, BLOCK).unwrap() > 5.0 * wait);
    }

    fn example(formula: &Formula) -> Vec<f64> {
        formula.arguments.iter().map(|name| EXAMPLE.iter().find(|(known, _)| known == name).expect("an example").1).collect()
    }

    #[test]
    fn the_table_has_every_formula_once_and_its_arguments_in_order() {
        let names: std::collections::BTreeSet<_> = FORMULAS.iter().map(|formula| formula.name).collect();
        assert_eq!(names.len(), FORMULAS.len());
        assert!(FORMULAS.iter().all(|formula| formula.arguments.len() <= MOST_ARGUMENTS));
        let by_name = |name: &str| Formula::named(name).map(|formula| formula.value(&example(formula)).unwrap()).unwrap();
        near(utilisation(RATES, TIMES, BLOCK), by_name("utilisation"));
        near(mean_wait_rwp(RATES, TIMES, BLOCK), by_name("mean_wait_rwp"));
        near(gc_duration_rwp(RATES, TIMES, 64.0), by_name("gc_duration_rwp"));
        near(max_throughput(2.0, TIMES, BLOCK), by_name("max_throughput"));
        near(max_throughput(2.0, TIMES, BLOCK), by_name("max_throughput_amplified"));
        near(wait_balance_rwp(0.8, 0.4, RATES, TIMES, BLOCK), by_name("wait_balance_rwp"));
        near(relocation_time(RATES, TIMES.read, TIMES.write, TIMES.copy, 64.0), by_name("relocation_time"));
    }

    #[test]
    fn every_argument_of_every_formula_is_checked() {
        for formula in &FORMULAS {
            for (place, name) in formula.arguments.iter().enumerate() {
                for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut arguments = example(formula);
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
        let full = Block { pages: 256.0, valid: 256.0 };
        assert!(write_amplification(full).unwrap_err().to_string().starts_with("valid is 256: "));
        assert!(write_amplification(Block { pages: 0.0, valid: 0.0 }).unwrap_err().to_string().starts_with("pages is 0: "));
        assert!(max_throughput_amplified(2.0, TIMES, 256.0, 0.5).unwrap_err().to_string().starts_with("amplification is 0.5: "));
        let idle = Times { read: 0.0, write: 0.0, copy: 0.0, erase: 0.0 };
        assert!(max_write_rate(2.0, idle, BLOCK).unwrap_err().to_string().contains("no maximum throughput"));
        let over = Rates { read: 1.0, write: 0.83 };
        let error = mean_wait_rwp(over, TIMES, BLOCK).unwrap_err();
        assert_eq!(error.expected, "a die that is asked for more than it can do has no mean wait; it must be below 1");
        assert!(error.at("5").starts_with("utilisation is 1.121") && error.at("5").contains(" (at index 5): "), "{}", error.at("5"));
        assert!(mean_wait_cep_independent(over, TIMES, BLOCK).is_err());
        // The users alone are not too much, so a collection under rwp does end.
        assert!(gc_duration_rwp(over, TIMES, 64.0).is_ok());
        let users = gc_duration_rwp(Rates { read: 1.0, write: 1.0 }, TIMES, 64.0).unwrap_err().to_string();
        assert!(users.starts_with("the utilisation by reads and writes is 1.0027: "), "{users}");
        assert!(Formula::named("queue_length").unwrap().value(&[1e200, 1e200]).unwrap_err().to_string().contains("too large"));
    }
}
