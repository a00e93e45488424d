//! Makes pages that were not meant to be read, and reads them: `cargo run --release --manifest-path
//! tests/fuzz/Cargo.toml -- [OPTIONS] [FILE...]`, see `run.rs`.

mod grammar;
mod page;
mod random;
mod run;

use std::process::ExitCode;

use run::Target;

fn main() -> ExitCode {
    let target = Target {
        folder: "pages",
        corpus: grammar::corpus,
        input: grammar::input,
        body: page::page,
    };
    run::main(target, std::env::args().skip(1))
}
