//! A small convolutional network for 28 x 28 grey images, written out on top of a matrix product.
//!
//! ```text
//! image 28 x 28 x 1 -> [3 x 3 convolution, 2 x 2 max pool, bias, ReLU] 13 x 13 x 16
//!                   -> [3 x 3 convolution, 2 x 2 max pool, bias, ReLU]  5 x  5 x 32
//!                   -> [dense, ReLU] 128 -> [dense] 10 logits -> softmax
//! ```
//! The bias and the ReLU stand after the pool because both keep the order of their inputs, so that the result is the
//! same on a quarter of the numbers. Passes run over fixed chunks of images, and gradients are summed chunk by chunk in
//! order: the number of threads does not change a bit. The kind of processor may: the matrix product uses fused
//! multiply-adds where there are any.

pub(crate) mod adam;
mod architecture;
mod file;
mod jitter;
mod layers;
pub(crate) mod matrix;
mod network;
mod training;

pub use architecture::PARAMETER_COUNT;
pub use jitter::Jitter;
pub use training::{EpochReport, TrainingSettings, train};

use evenkeel::rows::Rows;
use evenkeel::score::softmax_rows;
use evenkeel::seed::Seed;
use rayon::prelude::*;

use crate::error::Result;
use crate::fashion_mnist::CLASSES;
use crate::image::{Image, PIXELS};

/// Images of one pass through the network; also the unit of parallel work, and so part of the definition of the result.
const CHUNK: usize = 32;

/// The network with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Classifier {
    parameters: Vec<f32>,
}

impl Classifier {
    /// The network before training.
    pub fn initialised(seed: Seed) -> Self {
        Self { parameters: architecture::initialised(seed) }
    }

    /// Logits of every image; shape `(images, CLASSES)`.
    pub fn logits(&self, images: &[Image]) -> Vec<f32> {
        images
            .par_chunks(CHUNK)
            .flat_map_iter(|chunk| network::logits(&self.parameters, &pixels_of(chunk.iter())))
            .collect()
    }

    /// Class probabilities of every image; shape `(images, CLASSES)`, rows sum to one up to rounding.
    pub fn probabilities(&self, images: &[Image]) -> Result<Vec<f32>> {
        let logits = self.logits(images);
        let probabilities = softmax_rows(Rows::new("logits", &logits, CLASSES)?, 1.0)?;
        Ok(probabilities.into_iter().map(|probability| probability as f32).collect())
    }
}

/// The class with the largest entry of a row, the first of several.
pub fn predicted_class(row: &[f32]) -> usize {
    row.iter()
        .enumerate()
        .fold(0, |best, (class, value)| if *value > row[best] { class } else { best })
}

/// The pixels of several images, one after the other.
fn pixels_of<'a>(images: impl ExactSizeIterator<Item = &'a Image>) -> Vec<f32> {
    let mut pixels = Vec::with_capacity(images.len() * PIXELS);
    images.for_each(|image| pixels.extend_from_slice(image.pixels()));
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(count: usize) -> Vec<Image> {
        let mut stream = Seed::new(5).stream("images");
        (0..count).map(|_| Image::from_fn(|_, _| stream.uniform())).collect()
    }

    #[test]
    fn an_image_gets_the_same_bits_alone_and_in_a_batch() {
        let classifier = Classifier::initialised(Seed::new(1));
        let images = images(CHUNK + 3);
        let together = classifier.logits(&images);
        let alone: Vec<f32> = images
            .iter()
            .flat_map(|image| classifier.logits(std::slice::from_ref(image)))
            .collect();
        assert_eq!(together, alone);
    }

    #[test]
    fn rows_of_probabilities_sum_to_one() {
        let classifier = Classifier::initialised(Seed::new(1));
        let probabilities = classifier.probabilities(&images(3)).unwrap();
        assert_eq!(probabilities.len(), 3 * CLASSES);
        for row in probabilities.chunks_exact(CLASSES) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_first_of_several_largest_is_predicted() {
        assert_eq!(predicted_class(&[0.1, 0.4, 0.4, 0.1]), 1);
        assert_eq!(predicted_class(&[0.7, 0.3]), 0);
    }
}
