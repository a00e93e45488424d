//! Sizes, counts, amounts and names as people read them.

use crate::domain::amount::Amount;
use crate::domain::ids::ReportId;

/// Bytes in the largest unit of which there is one at least: `50.8 GiB`, `12 bytes`.
pub fn size(bytes: u64) -> String {
    let mut size = (bytes, 0, "bytes");
    for unit in ["KiB", "MiB", "GiB", "TiB"] {
        let (whole, ..) = size;
        if whole < 1024 {
            break;
        }
        size = (whole / 1024, whole % 1024 * 10 / 1024, unit);
    }
    match size {
        (bytes, _, "bytes") => format!("{bytes} bytes"),
        (whole, 0, unit) => format!("{whole} {unit}"),
        (whole, tenths, unit) => format!("{whole}.{tenths} {unit}"),
    }
}

/// An amount with at least two decimals: `0.10`, `1.00`, `0.012`.
pub fn cents(amount: Amount) -> String {
    let shown = amount.to_string();
    match shown.split_once('.') {
        None => format!("{shown}.00"),
        Some((whole, fraction)) => format!("{whole}.{fraction:0<2}"),
    }
}

/// A network's common name, or its identifier.
pub fn network_name(network: &str) -> &str {
    match network {
        "eip155:8453" => "Base",
        "eip155:84532" => "Base Sepolia",
        other => other,
    }
}

/// The label of a decision in a reader's words, the same on pages, in e-mails and in PDFs. Programs get the label itself.
pub fn label_words(name: &str) -> String {
    match name {
        "unsupported" => "not stated".to_owned(),
        "partially_supported" => "partly supported".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What the id of a bundle's report names: one that is sold over x402 has no order.
pub fn named_by(id: &str) -> &'static str {
    match id.starts_with(ReportId::PREFIX) {
        true => "Report",
        false => "Order",
    }
}

/// Text at the beginning of a sentence.
pub fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// A count with its thousands apart: `12,000`.
pub fn grouped(count: u64) -> String {
    grouped_digits(&count.to_string())
}

pub fn grouped_digits(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_people_read_them() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.5 KiB"),
            (512 << 20, "512 MiB"),
            (52_001 << 20, "50.7 GiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(count), expected);
        }
    }
}
