//! The weight function's network: golden numbers, a dense slow twin, and finite differences.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its case should stop")]

use evenkeel::learning::network::{Batch, LOG_WEIGHT_LIMIT, LayerArrays, Mlp};
use evenkeel::learning::optimise::{Adam, AdamSettings};
use evenkeel::seed::Seed;
use proptest::prelude::*;

mod golden {
    use super::*;
    use serde_json::Value;

    /// `init` and the gradients.
    const GRADIENT_TOLERANCE: f64 = 1e-10;
    /// Log-weights and weights along the path.
    const PATH_TOLERANCE: f64 = 1e-9;

    fn case() -> Value {
        let text = include_str!("golden/cases/weight_function.json");
        serde_json::from_str(text).unwrap()
    }

    /// All numbers in a nested array, in order.
    fn numbers(value: &Value) -> Vec<f64> {
        match value {
            Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
            Value::Null => vec![f64::INFINITY],
            number => vec![number.as_f64().unwrap()],
        }
    }

    fn four(value: &Value) -> [Vec<f64>; 4] {
        [0, 1, 2, 3].map(|k| numbers(&value[k]))
    }

    fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            let off = (found - expected).abs();
            assert!(off <= tolerance, "{what}[{i}]: {found} is {off:e} off {expected}");
        }
    }

    /// Equation 7 on the grid with the exact (f, U) pair: every sum as it is written, none of them fast.
    struct SlowObjective {
        scores: Vec<f64>,
        grid: Vec<f64>,
        /// `kernel[k][i]`.
        kernel: Vec<Vec<f64>>,
        down: Vec<f64>,
        up: Vec<f64>,
    }

    impl SlowObjective {
        fn new(inputs: &Value) -> Self {
            let scores = numbers(&inputs["s_fit"]);
            let rows: Vec<Vec<f64>> =
                inputs["probs_q"].as_array().unwrap().iter().map(numbers).collect();
            let points = inputs["K"].as_u64().unwrap();
            let h = inputs["h"].as_f64().unwrap();
            let grid: Vec<f64> = (0..points).map(|k| k as f64 / (points - 1) as f64).collect();
            let phi = |u: f64| (-u * u / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let mirrored = |t: f64, s: f64| {
                (phi((t - s) / h) + phi((t + s) / h) + phi((t - (2.0 - s)) / h)) / h
            };
            let kernel =
                grid.iter().map(|t| scores.iter().map(|s| mirrored(*t, *s)).collect()).collect();
            let m = rows.len() as f64;
            let cdf = |t: f64, mass: &dyn Fn(f64, usize) -> f64| -> f64 {
                let atoms = rows.iter().flat_map(|row| row.iter().map(|p| (*p, row.len())));
                atoms.filter(|(p, _)| 1.0 - p <= t).map(|(p, classes)| mass(p, classes)).sum()
            };
            let down = grid.iter().map(|t| cdf(*t, &|p, _| p / m)).collect();
            let up = grid.iter().map(|t| cdf(*t, &|_, classes| 1.0 / (m * classes as f64)));
            let up = up.collect();
            Self { scores, grid, kernel, down, up }
        }

        fn value_and_slopes(&self, log_weights: &[f64]) -> (f64, Vec<f64>) {
            let sgn = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
            let n = self.scores.len();
            let points = self.grid.len() as f64;
            let total: f64 = log_weights.iter().map(|l| l.exp()).sum();
            let w: Vec<f64> = log_weights.iter().map(|l| l.exp() / total).collect();
            let mut value = 0.0;
            let mut to_w = vec![0.0; n];
            for (k, t) in self.grid.iter().enumerate() {
                let below = |i: &usize| self.scores[*i] <= *t;
                let cdf: f64 = (0..n).filter(below).map(|i| w[i]).sum();
                let p: f64 = (0..n).map(|i| w[i] * self.kernel[k][i]).sum();
                let (to_up, to_down) = (cdf - self.up[k], cdf - self.down[k]);
                let gap = (to_up.abs() + to_down.abs() + self.down[k] - self.up[k]) / 2.0;
                value += p * gap / points;
                for (i, slope) in to_w.iter_mut().enumerate() {
                    *slope += self.kernel[k][i] * 2.0 * gap / (2.0 * points);
                    if below(&i) {
                        *slope += p * (sgn(to_up) + sgn(to_down)) / (2.0 * points);
                    }
                }
            }
            let mean: f64 = w.iter().zip(&to_w).map(|(w, g)| w * g).sum();
            (value, w.iter().zip(&to_w).map(|(w, g)| w * (g - mean)).collect())
        }
    }

    fn network(inputs: &Value) -> Mlp {
        let layers =
            LayerArrays { weights: four(&inputs["weights"]), biases: four(&inputs["biases"]) };
        Mlp::from_layers(&layers).unwrap()
    }

    #[test]
    fn log_weights_and_gradients_at_the_start() {
        let case = case();
        let (inputs, init) = (&case["inputs"], &case["init"]);
        let network = network(inputs);
        let objective = SlowObjective::new(inputs);
        let mut batch = Batch::new(&objective.scores).unwrap();
        let pass = batch.forward(&network);
        let expected = numbers(&init["logw_fit"]);
        assert_close("logw_fit", pass.log_weights(), &expected, GRADIENT_TOLERANCE);

        let (value, slopes) = objective.value_and_slopes(pass.log_weights());
        let expected = init["objective"].as_f64().unwrap();
        assert_close("objective", &[value], &[expected], GRADIENT_TOLERANCE);
        let mut gradient = vec![f64::NAN; <Mlp>::PARAMETERS];
        pass.backward(&slopes, &mut gradient).unwrap();
        let found = <Mlp>::to_layers(&gradient).unwrap();
        for k in 0..4 {
            let weights = numbers(&init["grad_weights"][k]);
            let biases = numbers(&init["grad_biases"][k]);
            assert_close("grad_weights", &found.weights[k], &weights, GRADIENT_TOLERANCE);
            assert_close("grad_biases", &found.biases[k], &biases, GRADIENT_TOLERANCE);
        }
    }

    #[test]
    fn one_ten_and_a_hundred_steps() {
        let case = case();
        let inputs = &case["inputs"];
        let mut network = network(inputs);
        let objective = SlowObjective::new(inputs);
        let calibration = numbers(&inputs["s_cal"]);
        let alphas = numbers(&inputs["alphas"]);
        let mut batch = Batch::new(&objective.scores).unwrap();
        let settings = AdamSettings::new(inputs["lr"].as_f64().unwrap()).unwrap();
        let mut adam = Adam::new(settings, <Mlp>::PARAMETERS);
        let mut gradient = vec![0.0; <Mlp>::PARAMETERS];
        for step in 1..=100 {
            let pass = batch.forward(&network);
            let (_, slopes) = objective.value_and_slopes(pass.log_weights());
            pass.backward(&slopes, &mut gradient).unwrap();
            adam.step(network.parameters_mut(), &gradient).unwrap();

            let after = &case[format!("after_{step}")];
            if after.is_null() {
                continue;
            }
            let at = |scores: &[f64]| {
                let mut log_weights = vec![0.0; scores.len()];
                network.curve().log_weights(scores, &mut log_weights).unwrap();
                log_weights
            };
            let on_calibration = at(&calibration);
            let on_grid = at(&objective.grid);
            let largest = on_grid.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = on_calibration.iter().map(|l| l.exp()).sum();
            let total = total + largest.exp();
            let weights: Vec<f64> = on_calibration.iter().map(|l| l.exp() / total).collect();
            for (key, found) in [
                ("logw_fit", at(&objective.scores)),
                ("logw_cal", on_calibration),
                ("logw_grid", on_grid),
                ("max_grid", vec![largest]),
                ("test_weights", weights.clone()),
            ] {
                assert_close(key, &found, &numbers(&after[key]), PATH_TOLERANCE);
            }
            let thresholds: Vec<f64> =
                alphas.iter().map(|alpha| quantile(&calibration, &weights, 1.0 - alpha)).collect();
            assert_eq!(thresholds, numbers(&after["thresholds"]), "step {step}");
        }
    }

    fn quantile(atoms: &[f64], masses: &[f64], level: f64) -> f64 {
        let cdf = |t: f64| -> f64 {
            atoms.iter().zip(masses).filter(|(atom, _)| **atom <= t).map(|(_, mass)| mass).sum()
        };
        let reached = atoms.iter().copied().filter(|atom| cdf(*atom) >= level - 1e-12);
        reached.fold(f64::INFINITY, f64::min)
    }
}

/// The slow twin: the network as dense layers, unit by unit.
struct Dense {
    /// Inputs of every layer's activation, per point: `inputs[layer][unit]`.
    inputs: [Vec<f64>; 4],
}

impl Dense {
    fn forward(layers: &LayerArrays, score: f64) -> Self {
        let mut signal = vec![score];
        let inputs = [0, 1, 2, 3].map(|k| {
            let rows = layers.weights[k].chunks_exact(signal.len()).zip(&layers.biases[k]);
            let inputs: Vec<f64> = rows
                .map(|(row, bias)| bias + row.iter().zip(&signal).map(|(w, x)| w * x).sum::<f64>())
                .collect();
            signal = inputs.iter().map(|z| z.max(0.0)).collect();
            inputs
        });
        Self { inputs }
    }

    fn log_weight(&self) -> f64 {
        LOG_WEIGHT_LIMIT * (self.inputs[3][0] / LOG_WEIGHT_LIMIT).tanh()
    }

    /// Adds this point's share of the gradient.
    fn backward(&self, layers: &LayerArrays, score: f64, slope: f64, gradient: &mut LayerArrays) {
        let tanh = self.log_weight() / LOG_WEIGHT_LIMIT;
        let mut deltas = vec![slope * (1.0 - tanh * tanh)];
        for k in (0..4).rev() {
            let below: Vec<f64> = match k {
                0 => vec![score],
                _ => self.inputs[k - 1].iter().map(|z| z.max(0.0)).collect(),
            };
            let width = below.len();
            let mut next = vec![0.0; width];
            for (to, delta) in deltas.iter().enumerate() {
                gradient.biases[k][to] += delta;
                for from in 0..width {
                    gradient.weights[k][to * width + from] += delta * below[from];
                    if below[from] > 0.0 {
                        next[from] += delta * layers.weights[k][to * width + from];
                    }
                }
            }
            deltas = next;
        }
    }

    fn nearest_kink(&self) -> f64 {
        let hidden = self.inputs[..3].iter().flatten();
        hidden.fold(f64::INFINITY, |nearest, z| nearest.min(z.abs()))
    }
}

fn dense_gradient(layers: &LayerArrays, scores: &[f64], slopes: &[f64]) -> LayerArrays {
    let zeros = |arrays: &[Vec<f64>; 4]| arrays.each_ref().map(|array| vec![0.0; array.len()]);
    let mut gradient =
        LayerArrays { weights: zeros(&layers.weights), biases: zeros(&layers.biases) };
    for (score, slope) in scores.iter().zip(slopes) {
        Dense::forward(layers, *score).backward(layers, *score, *slope, &mut gradient);
    }
    gradient
}

fn assert_layers_close(found: &LayerArrays, expected: &LayerArrays, tolerance: f64) {
    let flat = |layers: &LayerArrays| -> Vec<f64> {
        layers.weights.iter().chain(&layers.biases).flatten().copied().collect()
    };
    for (found, expected) in flat(found).into_iter().zip(flat(expected)) {
        let off = (found - expected).abs();
        assert!(off <= tolerance * expected.abs().max(1.0), "{found} against {expected}");
    }
}

type Small = Mlp<7, 5, 3>;

/// Small networks on a lattice of parameters, so that zero weights, shared breakpoints and scores exactly on them are
/// common; or off any lattice.
fn small_network() -> impl Strategy<Value = Small> {
    let parameter = prop_oneof![(-4i8..=4).prop_map(|k| f64::from(k) / 4.0), -1.5..1.5f64];
    prop::collection::vec(parameter, Small::PARAMETERS).prop_map(|parameters| {
        let mut network = Small::initialised(Seed::new(0));
        network.parameters_mut().copy_from_slice(&parameters);
        network
    })
}

fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let score = prop_oneof![(-4i8..=8).prop_map(|k| f64::from(k) / 4.0), -1.0..2.0f64];
    prop::collection::vec((score, -1.0..1.0f64), 1..20)
}

proptest! {
    #[test]
    fn both_directions_match_the_dense_network(network in small_network(), points in points()) {
        let (scores, slopes): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let layers = Small::to_layers(network.parameters()).unwrap();
        let mut batch = Batch::new(&scores).unwrap();
        let pass = batch.forward(&network);
        for (score, log_weight) in scores.iter().zip(pass.log_weights()) {
            let expected = Dense::forward(&layers, *score).log_weight();
            prop_assert!((log_weight - expected).abs() < 1e-13 * 20.0);
        }
        // Behind the second layer an input that is 0 in exact arithmetic may round to either side of the kink, and both
        // sides are right; at the first layer, where scores meet breakpoints, no rounding may decide.
        let kinks = scores.iter().map(|score| {
            let dense = Dense::forward(&layers, *score);
            dense.inputs[1..3].iter().flatten().fold(f64::INFINITY, |near, z| near.min(z.abs()))
        });
        if kinks.fold(f64::INFINITY, f64::min) > 1e-12 {
            let mut gradient = vec![f64::NAN; Small::PARAMETERS];
            pass.backward(&slopes, &mut gradient).unwrap();
            let found = Small::to_layers(&gradient).unwrap();
            assert_layers_close(&found, &dense_gradient(&layers, &scores, &slopes), 1e-12);
        }
    }

    #[test]
    fn the_gradient_matches_central_differences(seed in any::<u64>(), points in points()) {
        let (scores, slopes): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let network = Small::initialised(Seed::new(seed));
        let layers = Small::to_layers(network.parameters()).unwrap();
        let kinks = scores.iter().map(|score| Dense::forward(&layers, *score).nearest_kink());
        prop_assume!(kinks.fold(f64::INFINITY, f64::min) > 1e-4);

        let mut batch = Batch::new(&scores).unwrap();
        let mut gradient = vec![0.0; Small::PARAMETERS];
        batch.forward(&network).backward(&slopes, &mut gradient).unwrap();
        let step = 1e-6;
        for (i, slope) in gradient.iter().enumerate() {
            let mut at = |delta: f64| -> f64 {
                let mut moved = network.clone();
                moved.parameters_mut()[i] += delta;
                let pass = batch.forward(&moved);
                slopes.iter().zip(pass.log_weights()).map(|(slope, l)| slope * l).sum()
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            prop_assert!((slope - difference).abs() < 1e-7,
                "parameter {i}: {slope} against {difference}");
        }
    }

    /// Alone, in any batch, after any other network was in the workspace: the same bits.
    #[test]
    fn a_log_weight_does_not_depend_on_its_company(
        seeds in (any::<u64>(), any::<u64>()),
        points in points(),
    ) {
        let scores: Vec<f64> = points.into_iter().map(|(score, _)| score).collect();
        let network: Mlp = Mlp::initialised(Seed::new(seeds.0));
        let other: Mlp = Mlp::initialised(Seed::new(seeds.1));
        let mut batch = Batch::new(&scores).unwrap();
        batch.forward(&other);
        let mut listed = vec![0.0; scores.len()];
        network.curve().log_weights(&scores, &mut listed).unwrap();
        let pass = batch.forward(&network);
        prop_assert_eq!(pass.log_weights(), &listed[..]);
        for (score, log_weight) in scores.iter().zip(&listed) {
            prop_assert_eq!(network.curve().log_weight(*score), *log_weight);
            let mut alone = Batch::new(&[*score]).unwrap();
            let pass = alone.forward(&network);
            prop_assert_eq!(pass.log_weights(), &[*log_weight]);
        }
    }

    #[test]
    fn a_parameter_that_is_no_number_is_never_hidden(
        seed in any::<u64>(),
        score in 0.0..1.0f64,
        broken in 0..14usize,
    ) {
        let mut network = Small::initialised(Seed::new(seed));
        // Make the rest of the path open, so that what the first layer says is heard at the output.
        network.parameters_mut()[14..].fill(0.5);
        network.parameters_mut()[broken] = f64::NAN;
        prop_assert!(network.curve().log_weight(score).is_nan());
    }
}

#[test]
fn the_paper_s_network_matches_the_dense_one_at_many_scores() {
    let network: Mlp = Mlp::initialised(Seed::new(11));
    let layers = <Mlp>::to_layers(network.parameters()).unwrap();
    let scores: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 300) / 299.0).collect();
    let slopes: Vec<f64> = scores.iter().map(|s| (40.0 * s).sin()).collect();
    let mut batch = Batch::new(&scores).unwrap();
    let pass = batch.forward(&network);
    for (score, log_weight) in scores.iter().zip(pass.log_weights()) {
        let expected = Dense::forward(&layers, *score).log_weight();
        assert!((log_weight - expected).abs() < 1e-13);
    }
    let mut gradient = vec![0.0; <Mlp>::PARAMETERS];
    pass.backward(&slopes, &mut gradient).unwrap();
    let found = <Mlp>::to_layers(&gradient).unwrap();
    assert_layers_close(&found, &dense_gradient(&layers, &scores, &slopes), 1e-12);
}

#[test]
fn lengths_and_scores_are_checked() {
    assert!(Batch::<7, 5, 3>::new(&[]).is_err());
    assert!(Batch::<7, 5, 3>::new(&[0.5, f64::NAN]).is_err());
    let network = Small::initialised(Seed::new(0));
    let mut batch = Batch::new(&[0.5]).unwrap();
    let mut gradient = vec![0.0; Small::PARAMETERS];
    assert!(batch.forward(&network).backward(&[1.0, 2.0], &mut gradient).is_err());
    assert!(batch.forward(&network).backward(&[1.0], &mut gradient[1..]).is_err());
    assert!(network.curve().log_weights(&[0.5], &mut []).is_err());
    assert!(network.curve().log_weights(&[f64::INFINITY], &mut [0.0]).is_err());
}
