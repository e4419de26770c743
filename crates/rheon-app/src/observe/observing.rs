//! `Observing`: a session is observed as its user asked for it, from before it is opened until after it is closed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::SessionId;

use super::error::ObserveError;
use super::log::{DayFiles, Log, Redactor};
use super::otel::{Collector, Contents, Exporter};
use super::telling::Once;
use super::trace_file::TraceFile;
use crate::session::{OpenSession, Opening, SessionNotice, Tell};

/// How long the end of a session waits for the collector.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(2);

/// A session that is observed. [`Observing::end`] sees to it that nothing is lost.
pub struct Observing {
    trace: Option<TraceFile>,
    log: Option<Log>,
    exporter: Option<Exporter>,
    session_id: Option<SessionId>,
}

impl Observing {
    /// Adds to an opening what observes its session: the trace in a file, the log that is configured, the collector that variables
    /// name. What goes wrong later is told once and ends nothing. Needs a runtime.
    pub fn begin(opening: &mut Opening, trace: Option<&Path>, tell: &Tell) -> Result<Self, ObserveError> {
        let log = log(opening, tell);
        let told = logged(log.as_ref(), tell);
        let trace = trace.map(|path| TraceFile::open(path, Once::new(&told))).transpose()?;
        let exporter = exporter(opening, &told);
        let observers = &mut opening.extras.observers;
        if let Some(trace) = trace.clone() {
            observers.push(Box::new(move |event| trace.observe(event)));
        }
        if let Some(log) = log.clone() {
            observers.push(Box::new(move |event| log.observe(event)));
        }
        if let Some(exporter) = &exporter {
            observers.push(Box::new(exporter.observer()));
        }
        Ok(Self { trace, log, exporter, session_id: None })
    }

    /// The same way to tell, with what is told in the log as well.
    pub fn tell(&self, tell: &Tell) -> Tell {
        logged(self.log.as_ref(), tell)
    }

    /// The session is open.
    pub fn opened(&mut self, session: &OpenSession) {
        if let Some(log) = &self.log {
            let folder = session.working_folder().display().to_string();
            log.opened(session.session_id(), session.model_name(), &folder);
        }
        self.session_id = Some(session.session_id().clone());
    }

    /// The session is closed: what waits is written and sent, within two seconds.
    pub async fn end(self) {
        if let Some(trace) = &self.trace {
            trace.flush();
        }
        if let Some(exporter) = self.exporter {
            exporter.end(LAST_WORDS_TIME_MAX).await;
        }
        if let (Some(log), Some(session_id)) = (&self.log, &self.session_id) {
            log.closed(session_id);
        }
    }
}

/// The same way to tell, with what is told in the log as well.
fn logged(log: Option<&Log>, tell: &Tell) -> Tell {
    let tell = Arc::clone(tell);
    let Some(log) = log.cloned() else { return tell };
    Arc::new(move |notice: SessionNotice| {
        log.notice(&notice);
        tell(notice);
    })
}

/// The log that is configured; none where it is not known where it belongs.
fn log(opening: &Opening, tell: &Tell) -> Option<Log> {
    let settings = opening.config.settings.log;
    let surroundings = &opening.surroundings;
    let folder = surroundings.folders.state().ok()?.join("logs");
    let keys = opening.config.settings.services.keys.values();
    let redactor = Redactor::new(&surroundings.environment, keys, settings.redact);
    let files = DayFiles::new(folder, settings.keep_days);
    let clock = Arc::clone(&surroundings.clock);
    Log::new(settings.level, files, redactor, clock, Once::new(tell))
}

/// The collector that variables name.
fn exporter(opening: &Opening, tell: &Tell) -> Option<Exporter> {
    let surroundings = &opening.surroundings;
    let (collector, odd) = Collector::named_by(&surroundings.environment)?;
    for odd in odd {
        tell(SessionNotice::Observing(odd));
    }
    let (clock, random) = (Arc::clone(&surroundings.clock), Arc::clone(&surroundings.random));
    let contents = Contents::asked_for(&surroundings.environment, || {
        Redactor::new(&surroundings.environment, opening.config.settings.services.keys.values(), true)
    });
    Some(Exporter::begin((collector, contents), clock, random, Once::new(tell)))
}
