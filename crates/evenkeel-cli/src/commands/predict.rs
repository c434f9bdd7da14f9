//! `evenkeel predict`: prediction sets from a stored calibration, in one streaming pass.

use evenkeel::level::Miscoverage;
use evenkeel::threshold::Threshold;
use evenkeel_io::SetWriter;
use serde::Serialize;

use crate::args::PredictArgs;
use crate::exit::Outcome;
use crate::inputs::{BlockWork, load_calibration, refuse_unused};
use crate::job::{Failure, on_threads, print, print_json};
use crate::progress::Verbosity;
use crate::streams::{PointFiles, each_block};
use crate::table::{percent, threshold};

/// What `predict` says.
#[derive(Debug, Default, Serialize)]
struct Summary {
    n: u64,
    alpha: f64,
    /// None is infinite.
    threshold: Option<f64>,
    mean_size: f64,
    empty: u64,
    full: u64,
}

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &PredictArgs) -> Result<Outcome, Failure> {
    let alpha = args.common.alpha.map(Miscoverage::new).transpose()?;
    let calibration = load_calibration(&args.calibration)?;
    refuse_unused(&calibration, args.features.as_ref(), args.ratios.as_ref())?;
    let classes = calibration.provenance().classes;
    let names = args.reading.names(classes)?;
    let mut writer = SetWriter::create(&args.out, classes, names.as_deref())?;
    let verbosity = Verbosity::of(args.common.quiet);
    let mut summary = Summary::default();
    let mut labels = 0u64;
    let files = PointFiles {
        features: args.features.as_deref(),
        ratios: args.ratios.as_deref(),
        ..PointFiles::probs(&args.probs)
    };
    each_block(files, &args.reading, classes, "predicting", verbosity, |points| {
        let sets = points.block.predict(&calibration, points.first_row, points.beside, alpha)?;
        for row in 0..sets.rows() {
            let size = sets.size(row);
            labels += size as u64;
            summary.empty += u64::from(size == 0);
            summary.full += u64::from(size == classes);
        }
        summary.n += sets.rows() as u64;
        Ok(writer.write(&sets)?)
    })?;
    writer.finish()?;
    let shared = calibration.threshold(alpha);
    let value = shared.map_or(f64::INFINITY, Threshold::get);
    summary.alpha = alpha.unwrap_or(calibration.provenance().alpha).get();
    summary.threshold = value.is_finite().then_some(value);
    summary.mean_size = labels as f64 / summary.n as f64;
    if args.common.json {
        print_json(&summary)?;
    } else {
        print(&format!(
            "{} sets at {} (level {}): {:.2} labels on average, {} empty, {} with every label.\nWritten to {}.\n",
            summary.n,
            match shared {
                Some(_) => format!("threshold {}", threshold(summary.threshold)),
                None => "a threshold of their own each".to_owned(),
            },
            percent(1.0 - summary.alpha),
            summary.mean_size,
            summary.empty,
            summary.full,
            args.out.display(),
        ))?;
    }
    Ok(Outcome::Done)
}
