//! Geometric: the scene is not where it should be. What comes from outside the image is black.

use evenkeel::seed::Stream;

use crate::draws::{random_sign, standard_normal};
use crate::image::{Image, PIXELS, SIDE};

const CENTRE: f64 = (SIDE as f64 - 1.0) / 2.0;
/// Standard deviation, in pixels, of the Gaussian that smooths a displacement.
const ELASTIC_SMOOTHING: f64 = 3.0;

/// Turned about the centre by `degrees`, one way or the other.
pub(super) fn rotate(image: &Image, degrees: f64, stream: &mut Stream) -> Image {
    let (sine, cosine) = random_sign(stream, degrees).to_radians().sin_cos();
    Image::from_fn(|x, y| {
        let (dx, dy) = (x as f64 - CENTRE, y as f64 - CENTRE);
        image.bilinear(CENTRE + cosine * dx - sine * dy, CENTRE + sine * dx + cosine * dy)
    })
}

/// Every row slides by `slope` columns against the row above it, one way or the other.
pub(super) fn shear(image: &Image, slope: f64, stream: &mut Stream) -> Image {
    let slope = random_sign(stream, slope);
    Image::from_fn(|x, y| image.bilinear(x as f64 + slope * (y as f64 - CENTRE), y as f64))
}

/// Every pixel comes from a random, smoothly varying place about `displacement` pixels away (root mean square a
/// direction).
pub(super) fn elastic(image: &Image, displacement: f64, stream: &mut Stream) -> Image {
    let horizontal = smooth_field(stream);
    let vertical = smooth_field(stream);
    Image::from_fn(|x, y| {
        let index = y * SIDE + x;
        image.bilinear(
            x as f64 + displacement * horizontal[index],
            y as f64 + displacement * vertical[index],
        )
    })
}

/// White noise smoothed by a Gaussian and scaled to a mean square of one.
fn smooth_field(stream: &mut Stream) -> Vec<f64> {
    let noise: Vec<f64> = (0..PIXELS).map(|_| standard_normal(stream)).collect();
    let weights: Vec<f64> = (0..SIDE)
        .map(|distance| (-0.5 * (distance as f64 / ELASTIC_SMOOTHING).powi(2)).exp())
        .collect();
    let rows = smoothed_along(&noise, &weights, |line, at| line * SIDE + at);
    let mut field = smoothed_along(&rows, &weights, |line, at| at * SIDE + line);
    let mean_square = field.iter().map(|value| value * value).sum::<f64>() / PIXELS as f64;
    // Scaled image by image, so that a severity means the same displacement for each.
    field.iter_mut().for_each(|value| *value /= mean_square.sqrt());
    field
}

/// Sums along lines, `weights[|at - from|]` each; `index(line, at)` says where an entry stands.
fn smoothed_along(
    field: &[f64],
    weights: &[f64],
    index: impl Fn(usize, usize) -> usize,
) -> Vec<f64> {
    let mut smoothed = vec![0.0; field.len()];
    for line in 0..SIDE {
        for at in 0..SIDE {
            smoothed[index(line, at)] =
                (0..SIDE).map(|from| weights[at.abs_diff(from)] * field[index(line, from)]).sum();
        }
    }
    smoothed
}
