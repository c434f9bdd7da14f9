//! What a page tells of the run that made it.

use evenkeel_jobs::CheckJob;
use evenkeel_report::job_pages::AboutRun;

use super::reference::Reference;
use crate::args::CheckArgs;
use crate::page::{date, in_words, provenance};
use crate::table_args::named_together;

/// Inputs, options and commands of a check.
pub(super) fn about_run<'a>(
    args: &CheckArgs,
    job: &CheckJob,
    reference: &Reference<'_>,
    class_names: Option<&'a [String]>,
    command: Option<&str>,
) -> AboutRun<'a> {
    let calibration = args.reference.calibration.as_ref().map(|path| path.display().to_string());
    let inputs = [
        ("calibration probabilities", args.reference.files.cal_probs.as_ref()),
        ("calibration labels", args.reference.files.cal_labels.as_ref()),
        ("calibration table", args.reference.files.cal.as_ref()),
        ("calibration", calibration.as_ref()),
        ("labels of target rows", args.target_labels.as_ref()),
        ("calibration groups", args.per.cal_groups.as_ref()),
        ("target groups", args.per.unlabeled_groups.as_ref()),
    ];
    let mut inputs: Vec<(&str, &String)> =
        inputs.into_iter().filter_map(|(role, file)| Some((role, file?))).collect();
    for (role, files) in [
        ("probabilities of the target data", &args.unlabeled),
        ("calibration probabilities of a second model", &args.second.second_cal_probs),
        ("target probabilities of a second model", &args.second.second_probs),
    ] {
        inputs.extend(files.iter().map(|file| (role, file)));
    }
    let mut options = vec![
        ("delta".into(), args.delta.to_string()),
        ("bound grid".into(), job.settings.bound_grid.to_string()),
        ("permutations".into(), job.settings.permutations.to_string()),
    ];
    options.extend(in_words(&job.settings.assumptions.options()));
    options.extend(in_words(&job.score.options()));
    AboutRun {
        run: args.page.title.clone(),
        date: date(),
        calibration: reference.name(),
        rows: named_together(&args.unlabeled),
        class_names,
        commands: command.map(str::to_owned).into_iter().collect(),
        provenance: provenance(&inputs, options, job.settings.seed.get()),
    }
}
