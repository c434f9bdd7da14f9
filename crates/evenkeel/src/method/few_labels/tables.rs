//! The label laws that are averaged: `f_a`, `g_a` and `g'_a` at nine temperatures, and the label-free plan `h0`.
//!
//! ```text
//! f_a(y) = softmax(z / T_a)(y),   g_a(y) ~ f_a(y) b_a(y),   g'_a(y) ~ f_a(y) b'_a(y),   h0 = (1 - mix) f + mix g at r = 1
//! ```

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::label_law::{
    ClassGroups, GroupTable, Iterating, LabelLawMap, LawPlan, LawTerm, Marginal, PlanMixture,
    TransportPlan, fit_plan_from, tempered_softmax,
};
use crate::numeric::dot_in_lanes;
use crate::numeric::simd::in_widest_registers;
use crate::sketch::contradiction;

/// Number of temperatures.
pub(super) const TEMPERATURES: usize = 9;
/// The one at which `r = 1`.
pub(super) const MIDDLE: usize = 4;

/// `r_a = 2^(-2, -1.5, ..., 2)`.
pub(super) fn ratio(index: usize) -> f64 {
    (0.5 * (index as f64 - MIDDLE as f64)).exp2()
}

/// A number for each table but `h0`: families `f`, `g`, `g'` by temperature.
pub(super) type Families = [[f64; TEMPERATURES]; 3];

/// What every table gives a row follows from its logits and these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct LabelTables {
    classes: usize,
    /// `T_a`.
    temperatures: Vec<f64>,
    /// `mix` of the label-free plan.
    mix: f64,
    /// `b_a` of each class, temperature after temperature.
    kept: Vec<f64>,
    /// `b'_a` of each class.
    updated: Vec<f64>,
}

/// As they are stored; checked when read back.
#[derive(Deserialize)]
struct Stored {
    classes: usize,
    temperatures: Vec<f64>,
    mix: f64,
    kept: Vec<f64>,
    updated: Vec<f64>,
}

impl TryFrom<Stored> for LabelTables {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { classes, temperatures, mix, kept, updated } = stored;
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let cells = classes.checked_mul(TEMPERATURES);
        let fits = classes > 0
            && temperatures.len() == TEMPERATURES
            && (0.0..=1.0).contains(&mix)
            && [&kept, &updated].iter().all(|scalings| Some(scalings.len()) == cells)
            && temperatures.iter().chain(&kept).chain(&updated).all(positive);
        if fits {
            Ok(Self { classes, temperatures, mix, kept, updated })
        } else {
            Err(contradiction("its label laws do not fit its classes"))
        }
    }
}

/// What tables are fitted to.
pub(super) struct TablesOf<'a> {
    /// Logits of the rows of the fixed points, in the order of their keys.
    pub logits: &'a [Box<[f64]>],
    /// Classes or groups of them, with the calibration's shares.
    pub groups: &'a ClassGroups,
    /// Updated shares of the groups.
    pub shares: &'a [f64],
    /// `T inflation`.
    pub temperature: f64,
    /// `mix` of the label-free plan.
    pub mix: f64,
    /// How far the fixed points are iterated.
    pub iterating: Iterating,
}

/// Both plans at a temperature.
type Plans = [TransportPlan; 2];

impl LabelTables {
    /// Fits the plans: at `r = 1` first, then away from it, each from its neighbour's scalings, in whole steps.
    pub(super) fn fit(of: &TablesOf<'_>) -> Self {
        let equal = vec![0.0; of.groups.len()];
        let middle = fit_plans(of, MIDDLE, [&equal, &equal]);
        let chain = |indices: Vec<usize>| -> Vec<Plans> {
            let mut found: Vec<Plans> = Vec::with_capacity(MIDDLE);
            for index in indices {
                let near = found.last().unwrap_or(&middle);
                let plans = fit_plans(of, index, [&near[0].log_scalings, &near[1].log_scalings]);
                found.push(plans);
            }
            found
        };
        let (mut plans, warmer) = rayon::join(
            || chain((0..MIDDLE).rev().collect()),
            || chain((MIDDLE + 1..TEMPERATURES).collect()),
        );
        plans.reverse();
        plans.push(middle);
        plans.extend(warmer);
        let scalings = |family: usize| -> Vec<f64> {
            plans.iter().flat_map(|plans| plans[family].class_scalings(of.groups)).collect()
        };
        Self {
            classes: of.groups.group_of.len(),
            temperatures: (0..TEMPERATURES).map(|index| of.temperature * ratio(index)).collect(),
            mix: of.mix,
            kept: scalings(0),
            updated: scalings(1),
        }
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    /// `T_a`.
    pub(super) fn temperature(&self, index: usize) -> f64 {
        self.temperatures[index]
    }

    /// `mix` of the label-free plan.
    pub(super) fn mix(&self) -> f64 {
        self.mix
    }

    /// `f_a` of a row, into `out`, and the factors of `b_a` and `b'_a` with which it is `g_a` and `g'_a`.
    fn read(&self, index: usize, logits: &[f64], out: &mut [f64]) -> [f64; 2] {
        tempered_softmax(logits, 1.0 / self.temperatures[index], out);
        let [kept, updated] = self.scalings(index);
        [1.0 / dot(out, kept), 1.0 / dot(out, updated)]
    }

    /// `b_a` and `b'_a`.
    fn scalings(&self, index: usize) -> [&[f64]; 2] {
        [&self.kept, &self.updated].map(|all| &all[index * self.classes..][..self.classes])
    }

    /// What `f`, `g` and `g'` of each temperature give one label of a row; `scratch` has a place for each class.
    pub(super) fn of_label(
        &self,
        logits: &[f64],
        label: usize,
        scratch: &mut [f64],
    ) -> [[f64; 3]; TEMPERATURES] {
        std::array::from_fn(|index| {
            let factors = self.read(index, logits, scratch);
            let [kept, updated] = self.scalings(index);
            let f = scratch[label];
            [f, f * kept[label] * factors[0], f * updated[label] * factors[1]]
        })
    }

    /// The mean table of a row: `sum_w w table_w`, with folded weights.
    pub(super) fn mean_row(
        &self,
        logits: &[f64],
        weights: &Families,
        scratch: &mut [f64],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        for index in 0..TEMPERATURES {
            let weights = [weights[0][index], weights[1][index], weights[2][index]];
            if weights.iter().all(|weight| *weight <= 0.0) {
                continue;
            }
            let factors = self.read(index, logits, scratch);
            let factors = [weights[0], weights[1] * factors[0], weights[2] * factors[1]];
            add_tables(scratch, self.scalings(index), factors, out);
        }
    }

    /// The mean table as a function of a row, with folded weights: what the plan score scores by.
    pub(super) fn law_map(&self, weights: &Families) -> LabelLawMap {
        let term = |index: usize| {
            let plan = |family: usize, scalings: &[f64]| LawPlan {
                share: weights[family][index],
                scalings: scalings.to_vec(),
            };
            let [kept, updated] = self.scalings(index);
            LawTerm {
                temperature: self.temperatures[index],
                own: weights[0][index],
                plans: vec![plan(1, kept), plan(2, updated)],
            }
        };
        LabelLawMap::of_terms((0..TEMPERATURES).map(term).collect())
    }

    /// Calls `see(index, label, [f, g, g'])` with each label's masses under the tables of some of the temperatures.
    pub(super) fn each_mass(
        &self,
        logits: &[f64],
        temperatures: &[usize],
        scratch: &mut [f64],
        mut see: impl FnMut(usize, usize, [f64; 3]),
    ) {
        for index in temperatures.iter().copied() {
            let factors = self.read(index, logits, scratch);
            let [kept, updated] = self.scalings(index);
            for (label, f) in scratch.iter().enumerate() {
                let masses = [*f, f * kept[label] * factors[0], f * updated[label] * factors[1]];
                see(index, label, masses);
            }
        }
    }
}

/// `h0` as a function of a row: `(1 - mix) f + mix g` at one temperature.
pub(super) fn label_free_law(
    logits: &[Box<[f64]>],
    groups: &ClassGroups,
    (temperature, mix): (f64, f64),
    iterating: Iterating,
) -> LabelLawMap {
    // The law asks for no accuracy, so that no class of a row is told apart.
    let top = vec![0; logits.len()];
    let table = GroupTable::new(logits, &top, groups, temperature);
    let start = vec![0.0; groups.len()];
    let steps = Marginal::SemiRelaxedInWholeSteps;
    let plan = fit_plan_from(&table, &groups.prior, steps, iterating, start);
    let scalings = plan.class_scalings(groups);
    LabelLawMap::of_mixture(&PlanMixture { temperature, mix, scalings })
}

/// The model's own law at a temperature.
pub(super) fn own_law(temperature: f64) -> LabelLawMap {
    LabelLawMap::of_terms(vec![LawTerm { temperature, own: 1.0, plans: Vec::new() }])
}

fn fit_plans(of: &TablesOf<'_>, index: usize, from: [&Vec<f64>; 2]) -> Plans {
    // The posterior asks for no accuracy, so that no class of a row is told apart.
    let top = vec![0; of.logits.len()];
    let table = GroupTable::new(of.logits, &top, of.groups, of.temperature * ratio(index));
    let fit = |shares: &[f64], from: &Vec<f64>| {
        fit_plan_from(&table, shares, Marginal::SemiRelaxedInWholeSteps, of.iterating, from.clone())
    };
    [fit(&of.groups.prior, from[0]), fit(of.shares, from[1])]
}

in_widest_registers! {
    fn dot[](a: &[f64], b: &[f64]) -> f64 {
        dot_in_lanes(a, b)
    }
}

in_widest_registers! {
    /// `out += f (own + kept b + updated b')`.
    fn add_tables[](f: &[f64], scalings: [&[f64]; 2], factors: [f64; 3], out: &mut [f64]) -> () {
        let [own, kept, updated] = factors;
        for (((out, f), b), b_updated) in out.iter_mut().zip(f).zip(scalings[0]).zip(scalings[1]) {
            *out += f * (own + kept * b + updated * b_updated);
        }
    }
}
