//! A self-signed certificate for tests with TLS.

use std::io;
use std::sync::Arc;

use rcgen::CertifiedKey;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// A certificate for the loopback addresses, and its TLS configuration.
pub(crate) struct Certificate {
    /// For clients that trust it.
    pub(crate) pem: String,
    pub(crate) acceptor: TlsAcceptor,
}

impl Certificate {
    pub(crate) fn new() -> io::Result<Self> {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { pem: cert.pem(), acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}
