//! How the bounds stand to each other and to the gap they bound.

use crate::generators::{ROUNDING, Table, law, sample, score, table};
use evenkeel::bound::{
    Integrator, integrated_gap, integrated_gap_between, labeled_gap_at, unlabeled_gap_at,
    wasserstein_gap, wasserstein_gap_between,
};
use evenkeel::level::{Level, Miscoverage, MiscoverageRange};
use evenkeel::measure::{Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical};
use evenkeel::sandwich::{Sandwich, custom, min_max, model_uniform};
use evenkeel::score::Score;
use proptest::prelude::*;

fn smoothed(law: WeightedEmpirical, h: f64, score: &Score, classes: usize) -> SmoothedLaw {
    let support = Support::Bounded(score.range(classes));
    SmoothedLaw::new(law, Bandwidth::new(h).unwrap(), support).unwrap()
}

/// A calibration law on the true scores of the table's first half, unevenly weighted, and the unlabeled second half.
fn halves(table: &Table) -> (Table, Table) {
    let cut = table.rows().div_ceil(2);
    let part = |rows: std::ops::Range<usize>| {
        let cells = rows.start * table.classes..rows.end * table.classes;
        Table {
            classes: table.classes,
            values: table.values[cells.clone()].to_vec(),
            labels: table.labels[rows].to_vec(),
            allowed: table.allowed[cells].to_vec(),
        }
    };
    (part(0..cut), part(table.rows() - cut..table.rows()))
}

fn weighted_truth(table: &Table, score: &Score) -> WeightedEmpirical {
    let scores = score.label_scores(&table.probabilities(), &table.labels()).unwrap();
    let weighted = scores.iter().enumerate().map(|(i, s)| (*s, 1.0 + (i % 5) as f64));
    law(&weighted.collect::<Vec<_>>())
}

/// Every law the library integrates over.
fn integrators(p: &SmoothedLaw, grid: &Grid, range: MiscoverageRange) -> [Integrator; 4] {
    [
        Integrator::density(p, grid).unwrap(),
        Integrator::atoms(p.law()),
        Integrator::restricted_density(p, grid, range).unwrap(),
        Integrator::restricted_atoms(p.law(), range),
    ]
}

fn miscoverage_range() -> impl Strategy<Value = MiscoverageRange> {
    (0.0..0.9f64, 0.02..0.5f64)
        .prop_map(|(low, width)| MiscoverageRange::new(low, (low + width).min(1.0)).unwrap())
}

proptest! {
    /// The Wasserstein form is exact while the integrated form is a Riemann sum, so the paper's order holds up to the
    /// sum's error, which can be bounded without assuming anything about the grid. Let `g` be the integrand beside the
    /// density, `M` the largest density on the grid and `step = range / (K - 1)`. Each cell's left value differs
    /// from `g` on the cell by at most the variation of `g` there, `g >= 0` vanishes at the last point, where all CDFs
    /// are 1, and the weight `range / K` is below `step`:
    ///
    /// ```text
    /// range / K sum_k p(t_k) g(t_k) <= M step sum_(k < K-1) g(t_k) <= M (integral g + step variation(g))
    /// ```
    /// A CDF has variation 1, so `|F_P - F_Q|` has at most 2, and eq 7's half sum of three differences at most 3.
    #[test]
    fn integrated_bounds_are_below_wasserstein_bounds_up_to_the_grid(
        (a, b, c) in (sample(), sample(), sample()),
        count in 2usize..400,
        log_h in -3.0..0.0f64,
    ) {
        let grid = Grid::new(Score::Lac.range(2), count).unwrap();
        let p = smoothed(law(&a), 10f64.powf(log_h), &Score::Lac, 2);
        let integrator = Integrator::density(&p, &grid).unwrap();
        let (_, sup) = p.density().largest_on_grid(&grid);
        let (b, c) = (law(&b), law(&c));

        let eq_5 = integrated_gap(p.law(), &b, &integrator).value;
        let eq_6 = wasserstein_gap(&p, &b, &grid).unwrap().value;
        prop_assert!(eq_5 <= eq_6 + sup * 2.0 * grid.spacing() + ROUNDING * (1.0 + sup));

        // Ordered or not: |F_P-F_up| + |F_P-F_lo| >= |F_up-F_lo|, so eq 7's integrand is never negative.
        let pair = custom(b, c, 10).unwrap();
        let eq_7 = integrated_gap_between(p.law(), &pair, &integrator).value;
        let eq_8 = wasserstein_gap_between(&p, &pair, &grid).unwrap().value;
        prop_assert!(eq_7 >= -ROUNDING);
        prop_assert!(eq_7 <= eq_8 + sup * 3.0 * grid.spacing() + ROUNDING * (1.0 + sup));
    }

    /// On a fine grid the slack above is small, so the order itself becomes visible.
    #[test]
    fn on_a_fine_grid_the_integrated_bound_is_below_the_wasserstein_bound(
        (a, b) in (sample(), sample()),
    ) {
        let grid = Grid::new(Score::Lac.range(2), 20_001).unwrap();
        let p = smoothed(law(&a), 0.05, &Score::Lac, 2);
        let eq_5 = integrated_gap(p.law(), &law(&b), &Integrator::density(&p, &grid).unwrap()).value;
        let eq_6 = wasserstein_gap(&p, &law(&b), &grid).unwrap().value;
        // 2 M step <= 2 * 16 / 20 000 with kernels of height 0.4 / 0.05, doubled by reflection.
        prop_assert!(eq_5 <= eq_6 + 0.0016, "{eq_5} {eq_6}");
    }

    /// The reason for it all: without a label, the bound is at least what labels would have measured.
    #[test]
    fn unlabeled_min_max_bounds_are_at_least_the_measured_gap(
        table in table(),
        score in score(),
        masked in any::<bool>(),
        range in miscoverage_range(),
        alpha in 0.01..0.99f64,
    ) {
        let (calibration, target) = halves(&table);
        let q = target.truth(&score);
        let pair = min_max(&target.maybe_masked(&score, masked)).unwrap();
        let p = smoothed(weighted_truth(&calibration, &score), 0.05, &score, table.classes);
        let grid = Grid::new(score.range(table.classes), 50).unwrap();
        for integrator in integrators(&p, &grid, range) {
            let measured = integrated_gap(p.law(), &q, &integrator).value;
            let bound = integrated_gap_between(p.law(), &pair, &integrator).value;
            // Restricted masses are divided by the range's width, and rounding with them.
            let slack = ROUNDING / range.width().min(1.0) * (1.0 + 20.0);
            prop_assert!(measured <= bound + slack, "{integrator:?}: {measured} {bound}");
        }
        let alpha = Miscoverage::new(alpha).unwrap();
        let measured = labeled_gap_at(p.law(), &q, alpha).value;
        prop_assert!(measured <= unlabeled_gap_at(p.law(), &pair, alpha).value + ROUNDING);
        // The Wasserstein forms inherit it: their integrals are exact.
        let measured = wasserstein_gap(&p, &q, &grid).unwrap().value;
        let bound = wasserstein_gap_between(&p, &pair, &grid).unwrap().value;
        prop_assert!(measured <= bound * (1.0 + ROUNDING) + ROUNDING * 100.0);
    }

    /// Remark A.5: with `P` itself between the laws the two triangles collapse to the width of the sandwich.
    #[test]
    fn inside_the_sandwich_the_bound_is_its_width(
        table in table(),
        score in score(),
        range in miscoverage_range(),
    ) {
        let pair = min_max(&table.candidates(&score)).unwrap();
        let p = smoothed(table.truth(&score), 0.1, &score, table.classes);
        let grid = Grid::new(score.range(table.classes), 80).unwrap();
        for integrator in integrators(&p, &grid, range) {
            let measure = integrator.measure();
            let width = |(t, mass): (&f64, &f64)| {
                mass * (pair.lower().cdf(*t) - pair.upper().cdf(*t))
            };
            let expected: f64 = measure.points.iter().zip(&measure.masses).map(width).sum();
            let found = integrated_gap_between(p.law(), &pair, &integrator).value;
            prop_assert!((found - expected).abs() <= ROUNDING * 50.0, "{found} {expected}");
        }
    }

    /// Def 3.1: the measured gap is the average over levels of the gap at their quantiles, all levels or a range.
    #[test]
    fn the_measured_gap_averages_the_gaps_at_quantiles(
        a in sample(),
        b in sample(),
        range in miscoverage_range(),
    ) {
        let (p, q) = (law(&a), law(&b));
        let (from, to) = range.levels();
        for (from, to, integrator) in [
            (0.0, 1.0, Integrator::atoms(&p)),
            (from.get(), to.get(), Integrator::restricted_atoms(&p, range)),
        ] {
            // The gap is constant between neighbouring values of F_P, so midpoints integrate it exactly.
            let mut levels: Vec<f64> = p.cumulative().iter().copied().chain([from, to]).collect();
            levels.retain(|level| (from..=to).contains(level));
            levels.sort_by(f64::total_cmp);
            let gap = |pair: &[f64]| {
                let t = p.quantile(Level::new(0.5 * (pair[0] + pair[1])).unwrap());
                (pair[1] - pair[0]) * (p.cdf(t) - q.cdf(t)).abs()
            };
            let expected = levels.windows(2).map(gap).sum::<f64>() / (to - from);
            let found = integrated_gap(&p, &q, &integrator).value;
            prop_assert!((found - expected).abs() <= ROUNDING / (to - from) * 10.0,
                "{found} {expected}");
        }
    }

    #[test]
    fn no_distance_means_no_gap(table in table(), score in score()) {
        let p = smoothed(table.truth(&score), 0.05, &score, table.classes);
        let grid = Grid::new(score.range(table.classes), 100).unwrap();
        let closed: Sandwich = custom(p.law().clone(), p.law().clone(), table.rows()).unwrap();
        let integrator = Integrator::density(&p, &grid).unwrap();
        prop_assert_eq!(integrated_gap(p.law(), p.law(), &integrator).value, 0.0);
        prop_assert_eq!(integrated_gap_between(p.law(), &closed, &integrator).value, 0.0);
        prop_assert_eq!(wasserstein_gap(&p, p.law(), &grid).unwrap().value, 0.0);
        prop_assert_eq!(wasserstein_gap_between(&p, &closed, &grid).unwrap().value, 0.0);
    }

    /// Averages of differences of CDFs cannot exceed one when averaged over atoms.
    #[test]
    fn averages_over_atoms_stay_between_zero_and_one(table in table(), score in score()) {
        let (calibration, target) = halves(&table);
        let p = weighted_truth(&calibration, &score);
        for pair in [
            min_max(&target.candidates(&score)).unwrap(),
            model_uniform(&target.candidates(&score)).unwrap(),
        ] {
            let bound = integrated_gap_between(&p, &pair, &Integrator::atoms(&p)).value;
            prop_assert!((-ROUNDING..=1.0 + ROUNDING).contains(&bound), "{bound}");
        }
    }
}
