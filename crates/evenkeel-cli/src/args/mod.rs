//! Arguments as typed: one file for each command, and those that several share.

mod beside;
mod calibrate;
mod calibration_data;
mod check;
mod compare;
mod demo;
mod evaluate;
mod everywhere;
mod manual;
mod page;
mod predict;
mod reading;

use clap::builder::{OsStringValueParser, Resettable, TypedValueParser};
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};
use evenkeel_io::text_of_path;

pub(crate) use crate::method_args::*;
pub(crate) use beside::{BesideArgs, SecondArgs};
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use calibration_data::CalibrationFiles;
pub(crate) use check::CheckArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use evaluate::EvaluateArgs;
pub(crate) use everywhere::{CheckCommon, Common, OneRate, ShowArgs};
pub(crate) use manual::{CompletionsArgs, ManualArgs, ManualFormat};
pub(crate) use predict::PredictArgs;
pub(crate) use reading::Reading;

/// Conformal prediction sets that stay honest when the world changes.
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about, arg_required_else_help = true)]
#[command(after_help = "\
Start with:
  evenkeel demo
  evenkeel check --cal-probs cal.npy --cal-labels labels.npy --unlabeled target.npy

A matrix is a path to .npy, .npz, .csv, .jsonl, .parquet or .arrow, a folder of tables, or - for stdin; FILE.npz:KEY, FILE.csv:COLUMN \
and the like select an array or a column. Columns with names are matched by name, whatever their order.

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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Paragraphs that are broken by hand are broken once more by the width of the terminal, and examples that are wider than it
    /// cannot be copied.
    #[test]
    fn help_leaves_its_lines_to_the_terminal() {
        let mut commands = vec![Cli::command()];
        while let Some(mut command) = commands.pop() {
            command.build();
            commands.extend(command.get_subcommands().cloned());
            let Some(text) = command.get_after_help().map(ToString::to_string) else { continue };
            for paragraph in text.split("\n\n") {
                let is_list = paragraph.lines().next().is_some_and(|first| first.ends_with(':'));
                assert!(
                    is_list || !paragraph.contains('\n'),
                    "{}: {paragraph}",
                    command.get_name()
                );
                for line in paragraph.lines().filter(|line| line.starts_with("  ")) {
                    assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
                }
            }
        }
    }
}
