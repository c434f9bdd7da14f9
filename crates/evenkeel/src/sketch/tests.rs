//! Every state, cut, shuffled, written, read and merged in a random tree is the state of one pass; and bytes that were
//! changed or made up give an error or a state that merges, in little memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::row_sample::RowSample;
use super::state::{JobHeader, Kind, digest_of, open, open_header, seal};
use super::target_table::{FilledTable, TargetTable, TargetTableRecipe};
use super::{Abscissae, MOST_CANDIDATES, SandwichSketch, SketchedLaws};
use crate::check::{
    FirstCheckPass, FirstCheckState, GatheredTarget, TargetLaws, TargetLawsRecipe, TargetSketch,
};
use crate::conformal::predict_rows;
use crate::error::{Error, Result};
use crate::evaluation::{EvaluationCounts, LabelScoreCounts};
use crate::interval::Interval;
use crate::level::{FailureProbability, Miscoverage};
use crate::measure::Grid;
use crate::method::entropy_scaling::{EntropyPower, EntropyScaling};
use crate::method::fit::Pass as _;
use crate::method::label_plan::{
    FirstPass, LabelPlanSettings, LabelPlanner, LabeledLogits, PlanFirstPass, PreparedPlan,
    SecondPass, TargetRows,
};
use crate::method::quantile_transfer::QuantileTransfer;
use crate::rows::{RowKeys, Rows};
use crate::score::{Aps, Labels, Probabilities, Randomisation, Raps, Score};
use crate::seed::{Seed, Stream};
use crate::shift::KeptPredictions;
use crate::side_inputs::SideInputs;
use crate::threshold::Threshold;

// Memory

struct Counting;

thread_local! {
    /// Bytes that this thread holds now, and the most it held.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn hold(bytes: isize) {
    // Other test threads may be ending, with their counter gone already.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

#[expect(unsafe_code, reason = "counting bytes needs an allocator, which passes everything on")]
// SAFETY: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size().cast_signed());
        // SAFETY: the caller vouches for the layout, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size().cast_signed()));
        // SAFETY: the caller vouches that the pointer came from `alloc`, hence from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes held at once while `work` ran, beyond those held before.
fn peak<R>(work: impl FnOnce() -> R) -> (R, isize) {
    let (before, _) = HELD.with(Cell::get);
    HELD.with(|held| held.set((before, before)));
    let result = work();
    let (_, most) = HELD.with(Cell::get);
    (result, most - before)
}

/// Most bytes that a state of a few kilobytes may take: the fixed tables of counted states, several times.
const LITTLE: isize = 16 << 20;

// States

/// A job whose states can be filled, merged and concluded.
trait Job {
    type State: Serialize + DeserializeOwned + Clone + Debug;
    fn empty(&self) -> Self::State;
    fn add(
        &self,
        state: Self::State,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<Self::State>;
    fn merge(&self, mine: Self::State, theirs: Self::State) -> Result<Self::State>;
    /// All that follows from a state, in words.
    fn end(&self, state: Self::State) -> Result<String>;
}

struct Sandwiches(SandwichSketch, Score);

impl Job for Sandwiches {
    type State = SandwichSketch;
    fn empty(&self) -> SandwichSketch {
        self.0.clone()
    }
    fn add(
        &self,
        state: SandwichSketch,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<SandwichSketch> {
        state.add_probabilities(keys, rows, &self.1)
    }
    fn merge(&self, mine: SandwichSketch, theirs: SandwichSketch) -> Result<SandwichSketch> {
        mine.merge(&theirs)
    }
    fn end(&self, state: SandwichSketch) -> Result<String> {
        if state.rows() == 0 {
            return Ok(String::new());
        }
        let laws = (state.min_max().ok(), state.model_uniform().ok());
        let summaries = (state.min_max_summary().ok(), state.model_uniform_summary().ok());
        Ok(format!("{} {laws:?} {summaries:?}", state.rows()))
    }
}

struct Check(TargetSketch, Score);

impl Job for Check {
    type State = TargetSketch;
    fn empty(&self) -> TargetSketch {
        self.0.clone()
    }
    fn add(
        &self,
        state: TargetSketch,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<TargetSketch> {
        state.add_probabilities(keys, rows, &self.1)
    }
    fn merge(&self, mine: TargetSketch, theirs: TargetSketch) -> Result<TargetSketch> {
        mine.merge(theirs)
    }
    fn end(&self, state: TargetSketch) -> Result<String> {
        if state.rows() == 0 { Ok(String::new()) } else { Ok(format!("{:?}", state.laws()?)) }
    }
}

struct Said;

impl Job for Said {
    type State = KeptPredictions;
    fn empty(&self) -> KeptPredictions {
        KeptPredictions::new(Seed::new(5))
    }
    fn add(
        &self,
        state: KeptPredictions,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<KeptPredictions> {
        state.add(keys, rows)
    }
    fn merge(&self, mut mine: KeptPredictions, theirs: KeptPredictions) -> Result<KeptPredictions> {
        mine.merge(theirs).map(|()| mine)
    }
    fn end(&self, state: KeptPredictions) -> Result<String> {
        Ok(format!("{:?}", state.into_values()?))
    }
}

/// A sample of this many rows.
struct Sample(usize);

impl Job for Sample {
    type State = RowSample<Box<[f64]>>;
    fn empty(&self) -> Self::State {
        RowSample::new(11, self.0)
    }
    fn add(
        &self,
        mut state: Self::State,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<Self::State> {
        rows.iter().enumerate().for_each(|(offset, row)| state.add(keys.key(offset), row.into()));
        Ok(state)
    }
    fn merge(&self, mut mine: Self::State, theirs: Self::State) -> Result<Self::State> {
        mine.merge(theirs).map(|()| mine)
    }
    fn end(&self, state: Self::State) -> Result<String> {
        Ok(format!("{:?}", state.into_values()?))
    }
}

struct Entropies(usize);

impl Job for Entropies {
    type State = EntropyScaling;
    fn empty(&self) -> EntropyScaling {
        EntropyScaling::new(self.0, EntropyPower::Two).unwrap()
    }
    fn add(
        &self,
        mut state: EntropyScaling,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<EntropyScaling> {
        state.add(keys, rows).map(|()| state)
    }
    fn merge(&self, mut mine: EntropyScaling, theirs: EntropyScaling) -> Result<EntropyScaling> {
        mine.merge(&theirs).map(|()| mine)
    }
    fn end(&self, state: EntropyScaling) -> Result<String> {
        let cut = state.cut(Threshold::Finite(0.7), Miscoverage::new(0.1)?);
        Ok(format!("{} {:?}", state.rows(), cut.ok()))
    }
}

struct Transfer;

impl Job for Transfer {
    type State = QuantileTransfer;
    fn empty(&self) -> QuantileTransfer {
        QuantileTransfer::default()
    }
    fn add(
        &self,
        mut state: QuantileTransfer,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<QuantileTransfer> {
        state.add_target(keys, rows).map(|()| state)
    }
    fn merge(
        &self,
        mut mine: QuantileTransfer,
        theirs: QuantileTransfer,
    ) -> Result<QuantileTransfer> {
        mine.merge(&theirs).map(|()| mine)
    }
    fn end(&self, state: QuantileTransfer) -> Result<String> {
        let alpha = Miscoverage::new(0.2)?;
        let mut whole = QuantileTransfer::new(&[0.5, 0.7, 0.9], &[])?;
        whole.merge(&state)?;
        let rates = (whole.rate(alpha).ok(), whole.source_coverage_rate(alpha).ok());
        Ok(format!("{:?} {rates:?}", state.rows()))
    }
}

struct First(LabelPlanner);

impl Job for First {
    type State = FirstPass;
    fn empty(&self) -> FirstPass {
        self.0.first_pass()
    }
    fn add(&self, state: FirstPass, keys: RowKeys<'_>, rows: Rows<'_, f64>) -> Result<FirstPass> {
        state.add(keys, &TargetRows::Probabilities(rows))
    }
    fn merge(&self, mine: FirstPass, theirs: FirstPass) -> Result<FirstPass> {
        mine.merge(theirs)
    }
    fn end(&self, state: FirstPass) -> Result<String> {
        if state.rows() == 0 {
            Ok(String::new())
        } else {
            Ok(format!("{:?}", self.0.prepare(&state)?))
        }
    }
}

struct FirstOfCheck(FirstCheckPass, LabelPlanner);

impl Job for FirstOfCheck {
    type State = FirstCheckState;
    fn empty(&self) -> FirstCheckState {
        self.0.empty()
    }
    fn add(
        &self,
        state: FirstCheckState,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<FirstCheckState> {
        self.0.add(state, keys, rows, &SideInputs::default())
    }
    fn merge(&self, mine: FirstCheckState, theirs: FirstCheckState) -> Result<FirstCheckState> {
        self.0.check(&theirs)?;
        self.0.merge(mine, theirs)
    }
    fn end(&self, state: FirstCheckState) -> Result<String> {
        if state.plan.rows() == 0 {
            return Ok(String::new());
        }
        let FirstCheckState { target, plan } = state;
        Ok(format!("{:?} {:?}", self.0.laws.finish(target)?, self.1.prepare(&plan)?))
    }
}

struct Second(LabelPlanner, PreparedPlan);

impl Job for Second {
    type State = SecondPass;
    fn empty(&self) -> SecondPass {
        self.1.second_pass()
    }
    fn add(&self, state: SecondPass, keys: RowKeys<'_>, rows: Rows<'_, f64>) -> Result<SecondPass> {
        state.add(&self.1, keys, &TargetRows::Probabilities(rows))
    }
    fn merge(&self, mine: SecondPass, theirs: SecondPass) -> Result<SecondPass> {
        mine.merge(theirs)
    }
    fn end(&self, state: SecondPass) -> Result<String> {
        match self.0.finish(&self.1, state) {
            Ok(plan) => Ok(format!("{plan:?}")),
            // Some of the rows only.
            Err(Error::LengthMismatch { .. }) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }
}

impl Job for TargetTableRecipe {
    type State = TargetTable;
    fn empty(&self) -> TargetTable {
        TargetTableRecipe::empty(self)
    }
    fn add(
        &self,
        mut state: TargetTable,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<TargetTable> {
        TargetTableRecipe::add(self, &mut state, keys, rows).map(|()| state)
    }
    fn merge(&self, mut mine: TargetTable, theirs: TargetTable) -> Result<TargetTable> {
        TargetTableRecipe::merge(self, &mut mine, theirs).map(|()| mine)
    }
    fn end(&self, state: TargetTable) -> Result<String> {
        let rows = state.rows();
        match state.finish()? {
            FilledTable::Kept(kept) if rows > 0 => {
                Ok(format!("{:?} {:?}", kept.keys.clone(), kept.candidate_scores(&self.score)?))
            }
            FilledTable::Kept(_) => Ok(String::new()),
            FilledTable::Sketched(sketch) => Ok(format!("{sketch:?}")),
        }
    }
}

impl Job for TargetLawsRecipe {
    type State = GatheredTarget;
    fn empty(&self) -> GatheredTarget {
        TargetLawsRecipe::empty(self)
    }
    fn add(
        &self,
        mut state: GatheredTarget,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<GatheredTarget> {
        TargetLawsRecipe::add(self, &mut state, keys, rows).map(|()| state)
    }
    fn merge(&self, mut mine: GatheredTarget, theirs: GatheredTarget) -> Result<GatheredTarget> {
        TargetLawsRecipe::merge(self, &mut mine, theirs).map(|()| mine)
    }
    fn end(&self, state: GatheredTarget) -> Result<String> {
        if state.rows() == 0 { Ok(String::new()) } else { Ok(format!("{:?}", self.finish(state)?)) }
    }
}

/// Labels are the keys, modulo the classes.
struct Evaluated(usize);

impl Job for Evaluated {
    type State = EvaluationCounts;
    fn empty(&self) -> EvaluationCounts {
        EvaluationCounts::new(self.0).unwrap()
    }
    fn add(
        &self,
        state: EvaluationCounts,
        keys: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<EvaluationCounts> {
        let sets = predict_rows(0, rows, &Score::Lac, Threshold::Finite(0.6))?;
        let label = |row: usize| (keys.key(row) % self.0 as u64) as usize;
        state.add(0, &sets, &(0..rows.rows()).map(label).collect::<Vec<usize>>())
    }
    fn merge(&self, mine: EvaluationCounts, theirs: EvaluationCounts) -> Result<EvaluationCounts> {
        mine.merge(&theirs)
    }
    fn end(&self, state: EvaluationCounts) -> Result<String> {
        Ok(format!("{:?}", state.finish(Miscoverage::new(0.1)?, None).ok()))
    }
}

struct LabelScores;

impl Job for LabelScores {
    type State = LabelScoreCounts;
    fn empty(&self) -> LabelScoreCounts {
        LabelScoreCounts::at(vec![0.1, 0.4, 0.5, 0.9])
    }
    fn add(
        &self,
        state: LabelScoreCounts,
        _: RowKeys<'_>,
        rows: Rows<'_, f64>,
    ) -> Result<LabelScoreCounts> {
        state.add(0, &rows.iter().map(|row| 1.0 - row[0]).collect::<Vec<f64>>())
    }
    fn merge(&self, mine: LabelScoreCounts, theirs: LabelScoreCounts) -> Result<LabelScoreCounts> {
        mine.merge(&theirs)
    }
    fn end(&self, state: LabelScoreCounts) -> Result<String> {
        Ok(format!("{:?}", state.law().ok()))
    }
}

// Data

/// Rows of probabilities; a third of them are ties, zeros or sure of themselves.
fn table(rows: usize, classes: usize, seed: u64) -> Vec<f64> {
    let mut stream = Seed::new(seed).stream("wire");
    let mut values = Vec::with_capacity(rows * classes);
    for _ in 0..rows {
        let power = [1.0, 6.0, 20.0][stream.below(3)];
        let raw: Vec<f64> = match stream.below(6) {
            0 => (0..classes).map(|_| (1 + stream.below(3)) as f64).collect(),
            1 => {
                let sure = stream.below(classes);
                (0..classes).map(|class| f64::from(u8::from(class == sure))).collect()
            }
            _ => (0..classes).map(|_| stream.uniform().powf(power) + 1e-9).collect(),
        };
        let total: f64 = raw.iter().sum();
        values.extend(raw.iter().map(|value| value / total));
    }
    values
}

fn rows(values: &[f64], classes: usize) -> Rows<'_, f64> {
    Rows::new("probabilities", values, classes).unwrap()
}

fn planner(classes: usize, score: Score, kept_cells: usize) -> LabelPlanner {
    let values = table(40, classes, 99);
    let labels = Labels::new((0..40).map(|row| row % classes).collect(), classes).unwrap();
    let probabilities = Probabilities::new(&values, classes).unwrap();
    let labeled = LabeledLogits::of_probabilities(&probabilities, &labels, &score).unwrap();
    let delta = FailureProbability::new(0.05).unwrap();
    let settings = LabelPlanSettings { kept_cells, ..LabelPlanSettings::new(delta) };
    LabelPlanner::new(labeled, score, settings, Seed::new(4)).unwrap()
}

fn abscissae(score: &Score, classes: usize) -> Abscissae {
    let range = score.range(classes);
    let scores = [0.013, 0.2, 0.2 + 1e-9, 0.77];
    Abscissae::of_grid_and_points(&Grid::new(range, 21).unwrap(), &scores).unwrap()
}

fn header() -> JobHeader {
    JobHeader {
        method: "ot".to_owned(),
        settings: vec![("seed".to_owned(), "1".to_owned()), ("alpha".to_owned(), "0.1".to_owned())],
        pass: 1,
        rows: None,
        calibration: [7; 32],
    }
}

fn draws() -> Randomisation {
    Randomisation::Uniform(Seed::new(8))
}

fn score(which: u8) -> Score {
    match which % 5 {
        0 => Score::Lac,
        1 => Score::Aps(Aps { randomisation: draws() }),
        2 => Score::Raps(Raps::new(0.05, 1, draws()).unwrap()),
        3 => Score::Margin,
        _ => Score::Aps(Aps::default()),
    }
}

/// Runs something for every kind of job.
macro_rules! for_every_job {
    ($classes:expr, $score:expr, $values:expr, $run:ident, $($more:expr),*) => {{
        let (classes, score, values): (usize, Score, &[f64]) = ($classes, $score, $values);
        let points = || abscissae(&score, classes);
        for laws in [SketchedLaws::Extremes, SketchedLaws::ModelUniform, SketchedLaws::Both] {
            $run("sandwiches", &Sandwiches(SandwichSketch::new(points(), laws), score), $($more),*);
        }
        let range = score.range(classes);
        let check = TargetSketch::new(&[0.3, 0.31], range, 9, Seed::new(2)).unwrap();
        $run("check", &Check(check, score), $($more),*);
        let laws = TargetLawsRecipe::new(&[0.3, 0.31], score, classes, 9, Seed::new(2)).unwrap();
        $run("target laws", &laws, $($more),*);
        $run("predictions", &Said, $($more),*);
        for capacity in [1, 7, 1000] {
            $run("sample", &Sample(capacity), $($more),*);
        }
        $run("entropies", &Entropies(classes), $($more),*);
        $run("transfer", &Transfer, $($more),*);
        $run("evaluation", &Evaluated(classes), $($more),*);
        $run("label scores", &LabelScores, $($more),*);
        for kept_cells in [8 * classes, 1 << 20] {
            let planner = planner(classes, score, kept_cells);
            $run("first pass", &First(planner.clone()), $($more),*);
            let pass = FirstCheckPass {
                laws: laws.clone(),
                plan: PlanFirstPass { empty: planner.first_pass() },
            };
            $run("first pass of a check", &FirstOfCheck(pass, planner.clone()), $($more),*);
            let block = TargetRows::Probabilities(rows(values, classes));
            let first = planner.first_pass().add(RowKeys::From(0), &block).unwrap();
            let prepared = planner.prepare(&first).unwrap();
            $run("second pass", &Second(planner, prepared), $($more),*);
        }
        for sketch in [None, Some((points(), SketchedLaws::Both))] {
            $run("table", &TargetTableRecipe { classes, score, sketch }, $($more),*);
        }
    }};
}

// Any cut, any tree

struct Cut<'a> {
    values: &'a [f64],
    classes: usize,
    keys: &'a [u64],
    parts: usize,
    seed: u64,
}

/// Rows dealt to parts at random and shuffled, each part's state sent as bytes, merged in a random tree.
fn in_pieces<J: Job>(job: &J, cut: &Cut<'_>) -> J::State {
    let mut stream = Seed::new(cut.seed).stream("cut");
    let mut order: Vec<usize> = (0..cut.keys.len()).collect();
    shuffle(&mut order, &mut stream);
    let mut states: Vec<Vec<u8>> = Vec::new();
    let mut from = 0;
    for part in 0..cut.parts {
        let left = order.len() - from;
        let size = if part + 1 == cut.parts { left } else { stream.below(left + 1) };
        let rows_of_part = &order[from..from + size];
        from += size;
        let mut state = job.empty();
        for block in rows_of_part.chunks(1 + stream.below(9)) {
            let keys: Vec<u64> = block.iter().map(|row| cut.keys[*row]).collect();
            let values: Vec<f64> = (block.iter())
                .flat_map(|row| cut.values[row * cut.classes..][..cut.classes].to_vec())
                .collect();
            state = job.add(state, RowKeys::Each(&keys), rows(&values, cut.classes)).unwrap();
        }
        states.push(seal(Kind::State, &header(), &state).unwrap());
    }
    while states.len() > 1 {
        let mine = states.swap_remove(stream.below(states.len()));
        let theirs = states.swap_remove(stream.below(states.len()));
        let [mine, theirs] = [mine, theirs].map(|bytes| {
            let (found, state) = open::<J::State>(Kind::State, &bytes).unwrap();
            found.require_same(&header()).unwrap();
            state
        });
        let merged = job.merge(mine, theirs).unwrap();
        states.push(seal(Kind::State, &header(), &merged).unwrap());
    }
    open(Kind::State, &states[0]).unwrap().1
}

fn shuffle<T>(list: &mut [T], stream: &mut Stream) {
    for end in (1..list.len()).rev() {
        list.swap(end, stream.below(end + 1));
    }
}

fn same_however_cut<J: Job>(name: &str, job: &J, cut: &Cut<'_>) {
    let whole_rows = rows(cut.values, cut.classes);
    let whole = job.add(job.empty(), RowKeys::Each(cut.keys), whole_rows).unwrap();
    let pieces = in_pieces(job, cut);
    let bytes = |state: &J::State| seal(Kind::State, &header(), state).unwrap();
    assert_eq!(bytes(&whole), bytes(&pieces), "bytes of {name}");
    if cut.keys.iter().enumerate().all(|(row, key)| row as u64 == *key) {
        let numbered = job.add(job.empty(), RowKeys::From(0), whole_rows).unwrap();
        assert_eq!(bytes(&whole), bytes(&numbered), "row numbers of {name}");
    }
    assert_eq!(job.end(whole).unwrap(), job.end(pieces).unwrap(), "{name}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn every_state_is_the_same_however_rows_are_cut_and_merged(
        count in 1usize..70,
        classes in 2usize..6,
        parts in 1usize..7,
        seed in any::<u64>(),
        which in any::<u8>(),
        numbered in any::<bool>(),
    ) {
        let values = table(count, classes, seed);
        let mut stream = Seed::new(seed).stream("keys");
        let mut keys: Vec<u64> = (0..count as u64).collect();
        if !numbered {
            let odd = Seed::new(seed).child("key", 0).get() | 1;
            // Distinct, because an odd factor keeps whole numbers apart; some close to the end of all numbers.
            keys = keys.iter().map(|key| u64::MAX.wrapping_sub(key.wrapping_mul(odd))).collect();
            shuffle(&mut keys, &mut stream);
        }
        let cut = Cut { values: &values, classes, keys: &keys, parts, seed };
        for_every_job!(classes, score(which), &values, same_however_cut, &cut);
    }
}

/// More rows than are kept one by one, for each of the states that then begin to count.
#[test]
fn counted_states_are_the_same_however_rows_are_cut_and_merged() {
    let values = table(70_000, 2, 3);
    let keys: Vec<u64> = (0..70_000).collect();
    let cut = |values, parts, seed| Cut { values, classes: 2, keys: &keys, parts, seed };
    same_however_cut("entropies", &Entropies(2), &cut(&values, 5, 1));
    same_however_cut("transfer", &Transfer, &cut(&values, 4, 2));
    same_however_cut("predictions", &Said, &cut(&values, 3, 3));
    // Nearly all atoms beyond the largest calibration score, and more of them than are kept.
    let planner = {
        let sure: Vec<f64> =
            (0..20).flat_map(|row| [1.0 - 1e-4 * f64::from(row), 1e-4 * f64::from(row)]).collect();
        let labels = Labels::new(vec![0; 20], 2).unwrap();
        let probabilities = Probabilities::new(&sure, 2).unwrap();
        let labeled =
            LabeledLogits::of_probabilities(&probabilities, &labels, &Score::Lac).unwrap();
        let settings = LabelPlanSettings::new(FailureProbability::new(0.05).unwrap());
        LabelPlanner::new(labeled, Score::Lac, settings, Seed::new(0)).unwrap()
    };
    let block = TargetRows::Probabilities(rows(&values, 2));
    let first = planner.first_pass().add(RowKeys::From(0), &block).unwrap();
    let prepared = planner.prepare(&first).unwrap();
    same_however_cut("second pass", &Second(planner, prepared), &cut(&values, 6, 4));
}

/// A million confidences and more.
#[test]
fn a_first_pass_that_counts_is_the_same_however_rows_are_cut_and_merged() {
    let count = (1 << 20) + 1000;
    let some = table(1000, 2, 5);
    let values: Vec<f64> = some.iter().copied().cycle().take(2 * count).collect();
    let first = First(planner(2, Score::Lac, 64));
    let part = |range: std::ops::Range<usize>| {
        let block = rows(&values[2 * range.start..2 * range.end], 2);
        let state = first.add(first.empty(), RowKeys::From(range.start as u64), block).unwrap();
        let bytes = seal(Kind::State, &header(), &state).unwrap();
        open::<FirstPass>(Kind::State, &bytes).unwrap().1
    };
    let whole = part(0..count);
    let pieces = first.merge(part(700_000..count), part(0..300_000)).unwrap();
    let pieces = first.merge(part(300_000..700_000), pieces).unwrap();
    let bytes = |state: &FirstPass| seal(Kind::State, &header(), state).unwrap();
    assert!(bytes(&whole) == bytes(&pieces));
    assert_eq!(first.end(whole).unwrap(), first.end(pieces).unwrap());
}

/// Which form a table ends as depends on the number of its cells alone; whatever the parts, the bits are the same.
#[test]
fn a_table_is_sketched_when_its_cells_are_too_many_in_all() {
    let classes = 1000;
    let most = MOST_CANDIDATES / classes;
    let values = table(most + 1, classes, 6);
    for which in [0, 1] {
        let score = score(which);
        let sketch = Some((abscissae(&score, classes), SketchedLaws::Both));
        let recipe = TargetTableRecipe { classes, score, sketch };
        for count in [most, most + 1] {
            let part = |range: std::ops::Range<usize>| {
                let block = rows(&values[range.start * classes..range.end * classes], classes);
                let mut table = TargetTableRecipe::empty(&recipe);
                for start in (0..block.rows()).step_by(500) {
                    let end = block.rows().min(start + 500);
                    let piece = rows(&block.values()[start * classes..end * classes], classes);
                    let keys = RowKeys::From((range.start + start) as u64);
                    TargetTableRecipe::add(&recipe, &mut table, keys, piece).unwrap();
                }
                table
            };
            let (whole, mut merged) = (part(0..count), part(1500..count));
            TargetTableRecipe::merge(&recipe, &mut merged, part(0..1500)).unwrap();
            let bytes = |table: &TargetTable| postcard::to_allocvec(table).unwrap();
            assert!(bytes(&whole) == bytes(&merged));
            let read: TargetTable = postcard::from_bytes(&bytes(&merged)).unwrap();
            match (whole.finish().unwrap(), read.finish().unwrap()) {
                (FilledTable::Kept(whole), FilledTable::Kept(read)) => {
                    assert!(count == most && whole == read);
                }
                (FilledTable::Sketched(whole), FilledTable::Sketched(read)) => {
                    assert!(count > most && whole == read);
                    let all = rows(&values, classes);
                    let laws = SketchedLaws::Both;
                    let points = abscissae(&score, classes);
                    let exact =
                        SandwichSketch::new(points, laws).of_block(RowKeys::From(0), all, &score);
                    assert!(*whole == exact.unwrap());
                }
                _ => panic!("two forms of {count} rows"),
            }
        }
    }
}

/// A check takes exact laws of few rows and sketched ones of many, as tables in memory and sketches give them.
#[test]
fn gathered_laws_are_those_of_a_table_or_of_a_sketch() {
    let (classes, seed, scores) = (1000, Seed::new(3), [0.25, 0.5]);
    let values = table(MOST_CANDIDATES / classes + 1, classes, 8);
    for score in [Score::Lac, score(1)] {
        let recipe = TargetLawsRecipe::new(&scores, score, classes, 50, seed).unwrap();
        let laws = |cells: &[f64]| {
            let mut gathered = TargetLawsRecipe::empty(&recipe);
            for (index, block) in cells.chunks(700 * classes).enumerate() {
                let keys = RowKeys::From(700 * index as u64);
                let block = rows(block, classes);
                TargetLawsRecipe::add(&recipe, &mut gathered, keys, block).unwrap();
            }
            recipe.finish(gathered).unwrap()
        };
        let few = &values[..900 * classes];
        let exact = Probabilities::new(few, classes).unwrap();
        assert!(laws(few) == TargetLaws::of_probabilities(&exact, &score, seed).unwrap());
        let sketch = TargetSketch::new(&scores, score.range(classes), 50, seed).unwrap();
        let sketch = sketch.add_probabilities(RowKeys::From(0), rows(&values, classes), &score);
        assert!(laws(&values) == sketch.unwrap().laws().unwrap());
    }
}

#[test]
fn a_table_names_keys_and_stays_as_it_was_when_a_block_fails() {
    let recipe = TargetTableRecipe { classes: 2, score: Score::Lac, sketch: None };
    let mut table = TargetTableRecipe::empty(&recipe);
    TargetTableRecipe::add(
        &recipe,
        &mut table,
        RowKeys::Each(&[9, 3]),
        rows(&[0.5, 0.5, 0.2, 0.8], 2),
    )
    .unwrap();
    let bad = [0.5, 0.5, 0.9, 0.9];
    let error = TargetTableRecipe::add(&recipe, &mut table, RowKeys::Each(&[4, 77]), rows(&bad, 2));
    assert!(matches!(error, Err(Error::NotNormalised { row: 77, .. })), "{error:?}");
    assert_eq!(table.rows(), 2);
    let error =
        TargetTableRecipe::add(&recipe, &mut table, RowKeys::Each(&[4]), rows(&[0.5; 4], 2));
    assert!(matches!(error, Err(Error::LengthMismatch { .. })));
    let FilledTable::Kept(kept) = table.clone().finish().unwrap() else { panic!("sketched") };
    assert_eq!(kept.keys, [3, 9]);
    let candidates = kept.candidate_scores(&Score::Lac).unwrap();
    assert_eq!(candidates.row(0), [1.0 - 0.2, 1.0 - 0.8]);
    TargetTableRecipe::add(&recipe, &mut table, RowKeys::From(9), rows(&[0.5; 2], 2)).unwrap();
    assert!(matches!(table.finish(), Err(Error::DuplicateKey { key: 9 })));
}

// The envelope

#[test]
fn bytes_of_something_else_are_refused_in_words() {
    let sealed = seal(Kind::State, &header(), &17_u64).unwrap();
    assert_eq!(open::<u64>(Kind::State, &sealed).unwrap(), (header(), 17));
    let says = |bytes: &[u8]| open::<u64>(Kind::State, bytes).unwrap_err().to_string();
    assert!(says(b"{}").contains("not a state of evenkeel"));
    assert!(says(b"").contains("not a state of evenkeel"));
    let mut other = sealed.clone();
    other[4] = 9;
    assert!(says(&other).contains("version 9"));
    assert!(matches!(
        open::<u64>(Kind::Plan, &sealed),
        Err(Error::OtherKind { found: "a state", expected: "a plan" })
    ));
    for end in MAGIC_END..sealed.len() {
        assert!(says(&sealed[..end]).contains("damaged"), "cut at {end}");
    }
    let mut longer = sealed.clone();
    longer.push(0);
    assert!(says(&longer).contains("damaged"));
    let longer = resealed(&[&sealed[..sealed.len() - 32], &[0]].concat());
    assert!(says(&longer).contains("bytes follow its end"));
    for at in 7..sealed.len() {
        let mut flipped = sealed.clone();
        flipped[at] ^= 4;
        assert!(says(&flipped).contains("damaged"), "changed at {at}");
    }
    assert_eq!(open_header(Kind::State, &sealed).unwrap().0, header());
}

const MAGIC_END: usize = 4;

#[test]
fn another_job_is_named_by_the_first_setting_that_differs() {
    let differs = |change: fn(&mut JobHeader)| {
        let mut other = header();
        change(&mut other);
        match header().require_same(&other) {
            Err(Error::OtherJob { what, mine, theirs }) => (what, mine, theirs),
            found => panic!("{found:?}"),
        }
    };
    assert_eq!(differs(|job| job.method = "auto".into()).0, "the method");
    let changed = differs(|job| job.settings[1].1 = "0.2".into());
    assert_eq!(changed, ("alpha".to_owned(), "0.1".to_owned(), "0.2".to_owned()));
    assert_eq!(differs(|job| job.settings.truncate(1)).2, "not set");
    assert_eq!(differs(|job| job.settings.push(("x".into(), "y".into()))).1, "not set");
    assert_eq!(differs(|job| job.pass = 2).0, "the pass");
    assert!(differs(|job| job.calibration[3] = 0).0.contains("calibration data"));
    assert_eq!(differs(|job| job.settings.reverse()).0, "the list of settings");
    header().require_same(&header()).unwrap();
}

#[test]
fn the_digest_of_calibration_data_tells_them_apart() {
    let scores = [0.5, 0.25];
    let labels = Labels::new(vec![0, 1], 2).unwrap();
    let other_labels = Labels::new(vec![1, 1], 2).unwrap();
    let none = SideInputs::default();
    let numbers = [1.0, 2.0];
    let ratios = SideInputs { ratios: Some(&numbers), ..none };
    let weights = SideInputs { weights: Some(&numbers), ..none };
    let all = [
        digest_of(&scores, &labels, &none),
        digest_of(&numbers, &labels, &none),
        digest_of(&scores, &other_labels, &none),
        digest_of(&scores, &labels, &ratios),
        digest_of(&scores, &labels, &weights),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(all[index + 1..].iter().all(|other| other != one));
    }
}

#[test]
fn settings_read_back_are_checked() {
    for score in (0..5).map(score) {
        let bytes = postcard::to_allocvec(&score).unwrap();
        assert_eq!(postcard::from_bytes::<Score>(&bytes).unwrap(), score);
    }
    let bytes = postcard::to_allocvec(&(1.0_f64, 0.0_f64)).unwrap();
    assert!(postcard::from_bytes::<Interval>(&bytes).is_err());
    let raps = (2_u32, (0_u32, f64::NAN, 5_u64));
    assert!(postcard::from_bytes::<Score>(&postcard::to_allocvec(&raps).unwrap()).is_err());
}

/// Draws of any row can be addressed, to the end of all numbers.
#[test]
fn scores_of_rows_with_any_key() {
    let table = [0.5, 0.3, 0.2, 0.1, 0.1, 0.8];
    let probabilities = Probabilities::new(&table, 3).unwrap();
    for score in (0..5).map(score) {
        let keys = [u64::MAX, 1 << 63];
        let at =
            |keys: RowKeys<'_>, values: &[f64]| score.candidate_scores_at(keys, values.to_vec(), 3);
        let scored = at(RowKeys::Each(&keys), &table).unwrap();
        let alone = at(RowKeys::From(u64::MAX), &table[..3]).unwrap();
        assert_eq!(scored.row(0), alone.row(0));
        assert_eq!(
            score.candidate_scores(&probabilities).unwrap(),
            at(RowKeys::From(0), &table).unwrap()
        );
        assert!(at(RowKeys::Each(&keys[..1]), &table).is_err());
    }
}

// Hostile bytes

/// Bytes with a checksum that fits.
fn resealed(before_checksum: &[u8]) -> Vec<u8> {
    [before_checksum, &Sha256::digest(before_checksum)[..]].concat()
}

/// A state with something wrong behind its header, and a checksum that fits.
fn mutated(sealed: &[u8], stream: &mut Stream) -> Vec<u8> {
    let (_, payload) = open_header(Kind::State, sealed).unwrap();
    let from = sealed.len() - 32 - payload.len();
    let mut bytes = sealed[..sealed.len() - 32].to_vec();
    let place = |stream: &mut Stream, bytes: &[u8]| from + stream.below(bytes.len() - from);
    for _ in 0..1 + stream.below(3) {
        if bytes.len() <= from + 1 {
            break;
        }
        let at = place(stream, &bytes);
        match stream.below(8) {
            0 | 1 => bytes[at] ^= 1 << stream.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][stream.below(5)],
            3 => bytes.truncate(at),
            // A huge number in the place of a small one: lengths, counts, keys.
            4 => {
                let huge: &[u8] = match stream.below(3) {
                    0 => &[0xff, 0xff, 0xff, 0xff, 0x0f],
                    1 => &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
                    _ => &[
                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03,
                    ],
                };
                bytes.splice(at..at + 1, huge.iter().copied());
            }
            // Floats that are none, or larger than all.
            5 if at + 8 <= bytes.len() => {
                let odd = [f64::NAN, f64::INFINITY, -1.0, 1e308, -0.0, 2.0][stream.below(6)];
                bytes[at..at + 8].copy_from_slice(&odd.to_le_bytes());
            }
            6 => drop(bytes.remove(at)),
            _ => {
                let other = place(stream, &bytes);
                let (low, high) = (at.min(other), at.max(other));
                let piece = bytes[low..high.min(low + 64)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    resealed(&bytes)
}

/// How many were tried and read.
type Tried = Cell<(usize, usize)>;

fn survive<J: Job>(name: &str, job: &J, (block, times, tried): &(Rows<'_, f64>, usize, Tried)) {
    let state = job.add(job.empty(), RowKeys::From(1000), *block).unwrap();
    let sealed = seal(Kind::State, &header(), &state).unwrap();
    let mut stream = Seed::new(name.len() as u64).stream(name);
    for _ in 0..*times {
        let bytes = mutated(&sealed, &mut stream);
        let ((), most) = peak(|| {
            let (all, read) = tried.get();
            tried.set((all + 1, read));
            let Ok((_, hostile)) = open::<J::State>(Kind::State, &bytes) else { return };
            tried.set((all + 1, read + 1));
            // What it says, merged into a good state and the other way round, more than once.
            let merged = job.merge(state.clone(), hostile.clone());
            let merged = merged.and_then(|merged| job.merge(hostile.clone(), merged));
            if let Ok(merged) = merged {
                if let Ok(added) = job.add(merged.clone(), RowKeys::From(0), *block) {
                    let _ = seal(Kind::State, &header(), &added).unwrap();
                }
                let _ = job.end(merged);
            }
            let _ = job.end(hostile);
        });
        assert!(most < LITTLE, "{name} took {most} bytes");
    }
}

#[test]
fn hostile_states_are_refused_or_merge() {
    let tried = Cell::new((0, 0));
    for (seed, which) in [(1, 0), (2, 1)] {
        let values = table(25, 3, seed);
        let input = (rows(&values, 3), 3000, tried.clone());
        for_every_job!(3, score(which), &values, survive, &input);
        tried.set(input.2.get());
    }
    let (all, read) = tried.get();
    assert!(all >= 100_000, "{all}");
    // The decoders are really reached, and not everything is refused.
    assert!(read > all / 50 && read < all, "{read} of {all} were read");
}

#[test]
fn hostile_plans_are_refused_or_work() {
    let values = table(30, 3, 1);
    let planner = planner(3, score(1), 1 << 20);
    let block = TargetRows::Probabilities(rows(&values, 3));
    let first = planner.first_pass().add(RowKeys::From(0), &block).unwrap();
    let prepared = planner.prepare(&first).unwrap();
    let sealed = seal(Kind::State, &header(), &prepared).unwrap();
    let (_, back) = open::<PreparedPlan>(Kind::State, &sealed).unwrap();
    assert_eq!(format!("{prepared:?}"), format!("{back:?}"));
    // A second pass begun by a plan that was read back is that of the plan.
    let second = back.second_pass().add(&back, RowKeys::From(0), &block).unwrap();
    let mut other =
        prepared.clone().second_pass().add(&prepared, RowKeys::From(0), &block).unwrap();
    other = other.merge(second).unwrap();
    assert_eq!(other.rows(), 60);
    let mut stream = Seed::new(1).stream("plans");
    let mut read = 0;
    for _ in 0..10_000 {
        let bytes = mutated(&sealed, &mut stream);
        let ((), most) = peak(|| {
            let Ok((_, hostile)) = open::<PreparedPlan>(Kind::State, &bytes) else { return };
            read += 1;
            if let Ok(pass) = hostile.second_pass().add(&hostile, RowKeys::From(0), &block) {
                let _ = planner.finish(&hostile, pass);
            }
        });
        assert!(most < LITTLE, "{most} bytes");
    }
    assert!(read > 100, "{read}");
    // Recipes of tables travel too.
    let sketch = Some((abscissae(&Score::Lac, 3), SketchedLaws::Extremes));
    let recipe = TargetTableRecipe { classes: 3, score: score(2), sketch };
    let bytes = seal(Kind::Plan, &header(), &recipe).unwrap();
    assert_eq!(open::<TargetTableRecipe>(Kind::Plan, &bytes).unwrap().1, recipe);
}

/// Sums of other plans and tables of other recipes never add up.
#[test]
fn states_of_other_plans_and_recipes_do_not_merge() {
    let values = table(30, 3, 1);
    let block = TargetRows::Probabilities(rows(&values, 3));
    let plan = |first_rows: usize| {
        let planner = planner(3, Score::Lac, 1 << 20);
        let part = TargetRows::Probabilities(rows(&values[..3 * first_rows], 3));
        planner.prepare(&planner.first_pass().add(RowKeys::From(0), &part).unwrap()).unwrap()
    };
    let (mine, theirs) = (plan(30), plan(20));
    let [a, b] = [&mine, &theirs]
        .map(|plan| plan.second_pass().add(plan, RowKeys::From(0), &block).unwrap());
    assert!(matches!(a.merge(b), Err(Error::IncompatibleSketches { what: "plan" })));
    let recipe = |classes| TargetTableRecipe { classes, score: Score::Lac, sketch: None };
    let filled = |classes: usize| {
        let mut table = TargetTableRecipe::empty(&recipe(classes));
        let row = vec![1.0 / classes as f64; classes];
        let keys = RowKeys::From(classes as u64);
        TargetTableRecipe::add(&recipe(classes), &mut table, keys, rows(&row, classes)).unwrap();
        table
    };
    let mut table = filled(3);
    assert!(TargetTableRecipe::merge(&recipe(3), &mut table, filled(4)).is_err());
    assert!(TargetTableRecipe::merge(&recipe(3), &mut table, filled(3)).is_ok());
}
