//! `rheon run`: one prompt, one answer, for scripts and programs. `rheon -p` is the same.

use std::io::{IsTerminal as _, stdin, stdout};

use rheon_app::config::{Config, ConfigInputs, Layer};
use rheon_app::session::{HostExtensions, HostParts};
use rheon_text::advice;
use rheon_types::SessionId;
use rheon_types::protocol::{OpenRequest, SessionChoice};

use super::setup::system;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{
    CallerFlags, InputFormat, ModeFlag, ModelFlags, OutputFlags, OutputFormat, PermissionFlags, SessionFlags,
    SettingFlags, SetupFlags, rules,
};
use crate::ground::Ground;
use crate::host::host;
use crate::output::remark;
use crate::runtime::block_on;
use crate::{ask, driven, headless, repl, schema};

/// Shorter words look like too many others: "test" is two letters away from "trust".
const COMMAND_CHARS_MIN: usize = 5;

/// Do one thing and print the answer; the same as rheon -p
///
/// The prompt is the argument, standard input, or both. Nobody is asked: what would ask is refused, unless rules, --allowed-tools or
/// --permission-mode allow it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Run {
    /// What to do
    prompt: Option<String>,

    /// Do one thing, print the answer and exit
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
    /// A conversation that goes on with a session, by default the last one of this folder.
    pub(crate) fn resuming(session: Option<String>) -> Self {
        let session = SessionFlags { go_on: session.is_none(), resume: session, ..SessionFlags::default() };
        Self { session, ..Self::default() }
    }

    /// A lone word that looks like a command is one with a slip of the finger, not worth the money of a run.
    pub(crate) fn no_mistyped_command(&self, grammar: &clap::Command) -> Result<(), Failure> {
        let word = self.prompt.as_deref().unwrap_or_default();
        let is_long = word.chars().count() >= COMMAND_CHARS_MIN;
        if self.print || !is_long || !word.chars().all(|character| character.is_ascii_alphabetic()) {
            return Ok(());
        }
        let known: Vec<&str> = grammar.get_subcommands().map(clap::Command::get_name).collect();
        match advice(word, &known) {
            question if question.ends_with('?') => Err(Failure::usage(format_args!(
                "there is no command {word:?}; {question} To say it to a model: rheon -p {word}"
            ))),
            _ => Ok(()),
        }
    }

    /// What was typed without a command: a conversation where there is a terminal, one answer otherwise.
    pub(crate) fn interactive_or_headless(self) -> Result<Exit, Failure> {
        let is_format =
            self.output.output_format != OutputFormat::Text || self.output.input_format != InputFormat::Text;
        if self.print || is_format || !stdin().is_terminal() || !stdout().is_terminal() {
            self.headless()
        } else {
            block_on(self.converse())
        }
    }

    /// One prompt, one answer.
    pub(crate) fn headless(self) -> Result<Exit, Failure> {
        self.check()?;
        match self.output.input_format {
            InputFormat::Text => {
                let prompt = headless::prompt(self.prompt.clone())?;
                block_on(async move {
                    let ground = self.ground().await?;
                    let done = self.answer(&ground, prompt).await;
                    ground.leave().await;
                    done
                })
            }
            InputFormat::StreamJson => block_on(async move {
                let answers = match self.output.permission_prompt_tool.as_deref() {
                    Some("stdio") => true,
                    Some(tool) => {
                        remark(&format!(
                            "note: nobody is asked: --permission-prompt-tool knows stdio, not {tool:?}"
                        ));
                        false
                    }
                    None => false,
                };
                let ground = self.ground().await?;
                let done = self.be_driven(&ground, answers).await;
                ground.leave().await;
                done
            }),
        }
    }

    async fn converse(self) -> Result<Exit, Failure> {
        self.check()?;
        let ground = self.ground().await?;
        let done = self.speak(&ground).await;
        ground.leave().await;
        done
    }

    async fn answer(&self, ground: &Ground, prompt: String) -> Result<Exit, Failure> {
        let parts = self.parts(ground)?;
        let interface = parts.config.settings.interface;
        let request = self.request(ground, Some(prompt.clone()));
        headless::answer(host(parts), request, prompt, &self.output, &interface).await
    }

    async fn be_driven(&self, ground: &Ground, answers: bool) -> Result<Exit, Failure> {
        let parts = self.parts(ground)?;
        let reads_state = parts.system.environment.get(driven::READS_STATE).is_some();
        let (request, driver) = (self.request(ground, None), driven::Driver { answers, reads_state });
        driven::converse(host(parts), request, self.prompt.clone(), &self.output, driver).await
    }

    async fn speak(&self, ground: &Ground) -> Result<Exit, Failure> {
        let mut parts = self.parts(ground)?;
        if !self.permission.trust && ask::agreed(&parts.config)? {
            parts = self.parts(ground)?;
        }
        let (first, interface) = (self.prompt.clone(), parts.config.settings.interface);
        let request = self.request(ground, first.clone());
        repl::converse(host(parts), request, first, &self.output, &interface).await
    }

    /// How the session is opened.
    fn request(&self, ground: &Ground, task: Option<String>) -> OpenRequest {
        OpenRequest {
            session: ground.choice.clone(),
            task,
            model: self.model.model.clone(),
            mode: self.permission.permission_mode.map(ModeFlag::mode),
            ..OpenRequest::default()
        }
    }

    /// Where the session works.
    async fn ground(&self) -> Result<Ground, Failure> {
        let system = system(self.setup.cd.clone())?;
        Ground::of(system, self.choice()?, self.session.worktree.as_ref()).await
    }

    /// What flags cannot say together.
    fn check(&self) -> Result<(), Failure> {
        if self.session.fork_session && !self.session.go_on && self.session.resume.is_none() {
            return Err(Failure::usage("--fork-session needs a session to go on from: add -c, or -r ID"));
        }
        if self.output.input_format == InputFormat::StreamJson
            && self.output.output_format != OutputFormat::StreamJson
        {
            return Err(Failure::usage("--input-format stream-json needs --output-format stream-json"));
        }
        self.caller.check()?;
        if self.permission.permission_mode == Some(ModeFlag::Auto) {
            remark("note: there is no mode \"auto\"; \"default\" is used");
        }
        Ok(())
    }

    fn parts(&self, ground: &Ground) -> Result<HostParts, Failure> {
        let system = ground.system.clone();
        let inputs = ConfigInputs::new(system.environment.clone(), &system.working_folder);
        let inputs = ConfigInputs { worktree_of: ground.worktree_of(), ..inputs };
        let Self { session, model, caller, .. } = self;
        let (permission, setup) = (&self.permission.seen_from(ground), &self.setup.seen_from(ground));
        let inputs = SettingFlags { session, model, permission, setup }.apply(inputs)?;
        let mut config = Config::load(inputs).map_err(Failure::usage)?;
        for passed_over in caller.passed_over() {
            remark(&format!("note: {passed_over}"));
        }
        if !setup.mcp_config.is_empty() && !config.settings.mcp_servers.is_empty() {
            remark("note: --mcp-config is passed over: MCP servers are not supported yet");
        }
        if setup.strict_mcp_config {
            config.settings.mcp_servers.retain(|_, server| server.origin.layer == Layer::CommandLine);
        }
        if let Some(file) = &setup.system_prompt_file {
            config.settings.context.system_prompt = Some(prompt_file(file)?);
        } else if setup.system_prompt.as_deref() == Some("") {
            // Whoever says nothing wants nothing said instead of the usual instructions.
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
        let SessionFlags { go_on, resume, fork_session, session_id, .. } = &self.session;
        Ok(match (resume, go_on, fork_session) {
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

/// The tools that are named; none where all are.
fn offered(typed: &[String]) -> Option<Vec<String>> {
    Some(rules(typed)).filter(|names| !names.iter().any(|name| name == "default"))
}

fn prompt_file(file: &std::path::Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format_args!("cannot read the system prompt in {}: {error}", file.display()))
    })
}

fn uuid(text: &str) -> Result<SessionId, Failure> {
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if is_uuid {
        return Ok(SessionId::from(text.to_lowercase()));
    }
    Err(Failure::usage(format_args!(
        "--session-id needs a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057; this is none: {text:?}"
    )))
}
