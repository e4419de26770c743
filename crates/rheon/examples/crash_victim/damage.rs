//! Everything that is kept, cut and flipped at every byte: nothing panics, and what is whole before the place is kept.

use std::fs;
use std::path::{Path, PathBuf};

use rheon::Event;
use rheon::store::claude::{Transcript, find, transcript_id};
use rheon::store::tree::load_session;

use crate::paths;
use crate::stage::{Outcome, Stage, ensure, lease, name};
use crate::work::{self, Extent};

/// Makes a small session, damages each of its files at up to `places_max` bytes, and looks at it.
pub(crate) async fn damage(stage: &Stage, places_max: usize) -> Outcome {
    work::work(stage, Extent::Prompts(1)).await?;
    paths::act("tree", stage).await?;
    let session = stage.sessions().list(None).into_iter().next().ok_or("no session")?;
    let whole = read(stage)?;
    say("journal", &session.path, places_max, |_, at| {
        let lines = fs::read(&session.path)?;
        let kept = check_read(stage, &whole, at)?;
        check_repair(stage, &session.path, &lines, kept)
    })?;
    let blob = files(&stage.store("sessions/blobs"))?.into_iter().next().ok_or("no blob")?;
    say("blob", &blob, places_max, |_, _| {
        let count = read(stage)?.len();
        ensure(count == whole.len(), || format!("{count} events with a damaged blob"))
    })?;
    let transcript = find(&stage.store("claude"), &transcript_id(&"s".into()))?.ok_or("no transcript")?;
    say("transcript", &transcript, places_max, |_, _| Ok(Transcript::open(&transcript).map(drop)?))?;
    let tree = stage.store("tree/s.json");
    let sound = load_session(&"s".into(), &stage.store("tree"))?;
    say("tree", &tree, places_max, |kind, _| match (load_session(&"s".into(), &stage.store("tree")), kind) {
        (Err(_), _) => Ok(()),
        // A flip within a text is another text; the format has no checksum, because people edit these files.
        (Ok(_), Kind::Flip) => Ok(()),
        (Ok(found), Kind::Cut) => ensure(found == sound, || "half a tree passes for a whole one".into()),
    })
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Cut,
    Flip,
}

/// Cuts and flips at up to `places_max` bytes of a file, and puts it back.
fn say(what: &str, path: &Path, places_max: usize, mut check: impl FnMut(Kind, usize) -> Outcome) -> Outcome {
    let whole = fs::read(path)?;
    let mut places = 0;
    let step = whole.len().div_ceil(places_max.max(1)).max(1);
    for at in (0..whole.len()).step_by(step) {
        for kind in [Kind::Cut, Kind::Flip] {
            let mut damaged = whole.clone();
            match kind {
                Kind::Cut => damaged.truncate(at),
                Kind::Flip => damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (at % 8)),
            }
            fs::write(path, &damaged)?;
            check(kind, at).map_err(|error| format!("{what}, {kind:?} at byte {at}: {error}"))?;
            places += 1;
        }
    }
    fs::write(path, &whole)?;
    println!("{what}: {places} damages in {} bytes", whole.len());
    Ok(())
}

fn read(stage: &Stage) -> Outcome<Vec<Event>> {
    let mut events = Vec::new();
    stage.sessions().read(&name()?, |event| events.push(event))?;
    Ok(events)
}

/// What can be read is the beginning of what was there. Says how many bytes of the journal are whole.
fn check_read(stage: &Stage, whole: &[Event], at: usize) -> Outcome<Option<u64>> {
    let mut events = Vec::new();
    match stage.sessions().read(&name()?, |event| events.push(event)) {
        Ok(found) => {
            ensure(whole.starts_with(&events), || "other events than there were".into())?;
            let bytes = usize::try_from(found.bytes)?;
            ensure(bytes <= at || found.damage.is_none(), || "damage passes for whole".into())?;
            Ok(Some(found.bytes))
        }
        // Without its first line it is no journal, and is left as it is.
        Err(_) if events.is_empty() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opened to write, the journal keeps what is whole, and the rest is aside.
fn check_repair(stage: &Stage, path: &Path, damaged: &[u8], kept: Option<u64>) -> Outcome {
    let opened = stage.sessions().open(&name()?, &lease(), |_| {});
    let (journal, opened) = match (opened, kept) {
        (Ok(opened), _) => opened,
        (Err(_), None) => {
            return ensure(fs::read(path)? == damaged, || "what is no journal was changed".into());
        }
        (Err(error), Some(_)) => return Err(error.into()),
    };
    drop(journal);
    let kept = usize::try_from(opened.scan.bytes)?;
    let aside = match &opened.damaged_copy {
        Some(aside) => fs::read(aside)?,
        None => Vec::new(),
    };
    let now = fs::read(path)?;
    ensure(damaged.get(..kept) == now.get(..kept), || "what was whole has changed".into())?;
    ensure(damaged.get(kept..) == Some(aside.as_slice()), || "the rest is not aside".into())?;
    match opened.damaged_copy {
        Some(aside) => Ok(fs::remove_file(aside)?),
        None => Ok(()),
    }
}

/// All files in a directory and those below it.
fn files(dir: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
