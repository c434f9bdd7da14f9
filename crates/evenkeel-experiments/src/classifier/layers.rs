//! Convolution as a matrix product, max pooling, ReLU; each forward and backward.
//!
//! Activations are `(image, row, column, channel)`, the channel running fastest: the rows of a patch are then runs of
//! memory, and the product of patches and weights comes out in the same order.

use super::matrix::Scalar;

/// Rows and columns of a convolution's kernel.
pub(super) const KERNEL: usize = 3;
/// Rows and columns of a pool.
const POOL: usize = 2;

/// A 3 x 3 convolution without padding, followed by a 2 x 2 max pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Convolution {
    /// Rows and columns of the input.
    pub(super) side: usize,
    /// Channels of the input.
    pub(super) inputs: usize,
    /// Channels of the output.
    pub(super) outputs: usize,
}

impl Convolution {
    /// Rows and columns before the pool.
    pub(super) const fn output_side(&self) -> usize {
        self.side + 1 - KERNEL
    }

    /// Rows and columns after the pool; an odd last row and column are dropped.
    pub(super) const fn pooled_side(&self) -> usize {
        self.output_side() / POOL
    }

    /// Entries of a patch: what one output pixel sees.
    pub(super) const fn patch(&self) -> usize {
        KERNEL * KERNEL * self.inputs
    }

    fn images<T>(&self, input: &[T]) -> usize {
        input.len() / (self.side * self.side * self.inputs)
    }

    /// Calls `run(patch range, input range)` for every run of memory that a patch shares with the input.
    fn for_each_run(
        &self,
        images: usize,
        mut run: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        // Three pixels of a row lie next to each other, so that a patch is three copies and not
        // nine.
        let length = KERNEL * self.inputs;
        let mut to = 0;
        for image in 0..images {
            for y in 0..self.output_side() {
                for x in 0..self.output_side() {
                    for row in 0..KERNEL {
                        let pixel = (image * self.side + y + row) * self.side + x;
                        let from = pixel * self.inputs;
                        run(to..to + length, from..from + length);
                        to += length;
                    }
                }
            }
        }
    }

    /// The patch of every output pixel; shape `(images * output pixels, patch)`.
    pub(super) fn patches<T: Scalar>(&self, input: &[T]) -> Vec<T> {
        let images = self.images(input);
        let pixels = self.output_side() * self.output_side();
        let mut patches = vec![T::ZERO; images * pixels * self.patch()];
        self.for_each_run(images, |to, from| patches[to].copy_from_slice(&input[from]));
        patches
    }

    /// Backward of [`Self::patches`]: what every patch says about a pixel, added up.
    pub(super) fn patches_backward<T: Scalar>(&self, patches: &[T]) -> Vec<T> {
        let pixels = self.output_side() * self.output_side();
        let images = patches.len() / (pixels * self.patch());
        let mut input = vec![T::ZERO; images * self.side * self.side * self.inputs];
        self.for_each_run(images, |patch, pixel| {
            for (sum, value) in input[pixel].iter_mut().zip(&patches[patch]) {
                *sum += *value;
            }
        });
        input
    }

    /// Where entry 0 of the pool `(image, y, x)` lies before the pool, and the steps to its four pixels.
    fn pool_start(&self, image: usize, y: usize, x: usize) -> (usize, [usize; POOL * POOL]) {
        let side = self.output_side();
        let start = ((image * side + POOL * y) * side + POOL * x) * self.outputs;
        let (right, below) = (self.outputs, side * self.outputs);
        (start, [0, right, below, below + right])
    }

    /// The largest of every 2 x 2 pixels, and which of the four it was (the first of equals).
    pub(super) fn max_pool<T: Scalar>(&self, input: &[T]) -> (Vec<T>, Vec<u8>) {
        let side = self.output_side();
        let images = input.len() / (side * side * self.outputs);
        let pooled = images * self.pooled_side() * self.pooled_side() * self.outputs;
        let mut largest = vec![T::ZERO; pooled];
        let mut winners = vec![0; pooled];
        for (pool, (largest, winners)) in largest
            .chunks_exact_mut(self.outputs)
            .zip(winners.chunks_exact_mut(self.outputs))
            .enumerate()
        {
            let (start, steps) = self.pool_of(pool);
            largest.copy_from_slice(&input[start..start + self.outputs]);
            for (candidate, step) in (0_u8..).zip(steps).skip(1) {
                let values = &input[start + step..][..self.outputs];
                for ((largest, winner), value) in largest.iter_mut().zip(&mut *winners).zip(values)
                {
                    // `>`, so that the first of equals wins, forward and backward alike.
                    if *value > *largest {
                        (*largest, *winner) = (*value, candidate);
                    }
                }
            }
        }
        (largest, winners)
    }

    /// Backward of [`Self::max_pool`]: the winner gets the pool's gradient, the others nothing.
    pub(super) fn max_pool_backward<T: Scalar>(&self, pooled: &[T], winners: &[u8]) -> Vec<T> {
        let side = self.output_side();
        let images = pooled.len() / (self.pooled_side() * self.pooled_side() * self.outputs);
        let mut input = vec![T::ZERO; images * side * side * self.outputs];
        for (pool, (gradient, winners)) in
            pooled.chunks_exact(self.outputs).zip(winners.chunks_exact(self.outputs)).enumerate()
        {
            let (start, steps) = self.pool_of(pool);
            for (channel, (value, winner)) in gradient.iter().zip(winners).enumerate() {
                input[start + steps[usize::from(*winner)] + channel] = *value;
            }
        }
        input
    }

    /// [`Self::pool_start`] of the pool with this position in the output.
    fn pool_of(&self, pool: usize) -> (usize, [usize; POOL * POOL]) {
        let side = self.pooled_side();
        self.pool_start(pool / (side * side), pool / side % side, pool % side)
    }
}

/// `max(0, x + bias)` in every row.
pub(super) fn add_bias_and_rectify<T: Scalar>(values: &mut [T], bias: &[T]) {
    for row in values.chunks_exact_mut(bias.len()) {
        for (value, bias) in row.iter_mut().zip(bias) {
            *value += *bias;
            *value = if *value > T::ZERO { *value } else { T::ZERO };
        }
    }
}

/// Backward of the ReLU: no gradient where its output is zero.
pub(super) fn rectify_backward<T: Scalar>(gradient: &mut [T], output: &[T]) {
    for (gradient, output) in gradient.iter_mut().zip(output) {
        // By the output: where it is zero the input was not positive, and need not be kept.
        *gradient = if *output > T::ZERO { *gradient } else { T::ZERO };
    }
}
