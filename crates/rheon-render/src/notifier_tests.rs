//! Tests of title and notification.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::{AgentEvent, AgentOutput, Event, RunEnd, RunEvent, Timestamp, ToolEvent};
use serde_json::Value;

use super::{NotificationSettings, Notifier, NotifyMethod};

fn event(at_ms: u64, kind: AgentEvent) -> Event {
    Event {
        seq: 1,
        at: Timestamp::from_millis(at_ms),
        session_id: "s".into(),
        run_id: Some("l".into()),
        kind,
    }
}

fn sent(wanted: NotificationSettings, took_ms: u64) -> String {
    let mut notifier = Notifier::new(wanted);
    let tool = AgentEvent::Tool(ToolEvent::Start {
        call_id: "c".into(),
        name: "ba\x07sh\x1b]0;evil\x1b\\".into(),
        args: Arc::new(Value::Null),
        effect: Default::default(),
        grant: None,
    });
    let end = AgentEvent::Run(RunEvent::End { output: Arc::new(AgentOutput::new(RunEnd::Completed)) });
    let mut sent = notifier.event(&event(0, tool));
    sent += &notifier.event(&event(took_ms, end));
    sent += &notifier.close();
    sent += &notifier.close();
    sent.replace('\x1b', "␛").replace('\x07', "␇")
}

const ALL: NotificationSettings = NotificationSettings {
    title: true,
    notify_after: Some(Duration::from_secs(30)),
    notify_method: NotifyMethod::Osc9,
};

#[test]
fn what_is_sent() {
    let quiet = NotificationSettings { title: false, ..ALL };
    let cases = [
        sent(ALL, 29_999),
        sent(ALL, 30_000),
        sent(quiet, 30_000),
        sent(NotificationSettings { notify_method: NotifyMethod::Osc777, ..quiet }, 30_000),
        sent(NotificationSettings { notify_method: NotifyMethod::Bell, ..quiet }, 30_000),
        sent(NotificationSettings { notify_after: None, ..quiet }, u64::MAX),
    ];
    expect_test::expect![[r#"
        ␛[22;2t␛]2;rheon: ba\u{7}sh\u{1b}]0;evil\u{1b}\␇␛]2;rheon: done␇␛[23;2t
        ␛[22;2t␛]2;rheon: ba\u{7}sh\u{1b}]0;evil\u{1b}\␇␛]2;rheon: done␇␛]9;rheon: done after 30.0 s␇␛[23;2t
        ␛]9;rheon: done after 30.0 s␇
        ␛]777;notify;rheon;rheon: done after 30.0 s␇
        ␇
    "#]]
    .assert_eq(&cases.join("\n"));
}

#[test]
fn heralds_by_terminal() {
    let cases = [
        ("xterm-256color", "", NotifyMethod::Bell),
        ("xterm-256color", "iTerm.app", NotifyMethod::Osc9),
        ("xterm-kitty", "", NotifyMethod::Osc9),
        ("xterm-ghostty", "ghostty", NotifyMethod::Osc9),
        ("foot", "", NotifyMethod::Osc777),
        ("rxvt-unicode-256color", "", NotifyMethod::Osc777),
        ("tmux-256color", "WezTerm", NotifyMethod::Bell),
        ("xterm-256color", "tmux", NotifyMethod::Bell),
        ("", "", NotifyMethod::Bell),
    ];
    for (term, program, notify_method) in cases {
        assert_eq!(NotifyMethod::of(term, program), notify_method, "{term} {program}");
    }
}
