//! Validation of e-mail addresses: one rule for forms, payments and deliveries.

use crate::domain::lead::CONTACT_CHARACTERS_MAX;

/// Characters of the part before the at sign (RFC 5321 section 4.5.3.1.1).
const LOCAL_CHARACTERS_MAX: usize = 64;

/// Whether a text is one e-mail address: an unquoted local part (RFC 5322 dot-atom, RFC 6531 letters) and a host name
/// with a dot. Nothing around it, no second address, nothing that breaks a line.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    text.chars().count() <= CONTACT_CHARACTERS_MAX
        && local.chars().count() <= LOCAL_CHARACTERS_MAX
        && local.split('.').all(is_atom)
        && domain.contains('.')
        && domain.split('.').all(is_label)
}

/// An address as it is compared: who writes it with other capitals, or with spaces around it, is the same person.
pub fn comparable(address: &str) -> String {
    address.trim().to_lowercase()
}

fn is_atom(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "!#$%&'*+/=?^_`{|}~-".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

fn is_label(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '-';
    !text.is_empty()
        && text.len() <= 63
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.chars().all(plain)
}

/// A contact as it may be shown to those who know it: `a***@example.com`.
pub fn masked(contact: &str) -> String {
    let first: String = contact.chars().take(1).collect();
    match contact.rsplit_once('@') {
        Some(("", domain)) => format!("***@{domain}"),
        Some((_, domain)) => format!("{first}***@{domain}"),
        None if first.is_empty() => String::new(),
        None => format!("{first}***"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_address_that_mail_reaches() {
        for good in [
            "a@example.com",
            "a.b+c@mail.example.co",
            "o'hara+x@sub.example.com",
            "ä@bücher.example",
            "a@xn--bcher-kva.example",
        ] {
            assert!(is_email(good), "{good}");
        }
        let long_local = format!("{}@b.co", "a".repeat(65));
        let long_label = format!("a@{}.co", "b".repeat(64));
        for bad in [
            "",
            "a",
            "a@b",
            "a@localhost",
            "@b.co",
            "a@.co",
            "a@b.",
            "a@.b.",
            "a@b..co",
            ".a@b.co",
            "a.@b.co",
            "a..b@c.co",
            "a@-b.co",
            "a@b_c.co",
            "a@b@c.co",
            "a b@c.co",
            " a@b.co",
            "a@b.co, c@d.co",
            "<a@b.co>",
            "\"a\"@b.co",
            "a@b.co\r\nBcc: x@y.z",
            "+49 30 1234",
            &long_local,
            &long_label,
        ] {
            assert!(!is_email(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_contact_is_shown_by_its_first_letter() {
        for (contact, shown) in [
            ("anna@example.com", "a***@example.com"),
            ("ü@b.co", "ü***@b.co"),
            ("é@x@b.co", "é***@b.co"),
            ("@b.co", "***@b.co"),
            ("+49 30 1234", "+***"),
            ("", ""),
        ] {
            assert_eq!(masked(contact), shown, "{contact}");
        }
    }
}
