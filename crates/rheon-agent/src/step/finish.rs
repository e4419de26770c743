//! Checks before a run ends: whether the answer is complete and matches the output schema.

use std::sync::Arc;

use rheon_types::{OutputSchema, RunEnd, RunFailure, StopReason};

use crate::context::{Shortfall, shortfall, structured};
use crate::live::Run;

/// The result of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Check {
    /// The run may end.
    Done,
    /// Continue with this note to the model.
    Nudge(String),
    /// End the run differently.
    End(RunEnd),
}

/// Checks the last answer of the run.
pub(crate) fn check(run: &mut Run, end: &RunEnd) -> Check {
    let is_answer = match end {
        RunEnd::Completed | RunEnd::Truncated => run.state.turns > 0,
        RunEnd::Limit { .. } | RunEnd::Rejected { .. } | RunEnd::Vetoed { .. } => false,
        RunEnd::Stuck { .. } | RunEnd::Aborted | RunEnd::Failed { .. } => false,
    };
    if !is_answer {
        return Check::Done;
    }
    let schema = run.config.settings.request.output_schema.clone();
    match (check_complete(run), schema) {
        (nudge @ Check::Nudge(_), _) => nudge,
        (checked, None) => checked,
        (_, Some(schema)) => check_schema(run, &schema),
    }
}

/// Checks whether the answer is complete.
fn check_complete(run: &mut Run) -> Check {
    if run.config.settings.checks.nudges_max == 0 {
        return Check::Done;
    }
    let tasks = run.log.log.tasks();
    let answer = run.state.produced.iter().rev().find_map(|message| message.as_assistant());
    let Some(answer) = answer.filter(|answer| answer.stop_reason != StopReason::Error) else {
        return Check::Done;
    };
    let Some(missing) = shortfall(answer, &tasks) else {
        run.state.stops.unfinished = None;
        return Check::Done;
    };
    if missing == Shortfall::Cut && answer.tool_calls().next().is_some() {
        // Its calls have results, so the model sees that one was cut off.
        return Check::Done;
    }
    let stops = &mut run.state.stops;
    if stops.nudges >= run.config.settings.checks.nudges_max {
        stops.unfinished = Some(missing.reason());
        return Check::Done;
    }
    stops.nudges += 1;
    Check::Nudge(missing.nudge())
}

/// Checks whether the answer matches the output schema.
fn check_schema(run: &mut Run, schema: &OutputSchema) -> Check {
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
    let prompt = include_str!("repair.md").trim_end().replace("{problem}", &problem);
    Check::Nudge(prompt)
}
