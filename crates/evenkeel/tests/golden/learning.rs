//! Objectives, gradients and whole learning paths.

use crate::case::{
    Case, TOLERANCE, assert_close, for_every_pair, miscoverages, number, numbers, read,
};
use evenkeel::bound::{Integrator, integrated_gap};
use evenkeel::interval::Interval;
use evenkeel::learning::network::{LayerArrays, Mlp};
use evenkeel::learning::objective::{
    Objective, ObjectiveInputs, WassersteinObjective, WeightedCdfObjective,
};
use evenkeel::learning::optimise::{AdamSettings, StopReason, StoppingRule};
use evenkeel::learning::{
    FreeFormFit, FreeFormSettings, WeightFunctionSettings, fit_free_form, fit_weight_function,
    free_form_test_mass, function_weights,
};
use evenkeel::measure::{Bandwidth, Grid, Support, WeightedEmpirical, Weights};
use evenkeel::sandwich::{Sandwich, model_uniform};
use evenkeel::score::{Probabilities, Score};
use evenkeel::threshold::conformal_threshold;
use serde_json::Value;
use std::ops::ControlFlow;

/// The paths amplify rounding about a thousand times at learning rate 0.1.
const LONG_PATH_TOLERANCE: f64 = 1e-8;
/// Stated for the weight function.
const FUNCTION_TOLERANCE: f64 = 1e-9;

/// Scores in increasing order, and where each came from.
fn sorted(scores: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    (order.iter().map(|index| scores[*index]).collect(), order)
}

/// Values in sorted order back in the file's order.
fn unsorted(values: &[f64], order: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; values.len()];
    order.iter().zip(values).for_each(|(index, value)| out[*index] = *value);
    out
}

fn objective(case: &Case, name: &str, scores: &[f64], sandwich: &Sandwich) -> Box<dyn Objective> {
    let inputs = ObjectiveInputs {
        sorted_scores: scores,
        sandwich,
        grid: &case.grid,
        bandwidth: case.p.density().bandwidth(),
        support: case.p.density().support(),
    };
    match name {
        "wcdf" => Box::new(WeightedCdfObjective::new(inputs).unwrap()),
        "w1" => Box::new(WassersteinObjective::new(inputs).unwrap()),
        other => panic!("no objective named {other}"),
    }
}

#[test]
fn objectives_and_their_gradients() {
    for_every_pair(|case, pair, sandwich| {
        let (scores, order) = sorted(&case.scores);
        let weights: Vec<f64> = order.iter().map(|i| case.weights.as_slice()[*i]).collect();
        for name in ["wcdf", "w1"] {
            let mut slopes = vec![0.0; scores.len()];
            let value =
                objective(case, name, &scores, sandwich).value_and_gradient(&weights, &mut slopes);
            case.close(&["aux", pair, "value", name], value);
            let mean: f64 = slopes.iter().zip(&weights).map(|(g, w)| g * w).sum();
            let in_log_weights: Vec<f64> =
                slopes.iter().zip(&weights).map(|(g, w)| w * (g - mean)).collect();
            case.all_close(&["aux", pair, "grad", name], &unsorted(&in_log_weights, &order));
        }
    });
}

fn learn(case: &Case, name: &str, sandwich: &Sandwich, rate: f64, steps: usize) -> FreeFormFit {
    let (scores, order) = sorted(&case.scores);
    let start = numbers(&case.json["inputs"]["logw0"]);
    let start: Vec<f64> = order.iter().map(|index| start[*index]).collect();
    let settings = FreeFormSettings {
        adam: AdamSettings::new(rate).unwrap(),
        stopping: StoppingRule::after(steps).unwrap(),
    };
    let mut fit = fit_free_form(
        &scores,
        objective(case, name, &scores, sandwich),
        &start,
        settings,
        case.alphas()[1],
        &mut |_, _| Ok(()),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!((fit.steps, fit.stopped), (steps, StopReason::MaxSteps));
    fit.log_weights = unsorted(&fit.log_weights, &order);
    fit
}

#[test]
fn learning_paths_and_what_follows_from_them() {
    for_every_pair(|case, pair, sandwich| {
        for name in ["wcdf", "w1"] {
            let runs = case.expected(&["adam", pair, name]).as_array().unwrap();
            assert_eq!(runs.len(), 2, "two learning rates");
            for run in runs {
                check_run(case, pair, name, sandwich, run);
            }
        }
    });
}

fn check_run(case: &Case, pair: &str, name: &str, sandwich: &Sandwich, run: &Value) {
    let rate = number(&run["lr"]);
    let last = run["last_step"].as_u64().unwrap() as usize;
    let what = format!("{} {pair} {name} at {rate}", case.name);
    for steps in [1, 10, 100].into_iter().filter(|steps| *steps <= last) {
        let tolerance = if rate > 0.05 && steps == 100 { LONG_PATH_TOLERANCE } else { TOLERANCE };
        let fit = learn(case, name, sandwich, rate, steps);
        let expected = numbers(&run[format!("logw_{steps}")]);
        assert_close(&format!("{what} after {steps}"), &fit.log_weights, &expected, tolerance);
    }
    let fit = learn(case, name, sandwich, rate, last);
    let reached = fit.trace.points().last().unwrap().objective;
    let tolerance = if rate > 0.05 { LONG_PATH_TOLERANCE } else { TOLERANCE };
    assert_close(&what, &[reached], &[number(&run["objective_after"])], tolerance);

    let weights = Weights::softmax(fit.log_weights.clone()).unwrap();
    let law = WeightedEmpirical::new(&case.scores, &weights).unwrap();
    let gap = integrated_gap(&law, &case.q, &Integrator::atoms(&law)).value;
    assert_close(&what, &[gap], &[number(&run["total_coverage_gap"])], tolerance);
    let test = free_form_test_mass(&fit.log_weights).unwrap();
    let with_test: Vec<f64> =
        weights.as_slice().iter().map(|weight| weight * (1.0 - test.get())).collect();
    assert_close(&what, &with_test, &numbers(&run["test_weights"]), tolerance);
    let thresholds: Vec<f64> =
        case.alphas().iter().map(|a| conformal_threshold(&law, test, *a).get()).collect();
    assert_eq!(thresholds, numbers(&run["thresholds"]), "{what}: thresholds");
}

#[test]
fn the_weight_function_and_what_follows_from_it() {
    let json = read("weight_function");
    let inputs = &json["inputs"];
    let classes = inputs["probs_q"][0].as_array().unwrap().len();
    let rows = inputs["probs_q"].as_array().unwrap();
    let probabilities: Vec<f64> = rows.iter().flat_map(numbers).collect();
    let table = Probabilities::new(&probabilities, classes).unwrap();
    let sandwich = model_uniform(&Score::Lac.candidate_scores(&table).unwrap()).unwrap();
    let grid = Grid::new(Interval::UNIT, inputs["K"].as_u64().unwrap() as usize).unwrap();
    let (fitted, _) = sorted(&numbers(&inputs["s_fit"]));
    let calibration = numbers(&inputs["s_cal"]);
    let alphas = miscoverages(&inputs["alphas"]);
    for steps in [1, 10, 100] {
        let objective = WeightedCdfObjective::new(ObjectiveInputs {
            sorted_scores: &fitted,
            sandwich: &sandwich,
            grid: &grid,
            bandwidth: Bandwidth::new(number(&inputs["h"])).unwrap(),
            support: Support::Bounded(Interval::UNIT),
        });
        let fit = fit_weight_function(
            &fitted,
            &sorted(&calibration).0,
            &grid,
            objective.unwrap(),
            network(inputs),
            WeightFunctionSettings {
                adam: AdamSettings::new(number(&inputs["lr"])).unwrap(),
                stopping: StoppingRule::after(steps).unwrap(),
            },
            alphas[1],
            &mut |_, _| Ok(()),
            &mut |_| ControlFlow::Continue(()),
        )
        .unwrap();
        let expected = &json[format!("after_{steps}")];
        let curve = fit.network.curve();
        for (key, scores) in [("logw_cal", &calibration), ("logw_grid", &grid.points().to_vec())] {
            let found: Vec<f64> = scores.iter().map(|s| curve.log_weight(*s)).collect();
            let what = format!("{key} after {steps}");
            assert_close(&what, &found, &numbers(&expected[key]), FUNCTION_TOLERANCE);
        }
        let weighted = function_weights(&fit.network, &calibration, &grid).unwrap();
        let share = 1.0 - weighted.test_mass.get();
        let with_test: Vec<f64> = weighted.weights.as_slice().iter().map(|w| w * share).collect();
        let test_weights = numbers(&expected["test_weights"]);
        assert_close("test weights", &with_test, &test_weights, FUNCTION_TOLERANCE);
        let law = WeightedEmpirical::new(&calibration, &weighted.weights).unwrap();
        let thresholds: Vec<f64> = alphas
            .iter()
            .map(|a| conformal_threshold(&law, weighted.test_mass, *a).get())
            .collect();
        assert_eq!(thresholds, numbers(&expected["thresholds"]), "thresholds after {steps}");
    }
}

fn network(inputs: &Value) -> Mlp {
    let flat = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().flat_map(numbers).collect()
    };
    let layers = |key: &str, read: &dyn Fn(&Value) -> Vec<f64>| -> [Vec<f64>; 4] {
        std::array::from_fn(|layer| read(&inputs[key][layer]))
    };
    Mlp::from_layers(&LayerArrays {
        weights: layers("weights", &flat),
        biases: layers("biases", &|value| numbers(value)),
    })
    .unwrap()
}
