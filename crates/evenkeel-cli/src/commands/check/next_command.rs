//! What to type next, ready to copy.

use evenkeel::method::label_plan::PlanAssumptions;
use evenkeel::score::Score;
use evenkeel_jobs::sentences::check::NextStep;
use evenkeel_jobs::{CheckJob, Checked, sentences};

use crate::args::CheckArgs;
use crate::outputs::name_beside;
use crate::page::quoted;
use crate::table_args::option_words;

/// What to type next, ready to copy; none where nothing is to be done.
pub(super) fn command(args: &CheckArgs, job: &CheckJob, checked: &Checked) -> Option<String> {
    match sentences::check::next_step(checked) {
        NextStep::Calibrate => Some(recalibrate(args, job, checked)),
        NextStep::Label { rows } => Some(label(args, rows)),
        NextStep::Nothing => None,
    }
}

/// The command that draws rows to label.
fn label(args: &CheckArgs, rows: u64) -> String {
    let mut words = vec!["evenkeel".to_owned(), "label".to_owned()];
    words.extend(option_words("--unlabeled", &args.unlabeled));
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    option("--budget", &rows.to_string());
    option("--out", &name_beside(args, ["rows", "more_rows"], "csv"));
    words.extend(args.reading.words());
    words.extend(args.reading.flag().map(str::to_owned));
    words.join(" ")
}

/// The command that does what is recommended: the files and settings of this check.
fn recalibrate(args: &CheckArgs, job: &CheckJob, checked: &Checked) -> String {
    let mut words: Vec<String> = vec!["evenkeel".into(), "calibrate".into()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    let stored = args.reference.calibration.as_ref();
    if let Some(calibration) = stored {
        option("--calibration", &calibration.display().to_string());
    }
    for (name, files) in [
        ("--cal-probs", &args.reference.files.cal_probs),
        ("--cal-labels", &args.reference.files.cal_labels),
        ("--cal", &args.reference.files.cal),
    ] {
        if let Some(file) = files {
            option(name, file);
        }
    }
    words.extend(option_words("--unlabeled", &args.unlabeled));
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    option("--method", "auto");
    // Labels of rows that were picked would mislead the repair.
    if let Some(labels) = args.target_labels.as_ref().filter(|_| checked.labels_look_random()) {
        option("--target-labels", labels);
    } else {
        // Labels decide where there are any; elsewhere what was assumed here is assumed there.
        let PlanAssumptions { assume, accuracy } = job.settings.assumptions;
        if let Some(assume) = assume {
            option("--assume", assume.as_str());
        }
        if let Some(accuracy) = accuracy {
            option("--accuracy", &accuracy.get().to_string());
        }
        for (cal, target) in args.second.second_cal_probs.iter().zip(&args.second.second_probs) {
            option("--second-cal-probs", cal);
            option("--second-probs", target);
        }
    }
    // What is not the default of `calibrate`.
    let set = [
        ("--shift-level", args.delta.to_string(), "0.05"),
        ("--alpha", job.settings.alpha.get().to_string(), "0.1"),
        ("--seed", job.settings.seed.get().to_string(), "0"),
    ];
    for (name, value, _) in set.iter().filter(|(_, value, default)| value != default) {
        option(name, value);
    }
    option("--out", &name_beside(args, ["cal", "new"], "json"));
    words.extend(args.reading.words());
    // A calibration brings its score along.
    for (name, value) in
        job.score.options().iter().filter(|_| stored.is_none() && job.score != Score::Lac)
    {
        match value.as_str() {
            "true" => words.push(format!("--{name}")),
            "false" => {}
            value => words.extend([format!("--{name}"), quoted(value)]),
        }
    }
    words.extend(args.reading.flag().map(str::to_owned));
    words.join(" ")
}
