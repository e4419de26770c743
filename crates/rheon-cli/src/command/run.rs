//! `rheon run`, the same as `rheon -p`: one prompt, one answer.

use std::io::{IsTerminal as _, stdin, stdout};
use std::sync::Arc;

use rheon_app::PromptHistory;
use rheon_app::config::{Config, ConfigInputs, DirModes, Layer};
use rheon_app::session::{HostExtensions, HostParts, home_warning};
use rheon_app::sessions::Persistence;
use rheon_text::nearest;
use rheon_types::SessionId;
use rheon_types::protocol::{OpenRequest, SessionChoice};

use super::setup::system;
use crate::ask::Answer;
use crate::connection::{failure, sessions};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{
    CallerFlags, InputFormat, ModeFlag, ModelFlags, OutputFlags, OutputFormat, PermissionFlags, SessionFlags,
    SettingFlags, SetupFlags, rules,
};
use crate::host::host;
use crate::output::{print_note, write_stderr};
use crate::repl::{Picked, Picker, QUESTION, ReplInputs};
use crate::runtime::block_on;
use crate::target::SessionTarget;
use crate::{ask, headless, repl, schema, stdio, terminal};

/// How many sessions -r offers.
const SESSIONS_MAX: u32 = 200;

/// Shorter words resemble too many commands: "test" is two letters away from "trust". They need to be a command without one letter.
const COMMAND_CHARS_MIN: usize = 5;

/// Names of subcommands that make sense as a prompt of one word.
const PROMPTS: [&str; 3] = ["test", "explain", "edit"];

/// Answer one prompt and exit (same as rheon -p)
///
/// The prompt is the argument, standard input, or both. The run is non-interactive: calls that need approval are denied unless rules,
/// --allowed-tools or --permission-mode allow them.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Run {
    /// The prompt
    prompt: Option<String>,

    /// Answer one prompt and exit
    #[arg(short, long)]
    print: bool,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    session: SessionFlags,

    #[command(flatten)]
    model: ModelFlags,

    #[command(flatten)]
    permission: PermissionFlags,

    #[command(flatten)]
    setup: SetupFlags,

    #[command(flatten)]
    caller: CallerFlags,
}

impl Run {
    /// Resumes a session, by default the most recent one in this directory.
    pub(crate) fn resuming(session: Option<String>) -> Self {
        let session =
            SessionFlags { continue_latest: session.is_none(), resume: session, ..SessionFlags::default() };
        Self { session, ..Self::default() }
    }

    /// Rejects a single word that looks like a misspelled command before it costs a model call.
    pub(crate) fn no_mistyped_command(&self, grammar: &clap::Command) -> Result<(), Failure> {
        let word = self.prompt.as_deref().unwrap_or_default();
        if self.print || !word.chars().all(|character| character.is_ascii_alphabetic()) {
            return Ok(());
        }
        match likely_commands(word, grammar).as_slice() {
            [] => Ok(()),
            commands => Err(Failure::usage(format_args!(
                "unknown command {word:?}; did you mean {}? To send it to the model, use rheon -p {word}",
                commands.iter().map(|command| format!("{command:?}")).collect::<Vec<_>>().join(" or ")
            ))),
        }
    }

    /// A conversation in a terminal, otherwise one answer.
    pub(crate) fn interactive_or_headless(self) -> Result<Exit, Failure> {
        let is_format =
            self.output.output_format != OutputFormat::Text || self.output.input_format != InputFormat::Text;
        if self.print || is_format || !stdin().is_terminal() || !stdout().is_terminal() {
            self.headless()
        } else {
            block_on(self.converse())
        }
    }

    pub(crate) fn headless(self) -> Result<Exit, Failure> {
        self.check()?;
        if self.session.resume.as_deref() == Some("") {
            return block_on(async move { Err(self.cannot_pick().await) });
        }
        match self.output.input_format {
            InputFormat::Text => {
                let prompt = headless::prompt(self.prompt.clone())?;
                block_on(async move {
                    let target = self.target().await?;
                    let done = self.answer(&target, prompt).await;
                    target.leave().await;
                    done
                })
            }
            InputFormat::StreamJson => block_on(async move {
                let answers = match self.output.permission_prompt_tool.as_deref() {
                    Some("stdio") => true,
                    Some(tool) => {
                        print_note(&format!(
                            "note: unknown --permission-prompt-tool {tool:?} (only stdio is supported); calls that need approval are denied"
                        ));
                        false
                    }
                    None => false,
                };
                let target = self.target().await?;
                let done = self.run_stdio(&target, answers).await;
                target.leave().await;
                done
            }),
        }
    }

    async fn converse(mut self) -> Result<Exit, Failure> {
        self.check()?;
        if self.session.resume.as_deref() == Some("") {
            let Some(id) = self.pick().await? else { return Ok(Exit::Done) };
            self.session.resume = Some(id);
        }
        let target = self.target().await?;
        let done = self.start_repl(&target).await;
        target.leave().await;
        done
    }

    /// Lets the user choose the session to resume.
    async fn pick(&self) -> Result<Option<String>, Failure> {
        let mut picker = self.picker().await?;
        write_stderr(&format!("{}\n", picker.text()));
        loop {
            let line = ask::ask_line(QUESTION).map_err(Failure::error)?;
            match picker.take(&line) {
                Picked::Session(id) => return Ok(Some(id)),
                Picked::Nothing => return Ok(None),
                Picked::Again => write_stderr(&format!("{}\n", picker.text())),
                Picked::NoMatch(problem) => print_note(&problem),
            }
        }
    }

    /// The sessions of this directory to choose from.
    async fn picker(&self) -> Result<Picker, Failure> {
        let target =
            SessionTarget::of(system(self.setup.cd.clone())?, SessionChoice::default(), None).await?;
        let parts = self.parts(&target)?;
        let now = parts.system.clock.now();
        let listed = sessions(&*host(parts), SESSIONS_MAX).await.map_err(failure)?;
        if listed.is_empty() {
            return Err(Failure::error(
                "no session to resume in this directory; start one with `rheon`, or run `rheon sessions list --all`",
            ));
        }
        Ok(Picker::new(listed, now, terminal::size().columns))
    }

    /// Without a terminal the user cannot choose: prints the sessions and how to name one.
    async fn cannot_pick(&self) -> Failure {
        match self.picker().await {
            Ok(picker) => {
                write_stderr(&format!("{}\n", picker.text()));
                Failure::usage(
                    "-r needs a session here: pass its id or id prefix from `rheon sessions list`, or use -c for the latest",
                )
            }
            Err(failure) => failure,
        }
    }

    async fn answer(&self, target: &SessionTarget, prompt: String) -> Result<Exit, Failure> {
        let parts = self.parts(target)?;
        if let Some(warning) = home_warning(&parts.system) {
            print_note(&format!("note: {warning}"));
        }
        note_missing_sandbox(&parts.config);
        let interface = parts.config.settings.interface;
        let request = self.request(target, Some(prompt.clone()));
        headless::answer(host(parts), request, prompt, &self.output, &interface).await
    }

    async fn run_stdio(&self, target: &SessionTarget, answers: bool) -> Result<Exit, Failure> {
        let parts = self.parts(target)?;
        let is_set = |name: &str| parts.system.environment.get(name).is_some_and(|value| value != "0");
        let reads_state = stdio::READS_STATE.into_iter().any(is_set);
        // Programs pass an empty prompt when all of theirs come by the input.
        let first = self.prompt.clone().filter(|prompt| !prompt.trim().is_empty());
        let (request, driver) = (self.request(target, None), stdio::StdioOptions { answers, reads_state });
        stdio::converse(host(parts), request, first, &self.output, driver).await
    }

    async fn start_repl(&self, target: &SessionTarget) -> Result<Exit, Failure> {
        let mut parts = self.parts(target)?;
        if ask::ask_for_home(&parts.system)? == Answer::No {
            return Ok(Exit::Done);
        }
        note_missing_sandbox(&parts.config);
        if !self.permission.trust && ask::ask_for_trust(&parts.config)? {
            parts = self.parts(target)?;
        }
        let (first, interface) = (self.prompt.clone(), parts.config.settings.interface);
        let mut request = self.request(target, first.clone());
        if request.mode.is_none() && is_new(&request.session) {
            let modes = DirModes::new(&parts.system.dirs).ok();
            request.mode = ask::ask_for_mode(&parts.config, modes, &parts.config.project_root)?;
        }
        let system = &parts.system;
        let is_saved = parts.config.settings.sessions.persistence == Persistence::On;
        let history = PromptHistory::of(&system.dirs, target.user_dir()).filter(|_| is_saved);
        let inputs = ReplInputs { first, history, clock: Arc::clone(&system.clock) };
        repl::converse(host(parts), request, inputs, &self.output, &interface).await
    }

    fn request(&self, target: &SessionTarget, task: Option<String>) -> OpenRequest {
        OpenRequest {
            session: target.choice.clone(),
            resume_at: self.caller.resume_point(),
            task,
            model: self.model.model.clone(),
            mode: self.permission.permission_mode.map(ModeFlag::mode),
            ..OpenRequest::default()
        }
    }

    async fn target(&self) -> Result<SessionTarget, Failure> {
        let system = system(self.setup.cd.clone())?;
        SessionTarget::of(system, self.choice()?, self.session.worktree.as_ref()).await
    }

    /// Rejects combinations of flags that contradict each other.
    fn check(&self) -> Result<(), Failure> {
        if self.session.fork_session && !self.session.continue_latest && self.session.resume.is_none() {
            return Err(Failure::usage("--fork-session needs a session: add -c or -r ID"));
        }
        if self.output.input_format == InputFormat::StreamJson
            && self.output.output_format != OutputFormat::StreamJson
        {
            return Err(Failure::usage("--input-format stream-json needs --output-format stream-json"));
        }
        self.caller.check(self.session.resume.is_some() || self.session.continue_latest)
    }

    fn parts(&self, target: &SessionTarget) -> Result<HostParts, Failure> {
        let system = target.system.clone();
        let inputs = ConfigInputs::new(system.environment.clone(), &system.working_dir);
        let is_driven_as_claude = self.output.input_format == InputFormat::StreamJson;
        let inputs = ConfigInputs { worktree_of: target.worktree_of(), is_driven_as_claude, ..inputs };
        let Self { session, model, caller, .. } = self;
        let (permission, setup) = (&self.permission.seen_from(target), &self.setup.seen_from(target));
        let inputs = SettingFlags { session, model, permission, setup }.apply(inputs)?;
        let mut config = Config::load(inputs).map_err(Failure::usage)?;
        for ignored in caller.ignored() {
            print_note(&format!("note: {ignored}"));
        }
        if setup.strict_mcp_config {
            config.settings.mcp_servers.retain(|_, server| server.origin.layer == Layer::CommandLine);
        }
        if let Some(file) = &setup.system_prompt_file {
            config.settings.context.system_prompt = Some(prompt_file(file)?);
        } else if setup.system_prompt.as_deref() == Some("") {
            // An empty text replaces the default instructions with nothing.
            config.settings.context.system_prompt = Some(String::new());
        }
        let output_schema = self.output.json_schema.as_deref().map(schema::read).transpose()?;
        let extras = HostExtensions {
            output_schema,
            tools: permission.tools.as_deref().and_then(offered),
            thinking: caller.thinking_level(),
            ..HostExtensions::default()
        };
        let (trace, version) = (self.output.trace.clone(), env!("CARGO_PKG_VERSION").to_owned());
        Ok(HostParts { system, config, extras, trace, version })
    }

    fn choice(&self) -> Result<SessionChoice, Failure> {
        let SessionFlags { continue_latest, resume, fork_session, session_id, .. } = &self.session;
        Ok(match (resume, continue_latest, fork_session) {
            (Some(id), _, true) => SessionChoice::ForkOf { id: id.clone() },
            (Some(id), _, false) => SessionChoice::Named { id: id.clone() },
            (None, true, true) => SessionChoice::ForkOfLatest,
            (None, true, false) => SessionChoice::Latest,
            (None, false, _) => {
                SessionChoice::New { session_id: session_id.as_deref().map(uuid).transpose()? }
            }
        })
    }
}

/// The commands that a word looks like: a subcommand without its command, or a misspelled one.
fn likely_commands(word: &str, grammar: &clap::Command) -> Vec<String> {
    let commands: Vec<&clap::Command> = grammar.get_subcommands().collect();
    let nested = |fits: &dyn Fn(&str) -> bool| -> Vec<String> {
        let below =
            commands.iter().flat_map(|command| command.get_subcommands().map(move |sub| (command, sub)));
        let fitting = below.filter(|(_, sub)| fits(sub.get_name()));
        fitting.map(|(command, sub)| format!("{} {}", command.get_name(), sub.get_name())).collect()
    };
    let exact = nested(&|name| name == word);
    if !exact.is_empty() {
        return if PROMPTS.contains(&word) { Vec::new() } else { exact };
    }
    let names = || commands.iter().map(|command| command.get_name());
    let is_long = word.chars().count() >= COMMAND_CHARS_MIN;
    let command =
        if is_long { nearest(word, names()) } else { names().find(|name| lacks_letter(word, name)) };
    match command {
        Some(command) => vec![command.to_owned()],
        None => nested(&|name| lacks_letter(word, name)),
    }
}

/// Whether the word is this name without one of its letters.
fn lacks_letter(word: &str, name: &str) -> bool {
    const LETTERS_MIN: usize = 3;
    word.len() >= LETTERS_MIN
        && name.char_indices().any(|(at, letter)| {
            let rest = name.get(at + letter.len_utf8()..).unwrap_or_default();
            name.get(..at).and_then(|start| word.strip_prefix(start)) == Some(rest)
        })
}

/// The tools named by --tools; `None` for all.
fn offered(typed: &[String]) -> Option<Vec<String>> {
    Some(rules(typed)).filter(|names| !names.iter().any(|name| name == "default"))
}

fn prompt_file(file: &std::path::Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format_args!("cannot read the system prompt {}: {error}", file.display()))
    })
}

fn uuid(text: &str) -> Result<SessionId, Failure> {
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if is_uuid {
        return Ok(SessionId::from(text.to_lowercase()));
    }
    Err(Failure::usage(format_args!(
        "invalid UUID {text:?} for --session-id; use one such as 01890a5d-ac96-774b-bcce-b302099a8057"
    )))
}

/// Whether a session is new, so that it has no mode of its own yet.
fn is_new(session: &SessionChoice) -> bool {
    matches!(session, SessionChoice::New { .. })
}

/// Says so where the user chose to have no sandbox.
fn note_missing_sandbox(config: &Config) {
    if config.settings.sandbox.is_off() {
        print_note(
            "note: commands run without a sandbox: they can read and change whatever you can, and use the network",
        );
    }
}
