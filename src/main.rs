//! The command line; all code is in the library.

use std::process::ExitCode;

/// A plan allocates tens of thousands of small texts and maps: mimalloc needs a quarter less CPU. Without huge pages,
/// to keep the memory low.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hcoplan::cli::run()
}
