//! Usage errors as one line.

use clap::error::ErrorKind;

use crate::cli::Failure;

/// What the standard library says of a number that is none.
const NOT_A_NUMBER: [&str; 2] = [
    "invalid digit found in string",
    "cannot parse integer from empty string",
];

/// Help and version are not failures and are printed unchanged.
pub(in crate::cli) fn is_help(error: &clap::Error) -> bool {
    !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// The paragraphs of clap's message without the usage, joined.
pub(in crate::cli) fn failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = NOT_A_NUMBER.iter().fold(text.to_owned(), |text, said| {
        text.replace(said, "write a whole number")
    });
    let paragraphs = text
        .split("\n\n")
        .map(one_line)
        .filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with("Usage:"));
    let paragraphs: Vec<_> = paragraphs.collect();
    Failure::Usage(paragraphs.join(". ").trim_end_matches('.').to_owned())
}

/// A heading followed by its list.
fn one_line(paragraph: &str) -> String {
    // A list may be longer: its dots would stand before those of the sentence.
    let mut lines = paragraph
        .lines()
        .map(|line| line.trim().trim_end_matches("..."));
    let first = lines.next().unwrap_or_default();
    match lines.collect::<Vec<_>>().join(", ") {
        rest if rest.is_empty() => first.to_owned(),
        rest => format!("{first} {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Args;

    fn check(typed: &str, expected: &str) {
        let Err(error) = Args::try_parse_from(typed.split(' ')) else {
            panic!("{typed} is right")
        };
        assert_eq!(failure(&error).to_string(), expected, "{typed}");
    }

    #[test]
    fn what_was_typed_wrongly_is_told_in_one_line() {
        let more = "For more information, try '--help'";
        check(
            "context402 sell",
            &format!("unrecognized subcommand 'sell'. {more}"),
        );
        check(
            "context402 buy --seller http://a.example",
            &format!(
                "the following required arguments were not provided: --key-file <FILE>, <URL>. {more}"
            ),
        );
        check(
            "context402 convert --fulll",
            &format!(
                "unexpected argument '--fulll' found. tip: a similar argument exists: '--full'. {more}"
            ),
        );
        check(
            "context402 convert --max-tokens abc",
            &format!("invalid value 'abc' for '--max-tokens <N>': write a whole number. {more}"),
        );
        check(
            "context402 completions bosh",
            &format!(
                "invalid value 'bosh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]. tip: a similar value exists: 'bash'. {more}"
            ),
        );
    }
}
