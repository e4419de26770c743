//! `Observability`: trace file, log and OpenTelemetry export of a session, from before it opens until after it closes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::SessionId;
use rheon_types::event::{Notice, NoticeTopic};

use super::error::ObserveError;
use super::log::{DayFiles, Log, Redactor};
use super::notify_once::Once;
use super::otel::{Collector, Contents, Exporter};
use super::trace_file::TraceFile;
use crate::config::Config;
use crate::system::{NoticeSink, Observer, SystemContext};

/// How long the end of a session waits for the collector.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(2);

/// An observed session. Call [`Observability::end`] so that nothing is lost.
pub(crate) struct Observability {
    trace: Option<TraceFile>,
    log: Option<Log>,
    exporter: Option<Exporter>,
    session_id: Option<SessionId>,
}

impl Observability {
    /// The observers of a session: trace file, log and OpenTelemetry collector. What goes
    /// wrong later is shown once and ends nothing. Needs a runtime.
    pub(crate) fn begin(
        system: &SystemContext,
        config: &Config,
        trace: Option<&Path>,
        tell: &NoticeSink,
    ) -> Result<Self, ObserveError> {
        let log = log(system, config, tell);
        let trace = trace.map(|path| TraceFile::open(path, Once::new(tell))).transpose()?;
        let exporter = exporter(system, config, tell);
        Ok(Self { trace, log, exporter, session_id: None })
    }

    /// The observers of every event.
    pub(crate) fn observers(&self) -> Vec<Observer> {
        let trace =
            self.trace.clone().map(|trace| -> Observer { Arc::new(move |event| trace.observe(event)) });
        let log = self.log.clone().map(|log| -> Observer { Arc::new(move |event| log.observe(event)) });
        let exporter = self.exporter.as_ref().map(|exporter| -> Observer { Arc::new(exporter.observer()) });
        trace.into_iter().chain(log).chain(exporter).collect()
    }

    /// The session is open.
    pub(crate) fn opened(&mut self, session_id: &SessionId, model: &str, dir: &Path) {
        if let Some(log) = &self.log {
            log.opened(session_id, model, &dir.display().to_string());
        }
        self.session_id = Some(session_id.clone());
    }

    /// Closes the session's observers: flushes and sends what is buffered, within two seconds.
    pub(crate) async fn end(self) {
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

/// The configured log; none if the state directory is unknown.
fn log(system: &SystemContext, config: &Config, tell: &NoticeSink) -> Option<Log> {
    let settings = config.settings.log;
    let dir = system.dirs.state().ok()?.join("logs");
    let redactor = redactor(system, config, settings.redact);
    let files = DayFiles::new(dir, settings.keep_days);
    Log::new(settings.level, files, redactor, Arc::clone(&system.clock), Once::new(tell))
}

/// The collector that environment variables name.
fn exporter(system: &SystemContext, config: &Config, tell: &NoticeSink) -> Option<Exporter> {
    let (collector, odd) = Collector::named_by(&system.environment)?;
    for odd in odd {
        tell(Notice::warning(NoticeTopic::Observe, odd));
    }
    let (clock, random) = (Arc::clone(&system.clock), Arc::clone(&system.random));
    let contents = Contents::asked_for(&system.environment, || redactor(system, config, true));
    Some(Exporter::begin(collector, contents, clock, random, Once::new(tell)))
}

fn redactor(system: &SystemContext, config: &Config, redacts: bool) -> Redactor {
    Redactor::new(&system.environment, config.settings.services.keys.values(), redacts)
}
