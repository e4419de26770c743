//! A headless run: a prompt goes in, a view of the events comes out.

use rheon_app::session::{OpenSession, Opening, SessionEndReason};
use rheon_types::{AgentEvent, Client as _, Command, Content, Event};
use tokio_util::sync::CancellationToken;

use crate::command::open;
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{OutputFlags, OutputFormat};
use crate::format::{EventsView, TextView, View};
use crate::output::{Output, Reader, complain, murmur};
use crate::signals::Signals;

/// Runs one prompt and shows what happens.
pub(crate) async fn answer(opening: Opening, prompt: String, flags: &OutputFlags) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
    let session = open(opening).await?;
    let mut shown = Screen { output: Output::new(cancel.clone()), view: view(&session, flags) };
    let ending = run(&session, prompt, &cancel, |event| shown.show(event)).await?;
    session.close(SessionEndReason::Other).await;
    match shown.output.close() {
        Ok(Reader::There) => {}
        // Whoever stops reading has seen enough.
        Ok(Reader::Left) => return Ok(Exit::Done),
        Err(error) => return Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
    if let Some(problem) = ending.problem() {
        complain(&problem);
    }
    Ok(ending.exit(signals.received()))
}

/// Speaks line by line with a program that drives us.
pub(crate) async fn converse(
    _opening: Opening,
    _first: Option<String>,
    _flags: &OutputFlags,
) -> Result<Exit, Failure> {
    Err(Failure::error("--input-format stream-json is not there yet"))
}

/// Where a run is shown.
struct Screen {
    output: Output,
    view: Box<dyn View>,
}

impl Screen {
    fn show(&mut self, event: &Event) {
        let shown = self.view.event(event);
        murmur(&shown.err);
        self.output.write(&shown.out);
    }
}

fn view(_session: &OpenSession, flags: &OutputFlags) -> Box<dyn View> {
    match flags.output_format {
        OutputFormat::Events => Box::new(EventsView),
        OutputFormat::Text | OutputFormat::Json | OutputFormat::StreamJson => Box::new(TextView::default()),
    }
}

/// Sends a prompt and follows its run to the end.
async fn run(
    session: &OpenSession,
    prompt: String,
    cancel: &CancellationToken,
    mut show: impl FnMut(&Event),
) -> Result<Ending, Failure> {
    let client = session.client();
    let mut watch = client.watch();
    let sent = client.send(Command::Prompt { content: vec![Content::Text { text: prompt }] }).await;
    sent.map_err(Failure::error)?;
    let mut ending = Ending::default();
    let mut is_cancelled = false;
    loop {
        let event = tokio::select! {
            event = watch.next() => event,
            () = cancel.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                client.send(Command::Cancel).await.map_err(Failure::error)?;
                continue;
            }
        };
        let Some(event) = event else { break };
        ending.observe(&event);
        show(&event);
        if let AgentEvent::AgentEnd { .. } = &event.kind {
            break;
        }
    }
    Ok(ending)
}
