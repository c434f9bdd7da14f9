//! Fifteen ways a camera, a lens, the weather, a codec or a careless hand spoils an image, in five severities.
//!
//! In the manner of ImageNet-C (Hendrycks & Dietterich, 2019), written anew for grey 28 x 28 images: noise, blur,
//! weather, digital, geometric, three of each. Every corruption has one number that grows worse with severity, all in
//! the table [`PARAMETERS`]. What is random about a spoilt image is drawn from the seed, the corruption's name and the
//! image's id, so an image is spoilt in the same way at every severity, alone or in a batch, on any number of threads.

mod blur;
mod condition;
mod digital;
mod geometric;
mod noise;
mod parameters;
mod weather;

pub use condition::{Condition, Severity};
pub use parameters::{PARAMETERS, Parameters};

use evenkeel::seed::Seed;
use rayon::prelude::*;

use crate::error::Result;
use crate::fashion_mnist::LabeledImages;
use crate::image::Image;

/// A way to spoil an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corruption {
    /// Normal noise on every pixel.
    GaussianNoise,
    /// Few photons: every pixel is a Poisson count.
    ShotNoise,
    /// Some pixels are black or white.
    ImpulseNoise,
    /// The lens is out of focus: every point becomes a disc.
    DefocusBlur,
    /// The camera moves along a line during the exposure.
    MotionBlur,
    /// The camera moves forward during the exposure.
    ZoomBlur,
    /// A cloud in front of the scene.
    Fog,
    /// Falling flakes.
    Snow,
    /// Light is added everywhere.
    Brightness,
    /// Intensities shrink towards their mean.
    Contrast,
    /// Fewer, larger pixels.
    Pixelate,
    /// Coarse quantisation of 8 x 8 blocks of cosine coefficients, as in JPEG.
    BlockQuantisation,
    /// The camera is tilted.
    Rotate,
    /// Rows slide over each other.
    Shear,
    /// A smooth random displacement.
    Elastic,
}

impl Corruption {
    /// All corruptions, family by family.
    pub const ALL: [Self; 15] = [
        Self::GaussianNoise,
        Self::ShotNoise,
        Self::ImpulseNoise,
        Self::DefocusBlur,
        Self::MotionBlur,
        Self::ZoomBlur,
        Self::Fog,
        Self::Snow,
        Self::Brightness,
        Self::Contrast,
        Self::Pixelate,
        Self::BlockQuantisation,
        Self::Rotate,
        Self::Shear,
        Self::Elastic,
    ];

    /// Name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::GaussianNoise => "gaussian_noise",
            Self::ShotNoise => "shot_noise",
            Self::ImpulseNoise => "impulse_noise",
            Self::DefocusBlur => "defocus_blur",
            Self::MotionBlur => "motion_blur",
            Self::ZoomBlur => "zoom_blur",
            Self::Fog => "fog",
            Self::Snow => "snow",
            Self::Brightness => "brightness",
            Self::Contrast => "contrast",
            Self::Pixelate => "pixelate",
            Self::BlockQuantisation => "block_quantisation",
            Self::Rotate => "rotate",
            Self::Shear => "shear",
            Self::Elastic => "elastic",
        }
    }

    /// The row of [`PARAMETERS`] of this corruption.
    pub fn parameters(self) -> &'static Parameters {
        &PARAMETERS[self as usize]
    }

    /// Spoils the image with this id at a severity. Severity 0 leaves it as it is.
    pub fn corrupt(self, image: &Image, image_id: usize, severity: Severity, seed: Seed) -> Image {
        match severity.level() {
            None => image.clone(),
            Some(level) => self.corrupt_by(image, image_id, self.parameters().values[level], seed),
        }
    }

    /// Spoils the image with this id by a parameter of the caller's choice, on the scale of [`PARAMETERS`]; the result is
    /// rounded to 256 levels, as an image file would be. The work grows with the number of photons, the radius and the
    /// flakes.
    pub fn corrupt_by(self, image: &Image, image_id: usize, parameter: f64, seed: Seed) -> Image {
        // Severity is not part of it: the same flakes fall at every severity, only more of them.
        let stream = &mut seed.child(self.name(), image_id as u64).stream("corruption");
        let spoilt = match self {
            Self::GaussianNoise => noise::gaussian(image, parameter, stream),
            Self::ShotNoise => noise::shot(image, parameter, stream),
            Self::ImpulseNoise => noise::impulse(image, parameter, stream),
            Self::DefocusBlur => blur::defocus(image, parameter),
            Self::MotionBlur => blur::motion(image, parameter, stream),
            Self::ZoomBlur => blur::zoom(image, parameter),
            Self::Fog => weather::fog(image, parameter, stream),
            Self::Snow => weather::snow(image, parameter, stream),
            Self::Brightness => weather::brightness(image, parameter),
            Self::Contrast => digital::contrast(image, parameter),
            Self::Pixelate => digital::pixelate(image, parameter),
            Self::BlockQuantisation => digital::block_quantisation(image, parameter),
            Self::Rotate => geometric::rotate(image, parameter, stream),
            Self::Shear => geometric::shear(image, parameter, stream),
            Self::Elastic => geometric::elastic(image, parameter, stream),
        };
        // Also hides the last bit of sines and logarithms, in which C libraries differ.
        spoilt.rounded_to_bytes()
    }
}

/// The images with these ids, in this order, as they look under a condition.
pub fn images_under(
    condition: Condition,
    images: &LabeledImages,
    ids: &[usize],
    seed: Seed,
) -> Result<Vec<Image>> {
    ids.par_iter()
        .map(|id| {
            let image = images.image(*id)?;
            Ok(match condition {
                Condition::Clean => image,
                Condition::Corrupted(corruption, severity) => {
                    corruption.corrupt(&image, *id, severity, seed)
                }
            })
        })
        .collect()
}
