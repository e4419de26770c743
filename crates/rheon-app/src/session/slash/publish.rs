//! `/publish`: servers of the session at local ports, for the user's browser.

use rheon_types::ClientError;
use rheon_types::protocol::{Ack, Command};

use super::super::open::OpenSession;
use super::outcome::Slash;

const USAGE: &str = "use /publish PORT, /publish PORT LOCAL_PORT or /publish stop PORT, as in /publish 5173";

/// Lists what is published, or publishes or withdraws a server.
pub(super) fn answer(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    let port = |text: &str| {
        text.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| ClientError::invalid(USAGE))
    };
    let words: Vec<&str> = arguments.split_whitespace().collect();
    Ok(Slash::Command(match words.as_slice() {
        [] => return Ok(Slash::Done(Ack { notes: vec![listed(session)?], ..Ack::default() })),
        ["stop", stopped] => Command::WithdrawPort { port: port(stopped)? },
        [published] => Command::PublishPort { port: port(published)?, local_port: None },
        [published, local] => Command::PublishPort { port: port(published)?, local_port: Some(port(local)?) },
        _ => return Err(ClientError::invalid(USAGE)),
    }))
}

fn listed(session: &OpenSession) -> Result<String, ClientError> {
    let mut lines = session.published()?.lines();
    lines.push(USAGE.into());
    Ok(lines.join("\n"))
}
