//! Loading a case, and comparing with it.

use evenkeel::interval::Interval;
use evenkeel::level::{FailureProbability, Miscoverage, MiscoverageRange};
use evenkeel::measure::{Bandwidth, Grid, SmoothedLaw, Support, WeightedEmpirical, Weights};
use evenkeel::sandwich::{Sandwich, custom_from_scores, min_max, model_uniform};
use evenkeel::score::{CandidateScores, Labels, Probabilities, Score};
use serde_json::Value;
use std::path::Path;

/// Absolute agreement for CDFs, weights, distances and bounds; relative to the largest value for densities.
pub const TOLERANCE: f64 = 1e-10;
/// Agreement of a sketch, whose masses are whole multiples of `2^-62`.
pub const SKETCH_TOLERANCE: f64 = 1e-12;

const NAMES: [&str; 6] =
    ["n30_m40_c5", "n300_m300_c10", "wide_bandwidth", "ties", "extreme", "single"];
/// Names of the auxiliary pairs in the files.
pub const PAIRS: [&str; 3] = ["minmax", "fu_exact", "fu_sampled"];

/// A golden file with the objects its expected numbers are about.
pub struct Case {
    pub name: &'static str,
    pub json: Value,
    pub scores: Vec<f64>,
    pub weights: Weights,
    /// `P_w` with its reflected density.
    pub p: SmoothedLaw,
    /// Law of the labeled scores of the target data.
    pub q: WeightedEmpirical,
    pub grid: Grid,
    /// Target probabilities, row after row.
    pub probabilities: Vec<f64>,
    pub classes: usize,
    pub labels: Vec<usize>,
    pub candidates: CandidateScores,
}

impl Case {
    fn load(name: &'static str) -> Self {
        let json = read(name);
        let inputs = &json["inputs"];
        let scores = numbers(&inputs["s_cal"]);
        let weights = Weights::softmax(numbers(&inputs["logw0"])).unwrap();
        let law = WeightedEmpirical::new(&scores, &weights).unwrap();
        let bandwidth = Bandwidth::new(number(&inputs["h"])).unwrap();
        let p = SmoothedLaw::new(law, bandwidth, Support::Bounded(Interval::UNIT)).unwrap();
        let rows = inputs["probs_q"].as_array().unwrap();
        let classes = rows[0].as_array().unwrap().len();
        let probabilities: Vec<f64> = rows.iter().flat_map(numbers).collect();
        let labels = indices(&inputs["labels_q"]);
        let table = Probabilities::new(&probabilities, classes).unwrap();
        let candidates = Score::Lac.candidate_scores(&table).unwrap();
        let labeled = Labels::new(labels.clone(), classes).unwrap();
        let q = WeightedEmpirical::uniform(&Score::Lac.label_scores(&table, &labeled).unwrap());
        let grid = Grid::new(Interval::UNIT, indices(&inputs["K"])[0]).unwrap();
        let q = q.unwrap();
        Self { name, json, scores, weights, p, q, grid, probabilities, classes, labels, candidates }
    }

    /// The auxiliary pair of this name; `fu_sampled` from the labels drawn for the file.
    pub fn sandwich(&self, pair: &str) -> Sandwich {
        let drawn = |key: &str| {
            let labels = indices(&self.json["inputs"][key]);
            self.candidates.at_labels(&labels).unwrap()
        };
        match pair {
            "minmax" => min_max(&self.candidates).unwrap(),
            "fu_exact" => model_uniform(&self.candidates).unwrap(),
            "fu_sampled" => custom_from_scores(&drawn("labels_f"), &drawn("labels_u")).unwrap(),
            other => panic!("no pair named {other}"),
        }
    }

    pub fn alphas(&self) -> Vec<Miscoverage> {
        miscoverages(&self.json["inputs"]["alphas"])
    }

    pub fn range(&self) -> MiscoverageRange {
        let inputs = &self.json["inputs"];
        MiscoverageRange::new(number(&inputs["a_lo"]), number(&inputs["a_hi"])).unwrap()
    }

    pub fn failure(&self) -> FailureProbability {
        FailureProbability::new(number(&self.json["inputs"]["dkw_d"])).unwrap()
    }

    /// The expected value at a path of keys.
    pub fn expected(&self, path: &[&str]) -> &Value {
        let value = path.iter().fold(&self.json, |value, key| &value[*key]);
        assert!(!value.is_null(), "{} has no {path:?}", self.name);
        value
    }

    /// Asserts agreement of one number with the file.
    pub fn close(&self, path: &[&str], found: f64) {
        self.all_close(path, &[found]);
    }

    /// Asserts agreement of a vector with the file.
    pub fn all_close(&self, path: &[&str], found: &[f64]) {
        let what = format!("{} {}", self.name, path.join("."));
        assert_close(&what, found, &numbers(self.expected(path)), TOLERANCE);
    }
}

/// Runs a check on every case.
pub fn for_every_case(check: impl Fn(&Case)) {
    NAMES.into_iter().for_each(|name| check(&Case::load(name)));
}

/// Runs a check on every pair of every case.
pub fn for_every_pair(check: impl Fn(&Case, &str, &Sandwich)) {
    for_every_case(|case| PAIRS.iter().for_each(|pair| check(case, pair, &case.sandwich(pair))));
}

pub fn read(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cases");
    let text = std::fs::read_to_string(folder.join(name).with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A number; `null` stands for plus infinity.
pub fn number(value: &Value) -> f64 {
    if value.is_null() { f64::INFINITY } else { value.as_f64().expect("a number") }
}

/// A list of numbers, or a single one as a list.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or_else(|| vec![number(value)], |list| list.iter().map(number).collect())
}

pub fn indices(value: &Value) -> Vec<usize> {
    let index = |value: &Value| usize::try_from(value.as_u64().expect("an index")).unwrap();
    value.as_array().map_or_else(|| vec![index(value)], |list| list.iter().map(index).collect())
}

pub fn miscoverages(value: &Value) -> Vec<Miscoverage> {
    numbers(value).into_iter().map(|alpha| Miscoverage::new(alpha).unwrap()).collect()
}

/// Asserts that two vectors agree entry by entry. Written with `<=` so that a NaN fails.
pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let agree = (found - expected).abs() <= tolerance;
        assert!(agree, "{what}[{index}]: found {found}, expected {expected}");
    }
}
