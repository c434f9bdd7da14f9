//! The regression experiment, ten small simulations.

use std::fs;

use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use evenkeel_experiments::regression::Regression;
use evenkeel_experiments::run::{Entry, Unwatched, run};

use crate::world::Scratch;

#[test]
fn uncorrected_undercovers_and_the_oracle_does_not() {
    let scratch = Scratch::new();
    let experiment = Regression {
        simulations: 10,
        samples: 500,
        epochs: vec![4, 20],
        ..Regression::new(Miscoverage::new(0.1).unwrap(), Seed::new(1))
    };
    let folder = scratch.at("run");
    let finished = run(&experiment, &folder, &Unwatched).unwrap();
    assert_eq!((finished.cells, finished.resumed), (10, 0));
    let table = &finished.outputs.tables[1];
    assert_eq!(table.name, "regression-20-epochs");
    let coverage = |method: &str| {
        let row = table.rows.iter().find(|row| row[0] == Entry::text(method)).unwrap();
        let Entry::Spread(spread, _) = &row[1] else { panic!("{row:?}") };
        spread.mean
    };
    // Standard errors are about 0.01 (uncorrected, oracle) and 0.02 (ratios).
    assert!(coverage("uncorrected") < 0.86, "{}", coverage("uncorrected"));
    assert!((coverage("oracle") - 0.9).abs() < 0.03, "{}", coverage("oracle"));
    for method in ["true ratios", "learned ratios"] {
        assert!((coverage(method) - 0.9).abs() < 0.06, "{method}: {}", coverage(method));
    }
    let transported = coverage("OT (f, U), weighted CDF");
    assert!(transported > coverage("uncorrected"), "{transported}");
    for figure in
        ["figure-3-coverage-20-epochs", "figure-3-size-4-epochs", "figure-5-weighted-cdf-4-epochs"]
    {
        let svg = fs::read_to_string(folder.join(format!("figures/{figure}.svg"))).unwrap();
        assert!(svg.contains("learned ratios"), "{figure}");
    }
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("Regression after 20 epochs") && page.contains("<svg"));
    let cells = fs::read_to_string(folder.join("tables/cells.csv")).unwrap();
    assert_eq!(cells.lines().count(), 1 + 10 * 2 * table.rows.len());
}

#[test]
fn settings_out_of_range_are_refused() {
    let scratch = Scratch::new();
    let usual = Regression::new(Miscoverage::new(0.1).unwrap(), Seed::new(1));
    let wrong = [
        Regression { simulations: 0, ..usual.clone() },
        Regression { samples: 1, ..usual.clone() },
        Regression { epochs: vec![], ..usual.clone() },
        Regression { epochs: vec![30, 10], ..usual.clone() },
        Regression { epochs: vec![0], ..usual },
    ];
    for experiment in wrong {
        let error = run(&experiment, &scratch.at("run"), &Unwatched).unwrap_err();
        assert!(error.to_string().contains("expected"), "{error}");
        assert!(!scratch.at("run").exists(), "nothing is written before the settings are checked");
    }
}
