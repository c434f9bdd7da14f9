//! Methods side by side on labeled rows of the target data.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Fitted, ShiftCalibrator};
use evenkeel::evaluation::{Evaluation, GapPoint};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::MethodName;

use crate::blocks::{each_labeled_block, require_classes};
use crate::documents::{CompareDocument, CompareRow};
use crate::error::{JobError, Result, Spell};
use crate::evaluate::Evaluated;
use crate::evaluation_pass::EvaluationPass;
use crate::fit::{Clock, fit};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::oracle::{HalfPasses, Measured, Oracle};
use crate::source::{Block, RowSource};

/// A method that takes part.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Entrant {
    /// One that learns from the calibration data and the unlabeled target data.
    Method(ShiftCalibrator),
    /// Split conformal prediction on labels of the test rows: calibrated on one half, measured on the other, both ways. Of the
    /// calibrator, score, level and seed count.
    Oracle(ShiftCalibrator),
}

impl Entrant {
    /// Its name in tables.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Method(calibrator) => calibrator.method.name(),
            Self::Oracle(_) => MethodName::Oracle,
        }
    }

    /// What it becomes where target rows have labels.
    fn with_labels(self, labeled: &LabeledData<'_>) -> Self {
        match self {
            Self::Method(calibrator) => {
                let method = calibrator.method.with_labels(labeled.side_inputs().labels);
                Self::Method(ShiftCalibrator { method, ..calibrator })
            }
            Self::Oracle(_) => self,
        }
    }
}

/// What becomes of a method that these data do not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfInapplicable {
    /// The comparison fails: it was asked for by name.
    Fail,
    /// It is left out, with the reason: all methods were asked for.
    LeaveOut,
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareJob {
    /// The methods, in the order of the table.
    pub entrants: Vec<Entrant>,
    /// What becomes of those that cannot apply.
    pub if_inapplicable: IfInapplicable,
}

/// A method that could not apply.
#[derive(Debug)]
pub struct LeftOut {
    /// The method that was left out.
    pub method: MethodName,
    /// Why it cannot run on these inputs.
    pub reason: JobError,
}

/// One method's outcome.
#[derive(Debug, Clone)]
pub struct Compared {
    /// What it learned, as `calibrate` would have stored it; of the oracle, what all test rows give.
    pub calibration: Calibration,
    /// `order[k]` is the input position of the point with the `k`-th smallest score: of a calibration point, or of a test
    /// point for the oracle.
    pub order: Vec<usize>,
    /// Its coverage, sizes and gap on the test rows; of the oracle, each row by the half that it is not in.
    pub evaluation: Evaluation,
    /// Scores of the test rows at their labels, exact at every calibration score.
    pub label_law: WeightedEmpirical,
    /// Coverage at every per cent.
    pub gap_curve: Vec<GapPoint>,
    /// Seconds of fit and test, without reading.
    pub seconds: f64,
}

impl Compared {
    /// Its row of the table.
    pub fn row(&self) -> CompareRow {
        CompareRow::new(self)
    }
}

/// What a comparison gives.
#[derive(Debug)]
pub struct Comparison {
    /// The methods that could apply, in the order asked for.
    pub compared: Vec<Compared>,
    /// Those that could not.
    pub left_out: Vec<LeftOut>,
}

impl Comparison {
    /// What people see of it; `spell` says errors in the shell's words.
    pub fn document(&self, alpha: f64, spell: Spell<'_>) -> CompareDocument {
        CompareDocument::new(self, alpha, spell)
    }
}

/// Calibrates every method and evaluates all of them in one pass over the labeled test rows.
///
/// # Errors
/// If a method fails and is not to be left out, rows are not probabilities, or the observer stops it.
pub fn compare(
    job: &CompareJob,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    test: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<Comparison> {
    let classes = labeled.classes();
    // Test rows of another model are found before anything is fitted, not after.
    require_classes(test, classes)?;
    let (mut fitted, mut left_out) = (Vec::new(), Vec::new());
    let mut tried: Vec<Entrant> = Vec::new();
    for entrant in &job.entrants {
        // With labels `auto` is `few-labels`: two rows of one name would say the same.
        let becomes = entrant.with_labels(labeled);
        if tried.contains(&becomes) {
            continue;
        }
        tried.push(becomes);
        let result = match entrant {
            Entrant::Method(calibrator) => fit(calibrator, labeled, target, observer)
                .map(|(fitted, seconds)| Prepared::Method(Box::new(fitted), seconds)),
            Entrant::Oracle(calibrator) => {
                Oracle::fit(calibrator, classes, test, observer).map(Box::new).map(Prepared::Oracle)
            }
        };
        match result {
            Ok(fit) => fitted.push(fit),
            Err(reason)
                if job.if_inapplicable == IfInapplicable::LeaveOut && reason.is_about_data() =>
            {
                // Only what the data cannot give: a file that vanished must fail the comparison,
                // not thin it out.
                left_out.push(LeftOut { method: entrant.name(), reason });
            }
            Err(reason) => return Err(reason),
        }
    }
    let mut passes = Vec::new();
    for prepared in &fitted {
        // The clock of the fit goes on: a row of the table shows what a method costs in all.
        let clock = Clock { seconds: prepared.seconds() };
        passes.push((Some(prepared.measure()?), clock));
    }
    // One pass for all methods: the test file may be far larger than the fits are long.
    each_labeled_block(test, classes, (Stage::Testing, observer), |block| {
        for (pass, clock) in &mut passes {
            *pass = clock.time(|| pass.take().map(|pass| pass.add(block)).transpose())?;
        }
        Ok(())
    })?;
    let mut measured = Vec::new();
    for (prepared, (pass, clock)) in fitted.iter().zip(passes) {
        measured.extend(pass.map(|pass| Ok((prepared.conclude(pass)?, clock.seconds))));
    }
    let measured: Vec<(Measured, f64)> = measured.into_iter().collect::<Result<_>>()?;
    let compared = fitted.into_iter().zip(measured).map(|(prepared, (found, seconds))| {
        let Fitted { calibration, order, .. } = prepared.into_fitted();
        let Measured { evaluation, label_law, gap_curve } = found;
        Compared { calibration, order, evaluation, label_law, gap_curve, seconds }
    });
    Ok(Comparison { compared: compared.collect(), left_out })
}

/// What takes part, before the test rows are read.
enum Prepared {
    /// A method's fit, and its seconds.
    Method(Box<Fitted>, f64),
    Oracle(Box<Oracle>),
}

/// What counts the test rows.
enum Passes<'a> {
    Method(Box<EvaluationPass<'a>>),
    Halves(Box<HalfPasses<'a>>),
}

impl Passes<'_> {
    fn add(self, block: &Block<'_>) -> Result<Self> {
        Ok(match self {
            Self::Method(pass) => Self::Method(Box::new(pass.add(block)?)),
            Self::Halves(passes) => Self::Halves(Box::new(passes.add(block)?)),
        })
    }
}

impl Prepared {
    fn seconds(&self) -> f64 {
        match self {
            Self::Method(_, seconds) => *seconds,
            Self::Oracle(oracle) => oracle.seconds,
        }
    }

    fn measure(&self) -> Result<Passes<'_>> {
        Ok(match self {
            Self::Method(fitted, _) => {
                Passes::Method(Box::new(EvaluationPass::new(&fitted.calibration, None)?))
            }
            Self::Oracle(oracle) => Passes::Halves(Box::new(oracle.measure()?)),
        })
    }

    fn conclude(&self, passes: Passes<'_>) -> Result<Measured> {
        match (self, passes) {
            (Self::Oracle(oracle), Passes::Halves(passes)) => oracle.conclude(*passes),
            (Self::Method(fitted, _), Passes::Method(pass)) => {
                let found = pass.finish()?;
                let gap_curve = found.gap_curve(&fitted.calibration);
                let Evaluated { evaluation, label_law } = found;
                Ok(Measured { evaluation, label_law, gap_curve })
            }
            // Each made its own passes a moment ago.
            _ => Err(JobError::Core(evenkeel::Error::Empty { what: "the evaluated sets" })),
        }
    }

    fn into_fitted(self) -> Fitted {
        match self {
            Self::Method(fitted, _) => *fitted,
            Self::Oracle(oracle) => oracle.whole,
        }
    }
}
