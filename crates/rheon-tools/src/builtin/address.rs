//! `AddressRule`: which network addresses a tool may reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressRule {
    /// Addresses of the public internet.
    Public,
    /// All addresses, for instance to reach a local server.
    Any,
}

impl AddressRule {
    pub(super) fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Public => is_public(address),
        }
    }
}

fn is_public(address: IpAddr) -> bool {
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

/// Resolves names and keeps only the allowed addresses, so that the checked address is the one that is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilteringResolver(pub(super) AddressRule);

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rule = self.0;
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = addresses.filter(|address| rule.allows(address.ip())).collect();
            if allowed.is_empty() {
                return Err(format!("{} has no allowed address", name.as_str()).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_allowed() {
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001:0:7f00:1::",
            "3fff::1",
            "64:ff9b:1::808:808",
            "::ffff:0:7f00:1",
            "::127.0.0.1",
        ];
        for text in private {
            assert!(!AddressRule::Public.allows(text.parse().unwrap()), "{text}");
        }
        for text in
            ["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
        {
            assert!(AddressRule::Public.allows(text.parse().unwrap()), "{text}");
        }
    }
}
