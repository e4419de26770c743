//! TLS: which certificates the client trusts, and which protocols it offers.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use rheon_types::{ProviderError, ProviderErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use url::Url;

use super::{HttpRequest, TransportConfig};
use crate::test_server::transport_with;

/// A server for one connection. Returns the negotiated protocol.
struct TlsServer {
    url: Url,
    certificate: String,
    agreed: JoinHandle<Option<Vec<u8>>>,
}

async fn serve(protocols: &[&[u8]]) -> TlsServer {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("https://{}/x", listener.local_addr().unwrap())).unwrap();
    let agreed = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut socket = TlsAcceptor::from(Arc::new(config)).accept(socket).await.ok()?;
        let agreed = socket.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        let mut request = [0; 4_096];
        let read = socket.read(&mut request).await.unwrap();
        if request[..read].starts_with(b"POST /x HTTP/1.1\r\n") {
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
            socket.flush().await.unwrap();
        }
        agreed
    });
    TlsServer { url, certificate: own.cert.pem(), agreed }
}

async fn ask(server: &TlsServer, extra_roots: Vec<Vec<u8>>) -> Result<Bytes, ProviderError> {
    let request = HttpRequest {
        method: Method::POST,
        url: server.url.clone(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    let transport = transport_with(TransportConfig { extra_roots, ..TransportConfig::default() });
    Ok(transport.send(&request).await?.read_to_end(Bytes::new(), 100).await?.bytes)
}

#[tokio::test]
async fn configured_certificate_is_trusted() {
    let server = serve(&[b"http/1.1"]).await;
    let roots = vec![server.certificate.clone().into_bytes()];
    assert_eq!(ask(&server, roots).await.unwrap(), "ok");
    assert_eq!(server.agreed.await.unwrap().as_deref(), Some(&b"http/1.1"[..]));
}

#[tokio::test]
async fn unknown_certificate_is_a_network_error_with_help() {
    let server = serve(&[]).await;
    let error = ask(&server, Vec::new()).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Network);
    assert!(error.message.contains("certificate"), "{}", error.message);
    assert!(error.message.ends_with("set SSL_CERT_FILE to its certificate"), "{}", error.message);
}

#[tokio::test]
async fn http_2_is_used_if_the_server_supports_it() {
    let server = serve(&[b"h2", b"http/1.1"]).await;
    let roots = vec![server.certificate.clone().into_bytes()];
    assert!(ask(&server, roots).await.is_err(), "this server does not really speak it");
    assert_eq!(server.agreed.await.unwrap().as_deref(), Some(&b"h2"[..]));
}
