//! Before a run is over: whether the answer is whole, and has the form that was asked for.

use std::sync::Arc;

use rheon_types::{OutputSchema, RunEnd, RunFailure, StopReason};

use crate::context::{Shortfall, shortfall, structured};
use crate::live::Run;

/// What is missing before the run may end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing.
    Done,
    /// The model is told this and goes on.
    Nudge(String),
    /// The run ends otherwise than it was about to.
    End(RunEnd),
}

/// Looks at the answer with which the run is about to end.
pub(crate) fn check(run: &mut Run, end: &RunEnd) -> Check {
    let is_answer = match end {
        RunEnd::Completed | RunEnd::Truncated => run.state.turns > 0,
        RunEnd::Limit { .. } | RunEnd::Rejected { .. } | RunEnd::Vetoed { .. } => false,
        RunEnd::Aborted | RunEnd::Failed { .. } => false,
    };
    if !is_answer {
        return Check::Done;
    }
    let schema = run.config.settings.request.output_schema.clone();
    match (whole(run), schema) {
        (nudge @ Check::Nudge(_), _) => nudge,
        (checked, None) => checked,
        (_, Some(schema)) => formed(run, &schema),
    }
}

/// Whether the answer leaves nothing open.
fn whole(run: &mut Run) -> Check {
    if run.config.settings.checks.nudges_max == 0 {
        return Check::Done;
    }
    let tasks = run.log.log.tasks();
    let answer = run.state.produced.iter().rev().find_map(|message| message.as_assistant());
    let Some(answer) = answer.filter(|answer| answer.stop_reason != StopReason::Error) else {
        return Check::Done;
    };
    let Some(found) = shortfall(answer, &tasks) else {
        run.state.stops.unfinished = None;
        return Check::Done;
    };
    if found == Shortfall::Cut && answer.tool_calls().next().is_some() {
        // Its calls were answered; the model sees for itself that one was cut.
        return Check::Done;
    }
    let stops = &mut run.state.stops;
    if stops.nudges >= run.config.settings.checks.nudges_max {
        stops.unfinished = Some(found.reason());
        return Check::Done;
    }
    stops.nudges += 1;
    Check::Nudge(found.nudge())
}

/// Whether the answer has the form that was asked for.
fn formed(run: &mut Run, schema: &OutputSchema) -> Check {
    let problem = match structured(&run.state.last_text(), schema) {
        Ok(value) => {
            run.state.stops.structured = Some(Arc::new(value));
            return Check::Done;
        }
        Err(problem) => problem,
    };
    if run.state.stops.repairs >= run.config.settings.checks.repairs_max {
        return Check::End(RunEnd::Failed { failure: RunFailure::Output { message: problem } });
    }
    run.state.stops.repairs += 1;
    let asked = include_str!("repair.md").trim_end().replace("{problem}", &problem);
    Check::Nudge(asked)
}
