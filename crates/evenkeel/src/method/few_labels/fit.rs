//! `few-labels` as a method: one pass while all rows are kept, a second for the law where they are too many.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::evidence::{FewLabelsEvidence, Measured};
use super::law::{ScoreLaw, Scoring, TableReader, spread_at};
use super::posterior::{Change, TableWeights};
use super::second_pass::{LawPass, LawState};
use super::settings::{ChangeBelief, FewLabelsSettings};
use super::shares::UpdatedShares;
use super::tables::{LabelTables, TablesOf, label_free_law, own_law};
use super::thresholds::LabelThresholds;
use crate::error::{Error, Input, PointSet, Result, SideInput, User, require_same_length};
use crate::interval::Interval;
use crate::label_law::{
    ClassGroups, FirstPass, Iterating, KeptRows, LabelLawMap, ShiftStatistics, floored_logs,
};
use crate::level::Miscoverage;
use crate::measure::Weights;
use crate::method::auto::{AutoFirstPass, AutoFirstState, require_permutations};
use crate::method::fit::{Next, Open, Pass, Scored, Stage};
use crate::method::label_plan::{self, LabelPlanSettings, LabelPlanner, PlanFirstPass};
use crate::method::row_pass::normalised;
use crate::method::{About, Concluded, Evidence, Guarantee, Need, Needs, Rule, Sorted};
use crate::rows::{Real, RowKeys, Rows};
use crate::score::{Score, row_scale};
use crate::seed::Seed;
use crate::shift::{
    KeptPredictions, Prediction, RandomDrawTest, ShiftTest, prediction, predictions,
    random_draw_test, sampled, shift_test,
};
use crate::side_inputs::{SideInputs, TargetLabels};
use crate::sketch::{Abscissae, RowMarks, RowSample, contradiction, marks_of_rows};
use crate::threshold::TestMass;

pub(crate) const ABOUT: About = About {
    name: "few-labels",
    summary: "Label laws averaged by how likely they make the labels of a few target points",
    assumption: "target labels drawn at random, and a label law near the truth; labels outweigh it as they grow in number",
    needs: Needs { labels: Need::Required, ..Needs::NOTHING },
};

/// What does not change from pass to pass.
#[derive(Debug)]
struct Job {
    planner: LabelPlanner,
    settings: FewLabelsSettings,
    alpha: Miscoverage,
    labels: TargetLabels,
    score: Score,
    /// A label law that scores both data sets whatever the posterior will be: that of a calibration in use.
    given_law: Option<LabelLawMap>,
}

impl Job {
    fn iterating(&self) -> Iterating {
        let LabelPlanSettings { tolerance, most_iterations, .. } = self.settings.plan;
        Iterating { tolerance, most_iterations }
    }
}

/// The calibration side, before the target rows.
#[derive(Debug)]
pub(crate) struct FewLabelsFirst {
    job: Job,
    seed: Seed,
    /// What the model says of the calibration points; empty where no test is made.
    before: Vec<Prediction>,
}

/// The posterior, before the law over all rows.
#[derive(Debug)]
pub(crate) struct FewLabelsSecond {
    job: Job,
    found: Box<Found>,
    labeled: LabeledScores,
    /// How far the tables disagree, at the places of the pass.
    spread: Vec<f64>,
}

/// What the first pass found.
#[derive(Debug)]
struct Found {
    m: u64,
    planned_rows: usize,
    test: Option<ShiftTest>,
    change: Change,
    groups: ClassGroups,
    statistics: ShiftStatistics,
    shares: UpdatedShares,
    tables: LabelTables,
    weights: TableWeights,
    scoring: Scoring,
    marks: Vec<u32>,
    draw: Option<RandomDrawTest>,
    impossible: usize,
}

/// Scores of the labels, increasing, and their shares.
#[derive(Debug, Clone)]
struct LabeledScores {
    scores: Vec<f64>,
    shares: Vec<f64>,
}

/// Looks at the calibration data; the target rows are still to come.
pub(crate) fn begin<T: Real>(
    calibration: &Scored<'_, T>,
    settings: FewLabelsSettings,
) -> Result<Open<FewLabelsFirst>> {
    let labels = calibration.side.labels.ok_or(Error::Missing {
        what: Input::Side(SideInput::Labels, PointSet::Target),
        whose: User::Method(ABOUT.name),
    })?;
    let classes = calibration.classes();
    require_same_length("classes of target labels", labels.classes(), "classes", classes)?;
    if !labels.shares().is_empty() && settings.guarantee != Guarantee::None {
        return Err(Error::Unsupported {
            what: "a guarantee with unequal probabilities of being labeled",
            instead: "draw the rows to label with equal probability, or ask for no guarantee",
        });
    }
    let seed = calibration.context.seed;
    let before = match settings.change {
        ChangeBelief::Tested { level, permutations } => {
            require_permutations(level, permutations)?;
            sampled(predictions(calibration.probabilities), seed)?
        }
        ChangeBelief::Changed | ChangeBelief::Unchanged => Vec::new(),
    };
    let planner = label_plan::planner(calibration, settings.plan)?;
    let pass = LabelsPass {
        auto: AutoFirstPass::new(&planner, seed),
        rows: kept_rows(&planner, seed, settings.plan.kept_cells),
        labels: labels.clone(),
        others: fitted_to_others(calibration.context.score, settings.guarantee)
            .then(|| PlanFirstPass { empty: planner.first_pass() }),
    };
    let job = Job {
        planner,
        settings,
        alpha: calibration.context.alpha,
        labels: labels.clone(),
        score: calibration.context.score.with_draws_for("today"),
        given_law: None,
    };
    Ok(Open::new(FewLabelsFirst { job, seed, before }, pass))
}

/// Whether the score is a law of the rows without a label.
fn fitted_to_others(score: Score, guarantee: Guarantee) -> bool {
    score == Score::Plan && guarantee != Guarantee::None
}

/// A sample of the rows that the plans are fitted to, with their probabilities: scores and laws need these to the bit, and logits
/// are rounded logarithms of them.
fn kept_rows(planner: &LabelPlanner, seed: Seed, cells: usize) -> RowSample<Box<[f64]>> {
    let capacity = (cells / planner.labeled().classes()).max(1);
    RowSample::new(seed.child("label-plan-rows", 0).get(), capacity)
}

impl FewLabelsFirst {
    /// The same with both data sets scored by a law that is known already, under the plan score.
    ///
    /// # Errors
    /// If it is a law of other classes.
    pub(crate) fn scored_by(mut self, law: LabelLawMap) -> Result<Self> {
        law.require_classes(self.job.planner.labeled().classes())?;
        self.job.given_law = Some(law);
        Ok(self)
    }
}

impl Stage for FewLabelsFirst {
    type Pass = LabelsPass;

    fn end_pass(self, _: LabelsPass, state: LabelsState, m: u64) -> Result<Next> {
        let Self { job, seed, before } = self;
        let LabelsState { auto: (predictions, first), rows, labeled, others } = state;
        let labeled = require_all(&job.labels, labeled, m)?;
        let draw = draw_test(&job.labels, &labeled, predictions.clone(), seed)?;
        let (change, test) = match job.settings.change {
            ChangeBelief::Changed => (Change::Found, None),
            ChangeBelief::Unchanged => (Change::NotFound, None),
            ChangeBelief::Tested { level, permutations } => {
                let test = shift_test(&before, &predictions.into_values()?, permutations, seed)?;
                let change = if test.rejects(level) { Change::Found } else { Change::NotFound };
                (change, Some(test))
            }
        };
        let groups = ClassGroups::new(job.planner.labeled(), m);
        let statistics = job.planner.statistics(&groups, &first.said()?);
        let mut counts = vec![0; groups.len()];
        job.labels.as_slice().iter().for_each(|label| counts[groups.group_of[*label]] += 1);
        let shares = UpdatedShares::new(&groups.prior, &counts);
        let all_rows = m <= rows.capacity() as u64;
        let rows = rows.into_rows()?;
        let logits = KeptRows::of(&first)?.into_logits();
        if logits.is_empty() || (all_rows && rows.len() as u64 != m) {
            return Err(contradiction("its sample does not hold as many rows as were seen"));
        }
        let scoring = match (job.score, &job.given_law, others) {
            (Score::Plan, Some(law), _) => Scoring::ByLaw(law.clone()),
            (Score::Plan, None, Some(others)) => {
                Scoring::ByLaw(law_of_others(&job, &groups, &others)?)
            }
            (Score::Plan, None, None) => Scoring::ByPosterior,
            (score, _, _) => Scoring::By(score),
        };
        let tables = LabelTables::fit(&TablesOf {
            logits: &logits,
            groups: &groups,
            shares: &shares.shares,
            temperature: job.planner.temperature() * statistics.inflation,
            mix: statistics.mix,
            iterating: job.iterating(),
        });
        let weights = posterior(&job, &tables, change, &groups, &shares, &labeled);
        let impossible = labeled
            .iter()
            .zip(job.labels.as_slice())
            .filter(|((_, row), label)| row[**label] <= 0.0)
            .count();
        let planned_rows = logits.len();
        let found = Found {
            m,
            planned_rows,
            test,
            change,
            groups,
            statistics,
            shares,
            tables,
            weights,
            scoring,
            marks: labeled.iter().map(|(_, row)| mark(row)).collect(),
            draw,
            impossible,
        };
        let mut reader = TableReader::new(&found.tables, &found.weights, &found.scoring);
        let labeled = LabeledScores::new(&job.labels, &labeled, &mut reader);
        let law = ScoreLaw::of_rows(&mut reader, &rows);
        if all_rows {
            let needed = needed_scores(&law, &labeled, job.alpha)?;
            let places = abscissae(job.score, found.tables.classes(), law.places(&needed))?;
            let spread = spread_at(&mut reader, &rows, &found.weights, &places);
            let law = law.at(places.points().to_vec());
            return conclude(&job, &found, labeled, law, &spread);
        }
        let mut points = law.places(&labeled.scores);
        // What lies beyond every score of the sample has a place too.
        let range = job.score.range(found.tables.classes());
        if points.last().is_none_or(|last| *last < range.high()) {
            points.push(range.high());
        }
        let places = abscissae(job.score, found.tables.classes(), points)?;
        let spread = spread_at(&mut reader, &rows, &found.weights, &places);
        let (tables, weights) = (found.tables.clone(), found.weights);
        let pass = LawPass { tables, weights, scoring: found.scoring.clone(), places };
        Ok(Next::again(Open::new(
            FewLabelsSecond { job, found: Box::new(found), labeled, spread },
            pass,
        )))
    }
}

impl Stage for FewLabelsSecond {
    type Pass = LawPass;

    fn end_pass(self, pass: LawPass, state: LawState, _: u64) -> Result<Next> {
        let Self { job, found, labeled, spread } = self;
        let law = state.law(&pass.places);
        conclude(&job, &found, labeled, law, &spread)
    }
}

/// `h0` of the rows without a label. A guarantee is that of exchangeable scores: a law that has seen labeled rows, and no row that
/// sets are made for, scores the former otherwise than the latter.
fn law_of_others(job: &Job, groups: &ClassGroups, others: &FirstPass) -> Result<LabelLawMap> {
    let temperature = job.planner.temperature();
    if others.rows == 0 {
        // Every row is labeled: the model's own law is left.
        return Ok(own_law(temperature));
    }
    let statistics = job.planner.statistics(groups, &others.said()?);
    let temperature = temperature * statistics.inflation;
    let logits = KeptRows::of(others)?.into_logits();
    Ok(label_free_law(&logits, groups, (temperature, statistics.mix), job.iterating()))
}

/// The labeled rows in the order of their keys, an error unless each of the labels has one.
fn require_all(
    labels: &TargetLabels,
    labeled: LabeledRows,
    m: u64,
) -> Result<Vec<(u64, Box<[f64]>)>> {
    if labels.len() as u64 > m {
        return Err(Error::TooMany {
            what: "labels of target rows",
            found: labels.len(),
            most: usize::try_from(m).unwrap_or(usize::MAX),
            instead: "a row has one label, so there are at most as many as target rows",
        });
    }
    let rows = labeled.sorted()?;
    let mut without = labels
        .keys()
        .iter()
        .filter(|key| rows.binary_search_by_key(*key, |(key, _)| *key).is_err());
    match without.next() {
        None => Ok(rows),
        Some(key) => Err(Error::LabelWithoutRow { key: *key, missing: 1 + without.count() }),
    }
}

/// Marks of rows of probabilities, as the evidence keeps them of labeled rows: a row is known again wherever it stands.
///
/// # Errors
/// If a row does not hold probabilities.
pub fn row_marks<T: Real>(first_row: u64, block: Rows<'_, T>) -> Result<Vec<u32>> {
    let values = normalised(RowKeys::From(first_row), block)?;
    Ok(values.chunks_exact(block.columns()).map(mark).collect())
}

/// 32 bits of a digest of a row: two tables that differ are told apart by the first few rows.
fn mark(row: &[f64]) -> u32 {
    let mut digest = Sha256::new();
    row.iter().for_each(|value| digest.update(value.to_le_bytes()));
    digest.finalize().first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Whether the labeled rows look like a random draw; not asked where they were drawn with different probabilities.
fn draw_test(
    labels: &TargetLabels,
    labeled: &[(u64, Box<[f64]>)],
    kept: KeptPredictions,
    seed: Seed,
) -> Result<Option<RandomDrawTest>> {
    if labeled.is_empty() || !labels.shares().is_empty() {
        return Ok(None);
    }
    let said: Vec<Prediction> = labeled.iter().map(|(_, row)| prediction(row)).collect();
    let others = kept.into_values_of(|key| labels.place_of(key).is_none())?;
    random_draw_test(&said, &others, seed)
}

fn posterior(
    job: &Job,
    tables: &LabelTables,
    change: Change,
    groups: &ClassGroups,
    shares: &UpdatedShares,
    labeled: &[(u64, Box<[f64]>)],
) -> TableWeights {
    if labeled.is_empty() {
        // Without labels there is nothing to weigh tables by.
        return TableWeights::label_free();
    }
    let logits_of = |row: &[f64]| {
        let mut logits = vec![0.0; row.len()];
        floored_logs(row, &mut logits);
        logits
    };
    let logits: Vec<Vec<f64>> = labeled.iter().map(|(_, row)| logits_of(row)).collect();
    let rows = logits.iter().map(Vec::as_slice).zip(job.labels.as_slice().iter().copied());
    TableWeights::posterior(tables, change, groups, &shares.left_out, rows)
}

impl LabeledScores {
    fn new(
        labels: &TargetLabels,
        labeled: &[(u64, Box<[f64]>)],
        reader: &mut TableReader<'_>,
    ) -> Self {
        let scores: Vec<f64> = labeled
            .iter()
            .zip(labels.as_slice())
            .map(|((key, row), label)| {
                reader.read(*key, row);
                reader.scores[*label]
            })
            .collect();
        let Sorted { order, scores } = Sorted::new(&scores);
        let shares = labels.shares();
        let shares = if shares.is_empty() {
            Vec::new()
        } else {
            order.iter().map(|index| shares[*index]).collect()
        };
        Self { scores, shares }
    }
}

/// The labeled scores, and those that the threshold at the level asked for depends on.
fn needed_scores(law: &ScoreLaw, labeled: &LabeledScores, alpha: Miscoverage) -> Result<Vec<f64>> {
    let unknown = vec![0.0; law.scores.len()];
    let laws = (law.scores.clone(), law.cdf.clone(), unknown);
    let labels = (labeled.scores.clone(), labeled.shares.clone());
    let found = LabelThresholds::new(laws, labels, Guarantee::None)?.at(alpha);
    let mut needed = labeled.scores.clone();
    needed.extend([found.before_pull.get(), found.posterior.get()]);
    Ok(needed)
}

/// Places of a law, over a range that contains them.
fn abscissae(score: Score, classes: usize, points: Vec<f64>) -> Result<Abscissae> {
    let range = score.range(classes);
    let low = points.first().map_or(range.low(), |first| first.min(range.low()));
    let high = points.last().map_or(range.high(), |last| last.max(range.high()));
    Ok(Abscissae::of_points(Interval::new(low, high)?, points))
}

fn conclude(
    job: &Job,
    found: &Found,
    labeled: LabeledScores,
    law: ScoreLaw,
    spread: &[f64],
) -> Result<Next> {
    let LabeledScores { scores, shares } = labeled;
    // Squares of differences of CDFs; rounding may leave the range of a share.
    let spread = spread.iter().map(|value| value.clamp(0.0, 1.0)).collect();
    let laws = (law.scores, law.cdf, spread);
    let thresholds = LabelThresholds::new(laws, (scores, shares), job.settings.guarantee)?;
    let reader = TableReader::new(&found.tables, &found.weights, &found.scoring);
    let calibration = &job.planner.scores_by(reader.label_law())[..];
    let evidence = FewLabelsEvidence::new(&Measured {
        n: calibration.len(),
        m: found.m,
        alpha: job.alpha,
        test: found.test,
        shifted: found.change == Change::Found,
        temperature: job.planner.temperature(),
        groups: &found.groups,
        statistics: found.statistics,
        tables: &found.tables,
        weights: &found.weights,
        shares: &found.shares,
        planned_rows: found.planned_rows,
        shift_level: match job.settings.change {
            ChangeBelief::Tested { level, .. } => Some(level),
            ChangeBelief::Changed | ChangeBelief::Unchanged => None,
        },
        labels: &job.labels,
        marks: &found.marks,
        draw: found.draw,
        impossible: found.impossible,
        thresholds: &thresholds,
    });
    let rule = Rule::FewLabels { thresholds };
    let weights = Weights::uniform(calibration.len())?;
    let sorted = Sorted::new(calibration);
    let concluded = Concluded::given(sorted, weights, TestMass::NONE, rule)
        .with_label_law(reader.label_law().cloned())
        .with_fitted_law(reader.fitted_law());
    Next::done(concluded.with_evidence(Evidence::FewLabels(Box::new(evidence))))
}

/// What the first pass asks of the rows: all that `auto` does, probabilities, and the labeled rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LabelsPass {
    auto: AutoFirstPass,
    /// Empty.
    rows: RowSample<Box<[f64]>>,
    labels: TargetLabels,
    /// Recipe for the rows without a label; none where no law is fitted to them.
    others: Option<PlanFirstPass>,
}

/// What the rows leave behind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LabelsState {
    auto: AutoFirstState,
    rows: RowSample<Box<[f64]>>,
    labeled: LabeledRows,
    // Boxed: few fits have one, and every state would be as large.
    others: Option<Box<FirstPass>>,
}

/// Probabilities of the labeled rows seen so far, with their keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LabeledRows(Vec<(u64, Box<[f64]>)>);

impl LabeledRows {
    /// In the order of their keys, an error if one was seen twice.
    fn sorted(mut self) -> Result<Vec<(u64, Box<[f64]>)>> {
        self.0.sort_by_key(|(key, _)| *key);
        match self.0.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(self.0),
            Some(pair) => Err(Error::DuplicateKey { key: pair[0].0 }),
        }
    }
}

impl LabelsPass {
    /// The rows of a block that have no label, with their keys.
    fn without_label<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> (Vec<u64>, Vec<T>) {
        let (mut kept, mut values) = (Vec::new(), Vec::new());
        for (offset, row) in block.iter().enumerate() {
            let key = keys.key(offset);
            if self.labels.place_of(key).is_none() {
                kept.push(key);
                values.extend_from_slice(row);
            }
        }
        (kept, values)
    }
}

impl Pass for LabelsPass {
    type State = LabelsState;

    fn empty(&self) -> LabelsState {
        LabelsState {
            auto: self.auto.empty(),
            // A plan that was made up may hold rows.
            rows: self.rows.emptied(),
            labeled: LabeledRows::default(),
            others: self.others.as_ref().map(|pass| Box::new(pass.empty())),
        }
    }

    fn add<T: Real>(
        &self,
        state: LabelsState,
        keys: RowKeys<'_>,
        block: Rows<'_, T>,
        side: &SideInputs<'_>,
    ) -> Result<LabelsState> {
        let LabelsState { auto, mut rows, mut labeled, others } = state;
        // Labels know more than other models, which are not asked.
        let side = &SideInputs { second: None, ..*side };
        let others = match (&self.others, others) {
            (Some(pass), Some(others)) => {
                let (keys, values) = self.without_label(keys, block);
                // A block may hold labeled rows alone.
                if keys.is_empty() {
                    Some(others)
                } else {
                    let rest = Rows::new(block.what(), &values, block.columns())?;
                    Some(Box::new(pass.add(*others, RowKeys::Each(&keys), rest, side)?))
                }
            }
            _ => None,
        };
        let auto = self.auto.add(auto, keys, block, side)?;
        let values = normalised(keys, block)?;
        for (offset, row) in values.chunks_exact(block.columns()).enumerate() {
            let key = keys.key(offset);
            rows.add_with(key, || row.into());
            if self.labels.place_of(key).is_some() {
                labeled.0.push((key, row.into()));
            }
        }
        // In the order of the keys on the wire too, so that equal rows are equal bytes.
        labeled.0.sort_by_key(|(key, _)| *key);
        Ok(LabelsState { auto, rows, labeled, others })
    }

    fn merge(&self, state: LabelsState, other: LabelsState) -> Result<LabelsState> {
        let LabelsState { auto, mut rows, mut labeled, others } = state;
        let others = match (others, other.others) {
            (Some(mine), Some(theirs)) => Some(Box::new(mine.merge(*theirs)?)),
            _ => None,
        };
        rows.merge(other.rows)?;
        labeled.0.extend(other.labeled.0);
        labeled.0.sort_by_key(|(key, _)| *key);
        Ok(LabelsState { auto: self.auto.merge(auto, other.auto)?, rows, labeled, others })
    }

    fn check(&self, state: &LabelsState) -> Result<()> {
        self.auto.check(&state.auto)?;
        self.rows.require_same(&state.rows)?;
        match (&self.others, &state.others) {
            (None, None) => {}
            (Some(pass), Some(others)) => pass.check(others)?,
            _ => return Err(contradiction("it is of a fit with another guarantee")),
        }
        for (key, row) in
            state.labeled.0.iter().map(|(key, row)| (*key, row)).chain(state.rows.rows())
        {
            require_same_length("a kept row", row.len(), "classes", self.labels.classes())?;
            row_scale("probabilities", key, row)?;
        }
        match state.labeled.0.iter().find(|(key, _)| self.labels.place_of(*key).is_none()) {
            None => Ok(()),
            Some(_) => Err(contradiction("it keeps a row that has no label")),
        }
    }

    fn classes(&self) -> usize {
        self.labels.classes()
    }

    fn empty_of(&self, rows: u64) -> LabelsState {
        let mut kept = self.rows.emptied();
        kept.limit_to_share_of(rows);
        let others = rows.saturating_sub(self.labels.len() as u64);
        LabelsState {
            auto: self.auto.empty_of(rows),
            rows: kept,
            labeled: LabeledRows::default(),
            others: self.others.as_ref().map(|pass| Box::new(pass.empty_of(others))),
        }
    }

    fn marks<T: Real>(&self, keys: RowKeys<'_>, block: Rows<'_, T>) -> RowMarks {
        marks_of_rows(keys, block)
    }
}
