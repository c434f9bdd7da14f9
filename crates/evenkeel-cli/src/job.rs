//! Arguments resolved: checked settings.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::learning::optimise::{AdamSettings, Improvement, StoppingRule};
use evenkeel::level::{FailureProbability, Miscoverage};
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::entropy_scaling::EntropyPower;
use evenkeel::method::label_plan::LabelPlanSettings;
use evenkeel::method::label_shift::EmSettings;
use evenkeel::method::likelihood_ratio::{NetworkSettings, RatioEstimator, TelescopingSettings};
use evenkeel::method::quantile_transfer::TransferRule;
use evenkeel::method::{
    ConditionalChoice, LabelShiftChoice, Method, ObjectiveChoice, PenaltyChoice, RatioChoice,
    SandwichChoice, TransportSettings, WeightsChoice,
};
use evenkeel::score::{Aps, Randomisation, Raps, Score};
use evenkeel::seed::Seed;

use crate::args::{
    Common, LabelShiftArg, MethodArg, MethodArgs, ObjectiveArg, QtcArg, RatioArg, SamplingArg,
    SandwichArg, ScoreName, Scoring, TransportArgs, WeightsArg,
};
use crate::failure::Failure;

/// Settings every command resolves first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub alpha: Miscoverage,
    pub seed: Seed,
}

impl Rates {
    pub(crate) fn of(common: &Common) -> Result<Self, Failure> {
        Ok(Self { alpha: Miscoverage::new(common.alpha)?, seed: Seed::new(common.seed) })
    }
}

/// Runs `work` on a pool of the asked-for size.
pub(crate) fn on_threads<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    if threads == Some(0) {
        return Err(Failure::Argument(
            "--threads is 0; use at least 1, or leave it out for all cores".into(),
        ));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::Threads {
        threads: threads.unwrap_or(0),
        reason: error.to_string(),
    })?;
    pool.install(work)
}

/// The score function as asked for.
pub(crate) fn score(scoring: &Scoring, seed: Seed) -> Result<Score, Failure> {
    let randomisation = if scoring.randomised {
        Randomisation::Uniform(seed.child("randomised-scores", 0))
    } else {
        Randomisation::Deterministic
    };
    Ok(match scoring.score {
        ScoreName::Lac => Score::Lac,
        ScoreName::Margin => Score::Margin,
        ScoreName::Aps => Score::Aps(Aps { randomisation }),
        ScoreName::Raps => {
            Score::Raps(Raps::new(scoring.raps_lambda, scoring.raps_k, randomisation)?)
        }
    })
}

/// Failure probability of the finite-sample objective.
const OBJECTIVE_DELTA: f64 = 0.05;
/// Steps over which `--tolerance` is measured.
const TOLERANCE_WINDOW: usize = 500;

/// The settings of `--method ot`.
pub(crate) fn transport(args: &TransportArgs) -> Result<TransportSettings, Failure> {
    let mut stopping = StoppingRule::after(args.steps)?;
    if let Some(floor) = args.min_effective {
        stopping = stopping.with_effective_sample_size_floor(floor)?;
    }
    if let Some(relative) = args.tolerance {
        stopping = stopping.with_improvement(Improvement { window: TOLERANCE_WINDOW, relative })?;
    }
    let sandwich = match (args.sandwich, args.sampling) {
        (SandwichArg::MinMax, SamplingArg::Exact) => SandwichChoice::MinMax,
        (SandwichArg::MinMax, SamplingArg::Sampled) => {
            return Err(Failure::Argument(
                "--sampling sampled draws labels, which --sandwich min-max has none of; use --sandwich f-u".into(),
            ));
        }
        (SandwichArg::FU, SamplingArg::Exact) => SandwichChoice::ModelUniform,
        (SandwichArg::FU, SamplingArg::Sampled) => SandwichChoice::ModelUniformSampled,
    };
    let (objective, finite_sample) = match args.objective {
        ObjectiveArg::WeightedCdf => (ObjectiveChoice::WeightedCdf, None),
        ObjectiveArg::Wasserstein => (ObjectiveChoice::Wasserstein, None),
        ObjectiveArg::FiniteSample => {
            (ObjectiveChoice::WeightedCdf, Some(FailureProbability::new(OBJECTIVE_DELTA)?))
        }
    };
    Ok(TransportSettings {
        sandwich,
        objective,
        finite_sample,
        restriction: None,
        weights: match args.weights {
            WeightsArg::FreeForm => WeightsChoice::FreeForm,
            WeightsArg::Function => WeightsChoice::Function,
        },
        adam: AdamSettings::new(args.learning_rate)?,
        stopping,
        learning_grid: args.grid,
        bound_grid: args.bound_grid,
        bandwidth_factor: args.bandwidth_factor,
    })
}

/// The calibrator of a method; `known_ratios` says whether likelihood ratios were given.
pub(crate) fn calibrator(
    method: MethodArg,
    args: &MethodArgs,
    known_ratios: bool,
    score: Score,
    rates: Rates,
) -> Result<ShiftCalibrator, Failure> {
    let method = self::method(method, args, known_ratios, rates.seed)?;
    Ok(ShiftCalibrator { method, score, alpha: rates.alpha, seed: rates.seed })
}

/// Parts that cross-validation of `conditional` leaves out in turn.
const FOLDS: usize = 5;

fn method(
    method: MethodArg,
    args: &MethodArgs,
    known_ratios: bool,
    seed: Seed,
) -> Result<Method, Failure> {
    let other = &args.other;
    // Resolved whatever the method: a value that makes no sense is a mistake even where it is not used.
    let transport = transport(&args.transport)?;
    let level = FailureProbability::new(other.shift_level)?;
    Ok(match method {
        MethodArg::Uncorrected => Method::Uncorrected,
        MethodArg::Ot => Method::OptimalTransport(transport),
        MethodArg::Fixed => Method::Fixed,
        MethodArg::Auto => Method::Auto(AutoSettings::new(level, seed)),
        MethodArg::LabelPlan => {
            Method::LabelPlan(LabelPlanSettings::new(FailureProbability::new(OBJECTIVE_DELTA)?))
        }
        MethodArg::LikelihoodRatio => Method::LikelihoodRatio(match (other.ratio, known_ratios) {
            (Some(RatioArg::Known), _) | (None, true) => RatioChoice::Known,
            (Some(RatioArg::Logistic), _) | (None, false) => {
                RatioChoice::Estimated(RatioEstimator::Logistic)
            }
            (Some(RatioArg::Network), _) => {
                RatioChoice::Estimated(RatioEstimator::Network(NetworkSettings::default()))
            }
            (Some(RatioArg::Telescoping), _) => {
                RatioChoice::Estimated(RatioEstimator::Telescoping(TelescopingSettings::default()))
            }
        }),
        MethodArg::Ecp => Method::EntropyScaled(match other.ecp_power {
            1 => EntropyPower::One,
            _ => EntropyPower::Two,
        }),
        MethodArg::Qtc => Method::QuantileTransfer(match other.qtc_rule {
            QtcArg::Qtc => TransferRule::Qtc,
            QtcArg::SourceCoverage => TransferRule::SourceCoverage,
            QtcArg::SourceThreshold => TransferRule::SourceThreshold,
        }),
        MethodArg::LabelShift => Method::LabelShift(match other.label_shift {
            LabelShiftArg::Bbse => LabelShiftChoice::BlackBox,
            LabelShiftArg::Em => LabelShiftChoice::ExpectationMaximisation(EmSettings::default()),
        }),
        MethodArg::Conditional => {
            let penalty = match other.lambda.as_str() {
                "cv" => PenaltyChoice::CrossValidated { folds: FOLDS },
                number => PenaltyChoice::Fixed(number.parse().map_err(|_| {
                    Failure::Argument(format!(
                        "--lambda is \"{number}\"; give a positive number, or cv for cross-validation"
                    ))
                })?),
            };
            Method::Conditional(ConditionalChoice { gamma: other.gamma, penalty })
        }
        MethodArg::Oracle => {
            return Err(Failure::Argument(
                "oracle calibrates on the labels of the test points, which only `compare` has; choose another --method"
                    .into(),
            ));
        }
    })
}
