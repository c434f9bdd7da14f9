//! `h = (1 - mix) f + mix g`: the form every reading's label law has.
//!
//! ```text
//! f = softmax(z / temperature),   g(y) ~ f(y) b(y)
//! h(y) = f(y) [(1 - mix) + mix b(y) / sum_k f(k) b(k)]
//! ```

use serde::{Deserialize, Serialize};

use super::class_groups::ClassGroups;
use super::transport_plan::{TransportPlan, scale_row, tempered_softmax};
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{dot_in_lanes, largest_in_lanes, tempered_softmax_below};
use crate::sketch::MOST_LAWS;

/// A label law that a worker can evaluate row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanMixture {
    /// Temperature of `f`.
    pub temperature: f64,
    /// Share of the plan.
    pub mix: f64,
    /// `b` of each class.
    pub scalings: Vec<f64>,
}

impl PlanMixture {
    /// `h = f` at a temperature.
    pub(crate) fn tempered(temperature: f64, classes: usize) -> Self {
        Self { temperature, mix: 0.0, scalings: vec![1.0; classes] }
    }

    /// A share of a plan at a temperature.
    pub(crate) fn of_plan(
        temperature: f64,
        mix: f64,
        plan: &TransportPlan,
        groups: &ClassGroups,
    ) -> Self {
        Self { temperature, mix, scalings: plan.class_scalings(groups) }
    }

    /// The numbers are such as a plan for so many classes has.
    pub(crate) fn is_sound(&self, classes: usize) -> bool {
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        self.scalings.len() == classes
            && self.scalings.iter().all(positive)
            && positive(&self.temperature)
            && (0.0..=1.0).contains(&self.mix)
    }

    /// `g(y)` of one row of logits.
    pub(crate) fn plan_row(&self, logits: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; logits.len()];
        tempered_softmax(logits, 1.0 / self.temperature, &mut row);
        scale_row(&mut row, &self.scalings);
        row
    }
}

/// Several label laws of one row at a time; laws of one temperature share its softmax.
pub(crate) struct RowLaws<'a> {
    laws: &'a [PlanMixture],
    classes: usize,
    /// One over each distinct temperature.
    inverses: Vec<f64>,
    /// Which of them a law has.
    of_law: Vec<usize>,
    /// `f` at each distinct temperature, row after row.
    tempered: Vec<f64>,
    /// `h` of each law that has a plan in it, law after law.
    mixed: Vec<f64>,
}

impl<'a> RowLaws<'a> {
    /// At most [`MOST_LAWS`] laws.
    pub(crate) fn new(laws: &'a [PlanMixture], classes: usize) -> Self {
        let mut temperatures: Vec<f64> = Vec::new();
        let mut place = |temperature: f64| {
            temperatures.iter().position(|known| *known == temperature).unwrap_or_else(|| {
                temperatures.push(temperature);
                temperatures.len() - 1
            })
        };
        let of_law = laws.iter().map(|law| place(law.temperature)).collect();
        let inverses: Vec<f64> = temperatures.iter().map(|temperature| 1.0 / temperature).collect();
        let tempered = vec![0.0; inverses.len() * classes];
        Self { laws, classes, inverses, of_law, tempered, mixed: vec![0.0; laws.len() * classes] }
    }

    /// The laws of one row's labels; each sums to one. Places beyond the last law are empty.
    pub(crate) fn of_row(&mut self, logits: &[f64]) -> [&[f64]; MOST_LAWS] {
        let Self { laws, classes, inverses, of_law, tempered, mixed } = self;
        let classes = *classes;
        tempered_softmaxes(logits, inverses, tempered);
        for (law, out) in mixed.chunks_exact_mut(classes).enumerate() {
            let PlanMixture { mix, scalings, .. } = &laws[law];
            if *mix > 0.0 {
                let f = &tempered[of_law[law] * classes..][..classes];
                mix_row(f, *mix, scalings, out);
            }
        }
        std::array::from_fn(|law| match laws.get(law) {
            None => &[][..],
            Some(PlanMixture { mix, .. }) if *mix > 0.0 => &mixed[law * classes..][..classes],
            Some(_) => &tempered[of_law[law] * classes..][..classes],
        })
    }
}

in_widest_registers! {
    /// `softmax(inverse logits)` for each of the inverses, row after row.
    fn tempered_softmaxes[](logits: &[f64], inverses: &[f64], out: &mut [f64]) -> () {
        let largest = largest_in_lanes(logits);
        for (inverse, out) in inverses.iter().zip(out.chunks_exact_mut(logits.len())) {
            tempered_softmax_below(largest, logits, *inverse, out);
        }
    }
}

in_widest_registers! {
    /// `(1 - mix) f + mix g` of a row.
    fn mix_row[](f: &[f64], mix: f64, scalings: &[f64], out: &mut [f64]) -> () {
        let share = mix / dot_in_lanes(f, scalings);
        for ((out, f), scaling) in out.iter_mut().zip(f).zip(scalings) {
            *out = f * ((1.0 - mix) + share * scaling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laws of one temperature share a softmax, and each is `(1 - mix) f + mix g` all the same.
    #[test]
    fn laws_of_a_row_are_mixtures() {
        let scaled =
            |temperature, mix| PlanMixture { temperature, mix, scalings: vec![0.5, 2.0, 1.0, 3.0] };
        let laws = [PlanMixture::tempered(1.5, 4), scaled(0.7, 0.0), scaled(1.5, 0.4)];
        let mut rows = RowLaws::new(&laws, 4);
        assert_eq!(rows.inverses.len(), 2);
        for logits in [[0.3, -1.0, 2.0, 0.0], [5.0, 5.0, -5.0, 1e3]] {
            let found = rows.of_row(&logits).map(<[f64]>::to_vec);
            for (law, found) in laws.iter().zip(&found) {
                let mut f = vec![0.0; 4];
                tempered_softmax(&logits, 1.0 / law.temperature, &mut f);
                let g = law.plan_row(&logits);
                for ((h, f), g) in found.iter().zip(&f).zip(&g) {
                    let expected = (1.0 - law.mix) * f + law.mix * g;
                    assert!((h - expected).abs() < 1e-15, "{h} against {expected}");
                }
                assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
    }
}
