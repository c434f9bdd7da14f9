//! Arguments resolved: checked settings.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::level::Miscoverage;
use evenkeel::method::{KnownRatios, Method, MethodName, OptionValues};
use evenkeel::score::Score;
use evenkeel::seed::Seed;
use evenkeel_jobs::sentences::low_level;

use crate::args::{Common, OneRate, Scoring};
use crate::failure::Failure;

/// Settings every command resolves first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub alpha: Miscoverage,
    pub seed: Seed,
}

impl Rates {
    /// The one rate of a command that takes no more.
    pub(crate) fn of(common: &OneRate) -> Result<Self, Failure> {
        Ok(Self { alpha: Miscoverage::new(common.alpha)?, seed: Seed::new(common.seed) })
    }

    /// The first of several rates, and all of them.
    pub(crate) fn several(common: &Common) -> Result<(Self, Vec<Miscoverage>), Failure> {
        let all = levels(&common.alpha)?;
        let Some(alpha) = all.first().copied() else {
            return Err(Failure::Argument("--alpha is empty; give a rate".into()));
        };
        Ok((Self { alpha, seed: Seed::new(common.seed) }, all))
    }
}

/// Rates as typed, each once.
pub(crate) fn levels(rates: &[f64]) -> Result<Vec<Miscoverage>, Failure> {
    for (place, rate) in rates.iter().enumerate() {
        // A second row of the same numbers is surely a slip.
        if rates[..place].iter().any(|earlier| earlier.total_cmp(rate).is_eq()) {
            return Err(Failure::Argument(format!(
                "--alpha names {rate} twice; name each rate once"
            )));
        }
    }
    Ok(rates.iter().map(|rate| Miscoverage::new(*rate)).collect::<evenkeel::Result<_>>()?)
}

/// What is to be known of further rates so high that they were likely meant as levels; of the first, jobs say it.
pub(crate) fn low_levels(rates: &[Miscoverage]) -> Vec<String> {
    rates.iter().skip(1).filter_map(|rate| low_level(rate.get())).collect()
}

/// Most threads that are started. More than cores make nothing faster, and starting thousands takes longer than most jobs.
const MOST_THREADS: usize = 512;

/// Runs `work` on a pool of the asked-for size.
pub(crate) fn on_threads<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    // The variable that the pool itself would obey; 0 and what is not a number stand for all cores there.
    let variable =
        || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|asked| *asked > 0);
    let (source, asked) = match threads {
        Some(asked) => ("--threads", Some(asked)),
        None => ("RAYON_NUM_THREADS", variable()),
    };
    if let Some(asked) = asked.filter(|asked| !(1..=MOST_THREADS).contains(asked)) {
        return Err(Failure::Argument(format!(
            "{source} is {asked}; use 1 to {MOST_THREADS}, or leave it out for all cores"
        )));
    }
    // A pool of its own: the global one can be built only once, and not with another size.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::Threads { reason: error.to_string() })?;
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
