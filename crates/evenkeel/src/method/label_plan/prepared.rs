//! What stages 2 to 4 leave for the second pass.
//!
//! ```text
//! f_j = softmax(logits_j / (T inflation)),   g_j(y) ~ f_j(y) b_group(y),   h = (1 - mix) f + mix g
//! ```
//! Sent to every worker of the second pass, so it holds what one row needs and no rows.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::evidence::{FixedPoint, MatchedEvidence};
use super::second_pass::SecondPass;
use crate::error::{Error, Result, require_finite, require_same_length};
use crate::label_law::{
    ClassGroups, FirstPass, LARGEST_INFLATION, LabelLawMap, LabelShares, PlanMixture,
    SecondOpinions, ShiftStatistics,
};
use crate::reading::ReadingName;
use crate::score::Score;
use crate::sketch::{Abscissae, Aim, MOST_LAWS, MOST_ROWS, contradiction};

/// The label law of a reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReadingLaw {
    pub reading: ReadingName,
    pub law: PlanMixture,
}

impl ReadingLaw {
    pub(super) fn new(reading: ReadingName, law: PlanMixture) -> Self {
        Self { reading, law }
    }
}

/// The law of a reading that the first pass's own rows gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownLaw {
    pub reading: ReadingName,
    /// `F_h` at the abscissae.
    pub cdf: Vec<f64>,
}

/// Kept rows that give coverages: with fewer, all rows are read. The sampling error of a coverage of 90 % is then 1.1 points at most.
pub(crate) const ENOUGH_ROWS: u64 = 2000;

/// Aims of a plan at most.
const MOST_AIMS: usize = 2;

/// Stages 2 to 4, ready for the second pass.
///
/// Numbers that come from elsewhere are checked as a whole: the second pass indexes by group and
/// divides by scalings without looking again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct PreparedPlan {
    /// The label laws that the second pass reads: with those that are known, [`ReadingName::ALWAYS`] and what else there is.
    pub(super) laws: Vec<ReadingLaw>,
    /// Laws of target scores that the rows of the first pass gave.
    pub(super) known: Vec<KnownLaw>,
    /// Number of these rows.
    pub(super) known_rows: u64,
    /// The readings that thresholds may be made of, the one to be preferred first.
    pub(super) aims: Vec<ReadingName>,
    pub(super) abscissae: Abscissae,
    /// Largest calibration score, one of the abscissae.
    pub(super) largest: f64,
    pub(super) score: Option<Score>,
    /// Rows that the laws are read of: all, or those that the first pass kept.
    pub(super) rows: u64,
    pub(super) groups: ClassGroups,
    /// What scores labels, where that was known before the plan.
    pub(super) given_law: Option<LabelLawMap>,
    pub(super) evidence: PlanSummary,
}

/// What was found on the way, for the evidence.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlanSummary {
    /// `m`, all target rows.
    pub rows: u64,
    pub temperature: f64,
    pub statistics: ShiftStatistics,
    pub plan: FixedPoint,
    pub balanced: FixedPoint,
    pub planned_rows: usize,
    pub accuracy: MatchedEvidence,
    /// Where label shift explains the outputs, or may.
    pub label_shares: Option<LabelShares>,
    /// Where other models were asked.
    pub second_opinions: Option<SecondOpinions>,
}

/// As it is stored; checked when read back. Same fields, same order: postcard writes no names.
#[derive(Deserialize)]
struct Stored {
    laws: Vec<ReadingLaw>,
    known: Vec<KnownLaw>,
    known_rows: u64,
    aims: Vec<ReadingName>,
    abscissae: Abscissae,
    largest: f64,
    score: Option<Score>,
    rows: u64,
    groups: ClassGroups,
    given_law: Option<LabelLawMap>,
    evidence: PlanSummary,
}

impl TryFrom<Stored> for PreparedPlan {
    type Error = Error;

    /// An error unless shapes fit each other and every number is in its range.
    fn try_from(stored: Stored) -> Result<Self> {
        let Stored {
            laws,
            known,
            known_rows,
            aims,
            abscissae,
            largest,
            score,
            rows,
            groups,
            given_law,
            evidence,
        } = stored;
        let (classes, count) = (groups.group_of.len(), groups.prior.len());
        // Before anything is indexed by a group of these bytes.
        let fits = classes > 0
            && groups.group_of.iter().all(|group| *group < count)
            && laws.iter().all(|law| law.law.scalings.len() == classes);
        if !fits {
            return Err(contradiction("its classes and groups do not fit each other"));
        }
        if let Some(law) = &given_law {
            law.require_classes(classes)?;
        }
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let statistics = &evidence.statistics;
        let numbers = groups.prior.iter().all(positive)
            && laws.iter().all(|law| law.law.is_sound(classes))
            && positive(&evidence.temperature)
            && (0.0..=1.0).contains(&statistics.mix)
            && (1.0..=LARGEST_INFLATION).contains(&statistics.inflation)
            && evidence.accuracy.is_sound()
            && evidence.label_shares.as_ref().is_none_or(|shares| shares.is_sound(count))
            && evidence.second_opinions.as_ref().is_none_or(SecondOpinions::is_sound)
            && rows <= evidence.rows
            && evidence.rows <= MOST_ROWS;
        if !numbers {
            return Err(contradiction("a number of the plan is out of its range"));
        }
        let named = |reading: &ReadingName| {
            laws.iter().any(|law| law.reading == *reading)
                || known.iter().any(|law| law.reading == *reading)
        };
        let points = abscissae.points().len();
        let is_law = |known: &KnownLaw| {
            let share = |value: &f64| (0.0..=1.0).contains(value);
            known.cdf.len() == points && known.cdf.iter().all(share) && known.cdf.is_sorted()
        };
        if known_rows > rows || !known.iter().all(is_law) {
            return Err(contradiction("a law that it knows is none"));
        }
        let whole = laws.len() + known.len() <= MOST_LAWS
            && ReadingName::ALWAYS.iter().all(named)
            && aims.iter().all(|aim| Self::aim_of(&laws, *aim).is_some())
            && (1..=MOST_AIMS).contains(&aims.len());
        if !whole {
            return Err(contradiction("it does not have the laws it aims at"));
        }
        // Locating a number that is none, or lies outside, would say that all scores are below it.
        if abscissae.points().binary_search_by(|point| point.total_cmp(&largest)).is_err() {
            return Err(contradiction("its largest calibration score is none of its abscissae"));
        }
        Ok(Self {
            laws,
            known,
            known_rows,
            aims,
            abscissae,
            largest,
            score,
            rows,
            groups,
            given_law,
            evidence,
        })
    }
}

/// What scores labels under the plan score: the law that is to be preferred. None under any other score.
///
/// Where the laws themselves decide for another aim the score stays, as scores are needed before the laws: the aim is then the
/// law of these scores under another reading.
pub(super) fn label_law_of(
    score: Option<&Score>,
    laws: &[ReadingLaw],
    aims: &[ReadingName],
) -> Option<LabelLawMap> {
    if score != Some(&Score::Plan) {
        return None;
    }
    law_aimed_at(laws, *aims.first()?)
}

/// A reading as a function of a row; none if its law was not made.
fn law_aimed_at(laws: &[ReadingLaw], aim: ReadingName) -> Option<LabelLawMap> {
    let of = |place: u8| laws.get(usize::from(place)).map(|law| &law.law);
    match PreparedPlan::aim_of(laws, aim)? {
        Aim::Law(law) => of(law).map(LabelLawMap::of_mixture),
        Aim::Mean(one, other) => Some(LabelLawMap::of_mean(of(one)?, of(other)?)),
    }
}

impl PreparedPlan {
    /// What scores labels under the plan score; none under any other.
    pub(super) fn label_law(&self) -> Option<LabelLawMap> {
        let fitted = || label_law_of(self.score.as_ref(), &self.laws, &self.aims);
        self.given_law.clone().or_else(fitted)
    }

    /// A reading by the places of its laws; none if there is no such law.
    fn aim_of(laws: &[ReadingLaw], reading: ReadingName) -> Option<Aim> {
        let place = |reading: ReadingName| {
            laws.iter().position(|law| law.reading == reading).and_then(|at| u8::try_from(at).ok())
        };
        let best = ReadingName::OF_AN_ACCURACY.into_iter().find(|name| place(*name).is_some());
        match reading.halves(best.unwrap_or(ReadingName::Matched)) {
            Some([one, other]) => Some(Aim::Mean(place(one)?, place(other)?)),
            None => place(reading).map(Aim::Law),
        }
    }

    /// What thresholds may be made of, by the places of laws.
    pub(super) fn placed_aims(&self) -> Vec<Aim> {
        self.aims.iter().filter_map(|aim| Self::aim_of(&self.laws, *aim)).collect()
    }

    /// The reading to be taken where the readings do not agree; none where the preferred one is a choice.
    pub(crate) fn otherwise(&self) -> Option<ReadingName> {
        self.aims.get(1).copied()
    }

    /// The reading to be preferred: what was assumed, or what explains the outputs.
    pub(crate) fn preferred(&self) -> ReadingName {
        self.aims.first().copied().unwrap_or(ReadingName::ClassShares)
    }

    /// The law that the weights aim at, whatever the score.
    pub(super) fn fitted_law(&self, aim: ReadingName) -> Option<LabelLawMap> {
        law_aimed_at(&self.laws, aim)
    }

    /// An empty second pass, with places for the laws at every distinct calibration score.
    pub fn second_pass(&self) -> SecondPass {
        SecondPass::new(self)
    }

    /// The same with the laws that no threshold is made of taken from the rows that the first pass kept. Those that are matched to an
    /// accuracy were fitted to fewer rows, so that a second reading of all of them would tell little more; and each costs an
    /// exponential for every number of the table.
    ///
    /// As it is where all rows were kept, which a second reading then brings to the same bits, or too few, or not as probabilities.
    ///
    /// # Errors
    /// If two kept rows have one key.
    pub(super) fn knowing(mut self, first: &FirstPass) -> Result<Self> {
        let kept = first.kept_rows();
        let few = kept < ENOUGH_ROWS || self.score.is_none();
        if kept == first.rows() || few || !first.keeps_probabilities() {
            return Ok(self);
        }
        let mut wanted = vec![ReadingName::Calibrated, ReadingName::ClassShares];
        wanted.extend(
            self.placed_aims()
                .into_iter()
                .flat_map(|aim| match aim {
                    Aim::Law(law) => vec![law],
                    Aim::Mean(one, other) => vec![one, other],
                })
                .filter_map(|place| self.laws.get(usize::from(place)).map(|law| law.reading)),
        );
        let given_law = self.label_law();
        let (laws, others) = self.laws.into_iter().partition(|law| wanted.contains(&law.reading));
        self.laws = others;
        let of_others = Self { aims: Vec::new(), given_law, ..self.clone() };
        let read = SecondPass::of_kept(&of_others, first)?.sums.finish().cdfs;
        self.known = (self.laws.iter().zip(read))
            .map(|(law, cdf)| KnownLaw { reading: law.reading, cdf })
            .collect();
        self.known_rows = kept;
        self.laws = laws;
        Ok(self)
    }

    /// The same plan and the laws of the rows that its first pass kept: those of all rows where it kept all of them, and of a uniform
    /// sample elsewhere.
    ///
    /// # Errors
    /// If rows were not kept as probabilities, or two have one key.
    pub(crate) fn read_kept(mut self, first: &FirstPass) -> Result<(Self, SecondPass)> {
        self.rows = first.kept_rows();
        let laws = SecondPass::of_kept(&self, first)?;
        Ok((self, laws))
    }

    /// SHA-256 of the plan's wire form: the name of the plan in the states of its second pass.
    pub(super) fn digest(&self) -> [u8; 32] {
        // Numbers and lists of them can always be written; a plan without bytes would only fail to tell plans apart.
        let bytes = postcard::to_allocvec(self).unwrap_or_default();
        Sha256::digest(&bytes).into()
    }

    /// The classes' groups and their prior `pi`.
    pub(crate) fn groups(&self) -> &ClassGroups {
        &self.groups
    }

    /// The accuracy of the matched reading, and what it was made of.
    pub fn accuracy(&self) -> &MatchedEvidence {
        &self.evidence.accuracy
    }

    /// `g(y)` of one row of logits in the planned law; `f` at the inflated temperature where the plan is not needed.
    ///
    /// # Errors
    /// If a logit is not finite, or there are not as many as classes.
    pub fn plan_row(&self, logits: &[f64]) -> Result<Vec<f64>> {
        let classes = self.groups.group_of.len();
        require_same_length("logits", logits.len(), "classes", classes)?;
        require_finite("logits", logits)?;
        let law = self.laws.iter().find(|law| law.reading == ReadingName::ClassShares);
        Ok(law.map(|law| law.law.plan_row(logits)).unwrap_or_default())
    }
}
