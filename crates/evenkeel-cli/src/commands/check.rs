//! `evenkeel check`: is there a shift, how much coverage is at risk, what to do.

use evenkeel::calibration::Evidence;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::check::{CheckSettings, ShiftReport, check};
use evenkeel::level::FailureProbability;
use evenkeel::method::Method;
use evenkeel::method::label_plan::{Certificate, LabelPlanSettings};
use evenkeel::score::Score;
use evenkeel::shift::predictions;
use evenkeel::threshold::Threshold;
use evenkeel_io::AtomicFile;
use serde::Serialize;

use super::fit;
use crate::args::CheckArgs;
use crate::exit::Outcome;
use crate::inputs::{LabeledFiles, check_laws};
use crate::job::{Failure, Rates, on_threads, print, print_json, score};
use crate::page::check_page;
use crate::progress::Verbosity;
use crate::streams::PointFiles;
use crate::table::{Align, Table, colour_on_stdout, threshold};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CheckArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let delta = FailureProbability::new(args.delta)?;
    let default = CheckSettings::new(rates.alpha, delta, rates.seed);
    let settings = CheckSettings {
        bound_grid: args.bound_grid.values()?.count("bound-grid").unwrap_or(default.bound_grid),
        permutations: args.permutations.unwrap_or(default.permutations),
        ..default
    };
    let floors = [
        ("--fail-below", args.fail_below),
        ("--fail-below-guaranteed", args.fail_below_guaranteed),
    ];
    for (option, floor) in floors {
        floor.map_or(Ok(()), |floor| require_share(option, floor))?;
    }
    let score = score(&args.scoring, rates.seed)?;
    let verbosity = Verbosity::of(args.common.quiet);
    let labeled =
        LabeledFiles::read(&args.labeled.cal_probs, &args.labeled.cal_labels, &args.reading)?;
    args.reading.names(labeled.classes())?;
    let scores = labeled.scores(&score.with_draws_for("calibration"))?;
    let range = score.range(labeled.classes());
    let html = args.html.as_deref().map(AtomicFile::create).transpose()?;
    let target = check_laws(
        &args.unlabeled,
        &args.reading,
        labeled.classes(),
        (&scores, range, settings.bound_grid, rates.seed),
        &score.with_draws_for("today"),
        verbosity,
    )?;
    let predictions = predictions(&labeled.probabilities()?);
    let report = check(&scores, &predictions, &target, labeled.classes(), range, &settings)?;
    let recommended = match report.shift.detected {
        false => None,
        true => Some(recommend(args, &labeled, score, rates, verbosity)?),
    };
    if let Some((file, path)) = html.zip(args.html.as_ref()) {
        let mut page = check_page(args, &report, &scores, &target)?;
        page.answer.sentences.extend(recommended.iter().map(Recommended::sentence));
        file.write_whole(evenkeel_report::render(&page))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if args.common.json {
        print_json(&Document { report: &report, recommended: recommended.as_ref() })?;
    } else {
        let more = recommended.iter().map(|found| found.sentence() + "\n").collect::<String>();
        print(&(text(&report) + &more))?;
    }
    Ok(outcome(args, &report))
}

/// What `check --json` says.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a ShiftReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended: Option<&'a Recommended>,
}

/// What `auto` makes of target points, once a shift was found.
#[derive(Debug, Serialize)]
struct Recommended {
    method: &'static str,
    /// None is infinite.
    threshold: Option<f64>,
    effective_sample_size: f64,
    /// Bound on the total coverage gap, as far as its assumption holds; none if nothing was corrected.
    certificate: Option<Certificate>,
    warnings: Vec<String>,
    /// The option that makes `auto` test at this check's level, if that is not its own.
    #[serde(skip)]
    level: String,
}

impl Recommended {
    fn sentence(&self) -> String {
        let mut text = format!(
            "Recommended: auto, which moves the threshold to {}",
            threshold(self.threshold)
        );
        if let Some(certificate) = &self.certificate {
            text += &format!(
                ", with coverage on average over all targets within {:.1} points of them ({:.1} at {:.0} % confidence) if target \
                 labels lie between what the model believes and the most cautious plan",
                100.0 * certificate.value,
                100.0 * certificate.with_confidence,
                100.0 * (1.0 - certificate.delta),
            );
        }
        text += &format!(
            ": evenkeel calibrate --method auto{}, with the options of this check.",
            self.level
        );
        self.warnings.iter().fold(text, |text, warning| format!("{text} Beware: {warning}."))
    }
}

/// The label plan that `auto` takes once its test, which is the check's, has found a shift: two more passes over the target data's.
fn recommend(
    args: &CheckArgs,
    labeled: &LabeledFiles,
    score: Score,
    rates: Rates,
    verbosity: Verbosity,
) -> Result<Recommended, Failure> {
    let method = Method::LabelPlan(LabelPlanSettings::new(FailureProbability::new(args.delta)?));
    let calibrator = ShiftCalibrator { method, score, alpha: rates.alpha, seed: rates.seed };
    let files = PointFiles::probs(&args.unlabeled);
    let (calibration, _) = fit(&calibrator, labeled, files, &args.reading, verbosity)?;
    let certificate = match &calibration.learned().evidence {
        Some(Evidence::LabelPlan { plan, .. }) => Some(plan.certificate),
        _ => None,
    };
    let value = calibration.threshold(None).map_or(f64::INFINITY, Threshold::get);
    Ok(Recommended {
        method: "auto",
        threshold: value.is_finite().then_some(value),
        effective_sample_size: calibration.effective_sample_size(),
        certificate,
        warnings: calibration.warnings(),
        level: match args.delta {
            0.05 => String::new(),
            delta => format!(" --shift-level {delta}"),
        },
    })
}

/// Whether a condition of a `--fail-...` option holds.
fn outcome(args: &CheckArgs, report: &ShiftReport) -> Outcome {
    let interval = &report.coverage_interval;
    let below = |floor: Option<f64>, low: f64| floor.is_some_and(|floor| low < floor);
    let holds = below(args.fail_below, interval.assumed[0])
        || below(args.fail_below_guaranteed, interval.guaranteed[0])
        || (args.fail_on_shift && report.shift.detected);
    if holds { Outcome::ConditionHolds } else { Outcome::Done }
}

/// An error unless a floor on coverage is a share.
pub(crate) fn require_share(option: &str, value: f64) -> Result<(), Failure> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "{option} is {value}; it is a share between 0 and 1 (0.85 for 85 %)"
    )))
}

/// The answer in three sentences: shift or not, what coverage to expect, what to do.
pub(crate) fn sentences(report: &ShiftReport) -> [String; 3] {
    report.sentences()
}

/// The three sentences first, then the evidence.
pub(crate) fn text(report: &ShiftReport) -> String {
    let mut text = sentences(report).join("\n") + "\n\n";
    let mut bounds = Table::new(&[
        ("bound on the total coverage gap", Align::Left),
        ("weighted-CDF", Align::Right),
        ("with DKW", Align::Right),
        ("Wasserstein", Align::Right),
        ("with DKW", Align::Right),
    ]);
    for (name, values) in
        [("min-max (guaranteed)", &report.bounds.min_max), ("f-u (assumed)", &report.bounds.f_u)]
    {
        let number = |value: f64| format!("{value:.3}");
        bounds.push(vec![
            name.to_owned(),
            number(values.weighted_cdf),
            number(values.weighted_cdf_dkw),
            number(values.wasserstein),
            number(values.wasserstein_dkw),
        ]);
    }
    text += &bounds.render(colour_on_stdout());
    text += &format!("\n{}\n", report.order_sentence());
    for warning in &report.warnings {
        text += &format!("Warning: {warning}.\n");
    }
    text
}
