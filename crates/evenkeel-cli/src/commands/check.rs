//! `evenkeel check`: is there a shift, how much coverage is at risk, what to do.

use evenkeel::check::ShiftReport;
use evenkeel::level::FailureProbability;
use evenkeel::method::{OptionValue, OptionValues};
use evenkeel_io::{AtomicFile, PointFiles};
use evenkeel_jobs::{CheckJob, Checked, check, sentences};

use crate::args::{BesideArgs, CheckArgs};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::page::check_page;
use crate::progress::Verbosity;
use crate::settings::{Rates, on_threads, score};
use crate::table::{Align, Table, colour_on_stdout};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CheckArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let delta = FailureProbability::new(args.delta)?;
    let score = score(&args.scoring, rates.seed)?;
    let mut job = CheckJob::new(score, rates.alpha, delta, rates.seed);
    job.settings.bound_grid =
        args.bound_grid.values()?.count("bound-grid").unwrap_or(job.settings.bound_grid);
    job.settings.permutations = args.permutations.unwrap_or(job.settings.permutations);
    let floors = [
        ("--fail-below", args.fail_below),
        ("--fail-below-guaranteed", args.fail_below_guaranteed),
    ];
    for (option, floor) in floors {
        // A floor of 85 instead of 0.85 would fail every check, and look like a shift.
        floor.map_or(Ok(()), |floor| require_share(option, floor))?;
    }
    let none = BesideArgs::default();
    let files = args.reading.read(&args.labeled, &none)?;
    let labeled = files.data()?;
    let names = args.reading.names(labeled.classes())?;
    // Started before the work: a place that cannot be written to should not cost it.
    let html = args.html.as_deref().map(AtomicFile::create).transpose()?;
    let mut target = args.reading.open(PointFiles::probs(&args.unlabeled))?;
    let verbosity = Verbosity::of(args.common.quiet);
    let checked = check(&job, &labeled, &mut target, &mut verbosity.progress())?;
    let command = recalibrate(args, args.scoring.values()?);
    let recommended = checked.recommended.as_ref();
    let recommended =
        recommended.map_or_else(Vec::new, |found| sentences::recommendation(found, &command));
    if let Some((file, path)) = html.zip(args.html.as_ref()) {
        let mut page = check_page(args, &job, &checked, names.as_deref())?;
        page.account.extend(recommended.iter().cloned());
        file.write_whole(evenkeel_report::render(&page))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if args.common.json {
        print_json(&checked.document(names.as_deref()))?;
    } else {
        let more = recommended.iter().map(|said| format!("{said}\n")).collect::<String>();
        print(&(text(&checked, names.as_deref()) + &more))?;
    }
    Ok(outcome(args, &checked.report))
}

/// The command that does what is recommended, ready to copy: the files and settings of this check.
fn recalibrate(args: &CheckArgs, scoring: &OptionValues) -> String {
    let mut words: Vec<String> = vec!["evenkeel".into(), "calibrate".into()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    option("--cal-probs", &args.labeled.cal_probs);
    option("--cal-labels", &args.labeled.cal_labels);
    option("--unlabeled", &args.unlabeled);
    // Named although it may be the default: the line is copied into scripts that outlive defaults.
    option("--method", "auto");
    // What is not the default of `calibrate`.
    let set = [
        ("--shift-level", args.delta.to_string(), "0.05"),
        ("--alpha", args.common.alpha.to_string(), "0.1"),
        ("--seed", args.common.seed.to_string(), "0"),
    ];
    for (name, value, _) in set.iter().filter(|(_, value, default)| value != default) {
        option(name, value);
    }
    option("--out", "cal.json");
    for (name, value) in scoring.iter() {
        match value {
            OptionValue::Flag(_) => words.push(format!("--{name}")),
            value => words.extend([format!("--{name}"), quoted(&value.to_string())]),
        }
    }
    if args.reading.logits {
        words.push("--logits".to_owned());
    }
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    // Only what every shell leaves alone: a file name with a blank or a dollar must survive the
    // copy.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=@%+~".contains(letter);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Whether a condition of a `--fail-...` option holds.
fn outcome(args: &CheckArgs, report: &ShiftReport) -> Outcome {
    let interval = &report.coverage_interval;
    // The low end: a floor is about what may happen, not about what is likely.
    let below = |floor: Option<f64>, low: f64| floor.is_some_and(|floor| low < floor);
    let holds = below(args.fail_below, interval.assumed[0])
        || below(args.fail_below_guaranteed, interval.guaranteed[0])
        || (args.fail_on_shift && report.shift.detected);
    if holds { Outcome::ConditionHolds } else { Outcome::Done }
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

/// The three sentences first, then the evidence.
pub(crate) fn text(checked: &Checked, names: Option<&[String]>) -> String {
    let report = &checked.report;
    let mut text = sentences::check_answer(report).join("\n") + "\n\n";
    let mut bounds = Table::new(&[
        ("bound on the total coverage gap", Align::Left),
        ("weighted-CDF", Align::Right),
        ("with DKW", Align::Right),
        ("Wasserstein", Align::Right),
        ("with DKW", Align::Right),
    ]);
    for (name, values) in
        [("min-max (guaranteed)", &report.bounds.min_max), ("f-u (assumed)", &report.bounds.f_u)]
    {
        let number = |value: f64| format!("{value:.3}");
        bounds.push(vec![
            name.to_owned(),
            number(values.weighted_cdf),
            number(values.weighted_cdf_dkw),
            number(values.wasserstein),
            number(values.wasserstein_dkw),
        ]);
    }
    text += &bounds.render(colour_on_stdout());
    text += &format!("\n{}\n", sentences::order(report));
    if let Some(said) = sentences::classes(checked, names) {
        text += &format!("{said}\n");
    }
    for warning in sentences::check_warnings(checked) {
        text += &format!("Warning: {warning}.\n");
    }
    text
}
