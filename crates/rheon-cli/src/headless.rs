//! A headless run: one prompt, typed or piped in, and the output of its events.

use std::io::{self, IsTerminal as _, Read};
use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::config::InterfaceSettings;
use rheon_app::stream_json::{Projector, StreamOptions, StreamSessionInfo};
use rheon_render::Verbosity;
use rheon_types::protocol::{Ack, CloseReason, OpenRequest};
use rheon_types::{AgentEvent, Command, Host, RunEvent, Subscription};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, config, failure, print_notice};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{OutputFlags, OutputFormat};
use crate::output::{Output, Reader, print_error, print_note};
use crate::run_outcome::RunOutcome;
use crate::signals::Signals;
use crate::terminal::{self, Audience};
use crate::view::{OutputFormatter, View};

/// Runs one prompt and prints its events.
pub(crate) async fn answer(
    host: Arc<dyn Host>,
    request: OpenRequest,
    prompt: String,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    let signals = Signals::cancel(&cancel)
        .map_err(|error| Failure::error(format_args!("cannot handle signals: {error}")))?;
    let limits = config(&*host).await?;
    let session = Connection::open(&*host, request).await?;
    let facts = session.facts().await.map_err(failure)?;
    let look = look(&session, flags, interface).await?;
    let show = View::new(look, Output::new(cancel.clone()));
    let events = Subscription::after(facts.opened_at);
    let outcome = RunOutcome::within(&limits);
    let outcome = show.with_spinner(run(&session, events, prompt, &cancel, &show, outcome)).await;
    let outcome = outcome.inspect_err(|_| show.stop_spinner())?;
    let closed = session.close(CloseReason::Other).await;
    match show.close() {
        Ok(Reader::There) => {}
        // A reader that closes the pipe has seen enough.
        Ok(Reader::Left) => return closed.map(|()| Exit::Done),
        Err(error) => return Err(Failure::error(format_args!("cannot write to standard output: {error}"))),
    }
    let saved = facts.is_saved.then_some(&facts.session_id);
    if let Some(problem) = outcome.problem(saved) {
        print_error(&problem);
    }
    let exit = outcome.exit(signals.received());
    // An answer whose session is not saved is not a success.
    if exit == Exit::Done { closed.map(|()| exit) } else { Ok(exit) }
}

async fn look(
    session: &Connection,
    flags: &OutputFlags,
    interface: &InterfaceSettings,
) -> Result<OutputFormatter, Failure> {
    Ok(match flags.output_format {
        OutputFormat::Text => {
            let detail = if flags.verbose { Verbosity::Verbose } else { Verbosity::Normal };
            let budget = session.budget().await.map_err(failure)?;
            OutputFormatter::Text(terminal::screen(Audience::Reader, interface, detail, budget))
        }
        OutputFormat::Json => OutputFormatter::Result(projector(session, flags).await?),
        OutputFormat::StreamJson => OutputFormatter::Lines(projector(session, flags).await?),
        OutputFormat::Events => OutputFormatter::Log,
    })
}

/// The session in Claude Code's format.
pub(crate) async fn projector(session: &Connection, flags: &OutputFlags) -> Result<Projector, Failure> {
    let shown = StreamOptions {
        partial_messages: flags.include_partial_messages,
        user_messages: flags.replay_user_messages,
        hook_events: flags.include_hook_events,
    };
    let (facts, commands) =
        (session.facts().await.map_err(failure)?, session.commands().await.map_err(failure)?);
    Ok(Projector::new(StreamSessionInfo::new(&facts, &commands, env!("CARGO_PKG_VERSION")), shown))
}

/// Sends a prompt and follows its run to the end.
async fn run(
    session: &Connection,
    events: Subscription,
    prompt: String,
    cancel: &CancellationToken,
    show: &View,
    mut outcome: RunOutcome,
) -> Result<RunOutcome, Failure> {
    let mut events = session.events(events);
    let ack = session.send(Command::Submit { text: prompt }).await.map_err(failure)?;
    if ack.run_id.is_none() {
        show.reply(&reply(&ack));
        return Ok(RunOutcome::completed());
    }
    ack.notes.iter().for_each(|note| print_note(&format!("note: {note}")));
    let mut is_cancelled = false;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = cancel.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                session.send(Command::Cancel { child: None }).await.map_err(failure)?;
                continue;
            }
        };
        let Some(event) = event else { break };
        let event = event.map_err(failure)?;
        print_notice(&event);
        outcome.observe(&event);
        show.event(&event);
        if let AgentEvent::Run(RunEvent::End { .. }) = &event.kind {
            break;
        }
    }
    Ok(outcome)
}

/// What a command without a run has to say.
fn reply(ack: &Ack) -> String {
    let rewound = ack.rewound.as_ref().map(|rewound| match &rewound.session_id {
        Some(session) => {
            format!("{} files restored; the conversation continues in session {session}", rewound.count)
        }
        None => format!("{} files restored", rewound.count),
    });
    let said: Vec<String> = ack.notes.iter().cloned().chain(rewound).collect();
    said.join("\n")
}

/// The most bytes read from standard input.
const STDIN_BYTES_MAX: u64 = 10 << 20;

/// The prompt of a headless run: the typed text followed by the piped text. One of them is required.
pub(crate) fn prompt(typed: Option<String>) -> Result<String, Failure> {
    let stdin = io::stdin();
    let piped = if stdin.is_terminal() { String::new() } else { read(stdin.lock())? };
    join(typed.as_deref(), &piped)
        .ok_or_else(|| Failure::usage("no prompt: pass one, as in rheon -p \"explain this\", or pipe it in"))
}

fn join(typed: Option<&str>, piped: &str) -> Option<String> {
    let typed = typed.map(str::trim_end).filter(|text| !text.trim().is_empty());
    let piped = Some(piped).filter(|text| !text.trim().is_empty());
    match (typed, piped) {
        (Some(typed), Some(piped)) => Some(format!("{typed}\n\n{piped}")),
        (Some(text), None) | (None, Some(text)) => Some(text.to_owned()),
        (None, None) => None,
    }
}

fn read(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = input.take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::error(format_args!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        return Err(Failure::usage(format_args!(
            "standard input has more than {} MiB; save it to a file and name the file in the prompt",
            STDIN_BYTES_MAX >> 20
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Failure::usage(format_args!(
            "standard input is not valid UTF-8 (at byte {place}); save it to a file and name the file in the prompt"
        ))
    })
}

#[cfg(test)]
#[path = "headless_tests.rs"]
mod tests;
