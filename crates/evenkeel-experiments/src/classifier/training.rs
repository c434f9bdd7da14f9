//! From labeled images to a classifier.

use evenkeel::seed::Seed;
use rayon::prelude::*;

use super::adam::Adam;
use super::architecture::PARAMETER_COUNT;
use super::jitter::Jitter;
use super::network::{LossAndGradient, loss_and_gradient};
use super::{CHUNK, Classifier, pixels_of};
use crate::draws::permutation;
use crate::error::{Error, Result};
use crate::fashion_mnist::LabeledImages;
use crate::image::Image;

/// How long and how fast the classifier learns.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `epochs` | 10 | passes over the training images | at least 1 |
/// | `batch` | 128 | images per step | at least 1 |
/// | `learning_rate` | 0.002 | Adam's first step; falls to zero along half a cosine | positive, finite |
/// | `jitter` | none | what happens to an image before it is learned from | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingSettings {
    /// Passes over the training images.
    pub epochs: usize,
    /// Images a step.
    pub batch: usize,
    /// Adam's learning rate at the first step.
    pub learning_rate: f64,
    /// What happens to an image before it is learned from.
    pub jitter: Jitter,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self { epochs: 10, batch: 128, learning_rate: 2e-3, jitter: Jitter::None }
    }
}

impl TrainingSettings {
    fn check(&self) -> Result<()> {
        let at_least_one = |what, found: usize| match found {
            0 => Err(Error::BadSetting { what, found: 0.0, expected: "at least 1" }),
            _ => Ok(()),
        };
        at_least_one("the number of epochs", self.epochs)?;
        at_least_one("the batch size", self.batch)?;
        if self.learning_rate.is_finite() && self.learning_rate > 0.0 {
            Ok(())
        } else {
            let (what, expected) = ("the learning rate", "positive and finite");
            Err(Error::BadSetting { what, found: self.learning_rate, expected })
        }
    }
}

/// What an epoch left behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochReport {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Mean cross-entropy over the epoch, each image seen before the step it belongs to.
    pub loss: f64,
    /// Share of images classified correctly, likewise.
    pub accuracy: f64,
}

/// Trains a classifier from scratch and calls `report` after every epoch.
///
/// The seed draws the first parameters and the order of the images; threads change nothing.
pub fn train(
    images: &LabeledImages,
    settings: &TrainingSettings,
    seed: Seed,
    mut report: impl FnMut(EpochReport),
) -> Result<Classifier> {
    settings.check()?;
    let pixels: Vec<Image> = (0..images.len()).map(|id| images.image(id)).collect::<Result<_>>()?;
    let mut classifier = Classifier::initialised(seed);
    let mut adam = Adam::new(PARAMETER_COUNT);
    let steps = (settings.epochs * images.len().div_ceil(settings.batch)) as f64;
    let mut step = 0.0;
    for epoch in 0..settings.epochs {
        // A seed for each epoch: a longer training begins as a shorter one does.
        let order_seed = seed.child("classifier-epoch", epoch as u64);
        let order = permutation(&mut order_seed.stream("order"), images.len());
        let (mut loss, mut correct) = (0.0, 0);
        for batch in order.chunks(settings.batch) {
            let shown = |id: &usize| {
                // Addressed by image and epoch: threads and batches change nothing.
                let mut stream = order_seed.child("jitter", *id as u64).stream("jitter");
                (settings.jitter.of(&pixels[*id], &mut stream), images.labels()[*id])
            };
            let shown: Vec<(Image, usize)> = batch.par_iter().map(shown).collect();
            let mut sums = batch_sums(&classifier.parameters, &shown);
            // By the batch at hand: the last one of an epoch is smaller.
            sums.gradient.iter_mut().for_each(|value| *value /= batch.len() as f32);
            // Half a cosine: large steps first, and none that undo the last epochs.
            let fall = 0.5 * (1.0 + (std::f64::consts::PI * step / steps).cos());
            let learning_rate = settings.learning_rate * fall;
            adam.step(&mut classifier.parameters, &sums.gradient, learning_rate);
            loss += sums.loss;
            correct += sums.correct;
            step += 1.0;
        }
        let count = images.len() as f64;
        let accuracy = correct as f64 / count;
        report(EpochReport { epoch: epoch + 1, loss: loss / count, accuracy });
    }
    Ok(classifier)
}

/// Loss and gradient summed over the images of a batch: chunks in parallel, added in order.
fn batch_sums(parameters: &[f32], batch: &[(Image, usize)]) -> LossAndGradient<f32> {
    let chunks: Vec<LossAndGradient<f32>> = batch
        .par_chunks(CHUNK)
        .map(|chunk| {
            let pixels = pixels_of(chunk.iter().map(|(image, _)| image));
            let labels: Vec<usize> = chunk.iter().map(|(_, label)| *label).collect();
            loss_and_gradient(parameters, &pixels, &labels)
        })
        .collect();
    let mut sums = LossAndGradient { loss: 0.0, correct: 0, gradient: vec![0.0; parameters.len()] };
    for chunk in chunks {
        sums.loss += chunk.loss;
        sums.correct += chunk.correct;
        for (sum, value) in sums.gradient.iter_mut().zip(&chunk.gradient) {
            *sum += value;
        }
    }
    sums
}
