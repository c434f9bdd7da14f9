//! How good is the estimate of coverage that a check gives without labels? The numbers of `docs/auto.md`.
//!
//! ```text
//! cargo run --release -p evenkeel-experiments --example coverage_estimate -- \
//!     [--fashion-mnist DIR] [--out FOLDER] [--seeds N] [--points N]
//! ```
//! Every corruption at every severity, clean images, and both without and with label shift. `FOLDER` keeps the softmax
//! outputs, so that a second run does not make them again.

use std::collections::BTreeMap;

use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_experiments::error::Error;
use evenkeel_experiments::images::{
    DataFolder, LabelMarginal, RoleSizes, SoftmaxTable, Split, Subset, WhichClassifier,
    make_data_folder,
};
use evenkeel_jobs::{AnyRows, CheckJob, Checked, LabeledData, MemorySource, Unobserved, check};

mod options;

/// What was found in one cell, in percentage points.
struct Cell {
    group: String,
    truth: f64,
    value: f64,
    low: f64,
    high: f64,
    matched: f64,
    verdict: &'static str,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options::Options::parse(&["--fashion-mnist", "--out", "--seeds", "--points"])?;
    let folder = options.path("--out", "coverage-estimate");
    let seeds: u64 = options.number("--seeds", 3)?;
    let points = options.number("--points", 300)?;
    make_data_folder(
        &folder,
        WhichClassifier::First,
        &options.fashion_mnist(),
        &[1, 2, 3, 4, 5],
        &|_| (),
    )?;
    let data = DataFolder::open(&folder)?;
    let clean = data.read_clean()?;
    for labels in LabelMarginal::ALL {
        let mut cells = Vec::new();
        let sizes = RoleSizes { calibration: points, unlabeled: points, test: usize::MAX };
        let mut run =
            |name: &str, table: &SoftmaxTable| -> Result<(), Box<dyn std::error::Error>> {
                for repetition in 0..seeds {
                    let seed = Seed::new(0).child(&format!("{name}-{}", labels.name()), repetition);
                    let split = match Split::deal(&clean, table, sizes, labels, seed) {
                        Err(Error::SmallLabelShift { .. }) => continue,
                        // Mixed: the rows that are read and the rows that are measured must have one law.
                        dealt => dealt?.mixed(seed),
                    };
                    let calibration = clean.subset(&split.calibration)?;
                    let (unlabeled, test) =
                        (table.subset(&split.unlabeled)?, table.subset(&split.test)?);
                    cells.push(cell(name, &calibration, &unlabeled, &test, seed)?);
                }
                Ok(())
            };
        run("clean", &clean)?;
        for condition in data.conditions() {
            run(&condition.name(), &data.read(condition, clean.classes)?)?;
        }
        report(labels, points, &cells);
    }
    Ok(())
}

fn cell(
    name: &str,
    calibration: &Subset,
    unlabeled: &Subset,
    test: &Subset,
    seed: Seed,
) -> Result<Cell, Box<dyn std::error::Error>> {
    let job =
        CheckJob::new(Score::Lac, Miscoverage::new(0.1)?, FailureProbability::new(0.05)?, seed);
    let labels = calibration.labels().as_slice().to_vec();
    let labeled =
        LabeledData::of_rows("calibration", AnyRows::F32(calibration.table()?), "labels", labels)?;
    let mut target = MemorySource::new("target", AnyRows::F32(unlabeled.table()?));
    let found: Checked = check(&job, &labeled, &mut target, &mut Unobserved)?;
    let scores = Score::Lac.label_scores(&test.probabilities()?, test.labels())?;
    let covered = scores.iter().filter(|score| found.threshold().admits(**score)).count();
    let estimate = &found.report.coverage_estimate;
    let matched = found.report.readings.iter().find(|reading| reading.name.as_str() == "matched");
    Ok(Cell {
        group: name
            .trim_end_matches(|letter: char| letter == '_' || letter.is_ascii_digit())
            .to_owned(),
        truth: 100.0 * covered as f64 / scores.len() as f64,
        value: 100.0 * estimate.value,
        low: 100.0 * estimate.low,
        high: 100.0 * estimate.high,
        matched: matched.map_or(f64::NAN, |reading| 100.0 * reading.coverage),
        verdict: found.verdict.as_str(),
    })
}

fn report(labels: LabelMarginal, points: usize, cells: &[Cell]) {
    println!("\n{}, n = m = {points}, {} cells\n", labels.words(), cells.len());
    println!(
        "| corruption | true coverage | error of the estimate | of matched | range holds | its width | verdicts |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut groups: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    for cell in cells {
        groups.entry(&cell.group).or_default().push(cell);
    }
    for (name, cells) in groups {
        line(name, &cells);
    }
    line("**all**", &cells.iter().collect::<Vec<&Cell>>());
    let lost: Vec<&Cell> = cells.iter().filter(|cell| cell.truth < 75.0).collect();
    line("true coverage below 75 %", &lost);
    let kept: Vec<&Cell> = cells.iter().filter(|cell| cell.truth >= 88.0).collect();
    line("true coverage from 88 %", &kept);
}

fn line(name: &str, cells: &[&Cell]) {
    if cells.is_empty() {
        return;
    }
    let mean = |value: &dyn Fn(&Cell) -> f64| {
        cells.iter().map(|cell| value(cell)).sum::<f64>() / cells.len() as f64
    };
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells {
        *verdicts.entry(cell.verdict).or_default() += 1;
    }
    let verdicts: Vec<String> =
        verdicts.iter().map(|(word, count)| format!("{word} {count}")).collect();
    println!(
        "| {name} | {:.1} | {:.1} | {:.1} | {:.0} % | {:.1} | {} |",
        mean(&|cell| cell.truth),
        mean(&|cell| (cell.value - cell.truth).abs()),
        mean(&|cell| (cell.matched - cell.truth).abs()),
        100.0 * mean(&|cell| f64::from(u8::from((cell.low..=cell.high).contains(&cell.truth)))),
        mean(&|cell| cell.high - cell.low),
        verdicts.join(", "),
    );
}
