//! `rheon completions` and `rheon man`: what shells and manuals want to know.

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
    pub(crate) fn run(self, mut grammar: clap::Command) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut grammar, "rheon", &mut text);
        print(&String::from_utf8_lossy(&text))
    }
}

/// Print the manual page
///
/// rheon man > ~/.local/share/man/man1/rheon.1
#[derive(Debug, clap::Args)]
pub(crate) struct Man {}

impl Man {
    pub(crate) fn run(self, grammar: clap::Command) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_mangen::Man::new(grammar).render(&mut text).map_err(Failure::error)?;
        print(&String::from_utf8_lossy(&text))
    }
}
