//! A chat endpoint: `POST /chat` with `{"prompt": "..."}` answers with server-sent events: `session` (its id, to continue it),
//! `text` for each piece of the answer, `done` or `error`. A client that hangs up cancels its run.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example chat_server -- 8080`

use std::convert::Infallible;

use axum::http::StatusCode;
use axum::response::sse::{Event as SseEvent, Sse};
use axum::routing::post;
use axum::{Json, Router};
use futures::{Stream, StreamExt as _, stream};
use rheon::prelude::*;

#[derive(Deserialize)]
struct Chat {
    prompt: String,
    /// The session to continue; a new one without it.
    session: Option<String>,
}

type Events<S> = Result<Sse<S>, (StatusCode, String)>;

async fn chat(Json(chat): Json<Chat>) -> Events<impl Stream<Item = Result<SseEvent, Infallible>>> {
    let builder = Session::builder(".").model("anthropic/claude-sonnet-4-5");
    let builder = match chat.session {
        Some(id) => builder.resume(id),
        None => builder,
    };
    let session = builder.open().await.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    let first = event("session", session.id().to_string());
    let run = session.start(chat.prompt);
    let rest = stream::unfold(Some((session, run)), |state| async {
        let (session, mut run) = state?;
        if let Some(text) = run.text().next().await {
            return Some((event("text", text), Some((session, run))));
        }
        let last = match run.reply().await {
            Ok(reply) => event("done", format!("{} turns", reply.turns)),
            Err(error) => event("error", error.to_string()),
        };
        session.close().await.ok();
        Some((last, None))
    });
    Ok(Sse::new(stream::iter([first]).chain(rest).map(Ok)))
}

fn event(name: &str, data: String) -> SseEvent {
    SseEvent::default().event(name).data(data)
}

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "8080".into());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/chat", post(chat))).await?;
    Ok(())
}
