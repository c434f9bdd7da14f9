//! Arguments as typed -> arguments resolved, and nothing done: what can be judged before a file is opened.

use std::ffi::OsString;

use clap::Parser;
use evenkeel::level::FailureProbability;
use evenkeel::method::{KnownRatios, require_and_refuse};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::PointSet;

use crate::args::{CalibrateArgs, CheckArgs, Cli, Command, Deferred};
use crate::failure::Failure;
use crate::settings::{Rates, calibrator, levels, score};

/// Why arguments are no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is printed.
    pub words: String,
    /// The exit code: 0 for help and version, which are asked for, else 2.
    pub code: u8,
}

/// Parses arguments, the program's name first, and resolves the settings they hold. Opens no file and runs nothing.
///
/// # Errors
/// Whatever is printed in place of a run.
pub fn understand(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Refusal> {
    let parsed = Cli::try_parse_from(arguments).map_err(|error| Refusal {
        words: error.render().to_string(),
        code: if error.use_stderr() { crate::exit::COULD_NOT_RUN } else { 0 },
    })?;
    resolved(&parsed.command)
        .map_err(|failure| Refusal { words: failure.to_string(), code: crate::exit::COULD_NOT_RUN })
}

/// The settings of a command, checked. Files may still be missing.
fn resolved(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Calibrate(Deferred(args)) => of_calibrate(args),
        Command::Check(Deferred(args)) => of_check(args),
        Command::Demo(Deferred(args)) => Rates::of(&args.common).map(drop),
        Command::Compare(Deferred(args)) => {
            let (rates, _) = Rates::several(&args.common)?;
            score(&args.scoring, rates.seed)?;
            args.settings.values().map(drop)
        }
        Command::Predict(Deferred(args)) => levels(&args.common.alpha).map(drop),
        Command::Evaluate(Deferred(args)) => levels(&args.common.alpha).map(drop),
        Command::Label(Deferred(args)) => {
            FailureProbability::new(args.delta)?;
            levels(&args.common.alpha).map(drop)
        }
        #[cfg(feature = "serve")]
        Command::Serve(_) => Ok(()),
        Command::Monitor(_)
        | Command::Reproduce(_)
        | Command::Completions(_)
        | Command::Manual(_) => Ok(()),
    }
}

fn of_calibrate(args: &CalibrateArgs) -> Result<(), Failure> {
    args.per.check(args.made_of.files.cal.as_ref())?;
    args.small.check(&args.per)?;
    let (rates, all) = Rates::several(&args.common)?;
    args.per.require_one(&all)?;
    let score = score(&args.scoring, rates.seed)?;
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let calibrator = calibrator(args.method, args.settings.values()?, ratios, score, rates)?;
    let given = args.beside.given_for(args.method);
    Ok(require_and_refuse(&calibrator.method, PointSet::Calibration, &given)?)
}

fn of_check(args: &CheckArgs) -> Result<(), Failure> {
    FailureProbability::new(args.delta)?;
    args.per.check(args.reference.files.cal.as_ref())?;
    levels(&args.common.alpha)?;
    args.bound_grid.values()?;
    score(&args.scoring, Seed::new(args.common.seed.unwrap_or(0))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Option<u8> {
        understand(line.split(' ').map(OsString::from)).err().map(|refusal| refusal.code)
    }

    #[test]
    fn settings_are_judged_without_a_file() {
        let calibrate = "evenkeel calibrate --cal-probs no.npy --cal-labels no.npy --unlabeled no.npy --out no.json";
        assert_eq!(code(calibrate), None);
        assert_eq!(code(&format!("{calibrate} --method ot --steps 10")), None);
        for wrong in ["--alpha 2", "--alpha nan", "--method fixed", "--steps 10", "--nonsense"] {
            assert_eq!(code(&format!("{calibrate} {wrong}")), Some(2), "{wrong}");
        }
        assert_eq!(code("evenkeel --help"), Some(0));
        assert_eq!(
            code("evenkeel check --calibration c.json --unlabeled x.npy --delta 0"),
            Some(2)
        );
    }
}
