//! `A[k][i] = phi((t_k - s_i) / h) / h`: the kernel matrix of a density on a grid, without its zeros.

use super::aligned::{Aligned, LINE};
use crate::measure::{Bandwidth, Grid, INVERSE_SQRT_TWO_PI, Support};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{add_lanes, exp_of_negative};

/// Entries further than this many bandwidths from the diagonal are left out. They hold 6e-14 of a kernel's mass, so a
/// learning path stays within 1e-10 of the full one, and their number is what a step costs.
const REACH: f64 = 7.5;

/// Sums run in two lines' worth of lanes: with one line every addition would wait for the one before.
const PAIR: usize = 2 * LINE;

/// `A[k][i] = (phi((t_k - s_i)/h) + mirrored kernels) / h` for grid points `t_k` and increasing scores `s_i`.
///
/// The scores are sorted, so the entries that are not negligible form one run per grid point, and one per score. Rows
/// ("outer") are the shorter of the two sides, which makes the runs ("inner") longer and the loops over them cheaper.
#[derive(Debug, Clone)]
pub(crate) struct BandedKernel {
    /// Which side the rows are.
    orientation: Orientation,
    /// First inner index of each row, a multiple of a line.
    starts: Vec<usize>,
    /// Row `o` holds `values[offsets[o]..offsets[o + 1]]`: whole lines, zeros where the run ends
    /// within one.
    offsets: Vec<usize>,
    /// The runs, one after the other, each of whole lines.
    values: Aligned,
    /// `n`, the length of buffers over the scores before they are padded.
    scores: usize,
    /// `K`, the length of buffers over the grid before they are padded.
    points: usize,
}

/// Which of the two sides has a row for each of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orientation {
    /// One row per grid point, runs over the scores.
    GridRows,
    /// One row per score, runs over the grid points.
    ScoreRows,
}

impl BandedKernel {
    /// The matrix of increasing scores and an increasing grid, both inside the support.
    pub(crate) fn new(sorted: &[f64], grid: &Grid, bandwidth: Bandwidth, support: Support) -> Self {
        let points = grid.points();
        let orientation = if points.len() <= sorted.len() {
            Orientation::GridRows
        } else {
            Orientation::ScoreRows
        };
        let (outer, inner) = match orientation {
            Orientation::GridRows => (points, sorted),
            Orientation::ScoreRows => (sorted, points),
        };
        let h = bandwidth.get();
        let mut kernel = Self {
            orientation,
            starts: Vec::with_capacity(outer.len()),
            offsets: vec![0],
            values: Aligned::zeros(0),
            scores: sorted.len(),
            points: points.len(),
        };
        for centre in outer {
            // A kernel's mirror image reaches into the range only where the kernel itself does.
            let start = inner.partition_point(|value| *value < centre - REACH * h);
            let end = inner.partition_point(|value| *value <= centre + REACH * h).max(start);
            // Back to the start of a line. The entries before the run are computed like any other:
            // they are negligible, not wrong.
            let start = start / LINE * LINE;
            kernel.starts.push(start);
            for line in inner[start..end].chunks(LINE) {
                let mut entries = [0.0; LINE];
                write_line(*centre, line, h, support, &mut entries);
                kernel.values.push_line(entries);
            }
            kernel.offsets.push(kernel.values.len());
        }
        kernel
    }

    /// A zeroed buffer over the scores, whole lines.
    pub(crate) fn over_scores(&self) -> Aligned {
        Aligned::zeros(self.scores)
    }

    /// A zeroed buffer over the grid, whole lines.
    pub(crate) fn over_points(&self) -> Aligned {
        Aligned::zeros(self.points)
    }

    /// Entries kept: the multiply-adds of one product.
    /// Zeros of the padding are not counted.
    pub(crate) fn entries(&self) -> usize {
        self.values.iter().filter(|value| **value > 0.0).count()
    }

    /// One sweep for two products: `density = A w` and `transposed = A' c`.
    ///
    /// The coefficients `c` of the transposed product depend on the CDFs only, not on the density, so both come out of
    /// one pass over the entries. All four are buffers made here; what `w` and `c` hold past their end must be finite.
    #[inline(always)]
    pub(crate) fn multiply_both(
        &self,
        w: &[f64],
        c: &[f64],
        density: &mut [f64],
        transposed: &mut [f64],
    ) {
        // Products swap places, not memory: a transposed copy would double what a step reads.
        match self.orientation {
            Orientation::GridRows => self.sweep(c, w, density, transposed),
            Orientation::ScoreRows => self.sweep(w, c, transposed, density),
        }
    }

    /// `out_outer = A y_inner` and `out_inner = A' x_outer`, in the matrix's own orientation.
    ///
    /// ```text
    /// for each row o:   out_outer[o] = sum_i A[o][i] y[i],     out_inner[i] += A[o][i] x[o]
    /// ```
    /// Sums of a row run in sixteen lanes that are added up in a fixed order.
    #[inline(always)]
    fn sweep(
        &self,
        x_outer: &[f64],
        y_inner: &[f64],
        out_outer: &mut [f64],
        out_inner: &mut [f64],
    ) {
        out_inner.fill(0.0);
        for (row, start) in self.starts.iter().enumerate() {
            let values = &self.values[self.offsets[row]..self.offsets[row + 1]];
            let y = &y_inner[*start..*start + values.len()];
            let out = &mut out_inner[*start..*start + values.len()];
            // Row by row, both products at once: an entry is loaded once for the two of them.
            let x = x_outer[row];
            let (value_pairs, value_rest) = values.as_chunks::<PAIR>();
            let (y_pairs, y_rest) = y.as_chunks::<PAIR>();
            let (out_pairs, out_rest) = out.as_chunks_mut::<PAIR>();
            let mut lanes = [0.0; PAIR];
            for ((a, y), out) in value_pairs.iter().zip(y_pairs).zip(out_pairs) {
                // Copies of whole lines: with them the compiler sees that nothing overlaps and keeps to vectors.
                let (a, y, mut sums) = (*a, *y, *out);
                for lane in 0..PAIR {
                    lanes[lane] += a[lane] * y[lane];
                }
                for lane in 0..PAIR {
                    sums[lane] += a[lane] * x;
                }
                *out = sums;
            }
            // Half a pair is left at the most.
            let (value_rest, _) = value_rest.as_chunks::<LINE>();
            let (y_rest, _) = y_rest.as_chunks::<LINE>();
            let (out_rest, _) = out_rest.as_chunks_mut::<LINE>();
            for ((a, y), out) in value_rest.iter().zip(y_rest).zip(out_rest) {
                let (a, y, mut sums) = (*a, *y, *out);
                for lane in 0..LINE {
                    lanes[lane] += a[lane] * y[lane];
                }
                for lane in 0..LINE {
                    sums[lane] += a[lane] * x;
                }
                *out = sums;
            }
            let (first, second) = lanes.split_at(LINE);
            let mut halves = [0.0; LINE];
            for lane in 0..LINE {
                halves[lane] = first[lane] + second[lane];
            }
            out_outer[row] = add_lanes(halves);
        }
    }

    /// `A[k][..]` added, times `factor`, to a buffer over the scores.
    ///
    /// Once a step, for the peak of the density: not worth a second layout.
    pub(crate) fn add_grid_row(&self, k: usize, factor: f64, out: &mut [f64]) {
        match self.orientation {
            Orientation::GridRows => {
                let values = &self.values[self.offsets[k]..self.offsets[k + 1]];
                for (slot, value) in out[self.starts[k]..].iter_mut().zip(values) {
                    *slot += factor * value;
                }
            }
            Orientation::ScoreRows => {
                for (score, slot) in out.iter_mut().enumerate().take(self.scores) {
                    let values = &self.values[self.offsets[score]..self.offsets[score + 1]];
                    if let Some(value) =
                        k.checked_sub(self.starts[score]).and_then(|at| values.get(at))
                    {
                        *slot += factor * value;
                    }
                }
            }
        }
    }
}

in_widest_registers! {
    /// The entries of one line.
    fn write_line[](centre: f64, line: &[f64], h: f64, support: Support, entries: &mut [f64]) -> () {
        for (entry, value) in entries.iter_mut().zip(line) {
            *entry = kernel_value(centre, *value, h, support);
        }
    }
}

/// One entry: the kernel and its mirror images. Symmetric in its first two arguments.
///
/// ```text
/// [phi((a - b)/h) + phi((a + b - 2 low)/h) + phi((a + b - 2 high)/h)] / h
/// ```
/// Mirrored mass stays inside the support: without it the density would leak out at both ends,
/// where softmax scores crowd.
#[inline(always)]
fn kernel_value(a: f64, b: f64, h: f64, support: Support) -> f64 {
    let kernel = |distance: f64| {
        let u = distance / h;
        exp_of_negative(-0.5 * u * u) * INVERSE_SQRT_TWO_PI
    };
    let sum = match support {
        Support::Line => kernel(a - b),
        Support::Bounded(range) => {
            kernel(a - b) + kernel(a + b - 2.0 * range.low()) + kernel(a + b - 2.0 * range.high())
        }
    };
    sum / h
}
