//! Images spoilt a little, anew in every epoch: what a second classifier is trained on, so that it errs on other images than the first.
//!
//! ```text
//! moved     by up to 2 pixels in each direction
//! blurred   one in three, by the mean of 3 x 3 pixels
//! dimmed    v -> low + (high - low) v,  low in [0, 0.3), high in [0.6, 1)
//! noisy     plus normal noise of a standard deviation in [0, 0.15)
//! ```

use evenkeel::seed::Stream;

use crate::draws::standard_normal;
use crate::image::{Image, SIDE};

/// What happens to a training image before it is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jitter {
    /// Nothing: it is learned from as it is.
    #[default]
    None,
    /// It is moved, blurred, dimmed and noisy, differently in every epoch.
    Light,
}

impl Jitter {
    /// The image to learn from.
    pub(super) fn of(self, image: &Image, stream: &mut Stream) -> Image {
        match self {
            Self::None => image.clone(),
            Self::Light => light(image, stream),
        }
    }
}

fn light(image: &Image, stream: &mut Stream) -> Image {
    let (right, down) = (stream.below(5), stream.below(5));
    let blurred = stream.below(3) == 0;
    let (low, high) = (0.3 * stream.uniform(), 0.6 + 0.4 * stream.uniform());
    let deviation = 0.15 * stream.uniform();
    // A pixel of the moved image, background beyond its edges.
    let moved = |x: usize, y: usize| match (x + right).checked_sub(2).zip((y + down).checked_sub(2))
    {
        Some((x, y)) if x < SIDE && y < SIDE => image.get(x, y),
        _ => 0.0,
    };
    Image::from_fn(|x, y| {
        let value = if blurred {
            let near = |place: usize| place.saturating_sub(1)..=(place + 1).min(SIDE - 1);
            let around: Vec<f64> = near(y)
                .flat_map(|y| near(x).map(move |x| (x, y)))
                .map(|(x, y)| moved(x, y))
                .collect();
            around.iter().sum::<f64>() / around.len() as f64
        } else {
            moved(x, y)
        };
        low + (high - low) * value + deviation * standard_normal(stream)
    })
}

#[cfg(test)]
mod tests {
    use evenkeel::seed::Seed;

    use super::*;

    #[test]
    fn an_image_is_spoilt_a_little_and_differently_each_time() {
        let image = Image::from_fn(|x, y| if x > 8 && y > 10 { 0.8 } else { 0.0 });
        let mut stream = Seed::new(3).stream("jitter");
        let mean = |image: &Image| image.pixels().iter().sum::<f32>() / image.pixels().len() as f32;
        let (one, two) =
            (Jitter::Light.of(&image, &mut stream), Jitter::Light.of(&image, &mut stream));
        assert_ne!(one, two);
        assert_ne!(one, image);
        // Dimmed by at most 30 % of full intensity at the low end, and by 40 % at the high one.
        for spoilt in [one, two] {
            assert!((mean(&spoilt) - mean(&image)).abs() < 0.3);
        }
        assert_eq!(Jitter::None.of(&image, &mut stream), image);
    }
}
