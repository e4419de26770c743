//! `ToolSources`: the sources of tools that may change between turns, and what the model is offered of them now.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::{Notice, NoticeTopic, SourceInUse, ToolSetInUse};
use rheon_types::{SystemSection, Tool, ToolSet, ToolSource};

use crate::context::cut;
use crate::panics::panic_text;
use crate::toolbox::{PreparedTool, Toolbox};

/// The most tools that all sources of an agent may offer together.
const TOOLS_MAX: usize = 1_000;
/// The most bytes of a tool's description and schema together.
const DEFINITION_BYTES_MAX: usize = 64 << 10;
/// The most bytes of a tool's name.
const NAME_BYTES_MAX: usize = 256;
/// The most bytes of a source's instructions.
const INSTRUCTIONS_BYTES_MAX: usize = 32 << 10;
/// How many tools that are not offered a notice names.
const NAMED_MAX: usize = 5;
/// How much of a name or a problem is quoted.
const QUOTE_CHARS_MAX: usize = 200;

/// The sources of tools that may change between turns. Clones share what was prepared: the schemas of a set are made ready
/// once, not in every turn.
#[derive(Clone, Default)]
pub struct ToolSources {
    sources: Vec<Source>,
    cache: Arc<Mutex<Cache>>,
}

#[derive(Clone)]
struct Source {
    name: Arc<str>,
    source: Arc<dyn ToolSource>,
}

#[derive(Default)]
struct Cache {
    /// What was last taken of each source, in their order.
    taken: Vec<TakenSet>,
    /// What is offered of all of them, with the fixed tools it stands behind.
    current: Option<(Toolbox, CurrentTools)>,
    /// Notices that were not told yet.
    pending: Vec<Notice>,
}

/// The set of one source, prepared.
#[derive(Default)]
struct TakenSet {
    /// Absent until the source has given a set.
    version: Option<u64>,
    tools: Vec<PreparedTool>,
    instructions: Option<Arc<str>>,
    /// Tools that cannot be offered.
    problems: Vec<Problem>,
    /// How many tools are over the cap.
    over: usize,
    /// The last notice about it, which is not told twice.
    notice: Option<String>,
}

struct Problem {
    tool: String,
    reason: String,
}

/// What all sources offer now.
#[derive(Clone)]
pub(crate) struct CurrentTools {
    pub(crate) tools: Toolbox,
    /// The instructions of the sources.
    pub(crate) sections: Arc<[SystemSection]>,
    pub(crate) set: Arc<ToolSetInUse>,
}

impl ToolSources {
    /// Adds a source behind the others.
    pub fn add(&mut self, source: Arc<dyn ToolSource>) {
        self.sources.push(Source { name: source.name().into(), source });
        // Others that share the cache have other sources.
        self.cache = Arc::default();
    }

    /// The first name that two sources have.
    pub(crate) fn duplicate(&self) -> Option<&str> {
        let mut names = HashSet::new();
        self.sources.iter().map(|source| &*source.name).find(|name| !names.insert(*name))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The notices that were not told yet.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.lock().pending)
    }

    /// What is offered now: `fixed`, and behind it what the sources have.
    pub(crate) fn current(&self, fixed: &Toolbox) -> Option<CurrentTools> {
        if self.sources.is_empty() {
            return None;
        }
        let snapshots: Vec<_> = self.sources.iter().map(|source| snapshot(&*source.source)).collect();
        let mut cache = self.lock();
        let Cache { taken, current, pending } = &mut *cache;
        taken.resize_with(self.sources.len(), TakenSet::default);
        let mut is_changed = false;
        for ((source, snapshot), taken) in self.sources.iter().zip(snapshots).zip(taken.iter_mut()) {
            match snapshot {
                Ok(set) if taken.version == Some(set.version) => {}
                Ok(set) => {
                    *taken = TakenSet { notice: taken.notice.take(), ..TakenSet::prepare(&set) };
                    is_changed = true;
                }
                Err(panic) => {
                    let said = format!("its last tools stay in use, because it panicked: {}", quote(&panic));
                    taken.notify(&source.name, said, pending);
                }
            }
        }
        match current {
            Some((before, current)) if !is_changed && before.is_same(fixed) => Some(current.clone()),
            Some(_) | None => {
                let combined = self.combine(fixed, taken, pending);
                *current = Some((fixed.clone(), combined.clone()));
                Some(combined)
            }
        }
    }

    fn combine(&self, fixed: &Toolbox, taken: &mut [TakenSet], pending: &mut Vec<Notice>) -> CurrentTools {
        let (mut tools, mut offered) = (fixed.clone(), 0);
        let (mut sections, mut sources) = (Vec::new(), Vec::new());
        for (source, taken) in self.sources.iter().zip(taken) {
            let Some(version) = taken.version else { continue };
            sources.push(SourceInUse { name: source.name.to_string(), version });
            let (free, shadowed): (Vec<_>, Vec<_>) =
                taken.tools.iter().cloned().partition(|tool| !tools.has(&tool.definition.name));
            let room = TOOLS_MAX - offered;
            let over = taken.over + free.len().saturating_sub(room);
            let free = free.get(..room).unwrap_or(&free);
            offered += free.len();
            tools = tools.with(free);
            if let Some(text) = &taken.instructions {
                sections.push(SystemSection { text: section(&source.name, text), stable: false });
            }
            if let Some(said) = taken.complaint(&shadowed, over) {
                taken.notify(&source.name, said, pending);
            }
        }
        let names = tools.definitions().iter().map(|definition| definition.name.clone()).collect();
        let set = Arc::new(ToolSetInUse { sources, tools: names });
        CurrentTools { tools, sections: sections.into(), set }
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The set that a source has now; or what it panicked with.
fn snapshot(source: &dyn ToolSource) -> Result<Arc<ToolSet>, String> {
    catch_unwind(AssertUnwindSafe(|| source.snapshot())).map_err(|panic| panic_text(&*panic))
}

/// What the model reads of a source's instructions.
fn section(name: &str, instructions: &str) -> Arc<str> {
    format!("# Tools of {name}\n\n{instructions}").into()
}

impl TakenSet {
    /// Makes the schemas of a set ready. A tool that cannot be offered is a problem of its own, not of its set.
    fn prepare(set: &ToolSet) -> Self {
        let mut taken = Self { version: Some(set.version), ..Self::default() };
        let mut named: Vec<(String, &Arc<dyn Tool>)> = Vec::with_capacity(set.tools.len());
        for tool in &set.tools {
            match catch_unwind(AssertUnwindSafe(|| tool.name().to_owned())) {
                Ok(name) => named.push((name, tool)),
                Err(panic) => taken.problem("", format!("it panicked: {}", panic_text(&*panic))),
            }
        }
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        taken.over = named.len().saturating_sub(TOOLS_MAX);
        named.truncate(TOOLS_MAX);
        for (name, tool) in named {
            match prepare(&name, tool) {
                Ok(tool)
                    if taken
                        .tools
                        .last()
                        .is_some_and(|last| last.definition.name == tool.definition.name) =>
                {
                    taken.problem(&name, "the source has two tools of this name".into());
                }
                Ok(tool) => taken.tools.push(tool),
                Err(reason) => taken.problem(&name, reason),
            }
        }
        let instructions = set.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty());
        taken.instructions = instructions.map(|text| Arc::from(&*cut(text, INSTRUCTIONS_BYTES_MAX)));
        taken
    }

    fn problem(&mut self, tool: &str, reason: String) {
        self.problems.push(Problem { tool: quote(tool), reason: quote(&reason) });
    }

    /// What is to be said of the tools that are not offered.
    fn complaint(&self, shadowed: &[PreparedTool], over: usize) -> Option<String> {
        let count = shadowed.len() + self.problems.len() + over;
        if count == 0 {
            return None;
        }
        let taken = shadowed
            .iter()
            .map(|tool| format!("{:?} (another tool has this name)", quote(tool.definition.name.as_str())));
        let broken = self.problems.iter().map(|problem| format!("{:?} ({})", problem.tool, problem.reason));
        let mut named: Vec<String> = taken.chain(broken).take(NAMED_MAX).collect();
        let unnamed = count - over - named.len();
        if unnamed > 0 {
            named.push(format!("{unnamed} more"));
        }
        if over > 0 {
            named.push(format!("{over} over the limit of {TOOLS_MAX}"));
        }
        let tools = if count == 1 { "1 tool is" } else { &format!("{count} tools are") };
        Some(format!("{tools} not offered: {}", named.join(", ")))
    }

    /// Tells of something once.
    fn notify(&mut self, source: &str, said: String, pending: &mut Vec<Notice>) {
        if self.notice.as_ref() != Some(&said) {
            pending.push(Notice::warning(NoticeTopic::Tools, format!("tool source {source:?}: {said}")));
            self.notice = Some(said);
        }
    }
}

fn prepare(name: &str, tool: &Arc<dyn Tool>) -> Result<PreparedTool, String> {
    if name.len() > NAME_BYTES_MAX {
        return Err(format!("its name has more than {NAME_BYTES_MAX} bytes"));
    }
    let prepared = catch_unwind(AssertUnwindSafe(|| PreparedTool::new(Arc::clone(tool))))
        .map_err(|panic| format!("it panicked: {}", panic_text(&*panic)))?
        .map_err(|error| error.to_string())?;
    let definition = &prepared.definition;
    let bytes = definition.description.len() + definition.parameters.to_string().len();
    if bytes > DEFINITION_BYTES_MAX {
        return Err(format!("its description and schema have more than {DEFINITION_BYTES_MAX} bytes"));
    }
    Ok(prepared)
}

fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}
