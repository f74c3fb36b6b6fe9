//! How fast the simulator is. With `--serve` it measures one turn of each case that is named on standard input, for `tools/speed.py` (the speed
//! budget) and `tools/compare_speed.py` (this tree against an older commit); else it names the cases.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

mod cases;
mod clock;
mod plain;

use std::io::{self, BufRead, Write};

use cases::{Bench, CASES};

fn main() {
    if std::env::args().any(|argument| argument == "--serve") {
        return serve(&mut Bench::default());
    }
    println!("The speed budget: make bench. Cases:");
    CASES.iter().for_each(|case| println!("  {}", case.name));
}

/// One turn for each case named on standard input. Answers with the number of requests (or lines), and the seconds of real time and of processor
/// time that they took; `absent` for what cannot be measured here.
fn serve(bench: &mut Bench) {
    for line in io::stdin().lock().lines() {
        let name = line.expect("a line");
        match CASES.iter().find(|case| case.name == name).map(|case| bench.turn(case)) {
            None => println!("unknown"),
            Some(None) => println!("absent"),
            Some(Some(turn)) => println!("{} {:.9} {:.9}", turn.requests, turn.seconds, turn.processor_s.unwrap_or(turn.seconds)),
        }
        io::stdout().flush().expect("a reader");
    }
}
