//! The program with jemalloc: after a crowd has left, jemalloc returns its memory, which the C library keeps in fragments
//! (58 against 117 MiB a minute after tests/load/siege).

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    context402::cli::run()
}
