//! Entropy-scaled sets: entropies and quantiles to rounding, sets as exact counts.

use crate::case::{Case, TOLERANCE, assert_close, for_every_case, numbers};
use evenkeel::measure::WeightedEmpirical;
use evenkeel::method::entropy_scaling::{EntropyCut, EntropyPower, EntropyScaling, entropy};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::threshold::{TestMass, conformal_threshold};

fn scaling(case: &Case, block: usize) -> EntropyScaling {
    let mut scaling = EntropyScaling::new(case.classes, EntropyPower::One).unwrap();
    for (index, rows) in case.probabilities.chunks(block * case.classes).enumerate() {
        let rows = Rows::new("probabilities", rows, case.classes).unwrap();
        scaling.add(RowKeys::From((index * block) as u64), rows).unwrap();
    }
    scaling
}

fn cuts(case: &Case) -> Vec<EntropyCut> {
    let scaling = scaling(case, 7);
    let law = WeightedEmpirical::uniform(&case.scores).unwrap();
    let test = TestMass::exchangeable(case.scores.len());
    let cut = |alpha| scaling.cut(conformal_threshold(&law, test, alpha), alpha).unwrap();
    case.alphas().into_iter().map(cut).collect()
}

#[test]
fn entropies_and_their_quantiles() {
    for_every_case(|case| {
        let rows = case.probabilities.chunks_exact(case.classes);
        case.all_close(&["ecp", "entropy"], &rows.map(entropy).collect::<Vec<_>>());
        let scaling = scaling(case, 1000);
        let found: Vec<f64> = case
            .alphas()
            .into_iter()
            .map(|alpha| scaling.entropy_quantile(alpha).unwrap())
            .collect();
        case.all_close(&["ecp", "u"], &found);
    });
}

#[test]
fn cutoffs_and_the_sets_they_cut() {
    for_every_case(|case| {
        let m = case.candidates.rows();
        let cuts = cuts(case);
        let cutoffs: Vec<f64> = cuts.iter().map(|cut| cut.probability_cutoff()).collect();
        assert_close(
            &format!("{} cutoffs", case.name),
            &cutoffs,
            &numbers(case.expected(&["ecp", "p_cutoff"])),
            TOLERANCE,
        );
        let counts = |key: &str| -> Vec<usize> {
            let shares = numbers(case.expected(&["ecp", key]));
            shares.iter().map(|share| (share * m as f64).round() as usize).collect()
        };
        let (mut covered, mut members, mut as_scores) = (Vec::new(), Vec::new(), Vec::new());
        for cut in &cuts {
            let rows = || case.probabilities.chunks_exact(case.classes);
            let pairs = rows().zip(&case.labels);
            covered.push(pairs.filter(|(row, label)| cut.admits(row[**label])).count());
            members.push(rows().flatten().filter(|p| cut.admits(**p)).count());
            let threshold = cut.lac_threshold();
            as_scores.push(rows().flatten().filter(|p| threshold.admits(1.0 - **p)).count());
        }
        assert_eq!(covered, counts("coverage"), "{} coverage", case.name);
        assert_eq!(members, counts("mean_size"), "{} sizes", case.name);
        assert_eq!(as_scores, members, "{} as a threshold of scores", case.name);
    });
}
