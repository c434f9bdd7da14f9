//! Real-valued scores: plain kernels on the whole line.

use crate::case::{TOLERANCE, assert_close, number, numbers, read};
use evenkeel::measure::{
    Bandwidth, GaussianKde, Support, WeightedEmpirical, Weights, wasserstein_1,
};

#[test]
fn densities_cdfs_and_distances_on_the_whole_line() {
    let file = read("unbounded");
    let law = |atoms: &str, weights: &str| {
        let weights = Weights::normalised(numbers(&file[weights])).unwrap();
        WeightedEmpirical::new(&numbers(&file[atoms]), &weights).unwrap()
    };
    let (x, y) = (law("x", "wx"), law("y", "wy"));
    let points = numbers(&file["points"]);
    let close = |key: &str, found: &[f64]| {
        assert_close(key, found, &numbers(&file[key]), TOLERANCE);
    };
    close("F_x", &x.cdf_at_increasing(&points));
    close("F_y", &y.cdf_at_increasing(&points));
    close("w1", &[wasserstein_1(&x, &y)]);
    close("mean_x", &[x.mean()]);
    close("mean_y", &[y.mean()]);
    close("ess_x", &[x.effective_sample_size()]);
    close("ess_y", &[y.effective_sample_size()]);

    let bandwidth = Bandwidth::new(number(&file["h"])).unwrap();
    let kde = GaussianKde::new(&x, bandwidth, Support::Line).unwrap();
    let found: Vec<f64> = points.iter().map(|t| kde.density(*t)).collect();
    let expected = numbers(&file["kde_x"]);
    let largest = expected.iter().fold(0.0_f64, |largest, p| largest.max(*p));
    assert_close("kde_x", &found, &expected, TOLERANCE * largest);
}
