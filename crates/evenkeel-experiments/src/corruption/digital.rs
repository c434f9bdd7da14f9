//! Digital: what storing and sending an image costs.

use std::f64::consts::PI;

use crate::image::{Image, PIXELS, SIDE};

/// Rows and columns of a block of cosine coefficients.
const BLOCK: usize = 8;
/// Blocks a side: 28 pixels are continued to 32 by their last row and column.
const BLOCKS: usize = SIDE.div_ceil(BLOCK);

/// Steps of the cosine coefficients in 1/255 of full intensity (JPEG's example table for luminance, ITU-T T.81 K.1).
#[rustfmt::skip]
const STEPS: [f64; BLOCK * BLOCK] = [
    16.0, 11.0, 10.0, 16.0,  24.0,  40.0,  51.0,  61.0,
    12.0, 12.0, 14.0, 19.0,  26.0,  58.0,  60.0,  55.0,
    14.0, 13.0, 16.0, 24.0,  40.0,  57.0,  69.0,  56.0,
    14.0, 17.0, 22.0, 29.0,  51.0,  87.0,  80.0,  62.0,
    18.0, 22.0, 37.0, 56.0,  68.0, 109.0, 103.0,  77.0,
    24.0, 35.0, 55.0, 64.0,  81.0, 104.0, 113.0,  92.0,
    49.0, 64.0, 78.0, 87.0, 103.0, 121.0, 120.0, 101.0,
    72.0, 92.0, 95.0, 98.0, 112.0, 100.0, 103.0,  99.0,
];

/// `mean + factor (x - mean)`, with the image's own mean.
pub(super) fn contrast(image: &Image, factor: f64) -> Image {
    let mean = image.mean();
    Image::from_fn(|x, y| mean + factor * (image.get(x, y) - mean))
}

/// The image on `side` x `side` large pixels, each the mean of what it covers.
pub(super) fn pixelate(image: &Image, side: f64) -> Image {
    let side = side.round().clamp(1.0, SIDE as f64) as usize;
    let cell = |at: usize| at * side / SIDE;
    let mut light = vec![0.0; side * side];
    let mut pixels = vec![0.0; side * side];
    for index in 0..PIXELS {
        let (x, y) = (index % SIDE, index / SIDE);
        let large = cell(y) * side + cell(x);
        light[large] += image.get(x, y);
        pixels[large] += 1.0;
    }
    Image::from_fn(|x, y| {
        let large = cell(y) * side + cell(x);
        light[large] / pixels[large]
    })
}

/// Cosine coefficients of 8 x 8 blocks, rounded to `multiple` times [`STEPS`].
///
/// Unlike JPEG, intensities are not centred before: a coefficient of zero is black, so that the background stays black
/// however coarse the steps are. (Centred, a multiple of 70 spoils less than one of 50, by the luck of the grid.)
pub(super) fn block_quantisation(image: &Image, multiple: f64) -> Image {
    let cosines = cosines();
    let mut decoded = vec![0.0; PIXELS];
    for block in 0..BLOCKS * BLOCKS {
        let (left, top) = (block % BLOCKS * BLOCK, block / BLOCKS * BLOCK);
        let pixels = std::array::from_fn(|index| {
            let (x, y) = (left + index % BLOCK, top + index / BLOCK);
            // The edge is repeated: black beyond it would add a sharp edge and its ringing.
            image.get(x.min(SIDE - 1), y.min(SIDE - 1))
        });
        let mut coefficients = transform(&pixels, |frequency, at| cosines[frequency][at]);
        for (coefficient, step) in coefficients.iter_mut().zip(STEPS) {
            let step = multiple * step / 255.0;
            *coefficient = (*coefficient / step).round() * step;
        }
        let pixels = transform(&coefficients, |at, frequency| cosines[frequency][at]);
        for (index, value) in pixels.into_iter().enumerate() {
            let (x, y) = (left + index % BLOCK, top + index / BLOCK);
            if x < SIDE && y < SIDE {
                decoded[y * SIDE + x] = value;
            }
        }
    }
    Image::from_fn(|x, y| decoded[y * SIDE + x])
}

/// `out = M block M^T` for the 8 x 8 matrix `M` with these entries (row, column).
fn transform(
    block: &[f64; BLOCK * BLOCK],
    entry: impl Fn(usize, usize) -> f64,
) -> [f64; BLOCK * BLOCK] {
    let rows: [f64; BLOCK * BLOCK] = std::array::from_fn(|index| {
        let (row, column) = (index / BLOCK, index % BLOCK);
        (0..BLOCK).map(|at| block[row * BLOCK + at] * entry(column, at)).sum()
    });
    std::array::from_fn(|index| {
        let (row, column) = (index / BLOCK, index % BLOCK);
        (0..BLOCK).map(|at| entry(row, at) * rows[at * BLOCK + column]).sum()
    })
}

/// The orthonormal cosine transform: `c_f cos(pi f (at + 1/2) / 8)`, `c_0 = sqrt(1/8)`, else `sqrt(1/4)`.
fn cosines() -> [[f64; BLOCK]; BLOCK] {
    std::array::from_fn(|frequency| {
        let norm = if frequency == 0 { (1.0_f64 / 8.0).sqrt() } else { 0.5 };
        std::array::from_fn(|at| {
            norm * (PI * frequency as f64 * (at as f64 + 0.5) / BLOCK as f64).cos()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fine_quantisation_gives_the_image_back() {
        let image = Image::from_fn(|x, y| ((x * 7 + y * 3) % 11) as f64 / 10.0);
        assert!(block_quantisation(&image, 1e-6).distance(&image) < 1e-6);
    }

    #[test]
    fn pixelating_on_all_pixels_gives_the_image_back() {
        let image = Image::from_fn(|x, y| ((x * 7 + y * 3) % 11) as f64 / 10.0);
        assert_eq!(pixelate(&image, SIDE as f64), image);
        let flat = pixelate(&image, 1.0);
        assert!((flat.get(3, 9) - image.mean()).abs() < 1e-6);
    }
}
