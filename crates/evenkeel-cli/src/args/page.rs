//! Pages, as typed.

use std::path::PathBuf;

use clap::Args;

/// A page, and what stands at its head.
#[derive(Debug, Clone, Args)]
pub(crate) struct PageArgs {
    /// Write a self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Name of the model or the run at the head of the page.
    #[arg(long, value_name = "TEXT", requires = "html")]
    pub title: Option<String>,
}
