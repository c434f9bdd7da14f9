//! What labels alone prove: at once, and as they come.

use evenkeel::certify::{
    CoverageAlarm, CoverageSequence, Covered, CoveredLabels, clopper_pearson, same_labels_interval,
    tolerance_rank,
};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::seed::Seed;

use crate::statement::{Statement, room, statements};
use crate::{DELTA, DRAWS, MANY_DRAWS, Result};

/// What fifty labels prove at once: coverage 90 %, level 90 %.
pub(crate) fn label_statements() -> Result<Vec<Statement>> {
    let (d, sure) = (FailureProbability::new(DELTA)?, 1.0 - DELTA);
    let (k, p, alpha) = (50_u64, 0.9, Miscoverage::new(0.1)?);
    let counted = |x| CoveredLabels::new(x, k);
    let exact = (0..=k).map(|x| Ok(clopper_pearson(counted(x)?, d))).collect::<Result<Vec<_>>>()?;
    let same =
        (0..=k).map(|x| Ok(same_labels_interval(counted(x)?, d))).collect::<Result<Vec<_>>>()?;
    let rank = tolerance_rank(k, alpha, d).ok_or("fifty labels have a tolerance rank")?;
    let place = usize::try_from(rank)? - 1;
    let names = [
        ("Clopper-Pearson, 50 labels, coverage 90 %", sure),
        ("same-labels band, 50 labels, worst threshold", sure),
        ("tolerance rank (`few-labels --guarantee`), 50 labels", sure),
    ];
    statements(MANY_DRAWS, names, |draw| {
        let mut stream = Seed::new(1).child("labels", draw).stream("labels");
        let covered = (0..k).filter(|_| stream.uniform() < p).count();
        // Uniform scores: the coverage of a threshold is the threshold.
        let mut scores: Vec<f64> = (0..k).map(|_| stream.uniform()).collect();
        scores.sort_unstable_by(f64::total_cmp);
        // Just below the next score x labels are covered, at the x-th too. The ends 0 and 1 hold of themselves.
        let above = scores.iter().zip(&same[1..]).map(|(score, ends)| score - ends.low);
        let below = scores.iter().zip(&same).map(|(score, ends)| ends.high - score);
        Ok([
            room((exact[covered].low, exact[covered].high), p),
            above.chain(below).fold(f64::INFINITY, f64::min),
            scores[place] - (1.0 - alpha.get()),
        ])
    })
}

/// What labels that keep coming prove, after each of them.
pub(crate) fn running_statements() -> Result<Vec<Statement>> {
    let (d, sure) = (FailureProbability::new(DELTA)?, 1.0 - DELTA);
    let (p, alpha) = (0.9, Miscoverage::new(0.1)?);
    let names = [
        ("running sequence, all of 1000 labels", sure),
        ("alarm at alpha = 0.1, silent over 2000 labels at 90 %", sure),
    ];
    statements(DRAWS, names, |draw| {
        let mut stream = Seed::new(2).child("running", draw).stream("labels");
        let mut sequence = CoverageSequence::new(d);
        for _ in 0..1000 {
            sequence.update(Covered::from(stream.uniform() < p));
        }
        // Ends only ever close in: the last interval is in all the others.
        let last = sequence.state();
        let mut alarm = CoverageAlarm::new(alpha, d);
        let fired =
            (0..2000).any(|_| alarm.update(Covered::from(stream.uniform() < p)).fired_at.is_some());
        // An alarm is silent or not: there is no distance to measure.
        let silent = if fired { f64::NEG_INFINITY } else { f64::INFINITY };
        Ok([room((last.low, last.high), p), silent])
    })
}
