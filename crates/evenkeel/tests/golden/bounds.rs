//! Every bound of the cases, labeled and unlabeled, with and without the finite-sample correction.

use crate::case::{Case, for_every_case, for_every_pair};
use evenkeel::bound::{
    DkwCorrection, GapBound, Integrator, Rates, Terms, integrated_gap, integrated_gap_between,
    labeled_gap_at, unlabeled_gap_at, wasserstein_gap, wasserstein_gap_between,
};
use evenkeel::measure::wasserstein_1;

/// The laws a bound integrates over, by the names of the files.
fn integrators(case: &Case) -> [(&'static str, Integrator); 4] {
    let (p, grid, range) = (&case.p, &case.grid, case.range());
    [
        ("wcdf_grid", Integrator::density(p, grid).unwrap()),
        ("expectation", Integrator::atoms(p.law())),
        ("restricted_grid", Integrator::restricted_density(p, grid, range).unwrap()),
        ("restricted_expectation", Integrator::restricted_atoms(p.law(), range)),
    ]
}

fn correction(case: &Case) -> DkwCorrection {
    let n = case.weights.effective_sample_size();
    DkwCorrection::new(n, case.candidates.rows() as f64, case.failure()).unwrap()
}

/// Checks a bound, and its corrected form where the file has one (it has none for restricted ranges).
fn check(case: &Case, section: &[&str], key: &str, bound: &GapBound) {
    let path = [section, &[key]].concat();
    case.close(&path, bound.value);
    assert_eq!(bound.corrected(), bound.value, "no correction unless one was added");
    if bound.rates == Rates::All {
        let corrected_key = format!("{key}_dkw");
        let path = [section, &[corrected_key.as_str()]].concat();
        case.close(&path, bound.clone().with_correction(correction(case)).corrected());
    }
}

#[test]
fn labeled_bounds_integrated_over_grid_and_atoms() {
    for_every_case(|case| {
        for (key, integrator) in integrators(case) {
            check(case, &["labeled"], key, &integrated_gap(case.p.law(), &case.q, &integrator));
        }
    });
}

#[test]
fn labeled_wasserstein_bound_and_its_distance() {
    for_every_case(|case| {
        case.close(&["labeled", "w1_distance"], wasserstein_1(case.p.law(), &case.q));
        check(
            case,
            &["labeled"],
            "w1_bound",
            &wasserstein_gap(&case.p, &case.q, &case.grid).unwrap(),
        );
    });
}

#[test]
fn labeled_gap_at_single_rates() {
    for_every_case(|case| {
        let gap = |alpha| labeled_gap_at(case.p.law(), &case.q, alpha);
        let bounds: Vec<GapBound> = case.alphas().into_iter().map(gap).collect();
        check_rates(case, &["labeled"], bounds);
    });
}

#[test]
fn unlabeled_bounds_integrated_over_grid_and_atoms() {
    for_every_pair(|case, pair, sandwich| {
        for (key, integrator) in integrators(case) {
            let bound = integrated_gap_between(case.p.law(), sandwich, &integrator);
            check(case, &["aux", pair], key, &bound);
            let Terms::BetweenLaws { to_upper, to_lower, width } = bound.terms else {
                panic!("terms of another bound");
            };
            assert_eq!(bound.value, 0.5 * (to_upper + to_lower + width));
        }
    });
}

#[test]
fn unlabeled_wasserstein_bounds() {
    for_every_pair(|case, pair, sandwich| {
        let bound = wasserstein_gap_between(&case.p, sandwich, &case.grid).unwrap();
        check(case, &["aux", pair], "w1_bound", &bound);
    });
}

#[test]
fn unlabeled_gap_at_single_rates() {
    for_every_pair(|case, pair, sandwich| {
        let gap = |alpha| unlabeled_gap_at(case.p.law(), sandwich, alpha);
        let bounds: Vec<GapBound> = case.alphas().into_iter().map(gap).collect();
        check_rates(case, &["aux", pair], bounds);
    });
}

fn check_rates(case: &Case, section: &[&str], bounds: Vec<GapBound>) {
    let values: Vec<f64> = bounds.iter().map(|bound| bound.value).collect();
    case.all_close(&[section, &["specific_alpha"]].concat(), &values);
    let correct = |bound: GapBound| bound.with_correction(correction(case)).corrected();
    let corrected: Vec<f64> = bounds.into_iter().map(correct).collect();
    case.all_close(&[section, &["specific_alpha_dkw"]].concat(), &corrected);
}
