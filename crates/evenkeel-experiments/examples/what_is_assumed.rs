//! What each assumption is worth, in worlds whose truth is known: the first table of `docs/auto.md`.
//!
//! ```text
//! cargo run --release -p evenkeel-experiments --example what_is_assumed -- [--draws N] [--rows N]
//!
//! row of class y     z_k = signal 1{k = y} + noise e_k,  e_k normal
//! model              softmax(belief z); right where belief = signal / noise^2 and all classes are as frequent
//! ```

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::label_plan::{Assumption, KnownAccuracy, LabelPlanSettings, PlanAssumptions};
use evenkeel::rows::Rows;
use evenkeel::score::{Labels, Score, softmax_rows};
use evenkeel::seed::{Seed, Stream};
use evenkeel_experiments::draws::{dirichlet, standard_normal};
use evenkeel_jobs::{AnyRows, LabeledData, MemorySource, Unobserved, calibrate, evaluate};

mod options;

const CLASSES: usize = 10;
const SIGNAL: f64 = 3.0;
/// Rows that coverage is measured on.
const TEST_ROWS: usize = 20_000;

/// How rows are made.
#[derive(Clone)]
struct World {
    /// Signal of a share of the rows, and of the others.
    signals: [f64; 2],
    /// Share of rows with the first.
    share: f64,
    noise: f64,
    /// What the model takes `signal / noise^2` for; none: the row's own.
    belief: Option<f64>,
    /// Share of rows whose label is drawn anew, whatever the model sees.
    relabeled: f64,
    /// Class frequencies; none: all the same.
    frequencies: Option<Vec<f64>>,
}

struct Points {
    probabilities: Vec<f64>,
    labels: Vec<usize>,
}

impl World {
    fn calibration() -> Self {
        Self {
            signals: [SIGNAL; 2],
            share: 1.0,
            noise: 1.0,
            belief: Some(SIGNAL),
            relabeled: 0.0,
            frequencies: None,
        }
    }

    fn points(&self, rows: usize, stream: &mut Stream) -> Result<Points, evenkeel::Error> {
        let (mut logits, mut labels) = (Vec::with_capacity(rows * CLASSES), Vec::new());
        for _ in 0..rows {
            let class = match &self.frequencies {
                None => stream.below(CLASSES),
                Some(frequencies) => {
                    let mut left = stream.uniform();
                    let found = frequencies.iter().position(|share| {
                        left -= share;
                        left < 0.0
                    });
                    found.unwrap_or(CLASSES - 1)
                }
            };
            let signal = self.signals[usize::from(stream.uniform() >= self.share)];
            let belief = self.belief.unwrap_or(signal / (self.noise * self.noise));
            logits.extend((0..CLASSES).map(|k| {
                let own = if k == class { signal } else { 0.0 };
                belief * (own + self.noise * standard_normal(stream))
            }));
            let relabeled = stream.uniform() < self.relabeled;
            labels.push(if relabeled { stream.below(CLASSES) } else { class });
        }
        let probabilities = softmax_rows(Rows::new("logits", &logits, CLASSES)?, 1.0)?;
        Ok(Points { probabilities, labels })
    }
}

impl Points {
    fn accuracy(&self) -> f64 {
        let labeled = self.probabilities.chunks_exact(CLASSES).zip(&self.labels);
        let right = labeled.filter(|(row, label)| row.iter().all(|other| *other <= row[**label]));
        right.count() as f64 / self.labels.len() as f64
    }

    fn rows(&self) -> Result<AnyRows<'_>, evenkeel::Error> {
        Ok(AnyRows::F64(Rows::new("probabilities", &self.probabilities, CLASSES)?))
    }
}

fn worlds(stream: &mut Stream) -> Vec<(&'static str, World)> {
    let same = World::calibration();
    vec![
        ("no shift", same.clone()),
        (
            "class frequencies change (Dirichlet 1)",
            World { frequencies: Some(dirichlet(stream, &[1.0; CLASSES])), ..same.clone() },
        ),
        (
            "signal fades, the model knows",
            World { signals: [1.8; 2], belief: None, ..same.clone() },
        ),
        ("signal fades, the model does not know", World { signals: [1.8; 2], ..same.clone() }),
        ("noise grows, the model does not know", World { noise: 1.8, ..same.clone() }),
        (
            "half of the rows lose their signal",
            World { signals: [SIGNAL, 0.8], share: 0.5, ..same.clone() },
        ),
        (
            "hard rows become common, the model knows them",
            World { signals: [SIGNAL, 1.5], share: 0.4, belief: None, ..same.clone() },
        ),
        ("a fifth of the labels is another, outputs unchanged", World { relabeled: 0.2, ..same }),
    ]
}

/// A column of the table.
#[derive(Clone, Copy)]
enum Column {
    Uncorrected,
    Assume(Assumption),
    Accuracy,
    Auto,
}

const COLUMNS: [(&str, Column); 7] = [
    ("uncorrected", Column::Uncorrected),
    ("class-shares", Column::Assume(Assumption::ClassShares)),
    ("calibrated", Column::Assume(Assumption::Calibrated)),
    ("matched", Column::Assume(Assumption::Matched)),
    ("blend", Column::Assume(Assumption::Blend)),
    ("accuracy known", Column::Accuracy),
    ("auto", Column::Auto),
];

impl Column {
    fn method(self, accuracy: f64) -> Result<Method, evenkeel::Error> {
        let plan = |assume, accuracy| {
            let assumptions = PlanAssumptions { assume, accuracy };
            Method::LabelPlan(LabelPlanSettings { assumptions, ..LabelPlanSettings::default() })
        };
        Ok(match self {
            Self::Uncorrected => Method::Uncorrected,
            Self::Assume(assume) => plan(Some(assume), None),
            Self::Accuracy => plan(None, Some(KnownAccuracy::new(accuracy)?)),
            Self::Auto => {
                Method::Auto(AutoSettings::new(evenkeel::level::FailureProbability::FIVE_PERCENT))
            }
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options::Options::parse(&["--draws", "--rows"])?;
    let (draws, rows) = (options.number("--draws", 20_u64)?, options.number("--rows", 1000)?);
    let alpha = Miscoverage::new(0.1)?;
    println!("| world | {} |", COLUMNS.map(|(name, _)| name).join(" | "));
    println!("|---|{}", "---|".repeat(COLUMNS.len()));
    for index in 0..worlds(&mut Seed::new(0).stream("worlds")).len() {
        // Mean distance from the level, and mean coverage.
        let mut sums = [[0.0; 2]; COLUMNS.len()];
        let mut name = "";
        for draw in 0..draws {
            let seed = Seed::new(1).child("what-is-assumed", draw);
            let mut stream = seed.stream("points");
            let (words, world) = worlds(&mut stream).swap_remove(index);
            name = words;
            let calibration = World::calibration().points(rows, &mut stream)?;
            let target = world.points(rows, &mut stream)?;
            let test = world.points(TEST_ROWS, &mut stream)?;
            let known = Labels::new(test.labels.clone(), CLASSES)?;
            for ((_, column), sums) in COLUMNS.iter().zip(&mut sums) {
                let method = column.method(test.accuracy())?;
                let calibrator = ShiftCalibrator { method, score: Score::Lac, alpha, seed };
                let labels = calibration.labels.clone();
                let data = LabeledData::of_rows("points", calibration.rows()?, "labels", labels)?;
                let mut source = MemorySource::new("target", target.rows()?);
                let done = calibrate(&calibrator, &data, &mut source, &mut Unobserved)?;
                let source = MemorySource::new("test", test.rows()?);
                let mut source = source.with_labels("labels", &known)?;
                let found = evaluate(&done.calibration, None, &mut source, &mut Unobserved)?;
                let coverage = found.evaluation.coverage;
                sums[0] += 100.0 * (coverage - 0.9).abs() / draws as f64;
                sums[1] += 100.0 * coverage / draws as f64;
            }
        }
        let cells = sums.map(|[error, coverage]| format!("{error:.1} ({coverage:.0})"));
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}
