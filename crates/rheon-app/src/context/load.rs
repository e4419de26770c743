//! `LoadedContext`: the context, loaded and ready to be wired into an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_agent::{AgentBuilder, Effort, GoalReminder, TieredCompaction, base_prompt};
use rheon_fleet::git::{GitQuestion, GitState};
use rheon_store::sqlite::{DatabaseError, Goal, Learning};
use rheon_tools::loop_guard::{LessonRedactor, LoopGuard};
use rheon_tools::notes::NoteSet;
use rheon_tools::skills::SkillSet;
use rheon_types::{Hook, Reminder, Tool};

use super::assemble::{AssembledPrompt, PromptParts, assemble};
use super::code_map::{CodeMap, CodeMapSource, CodeMapText, HoldsMap};
use super::extensions::{ProjectTrust, load_skills};
use super::facts::EnvironmentFacts;
use super::inputs::{ContextInputs, Machine};
use super::lessons::Lessons;
use super::rules::RuleFiles;
use super::sources::{ContextSource, ContextSources, Reminders};
use super::warning::ContextWarning;
use crate::memory::{
    EpisodeRecorder, MemoryStore, SessionGoal, index_notes, memory_tool, open_goals_text, redacted,
    relevant_episodes,
};

/// The most bytes that the texts of notes may have in the prompt.
const NOTE_BYTES_MAX: usize = 12 << 10;
/// How many learnings are loaded.
const LEARNINGS_MAX: usize = 5;
/// The tool whose results compaction never shortens.
const SKILL_TOOL: &str = "skill";

/// The context besides the conversation.
pub struct LoadedContext {
    pub parts: PromptParts,
    /// The system prompt and what it is made of.
    pub assembled: AssembledPrompt,
    /// The skills, for the tool that loads them.
    pub skills: SkillSet,
    /// The requested effort, or medium.
    pub effort: Effort,
    pub learnings: Vec<Learning>,
    pub warnings: Vec<ContextWarning>,
    /// What remembers failures.
    pub watch: Arc<LoopGuard>,
    /// What the session is to reach.
    pub goal: Arc<SessionGoal>,
    /// The hook that proposes learnings, if they are saved.
    pub lessons: Option<Arc<Lessons>>,
    /// The memory tool and the episode recorder, if the session is saved.
    pub memory: Option<SessionMemory>,
    wiring: Wiring,
}

/// How a session adds to the memory.
#[derive(Clone)]
pub struct SessionMemory {
    /// The tool with which the model keeps notes and asks for them, unless it is withheld.
    pub tool: Option<Arc<dyn Tool>>,
    pub episodic: Arc<EpisodeRecorder>,
}

/// Further parts for wiring an agent.
struct Wiring {
    effort: Option<Effort>,
    sources: ContextSources,
    map: Option<Arc<CodeMap>>,
}

impl LoadedContext {
    /// Loads all sources that are on. A source that cannot be loaded becomes a warning.
    pub async fn load(inputs: ContextInputs) -> Self {
        let effort = inputs.effort.unwrap_or_default();
        let files = {
            let inputs = inputs.clone();
            tokio::task::spawn_blocking(move || Files::load(&inputs))
        };
        let map = map_of(&inputs);
        let (files, environment, code_map) =
            tokio::join!(files, environment(&inputs), code_map(&inputs, map.as_deref()));
        let mut files = files.unwrap_or_else(|error| Files::failed(error.to_string()));
        files.warnings.extend(code_map.warnings);
        let watch = Arc::new(LoopGuard::new());
        watch.redact_with(LessonRedactor::new(redacted));
        let memory = session_memory(&inputs);
        let store = inputs.memory.clone().filter(|_| inputs.sources.has(ContextSource::Memory));
        let goal = SessionGoal::new(store, Arc::clone(&inputs.machine.clock), &files.goals);
        let parts = PromptParts {
            base: inputs.base.clone().unwrap_or_else(|| base_prompt().to_owned()),
            rules: std::mem::take(&mut files.rules),
            rule_files: std::mem::take(&mut files.rule_files),
            tool_notes: inputs.made.tool_notes,
            skills: files.skills.format_for_prompt(),
            memory: std::mem::take(&mut files.memory),
            learnings: files.learnings.iter().map(|learning| learning.proposal.text.clone()).collect(),
            code_map: code_map.text,
            environment,
            effort: effort.guidance().to_owned(),
        };
        let lessons = inputs.memory.filter(|_| inputs.sources.has(ContextSource::Learnings)).map(|store| {
            let (watch, clock) = (Arc::clone(&watch), Arc::clone(&inputs.machine.clock));
            Arc::new(Lessons::new(store, watch, clock, files.learnings.clone()))
        });
        Self {
            assembled: assemble(&parts, &inputs.sources, inputs.counter),
            parts,
            skills: files.skills,
            effort,
            learnings: files.learnings,
            warnings: files.warnings,
            watch,
            goal: Arc::new(goal),
            lessons,
            memory,
            wiring: Wiring { effort: inputs.effort, sources: inputs.sources, map },
        }
    }

    /// Problems of the memory since the last call, to be shown after a run.
    pub fn take_problems(&self) -> Vec<ContextWarning> {
        let lessons = self.lessons.iter().flat_map(|lessons| lessons.take_problems());
        let episodes = self.memory.iter().flat_map(|memory| memory.episodic.take_problems());
        lessons.chain(episodes.map(ContextWarning::Memory)).collect()
    }

    /// Keeps the tool for notes from the model unless it is `offered`.
    pub fn withhold_tools(&mut self, offered: impl Fn(&str) -> bool) {
        if let Some(memory) = &mut self.memory {
            memory.tool = memory.tool.take().filter(|tool| offered(tool.name()));
        }
    }

    /// Wires the context into an agent: the system prompt, reminders, compaction, thinking level,
    /// the tool for notes, and what it learns and remembers. What the user set is to be set after this.
    pub fn wire(&self, builder: AgentBuilder) -> AgentBuilder {
        let Wiring { effort, sources, map } = &self.wiring;
        let kept =
            TieredCompaction { preserved_tools: vec![SKILL_TOOL.into()], ..TieredCompaction::default() };
        let builder = builder.system_prompt(self.assembled.prompt()).compaction(kept);
        let mut builder = builder.hook(Arc::clone(&self.watch) as Arc<dyn Hook>);
        match sources.reminders {
            Reminders::On => {
                let failures = Arc::clone(&self.watch) as Arc<dyn Reminder>;
                let goal = Arc::clone(&self.goal) as Arc<dyn Reminder>;
                builder =
                    builder.reminder(goal).reminder(Arc::new(GoalReminder::default())).reminder(failures);
            }
            Reminders::Off => {}
        }
        if effort.is_some() {
            builder = builder.thinking(self.effort.thinking());
        } else if sources.has(ContextSource::Effort) {
            builder = builder.default_thinking(self.effort.thinking());
        }
        if let Some(lessons) = &self.lessons {
            builder = builder.hook(Arc::clone(lessons) as Arc<dyn Hook>);
        }
        if let Some(SessionMemory { tool, episodic }) = &self.memory {
            builder = builder.tools(tool.clone()).hook(Arc::clone(episodic) as Arc<dyn Hook>);
        }
        match map {
            Some(map) => builder.hook(HoldsMap(Arc::clone(map))),
            None => builder,
        }
    }
}

/// How the session adds to the memory, if it does.
fn session_memory(inputs: &ContextInputs) -> Option<SessionMemory> {
    let store = inputs.memory.as_ref().filter(|_| inputs.sources.has(ContextSource::Memory))?;
    let clock = || Arc::clone(&inputs.machine.clock);
    let root = inputs.places.working_dir.clone();
    Some(SessionMemory {
        tool: Some(Arc::new(memory_tool(inputs.notes.clone(), store, clock()))),
        episodic: Arc::new(EpisodeRecorder::new(store.clone(), root, clock())),
    })
}

/// The map built from files, if enabled.
fn map_of(inputs: &ContextInputs) -> Option<Arc<CodeMap>> {
    match &inputs.made.code_map {
        CodeMapSource::Repository(map) if inputs.sources.has(ContextSource::CodeMap) => Some(Arc::clone(map)),
        CodeMapSource::Repository(_) | CodeMapSource::Text(_) | CodeMapSource::None => None,
    }
}

/// The map as text, and a problem if there was one.
#[derive(Default)]
struct MapRead {
    text: String,
    warnings: Vec<ContextWarning>,
}

async fn code_map(inputs: &ContextInputs, map: Option<&CodeMap>) -> MapRead {
    let Some(map) = map else {
        return match &inputs.made.code_map {
            CodeMapSource::Text(text) => MapRead { text: text.clone(), ..MapRead::default() },
            CodeMapSource::None | CodeMapSource::Repository(_) => MapRead::default(),
        };
    };
    let (text, odd) = map.text(&inputs.task, inputs.counter).await;
    let mut warnings: Vec<ContextWarning> = odd.into_iter().map(ContextWarning::CodeMap).collect();
    let text = match text {
        CodeMapText::Ready(text) => text,
        // It is ready next time; no notice is needed.
        CodeMapText::NotYet => String::new(),
        CodeMapText::Failed(why) => {
            warnings.push(ContextWarning::CodeMap(why));
            String::new()
        }
    };
    MapRead { text, warnings }
}

async fn environment(inputs: &ContextInputs) -> String {
    if !inputs.sources.has(ContextSource::Environment) {
        return String::new();
    }
    let Machine { environment, clock, git_time_max } = &inputs.machine;
    let question = match inputs.trust {
        ProjectTrust::Trusted => GitQuestion::Status,
        ProjectTrust::Untrusted => GitQuestion::Branch,
    };
    let dir = &inputs.places.working_dir;
    let git = GitState::ask(dir, &environment.for_git(), question, *git_time_max).await;
    EnvironmentFacts::new(dir, environment.get("SHELL").map(Path::new), clock.now(), git).text()
}

/// What is read from files.
#[derive(Default)]
struct Files {
    rules: String,
    rule_files: Vec<PathBuf>,
    skills: SkillSet,
    memory: String,
    learnings: Vec<Learning>,
    goals: Vec<Goal>,
    warnings: Vec<ContextWarning>,
}

impl Files {
    fn load(inputs: &ContextInputs) -> Self {
        let mut files = Self::default();
        if inputs.sources.has(ContextSource::Rules) {
            let rules = RuleFiles::load(&inputs.places);
            files.rules = rules.text;
            files.rule_files = rules.files;
            files.warnings.extend(rules.warnings.into_iter().map(ContextWarning::Rules));
        }
        if inputs.sources.has(ContextSource::Skills) {
            files.skills = load_skills(&inputs.skills, inputs.trust);
            files.warnings.extend(files.skills.warnings().iter().cloned().map(ContextWarning::Skill));
        }
        if inputs.sources.has(ContextSource::Memory) {
            let notes = NoteSet::load(&inputs.notes);
            files.memory = notes.format_for_prompt(&inputs.task, NOTE_BYTES_MAX);
            files.warnings.extend(notes.warnings().iter().cloned().map(ContextWarning::Note));
            if let Some(store) = &inputs.memory {
                match remembered(inputs, store) {
                    Ok((sessions, goals)) => {
                        let open = open_goals_text(&goals, &store.session_id);
                        files.memory = joined([&files.memory, &sessions, &open]);
                        files.goals = goals;
                    }
                    Err(error) => files.warnings.push(ContextWarning::Memory(error.to_string())),
                }
            }
        }
        if let (true, Some(store)) = (inputs.sources.has(ContextSource::Learnings), &inputs.memory) {
            match store.memory.learnings().relevant(&store.project, &inputs.task, LEARNINGS_MAX) {
                Ok(learnings) => files.learnings = learnings,
                Err(error) => files.warnings.push(ContextWarning::Learnings(error.to_string())),
            }
        }
        files
    }

    fn failed(why: String) -> Self {
        Self { warnings: vec![ContextWarning::Incomplete(why)], ..Self::default() }
    }
}

/// Updates the index of notes, and finds the episodes that fit the task and the open goals of the project.
fn remembered(inputs: &ContextInputs, store: &MemoryStore) -> Result<(String, Vec<Goal>), DatabaseError> {
    let sessions = relevant_episodes(store, &inputs.task)?;
    if let Some(parent) = &store.parent {
        store.memory.goals().inherit(&store.session_id, parent, inputs.machine.clock.now())?;
    }
    let goals = store.memory.goals().open_of(&store.project)?;
    index_notes(&store.memory, &store.project, &inputs.notes)?;
    Ok((sessions, goals))
}

/// The texts that say something, with line breaks between them.
fn joined(texts: [&str; 3]) -> String {
    let said: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    said.join("\n")
}
