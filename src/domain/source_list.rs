//! Parses a list of sources: addresses separated by lines, commas or spaces, including bare domains.
//! `target` decides which are allowed.

/// Most addresses of one list that are looked at.
pub const LISTED_MAX: usize = 100;

/// The addresses of a text, in order, bare domains with `https://` before them; and how many more there were than are
/// looked at.
pub fn listed(text: &str) -> (Vec<String>, usize) {
    let is_between = |c: char| c.is_whitespace() || c == ',';
    let mut pieces = text.split(is_between).filter_map(address);
    let found: Vec<String> = pieces.by_ref().take(LISTED_MAX).collect();
    (found, pieces.count())
}

/// One address as it was meant, if it is one at all: without quotes and brackets around it, with its scheme.
pub fn address(piece: &str) -> Option<String> {
    let bare = unwrapped(piece.trim());
    if !bare.chars().any(char::is_alphanumeric) {
        return None;
    }
    Some(match has_scheme(bare) {
        true => bare.to_owned(),
        false => format!("https://{}", bare.trim_start_matches("//")),
    })
}

fn unwrapped(piece: &str) -> &str {
    let mut bare = piece.trim_start_matches(['"', '\'', '<', '(']);
    // Not the bracket before an IPv6 address.
    if bare.starts_with("[\"") || bare.starts_with("['") {
        bare = bare.trim_start_matches(['[', '"', '\'']);
    }
    // Closing brackets that nothing in the address has opened.
    let count = |c: char| bare.chars().filter(|&other| other == c).count();
    let mut round = count(')').saturating_sub(count('('));
    let mut square = count(']').saturating_sub(count('['));
    loop {
        match bare.chars().last() {
            Some('"' | '\'' | '>' | ';') => {}
            Some(')') if round > 0 => round -= 1,
            Some(']') if square > 0 => square -= 1,
            _ => return bare,
        }
        bare = &bare[..bare.len() - 1];
    }
}

/// `example.com:443` names a port, not a scheme.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme && (rest.starts_with("//") || !(scheme.contains('.') || scheme == "localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(listed(text).0, expected, "{text:?}");
    }

    #[test]
    fn lists_are_read_as_people_write_them() {
        check("", &[]);
        check(" \r\n, ,", &[]);
        check(
            "https://a.example/x\nhttp://b.example, c.example\td.example/path",
            &[
                "https://a.example/x",
                "http://b.example",
                "https://c.example",
                "https://d.example/path",
            ],
        );
        check(
            "- example.com\n* www.example.org;\n• <https://example.net/a_(b)>",
            &[
                "https://example.com",
                "https://www.example.org",
                "https://example.net/a_(b)",
            ],
        );
        check(
            "[\"https://a.example\",\"b.example\"]",
            &["https://a.example", "https://b.example"],
        );
        check(
            "(see example.com/a)",
            &["https://see", "https://example.com/a"],
        );
    }

    #[test]
    fn other_schemes_and_ports_are_left_for_the_policy() {
        check(
            "ftp://a.example javascript:alert(1) mailto:a@b.example",
            &[
                "ftp://a.example",
                "javascript:alert(1)",
                "mailto:a@b.example",
            ],
        );
        check(
            "a.example:8080/x localhost:80 //a.example",
            &[
                "https://a.example:8080/x",
                "https://localhost:80",
                "https://a.example",
            ],
        );
        check(
            "http://[2001:db8::1]/ https://[2001:db8::1]",
            &["http://[2001:db8::1]/", "https://[2001:db8::1]"],
        );
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read_as_addresses(text in ".{0,300}") {
            let (found, more) = listed(&text);
            proptest::prop_assert!(found.len() <= LISTED_MAX && (more == 0 || found.len() == LISTED_MAX));
            for address in found {
                proptest::prop_assert!(has_scheme(&address), "{}", address);
                proptest::prop_assert!(!address.contains([' ', ',', '\n']), "{}", address);
            }
        }
    }

    #[test]
    fn a_list_without_end_is_counted_and_not_kept() {
        let (found, more) = listed(&"a.example ".repeat(10_000));
        assert_eq!((found.len(), more), (LISTED_MAX, 10_000 - LISTED_MAX));
    }
}
