//! `evenkeel check`: is there a shift, how much coverage is at risk, what to do.

mod about_run;
mod conditions;
mod lines;
mod next_command;
mod reference;
mod words;

use evenkeel_io::{AtomicFile, PointFiles, read_labels_of_rows};
use evenkeel_jobs::grouped::{CheckedGroup, check_classes, check_groups};
use evenkeel_jobs::{CheckJob, TargetLabels, check};
use evenkeel_report::job_pages::{add_checked_groups, check_page};

use crate::args::CheckArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::{print, print_json, warning_line};
use crate::per_args::Per;
use crate::progress::Verbosity;
use crate::settings::{levels, low_levels, on_threads};

use about_run::about_run;
pub(crate) use conditions::require_share;
use conditions::{conditions, outcome};
use lines::{answers, class_lines, group_lines, level_lines};
use next_command::command;
use reference::Reference;
pub(crate) use words::text;

/// Miscoverage rate where neither the user nor a calibration names one.
pub(super) const DEFAULT_ALPHA: f64 = 0.1;

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CheckArgs) -> Result<Outcome, Failure> {
    let conditions = conditions(args)?;
    let paths = args.reference.files.paths(&args.reading.columns)?;
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
    let verbosity = Verbosity::of(args.common.show.quiet);
    let tables = args.reference.files.cal.as_ref().map(|table| (table, &args.unlabeled[..]));
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
    if args.common.show.json {
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
        said.extend(told.map(|doubt| warning_line(&doubt)));
        print(&said)?;
    }
    Ok(outcome(&failed))
}
