//! Arguments of `demo`, as typed.

use std::path::PathBuf;

use clap::Args;

use super::OneRate;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  evenkeel demo --out report")]
pub(crate) struct DemoArgs {
    /// Folder for the data and report.html.
    #[arg(long, value_name = "DIR", default_value = "evenkeel-demo")]
    pub out: PathBuf,
    /// Write the data alone into this folder, and nothing else.
    #[arg(long, value_name = "DIR", conflicts_with = "nights")]
    pub data: Option<PathBuf>,
    /// Write thirty nights of batches for the tutorial on monitoring into this folder, and nothing else.
    #[arg(long, value_name = "DIR")]
    pub nights: Option<PathBuf>,
    #[command(flatten)]
    pub common: OneRate,
}
