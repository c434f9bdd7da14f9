//! The one number of every corruption at every severity.

use super::Corruption;

/// The numbers that make a corruption worse from severity 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The corruption they belong to.
    pub corruption: Corruption,
    /// What the number is.
    pub meaning: &'static str,
    /// The number at severities 1, 2, 3, 4, 5.
    pub values: [f64; 5],
}

const fn row(corruption: Corruption, meaning: &'static str, values: [f64; 5]) -> Parameters {
    Parameters { corruption, meaning, values }
}

/// One row per corruption, in the order of [`Corruption::ALL`].
///
/// Chosen so that the shipped classifier is right on about 85, 75, 65, 52 and 40 % of the test images (`docs/images.md`).
pub const PARAMETERS: [Parameters; 15] = [
    row(Corruption::GaussianNoise, "standard deviation", [0.1, 0.16, 0.2, 0.26, 0.31]),
    row(Corruption::ShotNoise, "photons of a white pixel", [40.0, 10.0, 4.0, 2.0, 0.7]),
    row(Corruption::ImpulseNoise, "share of pixels hit", [0.02, 0.05, 0.08, 0.12, 0.17]),
    row(Corruption::DefocusBlur, "radius in pixels", [1.2, 2.0, 2.6, 3.5, 4.5]),
    row(Corruption::MotionBlur, "length in pixels", [2.5, 5.0, 7.5, 11.0, 14.0]),
    row(Corruption::ZoomBlur, "largest zoom", [1.2, 1.4, 1.6, 2.0, 2.7]),
    row(Corruption::Fog, "thickness", [0.25, 0.7, 1.1, 1.8, 2.5]),
    row(Corruption::Snow, "flakes", [8.0, 16.0, 25.0, 38.0, 55.0]),
    row(Corruption::Brightness, "added intensity", [0.12, 0.3, 0.43, 0.54, 0.62]),
    row(Corruption::Contrast, "factor", [0.62, 0.44, 0.34, 0.25, 0.18]),
    row(Corruption::Pixelate, "pixels a side", [14.0, 9.0, 8.0, 6.0, 5.0]),
    row(Corruption::BlockQuantisation, "multiple of the table", [6.0, 20.0, 35.0, 60.0, 90.0]),
    row(Corruption::Rotate, "degrees", [8.0, 13.0, 16.0, 20.0, 23.0]),
    row(Corruption::Shear, "columns per row", [0.15, 0.25, 0.3, 0.4, 0.6]),
    row(Corruption::Elastic, "displacement in pixels", [0.6, 1.1, 1.4, 1.9, 2.5]),
];
