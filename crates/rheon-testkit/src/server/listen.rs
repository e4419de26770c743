//! The socket: accepts, counts and serves connections until the server is dropped.

use std::io;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::CertifiedKey;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::flush::{CountedStream, Flushes};
use super::serve::{Connection, answer};
use super::state::State;

pub(crate) async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, state: Arc<State>) {
    loop {
        // The error concerns a connection that was never established, for instance one that was reset while it waited.
        let Ok((stream, _)) = listener.accept().await else { continue };
        // Small pieces must be sent separately; if this cannot be set they may be merged, which no test depends on.
        let _nodelay = stream.set_nodelay(true);
        let mut number = 0;
        state.records.change(|log| {
            log.connections += 1;
            number = log.connections;
        });
        let serving = Arc::clone(&state);
        let tls = tls.clone();
        state.spawn(async move {
            match tls {
                None => serve(stream, number, &serving).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, number, &serving).await;
                    }
                }
            }
            serving.records.change(|log| log.closed += 1);
        });
    }
}

async fn serve<S>(stream: S, number: usize, state: &Arc<State>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let flushes = Arc::new(Flushes::default());
    let connection = Connection { number, state: Arc::clone(state), flushes: Arc::clone(&flushes) };
    let io = TokioIo::new(CountedStream { stream, flushes });
    let service = service_fn(move |request| answer(connection.clone(), request));
    // Fails whenever a script cuts a response or a client disconnects; the log says which.
    let _ended = auto::Builder::new(TokioExecutor::new()).serve_connection(io, service).await;
}

/// A certificate for the loopback addresses and what serves it.
pub(crate) struct Certificate {
    /// For clients that are to trust it.
    pub(crate) pem: String,
    /// Speaks TLS with it.
    pub(crate) acceptor: TlsAcceptor,
}

impl Certificate {
    /// A new one.
    pub(crate) fn new() -> io::Result<Self> {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
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
