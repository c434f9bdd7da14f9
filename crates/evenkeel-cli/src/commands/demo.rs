//! `evenkeel demo`: the whole job on real data that ships with the program.

use std::fs;
use std::path::{Path, PathBuf};

use evenkeel::level::FailureProbability;
use evenkeel::method::{KnownRatios, MethodName, OptionValues};
use evenkeel::reading::CoverageEstimate;
use evenkeel::score::Score;
use evenkeel::side_inputs::TargetLabels;
use evenkeel_io::{
    FileSource, LabelNames, LabeledFiles, PointFiles, ValueKind, read_target_labels, write_file,
};
use evenkeel_jobs::documents::CompareRow;
use evenkeel_jobs::{
    CheckJob, Checked, CompareJob, Compared, Comparison, IfInapplicable, LabeledData, check,
    compare,
};
use evenkeel_report::job_pages::{AboutRun, add_comparison, check_page, page_verdict};
use evenkeel_report::{ConditionRow, Conditions, Estimate, MeanSize, Report};
use serde::Serialize;

use super::check::text;
use super::compare::entrants;
use super::nights::Sources;
use crate::args::DemoArgs;
use crate::exit::Outcome;
use crate::failure::{Failure, system_words};
use crate::output::{print, print_json};
use crate::page::{date, provenance, quoted};
use crate::progress::Verbosity;
use crate::settings::{Rates, on_threads};
use crate::table::{Align, Table, colour_on_stdout, percent};

/// The data that ship: softmax outputs of the project's classifier on Fashion-MNIST, clean and corrupted.
const FILES: [&str; 18] = [
    "calibration_probs.npy",
    "calibration_labels.npy",
    "fifty_labels.csv",
    "clean_unlabeled.npy",
    "clean_test_probs.npy",
    "clean_test_labels.npy",
    "gaussian_noise_1_unlabeled.npy",
    "gaussian_noise_1_test_probs.npy",
    "gaussian_noise_1_test_labels.npy",
    "fog_3_unlabeled.npy",
    "fog_3_test_probs.npy",
    "fog_3_test_labels.npy",
    "motion_blur_5_unlabeled.npy",
    "motion_blur_5_test_probs.npy",
    "motion_blur_5_test_labels.npy",
    "shear_5_unlabeled.npy",
    "shear_5_test_probs.npy",
    "shear_5_test_labels.npy",
];

/// The bytes of a shipped file of the demo.
fn shipped(name: &str) -> Result<Vec<u8>, Failure> {
    Ok(evenkeel_experiments::shipped(&format!("demo/{name}"))?)
}

/// The days of the demo, and what they are.
const DAYS: [(&str, &str); 5] = [
    ("clean", "no shift"),
    ("gaussian_noise_1", "mild noise"),
    ("fog_3", "fog"),
    ("motion_blur_5", "heavy motion blur"),
    ("shear_5", "heavy shear"),
];

/// The day that is shown in full.
const MAIN_DAY: &str = "fog_3";

/// Names of the classes of Fashion-MNIST.
const CLASSES: [&str; 10] = [
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot",
];

#[derive(Debug, Serialize)]
struct Document {
    report: PathBuf,
    days: Vec<Day>,
}

/// Files that were written, and nothing else.
#[derive(Debug, Serialize)]
struct WrittenDocument<'a> {
    /// The folder they are in.
    wrote: &'a Path,
}

/// Says that files were written into a folder.
fn wrote(what: &str, folder: &Path, args: &DemoArgs) -> Result<Outcome, Failure> {
    if args.common.show.json {
        print_json(&WrittenDocument { wrote: folder })?;
    } else {
        Verbosity::of(args.common.show.quiet)
            .note(&format!("wrote {what} to {}", folder.display()));
    }
    Ok(Outcome::Done)
}

/// Writes the nights of the tutorial on monitoring.
fn nights(folder: &Path, args: &DemoArgs) -> Result<Outcome, Failure> {
    let both = |probs, labels| Ok::<_, Failure>([shipped(probs)?, shipped(labels)?]);
    let sources = Sources {
        calibration: both("calibration_probs.npy", "calibration_labels.npy")?,
        clean: both("clean_test_probs.npy", "clean_unlabeled.npy")?,
        noise: both("gaussian_noise_1_test_probs.npy", "gaussian_noise_1_test_labels.npy")?,
        fog: both("fog_3_test_probs.npy", "fog_3_test_labels.npy")?,
    };
    super::nights::write(folder, &sources)?;
    wrote("thirty nights", folder, args)
}

/// What was found under one condition.
struct Found {
    day: &'static str,
    what: &'static str,
    checked: Checked,
    compared: Vec<Compared>,
}

impl Found {
    fn of(&self, method: MethodName) -> Option<&Compared> {
        self.compared.iter().find(|one| one.calibration.provenance().method == method)
    }
}

#[derive(Debug, Serialize)]
struct Day {
    day: &'static str,
    what: &'static str,
    verdict: &'static str,
    coverage_estimate: CoverageEstimate,
    shift_detected: bool,
    p_value: f64,
    rows: Vec<CompareRow>,
}

impl Day {
    fn new(found: &Found) -> Self {
        let report = &found.checked.report;
        Self {
            day: found.day,
            what: found.what,
            verdict: found.checked.verdict.as_str(),
            coverage_estimate: report.coverage_estimate,
            shift_detected: report.shift.detected,
            p_value: report.shift.p_value,
            rows: found.compared.iter().map(Compared::row).collect(),
        }
    }
}

pub(crate) fn run(args: &DemoArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &DemoArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    if let Some(folder) = &args.nights {
        return nights(folder, args);
    }
    if let Some(folder) = &args.data {
        write_data(folder, "--data")?;
        return wrote("the data", folder, args);
    }
    let folder = args.out.join("data");
    write_data(&folder, "--out")?;
    let path = |name: &str| folder.join(name).display().to_string();
    let (probs, labels) = (path("calibration_probs.npy"), path("calibration_labels.npy"));
    let files = LabeledFiles::read(&probs, &labels, ValueKind::Probabilities)?;
    let labeled = files.data()?;
    let names: Vec<String> = CLASSES.iter().map(|name| (*name).to_owned()).collect();
    let sheet = path("fifty_labels.csv");
    let few = read_target_labels(&sheet, &LabelNames::None)?;
    let few =
        evenkeel_jobs::TargetLabels::new(&sheet, few, CLASSES.len())?.of_rows(CLASSES.len())?;
    let job = Job { args, rates, folder: &folder, labeled: &labeled, names: &names, few: &few };
    let mut days = Vec::new();
    for (day, what) in DAYS {
        days.push(job.run(day, what)?);
    }
    // One condition in full, all of them in a table: the page of a night with its month beside it.
    let shown = days.iter().find(|found| found.day == MAIN_DAY);
    let mut text_of_check = String::new();
    if let Some(shown) = shown {
        let page = job.page(shown, &days)?;
        write_file(&args.out.join("report.html"), evenkeel_report::render(&page).as_bytes())?;
        text_of_check = text(&shown.checked, Some(&names), Some(&job.command(shown.day)), false);
    }
    let days = days.iter().map(Day::new).collect();
    let document = Document { report: args.out.join("report.html"), days };
    if args.common.show.json {
        print_json(&document)?;
    } else {
        print(&summary(&document, &text_of_check, rates.alpha.get(), &folder))?;
    }
    Ok(Outcome::Done)
}

/// Writes the data into a folder, which an option chose.
fn write_data(folder: &Path, option: &str) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::Argument(format!(
            "could not make {}: {}; choose another {option}",
            folder.display(),
            system_words(&error)
        ))
    })?;
    for name in FILES {
        write_file(&folder.join(name), &shipped(name)?)?;
    }
    Ok(())
}

/// What every day of the demo shares.
struct Job<'a> {
    args: &'a DemoArgs,
    rates: Rates,
    folder: &'a Path,
    labeled: &'a LabeledData<'a>,
    names: &'a [String],
    /// Labels of fifty target rows.
    few: &'a TargetLabels,
}

impl Job<'_> {
    fn run(&self, day: &'static str, what: &'static str) -> Result<Found, Failure> {
        let path = |name: &str| self.folder.join(format!("{day}_{name}.npy")).display().to_string();
        let open = |files| FileSource::open(files, ValueKind::Probabilities);
        let unlabeled = path("unlabeled");
        let mut target = open(PointFiles::probs(&unlabeled))?;
        let (probs, labels) = (path("test_probs"), path("test_labels"));
        let mut test = open(PointFiles { labels: Some(&labels), ..PointFiles::probs(&probs) })?;
        let mut progress = Verbosity::of(self.args.common.show.quiet).progress();
        let Rates { alpha, seed } = self.rates;
        // The defaults of `check`: what the demo says, a user gets by typing the line it prints.
        let job = CheckJob::new(Score::Lac, alpha, FailureProbability::new(0.05)?, seed);
        let checked = check(&job, self.labeled, &mut target, &mut progress)?;
        let methods = [MethodName::Uncorrected, MethodName::Ot, MethodName::Auto];
        let options = OptionValues::default();
        let job = |entrants| CompareJob { entrants, if_inapplicable: IfInapplicable::Fail };
        let of = |methods: &[MethodName]| {
            entrants(methods, &options, KnownRatios::Absent, Score::Lac, self.rates)
        };
        let label_free = job(of(&methods)?);
        let Comparison { mut compared, .. } =
            compare(&label_free, self.labeled, &mut target, &mut test, &mut progress)?;
        // The same images under every condition, so that the same fifty labels serve all of them.
        let few = job(of(&[MethodName::FewLabels])?);
        let labeled = self.labeled.clone().with_target_labels(self.few);
        let with_labels = compare(&few, &labeled, &mut target, &mut test, &mut progress)?;
        compared.extend(with_labels.compared);
        Ok(Found { day, what, checked, compared })
    }

    /// The command that repairs a condition.
    fn command(&self, day: &str) -> String {
        format!(
            "evenkeel calibrate {} --method auto --out cal.json",
            labeled_and_unlabeled(self.folder, day)
        )
    }

    fn page(&self, shown: &Found, days: &[Found]) -> Result<Report, Failure> {
        let day = shown.day;
        let path = |name: &str| self.folder.join(name).display().to_string();
        let inputs = [
            ("calibration probabilities", path("calibration_probs.npy")),
            ("calibration labels", path("calibration_labels.npy")),
            ("unlabeled probabilities of the target data", path(&format!("{day}_unlabeled.npy"))),
            ("test probabilities", path(&format!("{day}_test_probs.npy"))),
            ("test labels", path(&format!("{day}_test_labels.npy"))),
        ];
        let inputs: Vec<(&str, &String)> =
            inputs.iter().map(|(role, file)| (*role, file)).collect();
        let about = AboutRun {
            run: Some(format!("Evenkeel demo: a Fashion-MNIST classifier under {}", shown.what)),
            date: date(),
            calibration: path("calibration_probs.npy"),
            rows: path(&format!("{day}_unlabeled.npy")),
            class_names: Some(self.names),
            commands: vec![self.command(day)],
            provenance: provenance(&inputs, Vec::new(), self.args.common.seed),
        };
        let mut page = check_page(&shown.checked, "lac", &about)?;
        let advised = page.warnings.len();
        add_comparison(&mut page, &shown.compared, Some(self.names));
        // The page holds five conditions: a table of one of them says which.
        let of_one = |method: String| format!("{method}, under {}", shown.what);
        page.classes_under = page.classes_under.map(of_one);
        // Warnings of methods that are only compared belong to the evidence, not to the advice.
        let of_others = page.warnings.split_off(advised);
        page.account.extend(of_others);
        if let (Some(laws), Some(first)) = (page.score_laws.as_mut(), shown.compared.first()) {
            // Any method will do: the law of the test scores does not depend on it.
            laws.test = Some((&first.label_law).into());
        }
        let tested = shown.compared.first().map_or(0, |first| first.evaluation.n);
        page.conditions = Conditions {
            title: Some("All five conditions".into()),
            note: Some(format!(
                "Measured and repaired coverage are counted on {tested} labeled test rows."
            )),
            labels: Some(self.few.len() as u64),
            rows: days.iter().map(condition_row).collect(),
        };
        Ok(page)
    }
}

/// The files of a condition as options of a command, as a shell takes them.
fn labeled_and_unlabeled(data: &Path, day: &str) -> String {
    let file = |name: &str| quoted(&data.join(name).display().to_string());
    format!(
        "--cal-probs {} --cal-labels {} --unlabeled {}",
        file("calibration_probs.npy"),
        file("calibration_labels.npy"),
        file(&format!("{day}_unlabeled.npy"))
    )
}

fn condition_row(found: &Found) -> ConditionRow {
    let estimate = &found.checked.report.coverage_estimate;
    let (before, after) = (found.of(MethodName::Uncorrected), found.of(MethodName::Auto));
    let mut row = ConditionRow::new(found.what);
    row.estimated = Some(Estimate::assumed(estimate.value, [estimate.low, estimate.high]));
    row.measured = before.map(|one| one.evaluation.coverage);
    row.after_repair = after.map(|one| one.evaluation.coverage);
    let few = found.of(MethodName::FewLabels);
    row.with_labels = few.map(|one| one.evaluation.coverage);
    row.size = MeanSize {
        before: before.map(|one| one.evaluation.mean_size),
        after: after.map(|one| one.evaluation.mean_size),
    };
    row.verdict = Some(page_verdict(found.checked.verdict));
    row
}

/// What a person reads: all conditions side by side, the check of one of them, and where to go from here.
fn summary(document: &Document, shown: &str, alpha: f64, folder: &Path) -> String {
    let mut table = Table::new(&[
        ("condition", Align::Left),
        ("verdict", Align::Left),
        ("estimated", Align::Right),
        ("range", Align::Right),
        ("measured", Align::Right),
        ("ot", Align::Right),
        ("auto", Align::Right),
        ("50 labels", Align::Right),
        ("mean size", Align::Right),
        ("its auto", Align::Right),
        ("its 50", Align::Right),
    ]);
    for day in &document.days {
        let row = |method: &str| day.rows.iter().find(|row| row.method == method);
        let coverage =
            |method: &str| row(method).map_or_else(|| "-".into(), |row| percent(row.coverage));
        let size = |method: &str| {
            row(method).map_or_else(|| "-".into(), |row| format!("{:.2}", row.mean_size))
        };
        let estimate = &day.coverage_estimate;
        table.push(vec![
            day.what.to_owned(),
            day.verdict.to_owned(),
            percent(estimate.value),
            format!("{:.0}-{:.0}", 100.0 * estimate.low, 100.0 * estimate.high),
            coverage("uncorrected"),
            coverage("ot"),
            coverage("auto"),
            coverage("few-labels"),
            size("uncorrected"),
            size("auto"),
            size("few-labels"),
        ]);
    }
    format!(
        "A Fashion-MNIST classifier, calibrated on 1000 clean images, meets five conditions. Coverage asked for: {}.\n\n{}\n\
         estimated   coverage of the sets in use, from 1000 unlabeled images\n\
         measured    the same, counted on 2000 labeled images that nobody has in production\n\
         ot, auto    coverage after a repair without labels: the paper's method, and the one this tool picks\n\
         50 labels   coverage after a repair with labels of fifty target images (few-labels)\n\
         mean size   labels in a set: as it is, after auto, after 50 labels\n\n\
         What `evenkeel check` says of the fog:\n\n{shown}\n\
         The page with figures: {}\n\
         Next, with your own files in place of these:\n  \
         evenkeel check {}\n",
        percent(1.0 - alpha),
        table.render(colour_on_stdout()),
        document.report.display(),
        labeled_and_unlabeled(folder, MAIN_DAY),
    )
}
