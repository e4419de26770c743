//! `ask_in_terminal`: approvals asked on standard error and answered on standard input.

use std::io::{BufRead as _, Write as _};

use rheon_text::{visible, visible_block};
use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Scope, Subject};

/// Asks the person at the terminal whether a tool call may run, as the program does: shows exactly what would happen, and takes
/// `y` (once), `s` (for this session), `n`, or a reason why not. Where standard input is closed, the answer is no.
pub async fn ask_in_terminal(request: ApprovalRequest) -> PermissionResponse {
    // Reading a line may take minutes.
    let asked = tokio::task::spawn_blocking(move || ask(&request)).await;
    asked.unwrap_or_else(|_| PermissionResponse::denied("the question could not be asked"))
}

fn ask(request: &ApprovalRequest) -> PermissionResponse {
    if let Subject::Questions { questions } = &request.subject {
        let answers =
            questions.iter().map(|question| line(&format!("{}\n> ", visible_block(&question.text))));
        let answers: Option<Vec<Vec<String>>> = answers.map(|answer| Some(vec![answer?])).collect();
        return match answers {
            Some(answers) => PermissionResponse { answers, ..PermissionDecision::Allow.into() },
            None => PermissionResponse::denied("the user did not answer"),
        };
    }
    let asked = format!(
        "{}\n[y] allow once  [s] allow for this session  [n] deny, or type a reason: ",
        shown(request)
    );
    match line(&asked).as_deref() {
        Some("y" | "yes") => PermissionDecision::Allow.into(),
        Some("s") => PermissionResponse::from(PermissionDecision::Allow).with_scope(Scope::Session),
        None | Some("" | "n" | "no") => PermissionResponse::denied("the user denied it"),
        Some(reason) => PermissionResponse::denied(reason),
    }
}

/// What would happen, with everything escaped that a terminal would obey.
pub(crate) fn shown(request: &ApprovalRequest) -> String {
    let what = match &request.subject {
        Subject::Command { command, cwd } => format!("{}\nin {}", visible_block(command), visible(cwd)),
        Subject::Diff { diff, .. } => visible_block(diff).trim_end().to_owned(),
        Subject::Arguments { arguments } => visible_block(&arguments.to_string()),
        Subject::Plan { plan, .. } => visible_block(plan),
        Subject::Questions { .. } => String::new(),
    };
    format!("{} needs approval: {}\n{what}", visible(request.tool_name.as_str()), visible(&request.reason))
}

/// Shows `asked` and reads a line; `None` at the end of the input.
fn line(asked: &str) -> Option<String> {
    let mut terminal = std::io::stderr().lock();
    terminal.write_all(asked.as_bytes()).and_then(|()| terminal.flush()).ok()?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).ok()?;
    (read > 0).then(|| answer.trim().to_owned())
}
