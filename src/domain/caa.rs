//! Which authorities may issue a certificate for a host: CAA records (RFC 8659, and RFC 8657 for the ways of validation).

/// The tags that the standards define. An authority must not issue where a critical record has any other.
const KNOWN_TAGS: [&str; 7] = [
    "issue",
    "issuewild",
    "iodef",
    "contactemail",
    "contactphone",
    "issuemail",
    "issuevmc",
];
/// The ways in which we show an authority that a host is ours.
const METHODS: [&str; 2] = ["tls-alpn-01", "http-01"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaaRecord {
    pub is_critical: bool,
    /// In lower case.
    pub tag: String,
    pub value: String,
}

/// Whether an authority with one of these names may issue for a host with these records.
///
/// # Errors
/// What the records say instead.
pub fn check(records: &[CaaRecord], authority: &[String]) -> Result<(), String> {
    let is_unknown =
        |record: &&CaaRecord| record.is_critical && !KNOWN_TAGS.contains(&record.tag.as_str());
    if let Some(record) = records.iter().find(is_unknown) {
        return Err(format!(
            "a critical record with the unknown tag \"{}\" forbids every authority",
            record.tag
        ));
    }
    let mut issuers = records
        .iter()
        .filter(|record| record.tag == "issue")
        .peekable();
    if issuers.peek().is_none() {
        return Ok(());
    }
    let mut allowed = Vec::new();
    for record in issuers {
        let mut parts = record.value.split(';').map(str::trim);
        let issuer = parts.next().unwrap_or_default().trim_end_matches('.');
        let is_ours = authority
            .iter()
            .any(|name| name.eq_ignore_ascii_case(issuer));
        let methods = parts.find_map(|part| part.strip_prefix("validationmethods="));
        let may_validate = methods
            .is_none_or(|methods| methods.split(',').any(|one| METHODS.contains(&one.trim())));
        match (is_ours, may_validate) {
            (true, true) => return Ok(()),
            (true, false) => allowed.push(format!("{issuer}, but not by {}", METHODS.join(" or "))),
            (false, _) if issuer.is_empty() => {}
            (false, _) => allowed.push(issuer.to_owned()),
        }
    }
    Err(match allowed.is_empty() {
        true => "no authority may issue".to_owned(),
        false => format!("only these may issue: {}", allowed.join("; ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_allow_an_authority_or_say_which() {
        let ours = ["letsencrypt.org".to_owned()];
        let judge = |records: &[(bool, &str, &str)]| {
            let records = records.iter().map(|(is_critical, tag, value)| CaaRecord {
                is_critical: *is_critical,
                tag: (*tag).to_owned(),
                value: (*value).to_owned(),
            });
            check(&records.collect::<Vec<_>>(), &ours).err()
        };
        for allowed in [
            &[][..],
            &[
                (false, "issuewild", ";"),
                (true, "iodef", "mailto:a@b.example"),
            ],
            &[(false, "issue", "LetsEncrypt.org")],
            &[
                (false, "issue", "ca.example"),
                (true, "issue", "letsencrypt.org; accounturi=x"),
            ],
            &[(
                false,
                "issue",
                "letsencrypt.org;validationmethods=dns-01,http-01",
            )],
        ] {
            assert_eq!(judge(allowed), None, "{allowed:?}");
        }
        for (records, reason) in [
            (
                &[
                    (false, "issue", "ca.example"),
                    (false, "issue", "b.example"),
                ][..],
                "only these may issue: ca.example; b.example",
            ),
            (&[(false, "issue", ";")], "no authority may issue"),
            (
                &[(true, "future", "letsencrypt.org")],
                "a critical record with the unknown tag \"future\" forbids every authority",
            ),
            (
                &[(false, "issue", "letsencrypt.org; validationmethods=dns-01")],
                "only these may issue: letsencrypt.org, but not by tls-alpn-01 or http-01",
            ),
        ] {
            assert_eq!(judge(records).as_deref(), Some(reason));
        }
    }
}
