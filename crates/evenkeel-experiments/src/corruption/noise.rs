//! Noise: every pixel errs on its own.

use evenkeel::seed::Stream;

use crate::draws::{poisson, standard_normal};
use crate::image::Image;

/// `x + deviation * z` with standard normal `z`.
pub(super) fn gaussian(image: &Image, deviation: f64, stream: &mut Stream) -> Image {
    Image::from_fn(|x, y| image.get(x, y) + deviation * standard_normal(stream))
}

/// `Poisson(photons * x) / photons`: dark stays dark, light flickers.
pub(super) fn shot(image: &Image, photons: f64, stream: &mut Stream) -> Image {
    Image::from_fn(|x, y| f64::from(poisson(stream, photons * image.get(x, y))) / photons)
}

/// A `share` of the pixels becomes white or black, evenly.
pub(super) fn impulse(image: &Image, share: f64, stream: &mut Stream) -> Image {
    Image::from_fn(|x, y| {
        // One draw decides whether and which: as many draws at every severity hit the same pixels
        // first.
        let draw = stream.uniform();
        if draw < share / 2.0 {
            1.0
        } else if draw < share {
            0.0
        } else {
            image.get(x, y)
        }
    })
}
