//! The project's own data folder: the shipped classifier on corrupted Fashion-MNIST.

use std::fs;
use std::path::Path;

use evenkeel::seed::Seed;

use super::softmax::SoftmaxTable;
use crate::classifier::Classifier;
use crate::corruption::{Condition, Corruption, Severity, images_under};
use crate::error::{Error, Result};
use crate::fashion_mnist::{CLASSES, LabeledImages, Split};
use crate::shipped::shipped;

/// One of the two classifiers that ship: `docs/images.md` says how they were trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichClassifier {
    /// Trained on clean images: the one that experiments are about.
    First,
    /// Trained on images that were moved, blurred, dimmed and noisy: a second opinion.
    Second,
}

impl WhichClassifier {
    fn read(self) -> Result<Classifier> {
        Classifier::from_bytes(&shipped(match self {
            Self::First => "classifier.safetensors",
            Self::Second => "second_classifier.safetensors",
        })?)
    }
}

/// The seed of the corruptions: images are spoilt once, and experiments draw from them.
// Not the run's seed: the folder would differ from run to run and could not be shared.
pub(super) const CORRUPTION_SEED: u64 = 0;

/// Clean, and every corruption at some severities.
pub(super) fn conditions_at(severities: &[u32]) -> Result<Vec<Condition>> {
    let mut conditions = vec![Condition::Clean];
    for severity in severities {
        let severity = u8::try_from(*severity)
            .map_err(|_| Error::NoSuchSeverity { found: *severity })
            .and_then(Severity::new)?;
        conditions
            .extend(Corruption::ALL.map(|corruption| Condition::Corrupted(corruption, severity)));
    }
    Ok(conditions)
}

/// Makes the softmax files that are not in a folder yet: the test images clean, and under every corruption at some
/// severities. `step` is told how many files there are, and called after each.
pub fn make_data_folder(
    folder: &Path,
    classifier: WhichClassifier,
    data_set: &Path,
    severities: &[u32],
    step: &dyn Fn(usize),
) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::at(folder))?;
    let mut conditions = conditions_at(severities)?;
    let file = |condition: &Condition| folder.join(format!("{condition}.npz"));
    // What is there is whole, so that an interrupted run goes on where it stopped.
    conditions.retain(|condition| !file(condition).exists());
    step(conditions.len());
    if conditions.is_empty() {
        return Ok(());
    }
    let images = LabeledImages::read(data_set, Split::Test)?;
    let classifier = classifier.read()?;
    let ids: Vec<usize> = (0..images.len()).collect();
    for condition in conditions {
        let spoilt = images_under(condition, &images, &ids, Seed::new(CORRUPTION_SEED))?;
        let table = SoftmaxTable {
            probabilities: classifier.probabilities(&spoilt)?,
            classes: CLASSES,
            labels: images.labels().to_vec(),
            image_ids: ids.clone(),
        };
        table.write(&file(&condition))?;
        step(1);
    }
    Ok(())
}
