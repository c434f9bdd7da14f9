//! Blur: every pixel is an average of others. Outside the image it is black.

use evenkeel::seed::Stream;

use crate::image::{Image, SIDE};

/// Exposures averaged in a motion or zoom blur: enough that no two are further apart than a pixel.
const EXPOSURES: usize = 24;

/// Mean over a disc of `radius` pixels whose edge pixels count by how far they reach in.
pub(super) fn defocus(image: &Image, radius: f64) -> Image {
    let reach = radius.ceil() as i32;
    let mut disc = Vec::new();
    for dy in -reach..=reach {
        for dx in -reach..=reach {
            let distance = f64::from(dx).hypot(f64::from(dy));
            let share = (radius + 0.5 - distance).clamp(0.0, 1.0);
            if share > 0.0 {
                disc.push((f64::from(dx), f64::from(dy), share));
            }
        }
    }
    let total: f64 = disc.iter().map(|(_, _, share)| share).sum();
    Image::from_fn(|x, y| {
        let light: f64 = disc
            .iter()
            .map(|(dx, dy, share)| share * image.bilinear(x as f64 + dx, y as f64 + dy))
            .sum();
        light / total
    })
}

/// Mean along a line of `length` pixels through every pixel, at a random angle.
pub(super) fn motion(image: &Image, length: f64, stream: &mut Stream) -> Image {
    let (sine, cosine) = (std::f64::consts::PI * stream.uniform()).sin_cos();
    mean_of_exposures(|moment, x, y| {
        let along = (moment - 0.5) * length;
        image.bilinear(x + along * cosine, y + along * sine)
    })
}

/// Mean of the image enlarged about its centre by factors from 1 to `largest`.
pub(super) fn zoom(image: &Image, largest: f64) -> Image {
    let centre = (SIDE as f64 - 1.0) / 2.0;
    mean_of_exposures(|moment, x, y| {
        let factor = 1.0 + moment * (largest - 1.0);
        image.bilinear(centre + (x - centre) / factor, centre + (y - centre) / factor)
    })
}

/// Mean over moments from 0 to 1 of what `light(moment, x, y)` reaches each pixel.
fn mean_of_exposures(light: impl Fn(f64, f64, f64) -> f64) -> Image {
    Image::from_fn(|x, y| {
        let total: f64 = (0..EXPOSURES)
            .map(|exposure| light(exposure as f64 / (EXPOSURES - 1) as f64, x as f64, y as f64))
            .sum();
        total / EXPOSURES as f64
    })
}
