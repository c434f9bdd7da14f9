//! Stages 2 to 4: from a first pass to the label laws of all readings.

use super::evidence::{FixedPoint, MatchedEvidence};
use super::planner::LabelPlanner;
use super::prepared::{PlanSummary, PreparedPlan, label_law_of};
use super::question::{Accuracy, PlanQuestion};
use crate::error::{Error, Result, require_finite};
use crate::label_law::{
    ClassGroups, FirstPass, GroupTable, KeptRows, Marginal, Matching, PlanMixture, SecondOpinion,
    SecondOpinions, ShiftStatistics, TransportPlan, accuracy_statistics, clip_to_shares, fit_plan,
    second_opinion,
};

/// Rows times groups that take part in the accuracy and the matched laws, which take some forty fixed points: a uniform sample of
/// the kept rows beyond. Accuracy and laws share the rows, so that their noise cancels in the factors.
const MATCHED_CELLS: usize = 1 << 18;

fn matched_rows(groups: &ClassGroups) -> usize {
    (MATCHED_CELLS / groups.len()).max(1)
}

/// Three laws with their accuracies, and the balanced plan at `T`.
struct Matched {
    evidence: MatchedEvidence,
    balanced: TransportPlan,
    laws: [PlanMixture; 3],
}

impl LabelPlanner {
    /// Stages 2 to 4, after the first pass over all target rows.
    ///
    /// # Errors
    /// If no row was added, two rows have one key, or the pass was cut or made up.
    pub fn prepare(&self, first: FirstPass) -> Result<PreparedPlan> {
        self.prepare_for(first, &PlanQuestion::default())
    }

    /// The same, with the laws of all readings at further thresholds, for a known accuracy, or with another reading to aim at.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and if a threshold is not finite or the accuracy not a share.
    pub fn prepare_for(&self, first: FirstPass, question: &PlanQuestion) -> Result<PreparedPlan> {
        require_finite("thresholds in question", &question.thresholds)?;
        let rows = first.rows;
        let (groups, statistics) = self.compare(&first, None)?;
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
        let Matched { evidence, balanced, laws: [matched, low, high] } =
            self.matched(&target, &groups, &statistics, question.accuracy)?;
        let laws = [
            PlanMixture::tempered(self.temperature, self.labeled.classes()),
            PlanMixture::of_plan(planned, statistics.mix, &plan, &groups),
            matched,
            low,
            high,
        ];
        let label_law = label_law_of(self.score.as_ref(), &laws, question.aim);
        let scores = self.scores_by(label_law.as_ref());
        let (abscissae, largest) = self.abscissae(&scores, &question.thresholds)?;
        Ok(PreparedPlan {
            laws,
            aim: question.aim,
            abscissae,
            largest,
            score: self.score,
            rows,
            groups,
            evidence: PlanSummary {
                temperature: self.temperature,
                statistics,
                plan: FixedPoint::from(&plan),
                balanced: FixedPoint::from(&balanced),
                planned_rows,
                accuracy: evidence,
            },
        })
    }

    /// The laws matched to the accuracy and to both ends of the band around it.
    fn matched(
        &self,
        target: &KeptRows,
        groups: &ClassGroups,
        statistics: &ShiftStatistics,
        accuracy: Accuracy,
    ) -> Result<Matched> {
        let (temperature, iterating) = (self.temperature, self.iterating());
        let (found, balanced) =
            accuracy_statistics(self.model(), groups, statistics, target, iterating);
        let used = match accuracy {
            Accuracy::Estimated => found.estimate,
            Accuracy::Known(share) if (0.0..=1.0).contains(&share) => {
                clip_to_shares(share, self.labeled.classes())
            }
            Accuracy::Known(value) => {
                let what = "the accuracy on the target data";
                return Err(Error::OutOfRange { what, value, expected: "between 0 and 1" });
            }
        };
        let (mix, band) = (found.mix, found.band_around(used));
        let matching = Matching { target, groups, temperature, mix, iterating };
        let (matched, (low, high)) = rayon::join(
            || matching.to(used),
            || rayon::join(|| matching.to(used - band), || matching.to(used + band)),
        );
        let all = [&matched, &low, &high];
        let laws = all.map(|matched| {
            PlanMixture::of_plan(temperature * matched.factor, mix, &matched.plan, groups)
        });
        let evidence = MatchedEvidence::new(found, used, target.len(), all);
        Ok(Matched { evidence, balanced, laws })
    }

    /// What other models say of this one's accuracy: their planners were made of the same calibration rows and labels, and
    /// their passes are over the same target rows.
    ///
    /// # Errors
    /// If a pass has no rows or was cut, or the models do not speak of the same rows and classes.
    pub fn second_opinions(
        &self,
        first: FirstPass,
        others: Vec<(&Self, FirstPass)>,
    ) -> Result<SecondOpinions> {
        let (groups, statistics) = self.compare(&first, None)?;
        let of = |planner: &Self, statistics: &ShiftStatistics, target: &KeptRows| {
            accuracy_statistics(planner.model(), &groups, statistics, target, self.iterating()).0
        };
        for (other, other_first) in &others {
            let same = self.labeled.labels() == other.labeled.labels()
                && self.labeled.classes() == other.labeled.classes()
                && first.kept.same_keys(&other_first.kept)
                && first.rows == other_first.rows;
            if !same {
                return Err(Error::IncompatibleSketches { what: "rows" });
            }
        }
        let most = matched_rows(&groups);
        let target = KeptRows::of(first)?.thinned(most);
        let own = of(self, &statistics, &target);
        let opinion = |(other, first): (&Self, FirstPass)| {
            let (_, statistics) = other.compare(&first, Some(&groups))?;
            let seen = KeptRows::of(first)?.thinned(most);
            let accuracy = of(other, &statistics, &seen).estimate;
            Ok(second_opinion((self.model(), &target, &own), (other.model(), &seen, accuracy)))
        };
        let others: Vec<SecondOpinion> = others.into_iter().map(opinion).collect::<Result<_>>()?;
        Ok(SecondOpinions::new(own, others))
    }
}
