//! What the program is told of files that go back.

use std::path::Path;

use rheon_types::ClientError;
use rheon_types::protocol::{RewindMode, Rewound};
use serde_json::{Value, json};

/// The answer to `rewind_files`. Who only wants to know whether it could be done is told so; who wanted it done has an error.
pub(super) fn told(
    rewound: Result<Rewound, ClientError>,
    mode: RewindMode,
    folder: &Path,
) -> Result<Value, String> {
    let is_plan = mode == RewindMode::Plan;
    let rewound = rewound.map_err(|error| error.to_string()).and_then(|rewound| {
        match (&rewound.problem, rewound.others.first()) {
            (Some(problem), _) => Err(problem.clone()),
            (None, Some(first)) if is_plan => {
                Err(format!("{first} was changed by somebody else; save it first"))
            }
            (None, _) => Ok(rewound),
        }
    });
    match rewound {
        Ok(rewound) => {
            let files: Vec<String> =
                rewound.changed.iter().map(|path| folder.join(path).display().to_string()).collect();
            Ok(json!({ "canRewind": true, "filesChanged": files, "filesCount": rewound.count }))
        }
        Err(problem) if is_plan => Ok(json!({ "canRewind": false, "error": problem })),
        Err(problem) => Err(problem),
    }
}
