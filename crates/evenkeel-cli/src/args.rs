//! Arguments as typed.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, Resettable, TypedValueParser};
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};
use evenkeel::method::MethodName;
use evenkeel::side_inputs::SideInput;
use evenkeel_io::text_of_path;

use crate::failure::Failure;
pub(crate) use crate::method_args::*;
use crate::per_args::{GroupsOfPoints, PerArgs, SmallArgs};
use crate::table_args::{ColumnArgs, LabeledPaths};
use crate::typed_numbers::{number, whole};

/// Inputs that some methods take beside the probabilities.
// A heading of its own: most users need none of these, and should not have to read past them.
const EXTRA_INPUTS: &str = "Extra inputs, one row per point";

/// Conformal prediction sets that stay honest when the world changes.
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about, arg_required_else_help = true)]
#[command(after_help = "\
Start with:
  evenkeel demo
  evenkeel check --cal-probs cal.npy --cal-labels labels.npy --unlabeled target.npy

A matrix is a path to .npy, .npz, .csv, .jsonl, .parquet or .arrow, a folder of tables, or - for stdin; FILE.npz:KEY, FILE.csv:COLUMN and
the like select an array or a column. Columns with names are matched by name, whatever their order.
Exit codes: 0 done; 1 done, and a condition you asked to fail on holds; 2 could not run.")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The whole job on real data that ships with the program.
    Demo(Deferred<DemoArgs>),
    /// Is there a shift, how much coverage is at risk, what to do: without labels.
    Check(Deferred<CheckArgs>),
    /// Fit a calibration and save it.
    Calibrate(Deferred<CalibrateArgs>),
    /// Prediction sets from a stored calibration.
    Predict(Deferred<PredictArgs>),
    /// Coverage, sizes and gap of a stored calibration on labeled data.
    Evaluate(Deferred<EvaluateArgs>),
    /// Methods side by side on labeled test data.
    Compare(Deferred<CompareArgs>),
    /// Rows to label, drawn at random, and what their labels will be worth.
    Label(Deferred<crate::label_args::LabelArgs>),
    /// Batches over time: alarms that hold for years, proposals that people decide on; no server needed.
    #[command(
        subcommand,
        after_help = "Example:\n  evenkeel monitor run --reference cal.json --batches 'nightly/*.parquet' --store ek.sqlite"
    )]
    Monitor(crate::monitor_args::MonitorCommand),
    /// The paper's experiments: tables, figures and a page.
    #[command(
        subcommand,
        after_help = "Example:\n  evenkeel reproduce regression --out regression"
    )]
    Reproduce(crate::reproduce_args::ReproduceCommand),
    /// The monitor over HTTP: batches in; alarms, proposals, calibrations and pages out.
    #[cfg(feature = "serve")]
    Serve(Deferred<crate::serve_args::ServeArgs>),
    /// Completions for a shell, on stdout.
    Completions(CompletionsArgs),
    /// The manual page, on stdout.
    Manual(ManualArgs),
}

/// Arguments of a command that are built only if that command was typed: a run pays for its own options and no other's.
#[derive(Debug)]
pub(crate) struct Deferred<A>(pub A);

impl<A: Args> Deferred<A> {
    fn build(command: clap::Command) -> clap::Command {
        // The words of the enum's variant introduce the command; those of the struct would replace them.
        let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
        A::augment_args(command)
            // `--alpha -1` is a number out of its range, not an unknown option.
            .mut_args(|argument| match argument.get_action().takes_values() {
                true => argument.allow_negative_numbers(true),
                false => argument,
            })
            .about(Resettable::from(about))
            .long_about(Resettable::from(long_about))
    }
}

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(Self::build)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        A::augment_args_for_update(command)
    }
}

impl<A: Args> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Reads the name of a file with its selector, as text. Names are bytes to the system; those that are not UTF-8 are
/// written so that they lead to the file.
pub(crate) fn file_parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|name| text_of_path(std::path::Path::new(&name)))
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Common {
    /// Miscoverage rate: sets may miss the label this often; several are separated by commas, and the first one leads.
    #[arg(long, default_values_t = [0.1], value_delimiter = ',', value_parser = number)]
    pub alpha: Vec<f64>,
    /// Root of all randomness: the same seed and inputs give the same bytes.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    /// Threads to use; results do not depend on it [default: all cores].
    #[arg(long, value_parser = whole::<usize>(0..=u64::MAX))]
    pub threads: Option<usize>,
    /// One JSON document on stdout and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress bars and no notes on stderr.
    #[arg(long)]
    pub quiet: bool,
}

/// How the matrices are to be read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Every matrix given holds logits; a softmax is applied.
    #[arg(long)]
    pub logits: bool,
    /// As --logits, also where the rows look like probabilities.
    #[arg(long)]
    pub force_logits: bool,
    /// File with one class name per line, used in every output.
    #[arg(long, value_name = "FILE")]
    pub class_names: Option<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// Labeled data of the world the model was calibrated on.
#[derive(Debug, Clone, Args)]
pub(crate) struct Labeled {
    /// Class probabilities of the calibration points, one row each.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        required_unless_present = "cal",
        requires = "cal_labels"
    )]
    pub cal_probs: Option<String>,
    /// Their labels: integers from 0, or names of the classes.
    #[arg(long, value_name = "LABELS", value_parser = file_parser(), requires = "cal_probs")]
    pub cal_labels: Option<String>,
    /// One table with both, in place of --cal-probs and --cal-labels; --label-col names its labels.
    #[arg(
        long,
        value_name = "TABLE",
        value_parser = file_parser(),
        requires = "label_col",
        conflicts_with_all = ["cal_probs", "cal_labels"]
    )]
    pub cal: Option<String>,
}

impl Labeled {
    /// The files.
    pub(crate) fn paths(&self, columns: &ColumnArgs) -> Result<LabeledPaths, Failure> {
        let (probs, labels) = (self.cal_probs.as_ref(), self.cal_labels.as_ref());
        let found = LabeledPaths::of(("--cal", self.cal.as_ref()), probs, labels, columns)?;
        found.ok_or_else(|| Failure::Argument("give --cal-probs and --cal-labels, or --cal".into()))
    }
}

/// What a calibration is made of: calibration data, or those that a calibration keeps.
#[derive(Debug, Clone, Args)]
pub(crate) struct MadeOf {
    /// Class probabilities of the calibration points, one row each.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        required_unless_present_any = ["cal", "update", "calibration"],
        requires = "cal_labels"
    )]
    pub cal_probs: Option<String>,
    /// Their labels: integers from 0, or names of the classes.
    #[arg(long, value_name = "LABELS", value_parser = file_parser(), requires = "cal_probs")]
    pub cal_labels: Option<String>,
    /// One table with both, in place of --cal-probs and --cal-labels; --label-col names its labels.
    #[arg(
        long,
        value_name = "TABLE",
        value_parser = file_parser(),
        requires = "label_col",
        conflicts_with_all = ["cal_probs", "cal_labels", "update", "calibration"]
    )]
    pub cal: Option<String>,
    /// A calibration that keeps its calibration data, in place of --cal-probs and --cal-labels; its score is kept too.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cal_probs", "cal_labels", "update"])]
    pub calibration: Option<PathBuf>,
    /// A calibration by few-labels or auto, in place of the calibration data: the labels it was made with are kept, those of
    /// --target-labels are added.
    #[arg(
        long,
        value_name = "FILE",
        requires = "target_labels",
        conflicts_with_all = [
            "cal_probs", "cal_labels", "method", "alpha", "seed", "cal_features", "unlabeled_features", "cal_ratios",
            "weights_file", "second_cal_probs", "second_probs"
        ]
    )]
    pub update: Option<PathBuf>,
}

impl MadeOf {
    /// The calibration data, where they were given.
    pub(crate) fn paths(&self, columns: &ColumnArgs) -> Result<Option<LabeledPaths>, Failure> {
        let (probs, labels) = (self.cal_probs.as_ref(), self.cal_labels.as_ref());
        LabeledPaths::of(("--cal", self.cal.as_ref()), probs, labels, columns)
    }
}

/// What some methods need of calibration and target points beside their probabilities.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = EXTRA_INPUTS)]
pub(crate) struct BesideArgs {
    /// Features of the calibration points, for likelihood-ratio and conditional [default: their scores].
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), requires = "unlabeled_features")]
    pub cal_features: Option<String>,
    /// Features of the target points.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), requires = "cal_features")]
    pub unlabeled_features: Option<String>,
    /// Known likelihood ratios dQ/dP of the calibration points, for likelihood-ratio.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser())]
    pub cal_ratios: Option<String>,
    /// Weights of the calibration points, for fixed.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser())]
    pub weights_file: Option<String>,
    /// Labels of some target rows, for few-labels and auto: a sheet with columns row and label, or one label for each row with gaps.
    #[arg(long, value_name = "LABELS", value_parser = file_parser())]
    pub target_labels: Option<String>,
    #[command(flatten)]
    pub second: SecondArgs,
}

/// What other models say of the same rows.
// A heading for each of the two: one for the struct would be that of whatever follows it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SecondArgs {
    /// Class probabilities of the calibration points by a second model; repeat both for more models.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub second_cal_probs: Vec<String>,
    /// Class probabilities of the target points by the same second model, in the same order.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub second_probs: Vec<String>,
}

impl BesideArgs {
    /// The side inputs given for the calibration points.
    pub(crate) fn given(&self) -> Vec<SideInput> {
        let features = self.cal_features.as_ref().map(|_| SideInput::Features);
        let ratios = self.cal_ratios.as_ref().map(|_| SideInput::Ratios);
        let weights = self.weights_file.as_ref().map(|_| SideInput::Weights);
        let labels = self.target_labels.as_ref().map(|_| SideInput::Labels);
        let second = (!self.second.second_cal_probs.is_empty()).then_some(SideInput::Second);
        [features, ratios, weights, labels, second].into_iter().flatten().collect()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  evenkeel demo --out report")]
pub(crate) struct DemoArgs {
    /// Folder for the data and report.html.
    #[arg(long, value_name = "DIR", default_value = "evenkeel-demo")]
    pub out: PathBuf,
    /// Write thirty nights of batches for the tutorial on monitoring into this folder, and nothing else.
    #[arg(long, value_name = "DIR")]
    pub nights: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel check --cal-probs cal.npy --cal-labels labels.npy --unlabeled last_night.parquet:probs --fail-below 0.85
  evenkeel check --calibration cal.json --unlabeled last_night.npy --html last_night.html
  evenkeel check --calibration cal.json --unlabeled last_night.npy --target-labels fifty_rows.csv

The verdict is ok, watch, loss or unknown. --fail-below compares the estimate of coverage, or with labels the upper end of what
they show; --fail-below-worst-case the low end of its range; --fail-below-guaranteed what holds whatever the labels are.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub reference: ReferenceArgs,
    /// Class probabilities of the target points; of several files, the rows of one after those of another.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        visible_alias = "target",
        num_args = 1..,
        required = true
    )]
    pub unlabeled: Vec<String>,
    /// Labels of some target rows: a sheet with columns row and label, or one label for each row with gaps.
    #[arg(long, value_name = "LABELS", value_parser = file_parser())]
    pub target_labels: Option<String>,
    /// Failure probability of each confidence statement, and level of the shift test.
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    pub delta: f64,
    /// Show the readings, the bounds and what they mean.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub page: PageArgs,
    /// Exit with 1 if coverage is estimated, or by labels known, to be below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below: Option<f64>,
    /// Exit with 1 if the low end of the estimate's range is below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below_worst_case: Option<f64>,
    /// Exit with 1 if the guaranteed coverage may be below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below_guaranteed: Option<f64>,
    /// Exit with 1 if a shift was detected.
    #[arg(long)]
    pub fail_on_shift: bool,
    #[command(flatten)]
    pub assumptions: Assumptions,
    #[command(flatten)]
    pub second: SecondArgs,
    #[command(flatten)]
    pub bound_grid: BoundGrid,
    /// Relabelings of the shift test [default: 999, or 2 / delta if that is more].
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX))]
    pub permutations: Option<usize>,
    #[command(flatten)]
    pub per: PerArgs,
    #[command(flatten)]
    pub scoring: Scoring,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: CheckCommon,
}

/// What target data are compared with: calibration data, or a calibration that keeps them.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReferenceArgs {
    /// Class probabilities of the calibration points, one row each.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        required_unless_present_any = ["cal", "calibration"],
        requires = "cal_labels"
    )]
    pub cal_probs: Option<String>,
    /// Their labels: integers from 0, or names of the classes.
    #[arg(long, value_name = "LABELS", value_parser = file_parser(), requires = "cal_probs")]
    pub cal_labels: Option<String>,
    /// One table with both, in place of --cal-probs and --cal-labels; --label-col names its labels.
    #[arg(
        long,
        value_name = "TABLE",
        value_parser = file_parser(),
        requires = "label_col",
        conflicts_with_all = ["cal_probs", "cal_labels", "calibration"]
    )]
    pub cal: Option<String>,
    /// A calibration in use, in place of the calibration data: does it still hold?
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cal_probs", "cal_labels"])]
    pub calibration: Option<PathBuf>,
}

impl ReferenceArgs {
    /// The calibration data, where they were given as files.
    pub(crate) fn paths(&self, columns: &ColumnArgs) -> Result<Option<LabeledPaths>, Failure> {
        let (probs, labels) = (self.cal_probs.as_ref(), self.cal_labels.as_ref());
        LabeledPaths::of(("--cal", self.cal.as_ref()), probs, labels, columns)
    }
}

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

/// As [`Common`], where a calibration may bring rate and seed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct CheckCommon {
    /// Miscoverage rate, or several separated by commas, of which the first one leads [default: the calibration's, or 0.1].
    #[arg(long, value_delimiter = ',', value_parser = number)]
    pub alpha: Vec<f64>,
    /// Root of all randomness [default: the calibration's, or 0].
    #[arg(long, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Threads to use; results do not depend on it [default: all cores].
    #[arg(long, value_parser = whole::<usize>(0..=u64::MAX))]
    pub threads: Option<usize>,
    /// One JSON document on stdout and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress bars and no notes on stderr.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel calibrate --cal-probs cal.npy --cal-labels labels.npy --unlabeled target.npy --out cal.json
  evenkeel calibrate --update cal.json --unlabeled target.npy --target-labels more.csv --out new.json
  evenkeel calibrate --cal-probs cal.npy --cal-labels labels.npy --unlabeled target.npy --per class --out cal.json

--update gives the bytes of a calibration with all labels at once.")]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub made_of: MadeOf,
    /// Class probabilities of the target points, without labels, in one file or several; uncorrected needs none.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        visible_alias = "target",
        num_args = 1..
    )]
    pub unlabeled: Vec<String>,
    /// How weights or thresholds are found.
    #[arg(long, value_parser = method_parser(), default_value = MethodName::default().as_str())]
    pub method: MethodName,
    /// File to save the calibration in.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub beside: BesideArgs,
    #[command(flatten)]
    pub per: PerArgs,
    #[command(flatten)]
    pub small: SmallArgs,
    #[command(flatten)]
    pub settings: MethodArgs,
    #[command(flatten)]
    pub scoring: Scoring,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel predict --calibration cal.json --probs target.npy --out sets.csv

The format follows the name: .npy a bool matrix, .csv and .jsonl lists of labels, .parquet a list column.")]
pub(crate) struct PredictArgs {
    /// A file written by `calibrate`.
    #[arg(long, value_name = "FILE")]
    pub calibration: PathBuf,
    /// Class probabilities to predict sets for.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub probs: String,
    /// Features of these points, if the calibration was made with features.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub features: Option<String>,
    /// Known likelihood ratios of these points, if the calibration was made with known ratios.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub ratios: Option<String>,
    /// Columns of --probs to pass through to --out, separated by commas.
    #[arg(long, value_name = "NAMES")]
    pub id_cols: Option<String>,
    /// File to write the sets to: .npy, .csv, .jsonl or .parquet; - is stdout. With several rates, {alpha} in the name stands for each.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Format of what is written to stdout [default: csv].
    #[arg(long, value_name = "NAME", value_parser = ["csv", "jsonl", "parquet"])]
    pub format: Option<String>,
    #[command(flatten)]
    pub groups: GroupsOfPoints,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: StoredCommon,
}

/// As [`Common`], with the stored miscoverage rate for a default.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct StoredCommon {
    /// Miscoverage rate, or several separated by commas, of which the first one leads [default: the calibration's].
    #[arg(long, value_delimiter = ',', value_parser = number)]
    pub alpha: Vec<f64>,
    /// Accepted for symmetry; sets take their randomness from the calibration's seed.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    /// Threads to use; results do not depend on it [default: all cores].
    #[arg(long, value_parser = whole::<usize>(0..=u64::MAX))]
    pub threads: Option<usize>,
    /// One JSON document on stdout and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress bars and no notes on stderr.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel evaluate --calibration cal.json --probs test.npy --labels test_labels.npy")]
pub(crate) struct EvaluateArgs {
    /// A file written by `calibrate`.
    #[arg(long, value_name = "FILE")]
    pub calibration: PathBuf,
    /// Class probabilities of labeled points.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub probs: String,
    /// Their labels [default: the column --label-col of the same table].
    #[arg(
        long,
        value_name = "LABELS",
        value_parser = file_parser(),
        required_unless_present = "label_col"
    )]
    pub labels: Option<String>,
    /// Features of these points, if the calibration was made with features.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub features: Option<String>,
    /// Known likelihood ratios of these points, if the calibration was made with known ratios.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub ratios: Option<String>,
    /// Exit with 1 if the measured coverage is below this.
    #[arg(long, value_name = "COVERAGE", value_parser = number)]
    pub fail_below: Option<f64>,
    #[command(flatten)]
    pub page: PageArgs,
    /// A line for each group of this column of the table; a line for each class is always there.
    #[arg(
        long,
        value_name = "class|COLUMN",
        conflicts_with = "groups",
        help_heading = "Coverage for each class or group"
    )]
    pub per: Option<String>,
    #[command(flatten)]
    pub groups: GroupsOfPoints,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: StoredCommon,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel compare --cal-probs cal.npy --cal-labels cal_labels.npy --unlabeled target.npy \\
    --test-probs test.npy --test-labels test_labels.npy --html comparison.html")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub labeled: Labeled,
    /// Class probabilities of the target points, without labels, in one file or several.
    #[arg(
        long,
        value_name = "MATRIX",
        value_parser = file_parser(),
        visible_alias = "target",
        num_args = 1..,
        required = true
    )]
    pub unlabeled: Vec<String>,
    /// Class probabilities of labeled target points.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser())]
    pub test_probs: String,
    /// Their labels [default: the column --label-col of the same table].
    #[arg(
        long,
        value_name = "LABELS",
        value_parser = file_parser(),
        required_unless_present = "label_col"
    )]
    pub test_labels: Option<String>,
    /// Methods, separated by commas, or all.
    #[arg(long, default_value = "all", value_name = "NAMES")]
    pub methods: String,
    /// Refused, in words that say what to do instead.
    #[arg(long, value_name = "class|COLUMN", hide = true)]
    pub per: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Write the table.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub beside: BesideArgs,
    /// Features of the test points, where calibration points have them.
    #[arg(long, value_name = "MATRIX", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub test_features: Option<String>,
    /// Known likelihood ratios of the test points.
    #[arg(long, value_name = "VECTOR", value_parser = file_parser(), help_heading = EXTRA_INPUTS)]
    pub test_ratios: Option<String>,
    #[command(flatten)]
    pub settings: MethodArgs,
    #[command(flatten)]
    pub scoring: Scoring,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

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
