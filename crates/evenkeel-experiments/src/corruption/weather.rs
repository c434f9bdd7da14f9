//! Weather: light that does not come from the scene.

use evenkeel::seed::Stream;

use crate::image::{Image, PIXELS, SIDE};

/// Cells a side of the cloud's layers; each layer weighs half of the one before.
const CLOUD_CELLS: [usize; 4] = [2, 4, 8, 16];
/// Pixels a flake falls during the exposure.
const FLAKE_STREAK: usize = 3;
/// Flakes are at least this bright.
const DIMMEST_FLAKE: f64 = 0.5;

/// `(x + thickness * cloud) / (1 + thickness)`: the cloud adds its light and takes from the scene's.
pub(super) fn fog(image: &Image, thickness: f64, stream: &mut Stream) -> Image {
    let cloud = cloud(stream);
    Image::from_fn(|x, y| (image.get(x, y) + thickness * cloud[y * SIDE + x]) / (1.0 + thickness))
}

/// `flakes` bright streaks of [`FLAKE_STREAK`] pixels, all slanted by the same random wind.
pub(super) fn snow(image: &Image, flakes: f64, stream: &mut Stream) -> Image {
    let wind = 2.0 * stream.uniform() - 1.0;
    let mut light = [0.0_f64; PIXELS];
    for _ in 0..flakes.round() as usize {
        let (x, y) = (SIDE as f64 * stream.uniform(), SIDE as f64 * stream.uniform());
        let brightness = DIMMEST_FLAKE + (1.0 - DIMMEST_FLAKE) * stream.uniform();
        for fallen in 0..FLAKE_STREAK {
            let (x, y) = (x + wind * fallen as f64, y + fallen as f64);
            if (0.0..SIDE as f64).contains(&x) && y < SIDE as f64 {
                let pixel = &mut light[y as usize * SIDE + x as usize];
                // The brighter one wins: flakes hide each other, their light does not add up.
                *pixel = pixel.max(brightness);
            }
        }
    }
    Image::from_fn(|x, y| image.get(x, y).max(light[y * SIDE + x]))
}

/// `x + added`, saturating at white.
pub(super) fn brightness(image: &Image, added: f64) -> Image {
    Image::from_fn(|x, y| image.get(x, y) + added)
}

/// A cloud in `[0, 1]`: layers of random values on ever finer grids, linear in between, the coarse ones strongest.
fn cloud(stream: &mut Stream) -> Vec<f64> {
    let mut cloud = vec![0.0; PIXELS];
    let mut weight = 1.0;
    let mut total = 0.0;
    for cells in CLOUD_CELLS {
        let corners: Vec<f64> = (0..(cells + 1) * (cells + 1)).map(|_| stream.uniform()).collect();
        let corner = |column: usize, row: usize| corners[row * (cells + 1) + column];
        for (index, value) in cloud.iter_mut().enumerate() {
            let scale = cells as f64 / SIDE as f64;
            let (x, y) = ((index % SIDE) as f64 * scale, (index / SIDE) as f64 * scale);
            let (column, row) = (x as usize, y as usize);
            let (right, below) = (x - column as f64, y - row as f64);
            let upper = (1.0 - right) * corner(column, row) + right * corner(column + 1, row);
            let lower =
                (1.0 - right) * corner(column, row + 1) + right * corner(column + 1, row + 1);
            *value += weight * ((1.0 - below) * upper + below * lower);
        }
        total += weight;
        weight /= 2.0;
    }
    // By the sum of the weights: layers of [0, 1] then mix to [0, 1].
    cloud.iter_mut().for_each(|value| *value /= total);
    cloud
}
