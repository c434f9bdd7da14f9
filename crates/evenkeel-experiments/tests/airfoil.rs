//! The airfoil experiment on a made-up file of the same shape: what is known about it must come out.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use evenkeel_experiments::airfoil::{Airfoil, Method, MethodCoverage, repeat};
use evenkeel_experiments::draws::standard_normal;

/// 1503 rows in the ranges of the real file. The noise grows toward low frequencies and thick layers, where the tilt goes.
fn synthetic_file(name: &str) -> PathBuf {
    let mut stream = Seed::new(5).stream("airfoil");
    let mut text = String::new();
    for _ in 0..1503 {
        let frequency = (5.3 + 4.6 * stream.uniform()).exp();
        let angle = 22.0 * stream.uniform();
        let chord = [0.0254, 0.0508, 0.1016, 0.1524, 0.2286, 0.3048][stream.below(6)];
        let velocity = [31.7, 39.6, 55.5, 71.3][stream.below(4)];
        let thickness = (-7.8 + 5.0 * stream.uniform()).exp();
        let toward = (thickness.ln() + 5.3) / 2.5 - (frequency.ln() - 7.6) / 2.3;
        let spread = 3.0 * (0.35 * toward).exp();
        let level = 125.0 - 3.0 * frequency.ln() - 0.4 * angle - 30.0 * chord + 0.1 * velocity
            - thickness.ln()
            + spread * standard_normal(&mut stream);
        text += &format!("{frequency}\t{angle}\t{chord}\t{velocity}\t{thickness}\t{level}\n");
    }
    let path = std::env::temp_dir().join(format!("evenkeel-{name}-{}.dat", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn of(results: &[MethodCoverage], method: Method) -> &MethodCoverage {
    results.iter().find(|result| result.method == method).unwrap()
}

/// The pattern of the paper: right without shift, too low with it, right again with ratios. The bands are four standard
/// errors of the mean; ratios may overcover by the mean share of the largest weight, here a few percent.
#[test]
fn ratios_regain_the_coverage_that_the_tilt_took() {
    let path = synthetic_file("pattern");
    let data = Airfoil::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(data.rows(), 1503);
    let alpha = Miscoverage::new(0.1).unwrap();
    let results = repeat(&data, 120, alpha, Seed::new(0)).unwrap();
    let no_shift = of(&results, Method::NoShift);
    assert!((no_shift.mean() - 0.9).abs() < 0.003 + 4.0 * no_shift.standard_error());
    let unweighted = of(&results, Method::Unweighted).mean();
    assert!(unweighted < 0.85, "unweighted covered {unweighted}");
    for (method, slack) in [(Method::Oracle, 0.0), (Method::Logistic, 0.02), (Method::Forest, 0.03)]
    {
        let result = of(&results, method);
        let (mean, band) = (result.mean(), 4.0 * result.standard_error());
        assert!(mean >= 0.9 - slack - band, "{method:?} covered {mean}");
        assert!(mean <= 0.94 + slack + band, "{method:?} covered {mean}");
    }
    let again = repeat(&data, 3, alpha, Seed::new(0)).unwrap();
    for (few, many) in again.iter().zip(&results) {
        assert_eq!(few.coverages, many.coverages[..3], "the same seed, the same repetitions");
    }
    assert!(repeat(&data, 0, alpha, Seed::new(0)).is_err());
}

#[test]
fn a_missing_file_is_an_error_with_its_path() {
    let error = Airfoil::read(&PathBuf::from("no/such/airfoil.dat")).unwrap_err();
    assert!(error.to_string().contains("no/such/airfoil.dat"));
}
