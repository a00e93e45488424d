//! Which addresses are public. These are own tables because the standard library's checks are unstable or call transition
//! forms, multicast and the Azure wire server global.

use std::net::{IpAddr, Ipv4Addr};

/// The one class that an address falls in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressVerdict {
    Public,
    /// What it is instead, with an article.
    Refused(&'static str),
}

use AddressVerdict::{Public, Refused};

/// A block of addresses, its first bits left-aligned in 128. The longest block that holds an address decides.
pub(super) struct Block {
    pub(super) first_bits: u128,
    pub(super) length: u32,
    pub(super) verdict: AddressVerdict,
}

impl Block {
    pub(super) fn holds(&self, bits: u128) -> bool {
        // A shift by all 128 bits is no shift: the default route holds everything.
        (bits ^ self.first_bits)
            .checked_shr(128 - self.length)
            .is_none_or(|difference| difference == 0)
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u32, verdict: AddressVerdict) -> Block {
    let bits = Ipv4Addr::new(a, b, c, d).to_bits() as u128;
    Block {
        first_bits: bits << 96,
        length,
        verdict,
    }
}

/// `groups` are the block's first groups of 16 bits.
const fn v6(groups: &[u16], length: u32, verdict: AddressVerdict) -> Block {
    let mut first_bits = 0;
    let mut index = 0;
    while index < groups.len() {
        first_bits |= (groups[index] as u128) << (112 - 16 * index);
        index += 1;
    }
    Block {
        first_bits,
        length,
        verdict,
    }
}

/// IANA IPv4 special-purpose registry, multicast and reserved space, and the one metadata address that looks public.
#[rustfmt::skip]
pub(super) const V4: [Block; 18] = [
    v4(0, 0, 0, 0, 0, Public),
    v4(0, 0, 0, 0, 8, Refused("an address of \"this network\" (RFC 791)")),
    v4(10, 0, 0, 0, 8, Refused("a private address (RFC 1918)")),
    v4(100, 64, 0, 0, 10, Refused("a carrier's shared address (RFC 6598)")),
    v4(127, 0, 0, 0, 8, Refused("a loopback address (RFC 1122)")),
    v4(168, 63, 129, 16, 32, Refused("a cloud provider's metadata address")),
    v4(169, 254, 0, 0, 16, Refused("a link-local address (RFC 3927)")),
    v4(172, 16, 0, 0, 12, Refused("a private address (RFC 1918)")),
    v4(192, 0, 0, 0, 24, Refused("a protocol assignment (RFC 6890)")),
    v4(192, 0, 2, 0, 24, Refused("a documentation address (RFC 5737)")),
    v4(192, 88, 99, 0, 24, Refused("a 6to4 relay address (RFC 7526)")),
    v4(192, 168, 0, 0, 16, Refused("a private address (RFC 1918)")),
    v4(198, 18, 0, 0, 15, Refused("a benchmarking address (RFC 2544)")),
    v4(198, 51, 100, 0, 24, Refused("a documentation address (RFC 5737)")),
    v4(203, 0, 113, 0, 24, Refused("a documentation address (RFC 5737)")),
    v4(224, 0, 0, 0, 4, Refused("a multicast address (RFC 5771)")),
    v4(240, 0, 0, 0, 4, Refused("a reserved address (RFC 1112)")),
    v4(255, 255, 255, 255, 32, Refused("the broadcast address (RFC 919)")),
];

/// Only global unicast space is public (RFC 4291 section 2.4), less the IANA IPv6 special-purpose registry. Every form
/// that carries an IPv4 address inside is refused whatever it carries, because a translator on the way would unpack
/// it; NAT64 of a public IPv4 address is refused with them, which a host that lives behind DNS64 alone would notice.
#[rustfmt::skip]
pub(super) const V6: [Block; 26] = [
    v6(&[], 0, Refused("an address outside global unicast space (RFC 4291)")),
    v6(&[0, 0, 0, 0, 0, 0, 0, 0], 128, Refused("the unspecified address (RFC 4291)")),
    v6(&[0, 0, 0, 0, 0, 0, 0, 1], 128, Refused("a loopback address (RFC 4291)")),
    v6(&[0, 0, 0, 0, 0, 0], 96, Refused("an IPv4-compatible address (RFC 4291)")),
    v6(&[0, 0, 0, 0, 0, 0xffff], 96, Refused("an IPv4-mapped address (RFC 4291)")),
    v6(&[0, 0, 0, 0, 0xffff, 0], 96, Refused("an IPv4-translated address (RFC 2765)")),
    v6(&[0x64, 0xff9b], 96, Refused("a NAT64 address (RFC 6052)")),
    v6(&[0x64, 0xff9b, 1], 48, Refused("a local NAT64 address (RFC 8215)")),
    v6(&[0x100], 64, Refused("a discard-only address (RFC 6666)")),
    v6(&[0x100, 0, 0, 1], 64, Refused("a dummy prefix's address (RFC 9780)")),
    v6(&[0x2000], 3, Public),
    v6(&[0x2001], 23, Refused("a protocol assignment (RFC 2928)")),
    v6(&[0x2001], 32, Refused("a Teredo address (RFC 4380)")),
    v6(&[0x2001, 2], 48, Refused("a benchmarking address (RFC 5180)")),
    v6(&[0x2001, 0x10], 28, Refused("an ORCHID identifier (RFC 4843)")),
    v6(&[0x2001, 0x20], 28, Refused("an ORCHID identifier (RFC 7343)")),
    v6(&[0x2001, 0x30], 28, Refused("a drone's identity tag (RFC 9374)")),
    v6(&[0x2001, 0xdb8], 32, Refused("a documentation address (RFC 3849)")),
    v6(&[0x2002], 16, Refused("a 6to4 address (RFC 3056)")),
    v6(&[0x3fff], 20, Refused("a documentation address (RFC 9637)")),
    v6(&[0x5f00], 16, Refused("a segment routing identifier (RFC 9602)")),
    v6(&[0xfc00], 7, Refused("a unique local address (RFC 4193)")),
    v6(&[0xfe00], 9, Refused("a reserved address (RFC 4291)")),
    v6(&[0xfe80], 10, Refused("a link-local address (RFC 4291)")),
    v6(&[0xfec0], 10, Refused("a site-local address (RFC 3879)")),
    v6(&[0xff00], 8, Refused("a multicast address (RFC 4291)")),
];

const ISATAP_OF_REFUSED: AddressVerdict =
    Refused("an ISATAP address of a host that is not public (RFC 5214)");

/// The class of any address. Total, and free of any knowledge of this machine.
pub fn classify(address: IpAddr) -> AddressVerdict {
    match address {
        IpAddr::V4(address) => longest_match(&V4, u128::from(address.to_bits()) << 96),
        IpAddr::V6(address) => match longest_match(&V6, address.to_bits()) {
            Public => classify_interface(address.to_bits()),
            refused => refused,
        },
    }
}

/// ISATAP may stand in any prefix: the interface identifier `0000:5efe` or `0200:5efe`, then an IPv4 address.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low 32 bits are the IPv4 address"
)]
fn classify_interface(bits: u128) -> AddressVerdict {
    let marker = (bits >> 32) as u32;
    let inner = u128::from(bits as u32) << 96;
    if marker & !0x0200_0000 == 0x5efe && longest_match(&V4, inner) != Public {
        return ISATAP_OF_REFUSED;
    }
    Public
}

fn longest_match(table: &[Block], bits: u128) -> AddressVerdict {
    table
        .iter()
        .filter(|block| block.holds(bits))
        .max_by_key(|block| block.length)
        // Both tables hold a block of length 0; refusing is what a lost one would mean.
        .map_or(Refused("an address of an unknown kind"), |block| {
            block.verdict
        })
}
