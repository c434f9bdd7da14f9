//! Grey images of 28 x 28 pixels.

/// Rows and columns of an image.
pub const SIDE: usize = 28;
/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;

/// A grey image: `SIDE` rows from the top, intensities in `[0, 1]` where 0 is the black background.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pixels: [f32; PIXELS],
}

impl Image {
    /// The image of 8-bit intensities.
    pub fn from_bytes(bytes: &[u8; PIXELS]) -> Self {
        Self { pixels: bytes.map(|byte| f32::from(byte) / 255.0) }
    }

    /// The image whose pixel in row `y` and column `x` is `intensity(x, y)`, clamped to `[0, 1]`; NaN becomes 0.
    pub fn from_fn(mut intensity: impl FnMut(usize, usize) -> f64) -> Self {
        let mut pixels = [0.0; PIXELS];
        for (index, pixel) in pixels.iter_mut().enumerate() {
            let value = intensity(index % SIDE, index / SIDE);
            // `clamp` lets a NaN through, and one pixel of it makes every logit a NaN.
            *pixel = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) as f32 };
        }
        Self { pixels }
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[f32; PIXELS] {
        &self.pixels
    }

    /// The pixel in row `y` and column `x`.
    pub fn get(&self, x: usize, y: usize) -> f64 {
        f64::from(self.pixels[y * SIDE + x])
    }

    /// The intensity at a point between pixels, linear in both directions; black outside.
    pub fn bilinear(&self, x: f64, y: f64) -> f64 {
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let at = |x: f64, y: f64| {
            let inside = |value: f64| (0.0..SIDE as f64).contains(&value);
            // Black, not the nearest edge: a turned image has corners that no camera saw.
            if inside(x) && inside(y) { self.get(x as usize, y as usize) } else { 0.0 }
        };
        let upper = (1.0 - right_share) * at(left, top) + right_share * at(left + 1.0, top);
        let lower =
            (1.0 - right_share) * at(left, top + 1.0) + right_share * at(left + 1.0, top + 1.0);
        (1.0 - bottom_share) * upper + bottom_share * lower
    }

    /// Mean intensity.
    pub fn mean(&self) -> f64 {
        self.pixels.iter().copied().map(f64::from).sum::<f64>() / PIXELS as f64
    }

    /// The image rounded to the 256 levels of an image file.
    ///
    /// This also hides the last bit in which the sines and logarithms of two C libraries may differ.
    pub fn rounded_to_bytes(&self) -> Self {
        Self { pixels: self.pixels.map(|pixel| (pixel * 255.0).round() / 255.0) }
    }

    /// Root of the mean squared difference of two images.
    pub fn distance(&self, other: &Self) -> f64 {
        let squares: f64 = self
            .pixels
            .iter()
            .zip(&other.pixels)
            .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
            .sum();
        (squares / PIXELS as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bilinear_gives_pixels_back_and_is_black_outside() {
        let image = Image::from_fn(|x, y| (x * 3 + y) as f64 / 200.0);
        assert_eq!(image.bilinear(5.0, 7.0), image.get(5, 7));
        assert_eq!(image.bilinear(27.0, 27.0), image.get(27, 27));
        let middle = (image.get(5, 7) + image.get(6, 7)) / 2.0;
        assert!((image.bilinear(5.5, 7.0) - middle).abs() < 1e-12);
        for (x, y) in [(-1.0, 3.0), (28.0, 3.0), (3.0, -1.5), (3.0, 1e9), (-1e9, 0.5)] {
            assert_eq!(image.bilinear(x, y), 0.0);
        }
    }

    #[test]
    fn values_out_of_range_are_clamped_and_nan_is_black() {
        let image = Image::from_fn(|x, _| [f64::NAN, -1.0, 2.0, 0.5][x % 4]);
        assert_eq!(image.pixels()[..4], [0.0, 0.0, 1.0, 0.5]);
    }

    #[test]
    fn an_image_from_bytes_is_already_rounded() {
        let image = Image::from_bytes(&std::array::from_fn(|index| (index % 256) as u8));
        assert_eq!(image.rounded_to_bytes(), image);
    }
}
