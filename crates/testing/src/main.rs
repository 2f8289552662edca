//! Copies a directory of fixtures without annotations, for scripts: `hcoplan-testing FROM TO`.

#![expect(clippy::print_stderr, reason = "a script's user reads it")]

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        eprintln!("usage: hcoplan-testing FROM TO");
        return ExitCode::from(2);
    };
    match hcoplan_testing::annotations::copy(Path::new(from), Path::new(to)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hcoplan-testing: {from} to {to}: {error}");
            ExitCode::FAILURE
        }
    }
}
