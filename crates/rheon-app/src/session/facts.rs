//! What a session says of itself to a program that drives it.

use super::open::OpenSession;
use crate::stream_json::{Described, ModelFacts, Offers, SessionFacts};

/// What a program is told that a session is: the version is the program's.
pub fn session_facts(session: &OpenSession, version: &str) -> SessionFacts {
    let toolkit = session.toolkit();
    let skills = session.loaded().skills.for_model().map(|skill| skill.name.clone());
    let compact = Described { name: "compact".into(), description: "Make the window shorter".into() };
    SessionFacts {
        session_id: session.session_id().clone(),
        cwd: session.working_folder().to_owned(),
        additional_directories: Vec::new(),
        model: model_facts(session),
        permission_mode: toolkit.gate().mode(),
        offers: Offers {
            tools: toolkit.tools().iter().map(|tool| tool.name().to_owned()).collect(),
            slash_commands: vec![compact],
            skills: skills.collect(),
            ..Offers::default()
        },
        version: version.to_owned(),
    }
}

/// What a program is told of the model.
pub(super) fn model_facts(session: &OpenSession) -> ModelFacts {
    let info = &session.model().info;
    ModelFacts {
        id: session.model_name().to_owned(),
        context_window: info.context_tokens,
        output_tokens_max: info.output_tokens_max.into(),
        key_source: session.answering.key_source(),
    }
}
