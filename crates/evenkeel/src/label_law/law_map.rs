//! A label law of any row: what `--score plan` scores by, and what a calibration keeps of it.
//!
//! ```text
//! f_a  = softmax(z / T_a),   g_p(y) = f_a(y) b_p(y) / sum_k f_a(k) b_p(k)
//! h(y) = sum_a [own_a f_a(y) + sum_p share_p g_p(y)],   shares sum to one
//! s(x, y) = 1 - h(y)
//! ```
//! A reading is one temperature with one plan. The posterior of `few-labels` has up to nine temperatures with two plans each.

use serde::{Deserialize, Serialize};

use super::labeled_logits::PROBABILITY_FLOOR;
use super::plan_mixture::PlanMixture;
use crate::error::{Error, Result};
use crate::numeric::ln::ln_of_positive;
use crate::numeric::simd::in_widest_registers;
use crate::numeric::{dot_in_lanes, exp_of_negative, sum_in_lanes};

/// A share that moves no score by a bit that a threshold could see; its table costs as much as any other.
const NOTHING: f64 = 1e-14;
/// Scalings of a plan lie here: they are exponentials of numbers between -300 and 300.
const SCALINGS: std::ops::RangeInclusive<f64> = 1e-140..=1e140;
/// Temperatures of a law. Fitted ones lie between 0.03 and 200; below, all powers of a row could be zero.
const TEMPERATURES: std::ops::RangeInclusive<f64> = 0.03..=1e4;
/// Entries of the rows scored at a time.
const ENTRIES_AT_A_TIME: usize = 512;
/// Registers are filled by the labels of a row from this number of labels on, and by rows below it: ten labels leave most of two
/// registers of eight empty, and their sums cost more than their exponentials.
const ROWS_ABREAST_BELOW: usize = 64;
/// Numbers in a register, of the widest there are.
const LANES: usize = 8;
/// Shares of a row in a term that are made at a time: of its own law and of two plans.
const SHARES: usize = 3;
/// Tables of a law at most: a number in a file decides how long a row takes.
const MOST_TERMS: usize = 64;

/// A label law as a function of a row's probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<LawTerm>", into = "Vec<LawTerm>")]
pub(crate) struct LabelLawMap {
    terms: Vec<LawTerm>,
}

/// What one temperature contributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LawTerm {
    /// `T_a`.
    pub temperature: f64,
    /// Share of `f_a` itself.
    pub own: f64,
    /// Plans on top of it.
    pub plans: Vec<LawPlan>,
}

/// A plan's share of a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LawPlan {
    /// Its share.
    pub share: f64,
    /// `b` of each class.
    pub scalings: Vec<f64>,
}

impl TryFrom<Vec<LawTerm>> for LabelLawMap {
    type Error = Error;

    /// An error unless every number is in its range: files are user input.
    fn try_from(terms: Vec<LawTerm>) -> Result<Self> {
        let damaged = |why| Err(Error::Damaged { what: "the label law of this calibration", why });
        let plans = || terms.iter().flat_map(|term| &term.plans);
        let shares = || {
            let own = terms.iter().map(|term| term.own);
            own.chain(plans().map(|plan| plan.share))
        };
        if terms.is_empty() || terms.len() > MOST_TERMS {
            return damaged("it has no table, or more than any law has");
        }
        let mut temperatures = terms.iter().map(|term| term.temperature);
        if !temperatures.all(|value| TEMPERATURES.contains(&value)) {
            return damaged("a temperature is out of its range");
        }
        if !shares().all(|share| (0.0..=1.0).contains(&share))
            || (shares().sum::<f64>() - 1.0).abs() > 1e-9
        {
            return damaged("its shares do not sum to one");
        }
        if !plans().flat_map(|plan| &plan.scalings).all(|scaling| SCALINGS.contains(scaling)) {
            return damaged("a scaling is out of its range");
        }
        Ok(Self { terms })
    }
}

impl From<LabelLawMap> for Vec<LawTerm> {
    fn from(LabelLawMap { terms }: LabelLawMap) -> Self {
        terms
    }
}

impl LabelLawMap {
    /// Of tables whose shares sum to one; those that say nothing are left out and the others share what they had.
    pub(crate) fn of_terms(terms: Vec<LawTerm>) -> Self {
        let mut terms = terms;
        for term in &mut terms {
            term.plans.retain(|plan| plan.share > NOTHING);
            if term.own <= NOTHING {
                term.own = 0.0;
            }
        }
        terms.retain(|term| term.own > 0.0 || !term.plans.is_empty());
        // The warmest first: colder ones are made of them.
        terms.sort_by(|a, b| b.temperature.total_cmp(&a.temperature));
        let shares =
            |term: &LawTerm| term.own + term.plans.iter().map(|plan| plan.share).sum::<f64>();
        let total: f64 = terms.iter().map(shares).sum();
        for term in &mut terms {
            term.own /= total;
            term.plans.iter_mut().for_each(|plan| plan.share /= total);
        }
        Self { terms }
    }

    /// The mean law of two readings.
    pub(crate) fn of_mean(one: &PlanMixture, other: &PlanMixture) -> Self {
        let halves = [one, other].map(|PlanMixture { temperature, mix, scalings }| LawTerm {
            temperature: *temperature,
            own: 0.5 * (1.0 - mix),
            plans: vec![LawPlan { share: 0.5 * mix, scalings: scalings.clone() }],
        });
        Self::of_terms(halves.to_vec())
    }

    /// The law of a reading.
    pub(crate) fn of_mixture(law: &PlanMixture) -> Self {
        let PlanMixture { temperature, mix, scalings } = law;
        let plans = vec![LawPlan { share: *mix, scalings: scalings.clone() }];
        Self::of_terms(vec![LawTerm { temperature: *temperature, own: 1.0 - mix, plans }])
    }

    /// An error unless it is a law of so many classes.
    pub(crate) fn require_classes(&self, classes: usize) -> Result<()> {
        let mut plans = self.terms.iter().flat_map(|term| &term.plans);
        match plans.all(|plan| plan.scalings.len() == classes) {
            true => Ok(()),
            false => Err(Error::Damaged {
                what: "the label law of this calibration",
                why: "it has other classes than the calibration",
            }),
        }
    }

    /// Its terms, the warmest first.
    pub(super) fn terms(&self) -> &[LawTerm] {
        &self.terms
    }

    /// Rows that are best scored at a time: their tables of all temperatures stay in the cache next to the core, and they fill
    /// registers where there is room for so many.
    pub(crate) fn rows_at_a_time(classes: usize) -> usize {
        let rows = (ENTRIES_AT_A_TIME / classes.max(1)).max(1);
        if rows < LANES { rows } else { rows - rows % LANES }
    }

    /// `1 - h(y)` of rows of probabilities, row after row; `scores` is as long. How many rows are scored at a time changes no bit.
    pub(crate) fn scores(
        &self,
        classes: usize,
        probabilities: &[f64],
        room: &mut Vec<f64>,
        scores: &mut [f64],
    ) {
        let entries = probabilities.len();
        room.clear();
        room.resize((2 + self.terms.len() + SHARES) * entries, 0.0);
        let (logs, rest) = room.split_at_mut(entries);
        let (tempered, rest) = rest.split_at_mut(self.terms.len() * entries);
        if classes < ROWS_ABREAST_BELOW {
            let (law, shares) = rest.split_at_mut(entries);
            score_abreast(
                &self.terms,
                classes,
                probabilities,
                (logs, tempered, law, shares),
                scores,
            );
        } else {
            score_rows(&self.terms, classes, probabilities, (logs, tempered), scores);
        }
    }
}

/// `p^(1/T)` of a term, from logarithms or from a term before it.
///
/// `p^(1/T)` is the square of `p^(1/2T)`, which costs a tenth of an exponential; temperatures of `few-labels` are half-powers of two
/// apart.
#[inline(always)]
fn temper(terms: &[LawTerm], index: usize, logs: &[f64], before: &[f64], powers: &mut [f64]) {
    let temperature = terms[index].temperature;
    match terms[..index].iter().position(|other| other.temperature == 2.0 * temperature) {
        Some(double) => {
            for (power, root) in powers.iter_mut().zip(&before[double * logs.len()..]) {
                *power = root * root;
            }
        }
        None => {
            // Without the largest logit taken off: it is at least -ln C, whose multiple by 1/T exp can take.
            let inverse = 1.0 / temperature;
            for (power, log) in powers.iter_mut().zip(logs) {
                *power = exp_of_negative((inverse * log).min(0.0));
            }
        }
    }
}

in_widest_registers! {
    /// The same for few labels: label after label, the rows of each beside each other.
    ///
    /// Every sum runs over the labels in their order, whatever the number of rows, so that this changes no bit.
    fn score_abreast[](
        terms: &[LawTerm],
        classes: usize,
        probabilities: &[f64],
        memory: (&mut [f64], &mut [f64], &mut [f64], &mut [f64]),
        scores: &mut [f64]
    ) -> () {
        let (logs, tempered, law, shares) = memory;
        let entries = probabilities.len();
        let rows = entries / classes;
        for (row, values) in probabilities.chunks_exact(classes).enumerate() {
            for (label, value) in values.iter().enumerate() {
                logs[label * rows + row] = *value;
            }
        }
        for log in logs.iter_mut() {
            *log = ln_of_positive(log.max(PROBABILITY_FLOOR));
        }
        law.fill(0.0);
        let (own, rest) = shares.split_at_mut(rows);
        let (first, rest) = rest.split_at_mut(rows);
        let second = &mut rest[..rows];
        for (index, term) in terms.iter().enumerate() {
            let (before, rest) = tempered.split_at_mut(index * entries);
            let powers = &mut rest[..entries];
            temper(terms, index, logs, before, powers);
            let columns = || powers.chunks_exact(rows);
            own.fill(0.0);
            for powers in columns() {
                own.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            }
            own.iter_mut().for_each(|sum| *sum = term.own / *sum);
            match &term.plans[..] {
                [] => {
                    for (law, powers) in law.chunks_exact_mut(rows).zip(columns()) {
                        for ((law, power), own) in law.iter_mut().zip(powers).zip(own.iter()) {
                            *law += power * own;
                        }
                    }
                }
                [plan] => {
                    plan_shares(plan, powers, first);
                    for ((law, powers), b) in law.chunks_exact_mut(rows).zip(columns()).zip(&plan.scalings) {
                        let shares = own.iter().zip(first.iter());
                        for ((law, power), (own, first)) in law.iter_mut().zip(powers).zip(shares) {
                            *law += power * (own + first * b);
                        }
                    }
                }
                [one, two] => {
                    plan_shares(one, powers, first);
                    plan_shares(two, powers, second);
                    let scalings = one.scalings.iter().zip(&two.scalings);
                    for ((law, powers), (a, b)) in law.chunks_exact_mut(rows).zip(columns()).zip(scalings) {
                        let shares = own.iter().zip(first.iter()).zip(second.iter());
                        for ((law, power), ((own, first), second)) in law.iter_mut().zip(powers).zip(shares) {
                            *law += power * (own + first * a + second * b);
                        }
                    }
                }
                plans => {
                    for (law, powers) in law.chunks_exact_mut(rows).zip(columns()) {
                        for ((law, power), own) in law.iter_mut().zip(powers).zip(own.iter()) {
                            *law += power * own;
                        }
                    }
                    for plan in plans {
                        plan_shares(plan, powers, first);
                        for ((law, powers), b) in law.chunks_exact_mut(rows).zip(columns()).zip(&plan.scalings) {
                            for ((law, power), first) in law.iter_mut().zip(powers).zip(first.iter()) {
                                *law += power * (first * b);
                            }
                        }
                    }
                }
            }
        }
        for (row, scores) in scores.chunks_exact_mut(classes).enumerate() {
            for (label, score) in scores.iter_mut().enumerate() {
                // Rounding may lift a certain label above one by the last bit, and no score lies below zero.
                *score = (1.0 - law[label * rows + row]).max(0.0);
            }
        }
    }
}

/// What every row's share of a plan is to be multiplied by: the plan's share over `sum_y p^(1/T)(y) b(y)`.
#[inline(always)]
fn plan_shares(plan: &LawPlan, powers: &[f64], shares: &mut [f64]) {
    shares.fill(0.0);
    for (powers, b) in powers.chunks_exact(shares.len()).zip(&plan.scalings) {
        shares.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power * b);
    }
    shares.iter_mut().for_each(|sum| *sum = plan.share / *sum);
}

in_widest_registers! {
    /// [`LabelLawMap::scores`], with memory for the logarithms and for `p^(1/T)` at every temperature.
    fn score_rows[](
        terms: &[LawTerm],
        classes: usize,
        probabilities: &[f64],
        memory: (&mut [f64], &mut [f64]),
        scores: &mut [f64]
    ) -> () {
        let (logs, tempered) = memory;
        let entries = probabilities.len();
        for (log, probability) in logs.iter_mut().zip(probabilities) {
            *log = ln_of_positive(probability.max(PROBABILITY_FLOOR));
        }
        scores.fill(0.0);
        for (index, term) in terms.iter().enumerate() {
            let (before, rest) = tempered.split_at_mut(index * entries);
            let powers = &mut rest[..entries];
            temper(terms, index, logs, before, powers);
            let rows = powers.chunks_exact(classes).zip(scores.chunks_exact_mut(classes));
            match &term.plans[..] {
                [] => {
                    for (powers, law) in rows {
                        let own = term.own / sum_in_lanes(powers);
                        law.iter_mut().zip(powers).for_each(|(law, power)| *law += power * own);
                    }
                }
                [plan] => {
                    for (powers, law) in rows {
                        let own = term.own / sum_in_lanes(powers);
                        let share = plan.share / dot_in_lanes(powers, &plan.scalings);
                        for ((law, power), b) in law.iter_mut().zip(powers).zip(&plan.scalings) {
                            *law += power * (own + share * b);
                        }
                    }
                }
                [one, two] => {
                    for (powers, law) in rows {
                        let own = term.own / sum_in_lanes(powers);
                        let first = one.share / dot_in_lanes(powers, &one.scalings);
                        let second = two.share / dot_in_lanes(powers, &two.scalings);
                        let scalings = one.scalings.iter().zip(&two.scalings);
                        for ((law, power), (a, b)) in law.iter_mut().zip(powers).zip(scalings) {
                            *law += power * (own + first * a + second * b);
                        }
                    }
                }
                plans => {
                    for (powers, law) in rows {
                        let own = term.own / sum_in_lanes(powers);
                        law.iter_mut().zip(powers).for_each(|(law, power)| *law += power * own);
                        for plan in plans {
                            let share = plan.share / dot_in_lanes(powers, &plan.scalings);
                            for ((law, power), b) in law.iter_mut().zip(powers).zip(&plan.scalings) {
                                *law += power * (share * b);
                            }
                        }
                    }
                }
            }
        }
        for score in scores.iter_mut() {
            // Rounding may lift a certain label above one by the last bit, and no score lies below zero.
            *score = (1.0 - *score).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(share: f64, scalings: &[f64]) -> LawPlan {
        LawPlan { share, scalings: scalings.to_vec() }
    }

    fn law() -> impl Strategy<Value = LabelLawMap> {
        let term = (0.1_f64..8.0, 0.001_f64..1.0, 0.0_f64..1.0, 0.0_f64..1.0).prop_flat_map(
            |(temperature, own, kept, updated)| {
                let scalings = || prop::collection::vec(1e-6_f64..1e6, 4);
                (scalings(), scalings()).prop_map(move |(a, b)| LawTerm {
                    temperature,
                    own,
                    plans: vec![plan(kept, &a), plan(updated, &b)],
                })
            },
        );
        prop::collection::vec(term, 1..9).prop_map(LabelLawMap::of_terms)
    }

    fn scores(law: &LabelLawMap, logits: &[f64]) -> Vec<f64> {
        let mut probabilities = vec![0.0; logits.len()];
        crate::numeric::softmax(logits, &mut probabilities);
        let mut scores = vec![0.0; logits.len()];
        law.scores(logits.len(), &probabilities, &mut Vec::new(), &mut scores);
        scores
    }

    proptest! {
        /// `h` is a probability vector, and grows with the label's own logit.
        #[test]
        fn a_law_is_a_law_and_grows_with_the_logit(
            law in law(),
            mut logits in prop::collection::vec(-90.0_f64..0.0, 4),
            label in 0_usize..4,
            lift in 0.0_f64..5.0,
        ) {
            let before = scores(&law, &logits);
            prop_assert!(before.iter().all(|score| (0.0..=1.0).contains(score)));
            let mass: f64 = before.iter().map(|score| 1.0 - score).sum();
            prop_assert!((mass - 1.0).abs() < 1e-12, "{mass}");
            logits[label] += lift;
            let after = scores(&law, &logits);
            prop_assert!(after[label] <= before[label] + 1e-12);
        }

        /// What is stored is read back to the same bits.
        #[test]
        fn a_law_goes_through_its_stored_form(law in law()) {
            let text = serde_json::to_string(&law).unwrap();
            prop_assert_eq!(serde_json::from_str::<LabelLawMap>(&text).unwrap(), law);
        }
    }

    /// Any number of rows at a time gives the same bits, also where a table is the square of another.
    #[test]
    fn rows_may_be_scored_in_any_groups() {
        let scalings = [0.5, 2.0, 1.0, 3.0, 0.1];
        let term = |temperature: f64| LawTerm {
            temperature,
            own: 0.1,
            // None, one, two and three plans: each has a way of its own.
            plans: vec![plan(0.1, &scalings); (10.0 * temperature) as usize % 4],
        };
        let law = LabelLawMap::of_terms([0.7, 1.4, 2.8, 1.0].map(term).to_vec());
        let raw: Vec<f64> = (1..=70).map(|n: u32| f64::from(n * n % 23) / 7.0).collect();
        let rows: Vec<f64> = raw
            .chunks(5)
            .flat_map(|row| {
                let total: f64 = row.iter().sum();
                row.iter().map(move |value| value / total)
            })
            .collect();
        let scored = |at_a_time: usize| -> Vec<f64> {
            let of_group = |group: &[f64]| {
                let mut scores = vec![0.0; group.len()];
                law.scores(5, group, &mut Vec::new(), &mut scores);
                scores
            };
            rows.chunks(5 * at_a_time).flat_map(of_group).collect()
        };
        assert_eq!(scored(1), scored(14));
        assert_eq!(scored(3), scored(14));
    }

    /// Both ways of filling registers give the law of the definition.
    #[test]
    fn rows_abreast_are_scored_as_rows() {
        let mut stream = crate::seed::Seed::new(5).stream("laws");
        for classes in [2, 7, 63, 64, 100] {
            let raw: Vec<f64> = (0..5 * classes).map(|_| stream.uniform() + 1e-9).collect();
            let rows: Vec<f64> = raw
                .chunks(classes)
                .flat_map(|row| row.iter().map(|value| value / row.iter().sum::<f64>()))
                .collect();
            let mut scalings =
                || -> Vec<f64> { (0..classes).map(|_| 0.1 + stream.uniform()).collect() };
            let terms: Vec<LawTerm> = [(0.5, 2), (1.0, 1), (2.0, 0), (1.4, 3)]
                .into_iter()
                .map(|(temperature, plans)| LawTerm {
                    temperature,
                    own: 0.2,
                    plans: (0..plans).map(|_| plan(0.1, &scalings())).collect(),
                })
                .collect();
            let law = LabelLawMap::of_terms(terms);
            let mut scores = vec![0.0; rows.len()];
            law.scores(classes, &rows, &mut Vec::new(), &mut scores);
            for (row, scores) in rows.chunks(classes).zip(scores.chunks(classes)) {
                let mut expected = vec![0.0; classes];
                for term in &law.terms {
                    let powers: Vec<f64> =
                        row.iter().map(|p| p.powf(1.0 / term.temperature)).collect();
                    let total: f64 = powers.iter().sum();
                    for (label, power) in powers.iter().enumerate() {
                        expected[label] += term.own * power / total;
                        for plan in &term.plans {
                            let all: f64 =
                                powers.iter().zip(&plan.scalings).map(|(p, b)| p * b).sum();
                            expected[label] += plan.share * power * plan.scalings[label] / all;
                        }
                    }
                }
                for (score, mass) in scores.iter().zip(expected) {
                    assert!((1.0 - score - mass).abs() < 1e-13, "{classes}: {score} {mass}");
                }
            }
        }
    }

    /// The masses of a reading are those that its second pass adds up.
    #[test]
    fn the_law_of_a_reading_is_its_mixture() {
        let mixture = PlanMixture { temperature: 1.5, mix: 0.4, scalings: vec![0.5, 2.0, 1.0] };
        let logits = [-0.3, -1.0, -2.0];
        let laws = [mixture.clone()];
        let mut rows = super::super::RowLaws::new(&laws, 3);
        let expected = rows.of_row(&logits)[0];
        let found = scores(&LabelLawMap::of_mixture(&mixture), &logits);
        for (score, mass) in found.iter().zip(expected) {
            assert!((1.0 - score - mass).abs() < 1e-14, "{score} {mass}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_damage() {
        let good = || LawTerm { temperature: 1.0, own: 0.5, plans: vec![plan(0.5, &[1.0, 2.0])] };
        assert!(LabelLawMap::try_from(vec![good()]).is_ok());
        let with = |change: &dyn Fn(&mut LawTerm)| {
            let mut term = good();
            change(&mut term);
            LabelLawMap::try_from(vec![term])
        };
        assert!(with(&|term| term.temperature = 0.0).is_err());
        assert!(with(&|term| term.temperature = f64::NAN).is_err());
        assert!(with(&|term| term.own = 0.6).is_err());
        assert!(with(&|term| term.plans[0].scalings[0] = 0.0).is_err());
        assert!(LabelLawMap::try_from(Vec::new()).is_err());
        assert!(LabelLawMap::try_from(vec![good()]).unwrap().require_classes(3).is_err());
    }
}
