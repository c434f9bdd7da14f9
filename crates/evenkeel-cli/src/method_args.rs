//! Methods, scores and their settings, as typed.

use clap::{Args, ValueEnum};

/// What scores labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreName {
    /// One minus the probability.
    Lac,
    /// Adaptive prediction sets.
    Aps,
    /// Regularised adaptive prediction sets.
    Raps,
    /// Best rival minus label.
    Margin,
}

/// The score function and its settings.
#[derive(Debug, Clone, Args)]
pub(crate) struct Scoring {
    /// Score function.
    #[arg(long, value_enum, default_value_t = ScoreName::Lac)]
    pub score: ScoreName,
    /// Randomise aps and raps: exact coverage instead of slight overcoverage.
    #[arg(long)]
    pub randomised: bool,
    /// Penalty a rank of raps.
    #[arg(long, default_value_t = 0.01, value_name = "LAMBDA")]
    pub raps_lambda: f64,
    /// Ranks without penalty of raps.
    #[arg(long, default_value_t = 5, value_name = "K")]
    pub raps_k: usize,
}

/// How calibration weights, or thresholds, are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// A shift test, then split conformal prediction or the label plan.
    Auto,
    /// Weights from target points transported onto calibration class frequencies.
    LabelPlan,
    /// Weights that minimise a bound on the lost coverage (Correia & Louizos 2025).
    Ot,
    /// Split conformal prediction.
    Uncorrected,
    /// Split conformal prediction on the labels of the test points themselves (compare only).
    Oracle,
    /// Weights dQ/dP of scores or features (Tibshirani et al. 2019).
    LikelihoodRatio,
    /// Thresholds scaled by the entropy of target probabilities (Kasa et al. 2024).
    Ecp,
    /// Thresholds moved by a quantile of target confidences (Yilmaz & Heckel 2022).
    Qtc,
    /// Kernel quantile regression at every test point (Gibbs, Cherian & Candes 2025).
    Conditional,
    /// Weights Q(y)/P(y) of the labels (Podkopaev & Ramdas 2021).
    LabelShift,
    /// Weights of --weights-file (Barber et al. 2023).
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RatioArg {
    /// Logistic regression.
    Logistic,
    /// A network with one hidden layer of 32.
    Network,
    /// Ten bridges between calibration and target data (Rhodes et al. 2020).
    Telescoping,
    /// Given by --cal-ratios, and with the points to predict.
    Known,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QtcArg {
    /// Share of calibration confidences below target quantile.
    Qtc,
    /// QTC-SC: share of target confidences below calibration quantile.
    SourceCoverage,
    /// QTC-ST: the same for the threshold itself.
    SourceThreshold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelShiftArg {
    /// Inverting the confusion matrix.
    Bbse,
    /// Maximum likelihood.
    Em,
}

/// Settings of the methods other than ot.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of the other methods")]
pub(crate) struct OtherArgs {
    /// auto: false-alarm rate of its shift test.
    #[arg(long, default_value_t = 0.05, value_name = "LEVEL")]
    pub shift_level: f64,
    /// likelihood-ratio: where ratios come from [default: known with --cal-ratios, else logistic].
    #[arg(long, value_enum)]
    pub ratio: Option<RatioArg>,
    /// ecp: power of the entropy, 1 as printed or 2 as in its authors' code.
    #[arg(long, default_value_t = 1, value_name = "POWER", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub ecp_power: u8,
    /// qtc: which quantile is transferred.
    #[arg(long, value_enum, default_value_t = QtcArg::Qtc)]
    pub qtc_rule: QtcArg,
    /// label-shift: how class shares are estimated.
    #[arg(long, value_enum, default_value_t = LabelShiftArg::Bbse)]
    pub label_shift: LabelShiftArg,
    /// conditional: kernel exp(-gamma distance^2).
    #[arg(long, default_value_t = 12.5)]
    pub gamma: f64,
    /// conditional: penalty on the fitted function, or "cv" for five-fold cross-validation.
    #[arg(long, default_value = "0.005", value_name = "LAMBDA")]
    pub lambda: String,
}

impl Default for OtherArgs {
    fn default() -> Self {
        Self {
            shift_level: 0.05,
            ratio: None,
            ecp_power: 1,
            qtc_rule: QtcArg::Qtc,
            label_shift: LabelShiftArg::Bbse,
            gamma: 12.5,
            lambda: "0.005".to_owned(),
        }
    }
}

/// Settings of all methods.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MethodArgs {
    #[command(flatten)]
    pub transport: TransportArgs,
    #[command(flatten)]
    pub other: OtherArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandwichArg {
    /// Model and uniform labels.
    #[value(name = "f-u")]
    FU,
    /// Extremes over the labels.
    MinMax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SamplingArg {
    /// Exact expectation.
    Exact,
    /// Fresh draws in each step.
    Sampled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectiveArg {
    /// Eq 7 of the paper.
    WeightedCdf,
    /// Eq 8 of the paper.
    Wasserstein,
    /// Eq 7 plus what a weighting pays for leaning on few points; can be run to convergence.
    FiniteSample,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeightsArg {
    /// One weight per calibration point.
    FreeForm,
    /// A function of the score, fitted on one half of the calibration points.
    Function,
}

/// Settings of `--method ot`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of --method ot")]
pub(crate) struct TransportArgs {
    /// Laws put around target unseen scores.
    #[arg(long, value_enum, default_value_t = SandwichArg::FU)]
    pub sandwich: SandwichArg,
    /// How model and uniform labels enter.
    #[arg(long, value_enum, default_value_t = SamplingArg::Exact)]
    pub sampling: SamplingArg,
    /// Bound that is minimised.
    #[arg(long, value_enum, default_value_t = ObjectiveArg::WeightedCdf)]
    pub objective: ObjectiveArg,
    /// What the weights are made of.
    #[arg(long, value_enum, default_value_t = WeightsArg::FreeForm)]
    pub weights: WeightsArg,
    /// Optimisation steps (the paper: 1000 for mild shift, 5000 for severe).
    #[arg(long, default_value_t = 1000)]
    pub steps: usize,
    /// Step size of Adam.
    #[arg(long, default_value_t = 0.001)]
    pub learning_rate: f64,
    /// Grid points of the objective; the answer depends on it.
    #[arg(long, default_value_t = 100)]
    pub grid: usize,
    /// Grid points of the reported bounds.
    #[arg(long, default_value_t = 1000)]
    pub bound_grid: usize,
    /// Factor of the bandwidth rule.
    #[arg(long, default_value_t = 0.1)]
    pub bandwidth_factor: f64,
    /// Stop before the effective sample size falls below this.
    #[arg(long, value_name = "N")]
    pub min_effective: Option<f64>,
    /// Stop when the objective gains less than this share of itself over 500 steps.
    #[arg(long, value_name = "SHARE")]
    pub tolerance: Option<f64>,
}

impl Default for TransportArgs {
    fn default() -> Self {
        Self {
            sandwich: SandwichArg::FU,
            sampling: SamplingArg::Exact,
            objective: ObjectiveArg::WeightedCdf,
            weights: WeightsArg::FreeForm,
            steps: 1000,
            learning_rate: 0.001,
            grid: 100,
            bound_grid: 1000,
            bandwidth_factor: 0.1,
            min_effective: None,
            tolerance: None,
        }
    }
}
