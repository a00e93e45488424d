//! A configuration file as text: the line of a setting, and how to set one so that everything else stays as it was
//! written, comments included.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::config::ConfigError;

/// The line that sets `key`, counted from 1.
pub(in crate::config) fn line_of(text: &str, key: &str) -> Option<usize> {
    let found = lines(text).position(|line| line.is(key) && !line.is_comment);
    found.map(|index| index + 1)
}

/// The setting of a line, counted from 1.
pub(in crate::config) fn key_at(text: &str, line: usize) -> Option<String> {
    Some(lines(text).nth(line.checked_sub(1)?)?.key)
}

/// `text` with `key` set to `value`: in place of the old value, else of the commented line, else in its section.
pub fn with(text: &str, key: &str, value: &Value) -> Result<String, ConfigError> {
    let wrong = || {
        ConfigError::of(
            key,
            format!("{key} cannot be set without changing something else: set it by hand"),
        )
    };
    let before: Table = text.parse().map_err(|_| wrong())?;
    let after = edited(text, key, value);
    let mut expected = leaves(&before);
    let mut found = leaves(&after.parse::<Table>().map_err(|_| wrong())?);
    let is_set = found.remove(key).as_ref() == Some(value);
    expected.remove(key);
    match is_set && expected == found {
        true => Ok(after),
        false => Err(wrong()),
    }
}

fn edited(text: &str, key: &str, value: &Value) -> String {
    let mut out: Vec<String> = text.lines().map(str::to_owned).collect();
    let parsed: Vec<Line> = lines(text).collect();
    let at = |is_comment| {
        let mut parsed = parsed.iter();
        parsed.position(|line| line.is_comment == is_comment && line.is(key))
    };
    let (section, name) = key.split_once('.').unwrap_or(("", key));
    if let Some(index) = at(false) {
        let last = end_of_value(&out, index);
        let name = written(&out[index]);
        let comment = match index == last {
            true => trailing_comment(&out[index]),
            false => String::new(),
        };
        out.splice(index..=last, [format!("{name} = {value}{comment}")]);
    } else if let Some(index) = at(true) {
        let name = written(out[index].trim_start_matches('#')).to_owned();
        out[index] = format!("{name} = {value}");
    } else if let Some(header) = parsed
        .iter()
        .position(|line| line.is_header && line.section == section)
    {
        out.insert(header + 1, format!("{name} = {value}"));
    } else {
        let top = parsed.iter().position(|line| line.is_header);
        out.insert(top.unwrap_or(out.len()), format!("{key} = {value}"));
    }
    out.join("\n") + "\n"
}

/// The name as the line spells it.
fn written(line: &str) -> &str {
    line.split('=').next().unwrap_or_default().trim()
}

/// The last line of a value that may have several.
fn end_of_value(lines: &[String], first: usize) -> usize {
    let is_whole = |last: &usize| lines[first..=*last].join("\n").parse::<Table>().is_ok();
    (first..lines.len()).find(is_whole).unwrap_or(first)
}

fn trailing_comment(line: &str) -> String {
    let mut marks = line.match_indices('#').map(|(at, _)| line.split_at(at));
    let comment = marks.find(|(value, _)| value.parse::<Table>().is_ok());
    comment.map_or_else(String::new, |(_, comment)| format!("  {comment}"))
}

/// What a line is, as far as it matters here.
struct Line {
    section: String,
    /// The full key that it sets, or would set without its `#`.
    key: String,
    is_comment: bool,
    is_header: bool,
}

impl Line {
    /// Whether it sets `key` or a member of it.
    fn is(&self, key: &str) -> bool {
        let rest = self.key.strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

fn lines(text: &str) -> impl Iterator<Item = Line> {
    let mut section = String::new();
    text.lines().map(move |line| {
        let line = line.trim();
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next())
            .filter(|name| !name.contains(['=', ',', '"', '[']));
        if let Some(name) = header {
            section = name.trim().to_owned();
        }
        // Prose starts with a space after its mark.
        let is_comment = line.starts_with('#');
        let set = line.trim_start_matches('#');
        let is_set = header.is_none() && set.contains('=') && !set.starts_with(' ');
        let name = if is_set { written(set) } else { "" };
        let key = match (name, section.as_str()) {
            ("", _) => String::new(),
            (name, "") => name.to_owned(),
            (name, section) => format!("{section}.{name}"),
        };
        Line {
            section: section.clone(),
            key,
            is_comment,
            is_header: header.is_some(),
        }
    })
}

/// Every setting with its value.
fn leaves(table: &Table) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (name, value) in table {
        match value {
            Value::Table(members) => {
                let members = members.iter();
                found.extend(members.map(|(key, value)| (format!("{name}.{key}"), value.clone())));
            }
            value => drop(found.insert(name.clone(), value.clone())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: &str, value: Value, expected: &str) {
        let edited = with(text, key, &value).expect("can be set");
        assert_eq!(edited, expected, "{key} in {text}");
    }

    #[test]
    fn a_setting_is_set_where_it_stands() {
        let url = || Value::from("https://a.example");
        check(
            "# Mine.\nbase_url = \"x\"  # was y\nlisten = \"z\"\n",
            "base_url",
            url(),
            "# Mine.\nbase_url = \"https://a.example\"  # was y\nlisten = \"z\"\n",
        );
        check(
            "# The address.\n#base_url = \"x\"\n[payment]\n#pay_to = \"y\"\n",
            "payment.pay_to",
            url(),
            "# The address.\n#base_url = \"x\"\n[payment]\npay_to = \"https://a.example\"\n",
        );
        check(
            "#payment.pay_to = \"y\"\n",
            "payment.pay_to",
            url(),
            "payment.pay_to = \"https://a.example\"\n",
        );
        check(
            "listen = \"z\"\n[payment]\nnetwork = \"eip155:1\"\n",
            "payment.pay_to",
            url(),
            "listen = \"z\"\n[payment]\npay_to = \"https://a.example\"\nnetwork = \"eip155:1\"\n",
        );
        check(
            "[fetch]\nseconds_max = 3\n",
            "base_url",
            url(),
            "base_url = \"https://a.example\"\n[fetch]\nseconds_max = 3\n",
        );
        check(
            "trusted_proxies = [\n  \"10.0.0.1\", # the old one\n]\nlisten = \"z\"\n",
            "trusted_proxies",
            Value::Array(vec!["127.0.0.1".into()]),
            "trusted_proxies = [\"127.0.0.1\"]\nlisten = \"z\"\n",
        );
        check("", "base_url", url(), "base_url = \"https://a.example\"\n");
    }

    #[test]
    fn a_line_is_found_in_both_ways_to_write_a_key() {
        let text = "# base_url = prose\nbase_url = 1\n\n[payment]\n#pay_to = 2\npay_to = 3\n";
        assert_eq!(line_of(text, "base_url"), Some(2));
        assert_eq!(line_of(text, "payment.pay_to"), Some(6));
        assert_eq!(line_of(text, "pay_to"), None);
        let dotted = "payment.pay_to = 3\nlab.hosts.x = 1\n";
        assert_eq!(line_of(dotted, "payment.pay_to"), Some(1));
        assert_eq!(line_of(dotted, "lab.hosts"), Some(2));
    }

    #[test]
    fn what_cannot_be_set_alone_is_left_to_the_operator() {
        let text = "payment = { pay_to = \"x\" }\n";
        let refused = with(text, "payment.pay_to", &Value::from("y"));
        assert!(refused.is_err(), "{refused:?}");
    }
}
