//! CSV rows (RFC 4180), escaped against formula injection in spreadsheets.

/// One row with its line end. Every cell is quoted.
pub fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

/// SECURITY: spreadsheets run a cell that begins like a formula, even after spaces; an apostrophe makes it text.
fn cell(text: &str) -> String {
    let begins = |text: &str| {
        text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
    };
    let guard = match begins(text) || begins(text.trim_start()) {
        true => "'",
        false => "",
    };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_stranger_writes_is_a_formula() {
        for (text, expected) in [
            ("plain, with \"quotes\"", "\"plain, with \"\"quotes\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "\"'=1+1\""),
            ("  =HYPERLINK(\"x\")", "\"'  =HYPERLINK(\"\"x\"\")\""),
            ("+49 30 1234", "\"'+49 30 1234\""),
            ("-2", "\"'-2\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("\r\n=1", "\"'\r\n=1\""),
            ("＝1+1", "\"'＝1+1\""),
            ("a=1", "\"a=1\""),
            ("", "\"\""),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
        assert_eq!(row(["a", "=b"]), "\"a\",\"'=b\"\r\n");
    }
}
