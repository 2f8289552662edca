//! A program that does nothing but parse its arguments, as hcoplan does: what start-up is held
//! against in `benches/peers`.

use clap::Parser;

/// Parses its arguments.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {}

fn main() {
    let _ = Arguments::parse();
}
