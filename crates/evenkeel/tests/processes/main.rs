//! Every method with its target rows in other processes: pieces cut at random, shuffled, made in processes of their own, merged
//! in a random tree, in both passes. The calibration has the bytes of one pass over one table.
//!
//! The program starts itself again as its workers, so it brings its own `main`.

#![allow(missing_docs, unreachable_pub)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types
)]

#[allow(dead_code, reason = "shared with the tests of one process")]
#[path = "../methods/world.rs"]
mod world;

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{Ended, Part, ShiftCalibrator};
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::method::{Method, ObjectiveChoice, SandwichChoice, TransportSettings, WeightsChoice};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Aps, Probabilities, Randomisation, Raps, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::side_inputs::{Labeled, SideInputs};
use world::{CLASSES, Points, alpha, methods, points, with_labels};

/// What describes points: their scores, or features.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Described {
    Scores,
    Features,
}

impl Described {
    fn beside(self, points: &Points) -> SideInputs<'_> {
        let all = points.beside();
        match self {
            Self::Features => all,
            Self::Scores => SideInputs { features: None, ..all },
        }
    }
}

/// A table of target points that any process can make.
#[derive(Clone, Copy)]
struct Table {
    rows: usize,
    seed: u64,
}

impl Table {
    fn points(self) -> Points {
        points(self.rows, 0.8, 0.8, self.seed)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("add") => add(arguments),
        Some("merge") => merge(),
        _ => drive(),
    }
}

/// Worker: plan on stdin, keys in the arguments' table; state to stdout.
fn add(mut arguments: impl Iterator<Item = String>) {
    let mut number = || arguments.next().unwrap().parse::<u64>().unwrap();
    let (rows, seed, features, part) = (number(), number(), number(), number());
    let described = if features == 1 { Described::Features } else { Described::Scores };
    let input = read_lists();
    let (plan, keys) = (&input[0], &input[1]);
    let keys: Vec<u64> =
        keys.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let target = Table { rows: rows as usize, seed }.points();
    let mut part = Part::begin(plan).unwrap().numbered(part);
    // In two blocks, so that a worker's own blocks are part of what is tested.
    for keys in keys.chunks(keys.len().div_ceil(2).max(1)) {
        let chosen = Chosen::of(&target, keys);
        let block = Rows::new("probabilities", &chosen.probabilities, CLASSES).unwrap();
        part = part.add(RowKeys::Each(keys), block, chosen.beside(described)).unwrap();
    }
    std::io::stdout().write_all(&part.state().unwrap()).unwrap();
}

/// Worker: plan and two states on stdin; their sum to stdout.
fn merge() {
    let input = read_lists();
    let part = Part::begin(&input[0]).unwrap().absorb(&input[1]).unwrap();
    let part = part.absorb(&input[2]).unwrap();
    std::io::stdout().write_all(&part.state().unwrap()).unwrap();
}

/// Rows of a table by key.
struct Chosen {
    probabilities: Vec<f64>,
    features: Vec<f64>,
    ratios: Vec<f64>,
    second: Vec<f64>,
}

impl Chosen {
    fn of(points: &Points, keys: &[u64]) -> Self {
        let rows = |values: &[f64], width: usize| -> Vec<f64> {
            keys.iter().flat_map(|key| values[*key as usize * width..][..width].to_vec()).collect()
        };
        Self {
            probabilities: rows(&points.probabilities, CLASSES),
            features: rows(&points.features, 2),
            ratios: rows(&points.ratios, 1),
            second: rows(&points.second, 2 * CLASSES),
        }
    }

    fn beside(&self, described: Described) -> SideInputs<'_> {
        SideInputs {
            features: (described == Described::Features)
                .then(|| Rows::new("features", &self.features, 2).unwrap()),
            ratios: Some(&self.ratios),
            weights: Some(&self.ratios),
            second: Some(Rows::new("second models", &self.second, 2 * CLASSES).unwrap()),
            ..SideInputs::default()
        }
    }
}

fn read_lists() -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).unwrap();
    let (mut lists, mut rest) = (Vec::new(), &bytes[..]);
    while let Some((length, after)) = rest.split_first_chunk::<8>() {
        let (list, after) = after.split_at(u64::from_le_bytes(*length) as usize);
        lists.push(list.to_vec());
        rest = after;
    }
    lists
}

fn in_another_process(arguments: &[String], lists: &[&[u8]]) -> Vec<u8> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    for list in lists {
        pipe.write_all(&(list.len() as u64).to_le_bytes()).unwrap();
        pipe.write_all(list).unwrap();
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "a worker failed: {arguments:?}");
    output.stdout
}

/// All keys, shuffled and cut into pieces.
fn pieces(rows: usize, count: usize, stream: &mut Stream) -> Vec<Vec<u64>> {
    let mut keys: Vec<u64> = (0..rows as u64).collect();
    for last in (1..keys.len()).rev() {
        keys.swap(last, stream.below(last + 1));
    }
    let mut cuts: Vec<usize> = (1..count).map(|_| stream.below(rows + 1)).collect();
    cuts.extend([0, rows]);
    cuts.sort_unstable();
    cuts.windows(2).map(|ends| keys[ends[0]..ends[1]].to_vec()).collect()
}

/// The state of all pieces, merged in a random tree whose inner nodes are processes too.
fn merged(
    plan: &[u8],
    table: Table,
    described: Described,
    count: usize,
    stream: &mut Stream,
) -> Vec<u8> {
    let features = u64::from(described == Described::Features);
    let mut states: Vec<Vec<u8>> = pieces(table.rows, count, stream)
        .iter()
        .enumerate()
        .map(|(part, keys)| {
            let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
            let of = [table.rows as u64, table.seed, features, part as u64];
            let arguments: Vec<String> =
                std::iter::once("add".to_owned()).chain(of.map(|n| n.to_string())).collect();
            in_another_process(&arguments, &[plan, &bytes])
        })
        .collect();
    while states.len() > 1 {
        let first = states.swap_remove(stream.below(states.len()));
        let second = states.swap_remove(stream.below(states.len()));
        states.push(in_another_process(&["merge".to_owned()], &[plan, &first, &second]));
    }
    states.pop().unwrap()
}

fn distributed(
    calibrator: &ShiftCalibrator,
    calibration: &Points,
    table: Table,
    described: Described,
    count: usize,
    stream: &mut Stream,
) -> Calibration {
    let probabilities = Probabilities::new(&calibration.probabilities, CLASSES).unwrap();
    let beside = with_labels(&calibrator.method, described.beside(calibration));
    let labeled = Labeled { probabilities: &probabilities, labels: &calibration.labels, beside };
    let mut fit = calibrator.begin(&labeled).unwrap();
    // Told how many rows there are, workers keep less, and nothing changes.
    if count % 2 == 1 {
        fit = fit.expecting(table.rows as u64);
    }
    loop {
        let plan = fit.plan().unwrap();
        let state = merged(&plan, table, described, count, stream);
        match fit.absorb(&state).unwrap().end_pass().unwrap() {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => {
                return ready.finish(&mut |_| ControlFlow::Continue(())).unwrap().calibration;
            }
        }
    }
}

/// In one process, over one table.
fn whole(
    calibrator: &ShiftCalibrator,
    calibration: &Points,
    table: Table,
    described: Described,
) -> Calibration {
    let probabilities = Probabilities::new(&calibration.probabilities, CLASSES).unwrap();
    let beside = with_labels(&calibrator.method, described.beside(calibration));
    let labeled = Labeled { probabilities: &probabilities, labels: &calibration.labels, beside };
    let target = table.points();
    let rows = Probabilities::new(&target.probabilities, CLASSES).unwrap();
    calibrator.calibrate_beside(&labeled, &rows, described.beside(&target)).unwrap()
}

/// Every method in every form, and every form of `ot`.
fn forms() -> Vec<Method> {
    let mut forms = methods();
    let base = TransportSettings {
        stopping: StoppingRule::after(15).unwrap(),
        ..TransportSettings::paper()
    };
    let finite = evenkeel::level::FailureProbability::new(0.05).unwrap();
    for sandwich in
        [SandwichChoice::ModelUniform, SandwichChoice::ModelUniformSampled, SandwichChoice::MinMax]
    {
        for (objective, finite_sample) in [
            (ObjectiveChoice::Exact, None),
            (ObjectiveChoice::PaperGrid, None),
            (ObjectiveChoice::PaperGrid, Some(finite)),
            (ObjectiveChoice::Wasserstein, None),
        ] {
            for weights in [WeightsChoice::FreeForm, WeightsChoice::Function] {
                let settings =
                    TransportSettings { sandwich, objective, finite_sample, weights, ..base };
                forms.push(Method::OptimalTransport(settings));
            }
        }
    }
    for sandwich in [SandwichChoice::ModelUniform, SandwichChoice::MinMax] {
        let minimiser = TransportSettings { sandwich, ..TransportSettings::default() };
        forms.push(Method::OptimalTransport(minimiser));
    }
    forms
}

fn bytes(calibration: &Calibration) -> String {
    serde_json::to_string(calibration).unwrap()
}

fn drive() {
    let calibration = points(120, 0.0, 0.8, 1);
    let mut stream = Seed::new(11).stream("processes");
    let mut passed = 0;
    let mut case = |method: Method, score: Score, table: Table, described: Described, count| {
        let calibrator = ShiftCalibrator { method, score, alpha: alpha(0.1), seed: Seed::new(5) };
        let found = distributed(&calibrator, &calibration, table, described, count, &mut stream);
        let expected = whole(&calibrator, &calibration, table, described);
        assert_eq!(bytes(&found), bytes(&expected), "{method:?} with {score:?} by {described:?}");
        passed += 1;
    };
    for (index, method) in forms().into_iter().enumerate() {
        let table = Table { rows: 130 + index, seed: 2 + index as u64 };
        case(method, Score::Lac, table, Described::Scores, 2 + index % 4);
        if matches!(method, Method::LikelihoodRatio(_) | Method::Conditional(_)) {
            case(method, Score::Lac, table, Described::Features, 3);
        }
        // Draws of randomised scores follow the rows' keys.
        if !matches!(method, Method::EntropyScaled(_) | Method::QuantileTransfer(_)) {
            let randomisation = Randomisation::Uniform(Seed::new(9));
            case(method, Score::Aps(Aps { randomisation }), table, Described::Scores, 2);
            let raps = Score::Raps(Raps::new(0.1, 1, randomisation).unwrap());
            case(method, raps, table, Described::Scores, 2);
        }
    }
    // More candidates than are kept one by one: sketches and samples take their place.
    let large = Table { rows: 720_000, seed: 3 };
    for method in methods() {
        let quick = matches!(
            method,
            Method::Uncorrected
                | Method::OptimalTransport(_)
                | Method::LabelPlan(_)
                | Method::FewLabels(_)
                | Method::EntropyScaled(_)
                | Method::QuantileTransfer(_)
                | Method::LabelShift(_)
        );
        if quick {
            case(method, Score::Lac, large, Described::Scores, 3);
        }
    }
    println!("test result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
