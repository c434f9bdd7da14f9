//! Stages 2 to 4: from a first pass to the label laws of all readings.

use super::evidence::{FixedPoint, MatchedEvidence};
use super::planner::LabelPlanner;
use super::prepared::{PlanSummary, PreparedPlan, ReadingLaw, label_law_of};
use super::question::{Aiming, PlanQuestion};
use super::settings::{KnownAccuracy, Opinions};
use crate::error::{Error, Result, require_finite};
use crate::label_law::{
    ClassGroups, FirstPass, GroupTable, KeptRows, LabelShares, Marginal, Matching, PlanMixture,
    Predicted, Said, SecondOpinion, SecondOpinions, ShiftStatistics, TransportPlan,
    accuracy_statistics, clip_to_shares, fit_plan, label_shares, second_opinion,
};
use crate::reading::ReadingName;

/// Rows times groups that take part in the accuracy and the matched laws, which take some forty fixed points: a uniform sample of
/// the kept rows beyond. Accuracy and laws share the rows, so that their noise cancels in the factors.
const MATCHED_CELLS: usize = 1 << 18;

fn matched_rows(groups: &ClassGroups) -> usize {
    (MATCHED_CELLS / groups.len()).max(1)
}

/// Laws matched to accuracies, and the balanced plan at `T`.
struct Matched {
    evidence: MatchedEvidence,
    balanced: TransportPlan,
    laws: Vec<ReadingLaw>,
}

/// Groups, distances and the rows kept of the target data.
struct Compared<'a> {
    groups: &'a ClassGroups,
    statistics: &'a ShiftStatistics,
    target: &'a KeptRows,
}

impl LabelPlanner {
    /// Stages 2 to 4, after the first pass over all target rows.
    ///
    /// # Errors
    /// If no row was added, two rows have one key, or the pass was cut or made up.
    pub fn prepare(&self, first: &FirstPass) -> Result<PreparedPlan> {
        self.prepare_for(first, &PlanQuestion::default())
    }

    /// The same, with the laws of all readings at further thresholds, or with other readings to aim at.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and if a threshold is not finite.
    pub fn prepare_for(&self, first: &FirstPass, question: &PlanQuestion) -> Result<PreparedPlan> {
        require_finite("thresholds in question", &question.thresholds)?;
        let (groups, statistics, said) = self.compare(first, None)?;
        self.require_same_rows(first)?;
        let target = KeptRows::of(first)?;
        let planned_rows = target.len();
        let planned = self.temperature * statistics.inflation;
        let plan = match statistics.mix > 0.0 {
            true => {
                let table = GroupTable::new(target.logits(), target.top(), &groups, planned);
                fit_plan(&table, &groups.prior, Marginal::SemiRelaxed, self.iterating())
            }
            false => TransportPlan::not_needed(groups.len()),
        };
        let target = target.thinned(matched_rows(&groups));
        let compared = Compared { groups: &groups, statistics: &statistics, target: &target };
        let opinions = match first.others.is_empty() {
            true => None,
            false => Some(self.opinions(&compared, &first.others)?),
        };
        let shares = self.label_shares(&compared, &said);
        let Matched { evidence, balanced, laws: matched } =
            self.matched(&compared, opinions.as_ref());
        let classes = self.labeled.classes();
        let mut laws = vec![
            ReadingLaw::new(
                ReadingName::Calibrated,
                PlanMixture::tempered(self.temperature, classes),
            ),
            ReadingLaw::new(
                ReadingName::ClassShares,
                PlanMixture::of_plan(planned, statistics.mix, &plan, &groups),
            ),
        ];
        laws.extend(matched);
        if let Some(shares) = &shares {
            let (temperature, scalings) = (self.temperature, shares.class_scalings(&groups));
            let law = PlanMixture { temperature, mix: 1.0, scalings };
            laws.push(ReadingLaw::new(ReadingName::LabelShift, law));
        }
        let explained = shares.as_ref().is_some_and(LabelShares::explain);
        let aims = self.aims(question.aiming, opinions.is_some(), explained);
        let given_law = self.given_law.clone();
        let label_law =
            given_law.clone().or_else(|| label_law_of(self.score.as_ref(), &laws, &aims));
        let (abscissae, largest) = self.abscissae(label_law.as_ref(), &question.thresholds)?;
        let prepared = PreparedPlan {
            laws,
            known: Vec::new(),
            known_rows: 0,
            aims,
            abscissae,
            largest,
            score: self.score,
            rows: first.rows,
            groups,
            given_law,
            evidence: PlanSummary {
                rows: first.rows,
                temperature: self.temperature,
                statistics,
                plan: FixedPoint::from(&plan),
                balanced: FixedPoint::from(&balanced),
                planned_rows,
                accuracy: evidence,
                label_shares: shares,
                second_opinions: opinions,
            },
        };
        prepared.knowing(first)
    }

    /// The readings that thresholds may be made of, the one to be preferred first.
    fn aims(&self, aiming: Aiming, opinions: bool, label_shift: bool) -> Vec<ReadingName> {
        let assumptions = self.settings.assumptions;
        let assumed = assumptions.aim(if opinions { Opinions::Several } else { Opinions::Own });
        match aiming {
            Aiming::Reading(reading) => vec![reading],
            Aiming::Assumed => vec![assumed],
            Aiming::Policy if assumptions.are_chosen() => vec![assumed],
            // The frequencies are seen to have changed, and that is all that changed.
            Aiming::Policy if label_shift => vec![ReadingName::LabelShift],
            Aiming::Policy => vec![assumed, ReadingName::Mean],
        }
    }

    /// Class frequencies under label shift, where that explains, or may explain, what the calibration rows as they are do not.
    fn label_shares(&self, compared: &Compared<'_>, said: &Said) -> Option<LabelShares> {
        let Compared { groups, target, .. } = *compared;
        let labels: Vec<usize> =
            self.labeled.labels().iter().map(|label| groups.group_of[*label]).collect();
        let calibration = self.predicted_calibration(groups);
        let predicted = Predicted {
            calibration: &calibration,
            labels: &labels,
            target_counts: &said.counts(&groups.group_of, groups.len()),
            target: &said.confidences,
        };
        let table = || GroupTable::of_kept(target, groups, self.temperature);
        label_shares(&predicted, groups, table).filter(LabelShares::may_explain)
    }

    /// The laws matched to the accuracies at hand and to both ends of the band around the best of them.
    fn matched(&self, compared: &Compared<'_>, opinions: Option<&SecondOpinions>) -> Matched {
        let Compared { groups, statistics, target } = *compared;
        let (temperature, iterating) = (self.temperature, self.iterating());
        let (found, balanced) =
            accuracy_statistics(self.model(), groups, statistics, target, iterating);
        let known = self.settings.assumptions.accuracy.map(KnownAccuracy::get);
        // What knows more comes later.
        let mut wanted = vec![(ReadingName::Matched, found.estimate)];
        wanted.extend(opinions.map(|found| (ReadingName::SecondOpinion, found.accuracy)));
        wanted.extend(known.map(|share| (ReadingName::Accuracy, share)));
        for (_, accuracy) in &mut wanted {
            *accuracy = clip_to_shares(*accuracy, self.labeled.classes());
        }
        let in_use = wanted.len() - 1;
        let used = wanted[in_use].1;
        let (mix, band) = (found.mix, found.band_around(used));
        wanted.extend([(ReadingName::BandLow, used - band), (ReadingName::BandHigh, used + band)]);
        let matching = Matching { target, groups, temperature, mix, iterating };
        let accuracies: Vec<f64> = wanted.iter().map(|(_, accuracy)| *accuracy).collect();
        let plans = matching.to_each(&accuracies);
        let laws = wanted.iter().zip(&plans).map(|((reading, _), matched)| {
            let law =
                PlanMixture::of_plan(temperature * matched.factor, mix, &matched.plan, groups);
            ReadingLaw::new(*reading, law)
        });
        let laws = laws.collect();
        let of_band = [&plans[in_use], &plans[in_use + 1], &plans[in_use + 2]];
        let evidence = MatchedEvidence::new(found, used, target.len(), of_band);
        Matched { evidence, balanced, laws }
    }

    /// What other models say of this one's accuracy: their planners were made of the same calibration rows and labels, and
    /// their passes are over the same target rows.
    ///
    /// # Errors
    /// If a pass has no rows or was cut, or the models do not speak of the same rows and classes.
    pub fn second_opinions(&self, first: &FirstPass) -> Result<SecondOpinions> {
        let (groups, statistics, _) = self.compare(first, None)?;
        self.require_same_rows(first)?;
        let target = KeptRows::of(first)?.thinned(matched_rows(&groups));
        let compared = Compared { groups: &groups, statistics: &statistics, target: &target };
        self.opinions(&compared, &first.others)
    }

    /// An error unless there is a pass of each of the other models, over the rows of this one's.
    fn require_same_rows(&self, first: &FirstPass) -> Result<()> {
        let same =
            |other: &FirstPass| first.kept.same_keys(&other.kept) && first.rows == other.rows;
        if first.others.len() == self.others.len() && first.others.iter().all(same) {
            return Ok(());
        }
        Err(Error::IncompatibleSketches { what: "rows" })
    }

    fn opinions(&self, compared: &Compared<'_>, others: &[FirstPass]) -> Result<SecondOpinions> {
        let Compared { groups, statistics, target } = *compared;
        let of = |planner: &Self, statistics: &ShiftStatistics, target: &KeptRows| {
            accuracy_statistics(planner.model(), groups, statistics, target, self.iterating()).0
        };
        let own = of(self, statistics, target);
        let opinion = |(other, first): (&Self, &FirstPass)| {
            let (_, statistics, _) = other.compare(first, Some(groups))?;
            let seen = KeptRows::of(first)?.thinned(matched_rows(groups));
            let accuracy = of(other, &statistics, &seen).estimate;
            Ok(second_opinion((self.model(), target, &own), (other.model(), &seen, accuracy)))
        };
        let others: Vec<SecondOpinion> =
            self.others.iter().zip(others).map(opinion).collect::<Result<_>>()?;
        Ok(SecondOpinions::new(own, others))
    }
}
