//! Makes texts and questions that were not meant to be answered, and asks: `cargo run --release --manifest-path
//! tests/fuzz/Cargo.toml --bin evidence -- [OPTIONS] [FILE...]`, see `run.rs`.

mod question;
mod random;
mod run;
mod texts;

use std::process::ExitCode;

use run::Target;

fn main() -> ExitCode {
    let target = Target {
        folder: "evidence/pages",
        corpus: texts::corpus,
        input: texts::input,
        body: question::question,
    };
    run::main(target, std::env::args().skip(1))
}
