//! Every statement held against labels drawn at random, in numbers that chance alone moves by little.

use evenkeel::certify::{
    CoverageAlarm, CoverageSequence, Covered, CoveredLabels, clopper_pearson, same_labels_interval,
    tolerance_rank,
};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::seed::{Seed, Stream};

fn failure(d: f64) -> FailureProbability {
    FailureProbability::new(d).unwrap()
}

/// What a count of `draws` events of probability `p` may reach by chance: mean and four standard deviations.
fn at_most(p: f64, draws: u32) -> f64 {
    let draws = f64::from(draws);
    p * draws + 4.0 * (p * (1.0 - p) * draws).sqrt()
}

fn sorted_uniforms(k: usize, stream: &mut Stream) -> Vec<f64> {
    let mut values: Vec<f64> = (0..k).map(|_| stream.uniform()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[test]
fn clopper_pearson_fails_at_most_as_often_as_said() {
    let mut stream = Seed::new(1).stream("clopper-pearson");
    for (k, p, d) in [(10_u64, 0.9, 0.05), (50, 0.7, 0.1), (200, 0.97, 0.2), (1, 0.5, 0.05)] {
        let draws = 4000;
        let ends: Vec<_> = (0..=k)
            .map(|x| clopper_pearson(CoveredLabels::new(x, k).unwrap(), failure(d)))
            .collect();
        let failed = (0..draws)
            .filter(|_| {
                let covered = (0..k).filter(|_| stream.uniform() < p).count();
                !(ends[covered].low..=ends[covered].high).contains(&p)
            })
            .count();
        assert!(failed as f64 <= at_most(d, draws), "{k} {p} {d}: {failed}");
    }
}

/// The worst threshold of all: the interval must hold at every order statistic and between them, and it is not far too wide.
#[test]
fn the_same_labels_interval_holds_wherever_the_threshold_is_chosen() {
    let mut stream = Seed::new(2).stream("same-labels");
    for (k, d) in [(9_usize, 0.1), (20, 0.05), (35, 0.05), (100, 0.05), (77, 0.3)] {
        let draws = 4000;
        let ends: Vec<_> = (0..=k as u64)
            .map(|x| same_labels_interval(CoveredLabels::new(x, k as u64).unwrap(), failure(d)))
            .collect();
        let mut failed = 0;
        for _ in 0..draws {
            // Uniform scores: the coverage of a threshold is the threshold.
            let scores = sorted_uniforms(k, &mut stream);
            // Just below the (x + 1)-th score x labels are covered; at the x-th too, and there coverage is least.
            let holds = (0..=k).all(|x| {
                let least = if x == 0 { 0.0 } else { scores[x - 1] };
                let most = scores.get(x).copied().unwrap_or(1.0);
                ends[x].low <= least && most <= ends[x].high
            });
            failed += u32::from(!holds);
        }
        assert!(f64::from(failed) <= at_most(d, draws), "{k} {d}: {failed}");
        // The union bound over the two ends costs little, and so does the line between entries of the table.
        let least = d * f64::from(draws) - 4.0 * (d * (1.0 - d) * f64::from(draws)).sqrt();
        assert!(
            f64::from(failed) >= 0.9 * least,
            "{k} {d}: {failed}, the band is wider than it need be"
        );
    }
}

#[test]
fn the_sequence_holds_after_all_of_a_thousand_labels_at_once() {
    let (streams, labels) = (2000_u32, 1000);
    for (p, d) in [(0.9, 0.05), (0.6, 0.1)] {
        let mut failed = 0;
        for index in 0..streams {
            let mut stream = Seed::new(3).child("sequence", u64::from(index)).stream("labels");
            let mut sequence = CoverageSequence::new(failure(d));
            for _ in 0..labels {
                sequence.update(Covered::from(stream.uniform() < p));
            }
            // Ends only ever close in, so the last interval is in all the others.
            let last = sequence.state();
            failed += u32::from(!(last.low..=last.high).contains(&p));
        }
        assert!(f64::from(failed) <= at_most(d, streams), "{p} {d}: {failed}");
    }
}

fn alarm_at(coverage: f64, labels: u32, delta: f64, index: u64) -> Option<u64> {
    let mut stream = Seed::new(4).child("alarm", index).stream("labels");
    let mut alarm = CoverageAlarm::new(Miscoverage::new(0.1).unwrap(), failure(delta));
    for _ in 0..labels {
        if let Some(at) = alarm.update(Covered::from(stream.uniform() < coverage)).fired_at {
            return Some(at);
        }
    }
    None
}

#[test]
fn the_alarm_is_false_at_most_as_often_as_said() {
    for (coverage, delta) in [(0.9, 0.05), (0.9, 0.2), (0.93, 0.05)] {
        let streams = 2000;
        let fired =
            (0..u64::from(streams)).filter(|i| alarm_at(coverage, 2000, delta, *i).is_some());
        let fired = fired.count();
        assert!(fired as f64 <= at_most(delta, streams), "{coverage} {delta}: {fired}");
    }
}

/// Median delays of SPEC 12: 275, 69 and 21 labels at coverage 85, 80 and 70 %.
#[test]
fn the_alarm_comes_as_soon_as_said() {
    for (coverage, expected) in [(0.85, 275.0), (0.8, 69.0), (0.7, 21.0)] {
        let mut delays: Vec<u64> =
            (0..2000).map(|i| alarm_at(coverage, 20_000, 0.05, i).unwrap_or(u64::MAX)).collect();
        delays.sort_unstable();
        let median = delays[1000] as f64;
        assert!((median / expected - 1.0).abs() < 0.1, "{coverage}: {median}");
    }
}

/// The score of the tolerance rank covers the level, except with the failure probability.
#[test]
fn the_tolerance_rank_covers_the_level_as_often_as_said() {
    let mut stream = Seed::new(5).stream("tolerance");
    for (k, alpha, d) in [(22_u64, 0.1, 0.1), (50, 0.1, 0.1), (200, 0.05, 0.05)] {
        let rank = tolerance_rank(k, Miscoverage::new(alpha).unwrap(), failure(d)).unwrap();
        let draws = 4000;
        let failed = (0..draws)
            .filter(|_| sorted_uniforms(k as usize, &mut stream)[rank as usize - 1] < 1.0 - alpha)
            .count();
        assert!(failed as f64 <= at_most(d, draws), "{k} {alpha} {d}: {failed}");
    }
}
