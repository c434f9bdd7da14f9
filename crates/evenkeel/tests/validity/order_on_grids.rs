//! The paper's forms of the f-u bounds (eq 7 and eq 8 on a grid, and the gap at one rate) with their DKW terms, where scores have a
//! density and the truth lies at one end of the order: labels by the model, or uniform.

use crate::DRAWS;
use crate::statements::{TRUTH_ERROR, counted, drawn_label, rows};
use evenkeel::bound::{
    DkwCorrection, Integrator, integrated_gap_between, unlabeled_gap_at, wasserstein_gap_between,
};
use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::measure::{
    BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR, Bandwidth, Grid, SmoothedLaw, Support,
    WeightedEmpirical,
};
use evenkeel::sandwich::model_uniform;
use evenkeel::score::{Labels, Probabilities, Score};
use evenkeel::seed::{Seed, Stream};

const CLASSES: usize = 3;
/// Calibration scores and target rows of a draw.
const SIZES: (usize, usize) = (100, 80);

/// Labels of a row: the likeliest, by the model's probabilities, or any.
type Choose = fn(&[f64], &mut Stream) -> usize;

fn likeliest(row: &[f64], _: &mut Stream) -> usize {
    (0..CLASSES).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap()
}

fn uniform(_: &[f64], stream: &mut Stream) -> usize {
    stream.below(CLASSES)
}

fn scores(stream: &mut Stream, count: usize, choose: Choose) -> Vec<f64> {
    let (values, labels) = rows(stream, count, choose);
    let table = Probabilities::new(&values, CLASSES).unwrap();
    Score::Lac.label_scores(&table, &Labels::new(labels, CLASSES).unwrap()).unwrap()
}

fn population(choose: Choose) -> WeightedEmpirical {
    let mut stream = Seed::new(44).stream("population");
    WeightedEmpirical::uniform(&scores(&mut stream, 200_000, choose)).unwrap()
}

#[test]
fn the_papers_forms_hold_where_their_order_does() {
    let (n, m) = SIZES;
    let grid = Grid::new(Interval::UNIT, 200).unwrap();
    let alpha = Miscoverage::new(0.2).unwrap();
    // Calibration labels that the model knows better than it says: a gap to either end.
    let p_law = population(likeliest);
    for (choose, is_far_end) in [(drawn_label as Choose, false), (uniform, true)] {
        let q_law = population(choose);
        let truth = crate::populations::gaps(&p_law, &p_law, &q_law)[0];
        for delta in [0.05, 0.2] {
            let delta = FailureProbability::new(delta).unwrap();
            let [seven, eight, at_rate, without] = counted(|draw| {
                let mut stream = Seed::new(45).child("order", draw).stream("rows");
                let sample = scores(&mut stream, n, likeliest);
                let bandwidth =
                    Bandwidth::scott(&sample, BANDWIDTH_FACTOR_CLASSIFICATION, BANDWIDTH_FLOOR)
                        .unwrap();
                let law = WeightedEmpirical::uniform(&sample).unwrap();
                let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT)).unwrap();
                let (values, _) = rows(&mut stream, m, |_, _| 0);
                let table = Probabilities::new(&values, CLASSES).unwrap();
                let pair = model_uniform(&Score::Lac.candidate_scores(&table).unwrap()).unwrap();
                let correction = DkwCorrection::for_sandwich(n as f64, &pair, delta).unwrap();
                let density = Integrator::density(&p, &grid).unwrap();
                let integrated = integrated_gap_between(p.law(), &pair, &density);
                let without = u64::from(integrated.value < truth);
                let t = p.law().quantile(alpha.level());
                let truth_at = (p_law.cdf(t) - q_law.cdf(t)).abs();
                let bounds = [
                    (integrated, truth),
                    (wasserstein_gap_between(&p, &pair, &grid).unwrap(), truth),
                    (unlabeled_gap_at(p.law(), &pair, alpha), truth_at),
                ];
                let [a, b, c] = bounds.map(|(bound, truth)| {
                    let bound = bound.with_correction(correction).corrected();
                    u64::from(bound < truth - TRUTH_ERROR)
                });
                [a, b, c, without]
            });
            let most = 2.0 * delta.get() * DRAWS as f64;
            for misses in [seven, eight, at_rate] {
                assert!(misses as f64 <= most, "{misses} of {DRAWS} at {delta:?}");
            }
            // At the far end nothing but the terms keeps the bound; at the near one the far end does.
            assert!(
                !is_far_end || without > DRAWS / 20,
                "{without} without a term: nothing was tested"
            );
        }
    }
}
