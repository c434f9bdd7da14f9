//! Laws, weights, bounds and methods of no data in particular.

use evenkeel::learning::optimise::TracePoint;
use evenkeel::sandwich::Order;
use evenkeel::threshold::Threshold;
use evenkeel_report::{
    BoundRow, ClassRow, DominanceRow, GapCurve, Input, MethodRow, Provenance, Report, SandwichLaws,
    ScoreLaws, StepCurve, ThresholdMark, TraceCurve, WeightsOverScores,
};

pub const GARMENTS: [&str; 10] = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];

fn law(power: f64) -> StepCurve {
    let steps = || (1..=300_u32).map(|i| f64::from(i) / 300.0);
    StepCurve { atoms: steps().map(|u| u.powf(power)).collect(), cumulative: steps().collect() }
}

/// Everything that stands folded under "How we know".
pub fn add(report: &mut Report) {
    let bound = |label: &str, exact: f64, level: f64, cdf: f64, wasserstein: f64| BoundRow {
        label: label.into(),
        exact: Some(exact),
        level: Some(level),
        weighted_cdf: Some(cdf),
        wasserstein: Some(wasserstein),
    };
    report.bounds = vec![
        bound("min-max, equal weights", 0.531, 0.536, 0.541, 1.31),
        bound("f-u, equal weights", 0.402, 0.405, 0.412, 51.3),
    ];
    report.dominance = vec![
        DominanceRow { pair: "min-max".into(), order: Order::Guaranteed },
        DominanceRow { pair: "f-u".into(), order: Order::HoldsEmpirically },
    ];
    let pair = |name: &str, low: f64, high: f64| SandwichLaws {
        name: name.into(),
        lower: law(low),
        upper: law(high),
    };
    report.score_laws = Some(ScoreLaws {
        score: "lac".into(),
        calibration: law(5.0),
        reweighted: Some(law(1.6)),
        sandwiches: vec![pair("min-max", 9.0, 0.08), pair("f-u", 4.0, 0.3)],
        test: Some(law(1.4)),
        thresholds: [("uncorrected", 0.59), ("auto", 0.87)]
            .map(|(label, at)| ThresholdMark {
                label: label.into(),
                threshold: Threshold::Finite(at),
            })
            .to_vec(),
    });
    let scores = || (1..=300_u32).map(|i| (f64::from(i) / 300.0).powi(5));
    report.weights = Some(WeightsOverScores {
        method: "auto".into(),
        scores: scores().collect(),
        weights: scores().map(|score| (0.4 + 3.0 * score) / 269.0).collect(),
        effective_sample_size: 148.2,
    });
    report.traces = vec![TraceCurve {
        method: "ot".into(),
        points: (0..=100)
            .map(|step| TracePoint {
                step: 10 * step,
                objective: 0.21 + 0.2 / (1.0 + step as f64),
                effective_sample_size: 300.0 - 1.5 * step as f64,
                threshold: Threshold::Finite(0.8),
            })
            .collect(),
        stopped: "`steps` reached".into(),
    }];
}

pub fn methods() -> Vec<MethodRow> {
    let row = |method: &str, threshold, coverage, size, gap, n_w, assumption: &str| MethodRow {
        method: method.into(),
        assumption: assumption.into(),
        threshold: Threshold::Finite(threshold).into(),
        coverage: Some(coverage),
        mean_size: Some(size),
        total_coverage_gap: Some(gap),
        effective_sample_size: Some(n_w),
        seconds: Some(0.02),
    };
    vec![
        row("uncorrected", 0.59, 0.534, 1.27, 0.214, 1000.0, "nothing changed"),
        row("ot", 0.87, 0.935, 2.75, 0.061, 148.2, "target scores lie between the laws"),
        row("conditional", 0.97, 0.912, 5.77, 0.049, 1000.0, "errors depend on known features"),
        row("auto", 0.93, 0.961, 3.1, 0.055, 610.4, "class shares stay as they were"),
    ]
}

pub fn gap_curves() -> Vec<GapCurve> {
    let curve = |(method, height): (&str, f64)| GapCurve {
        method: method.into(),
        points: (1..100_u32)
            .map(|i| (f64::from(i) / 100.0, height * (f64::from(i) / 31.0).sin().abs()))
            .collect(),
    };
    [("uncorrected", 0.37), ("ot", 0.1), ("conditional", 0.08), ("auto", 0.09)].map(curve).to_vec()
}

pub fn classes() -> Vec<ClassRow> {
    let row = |(index, name): (usize, &&str)| {
        let dip = [0.02, 0.0, 0.3, 0.1, 0.33, 0.05, 0.41, 0.04, 0.02, 0.03][index];
        ClassRow {
            name: (*name).into(),
            points: 92 + (7 * index) % 19,
            coverage: Some(0.96 - dip),
            after_repair: Some(0.985 - 0.2 * dip),
            mean_size: None,
        }
    };
    GARMENTS.iter().enumerate().map(row).collect()
}

pub fn provenance(command: &str) -> Provenance {
    let input = |role: &str, path: &str, shape: &[usize]| Input {
        role: role.into(),
        path: path.into(),
        shape: shape.to_vec(),
        checksum: None,
    };
    Provenance {
        command: Some(command.into()),
        inputs: vec![
            input("calibration probabilities", "data/calibration_probs.npy", &[1000, 10]),
            input("calibration labels", "data/calibration_labels.npy", &[1000]),
            input("unlabeled probabilities of the target data", "data/fog.npy", &[1000, 10]),
        ],
        options: [("score", "lac"), ("delta", "0.05"), ("permutations", "999")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
        version: Some(format!("evenkeel {}", env!("CARGO_PKG_VERSION"))),
        seed: Some(0),
    }
}
