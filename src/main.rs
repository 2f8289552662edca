//! The command line: everything is in the library.

use std::process::ExitCode;

/// A plan is some ten thousand small texts and maps: they take a quarter of the CPU less with it.
/// Without huge pages, so that memory is what is used.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hcoplan::cli::run()
}
