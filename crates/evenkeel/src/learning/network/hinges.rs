//! `z2(s) = slope s + intercept` on every stretch: the first two layers as lines between breakpoints.
//!
//! Unit `j` of the first layer is `relu(w_j s + b_j)`: a hinge at `t_j = -b_j / w_j` that is active to its right if it
//! rises (`w_j > 0`) and to its left if it falls. With the hinges in order of `t_j`, on the stretch between two of them
//!
//! ```text
//! z2(s) = slope s + intercept,   slope = sum over active j of w_j W2[j],   intercept = b2 + sum over active j of b_j W2[j]
//! ```
//! and both sums change by one term from stretch to stretch. Backward, with `d_i = dL/dz2(s_i)`, the points for which
//! unit `j` is active are an end of the sorted scores, so sums over them also grow point by point:
//!
//! ```text
//! S0 = sum over i with j active of d_i,   S1 = sum over i with j active of s_i d_i
//! dL/dW2[j] = w_j S1 + b_j S0,   dL/dw_j = W2[j] . S1,   dL/db_j = W2[j] . S0
//! ```

use super::parameters::{Layers, LayersMut};
use super::short_vector::{add_scaled, dot};

/// One unit of the first layer.
#[derive(Debug, Clone, Copy)]
struct Hinge {
    /// Where the unit is zero; infinite for a unit that never changes.
    at: f64,
    /// Which unit of the first layer it is.
    unit: u32,
    /// Active to the right of `at`, else to its left.
    rising: bool,
}

impl Hinge {
    /// The hinge of `relu(weight s + bias)`.
    fn new(unit: u32, weight: f64, bias: f64) -> Self {
        // Dividing by zero would give an infinity of the wrong sign for some, and NaN for a unit that is zero
        // everywhere.
        let at = if weight == 0.0 {
            if bias > 0.0 { f64::NEG_INFINITY } else { f64::INFINITY }
        } else {
            -bias / weight
        };
        if at.is_nan() {
            // Active everywhere, so that a parameter that is not a number is seen and not silently left out.
            return Self { at: f64::NEG_INFINITY, unit, rising: true };
        }
        Self { at, unit, rising: weight >= 0.0 }
    }
}

/// The lines of the second layer's inputs, in order of the score.
#[derive(Debug, Clone)]
pub(super) struct HingeTable<const H2: usize> {
    /// In increasing order of `at`, equal ones by unit.
    hinges: Vec<Hinge>,
    /// `lines[k]` holds where exactly `k` hinges lie below the score.
    lines: Vec<Line<H2>>,
}

/// `slope s + intercept` for each unit of the second layer; also the sums `S1` and `S0` of the way
/// back, which are added up alike.
#[derive(Debug, Clone, Copy)]
struct Line<const H2: usize> {
    /// Factor of the score, one for each unit of the second layer.
    slope: [f64; H2],
    /// What does not depend on it.
    intercept: [f64; H2],
}

impl<const H2: usize> Line<H2> {
    /// The empty sum: what stretches without an active unit have.
    const ZERO: Self = Self { slope: [0.0; H2], intercept: [0.0; H2] };

    /// Adds `weight * row` to the slope and `bias * row` to the intercept.
    #[inline(always)]
    fn add(&mut self, weight: f64, bias: f64, row: &[f64; H2]) {
        add_scaled(&mut self.slope, weight, row);
        add_scaled(&mut self.intercept, bias, row);
    }
}

impl<const H2: usize> HingeTable<H2> {
    /// Room for a network of `h1` first units.
    pub(super) fn new(h1: usize) -> Self {
        let hinges = (0..h1 as u32).map(|unit| Hinge::new(unit, 0.0, 0.0)).collect();
        Self { hinges, lines: vec![Line::ZERO; h1 + 1] }
    }

    /// The table of a network. What it holds depends on the parameters only.
    #[inline(always)]
    pub(super) fn refresh<const H3: usize>(&mut self, layers: &Layers<'_, H2, H3>) {
        let (weights, biases) = (layers.first_weights, layers.first_biases);
        for hinge in &mut self.hinges {
            let j = hinge.unit as usize;
            *hinge = Hinge::new(hinge.unit, weights[j], biases[j]);
        }
        sort_nearly_sorted(&mut self.hinges);

        // Falling hinges from the right, rising ones from the left: sums only grow. Taking a unit out of a running sum
        // would leave its rounding behind in every later stretch.
        // The second biases go in once, here: every stretch has them.
        let mut falling = Line { slope: [0.0; H2], intercept: *layers.second_biases };
        self.lines[self.hinges.len()] = falling;
        for (hinge, line) in self.hinges.iter().zip(&mut self.lines).rev() {
            if !hinge.rising {
                let j = hinge.unit as usize;
                falling.add(weights[j], biases[j], &layers.second_weights[j]);
            }
            *line = falling;
        }
        let mut rising = Line::<H2>::ZERO;
        for (hinge, line) in self.hinges.iter().zip(&mut self.lines[1..]) {
            if hinge.rising {
                let j = hinge.unit as usize;
                rising.add(weights[j], biases[j], &layers.second_weights[j]);
            }
            add_scaled(&mut line.slope, 1.0, &rising.slope);
            add_scaled(&mut line.intercept, 1.0, &rising.intercept);
        }
    }

    /// The stretch a score lies in: the number of hinges below it.
    pub(super) fn stretch(&self, score: f64) -> usize {
        self.hinges.partition_point(|hinge| hinge.at < score)
    }

    /// The stretch of a score at or above those of stretch `from`.
    #[inline(always)]
    pub(super) fn stretch_from(&self, from: usize, score: f64) -> usize {
        let ahead = self.hinges[from..].iter().take_while(|hinge| hinge.at < score);
        from + ahead.count()
    }

    /// Inputs of the second layer at a score in a stretch.
    #[inline(always)]
    pub(super) fn second_inputs(&self, stretch: usize, score: f64) -> [f64; H2] {
        let line = &self.lines[stretch];
        std::array::from_fn(|k| line.slope[k] * score + line.intercept[k])
    }

    /// Writes the gradient of both layers' weights and of the first biases, from `deltas[i] = dL/dz2(scores[i])` at
    /// increasing scores.
    ///
    /// Rising hinges from the right and falling ones from the left: the points for which a unit is
    /// active only grow from hinge to hinge, so each point is added once for either kind.
    #[inline(always)]
    pub(super) fn backward<const H3: usize>(
        &self,
        layers: &Layers<'_, H2, H3>,
        scores: &[f64],
        deltas: &[[f64; H2]],
        gradient: &mut LayersMut<'_, H2, H3>,
    ) {
        // Exactly at its hinge a unit is active on neither side: the derivative of ReLU at 0 is 0.
        let mut above = scores.iter().zip(deltas).rev().peekable();
        let mut sums = Line::<H2>::ZERO;
        for hinge in self.hinges.iter().rev().filter(|hinge| hinge.rising) {
            while let Some((score, delta)) = above.next_if(|(score, _)| **score > hinge.at) {
                sums.add(*score, 1.0, delta);
            }
            write_unit(hinge.unit as usize, &sums, layers, gradient);
        }
        let mut below = scores.iter().zip(deltas).peekable();
        let mut sums = Line::<H2>::ZERO;
        for hinge in self.hinges.iter().filter(|hinge| !hinge.rising) {
            while let Some((score, delta)) = below.next_if(|(score, _)| **score < hinge.at) {
                sums.add(*score, 1.0, delta);
            }
            write_unit(hinge.unit as usize, &sums, layers, gradient);
        }
    }
}

/// The gradient of unit `j`, from `S1` (the slope) and `S0` (the intercept) over the points it is active for.
#[inline(always)]
fn write_unit<const H2: usize, const H3: usize>(
    j: usize,
    sums: &Line<H2>,
    layers: &Layers<'_, H2, H3>,
    gradient: &mut LayersMut<'_, H2, H3>,
) {
    let (weight, bias) = (layers.first_weights[j], layers.first_biases[j]);
    let (row, out) = (&layers.second_weights[j], &mut gradient.second_weights[j]);
    *out = std::array::from_fn(|k| weight * sums.slope[k] + bias * sums.intercept[k]);
    gradient.first_weights[j] = dot(row, &sums.slope);
    gradient.first_biases[j] = dot(row, &sums.intercept);
}

/// Insertion sort by position, then unit. One optimiser step moves few hinges past each other, so starting from the
/// previous order this is one pass; and the order it ends in does not depend on where it started.
fn sort_nearly_sorted(hinges: &mut [Hinge]) {
    for end in 1..hinges.len() {
        let hinge = hinges[end];
        let mut place = end;
        while place > 0 && (hinges[place - 1].at, hinges[place - 1].unit) > (hinge.at, hinge.unit) {
            hinges[place] = hinges[place - 1];
            place -= 1;
        }
        hinges[place] = hinge;
    }
}
