//! Which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the address is on the public internet: not private, loopback, link-local or reserved.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_unspecified()
        || address.is_multicast();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmark = a == 198 && (b == 18 || b == 19);
    let protocol = a == 192 && b == 0 && c == 0;
    !(special || shared || benchmark || protocol || a == 0 || a >= 240)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Global unicast is 2000::/3. Of it, 2001::/23 is for protocols such as tunnels (Teredo), and 2001:db8::/32 and
    // 3fff::/20 are for documentation.
    let [first, second, ..] = address.segments();
    let protocol = first == 0x2001 && second < 0x0200;
    let document = (first == 0x2001 && second == 0x0db8) || (first == 0x3fff && second < 0x1000);
    first & 0xe000 == 0x2000 && !protocol && !document
}

/// The IPv4 address embedded in an IPv6 address: mapped, translated (NAT64) or tunneled (6to4).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, third, fourth, fifth, sixth, ..] = address.segments();
    let octets = address.octets();
    let at = |start: usize| {
        let four = octets.get(start..start + 4)?;
        Some(Ipv4Addr::from(<[u8; 4]>::try_from(four).ok()?))
    };
    match (first, second) {
        // Longer prefixes of this kind are for private networks.
        (0x0064, 0xff9b) if [third, fourth, fifth, sixth] == [0; 4] => at(12),
        (0x2002, _) => at(2),
        (0, 0) if third == 0 => address.to_ipv4(),
        _ => None,
    }
}
