//! `rheon completions`: what shells want to know.

use clap_complete::Shell;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Print completions for a shell
///
/// bash: rheon completions bash > ~/.local/share/bash-completion/completions/rheon
/// zsh:  rheon completions zsh > "${fpath[1]}/_rheon"
/// fish: rheon completions fish > ~/.config/fish/completions/rheon.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// Which shell
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
        // A flag whose value is still to come counts as a mistake there, and nothing would be known of its values.
        Shell::Fish => text.replacen("or return\n", "or return 0\n", 1),
        _ => text,
    }
}

/// The same without the prompt: zsh would take the name of a command for it, and know nothing of what the command takes.
fn without_prompt(grammar: &clap::Command) -> clap::Command {
    let about = grammar.get_about().cloned().unwrap_or_default();
    clap::Command::new("rheon")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .about(about)
        .args(grammar.get_arguments().filter(|argument| !argument.is_positional()).cloned())
        .subcommands(grammar.get_subcommands().cloned())
}
