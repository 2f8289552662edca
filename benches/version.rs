//! A program that does nothing but parse its arguments, as hcoplan does: `benches/peers` compares
//! the start-up with it.

use clap::Parser;

/// Parses its arguments.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {}

fn main() {
    let _ = Arguments::parse();
}
