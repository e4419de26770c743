//! What the program is told of files that go back.

use std::path::Path;

use rheon_app::keeping::{Doing, FilesRewound, KeepingError};
use serde_json::{Value, json};

/// The answer to `rewind_files`. Who only wants to know whether it could be done is told so; who wanted it done has an error.
pub(super) fn told(
    rewound: Result<FilesRewound, KeepingError>,
    doing: Doing,
    folder: &Path,
) -> Result<Value, String> {
    let rewound = rewound.map_err(|error| error.to_string()).and_then(|rewound| {
        match (&rewound.problem, rewound.others.first(), doing) {
            (Some((path, problem)), ..) => Err(format!("cannot bring back {}: {problem}", path.display())),
            (None, Some(first), Doing::Plan) => {
                Err(format!("{} was changed by somebody else; save it first", first.display()))
            }
            (None, Some(_) | None, Doing::Plan | Doing::CarryOut) => Ok(rewound),
        }
    });
    match (rewound, doing) {
        (Ok(rewound), _) => {
            let files: Vec<String> =
                rewound.changed.iter().map(|path| folder.join(path).display().to_string()).collect();
            Ok(json!({ "canRewind": true, "filesChanged": files, "filesCount": rewound.count }))
        }
        (Err(problem), Doing::Plan) => Ok(json!({ "canRewind": false, "error": problem })),
        (Err(problem), Doing::CarryOut) => Err(problem),
    }
}
