//! The law of every class on the target rows, under the label law of a fitted method.
//!
//! ```text
//! F_y(t) = sum_j h_j(y) 1{s_jy <= t} / sum_j h_j(y)
//! ```
//! One pass while the target rows hold at most 2^21 probabilities: all are kept, and every number is exact. Beyond that a
//! uniform sample of them says at which scores the laws are kept, and a second pass adds up the masses of all rows there, in
//! whole numbers. A threshold is the first of these scores at which the law reaches the level: never too small.
//!
//! Kept of a class: `2^17 / C` scores, at least 64 and at most 2048.

use rayon::prelude::*;

use super::class_fit::ClassJob;
use super::class_sums::{Atoms, ClassRow, ReadingMemory, rows_of, share};
use super::group_law::GroupLaw;
use super::parts::{Part, Standing, parts};
use super::per_class::{ClassPart, PerClassCalibration};
use crate::error::{Error, Result};
use crate::method::few_labels::{Guarantee, LabelThresholds};
use crate::rows::{Real, RowKeys, Rows};
use crate::sketch::row_sample::{RowSample, hash_of_key};

/// Probabilities of the rows that are kept: 16 MB.
const KEPT_CELLS: usize = 1 << 21;
/// Scores that are kept of all classes together.
const KEPT_PLACES: usize = 1 << 17;
/// Rows that a thread takes at a time.
pub(super) const SHARE_ROWS: usize = 1 << 11;

/// Scores at which the law of each of so many classes is kept.
fn places_of(classes: usize) -> usize {
    (KEPT_PLACES / classes.max(1)).clamp(64, 2048)
}

/// A pass over the target rows that finds the laws of the classes.
#[derive(Debug)]
pub struct ClassRows {
    job: Box<ClassJob>,
    stage: Stage,
    seen: Seen,
    before: Option<Seen>,
}

/// What a pass leads to.
#[derive(Debug)]
pub enum ClassRowsEnded {
    /// All rows are needed once more.
    Again(ClassRows),
    /// The thresholds of every class.
    Done(Box<PerClassCalibration>),
}

/// How many rows, and the sum of their keys' hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    rows: u64,
    keys: u64,
}

impl Seen {
    fn add(&mut self, key: u64) {
        self.rows += 1;
        self.keys = self.keys.wrapping_add(hash_of_key(key));
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.keys = self.keys.wrapping_add(other.keys);
    }
}

#[derive(Debug, Clone)]
enum Stage {
    /// Which scores matter?
    Sample(Sample),
    /// How much mass lies at or below each?
    Sums(Sums),
}

/// Rows, and the scores of labeled ones at their labels.
#[derive(Debug, Clone)]
struct Sample {
    rows: RowSample<Box<[f64]>>,
    /// Key, label and score.
    labeled: Vec<(u64, usize, f64)>,
}

/// Masses between neighbouring places.
#[derive(Debug, Clone)]
struct Sums {
    parts: Vec<Part>,
    /// Part of every class.
    part_of: Vec<usize>,
    /// Of every part.
    places: Vec<Vec<f64>>,
    /// The same shape, and one for what lies beyond.
    masses: Vec<Vec<u128>>,
    labeled: Vec<(u64, usize, f64)>,
}

impl Stage {
    /// The same before any row.
    fn emptied(&self) -> Self {
        match self {
            Self::Sample(Sample { rows, .. }) => {
                Self::Sample(Sample { rows: rows.emptied(), labeled: Vec::new() })
            }
            Self::Sums(sums) => {
                let mut sums = sums.clone();
                sums.masses.iter_mut().for_each(|masses| masses.fill(0));
                Self::Sums(sums)
            }
        }
    }

    fn take(&mut self, job: &ClassJob, row: &ClassRow<'_>) {
        match self {
            Self::Sample(Sample { rows, labeled }) => {
                rows.add_with(row.key, || row.probabilities.into());
                if let Some(label) = job.label_of(row.key) {
                    labeled.push((row.key, label, row.scores[label]));
                }
            }
            Self::Sums(Sums { part_of, places, masses, .. }) => {
                for (label, part) in part_of.iter().enumerate() {
                    let places = &places[*part];
                    let at = places.partition_point(|place| *place < row.scores[label]);
                    masses[*part][at] += u128::from(row.masses[label]);
                }
            }
        }
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::Sample(mine), Self::Sample(theirs)) => {
                mine.rows.merge(theirs.rows)?;
                mine.labeled.extend(theirs.labeled);
                Ok(())
            }
            (Self::Sums(mine), Self::Sums(theirs)) => {
                for (mine, theirs) in mine.masses.iter_mut().zip(theirs.masses) {
                    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
                }
                Ok(())
            }
            _ => Err(Error::IncompatibleSketches { what: "pass" }),
        }
    }
}

impl ClassRows {
    pub(super) fn new(job: ClassJob) -> Self {
        let classes = job.reading.classes;
        let kept = (KEPT_CELLS / classes.max(1)).max(1);
        Self::keeping(job, kept)
    }

    /// The same with room for so many rows.
    pub(super) fn keeping(job: ClassJob, kept: usize) -> Self {
        let seed = job.pooled.provenance().seed.child("class-laws", 0);
        let rows = RowSample::new(seed.get(), kept);
        let stage = Stage::Sample(Sample { rows, labeled: Vec::new() });
        Self { job: Box::new(job), stage, seen: Seen::default(), before: None }
    }

    /// Adds target rows, with the keys they had when the method was fitted.
    ///
    /// # Errors
    /// If the block has other classes, or a row does not hold probabilities.
    pub fn add<T: Real>(mut self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        keys.check(block.rows())?;
        let empty = self.stage.emptied();
        let job = &self.job;
        let of_share = |(keys, part): (RowKeys<'_>, Rows<'_, T>)| {
            let (mut stage, mut seen) = (empty.clone(), Seen::default());
            job.reading.each_row(keys, part, |row| {
                seen.add(row.key);
                stage.take(job, &row);
            })?;
            Ok((stage, seen))
        };
        let merge = |(mut stage, mut seen): (Stage, Seen), other: (Stage, Seen)| {
            stage.merge(other.0)?;
            seen.merge(other.1);
            Ok((stage, seen))
        };
        let (added, seen) = block
            .shares(keys, SHARE_ROWS)
            .map(of_share)
            .try_reduce(|| (empty.clone(), Seen::default()), merge)?;
        self.stage.merge(added)?;
        self.seen.merge(seen);
        Ok(self)
    }

    /// Ends a pass over all target rows.
    ///
    /// # Errors
    /// If there were none, they are not those of the pass before, or a class has too few rows and small ones are refused.
    pub fn end_pass(self) -> Result<ClassRowsEnded> {
        let Self { job, stage, seen, before } = self;
        if seen.rows == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        if let Some(before) = before
            && before != seen
        {
            return Err(Error::OtherRows { before: before.rows, now: seen.rows });
        }
        match stage {
            Stage::Sample(sample) => job.after_sample(sample, seen),
            Stage::Sums(sums) => Ok(ClassRowsEnded::Done(Box::new(job.after_sums(sums)?))),
        }
    }
}

impl ClassJob {
    /// Parts by the rows expected in each class; their laws where every row is kept, else the places to add them up at.
    fn after_sample(self: Box<Self>, sample: Sample, seen: Seen) -> Result<ClassRowsEnded> {
        let classes = self.reading.classes;
        let mut labeled = sample.labeled;
        labeled.sort_by_key(|(key, ..)| *key);
        self.require_labels(&labeled)?;
        let rows = sample.rows.into_rows()?;
        let mut atoms: Vec<Vec<(f64, u64)>> = vec![Vec::with_capacity(rows.len()); classes];
        let mut memory = ReadingMemory::new(classes);
        for (key, row) in &rows {
            memory.read(&self.reading, *key, row);
            for (label, atoms) in atoms.iter_mut().enumerate() {
                atoms.push((memory.scores[label], memory.masses[label]));
            }
        }
        let all = rows.len() as u64 == seen.rows;
        let scale = seen.rows as f64 / rows.len() as f64;
        let total = |atoms: &Vec<(f64, u64)>| -> u128 {
            atoms.iter().map(|(_, mass)| u128::from(*mass)).sum()
        };
        let sizes: Vec<f64> = atoms.iter().map(|atoms| scale * rows_of(total(atoms))).collect();
        let name = |class: usize| format!("class {class}");
        let alpha = self.pooled.provenance().alpha;
        let found = parts(&sizes, alpha, self.small, (&name, "expected target rows"))?;
        let most = places_of(classes);
        let level = alpha.level().get();
        let laws: Vec<(Atoms, Vec<f64>)> = found
            .par_iter()
            .map(|part| {
                let members = part.members.iter().flat_map(|class| atoms[*class].iter().copied());
                let atoms = Atoms::new(members.collect());
                let also: Vec<f64> = labeled_scores(&labeled, &part.members);
                let places = atoms.places(most, level, &also);
                (atoms, places)
            })
            .collect();
        if all {
            let sums = laws.iter().map(|(atoms, places)| atoms.at(places)).collect();
            let places = laws.into_iter().map(|(_, places)| places).collect();
            let made = self.concluded(&found, places, sums, &labeled)?;
            return Ok(ClassRowsEnded::Done(Box::new(made)));
        }
        let highest = self.pooled.provenance().score.range(classes).high();
        let places: Vec<Vec<f64>> = laws
            .into_iter()
            .map(|(_, mut places)| {
                // What lies beyond every score of the sample has a place too.
                if places.last().is_none_or(|last| *last < highest) {
                    places.push(highest);
                }
                places
            })
            .collect();
        let mut part_of = vec![0; classes];
        for (index, part) in found.iter().enumerate() {
            part.members.iter().for_each(|class| part_of[*class] = index);
        }
        let masses = places.iter().map(|places| vec![0; places.len() + 1]).collect();
        let stage = Stage::Sums(Sums { parts: found, part_of, places, masses, labeled });
        let before = Some(seen);
        Ok(ClassRowsEnded::Again(ClassRows { job: self, stage, seen: Seen::default(), before }))
    }

    fn after_sums(self: Box<Self>, sums: Sums) -> Result<PerClassCalibration> {
        let Sums { parts, places, masses, labeled, .. } = sums;
        let cumulated = masses
            .into_iter()
            .map(|masses| {
                let beyond = masses.last().copied().unwrap_or(0);
                let mut below = 0;
                let mut sums: Vec<u128> = masses[..masses.len() - 1]
                    .iter()
                    .map(|mass| {
                        below += mass;
                        below
                    })
                    .collect();
                // Scores may pass the end of their range by rounding.
                if let Some(last) = sums.last_mut() {
                    *last += beyond;
                }
                sums
            })
            .collect();
        self.concluded(&parts, places, cumulated, &labeled)
    }

    /// The laws of all parts, from the masses at or below their places.
    fn concluded(
        self: Box<Self>,
        parts: &[Part],
        places: Vec<Vec<f64>>,
        sums: Vec<Vec<u128>>,
        labeled: &[(u64, usize, f64)],
    ) -> Result<PerClassCalibration> {
        let law_of = |((part, places), sums): ((&Part, Vec<f64>), Vec<u128>)| {
            let Part { members, standing } = part;
            let total = sums.last().copied().unwrap_or(0);
            let law = match standing {
                Standing::AllLabels => None,
                Standing::Own | Standing::Rest => {
                    let cdf: Vec<f64> = sums.iter().map(|sum| share(*sum, total)).collect();
                    Some(self.fitted_law(places, cdf, labeled_scores(labeled, members))?)
                }
            };
            Ok(ClassPart {
                classes: members.clone(),
                standing: *standing,
                points: members.iter().map(|class| self.points[*class]).collect(),
                size: rows_of(total),
                law,
            })
        };
        let parts: Result<Vec<ClassPart>> =
            parts.iter().zip(places).zip(sums).map(law_of).collect();
        PerClassCalibration::new(self.pooled, parts?)
    }

    fn fitted_law(&self, places: Vec<f64>, cdf: Vec<f64>, labels: Vec<f64>) -> Result<GroupLaw> {
        // What tables of a posterior disagree about within a class is not known: the expected error is not used.
        let spread = vec![0.0; places.len()];
        let guarantee = self.guarantee.unwrap_or(Guarantee::None);
        let thresholds =
            LabelThresholds::new((places, cdf, spread), (labels, Vec::new()), guarantee)?;
        Ok(GroupLaw::Fitted { thresholds })
    }
}

/// Scores of the labels of some classes, increasing.
fn labeled_scores(labeled: &[(u64, usize, f64)], classes: &[usize]) -> Vec<f64> {
    let of = labeled.iter().filter(|(_, label, _)| classes.binary_search(label).is_ok());
    let mut scores: Vec<f64> = of.map(|(.., score)| *score).collect();
    scores.sort_unstable_by(f64::total_cmp);
    scores
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::calibrator::{Ended, Fitted, ShiftCalibrator};
    use crate::level::FailureProbability;
    use crate::method::Method;
    use crate::method::label_plan::LabelPlanSettings;
    use crate::per_group::{ClassFit, ClassFitOf, SmallGroups, per_class};
    use crate::score::{Labels, Probabilities};
    use crate::side_inputs::{Labeled, SideInputs};

    const CLASSES: usize = 3;

    fn rows(count: usize, sharpness: f64) -> (Vec<f64>, Vec<usize>) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for row in 0..count as u64 {
            let raw = |label: u64| (hash_of_key(row * 7 + label) >> 11) as f64 / 2_f64.powi(53);
            let powers: Vec<f64> = (0..3).map(|label| (sharpness * raw(label)).exp()).collect();
            let total: f64 = powers.iter().sum();
            values.extend(powers.iter().map(|power| power / total));
            labels.push((raw(5) * 3.0) as usize);
        }
        (values, labels)
    }

    fn fitted(target: &[f64]) -> (Fitted, Labels) {
        let (values, labels) = rows(200, 5.0);
        let probabilities = Probabilities::new(&values, CLASSES).unwrap();
        let labels = Labels::new(labels, CLASSES).unwrap();
        let plan = LabelPlanSettings::new(FailureProbability::FIVE_PERCENT);
        let calibrator = ShiftCalibrator::new(0.1).unwrap().method(Method::LabelPlan(plan));
        let beside = SideInputs::default();
        let labeled = Labeled { probabilities: &probabilities, labels: &labels, beside };
        let mut fit = calibrator.begin(&labeled).unwrap();
        loop {
            let block = Rows::new("probabilities", target, CLASSES).unwrap();
            match fit.add(RowKeys::From(0), block, beside).unwrap().end_pass().unwrap() {
                Ended::Again(again) => fit = again,
                Ended::Done(ready) => {
                    let fitted = ready.finish(&mut |_| ControlFlow::Continue(())).unwrap();
                    return (fitted, labels);
                }
            }
        }
    }

    fn job(target: &[f64]) -> ClassJob {
        let (fitted, labels) = fitted(target);
        let small = SmallGroups::Merge;
        let of = ClassFitOf { labels: &labels, weights: None, target_labels: None, small };
        match per_class(fitted, &of).unwrap() {
            ClassFit::Rows(rows) => *rows.job,
            ClassFit::Done(_) => panic!("a plan asks for target rows"),
        }
    }

    fn read(mut open: ClassRows, target: &[f64], rows: usize) -> (PerClassCalibration, usize) {
        for passes in 1.. {
            for (index, values) in target.chunks(rows * CLASSES).enumerate() {
                let block = Rows::new("probabilities", values, CLASSES).unwrap();
                open = open.add(RowKeys::From((index * rows) as u64), block).unwrap();
            }
            match open.end_pass().unwrap() {
                ClassRowsEnded::Again(again) => open = again,
                ClassRowsEnded::Done(made) => return (*made, passes),
            }
        }
        unreachable!()
    }

    /// By the definition: all masses of a class, sorted.
    fn threshold_of(job: &ClassJob, target: &[f64], class: usize) -> f64 {
        let mut atoms = Vec::new();
        let block = Rows::new("probabilities", target, CLASSES).unwrap();
        let take = |row: ClassRow<'_>| atoms.push((row.scores[class], row.masses[class]));
        job.reading.each_row(RowKeys::From(0), block, take).unwrap();
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: u128 = atoms.iter().map(|(_, mass)| u128::from(*mass)).sum();
        let mut below = 0_u128;
        for (score, mass) in atoms {
            below += u128::from(mass);
            if share(below, total) >= 0.9 - 1e-12 {
                return score;
            }
        }
        f64::INFINITY
    }

    #[test]
    fn a_sample_says_where_and_all_rows_say_how_much() {
        let (target, _) = rows(3000, 2.0);
        let exact: Vec<f64> =
            (0..CLASSES).map(|class| threshold_of(&job(&target), &target, class)).collect();
        let (whole, passes) = read(ClassRows::new(job(&target)), &target, 500);
        assert_eq!(passes, 1);
        let found: Vec<f64> = whole.thresholds(None).iter().map(|found| found.get()).collect();
        assert_eq!(found, exact);
        let (sampled, passes) = read(ClassRows::keeping(job(&target), 400), &target, 500);
        assert_eq!(passes, 2);
        assert_eq!(read(ClassRows::keeping(job(&target), 400), &target, 71).0, sampled);
        for (class, exact) in exact.iter().enumerate() {
            let part = sampled.part_of(class).unwrap();
            assert!((part.size - whole.part_of(class).unwrap().size).abs() < 1e-6);
            let found = sampled.thresholds(None)[class].get();
            // Never too small, and too large by no more than the gaps of 400 rows.
            assert!(found >= *exact && found < exact + 0.02, "class {class}: {found} {exact}");
        }
    }

    #[test]
    fn other_rows_in_the_second_pass_are_found_out() {
        let (target, _) = rows(600, 2.0);
        let block = |from: usize| Rows::new("probabilities", &target[from..], CLASSES).unwrap();
        let open = ClassRows::keeping(job(&target), 50).add(RowKeys::From(0), block(0)).unwrap();
        let ClassRowsEnded::Again(again) = open.end_pass().unwrap() else { panic!("one pass") };
        let fewer = again.add(RowKeys::From(0), block(CLASSES)).unwrap().end_pass();
        assert!(matches!(fewer, Err(Error::OtherRows { before: 600, now: 599 })));
    }
}
