//! `evenkeel check`: is there a shift, how much coverage is at risk, what to do.

use std::io::Write;
use std::path::Path;

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::label_plan::PlanAssumptions;
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_io::{AtomicFile, LabeledFiles, PointFiles, read_labels_of_rows};
use evenkeel_jobs::documents::CheckedLevel;
use evenkeel_jobs::grouped::{AnyCalibration, CheckedGroup, check_classes, check_groups};
use evenkeel_jobs::sentences::check::NextStep;
use evenkeel_jobs::{
    AlarmConditions, CheckJob, Checked, FailedCondition, JobError, LabeledData, TargetLabels,
    check, sentences,
};
use evenkeel_report::job_pages::{AboutRun, add_checked_groups, check_page};

use crate::args::CheckArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::{load_any_calibration, named_by};
use crate::output::{print, print_json};
use crate::page::{date, in_words, provenance, quoted};
use crate::per_args::Per;
use crate::progress::Verbosity;
use crate::settings::{levels, low_levels, on_threads, score};
use crate::table::{Align, Table, colour_on_stdout, percent, threshold};
use crate::table_args::{LabeledPaths, named_together, option_words};

/// Miscoverage rate where neither the user nor a calibration names one.
pub(super) const DEFAULT_ALPHA: f64 = 0.1;

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

/// What target data are compared with.
enum Reference<'a> {
    Files(Box<LabeledFiles<'a>>),
    Calibration { path: String, calibration: Box<Calibration> },
}

impl Reference<'_> {
    fn read<'a>(
        args: &'a CheckArgs,
        paths: Option<&'a LabeledPaths>,
    ) -> Result<Reference<'a>, Failure> {
        match (&args.reference.calibration, paths) {
            (Some(path), _) => {
                let calibration = match load_any_calibration(path)? {
                    AnyCalibration::One(calibration) => Box::new(calibration),
                    grouped => return Err(refused(args, &grouped)),
                };
                Ok(Reference::Calibration { path: path.display().to_string(), calibration })
            }
            (None, Some(paths)) => {
                let files = args.reading.read_labeled(paths, &args.per.columns())?;
                Ok(Reference::Files(Box::new(files)))
            }
            (None, None) => Err(Failure::Argument(
                "give --cal-probs and --cal-labels, or --cal, or --calibration with a file written by calibrate".into(),
            )),
        }
    }

    fn data(&self) -> Result<LabeledData<'_>, Failure> {
        match self {
            Self::Files(files) => Ok(files.data()?),
            Self::Calibration { path, calibration } => {
                let Some(reference) = calibration.reference() else {
                    return Err(Failure::from(JobError::NotCheckable {
                        input: path.clone(),
                        why: "it does not keep its calibration data, as files of version 0.1 do not; give --cal-probs and \
                              --cal-labels, or calibrate anew",
                    }));
                };
                Ok(LabeledData::of_reference(path, reference, calibration.provenance().classes)?)
            }
        }
    }

    /// The job at a rate: rates that were not typed, score and threshold are the calibration's where there is one.
    fn job(&self, args: &CheckArgs, alpha: Option<Miscoverage>) -> Result<CheckJob, Failure> {
        let delta = FailureProbability::new(args.delta)?;
        let mut job = match self {
            Self::Files(_) => {
                let seed = Seed::new(args.common.seed.unwrap_or(0));
                let alpha = alpha.map_or_else(|| Miscoverage::new(DEFAULT_ALPHA), Ok)?;
                CheckJob::new(score(&args.scoring, seed)?, alpha, delta, seed)
            }
            Self::Calibration { path, calibration } => {
                if let Some((name, _)) = args.scoring.values()?.iter().next() {
                    return Err(Failure::Argument(format!(
                        "--{name} has no use with --calibration: the score is that of the calibration; leave it out"
                    )));
                }
                let mut job = CheckJob::of_calibration(calibration, path, alpha, delta)?;
                job.settings.seed = args.common.seed.map_or(job.settings.seed, Seed::new);
                job
            }
        };
        job.settings.bound_grid =
            args.bound_grid.values()?.count("bound-grid").unwrap_or(job.settings.bound_grid);
        job.settings.permutations = args.permutations.unwrap_or(job.settings.permutations);
        job.settings.assumptions = PlanAssumptions::from_options(args.assumptions.values()?)?;
        Ok(job)
    }

    /// What the user calls the classes.
    fn class_names(&self) -> ClassNames {
        match self {
            Self::Files(files) => files.class_names(),
            Self::Calibration { calibration, .. } => named_by(calibration),
        }
    }

    /// What is doubtful about columns that were taken for classes.
    fn doubts(&self) -> Vec<String> {
        match self {
            Self::Files(files) => files.doubts(),
            Self::Calibration { .. } => Vec::new(),
        }
    }

    /// What the page calls the calibration data.
    fn name(&self) -> String {
        match self {
            Self::Files(files) => files.probs().to_owned(),
            Self::Calibration { path, .. } => path.clone(),
        }
    }
}

fn run_on_pool(args: &CheckArgs) -> Result<Outcome, Failure> {
    let conditions = conditions(args)?;
    let paths = args.reference.paths(&args.reading.columns)?;
    let reference = Reference::read(args, paths.as_ref())?;
    let rates = levels(&args.common.alpha)?;
    let mut job = reference.job(args, rates.first().copied())?;
    args.second.paired()?;
    let labeled = reference.data()?;
    let known = reference.class_names();
    let reading = args.reading.table(&known, &args.per.columns())?;
    let second = args.second.read(&labeled, args.reading.kind(), &reading)?;
    let labeled = labeled.with_second(&second)?;
    let names = args.reading.names(labeled.classes(), &known)?;
    if let Some(input) = &args.target_labels {
        let found = read_labels_of_rows(input, &reading.names)?;
        let labels = TargetLabels::new(input, found.pairs, labeled.classes())?.or_refuse()?;
        job.labels = labels.for_rows(found.entries);
    }
    let html = args.page.html.as_deref().map(AtomicFile::create).transpose()?;
    let files =
        PointFiles { second: &args.second.second_probs, ..PointFiles::several(&args.unlabeled) };
    let mut target = args.reading.open_beside(files, &known, &args.per.columns())?;
    let verbosity = Verbosity::of(args.common.quiet);
    let tables = args.reference.cal.as_ref().map(|table| (table, &args.unlabeled[..]));
    let per = args.per.resolve(tables)?;
    let checked = check(&job, &labeled, &mut target, &mut verbosity.progress())?;
    let mut further = Vec::new();
    for alpha in rates.iter().skip(1) {
        let labels = job.labels.clone();
        let job = CheckJob { labels, ..reference.job(args, Some(*alpha))? };
        further.push(check(&job, &labeled, &mut target, &mut verbosity.progress())?);
    }
    let mut of_classes = None;
    let mut of_groups: Vec<CheckedGroup> = Vec::new();
    match per {
        Per::All => {}
        Per::Class => {
            let mut progress = verbosity.progress();
            of_classes = Some(check_classes(&checked, job.score, &mut target, &mut progress)?);
        }
        Per::Group { mut cal, mut unlabeled, .. } => {
            let calibration = (&labeled, &mut *cal as _);
            let target = (&mut target as _, &mut *unlabeled as _);
            let mut progress = verbosity.progress();
            of_groups =
                check_groups(&job, checked.threshold(), calibration, target, &mut progress)?;
        }
    }
    let failed = conditions.failed(&checked);
    let command = command(args, &job, &checked);
    if let Some((file, path)) = html.zip(args.page.html.as_ref()) {
        let about = about_run(args, &job, &reference, names.as_deref(), command.as_deref());
        let mut page = check_page(&checked, job.score.name(), &about)?;
        add_checked_groups(&mut page, &of_groups);
        file.write_whole(evenkeel_report::render(&page))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if args.common.json {
        let mut document = checked.document(names.as_deref(), &failed);
        document.command = command;
        document.with_class_estimates(of_classes.as_deref());
        document.per_group = of_groups.iter().map(Into::into).collect();
        document.levels = answers(&checked, &further);
        document.warnings.extend(low_levels(&rates));
        document.warnings.extend(reference.doubts());
        print_json(&document)?;
    } else {
        let mut said = text(&checked, names.as_deref(), command.as_deref(), args.explain);
        said += &level_lines(&answers(&checked, &further));
        said += &class_lines(&checked, of_classes.as_deref(), names.as_deref());
        said += &group_lines(&of_groups);
        let told = low_levels(&rates).into_iter().chain(reference.doubts());
        said.extend(told.collect::<Vec<_>>().iter().map(|doubt| format!("Warning: {doubt}.\n")));
        print(&said)?;
    }
    Ok(outcome(&failed))
}

/// Why a calibration with a threshold for each class or group cannot be asked about, and what to type instead.
fn refused(args: &CheckArgs, calibration: &AnyCalibration) -> Failure {
    let path = args.reference.calibration.as_deref().unwrap_or(Path::new(""));
    let instead = match calibration {
        AnyCalibration::PerGroup(made) => {
            let by = made.by().unwrap_or("COLUMN");
            format!(
                "for each group, give the calibration data: --cal-probs and --cal-labels with --cal-groups and --unlabeled-groups, or \
                 --cal TABLE with --per {by}"
            )
        }
        _ => "for each class, give the calibration data: --cal-probs and --cal-labels with --per class".to_owned(),
    };
    Failure::Calibration {
        path: path.to_owned(),
        reason: format!(
            "has a threshold for each class or group, and a check asks about one. To see the coverage to expect {instead}. Once labels are \
             there, evaluate tells what this calibration covers"
        ),
    }
}

/// The answer at every rate; nothing for one.
fn answers(first: &Checked, further: &[Checked]) -> Vec<CheckedLevel> {
    if further.is_empty() {
        return Vec::new();
    }
    let all = std::iter::once(first).chain(further);
    all.map(|checked| CheckedLevel::new(&checked.document(None, &[]))).collect()
}

/// The answer at every rate asked for, side by side.
fn level_lines(levels: &[CheckedLevel]) -> String {
    if levels.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("level", Align::Left),
        ("estimated coverage", Align::Right),
        ("range", Align::Right),
        ("threshold", Align::Right),
        ("mean size", Align::Right),
        ("verdict", Align::Left),
    ]);
    for level in levels {
        let estimate = &level.coverage_estimate;
        table.push(vec![
            percent(1.0 - level.alpha),
            percent(estimate.value),
            format!("{} - {}", percent(estimate.low), percent(estimate.high)),
            threshold(level.threshold),
            format!("{:.2}", level.mean_size),
            level.verdict.as_str().to_owned(),
        ]);
    }
    format!("\n{}", table.render(colour_on_stdout()))
}

/// Coverage of each class: of its calibration points, and what is expected of its target rows.
fn class_lines(
    checked: &Checked,
    estimates: Option<&[(f64, f64)]>,
    names: Option<&[String]>,
) -> String {
    let Some(estimates) = estimates else { return String::new() };
    let mut table = Table::new(&[
        ("class", Align::Left),
        ("calibration points", Align::Right),
        ("covered", Align::Right),
        ("expected target rows", Align::Right),
        ("estimated coverage", Align::Right),
    ]);
    for class in &checked.per_class {
        let (rows, coverage) = estimates.get(class.label).copied().unwrap_or((0.0, 0.0));
        table.push(vec![
            sentences::class_name(class.label, names),
            class.n.to_string(),
            percent(class.coverage),
            format!("{rows:.1}"),
            percent(coverage),
        ]);
    }
    format!("\n{}", table.render(colour_on_stdout()))
}

/// What the threshold is worth for each group.
fn group_lines(groups: &[CheckedGroup]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("group", Align::Left),
        ("calibration points", Align::Right),
        ("covered", Align::Right),
        ("target rows", Align::Right),
        ("estimated coverage", Align::Right),
        ("verdict", Align::Left),
    ]);
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
    for group in groups {
        table.push(vec![
            group.groups.join(", "),
            group.n.to_string(),
            share(group.coverage),
            group.m.to_string(),
            share(group.estimate.as_ref().map(|found| found.value)),
            group
                .verdict
                .map_or_else(|| "too few points".to_owned(), |found| found.as_str().to_owned()),
        ]);
    }
    format!("\n{}", table.render(colour_on_stdout()))
}

/// Says on stderr which conditions hold: whoever is woken by an exit code should know why.
fn outcome(failed: &[FailedCondition]) -> Outcome {
    for condition in failed {
        // Not `eprintln!`, which panics when stderr is gone; the code still tells.
        let _ = writeln!(std::io::stderr(), "failed: {}", sentences::check::failed(condition));
    }
    if failed.is_empty() { Outcome::Done } else { Outcome::ConditionHolds }
}

fn conditions(args: &CheckArgs) -> Result<AlarmConditions, Failure> {
    let floors = [
        ("--fail-below", args.fail_below),
        ("--fail-below-worst-case", args.fail_below_worst_case),
        ("--fail-below-guaranteed", args.fail_below_guaranteed),
    ];
    for (option, floor) in floors {
        floor.map_or(Ok(()), |floor| require_share(option, floor))?;
    }
    Ok(AlarmConditions {
        below: args.fail_below,
        below_worst_case: args.fail_below_worst_case,
        below_guaranteed: args.fail_below_guaranteed,
        on_shift: args.fail_on_shift,
    })
}

fn about_run<'a>(
    args: &CheckArgs,
    job: &CheckJob,
    reference: &Reference<'_>,
    class_names: Option<&'a [String]>,
    command: Option<&str>,
) -> AboutRun<'a> {
    let calibration = args.reference.calibration.as_ref().map(|path| path.display().to_string());
    let inputs = [
        ("calibration probabilities", args.reference.cal_probs.as_ref()),
        ("calibration labels", args.reference.cal_labels.as_ref()),
        ("calibration table", args.reference.cal.as_ref()),
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

/// What to type next, ready to copy; none where nothing is to be done.
fn command(args: &CheckArgs, job: &CheckJob, checked: &Checked) -> Option<String> {
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
    option("--out", "rows.csv");
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
        ("--cal-probs", &args.reference.cal_probs),
        ("--cal-labels", &args.reference.cal_labels),
        ("--cal", &args.reference.cal),
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
    option("--out", "cal.json");
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

/// An error unless a floor on coverage is a share.
pub(crate) fn require_share(option: &str, value: f64) -> Result<(), Failure> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "{option} is {value}; it is a share between 0 and 1 (0.85 for 85 %)"
    )))
}

/// Three lines: the verdict with its number, what to do, what it rests on; then warnings, and the evidence on request.
pub(crate) fn text(
    checked: &Checked,
    names: Option<&[String]>,
    command: Option<&str>,
    explain: bool,
) -> String {
    let mut text = sentences::check::answer(checked).join("\n") + "\n";
    if let Some(command) = command {
        text += &format!("\n  {command}\n");
    }
    let mut warnings = sentences::check::warnings(checked);
    warnings.extend(checked.class_warning(names));
    let recommended = checked.repair().into_iter().flat_map(|found| &found.warnings);
    // What a fit with labels warns of may be said of the labels already.
    let new: Vec<String> = recommended.filter(|said| !warnings.contains(said)).cloned().collect();
    warnings.extend(new);
    if !warnings.is_empty() {
        text += "\n";
    }
    for warning in warnings {
        text += &format!("Warning: {warning}.\n");
    }
    if explain {
        text += &explanation(checked, names);
        for remark in sentences::evidence::remarks(checked) {
            text += &format!("Note: {remark}.\n");
        }
    }
    text
}

/// Readings, shift test, guarantees and bounds, each with its name explained.
fn explanation(checked: &Checked, names: Option<&[String]>) -> String {
    let report = &checked.report;
    let mut text =
        "\nCoverage under each reading, a way to understand the unlabeled rows:\n\n".to_owned();
    let mut readings = Table::new(&[
        ("reading", Align::Left),
        ("coverage", Align::Right),
        ("sampling error", Align::Right),
        ("if", Align::Left),
    ]);
    for (name, coverage, error, assumption) in sentences::evidence::readings(report) {
        readings.push(vec![name, percent(coverage), percent(error), assumption.to_owned()]);
    }
    text += &readings.render(colour_on_stdout());
    for said in sentences::evidence::with_labels(checked, names) {
        text += &format!("\n{said}\n");
    }
    for said in [
        sentences::evidence::RANGE_RECORD.to_owned(),
        sentences::evidence::shift(report),
        sentences::evidence::guaranteed(report),
        sentences::evidence::belief(report),
    ] {
        text += &format!("\n{said}\n");
    }
    text += "\nBounds on what the shift costs at equal weights, averaged over all levels. The total gap compares coverage on both data \
             sets at\nthe same threshold; the distance is that of the target coverage from the level. With min-max these two are guaranteed; with f-u \
             they are\nassumed. The paper's forms are no bounds where scores are tied. The first row of each pair is about the rows at hand. The second \
             is\nproved for the populations behind them, tied scores or not. DKW terms bound the first two at the thresholds that these \
             calibration\ndata give, and the paper's forms where scores have a density.\n\n";
    let mut bounds = Table::new(&[
        ("bound", Align::Left),
        ("total gap", Align::Right),
        ("distance", Align::Right),
        ("paper's grid form (eq 7)", Align::Right),
        ("its mass", Align::Right),
        ("eq 8", Align::Right),
    ]);
    for (name, values) in [("min-max", &report.bounds.min_max), ("f-u", &report.bounds.f_u)] {
        bounds.push(vec![
            name.to_owned(),
            sentences::check::bound(values.exact),
            sentences::check::bound(values.level),
            sentences::check::bound(values.weighted_cdf),
            format!("{:.2}", values.mass),
            sentences::check::bound(values.wasserstein),
        ]);
        let with = |what: &str, confidence: f64| {
            format!("  {what}, confidence {}", sentences::confidence(confidence))
        };
        bounds.push(vec![
            with("populations", values.population_confidence),
            sentences::check::bound(values.exact_population),
            sentences::check::bound(values.level_population),
            String::new(),
            String::new(),
            String::new(),
        ]);
        bounds.push(vec![
            with("DKW terms", values.dkw_confidence),
            sentences::check::bound(values.exact_dkw),
            sentences::check::bound(values.level_dkw),
            sentences::check::bound(values.weighted_cdf_dkw),
            String::new(),
            sentences::check::bound(values.wasserstein_dkw),
        ]);
    }
    text += &bounds.render(colour_on_stdout());
    text += &format!("\n{}\n", sentences::evidence::order(report));
    if let Some(said) = sentences::evidence::classes(checked, names) {
        text += &format!("{said}\n");
    }
    if let Some(recommended) = checked.repair() {
        for said in sentences::evidence::recommendation(recommended) {
            text += &format!("{said}\n");
        }
    }
    text
}
