use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::address::{Block, V4, V6};
use super::*;

const REJECT: &str = include_str!("../../../tests/targets/reject.tsv");
const ACCEPT: &str = include_str!("../../../tests/targets/accept.tsv");

/// The rows of a corpus: the text of the target (escapes resolved) and the reason.
fn rows(corpus: &'static str) -> impl Iterator<Item = (String, &'static str)> {
    corpus.lines().skip(1).map(|line| {
        let (text, reason) = line.split_once('\t').expect("two columns");
        (unescape(text, reason), reason)
    })
}

fn unescape(text: &str, reason: &str) -> String {
    if !reason.contains("(escaped") {
        return text.to_owned();
    }
    let mut raw = text.to_owned();
    for (escape, character) in [
        ("\\t", "\t"),
        ("\\n", "\n"),
        ("\\r", "\r"),
        ("\\x00", "\0"),
        ("\\x01", "\u{1}"),
        ("\\x7f", "\u{7f}"),
        ("\\u2028", "\u{2028}"),
        ("\\u00a0", "\u{a0}"),
        ("\\u202e", "\u{202e}"),
    ] {
        raw = raw.replace(escape, character);
    }
    assert_ne!(raw, text, "a row that says escaped holds an escape");
    raw
}

/// What a whole clearing decides when the host's name answers with these addresses.
fn judged(text: &str, answers: &[IpAddr]) -> Result<TargetUrl, TargetError> {
    let target = TargetUrl::parse(text)?;
    match target.literal_address() {
        Some(address) => check_answers(&[address])?,
        None => check_answers(answers)?,
    }
    Ok(target)
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address in a test")
}

#[test]
fn every_target_of_the_reject_list_is_refused() {
    let public = [address("93.184.215.14")];
    let (mut count, mut looked_up) = (0, 0);
    for (text, reason) in rows(REJECT) {
        let answers = reason.strip_prefix("DNS(").map(|rest| {
            let (list, _) = rest.split_once(')').expect("a closed list");
            list.split(',')
                .filter(|one| !one.is_empty())
                .map(address)
                .collect::<Vec<_>>()
        });
        if answers.is_some() {
            looked_up += 1;
            TargetUrl::parse(&text).expect("only the answers of this row are bad");
        }
        let answers = answers.as_deref().unwrap_or(&public);
        assert!(
            judged(&text, answers).is_err(),
            "accepted {text:?} ({reason})"
        );
        count += 1;
    }
    assert!(
        count > 350 && looked_up > 15,
        "{count} rows, {looked_up} with answers"
    );
}

#[test]
fn every_target_of_the_accept_list_is_cleared_and_stays_the_same_when_read_again() {
    let mut count = 0;
    for (text, reason) in rows(ACCEPT) {
        let target = judged(&text, &[address("93.184.215.14")])
            .unwrap_or_else(|error| panic!("refused {text:?} ({reason}): {error}"));
        assert_eq!(TargetUrl::parse(target.as_str()), Ok(target), "{text}");
        count += 1;
    }
    assert!(count > 70, "{count} rows");
}

#[test]
fn the_canonical_text_is_what_is_fetched() {
    let check = |text: &str, expected: &str| {
        assert_eq!(TargetUrl::parse(text).expect(text).as_str(), expected);
    };
    check("HTTP://EXAMPLE.COM", "http://example.com/");
    check(
        "https://example.com:443/a/../b#part",
        "https://example.com/b",
    );
    check("http://example.com:443/", "http://example.com:443/");
    check("https://example.com./x?y", "https://example.com/x?y");
    check(
        "https://münchen.de/straße",
        "https://xn--mnchen-3ya.de/stra%C3%9Fe",
    );
    check(
        "https://[2606:4700:0:0::1111]/",
        "https://[2606:4700::1111]/",
    );
}

#[test]
fn whoever_names_a_bare_domain_is_given_the_address_to_send() {
    let told = |text: &str| explained(text, refusal(text));
    for (text, address) in [
        ("example.com", "https://example.com/"),
        ("www.Example.com/a?b", "https://www.example.com/a?b"),
        ("example.com:443/a", "https://example.com/a"),
        ("bücher.de", "https://xn--bcher-kva.de/"),
    ] {
        let sentence = told(text);
        assert!(
            sentence.contains(&format!("send {address} instead")),
            "{sentence}"
        );
    }
    // What would be refused anyway is not recommended.
    for text in [
        "localhost:3000",
        "10.0.0.1",
        "kubernetes.default",
        "not a url",
        "",
        "ftp://example.com/",
        "user@example.com",
        "http://127.0.0.1/",
    ] {
        assert!(!told(text).contains("instead"), "{}", told(text));
    }
}

fn refusal(text: &str) -> TargetError {
    TargetUrl::parse(text).expect_err(text)
}

#[test]
fn what_is_no_url_at_all_is_told_from_what_is_refused() {
    for text in [
        "",
        "example.com",
        "not a url",
        "//example.com/",
        "ftp://example.com/",
        "http://",
        "mailto:a@b.co",
        "http://example.com:99999/",
        "http://[::1/",
        "http://256.1.1.1/",
    ] {
        let error = refusal(text);
        assert!(error.is_unparseable(), "{text:?}: {error}");
        assert_eq!(error.code(), Code::InvalidTarget);
    }
    let check = |text: &str, code: &str| {
        let error = refusal(text);
        assert_eq!(
            (error.code().text(), error.is_unparseable()),
            (code, false),
            "{text:?}: {error}"
        );
    };
    check(" http://example.com/", "invalid_target");
    check("http:example.com/", "invalid_target");
    check("http:///example.com/", "invalid_target");
    check("http://user:pw@example.com/", "invalid_target");
    check("http://0x08080808/", "invalid_target");
    check("http://a,b.example.com/", "invalid_target");
    check("http://example.com:8080/", "port_not_allowed");
    check("http://example.com:0/", "port_not_allowed");
    check("http://127.0.0.1/", "target_blocked");
    check("http://2130706433/", "target_blocked");
    check("http://[::ffff:8.8.8.8]/", "target_blocked");
    check("http://localhost/", "target_blocked");
    check("http://printer/", "target_blocked");
    check("http://a.metadata.goog/", "target_blocked");
    // Names of clusters and networks, and of nobody: none is looked up.
    for name in [
        "kubernetes.default",
        "kubernetes.default.svc.cluster.local",
        "api.kubesystem",
        "router.fritz",
        "nas.synology",
        "printer.buero",
        "wpad.domain",
        "host.docker.internal",
        "gateway.lan",
        "box.home.arpa",
        "db.localhost",
        "a.b.nosuchsuffix",
        "xn--nxasmq6b.xn--mnchen-3ya",
    ] {
        check(&format!("http://{name}/"), "target_blocked");
        check(&format!("https://{name}./"), "target_blocked");
    }
}

#[test]
fn lengths_are_refused_just_past_their_limit() {
    let url = |characters: usize| {
        let start = "https://example.com/";
        format!("{start}{}", "a".repeat(characters - start.len()))
    };
    assert!(TargetUrl::parse(&url(CHARACTERS_MAX)).is_ok());
    assert_eq!(refusal(&url(CHARACTERS_MAX + 1)), TargetError::TooLong);
    // As it is sent: six characters each.
    let encoded = |letters: usize| format!("https://example.com/{}", "é".repeat(letters));
    assert!(TargetUrl::parse(&encoded(338)).is_ok());
    assert_eq!(refusal(&encoded(339)), TargetError::TooLong);

    let label = |bytes: usize| format!("https://{}.com/", "a".repeat(bytes));
    assert!(TargetUrl::parse(&label(63)).is_ok());
    assert!(TargetUrl::parse(&label(64)).is_err());

    let name = |bytes: usize| {
        let mut name = "a.".repeat(123);
        name.push_str(&"c".repeat(bytes - name.len() - ".com".len()));
        name.push_str(".com");
        assert_eq!(name.len(), bytes);
        name
    };
    assert!(TargetUrl::parse(&format!("https://{}/", name(253))).is_ok());
    assert!(TargetUrl::parse(&format!("https://{}./", name(253))).is_ok());
    assert!(TargetUrl::parse(&format!("https://{}/", name(254))).is_err());
}

#[test]
fn characters_that_nobody_sees_are_refused_wherever_they_stand() {
    for character in [
        '\t', '\0', '\u{7f}', '\u{85}', ' ', '\u{a0}', '\u{ad}', '\u{200b}', '\u{200d}',
        '\u{202e}', '\u{2028}', '\u{2066}', '\u{2060}', '\u{3000}', '\u{feff}', '\\',
    ] {
        for text in [
            format!("https://exa{character}mple.com/"),
            format!("https://example.com/a{character}b"),
            format!("https://example.com/?q={character}"),
            format!("https://example.com/#{character}"),
        ] {
            assert!(TargetUrl::parse(&text).is_err(), "{text:?}");
        }
    }
    assert!(TargetUrl::parse("https://example\u{fe0f}.com/").is_err());
    assert!(TargetUrl::parse("https://example.com/\u{2764}\u{fe0f}").is_ok());
}

#[test]
fn a_redirect_goes_through_the_whole_policy() {
    let from = TargetUrl::parse("https://example.com/a/b?c").expect("a target");
    let check = |location: &str, expected: &str| {
        assert_eq!(from.redirect(location).expect(location).as_str(), expected);
    };
    check("/x", "https://example.com/x");
    check("y z", "https://example.com/a/y%20z");
    check(
        "?q=http://127.0.0.1/",
        "https://example.com/a/b?q=http://127.0.0.1/",
    );
    check("//example.org/x", "https://example.org/x");
    check("HTTP://EXAMPLE.org:80/#f", "http://example.org/");
    check("", "https://example.com/a/b?c");

    for refused in [
        "http://127.0.0.1/",
        "//127.0.0.1/",
        "//0x7f.1/",
        "http://0x08080808/",
        "//user@example.org/",
        "//@example.org/",
        "http://example.org:8080/",
        "///example.org/",
        "/\\example.org/",
        "\\\\example.org/",
        "/\t/example.org/",
        "http:/example.org/",
        "http:example.org",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "http://localhost/",
        "http://exa mple.org/",
        "http://[::1]/",
        "//169.254.169.254/latest/",
        "ftp://example.org/",
        "//",
        "https://metadata.google.internal/",
        "/a\u{0}b",
        "/a\r\nSet-Cookie: x",
    ] {
        assert!(from.redirect(refused).is_err(), "followed {refused:?}");
    }
    assert_eq!(
        from.redirect(&"/a".repeat(4_500)),
        Err(TargetError::TooLong)
    );
}

#[test]
fn one_answer_that_is_not_public_refuses_the_whole_host() {
    let good = [address("93.184.215.14"), address("2606:4700::1111")];
    assert_eq!(check_answers(&good), Ok(()));
    assert_eq!(check_answers(&[]), Err(TargetError::NoAddress));
    for bad in [
        "::1",
        "10.0.0.1",
        "::ffff:93.184.215.14",
        "64:ff9b::5db8:d70e",
    ] {
        assert!(
            check_answers(&[good[0], good[1], address(bad)]).is_err(),
            "{bad}"
        );
    }
}

/// The same question answered without the tables: ranges in whole numbers, as the registries print them.
fn is_public_by_ranges_v4(address: Ipv4Addr) -> bool {
    let ranges = [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
    ];
    !ranges.iter().any(|(first, last)| {
        let read = |text: &str| text.parse::<Ipv4Addr>().expect("an address in a test");
        (read(first)..=read(last)).contains(&address)
    })
}

fn is_public_by_ranges_v6(address: Ipv6Addr) -> bool {
    let ranges = [
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];
    let read = |text: &str| text.parse::<Ipv6Addr>().expect("an address in a test");
    let [.., a, b, c, d, e, f, g, h] = address.octets();
    let isatap = matches!([a, b, c, d], [0 | 2, 0, 0x5e, 0xfe])
        && !is_public_by_ranges_v4(Ipv4Addr::new(e, f, g, h));
    (read("2000::")..=read("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")).contains(&address)
        && !ranges
            .iter()
            .any(|(first, last)| (read(first)..=read(last)).contains(&address))
        && !isatap
}

fn check_against_ranges(address: IpAddr) {
    let expected = match address {
        IpAddr::V4(address) => is_public_by_ranges_v4(address),
        IpAddr::V6(address) => is_public_by_ranges_v6(address),
    };
    assert_eq!(
        classify(address) == AddressVerdict::Public,
        expected,
        "{address}"
    );
}

/// First, last and the two neighbours of a block, left-aligned.
fn edges(block: &Block, unit: u128) -> [u128; 4] {
    let size = 1_u128.checked_shl(128 - block.length).unwrap_or(0);
    let last = block.first_bits.wrapping_add(size).wrapping_sub(unit);
    [
        block.first_bits,
        last,
        block.first_bits.wrapping_sub(unit),
        last.wrapping_add(unit),
    ]
}

#[test]
fn both_edges_of_every_block_and_their_neighbours_are_classified() {
    for bits in V4.iter().flat_map(|block| edges(block, 1 << 96)) {
        let bits = u32::try_from(bits >> 96).expect("32 bits are left");
        check_against_ranges(IpAddr::V4(Ipv4Addr::from_bits(bits)));
    }
    for bits in V6.iter().flat_map(|block| edges(block, 1)) {
        check_against_ranges(IpAddr::V6(Ipv6Addr::from_bits(bits)));
    }
}

/// Two blocks of one length that overlap are the same block: then the longest match is one block, and every address
/// falls in exactly one class.
#[test]
fn the_longest_block_of_an_address_is_one() {
    for table in [&V4[..], &V6[..]] {
        for (index, block) in table.iter().enumerate() {
            assert_eq!(
                block.first_bits & !(u128::MAX.checked_shl(128 - block.length).unwrap_or(0)),
                0,
                "row {index} has bits behind its length"
            );
            for other in &table[index + 1..] {
                assert!(
                    (block.first_bits, block.length) != (other.first_bits, other.length),
                    "row {index} twice"
                );
            }
        }
        assert_eq!(table.iter().filter(|block| block.length == 0).count(), 1);
    }
}

#[test]
fn an_isatap_identifier_is_as_public_as_the_address_inside() {
    let check = |text: &str, public: bool| {
        assert_eq!(
            classify(address(text)) == AddressVerdict::Public,
            public,
            "{text}"
        );
    };
    check("2001:470::5efe:808:808", true);
    check("2001:470::200:5efe:808:808", true);
    check("2001:470::5efe:7f00:1", false);
    check("2001:470::200:5efe:a00:1", false);
    check("2001:470::100:5efe:a00:1", true);
}

proptest! {
    #[test]
    fn every_ipv4_address_is_classified_as_the_registries_say(bits: u32) {
        check_against_ranges(IpAddr::V4(Ipv4Addr::from_bits(bits)));
    }

    #[test]
    fn every_ipv6_address_is_classified_as_the_registries_say(bits: u128, near in 0_usize..V6.len(), low: u64) {
        check_against_ranges(IpAddr::V6(Ipv6Addr::from_bits(bits)));
        check_against_ranges(IpAddr::V6(Ipv6Addr::from_bits(V6[near].first_bits | u128::from(low))));
    }

    #[test]
    fn parsing_never_panics_and_what_it_gives_reads_back(text in "(https?://)?\\PC{0,40}") {
        if let Ok(target) = TargetUrl::parse(&text) {
            prop_assert_eq!(TargetUrl::parse(target.as_str()), Ok(target));
        }
    }
}

#[test]
fn a_domain_is_what_one_owner_holds() {
    for (url, domain) in [
        ("https://example.com/a", "example.com"),
        ("https://a.b.example.com/", "example.com"),
        ("https://www.example.co.uk/", "example.co.uk"),
        // Each of these belongs to somebody else, though the suffix is a company's.
        ("https://somebody.github.io/", "somebody.github.io"),
        ("https://github.io/", "github.io"),
        ("https://co.uk/", "co.uk"),
        ("https://www.xn--85x722f.com.cn/", "xn--85x722f.com.cn"),
        // An address has no domain: its last two numbers are none.
        ("https://93.184.216.34/", "93.184.216.34"),
        ("https://[2606:2800:220:1::1]/", "[2606:2800:220:1::1]"),
    ] {
        let target = TargetUrl::parse(url).expect(url);
        assert_eq!(target.domain(), domain, "{url}");
    }
}
