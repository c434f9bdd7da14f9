//! What few-labels guarantees with a probability: for all points, for those of each class, and for a regressor.

use std::ops::ControlFlow;

use evenkeel::calibrator::{Ended, Fitted, ShiftCalibrator};
use evenkeel::level::Miscoverage;
use evenkeel::method::Method;
use evenkeel::method::few_labels::{
    ChangeBelief, FewLabelsSettings, Guarantee, GuaranteeProbability,
};
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::per_group::{ClassFit, ClassFitOf, ClassRowsEnded, SmallGroups, per_class};
use evenkeel::regression::guaranteed_threshold;
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Labels, Probabilities};
use evenkeel::seed::{Seed, Stream};
use evenkeel::side_inputs::{Labeled, SideInputs, TargetLabels};

use crate::statement::{Statement, statements};
use crate::{DELTA, DRAWS, MANY_DRAWS, Result};

const ALPHA: f64 = 0.1;
/// Scores of the two classes are uniform below these, in calibration and target data: the model is surer than it should be.
const SPREADS: ([f64; 2], [f64; 2]) = ([0.3, 0.3], [0.9, 0.5]);

/// Binary rows with their labels.
struct Points {
    values: Vec<f64>,
    labels: Vec<usize>,
}

fn points(stream: &mut Stream, count: usize, spreads: [f64; 2]) -> Points {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let label = stream.below(2);
        let score = spreads[label] * stream.uniform();
        let mut row = [score, score];
        row[label] = 1.0 - score;
        values.extend(row);
        labels.push(label);
    }
    Points { values, labels }
}

fn probable() -> Result<Guarantee> {
    Ok(Guarantee::Probability { probability: GuaranteeProbability::new(1.0 - DELTA)? })
}

/// Both data sets, labels of the first target rows, and the fit.
struct Draw {
    calibration: Points,
    target: Points,
    known: TargetLabels,
}

impl Draw {
    fn new(draw: u64, rows: usize, labeled: usize) -> Result<Self> {
        let mut stream = Seed::new(61).child("guarantee", draw).stream("rows");
        let calibration = points(&mut stream, 80, SPREADS.0);
        let target = points(&mut stream, rows, SPREADS.1);
        // Rows are independent: the first are as random as any.
        let pairs: Vec<(u64, usize)> =
            (0..).zip(target.labels.iter().copied()).take(labeled).collect();
        let known = TargetLabels::new(&pairs, 2)?;
        Ok(Self { calibration, target, known })
    }

    fn fitted(&self) -> Result<Fitted> {
        let plan = LabelPlanSettings { tolerance: 1e-2, ..LabelPlanSettings::default() };
        let change = ChangeBelief::Changed;
        let settings = FewLabelsSettings { change, plan, guarantee: probable()? };
        let calibrator = ShiftCalibrator::new(ALPHA)?.method(Method::FewLabels(settings));
        let probabilities = Probabilities::new(&self.calibration.values, 2)?;
        let labels = Labels::new(self.calibration.labels.clone(), 2)?;
        let beside = SideInputs::labels(&self.known);
        let mut fit = calibrator.begin(&Labeled {
            probabilities: &probabilities,
            labels: &labels,
            beside,
        })?;
        loop {
            let rows = Rows::new("probabilities", &self.target.values, 2)?;
            match fit.add(RowKeys::From(0), rows, SideInputs::default())?.end_pass()? {
                Ended::Again(again) => fit = again,
                Ended::Done(ready) => return Ok(ready.finish(&mut |_| ControlFlow::Continue(()))?),
            }
        }
    }
}

/// Coverage of a class at a threshold.
fn covered(threshold: f64, class: usize) -> f64 {
    (threshold / SPREADS.1[class]).min(1.0)
}

/// One threshold for all points, fifty labels.
pub(crate) fn few_labels() -> Result<Vec<Statement>> {
    let names = [("`few-labels --guarantee 0.95`, 50 labels, all points", 1.0 - DELTA)];
    statements(DRAWS, names, |draw| {
        let found = Draw::new(draw, 80, 50)?.fitted()?.calibration;
        let threshold = found.threshold(None).ok_or("one threshold for all points")?.get();
        Ok([0.5 * (covered(threshold, 0) + covered(threshold, 1)) - (1.0 - ALPHA)])
    })
}

/// A threshold for each class, about fifty labels of each.
pub(crate) fn for_each_class() -> Result<Vec<Statement>> {
    let names = [
        ("`few-labels --guarantee 0.95 --per class`, first class", 1.0 - DELTA),
        ("`few-labels --guarantee 0.95 --per class`, second class", 1.0 - DELTA),
    ];
    statements(DRAWS, names, |draw| {
        let draw = Draw::new(draw, 130, 100)?;
        let labels = Labels::new(draw.calibration.labels.clone(), 2)?;
        let of = ClassFitOf {
            labels: &labels,
            weights: None,
            target_labels: Some(&draw.known),
            small: SmallGroups::AllLabels,
        };
        let ClassFit::Rows(mut rows) = per_class(draw.fitted()?, &of)? else {
            return Err("few-labels reads the target rows".into());
        };
        let made = loop {
            let block = Rows::new("probabilities", &draw.target.values, 2)?;
            match rows.add(RowKeys::From(0), block)?.end_pass()? {
                ClassRowsEnded::Again(again) => rows = again,
                ClassRowsEnded::Done(made) => break made,
            }
        };
        let thresholds = made.thresholds(None);
        Ok([0, 1].map(|class| covered(thresholds[class].get(), class) - (1.0 - ALPHA)))
    })
}

/// Scores of fifty labeled target points of a regressor.
pub(crate) fn of_a_regressor() -> Result<Vec<Statement>> {
    let (alpha, guarantee) = (Miscoverage::new(ALPHA)?, probable()?);
    let names = [("regressor, `guarantee=0.95`, 50 labels", 1.0 - DELTA)];
    statements(MANY_DRAWS, names, |draw| {
        let mut stream = Seed::new(62).child("regressor", draw).stream("labels");
        // Uniform scores: a threshold is its own coverage.
        let scores: Vec<f64> = (0..50).map(|_| stream.uniform()).collect();
        let found = guaranteed_threshold(&scores, alpha, guarantee)?.ok_or("a guarantee")?;
        Ok([found.get() - (1.0 - ALPHA)])
    })
}
