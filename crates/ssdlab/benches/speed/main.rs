//! How fast the simulator is, by the speed budget: rates of the timed simulation and of the untimed replay against a plain C loop, all measured in
//! alternating turns of one run, of which the median counts.
//!
//! | arguments | what it does |
//! |---|---|
//! | none | prints every line of the budget; `TURNS=5` sets the number of turns, `LONG=1` adds the run of 10^8 requests |
//! | `--serve` | measures one turn of each case named on standard input: for `tools/compare_speed.py` |

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

mod cases;
mod plain;

use std::io::{self, BufRead, Write};

use cases::{Bench, Case};

const TURNS: usize = 5;

fn main() {
    let mut bench = Bench::default();
    if std::env::args().any(|argument| argument == "--serve") {
        return serve(&mut bench);
    }
    let turns = std::env::var("TURNS").map_or(TURNS, |turns| turns.parse().expect("TURNS is a number of turns, at least 1"));
    budget(&mut bench, turns);
}

/// One turn for each case named on standard input. Answers with the number of requests and the seconds of processor time that they took.
fn serve(bench: &mut Bench) {
    for line in io::stdin().lock().lines() {
        let name = line.expect("a line");
        let Some(case) = Case::ALL.into_iter().find(|case| case.name() == name) else {
            println!("unknown");
            continue;
        };
        match bench.turn(case) {
            Some(turn) => println!("{} {:.9}", turn.requests, turn.processor_s.unwrap_or(turn.seconds)),
            None => println!("absent"),
        }
        io::stdout().flush().expect("a reader");
    }
}

/// The rates of each case, requests a second, a value for each turn. Empty for what cannot be measured here.
struct Rates(Vec<(Case, Vec<f64>)>);

impl Rates {
    /// The median over the turns, requests a second.
    fn median(&self, case: Case) -> f64 {
        let (_, rates) = self.0.iter().find(|(of, _)| *of == case).expect("every case is measured");
        median(rates.clone())
    }

    /// The median over the turns of the ratio of two rates of one turn.
    fn ratio(&self, case: Case, to: Case) -> f64 {
        let of = |case| &self.0.iter().find(|(of, _)| *of == case).expect("every case is measured").1;
        median(of(case).iter().zip(of(to)).map(|(rate, to)| rate / to).collect())
    }
}

/// The middle value, NaN where there is none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn budget(bench: &mut Bench, turns: usize) {
    let long = std::env::var_os("LONG").is_some();
    let cases: Vec<Case> = Case::ALL.into_iter().filter(|case| long || *case != Case::Requests(8)).collect();
    println!("Medians of {turns} alternating turns. 4 KiB uniform random writes on the lee2013 drive in steady state unless said.");
    let mut rates = Rates(cases.iter().map(|&case| (case, Vec::new())).collect());
    for turn in 0..turns {
        for (case, rates) in &mut rates.0 {
            // Runs of 10^7 requests and more take long and vary little.
            if turn < case.turns() {
                rates.extend(bench.turn(*case).map(|turn| turn.rate()));
            }
        }
    }
    let row = |name: &str, case: Case, share: f64, of: &str, asked: &str| {
        println!("  {name:<34}{:>12.0} requests/s  {share:>6.2} of {of:<26}{asked}", rates.median(case));
    };
    println!("  {:<34}{:>12.0} requests/s", "plain C loop", rates.median(Case::PlainC));
    for (case, asked) in Case::SHARES {
        row(case.name(), case, rates.ratio(case, Case::PlainC), "the C loop", &format!("asked: at least {asked}"));
    }
    row("npgc with series", Case::Series, rates.ratio(Case::Series, Case::Timed("npgc")), "npgc", "asked: at least 0.91");
    println!("Ratios to an older commit: tools/compare_speed.py");
    for case in [Case::Rwp, Case::Reads] {
        println!(
            "  {:<34}{:>12.0} requests/s                                   asked: at least 1.6 of d0952d1",
            case.name(),
            rates.median(case)
        );
    }
    println!("1,024 chips against 16 with as many pages in all, 8 KiB, half of them reads");
    for dynamic in [false, true] {
        let (few, many) = (Case::Chips { many: false, dynamic }, Case::Chips { many: true, dynamic });
        println!("  {:<34}{:>12.0} requests/s", few.name(), rates.median(few));
        row(many.name(), many, rates.ratio(many, few), "the rate with 16", "asked: at least 0.5");
    }
    println!("Cost of a request by the length of the run");
    let base = rates.median(Case::Requests(6));
    for &case in cases.iter().filter(|case| matches!(case, Case::Requests(_))) {
        row(case.name(), case, base / rates.median(case), "the cost at 10^6", "asked: 0.9 to 1.1");
    }
    println!(
        "1 TB drive (elyasi2017 as it ships, filled), 10,000 requests from start to finish: {:.3} s (asked: under 2 s), with series {:.3} s",
        cases::terabyte_drive_s(false),
        cases::terabyte_drive_s(true)
    );
}
