//! A calibration prepared once: every batch is checked against it.

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{CheckSettings, Stopping};
use evenkeel::level::FailureProbability;
use evenkeel::method::Method;
use evenkeel::seed::Seed;
use evenkeel::side_inputs::TargetLabels;
use evenkeel::stream::{PredictionCounts, StreamAlarm};
use evenkeel_jobs::{
    CheckJob, Checked, LabeledData, PreparedCheck, RowSource, Unobserved, calibrate,
    parse_calibration, said_of,
};

use crate::error::{MonitorError, Result};
use crate::store::ModelFacts;

/// A calibration in use, ready to check batches.
#[derive(Debug)]
pub struct Reference {
    name: String,
    calibration: Calibration,
    prepared: PreparedCheck,
}

impl Reference {
    /// Reads a calibration file; `name` is the caller's for it.
    ///
    /// # Errors
    /// If it is no calibration, or one that a check cannot ask about: points or labels have thresholds of their own, or it
    /// does not keep its calibration data.
    pub fn new(name: &str, text: &str, delta: f64) -> Result<Self> {
        let calibration = parse_calibration(text)
            .map_err(|error| MonitorError::from(error.while_reading(name)))?;
        let delta = FailureProbability::new(delta)?;
        if calibration.needs_features() || calibration.needs_ratios() {
            return Err(MonitorError::NotWatchable {
                name: name.to_owned(),
                why: "it needs features or ratios of every row, which batches do not have; calibrate with auto, label-plan or uncorrected",
            });
        }
        if calibration.is_scored_by_a_fitted_law() {
            return Err(MonitorError::NotWatchable {
                name: name.to_owned(),
                why: "its score is plan, a label law of the rows it was made for, which a proposal for other rows would replace; calibrate \
                      with another --score",
            });
        }
        let mut job = CheckJob::of_calibration(&calibration, name, None, delta)?;
        // A service checks every batch: most are quiet, and the first relabelings tell.
        job.settings.stopping = Stopping::WhenClear;
        let prepared = PreparedCheck::new(job, &labeled(name, &calibration)?)?;
        Ok(Self { name: name.to_owned(), calibration, prepared })
    }

    /// The calibration.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Names of the classes, where the calibration knows them.
    pub fn class_names(&self) -> Option<&[String]> {
        self.calibration.class_names().and_then(|names| names.classes.as_deref())
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.calibration.provenance().classes
    }

    pub(crate) fn facts(&self) -> ModelFacts {
        ModelFacts {
            alpha: self.calibration.provenance().alpha.get(),
            classes: self.classes() as u64,
        }
    }

    fn labeled(&self) -> Result<LabeledData<'_>> {
        labeled(&self.name, &self.calibration)
    }

    fn settings(&self) -> &CheckSettings {
        &self.prepared.job().settings
    }

    /// The alarms of the first watch: rows are compared with the calibration data, or with `baseline` where that is given.
    ///
    /// # Errors
    /// If rows cannot be read.
    pub fn first_watch(&self, baseline: Option<&mut dyn RowSource>) -> Result<StreamAlarm> {
        let said = match baseline {
            Some(rows) => said_of(rows, self.classes(), &mut Unobserved)?,
            None => self.labeled()?.predictions(),
        };
        let seed = Seed::new(self.settings().seed.get()).child("watch", 0);
        Ok(StreamAlarm::new(PredictionCounts::of(&said), self.settings().delta, seed)?)
    }

    /// Checks rows at the threshold in use.
    ///
    /// # Errors
    /// If they are not rows of probabilities of the same classes.
    pub fn check(&self, rows: &mut dyn RowSource) -> Result<Checked> {
        Ok(self.prepared.check(&self.labeled()?, rows, &mut Unobserved)?)
    }

    /// What `auto` makes of rows, with labels of some of them.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn recalibrate(
        &self,
        rows: &mut dyn RowSource,
        labels: Option<&TargetLabels>,
    ) -> Result<Calibration> {
        let provenance = self.calibration.provenance();
        let (score, seed) = (self.prepared.job().score, self.settings().seed);
        let alpha = provenance.alpha;
        let calibrator =
            ShiftCalibrator { method: Method::Auto(self.settings().auto()), score, alpha, seed };
        let mut labeled = self.labeled()?;
        if let Some(labels) = labels {
            labeled = labeled.with_target_labels(labels);
        }
        let made = calibrate(&calibrator, &labeled, rows, &mut Unobserved)?.calibration;
        Ok(match self.calibration.class_names() {
            Some(names) => made.with_class_names(names.clone())?,
            None => made,
        })
    }
}

/// The calibration data that a calibration keeps.
fn labeled<'a>(name: &str, calibration: &'a Calibration) -> Result<LabeledData<'a>> {
    let Some(kept) = calibration.reference() else {
        return Err(MonitorError::NotWatchable {
            name: name.to_owned(),
            why: "it does not keep its calibration data, as files of version 0.1 do not; calibrate anew",
        });
    };
    Ok(LabeledData::of_reference(name, kept, calibration.provenance().classes)?)
}
