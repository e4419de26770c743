//! `Loaded`: everything the model is told, loaded and ready to be wired into an agent.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{
    AgentBuilder, ComplexityScore, Effort, EffortPlan, Recitation, Tiers, TokenCounter, base_prompt,
    plan_effort, score_complexity,
};
use rheon_store::sqlite::Learning;
use rheon_tools::memory::Watch;
use rheon_tools::notes::{NoteFolder, NoteSet};
use rheon_tools::skills::{Origin, SkillFolder, SkillSet};
use rheon_types::{Clock, Hook, Reminder};

use super::assemble::{Assembled, PromptParts, assemble};
use super::facts::Facts;
use super::git::{GitQuestion, GitState};
use super::lessons::{LearningStore, Lessons};
use super::rules::{RulePlaces, Rules};
use super::sources::{ContextSources, Reminders, Source};
use super::warning::ContextWarning;
use crate::keeping::Environment;

/// The most bytes that the texts of notes may have in the prompt.
const NOTE_BYTES_MAX: usize = 12 << 10;
/// How many learnings are asked for.
const LEARNINGS_MAX: usize = 5;
/// The tool whose results stay whatever is made shorter.
const SKILL_TOOL: &str = "skill";

/// What there is to load from. Nothing is looked for elsewhere.
#[derive(Clone)]
pub struct ContextInputs {
    /// What the user wants, by which notes and learnings are chosen and the effort is guessed.
    pub task: String,
    /// What stands for the base prompt, if anything.
    pub base: Option<String>,
    /// Where rules are, and the working folder.
    pub places: RulePlaces,
    /// Whether the user trusts the project.
    pub trust: ProjectTrust,
    /// Folders of skills; those of the project count only if it is trusted.
    pub skills: Vec<SkillFolder>,
    /// Folders of notes. What a project's folder says goes to the model, so give one only if the user alone can write there or
    /// trusts it.
    pub notes: Vec<NoteFolder>,
    /// Where learnings are; none are used or kept without it.
    pub learnings: Option<LearningStore>,
    /// What others made: notes on tools, and the map of the repository. Both may be empty.
    pub made: MadeElsewhere,
    /// What the user asked for; guessed from the task without it.
    pub effort: Option<Effort>,
    /// What is turned off.
    pub sources: ContextSources,
    /// Counts tokens for the model.
    pub counter: TokenCounter,
    /// What is known of the machine.
    pub machine: Machine,
}

/// Texts that are made elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MadeElsewhere {
    /// What is to be known about tools besides their descriptions.
    pub tool_notes: String,
    /// The map of the repository.
    pub code_map: String,
}

/// Whether the user trusts the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTrust {
    /// What it brings along may be used.
    Trusted,
    /// Its rules are read as text; its skills are not used and nothing it configures is run.
    Untrusted,
}

/// What is known of the machine.
#[derive(Clone)]
pub struct Machine {
    /// The variables of the program.
    pub environment: Environment,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How long git may take.
    pub git_time_max: Duration,
}

/// Everything the model is told besides the conversation.
pub struct Loaded {
    /// What the sources say.
    pub parts: PromptParts,
    /// The system prompt and what it is made of.
    pub assembled: Assembled,
    /// The skills, for the tool that loads them.
    pub skills: SkillSet,
    /// How complex the task looks, and why.
    pub complexity: ComplexityScore,
    /// What follows from the effort.
    pub plan: EffortPlan,
    /// The learnings in the prompt.
    pub learnings: Vec<Learning>,
    /// What was odd.
    pub warnings: Vec<ContextWarning>,
    /// What remembers failures.
    pub watch: Arc<Watch>,
    /// What proposes lessons, where they are kept.
    pub lessons: Option<Arc<Lessons>>,
    effort: Option<Effort>,
    sources: ContextSources,
}

impl Loaded {
    /// Loads everything that is not turned off. What cannot be loaded is a warning.
    pub async fn load(inputs: ContextInputs) -> Self {
        let complexity = score_complexity(&inputs.task);
        let plan = plan_effort(inputs.effort, complexity.complexity);
        let files = {
            let inputs = inputs.clone();
            tokio::task::spawn_blocking(move || Files::load(&inputs))
        };
        let (files, environment) = tokio::join!(files, environment(&inputs));
        let mut files = files.unwrap_or_else(|error| Files::failed(error.to_string()));
        let parts = PromptParts {
            base: inputs.base.clone().unwrap_or_else(|| base_prompt().to_owned()),
            rules: std::mem::take(&mut files.rules),
            tool_notes: inputs.made.tool_notes,
            skills: files.skills.format_for_prompt(),
            memory: std::mem::take(&mut files.memory),
            learnings: files.learnings.iter().map(|learning| learning.proposal.text.clone()).collect(),
            code_map: inputs.made.code_map,
            environment,
            effort: plan.guidance.to_owned(),
            complexity: complexity.complexity.as_str().to_owned(),
        };
        let watch = Arc::new(Watch::new());
        let lessons = inputs.learnings.filter(|_| inputs.sources.has(Source::Learnings)).map(|store| {
            let used = files.learnings.iter().map(|learning| learning.id).collect();
            Arc::new(Lessons::new(store, Arc::clone(&watch), Arc::clone(&inputs.machine.clock), used))
        });
        Self {
            assembled: assemble(&parts, &inputs.sources, inputs.counter),
            parts,
            skills: files.skills,
            complexity,
            plan,
            learnings: files.learnings,
            warnings: files.warnings,
            watch,
            lessons,
            effort: inputs.effort,
            sources: inputs.sources,
        }
    }

    /// Gives all of it to an agent: the system prompt, reminders, how its window is made shorter, how much it thinks, its limits,
    /// and what it learns. What the user set is to be set after this.
    pub fn wire(&self, builder: AgentBuilder) -> AgentBuilder {
        let kept = Tiers { kept_tools: vec![SKILL_TOOL.into()], ..Tiers::default() };
        let mut builder = builder
            .system_prompt(self.assembled.prompt())
            .compaction(kept)
            .shared_hook(Arc::clone(&self.watch) as Arc<dyn Hook>);
        match self.sources.reminders {
            Reminders::On => {
                let failures = Arc::clone(&self.watch) as Arc<dyn Reminder>;
                builder = builder.reminder(Arc::new(Recitation::default())).reminder(failures);
            }
            Reminders::Off => {}
        }
        if self.effort.is_some() || self.sources.has(Source::Effort) {
            builder = builder.thinking(self.plan.thinking).limits(self.plan.limits);
        }
        match &self.lessons {
            Some(lessons) => builder.shared_hook(Arc::clone(lessons) as Arc<dyn Hook>),
            None => builder,
        }
    }
}

async fn environment(inputs: &ContextInputs) -> String {
    if !inputs.sources.has(Source::Environment) {
        return String::new();
    }
    let Machine { environment, clock, git_time_max } = &inputs.machine;
    let question = match inputs.trust {
        ProjectTrust::Trusted => GitQuestion::Status,
        ProjectTrust::Untrusted => GitQuestion::Branch,
    };
    let folder = &inputs.places.working_folder;
    let git = GitState::ask(folder, environment, question, *git_time_max).await;
    Facts::new(folder, environment.get("SHELL").map(Path::new), clock.now(), git).text()
}

/// What is read from files.
#[derive(Default)]
struct Files {
    rules: String,
    skills: SkillSet,
    memory: String,
    learnings: Vec<Learning>,
    warnings: Vec<ContextWarning>,
}

impl Files {
    fn load(inputs: &ContextInputs) -> Self {
        let mut files = Self::default();
        if inputs.sources.has(Source::Rules) {
            let rules = Rules::load(&inputs.places);
            files.rules = rules.text;
            files.warnings.extend(rules.warnings.into_iter().map(ContextWarning::Rules));
        }
        if inputs.sources.has(Source::Skills) {
            let may_count = |folder: &&SkillFolder| match (folder.origin, inputs.trust) {
                (Origin::User, _) | (Origin::Project, ProjectTrust::Trusted) => true,
                (Origin::Project, ProjectTrust::Untrusted) => false,
            };
            let folders: Vec<SkillFolder> = inputs.skills.iter().filter(may_count).cloned().collect();
            files.skills = SkillSet::load(&folders);
            files.warnings.extend(files.skills.warnings().iter().cloned().map(ContextWarning::Skill));
        }
        if inputs.sources.has(Source::Memory) {
            let notes = NoteSet::load(&inputs.notes);
            files.memory = notes.format_for_prompt(&inputs.task, NOTE_BYTES_MAX);
            files.warnings.extend(notes.warnings().iter().cloned().map(ContextWarning::Note));
        }
        if let (true, Some(store)) = (inputs.sources.has(Source::Learnings), &inputs.learnings) {
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
