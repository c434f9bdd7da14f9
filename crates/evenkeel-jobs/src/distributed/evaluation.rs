//! An evaluation whose labeled rows lie elsewhere.

use std::sync::Arc;

use evenkeel::calibration::{Calibration, ClassNames};
use evenkeel::error::Error;
use evenkeel::evaluation::{EvaluationCounts, LabelScoreCounts};
use evenkeel::level::Miscoverage;
use evenkeel::rows::{Real, Rows};
use evenkeel::wire::{PartIds, WireJob};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::part::PartRows;
use super::states_of;
use crate::any_rows::with_rows;
use crate::blocks::shares;
use crate::error::{JobError, Result};
use crate::evaluate::Evaluated;
use crate::stored::parse_calibration;

/// The kind of job on the wire.
pub(super) const EVALUATE: &str = "evaluate";

/// What a worker needs.
#[derive(Serialize, Deserialize)]
struct Plan {
    /// The calibration as its file has it, without the data it was made of.
    calibration: String,
    /// None for the calibration's own.
    alpha: Option<f64>,
}

/// What rows leave behind.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Counts {
    sets: EvaluationCounts,
    scores: LabelScoreCounts,
}

impl Counts {
    fn new(calibration: &Calibration) -> evenkeel::Result<Self> {
        Ok(Self {
            sets: EvaluationCounts::new(calibration.provenance().classes)?,
            scores: calibration.label_score_counts(),
        })
    }

    fn merge(self, other: &Self) -> evenkeel::Result<Self> {
        Ok(Self { sets: self.sets.merge(&other.sets)?, scores: self.scores.merge(&other.scores)? })
    }
}

/// An evaluation in the making, on the driver.
#[derive(Debug)]
pub struct DistributedEvaluation {
    calibration: Arc<Calibration>,
    alpha: Option<Miscoverage>,
    job: WireJob,
    plan: Arc<[u8]>,
    counts: Counts,
    parts: PartIds,
}

impl DistributedEvaluation {
    /// Of a calibration, at its own level unless another is asked for.
    ///
    /// # Errors
    /// If the calibration cannot be written.
    pub fn begin(calibration: &Calibration, alpha: Option<Miscoverage>) -> Result<Self> {
        let calibration = calibration.clone().without_reference();
        let text = serde_json::to_string(&calibration)
            .map_err(|error| JobError::Calibration(error.to_string()))?;
        let digest = Sha256::digest(text.as_bytes()).into();
        let rate = alpha.unwrap_or(calibration.provenance().alpha).get();
        let settings = vec![("alpha".to_owned(), rate.to_string())];
        let job = WireJob::new(EVALUATE, settings, digest);
        let plan = job.plan(&Plan { calibration: text, alpha: alpha.map(Miscoverage::get) })?;
        let counts = Counts::new(&calibration)?;
        let (calibration, plan) = (Arc::new(calibration), plan.into());
        Ok(Self { calibration, alpha, job, plan, counts, parts: PartIds::default() })
    }

    /// The same evaluation without any rows: of another group, with the same plan. Nothing is written anew.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn again(&self) -> Result<Self> {
        let counts = Counts::new(&self.calibration)?;
        let (calibration, plan) = (Arc::clone(&self.calibration), Arc::clone(&self.plan));
        let (job, parts) = (self.job.clone(), PartIds::default());
        Ok(Self { calibration, alpha: self.alpha, job, plan, counts, parts })
    }

    /// What workers need.
    pub fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// Takes what parts made of their rows, in any order; after an error it is as it was.
    ///
    /// # Errors
    /// If the bytes are damaged, belong to another job, or hold a part that was merged already.
    pub fn merge(&mut self, state: &[u8]) -> Result<()> {
        let (mut counts, mut parts) = (self.counts.clone(), self.parts.clone());
        for state in states_of(state)? {
            let (ids, added) = self.job.open::<Counts>(state)?;
            parts = parts.joined(ids)?;
            counts = counts.merge(&added)?;
        }
        (self.counts, self.parts) = (counts, parts);
        Ok(())
    }

    /// The evaluation of all rows.
    ///
    /// # Errors
    /// If there were none.
    pub fn finish(&self) -> Result<Evaluated> {
        let Counts { sets, scores } = &self.counts;
        let label_law = scores.law().map_err(|error| match error {
            Error::Empty { .. } => JobError::NoRows { input: "the parts".to_owned() },
            other => other.into(),
        })?;
        let alpha = self.alpha.unwrap_or(self.calibration.provenance().alpha);
        let evaluation = sets.finish(alpha, self.calibration.total_gap(&label_law))?;
        Ok(Evaluated { evaluation, label_law })
    }
}

/// A worker's labeled rows.
#[derive(Debug)]
pub(super) struct EvaluationPart {
    job: WireJob,
    calibration: Arc<Calibration>,
    alpha: Option<Miscoverage>,
    counts: Counts,
    ids: PartIds,
}

impl EvaluationPart {
    /// From a plan; without a number it only merges.
    pub(super) fn begin(plan: &[u8], number: Option<u64>) -> Result<Self> {
        let (job, Plan { calibration, alpha }) = WireJob::read::<Plan>(plan)?;
        let calibration = Arc::new(parse_calibration(&calibration)?);
        let alpha = alpha.map(Miscoverage::new).transpose()?;
        let counts = Counts::new(&calibration)?;
        let ids = number.map_or_else(PartIds::default, PartIds::one);
        Ok(Self { job, calibration, alpha, counts, ids })
    }

    /// A part of the same plan, which is not read again, without any rows.
    pub(super) fn again(&self, number: u64) -> evenkeel::Result<Self> {
        let (job, calibration) = (self.job.clone(), Arc::clone(&self.calibration));
        let (counts, ids) = (Counts::new(&calibration)?, PartIds::one(number));
        Ok(Self { job, calibration, alpha: self.alpha, counts, ids })
    }

    pub(super) fn class_names(&self) -> Option<&ClassNames> {
        self.calibration.class_names()
    }

    pub(super) fn classes(&self) -> usize {
        self.calibration.provenance().classes
    }

    /// Counts labeled rows, by all threads.
    pub(super) fn add(self, rows: &PartRows<'_>, labels: &[usize]) -> evenkeel::Result<Self> {
        let added = with_rows!(rows.rows, |block| self.counted(block, rows, labels))?;
        Ok(Self { counts: self.counts.merge(&added)?, ..self })
    }

    fn counted<T: Real>(
        &self,
        block: Rows<'_, T>,
        given: &PartRows<'_>,
        labels: &[usize],
    ) -> evenkeel::Result<Counts> {
        if labels.len() != block.rows() {
            return Err(Error::LengthMismatch {
                what: "labels",
                found: labels.len(),
                other: "rows",
                expected: block.rows(),
            });
        }
        let empty = Counts::new(&self.calibration)?;
        let count = |counts: Counts, (offset, part): (usize, evenkeel::Result<Rows<'_, T>>)| {
            let part = part?;
            let these = offset..offset + part.rows();
            let keys = given.keys.of_rows(these.clone());
            let (side, labels) = (given.side.of_rows(these.clone())?, &labels[these]);
            let sets = self.calibration.predict_keyed(keys, part, side, self.alpha)?;
            let scores = self.calibration.label_scores_keyed(keys, part, labels)?;
            Ok(Counts {
                sets: counts.sets.add(offset, &sets, labels)?,
                scores: counts.scores.add(offset, &scores)?,
            })
        };
        // A thread adds up its shares before it merges: merging costs as much as there are calibration points.
        shares(block)
            .try_fold(|| empty.clone(), count)
            .try_reduce(|| empty.clone(), |merged, part| merged.merge(&part))
    }

    pub(super) fn absorb(self, state: &[u8]) -> Result<Self> {
        let (ids, added) = self.job.open::<Counts>(state)?;
        let ids = self.ids.joined(ids)?;
        Ok(Self { counts: self.counts.merge(&added)?, ids, ..self })
    }

    pub(super) fn state(&self) -> evenkeel::Result<Vec<u8>> {
        self.job.state(&self.ids, &self.counts)
    }
}
