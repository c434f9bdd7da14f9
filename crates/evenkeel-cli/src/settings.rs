//! Arguments resolved: checked settings.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{KnownRatios, Method, MethodName, OptionValues};
use evenkeel::score::Score;
use evenkeel::seed::Seed;

use crate::args::{Common, Scoring};
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
    // A pool of its own: the global one can be built only once, and not with another size.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::Threads {
        threads: threads.unwrap_or(0),
        reason: error.to_string(),
    })?;
    pool.install(work)
}

/// The score function as asked for.
pub(crate) fn score(scoring: &Scoring, seed: Seed) -> Result<Score, Failure> {
    Ok(Score::from_options(scoring.values()?, seed)?)
}

/// The calibrator of a method, with those of the options that it uses.
pub(crate) fn calibrator(
    method: MethodName,
    options: &OptionValues,
    ratios: KnownRatios,
    score: Score,
    rates: Rates,
) -> Result<ShiftCalibrator, Failure> {
    let method = Method::from_options(method, options, ratios)?;
    Ok(ShiftCalibrator { method, score, alpha: rates.alpha, seed: rates.seed })
}
