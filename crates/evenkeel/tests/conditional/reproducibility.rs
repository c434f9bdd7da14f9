//! The same bits for any number of threads, any batch, and after a round trip through text.

use evenkeel::method::conditional::{ConditionalModel, ConditionalRecord};
use evenkeel::rows::Rows;
use evenkeel::threshold::Threshold;

use crate::problems::softmax_problem;

fn bits(cutoffs: &[Threshold]) -> Vec<u64> {
    cutoffs.iter().map(|cutoff| cutoff.get().to_bits()).collect()
}

#[test]
fn threads_batches_and_files_do_not_change_a_bit() {
    let problem = softmax_problem(150, 23, 4);
    let test = Rows::new("test features", &problem.test, problem.columns).unwrap();
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| problem.model().cutoffs(test, problem.alpha()).unwrap())
    };
    let one = with_threads(1);
    assert_eq!(bits(&one), bits(&with_threads(2)));
    assert_eq!(bits(&one), bits(&with_threads(5)));
    let model = problem.model();
    let at_rate = model.at(problem.alpha()).unwrap();
    for (row, point) in problem.test_points().enumerate() {
        let single = Rows::new("test features", point, problem.columns).unwrap();
        assert_eq!(bits(&model.cutoffs(single, problem.alpha()).unwrap()), bits(&one[row..=row]));
        assert_eq!(bits(&at_rate.cutoffs(single).unwrap()), bits(&one[row..=row]));
    }
    let text = serde_json::to_string(&ConditionalRecord::from(&model)).unwrap();
    let record: ConditionalRecord = serde_json::from_str(&text).unwrap();
    let read = ConditionalModel::try_from(record).unwrap();
    assert_eq!(bits(&read.cutoffs(test, problem.alpha()).unwrap()), bits(&one));
}

#[test]
fn single_precision_features_are_widened() {
    let problem = softmax_problem(40, 5, 6);
    let narrow: Vec<f32> = problem.test.iter().map(|value| *value as f32).collect();
    let wide: Vec<f64> = narrow.iter().map(|value| f64::from(*value)).collect();
    let model = problem.model();
    let narrow = Rows::new("test features", &narrow, problem.columns).unwrap();
    let wide = Rows::new("test features", &wide, problem.columns).unwrap();
    assert_eq!(
        bits(&model.cutoffs(narrow, problem.alpha()).unwrap()),
        bits(&model.cutoffs(wide, problem.alpha()).unwrap())
    );
}
