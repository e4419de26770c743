//! What a client of the proxy asks for: HTTP `CONNECT`, a plain HTTP request with a whole URL, or SOCKS5.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// A request to reach a host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HostRequest {
    pub(super) host: String,
    pub(super) port: u16,
    /// The password, which names the call that asks.
    pub(super) token: Option<String>,
    pub(super) protocol: Protocol,
    /// What to send to the host first.
    pub(super) forward: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Connect,
    PlainHttp,
    Socks5,
}

/// Why a request cannot be served. The client gets the text where its protocol has room for one.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) protocol: Protocol,
    pub(super) status: u16,
    pub(super) text: String,
}

const HEAD_BYTES_MAX: usize = 32 * 1024;

/// Reads a request. `None` if the client says nothing that this proxy understands.
pub(super) async fn read_request<Stream>(stream: &mut Stream) -> std::io::Result<Option<HostRequest>>
where
    Stream: AsyncRead + AsyncWrite + Unpin,
{
    let mut first = [0; 1];
    stream.read_exact(&mut first).await?;
    match first {
        [5] => read_socks(stream).await,
        [4] => Ok(None),
        [byte] => read_http(stream, byte).await,
    }
}

async fn read_http<Stream>(stream: &mut Stream, first: u8) -> std::io::Result<Option<HostRequest>>
where
    Stream: AsyncRead + AsyncWrite + Unpin,
{
    let mut head = vec![first];
    let end = loop {
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if head.len() > HEAD_BYTES_MAX || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    };
    let (head, body) = head.split_at(end + 4);
    Ok(parse_http(&String::from_utf8_lossy(head), body))
}

/// Reads the head of an HTTP request. `body` is what arrived after it.
fn parse_http(head: &str, body: &[u8]) -> Option<HostRequest> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let token = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    let token = token.and_then(|(_, value)| password(value.trim()));
    if method == "CONNECT" {
        let (host, port) = host_and_port(target, None)?;
        return Some(HostRequest { host, port, token, protocol: Protocol::Connect, forward: body.to_vec() });
    }
    let rest = target.strip_prefix("http://")?;
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (host, port) = host_and_port(authority, Some(80))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    // One request per connection: the next one may name another host.
    let mut forward =
        format!("{method} {slash}{path} {version}\r\nHost: {authority}\r\nConnection: close\r\n");
    for (name, value) in headers {
        let is_hop =
            ["host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "upgrade"]
                .iter()
                .any(|hop| name.eq_ignore_ascii_case(hop));
        if !is_hop {
            forward.push_str(&format!("{name}:{value}\r\n"));
        }
    }
    forward.push_str("\r\n");
    let forward = [forward.as_bytes(), body].concat();
    Some(HostRequest { host, port, token, protocol: Protocol::PlainHttp, forward })
}

fn host_and_port(authority: &str, default: Option<u16>) -> Option<(String, u16)> {
    if authority.contains('@') {
        return None;
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().ok()?,
        None => default?,
    };
    (!host.is_empty() && host.len() <= 255).then(|| (host.to_owned(), port))
}

/// The password of `Basic` credentials.
fn password(value: &str) -> Option<String> {
    let encoded = value.strip_prefix("Basic ").or_else(|| value.strip_prefix("basic "))?;
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}

/// SOCKS5 without the first byte: with or without a user name, `CONNECT` only.
async fn read_socks<Stream>(stream: &mut Stream) -> std::io::Result<Option<HostRequest>>
where
    Stream: AsyncRead + AsyncWrite + Unpin,
{
    let methods = read_counted(stream).await?;
    let token = if methods.contains(&2) {
        stream.write_all(&[5, 2]).await?;
        let _version = stream.read_u8().await?;
        let _user = read_counted(stream).await?;
        let password = read_counted(stream).await?;
        stream.write_all(&[1, 0]).await?;
        String::from_utf8(password).ok()
    } else if methods.contains(&0) {
        stream.write_all(&[5, 0]).await?;
        None
    } else {
        stream.write_all(&[5, 0xff]).await?;
        return Ok(None);
    };
    let mut request = [0; 4];
    stream.read_exact(&mut request).await?;
    let [5, command, 0, kind] = request else { return Ok(None) };
    let host = match kind {
        1 => {
            let mut address = [0; 4];
            stream.read_exact(&mut address).await?;
            std::net::Ipv4Addr::from(address).to_string()
        }
        3 => String::from_utf8_lossy(&read_counted(stream).await?).into_owned(),
        4 => {
            let mut address = [0; 16];
            stream.read_exact(&mut address).await?;
            std::net::Ipv6Addr::from(address).to_string()
        }
        _ => return Ok(None),
    };
    let port = stream.read_u16().await?;
    if command != 1 || host.is_empty() {
        stream.write_all(&socks_reply(7)).await?;
        return Ok(None);
    }
    Ok(Some(HostRequest { host, port, token, protocol: Protocol::Socks5, forward: Vec::new() }))
}

async fn read_counted<Stream: AsyncRead + Unpin>(stream: &mut Stream) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

fn socks_reply(code: u8) -> [u8; 10] {
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

impl Protocol {
    /// Tells the client that it is connected.
    pub(super) async fn accept<Stream: AsyncWrite + Unpin>(self, stream: &mut Stream) -> std::io::Result<()> {
        match self {
            Self::Connect => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
            Self::PlainHttp => Ok(()),
            Self::Socks5 => stream.write_all(&socks_reply(0)).await,
        }
    }
}

impl Refusal {
    pub(super) async fn send<Stream: AsyncWrite + Unpin>(&self, stream: &mut Stream) -> std::io::Result<()> {
        match self.protocol {
            Protocol::Connect | Protocol::PlainHttp => {
                let reason = if self.status == 403 { "Forbidden" } else { "Bad Gateway" };
                let (status, text) = (self.status, &self.text);
                let length = text.len() + 1;
                let answer = format!(
                    "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
                     Connection: close\r\n\r\n{text}\n"
                );
                stream.write_all(answer.as_bytes()).await
            }
            Protocol::Socks5 => {
                // Not allowed by rules; host unreachable.
                stream.write_all(&socks_reply(if self.status == 403 { 2 } else { 4 })).await
            }
        }
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
