//! Host names: what a public one looks like, and the ones that are never public. The text is canonical here: lower
//! case, ASCII, mapped by UTS 46, without a final dot.

use crate::domain::target::TargetError;

/// RFC 1035 section 2.3.4.
const LABEL_BYTES_MAX: usize = 63;
/// RFC 1035 section 2.3.4: 255 bytes on the wire are 253 characters of text.
const NAME_BYTES_MAX: usize = 253;

/// Suffixes that never lead to a public site: the special-use registry (RFC 6761 and its additions), what ICANN
/// withholds (SSAC 113 `internal`; `corp`, `home`, `mail`), and what routers, container engines and clusters use.
const SPECIAL_SUFFIXES: [&str; 28] = [
    "localhost",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "localdomain",
    "arpa",
    "invalid",
    "test",
    "example",
    "onion",
    "i2p",
    "alt",
    "consul",
    "svc",
    "mail",
    "localdomain4",
    "localdomain6",
    "localnet",
    "intra",
    "workgroup",
    "docker",
    "cluster",
    "kube",
    "gnu",
];

/// Names of instance metadata services that lie under ordinary suffixes; their addresses may look public.
const METADATA_NAMES: [&str; 5] = [
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.cloud.ibm.com",
];

pub(super) fn check(name: &str) -> Result<(), TargetError> {
    check_spelling(name)?;
    if let Some(suffix) = SPECIAL_SUFFIXES
        .into_iter()
        .find(|suffix| is_under(name, suffix))
    {
        return Err(TargetError::SpecialName(suffix));
    }
    let Some((_, last)) = name.rsplit_once('.') else {
        return Err(TargetError::SingleLabel);
    };
    if METADATA_NAMES
        .into_iter()
        .any(|metadata| is_under(name, metadata))
    {
        return Err(TargetError::MetadataName);
    }
    if last.starts_with("xn--") || last.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Ok(())
    } else {
        Err(TargetError::Name("its last part must be letters"))
    }
}

/// Whether a name has the form of a host's, public or not.
pub(super) fn check_spelling(name: &str) -> Result<(), TargetError> {
    if name.len() > NAME_BYTES_MAX {
        return Err(TargetError::Name("it is longer than 253 characters"));
    }
    name.split('.').try_for_each(check_label)
}

fn check_label(label: &str) -> Result<(), TargetError> {
    if label.is_empty() {
        return Err(TargetError::Name("a part between two dots is empty"));
    }
    if label.len() > LABEL_BYTES_MAX {
        return Err(TargetError::Name(
            "a part of it is longer than 63 characters",
        ));
    }
    // The underscore is no host name's by RFC 1123, but real sites have it.
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if label.bytes().all(allowed) {
        Ok(())
    } else {
        Err(TargetError::Name(
            "it may hold letters, digits, hyphens and dots",
        ))
    }
}

/// Whether `name` is `parent` or lies below it.
fn is_under(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
