//! Tells cargo what the compiler cannot see: the presets are built in as a whole folder, so that a file dropped into it counts.

fn main() {
    println!("cargo::rerun-if-changed=presets");
}
