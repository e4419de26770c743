//! `Target`: where the messages of one signal go, and in which form.

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use secrecy::{ExposeSecret as _, SecretString};

use super::field::{Field, json, protobuf};

/// The shortest header value that is redacted in a collector's answer; shorter ones occur in ordinary words.
const SECRET_BYTES_MIN: usize = 4;

/// The kind of data that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Traces,
    Metrics,
}

/// The encoding of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

/// The compression of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
}

/// Where the messages of one signal go, and in which form.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) signal: Signal,
    pub(super) address: String,
    pub(super) variable: String,
    /// Often contain credentials.
    pub(super) headers: Vec<(String, SecretString)>,
    pub(super) encoding: Encoding,
    pub(super) compression: Compression,
    /// The timeout of one attempt.
    pub(super) timeout: Duration,
}

impl Signal {
    /// Its name in URLs and notices.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
        }
    }

    /// The unit that a collector counts.
    pub(super) fn parts(self) -> &'static str {
        match self {
            Self::Traces => "spans",
            Self::Metrics => "data points",
        }
    }
}

impl Target {
    /// The headers of every message.
    pub(super) fn headers(&self) -> Vec<(String, SecretString)> {
        let kind = match self.encoding {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        };
        let mut headers = self.headers.clone();
        headers.push(("content-type".into(), SecretString::from(kind)));
        match self.compression {
            Compression::None => {}
            Compression::Gzip => headers.push(("content-encoding".into(), SecretString::from("gzip"))),
        }
        headers
    }

    /// The encoded body of a message.
    pub(super) fn encoded(&self, message: &[Field]) -> Bytes {
        let plain = match self.encoding {
            Encoding::Protobuf => protobuf(message),
            Encoding::Json => json(message).to_string().into_bytes(),
        };
        match self.compression {
            Compression::None => plain.into(),
            // Writing to memory does not fail.
            Compression::Gzip => gzipped(&plain).unwrap_or_default().into(),
        }
    }

    /// A collector's answer without our credentials, which it may repeat.
    pub(super) fn without_secrets(&self, text: String) -> String {
        let values = self.headers.iter().map(|(_, value)| value.expose_secret());
        let secrets = values.filter(|value| value.len() >= SECRET_BYTES_MIN);
        secrets.fold(text, |text, secret| text.replace(secret, "[redacted]"))
    }
}

fn gzipped(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
    encoder.write_all(plain)?;
    encoder.finish()
}
