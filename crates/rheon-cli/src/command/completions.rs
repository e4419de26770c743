//! `rheon completions`.

use clap_complete::Shell;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Print shell completions
///
/// bash: rheon completions bash > ~/.local/share/bash-completion/completions/rheon
/// zsh:  rheon completions zsh > "${fpath[1]}/_rheon"
/// fish: rheon completions fish > ~/.config/fish/completions/rheon.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, grammar: &clap::Command) -> Result<Exit, Failure> {
        print(&script(self.shell, grammar))
    }
}

fn script(shell: Shell, grammar: &clap::Command) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut without_prompt(grammar), "rheon", &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match shell {
        // fish treats a flag without its value as an error and would offer no completions for the value.
        Shell::Fish => text.replacen("or return\n", "or return 0\n", 1),
        _ => text,
    }
}

/// Removes the positional prompt: zsh would take the name of a command for it and complete none of its arguments.
fn without_prompt(grammar: &clap::Command) -> clap::Command {
    let about = grammar.get_about().cloned().unwrap_or_default();
    clap::Command::new("rheon")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .about(about)
        .args(grammar.get_arguments().filter(|argument| !argument.is_positional()).cloned())
        .subcommands(grammar.get_subcommands().cloned())
}
