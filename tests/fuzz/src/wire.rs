//! Makes what the wire may bring and reads it: `cargo run --release --manifest-path tests/fuzz/Cargo.toml --bin wire --
//! TARGET [OPTIONS] [FILE...]`, with one of the targets below and what `run.rs` says.

mod forwarded;
mod mutation;
mod payment;
mod random;
mod records;
mod request;
mod run;
mod target;
mod webhook;

use std::process::ExitCode;

use run::Target;

macro_rules! target {
    ($module:ident) => {
        Target {
            folder: ".",
            corpus: $module::corpus,
            input: $module::input,
            body: $module::body,
        }
    };
}

const TARGETS: &[(&str, Target)] = &[
    ("forwarded", target!(forwarded)),
    ("payment", target!(payment)),
    ("records", target!(records)),
    ("request", target!(request)),
    ("target", target!(target)),
    ("webhook", target!(webhook)),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let named = arguments.next();
    let target = TARGETS
        .iter()
        .find(|(name, _)| Some(*name) == named.as_deref());
    let Some((_, target)) = target else {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("name one of: {}", names.join(", "));
        return ExitCode::from(2);
    };
    run::main(*target, arguments)
}
