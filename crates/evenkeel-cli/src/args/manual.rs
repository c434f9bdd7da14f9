//! Arguments of `completions` and `manual`, as typed.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  evenkeel completions bash > ~/.local/share/bash-completion/completions/evenkeel"
)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel manual | man -l -
  evenkeel manual --format markdown > cli.md")]
pub(crate) struct ManualArgs {
    /// How it is written.
    #[arg(long, value_enum, default_value_t = ManualFormat::Man)]
    pub format: ManualFormat,
}

/// Forms of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ManualFormat {
    /// roff, for `man`.
    Man,
    /// Tables, for a page.
    Markdown,
}
