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
use sha2::{Digest, Sha256};

use super::class_fit::ClassJob;
use super::class_pass::{Asks, ClassPass, ClassState};
use super::class_sums::{Atoms, ReadingMemory, rows_of, share};
use super::group_law::GroupLaw;
use super::parts::{Part, Standing, parts};
use super::per_class::{ClassPart, PerClassCalibration};
use crate::error::{Error, Result};
use crate::method::few_labels::{Guarantee, LabelThresholds};
use crate::method::fit::{Pass, Seen};
use crate::rows::{Real, RowKeys, Rows};
use crate::side_inputs::SideInputs;
use crate::sketch::row_sample::RowSample;
use crate::sketch::state::{JobHeader, Kind, open, open_parts, seal};
use crate::sketch::{PartIds, RowMarks};

/// Probabilities of the rows that are kept: 16 MB.
const KEPT_CELLS: usize = 1 << 21;
/// Scores that are kept of all classes together.
const KEPT_PLACES: usize = 1 << 17;
/// Scores at which the law of each of so many classes is kept.
fn places_of(classes: usize) -> usize {
    (KEPT_PLACES / classes.max(1)).clamp(64, 2048)
}

/// A pass over the target rows that finds the laws of the classes. Rows are added in blocks, or by [`absorb`](Self::absorb)ing what
/// other processes made of theirs.
#[derive(Debug)]
pub struct ClassRows {
    job: Box<ClassJob>,
    pass: Box<ClassPass>,
    seen: Seen<ClassState>,
    /// What the first pass left, in the second.
    before: Option<Box<Sampled>>,
    /// How many target rows there will be, if that was said.
    expected: Option<u64>,
    /// Shares whose states were absorbed in this pass.
    parts: PartIds,
}

/// What a pass leads to.
#[derive(Debug)]
pub enum ClassRowsEnded {
    /// All rows are needed once more.
    Again(Box<ClassRows>),
    /// The thresholds of every class.
    Done(Box<PerClassCalibration>),
}

/// What the first pass found, where a second is needed.
#[derive(Debug)]
struct Sampled {
    /// Rows and their marks.
    rows: (u64, RowMarks),
    parts: Vec<Part>,
    /// Key, label and score.
    labeled: Vec<(u64, usize, f64)>,
}

impl ClassRows {
    pub(super) fn new(job: ClassJob) -> Self {
        let classes = job.reading.classes;
        let kept = (KEPT_CELLS / classes.max(1)).max(1);
        Self::keeping(job, kept)
    }

    /// The same with room for so many rows.
    pub(super) fn keeping(job: ClassJob, capacity: usize) -> Self {
        let seed = job.pooled.provenance().seed.child("class-laws", 0).get();
        let pass = Box::new(job.pass(Asks::Sample { seed, capacity }));
        let seen = Seen::new(pass.empty());
        let parts = PartIds::default();
        Self { job: Box::new(job), pass, seen, before: None, expected: None, parts }
    }

    /// Says how many target rows there are, as [`Fit::expecting`](crate::calibrator::Fit::expecting) does.
    #[must_use]
    pub fn expecting(mut self, rows: u64) -> Self {
        self.expected = Some(rows);
        if self.seen.rows == 0 {
            self.seen = Seen::new(self.pass.empty_of(rows));
        }
        self
    }

    /// Number of classes of the rows it takes.
    pub fn classes(&self) -> usize {
        self.pass.classes()
    }

    /// Number of target rows so far in this pass.
    pub fn rows(&self) -> u64 {
        self.seen.rows
    }

    /// Adds target rows, with the keys they had when the method was fitted.
    ///
    /// # Errors
    /// If the block has other classes, or a row does not hold probabilities.
    pub fn add<T: Real>(self, keys: RowKeys<'_>, block: Rows<'_, T>) -> Result<Self> {
        let seen = self.seen.add(&*self.pass, keys, block, &SideInputs::default())?;
        Ok(Self { seen, ..self })
    }

    /// What other processes need to read rows for this pass: see [`ClassShare`](super::ClassShare).
    ///
    /// # Errors
    /// If it cannot be written, which does not happen for a pass that was begun.
    pub fn plan(&self) -> Result<Vec<u8>> {
        seal(Kind::Plan, &self.header(), &*self.pass)
    }

    /// An error unless these bytes are a state of this pass, of shares that were not absorbed yet.
    ///
    /// # Errors
    /// As [`absorb`](Self::absorb), as far as the sums do not matter.
    pub fn require_new(&self, state: &[u8]) -> Result<()> {
        let (header, parts) = open_parts(state)?;
        self.header().require_same(&header)?;
        self.parts.clone().joined(parts).map(drop)
    }

    /// Takes what another process made of its rows of this pass.
    ///
    /// # Errors
    /// If the bytes are damaged, belong to another pass, or hold a share that was absorbed already.
    pub fn absorb(self, state: &[u8]) -> Result<Self> {
        let (header, (parts, other)) = open::<(PartIds, Seen<ClassState>)>(Kind::State, state)?;
        self.header().require_same(&header)?;
        let parts = self.parts.joined(parts)?;
        Ok(Self { seen: self.seen.merge(&*self.pass, other)?, parts, ..self })
    }

    /// The name of the pass on the wire: its recipe holds all that it depends on.
    fn header(&self) -> JobHeader {
        // Numbers and lists of them can always be written; without bytes it would only fail to tell passes apart.
        let recipe = postcard::to_allocvec(&*self.pass).unwrap_or_default();
        let method = super::ClassShare::KIND.to_owned();
        let pass = if self.before.is_some() { 2 } else { 1 };
        JobHeader {
            method,
            settings: Vec::new(),
            pass,
            rows: self.expected,
            calibration: Sha256::digest(&recipe).into(),
        }
    }

    /// Ends a pass over all target rows.
    ///
    /// # Errors
    /// If there were none, they are not those of the pass before, or a class has too few rows and small ones are refused.
    pub fn end_pass(self) -> Result<ClassRowsEnded> {
        let Self { job, pass, seen: Seen { rows, marks, state }, before, expected, .. } = self;
        if rows == 0 {
            return Err(Error::Empty { what: "target probabilities" });
        }
        if let Some(expected) = expected.filter(|expected| *expected != rows) {
            return Err(Error::OtherNumberOfRows { expected, found: rows });
        }
        // The law was fitted to these rows; on others it says nothing.
        if let Some(fitted) = job.fitted_to.filter(|fitted| *fitted != (rows, marks)) {
            return Err(Error::OtherRows { before: fitted.0, now: rows });
        }
        match (state, before) {
            (ClassState::Sample { rows: kept, labeled }, None) => {
                job.after_sample(kept, labeled, (rows, marks), expected)
            }
            (ClassState::Sums { masses }, Some(before)) => {
                if before.rows != (rows, marks) {
                    return Err(Error::OtherRows { before: before.rows.0, now: rows });
                }
                let Asks::Sums { places, .. } = pass.asks else { return Err(OTHER_PASS) };
                let made = job.after_sums(&before, places, masses)?;
                Ok(ClassRowsEnded::Done(Box::new(made)))
            }
            // A pass holds the state of its own kind: nothing else can be put into one.
            _ => Err(OTHER_PASS),
        }
    }
}

const OTHER_PASS: Error = Error::IncompatibleSketches { what: "pass" };

impl ClassJob {
    fn pass(&self, asks: Asks) -> ClassPass {
        ClassPass { reading: self.reading.clone(), labels: self.target_labels.clone(), asks }
    }

    /// The laws where all rows were kept; the places of the laws where they were too many.
    fn after_sample(
        self: Box<Self>,
        kept: RowSample<Box<[f64]>>,
        labeled: Vec<(u64, usize, f64)>,
        seen: (u64, RowMarks),
        expected: Option<u64>,
    ) -> Result<ClassRowsEnded> {
        let classes = self.reading.classes;
        self.require_labels(&labeled)?;
        let rows = kept.into_rows()?;
        let mut atoms: Vec<Vec<(f64, u64)>> = vec![Vec::with_capacity(rows.len()); classes];
        let mut memory = ReadingMemory::new(classes);
        for (key, row) in &rows {
            memory.read(&self.reading, *key, row);
            for (label, atoms) in atoms.iter_mut().enumerate() {
                atoms.push((memory.scores[label], memory.masses[label]));
            }
        }
        let all = rows.len() as u64 == seen.0;
        let scale = seen.0 as f64 / rows.len() as f64;
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
        let pass = Box::new(self.pass(Asks::Sums { part_of, places }));
        let (state, before) = (pass.empty(), Sampled { rows: seen, parts: found, labeled });
        Ok(ClassRowsEnded::Again(Box::new(ClassRows {
            job: self,
            pass,
            seen: Seen::new(state),
            before: Some(Box::new(before)),
            expected,
            parts: PartIds::default(),
        })))
    }

    fn after_sums(
        self: Box<Self>,
        before: &Sampled,
        places: Vec<Vec<f64>>,
        masses: Vec<Vec<u128>>,
    ) -> Result<PerClassCalibration> {
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
        self.concluded(&before.parts, places, cumulated, &before.labeled)
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

    use super::super::class_sums::{ClassRow, ClassScore};
    use super::*;
    use crate::calibrator::{Ended, Fitted, ShiftCalibrator};
    use crate::level::FailureProbability;
    use crate::method::Method;
    use crate::method::label_plan::LabelPlanSettings;
    use crate::per_group::{ClassFit, ClassFitOf, SmallGroups, per_class};
    use crate::score::{Labels, Probabilities};
    use crate::side_inputs::Labeled;
    use crate::sketch::row_sample::hash_of_key;

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
                ClassRowsEnded::Again(again) => open = *again,
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

    /// Three processes that know nothing but the plan, merged in two orders: the bytes of one.
    #[test]
    fn shares_of_other_processes_give_the_same_bytes() {
        use super::super::ClassShare;
        let (target, _) = rows(900, 2.0);
        for kept in [2000, 100] {
            let expected = read(ClassRows::keeping(job(&target), kept), &target, 900);
            let mut open = ClassRows::keeping(job(&target), kept);
            for passes in 1.. {
                let plan = open.plan().unwrap();
                let shares: Vec<Vec<u8>> = (0..3)
                    .map(|part| {
                        let values = &target[part * 300 * CLASSES..][..300 * CLASSES];
                        let block = Rows::new("probabilities", values, CLASSES).unwrap();
                        let share = ClassShare::begin(&plan).unwrap();
                        share.add(RowKeys::From(300 * part as u64), block).unwrap().state().unwrap()
                    })
                    .collect();
                let merged = |order: [usize; 3]| {
                    let begin = ClassShare::begin(&plan).unwrap();
                    let all = order.iter().try_fold(begin, |all, part| all.absorb(&shares[*part]));
                    all.unwrap().state().unwrap()
                };
                assert_eq!(merged([0, 1, 2]), merged([2, 0, 1]));
                match open.absorb(&merged([1, 0, 2])).unwrap().end_pass().unwrap() {
                    ClassRowsEnded::Again(again) => {
                        // What belongs to another pass is refused.
                        assert!(
                            ClassShare::begin(&again.plan().unwrap())
                                .unwrap()
                                .absorb(&shares[0])
                                .is_err()
                        );
                        open = *again;
                    }
                    ClassRowsEnded::Done(made) => {
                        assert_eq!((*made, passes), expected);
                        break;
                    }
                }
            }
        }
    }

    /// Sets are cut by the scores that the thresholds were found with, also where the law of the labels is another than that of the
    /// scores.
    #[test]
    fn labels_are_scored_as_sets_are_cut() {
        let (target, _) = rows(700, 2.0);
        let mut job = job(&target);
        let own = job.reading.law.clone();
        job.reading.score = ClassScore::Law(own.clone());
        assert_eq!(
            read(ClassRows::new(job), &target, 700).0.parts(),
            {
                let mut job = self::job(&target);
                job.reading.score = ClassScore::Own;
                read(ClassRows::new(job), &target, 700).0
            }
            .parts()
        );
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
