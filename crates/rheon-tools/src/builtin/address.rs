//! `AddressRule`: which network addresses a tool may reach.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rheon_sandbox::is_public_address;

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
            Self::Public => is_public_address(address),
        }
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
