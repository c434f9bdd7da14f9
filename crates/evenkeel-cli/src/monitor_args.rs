//! Arguments of `evenkeel monitor`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{Deferred, Reading, ShowArgs, file_parser};

/// What is done to a store.
#[derive(Debug, Subcommand)]
pub(crate) enum MonitorCommand {
    /// Watch a model from now on.
    Add(Deferred<AddArgs>),
    /// Check batches that are new, and exit with 1 if an alarm goes off.
    Run(Deferred<RunArgs>),
    /// Where the models stand, and what to do.
    Status(Deferred<StatusArgs>),
    /// The history as a table.
    Export(Deferred<ExportArgs>),
    /// Count labels that came late.
    Labels(Deferred<LabelsArgs>),
    /// Propose a recalibration for the last batches, with the labels that came.
    Propose(Deferred<ProposeArgs>),
    /// Use a proposed calibration from now on.
    Approve(Deferred<DecideArgs>),
    /// Keep the calibration in use.
    Reject(Deferred<DecideArgs>),
    /// Write the calibration in use, or a version of it, to a file.
    Calibration(Deferred<CalibrationArgs>),
    /// Copy the store while others use it.
    Backup(Deferred<BackupArgs>),
}

/// The store.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreFile {
    /// File that holds the history.
    #[arg(long, value_name = "FILE")]
    pub store: PathBuf,
}

/// The store and a model in it.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    #[command(flatten)]
    pub file: StoreFile,
    /// Name of the model [default: the only one of the store].
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
}

/// Files that show where models stand.
#[derive(Debug, Clone, Args)]
pub(crate) struct WrittenArgs {
    /// Write the state as text for Prometheus' textfile collector.
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// Write the trend as a self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Who does something, for the audit log.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhoArgs {
    /// Who does it, for the audit log.
    #[arg(long, value_name = "NAME", default_value = "command line")]
    pub who: String,
}

/// What is kept of the rows of batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepWord {
    /// Counts and results only: labels that come late cannot be judged.
    Nothing,
    /// The prediction sets, a bit for each row and class.
    Sets,
    /// The rows too, so that proposals can use several batches and labels.
    Rows,
}

/// How a model is watched.
#[derive(Debug, Clone, Args)]
pub(crate) struct WatchArgs {
    /// Chance of any false alarm over the life of a reference.
    #[arg(long, default_value_t = 0.05)]
    pub delta: f64,
    /// What is kept of the rows of batches.
    #[arg(long, value_enum, default_value_t = KeepWord::Sets)]
    pub keep: KeepWord,
    /// Rows the calibration was made for, where these are not like the calibration data: batches are compared with them.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub baseline: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor add --store ek.sqlite --model garments --reference cal.json")]
pub(crate) struct AddArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// The calibration in use, written by `calibrate`.
    #[arg(long, value_name = "FILE")]
    pub reference: PathBuf,
    #[command(flatten)]
    pub watch: WatchArgs,
    #[command(flatten)]
    pub who: WhoArgs,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub show: ShowArgs,
}

/// When `run` exits with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// An alarm goes off with a batch of this run.
    New,
    /// An alarm waits for a decision, whenever it went off.
    Standing,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor run --reference cal.json --batches 'nightly/*.parquet' --store ek.sqlite
  evenkeel monitor run --batches 'nightly/*.npy' --store ek.sqlite --html trend.html \\
    --prometheus /var/lib/node_exporter/evenkeel.prom

Every file is a batch; a file whose contents are known is left out, so that the same command can run every night. The time of a batch \
is the date in its name (2026-11-17), or else when the file was changed.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// The calibration in use; adds the model if the store does not have it.
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
    /// Files of class probabilities, one batch each; * and ? in the last part of a name stand for many.
    #[arg(long, value_name = "FILES", value_parser = file_parser(), num_args = 1.., required = true)]
    pub batches: Vec<String>,
    /// Column of the batches that holds what their rows are called, so that late labels can name them.
    #[arg(long, value_name = "NAME")]
    pub id_col: Option<String>,
    #[command(flatten)]
    pub watch: WatchArgs,
    /// When to exit with 1.
    #[arg(long, value_enum, default_value_t = FailOn::New)]
    pub fail_on: FailOn,
    #[command(flatten)]
    pub written: WrittenArgs,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor status --store ek.sqlite")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Exit with 1 while an alarm waits for a decision.
    #[arg(long)]
    pub fail_on_alarm: bool,
    /// Read every page of the store and check it first.
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    pub written: WrittenArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor export --store ek.sqlite --out history.parquet
  evenkeel monitor export --store ek.sqlite --audit --out audit.csv")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Write the audit log in place of the batches: who did what, tokens that were made and revoked included.
    #[arg(long)]
    pub audit: bool,
    /// Batches, or lines, of this day or moment and later.
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Batches, or lines, before this day or moment.
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// File to write: .csv or .parquet; - is stdout, as csv.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor labels --store ek.sqlite --batch 21 --labels filled_in.csv
  evenkeel monitor labels --store ek.sqlite --batch 21 --labels orders.csv --id-col order")]
pub(crate) struct LabelsArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Number of the batch, or the name of its file.
    #[arg(long, value_name = "BATCH")]
    pub batch: String,
    /// Labels of its rows: a sheet with columns row and label, or one label for each row with gaps.
    #[arg(long, value_name = "LABELS", value_parser = file_parser())]
    pub labels: String,
    /// Column of --labels that names rows by the ids they came with, in the place of a column row; labels stand in the column
    /// label, or in --label-col.
    #[arg(long, value_name = "NAME")]
    pub id_col: Option<String>,
    #[command(flatten)]
    pub who: WhoArgs,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor propose --store ek.sqlite")]
pub(crate) struct ProposeArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor approve --store ek.sqlite --proposal 1 --who Ada \\
    --why 'new camera, sets checked by hand'

Either way the alarms begin anew: rows are compared with those of the proposal from now on.")]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Number of the proposal [default: the one that waits for a decision].
    #[arg(long, value_name = "N")]
    pub proposal: Option<u64>,
    /// Who decides.
    #[arg(long, value_name = "NAME")]
    pub who: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub why: String,
    /// Write the calibration in use after the decision to a file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor calibration --store ek.sqlite --out cal.json")]
pub(crate) struct CalibrationArgs {
    #[command(flatten)]
    pub store: StoreArgs,
    /// Version [default: the one in use].
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel monitor backup --store ek.sqlite --out backup.sqlite

To restore, copy the file back while nothing uses the store.")]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub store: StoreFile,
    /// New file for the copy.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub show: ShowArgs,
}
