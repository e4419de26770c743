//! Hooks that are async functions.

use std::sync::{Arc, Mutex};

use rheon::hooks;
use rheon::prelude::*;
use rheon::types::Amendment;
use rheon_testkit::{Scenario, Turn, echo, scripted};

use crate::sdk;

#[tokio::test(start_paused = true)]
async fn an_async_function_stands_at_each_point() {
    let diary: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&diary);
    let note = move |text: String| {
        let diary = Arc::clone(&noted);
        async move { diary.lock().unwrap().push(text) }
    };
    let (a, b, c, d, e, f) =
        (note.clone(), note.clone(), note.clone(), note.clone(), note.clone(), note.clone());
    let scenario = Scenario::new()
        .turn(Turn::call("echo", json!({ "text": "secret" })))
        .turn(Turn::call("echo", json!({ "text": "hi" })))
        .turn("Heard: {{last_tool_result}}");
    let ran = scripted(scenario)
        .tool(echo())
        .with(sdk(|builder| {
            builder
                .hook(hooks::before_run(move |_, index| a(format!("run {index}"))))
                .hook(hooks::before_turn(move |_, index| b(format!("turn {index}"))))
                .before_tool(move |call| {
                    let noted = c(format!("before {}", call.name));
                    async move {
                        noted.await;
                        call.arguments["text"] != "secret"
                    }
                })
                .after_tool(move |call, result, is_error| {
                    let noted = d(format!("after {} {} {is_error}", call.name, result.as_text()));
                    async move {
                        noted.await;
                        Amendment { context: vec!["softly".into()], ..Amendment::default() }
                    }
                })
                .hook(hooks::before_stop(move |_, vetoes| e(format!("stop {vetoes}"))))
                .hook(hooks::after_run(move |output| f(format!("done {}", output.turns))))
        }))
        .run("Say hi.")
        .await;
    assert_eq!(ran.output().text, "Heard: hi\nsoftly");
    assert_eq!(
        *diary.lock().unwrap(),
        [
            "run 0",
            "turn 0",
            "before echo",
            "turn 1",
            "before echo",
            "after echo hi false",
            "turn 2",
            "stop 0",
            "done 3"
        ]
    );
}
