//! What the loop is compared with: the same work by hand, without a log, limits, hooks, permission or cancellation.

use std::any::Any;
use std::future::poll_fn;
use std::hint::black_box;
use std::sync::Arc;

use rheon::providers::scripted::ScriptedProvider;
use rheon::types::{Chunk, ChunkStream, History, Message, Provider, Request, Timestamp, Tool};
use tokio::sync::{broadcast, mpsc};
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::Job;
use super::fixtures::{DELTA, Noop, PROMPT, answer, answers, context, shared_arguments, streams};

/// Text turns of a loop that one would write by hand: ask, gather the text, keep both messages.
pub(super) fn text_turns(turns: u32) -> Job {
    let provider = answers();
    Box::pin(async move {
        let mut history = History::new();
        for _ in 0..turns {
            history.push(Arc::new(Message::user(PROMPT, Timestamp::default()).into()));
            let text = gathered(&mut ask(&provider, history.clone()), |_| {}).await;
            history.push(Arc::new(answer(text).into()));
        }
        Box::new((provider, history)) as Box<dyn Any>
    })
}

/// The provider's own share of a delta: its stream is read and thrown away.
pub(super) fn provider_alone(deltas: u32) -> Job {
    let provider = streams(deltas);
    Box::pin(async move {
        let mut stream = ask(&provider, History::new());
        while let Some(chunk) = next_chunk(&mut stream).await {
            if let Chunk::Done { .. } = black_box(chunk) {
                break;
            }
            consume_budget().await;
        }
        Box::new((provider, stream)) as Box<dyn Any>
    })
}

/// A delta without a provider: appended to a text, and sent as a `String` to a task that reads it.
pub(super) fn push_and_send(deltas: u32) -> Job {
    Box::pin(async move {
        let (sender, receiver) = mpsc::unbounded_channel();
        let reader = tokio::spawn(count(receiver));
        let mut text = String::new();
        for _ in 0..deltas {
            let delta = black_box(DELTA);
            text.push_str(delta);
            sender.send(delta.to_owned()).expect("the reader reads");
            consume_budget().await;
        }
        drop(sender);
        assert_eq!(reader.await.expect("the reader reads to the end"), deltas);
        Box::new(text) as Box<dyn Any>
    })
}

/// A delta in a loop that one would write by hand, without an observer: the text is gathered.
pub(super) fn gather(deltas: u32) -> Job {
    let provider = streams(deltas);
    Box::pin(async move {
        let mut stream = ask(&provider, History::new());
        let text = gathered(&mut stream, |_| {}).await;
        Box::new((provider, stream, text)) as Box<dyn Any>
    })
}

/// The same for one who watches: each delta is also sent as a `String` to a task that reads it.
pub(super) fn gather_and_send(deltas: u32) -> Job {
    let provider = streams(deltas);
    Box::pin(async move {
        let (sender, receiver) = mpsc::unbounded_channel();
        let reader = tokio::spawn(count(receiver));
        let mut stream = ask(&provider, History::new());
        let send = |delta: &str| sender.send(delta.to_owned()).expect("the reader reads");
        let text = gathered(&mut stream, send).await;
        drop(sender);
        assert_eq!(reader.await.expect("the reader reads to the end"), deltas);
        Box::new((provider, stream, text)) as Box<dyn Any>
    })
}

async fn gathered(stream: &mut ChunkStream, show: impl Fn(&str)) -> String {
    let mut text = String::new();
    while let Some(chunk) = next_chunk(stream).await {
        match chunk {
            Chunk::Text { delta } => {
                text.push_str(&delta);
                show(&delta);
            }
            Chunk::Done { .. } => break,
            _ => {}
        }
        consume_budget().await;
    }
    text
}

async fn count(mut receiver: mpsc::UnboundedReceiver<String>) -> u32 {
    let mut deltas = 0;
    while let Some(delta) = receiver.recv().await {
        black_box(delta);
        deltas += 1;
    }
    deltas
}

/// So many shared texts through tokio's broadcast channel, to so many tasks.
pub(super) fn broadcast(subscribers: usize, deltas: u32) -> Job {
    Box::pin(async move {
        let sender = broadcast::Sender::<Arc<String>>::new(1024);
        let readers: Vec<_> = (0..subscribers).map(|_| tokio::spawn(drain(sender.subscribe()))).collect();
        let mut text = String::new();
        for _ in 0..deltas {
            let delta = black_box(DELTA);
            text.push_str(delta);
            sender.send(Arc::new(delta.to_owned())).expect("the receiver lives");
            consume_budget().await;
        }
        drop(sender);
        for reader in readers {
            assert_eq!(reader.await.expect("a subscriber reads to the end"), deltas);
        }
        Box::new(text) as Box<dyn Any>
    })
}

async fn drain(mut receiver: broadcast::Receiver<Arc<String>>) -> u32 {
    let mut deltas = 0;
    loop {
        match receiver.recv().await {
            Ok(delta) => {
                black_box(delta);
                deltas += 1;
            }
            Err(broadcast::error::RecvError::Lagged(missed)) => panic!("a subscriber missed {missed} texts"),
            Err(broadcast::error::RecvError::Closed) => return deltas,
        }
    }
}

/// Calls of the tool that does nothing, awaited one after the other.
pub(super) fn execute(calls: u32) -> Job {
    let tool: Arc<dyn Tool> = Arc::new(Noop);
    let (arguments, context) = (shared_arguments(), context());
    Box::pin(async move {
        for _ in 0..calls {
            black_box(tool.execute(Arc::clone(&arguments), context.clone()).await)
                .expect("the tool succeeds");
        }
        Box::new((tool, arguments, context)) as Box<dyn Any>
    })
}

/// The same, each call as a task of its own.
pub(super) fn spawn(calls: u32) -> Job {
    let tool: Arc<dyn Tool> = Arc::new(Noop);
    let (arguments, context) = (shared_arguments(), context());
    Box::pin(async move {
        for _ in 0..calls {
            let (tool, arguments, context) = (Arc::clone(&tool), Arc::clone(&arguments), context.clone());
            let task = tokio::spawn(async move { tool.execute(arguments, context).await });
            black_box(task.await.expect("the task ends")).expect("the tool succeeds");
        }
        Box::new((tool, arguments, context)) as Box<dyn Any>
    })
}

fn ask(provider: &ScriptedProvider, messages: History) -> ChunkStream {
    let request = Request { messages, ..Request::new("scripted") };
    provider.stream(request, CancellationToken::new())
}

async fn next_chunk(stream: &mut ChunkStream) -> Option<Chunk> {
    let next = poll_fn(|context| stream.as_mut().poll_next(context)).await?;
    Some(next.expect("the scripted stream does not fail"))
}
