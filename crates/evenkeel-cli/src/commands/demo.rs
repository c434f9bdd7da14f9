//! `evenkeel demo`: the whole job on real data that ships with the program.

use std::fs;
use std::path::{Path, PathBuf};

use evenkeel::level::FailureProbability;
use evenkeel::method::{KnownRatios, MethodName, OptionValues};
use evenkeel::score::Score;
use evenkeel_io::{FileSource, LabeledFiles, PointFiles, ValueKind, write_file};
use evenkeel_jobs::documents::CompareRow;
use evenkeel_jobs::{
    CheckJob, Checked, CompareJob, Compared, Comparison, IfInapplicable, LabeledData, check,
    compare,
};
use evenkeel_report::Report;
use serde::Serialize;

use super::check::text;
use super::compare::entrants;
use crate::args::DemoArgs;
use crate::exit::Outcome;
use crate::failure::{Failure, system_words};
use crate::output::{print, print_json};
use crate::page::{add_check, add_comparison, check_answer, check_data, provenance};
use crate::progress::Verbosity;
use crate::settings::{Rates, on_threads};
use crate::table::{Align, Table, colour_on_stdout, percent};

/// The data that ship: softmax outputs of the project's classifier on Fashion-MNIST, clean and corrupted.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/demo/", $name)))),*]
    };
}

const FILES: &[(&str, &[u8])] = shipped![
    "calibration_probs.npy",
    "calibration_labels.npy",
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

/// The days of the demo, and what they are.
const DAYS: [(&str, &str); 5] = [
    ("clean", "no shift"),
    ("gaussian_noise_1", "mild noise"),
    ("fog_3", "fog"),
    ("motion_blur_5", "heavy motion blur"),
    ("shear_5", "heavy shear"),
];

/// Labeled and unlabeled points used: as many as in the paper. More are not better for the paper's method, whose answer
/// depends on their number; see docs/learning.md.
const FEW_ROWS: usize = 300;

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

#[derive(Debug, Serialize)]
struct Day {
    day: &'static str,
    what: &'static str,
    shift_detected: bool,
    p_value: f64,
    rows: Vec<CompareRow>,
}

pub(crate) fn run(args: &DemoArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &DemoArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let folder = args.out.join("data");
    fs::create_dir_all(&folder).map_err(|error| {
        Failure::Argument(format!(
            "could not make {}: {}; choose another --out",
            folder.display(),
            system_words(&error)
        ))
    })?;
    for (name, bytes) in FILES {
        // The shipped tables hold more rows than the demo shows; test tables stay whole for steady
        // numbers.
        let few = name.starts_with("calibration") || name.ends_with("unlabeled.npy");
        let rows = if few { first_rows(bytes, FEW_ROWS) } else { None };
        write_file(&folder.join(name), rows.as_deref().unwrap_or(bytes))?;
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let (probs, labels) = (path("calibration_probs.npy"), path("calibration_labels.npy"));
    let files = LabeledFiles::read(&probs, &labels, ValueKind::Probabilities)?;
    let labeled = files.data()?;
    let names: Vec<String> = CLASSES.iter().map(|name| (*name).to_owned()).collect();
    let job = Job { args, rates, folder: &folder, labeled: &labeled, names: &names };
    let mut days = Vec::new();
    let mut shown = String::new();
    for (day, what) in DAYS {
        let (checked, compared) = job.run(day)?;
        // One page is enough: the table shows the other conditions.
        if day == MAIN_DAY {
            shown = text(&checked, Some(&names));
            let report = job.page(day, what, &checked, &compared)?;
            write_file(&args.out.join("report.html"), evenkeel_report::render(&report).as_bytes())?;
        }
        days.push(Day {
            day,
            what,
            shift_detected: checked.report.shift.detected,
            p_value: checked.report.shift.p_value,
            rows: compared.iter().map(Compared::row).collect(),
        });
    }
    let document = Document { report: args.out.join("report.html"), days };
    if args.common.json {
        print_json(&document)?;
    } else {
        print(&summary(&document, &shown, rates.alpha.get(), &folder))?;
    }
    Ok(Outcome::Done)
}

/// The first rows of an npy file of version 1 in C order, as those that ship are; their rows are in random order.
fn first_rows(npy: &[u8], rows: usize) -> Option<Vec<u8>> {
    let header_end = 10 + usize::from(u16::from_le_bytes([*npy.get(8)?, *npy.get(9)?]));
    let header = std::str::from_utf8(npy.get(10..header_end)?).ok()?;
    let (before, shape) = header.split_once("'shape': (")?;
    let (count, after) = shape.split_once(',')?;
    let all: usize = count.trim().parse().ok()?;
    let data = npy.get(header_end..)?;
    let kept = data.len() / all * rows.min(all);
    let dictionary = format!("{before}'shape': ({},{}", rows.min(all), after.trim_end());
    // Padded with blanks to the length it had: fewer rows never need more digits.
    let padded = format!("{dictionary:<width$}\n", width = header.len() - 1);
    Some([npy.get(..10)?, padded.as_bytes(), data.get(..kept)?].concat())
}

/// What every day of the demo shares.
struct Job<'a> {
    args: &'a DemoArgs,
    rates: Rates,
    folder: &'a Path,
    labeled: &'a LabeledData<'a>,
    names: &'a [String],
}

impl Job<'_> {
    fn run(&self, day: &str) -> Result<(Checked, Vec<Compared>), Failure> {
        let path = |name: &str| self.folder.join(format!("{day}_{name}.npy")).display().to_string();
        let open = |files| FileSource::open(files, ValueKind::Probabilities);
        let unlabeled = path("unlabeled");
        let mut target = open(PointFiles::probs(&unlabeled))?;
        let (probs, labels) = (path("test_probs"), path("test_labels"));
        let mut test = open(PointFiles { labels: Some(&labels), ..PointFiles::probs(&probs) })?;
        let mut progress = Verbosity::of(self.args.common.quiet).progress();
        let Rates { alpha, seed } = self.rates;
        // The defaults of `check`: what the demo says, a user gets by typing the line it prints.
        let job = CheckJob::new(Score::Lac, alpha, FailureProbability::new(0.05)?, seed);
        let checked = check(&job, self.labeled, &mut target, &mut progress)?;
        let methods = [MethodName::Uncorrected, MethodName::Ot, MethodName::Auto];
        let options = OptionValues::default();
        let entrants = entrants(&methods, &options, KnownRatios::Absent, Score::Lac, self.rates)?;
        let job = CompareJob { entrants, if_inapplicable: IfInapplicable::Fail };
        let Comparison { compared, .. } =
            compare(&job, self.labeled, &mut target, &mut test, &mut progress)?;
        Ok((checked, compared))
    }

    fn page(
        &self,
        day: &str,
        what: &str,
        checked: &Checked,
        compared: &[Compared],
    ) -> Result<Report, Failure> {
        let found = &checked.report;
        let mut report = Report::new(self.rates.alpha, check_answer(found));
        report.run = Some(format!("Evenkeel demo: Fashion-MNIST under {what}"));
        report.data = check_data(found, "calibration_probs.npy", &format!("{day}_unlabeled.npy"));
        report.class_count = Some(found.classes);
        add_check(&mut report, checked, "lac")?;
        add_comparison(&mut report, compared, Some(self.names));
        if let (Some(laws), Some(first)) = (report.score_laws.as_mut(), compared.first()) {
            // Any method will do: the law of the test scores does not depend on it.
            laws.test = Some((&first.label_law).into());
        }
        let path = |name: &str| self.folder.join(name).display().to_string();
        report.provenance = provenance(
            &[
                ("calibration probabilities", &path("calibration_probs.npy")),
                ("calibration labels", &path("calibration_labels.npy")),
                (
                    "unlabeled probabilities of the target data",
                    &path(&format!("{day}_unlabeled.npy")),
                ),
                ("test probabilities", &path(&format!("{day}_test_probs.npy"))),
                ("test labels", &path(&format!("{day}_test_labels.npy"))),
            ],
            vec![(
                "rows used".into(),
                format!("the first {FEW_ROWS} of the calibration data and of the target data"),
            )],
            self.args.common.seed,
        );
        Ok(report)
    }
}

/// What a person reads: the check of one day, all days side by side, and where to go from here.
fn summary(document: &Document, shown: &str, alpha: f64, folder: &Path) -> String {
    let mut table = Table::new(&[
        ("condition", Align::Left),
        ("shift test", Align::Left),
        ("method", Align::Left),
        ("coverage", Align::Right),
        ("mean size", Align::Right),
        ("total gap", Align::Right),
        ("n_w", Align::Right),
    ]);
    for day in &document.days {
        let test = if day.shift_detected { "detected" } else { "nothing found" };
        for (index, row) in day.rows.iter().enumerate() {
            let first = index == 0;
            table.push(vec![
                if first { day.what.to_owned() } else { String::new() },
                if first { format!("{test}, p = {:.3}", day.p_value) } else { String::new() },
                row.method.to_owned(),
                percent(row.coverage),
                format!("{:.2}", row.mean_size),
                row.total_coverage_gap.map_or_else(|| "-".into(), |gap| format!("{gap:.3}")),
                format!("{:.0}", row.effective_sample_size),
            ]);
        }
    }
    let data = folder.display();
    format!(
        "A Fashion-MNIST classifier, calibrated on 300 clean images, is tested under five conditions. Level {}.\n\n\
         One of them in full, without labels (fog):\n\n{shown}\n\
         All of them, measured on 2000 labeled test images each:\n\n{}\n\
         The page with figures: {}\n\
         Next, with your own files in place of these:\n  \
         evenkeel check --cal-probs {data}/calibration_probs.npy --cal-labels {data}/calibration_labels.npy --unlabeled {data}/fog_3_unlabeled.npy\n",
        percent(1.0 - alpha),
        table.render(colour_on_stdout()),
        document.report.display(),
    )
}
