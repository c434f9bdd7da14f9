//! `evenkeel evaluate`: coverage, sizes and gap on labeled data, in one streaming pass.

use evenkeel::evaluation::Evaluation;
use evenkeel::level::Miscoverage;
use serde_json::{Value, json};

use super::check::require_share;
use crate::args::EvaluateArgs;
use crate::exit::Outcome;
use crate::inputs::{load_calibration, refuse_unused};
use crate::job::{Failure, on_threads, print, print_json};
use crate::progress::Verbosity;
use crate::streams::{PointFiles, each_block};
use crate::table::{Align, Table, colour_on_stdout, percent};
use crate::tally::Tally;

pub(crate) fn run(args: &EvaluateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &EvaluateArgs) -> Result<Outcome, Failure> {
    let alpha = args.common.alpha.map(Miscoverage::new).transpose()?;
    if let Some(floor) = args.fail_below {
        require_share("--fail-below", floor)?;
    }
    let calibration = load_calibration(&args.calibration)?;
    refuse_unused(&calibration, args.features.as_ref(), args.ratios.as_ref())?;
    let classes = calibration.provenance().classes;
    let names = args.reading.names(classes)?;
    let verbosity = Verbosity::of(args.common.quiet);
    let mut tally = Some(Tally::new(&calibration, alpha)?);
    let files = PointFiles {
        probs: &args.probs,
        labels: Some(&args.labels),
        features: args.features.as_deref(),
        ratios: args.ratios.as_deref(),
    };
    each_block(files, &args.reading, classes, "evaluating", verbosity, |points| {
        tally = tally.take().map(|tally| tally.add(points)).transpose()?;
        Ok(())
    })?;
    let tally = tally.ok_or_else(|| Failure::Mismatch("nothing was evaluated".into()))?;
    let evaluation = tally.finish()?;
    if args.common.json {
        print_json(&json_of(&evaluation, names.as_deref()))?;
    } else {
        print(&text_of(&evaluation, names.as_deref()))?;
    }
    let below = args.fail_below.is_some_and(|floor| evaluation.coverage < floor);
    Ok(if below { Outcome::ConditionHolds } else { Outcome::Done })
}

fn json_of(evaluation: &Evaluation, names: Option<&[String]>) -> Value {
    let per_class = evaluation.per_class.iter().map(|class| {
        let mut value = json!({"label": class.label, "n": class.n, "coverage": class.coverage});
        if let Some(name) = names.and_then(|names| names.get(class.label)) {
            value["name"] = json!(name);
        }
        value
    });
    let by_size = evaluation
        .by_size
        .iter()
        .map(|size| json!({"size": size.size, "n": size.n, "coverage": size.coverage}));
    json!({
        "n": evaluation.n,
        "alpha": evaluation.alpha.get(),
        "coverage": evaluation.coverage,
        "mean_size": evaluation.mean_size,
        "median_size": evaluation.median_size,
        "empty": evaluation.empty,
        "full": evaluation.full,
        "total_coverage_gap": evaluation.total_coverage_gap,
        "per_class": per_class.collect::<Vec<Value>>(),
        "by_size": by_size.collect::<Vec<Value>>(),
    })
}

fn text_of(evaluation: &Evaluation, names: Option<&[String]>) -> String {
    let mut text = format!(
        "Coverage {} on {} points (level {}); {:.2} labels on average (median {}), {} empty sets, {} with every label.\n",
        percent(evaluation.coverage),
        evaluation.n,
        percent(1.0 - evaluation.alpha.get()),
        evaluation.mean_size,
        evaluation.median_size,
        evaluation.empty,
        evaluation.full,
    );
    if let Some(gap) = evaluation.total_coverage_gap {
        text += &format!(
            "Total coverage gap {gap:.3}: average distance from the level over all alpha.\n"
        );
    }
    let mut classes =
        Table::new(&[("class", Align::Left), ("points", Align::Right), ("coverage", Align::Right)]);
    for class in &evaluation.per_class {
        let name = names.and_then(|names| names.get(class.label)).cloned();
        classes.push(vec![
            name.unwrap_or_else(|| class.label.to_string()),
            class.n.to_string(),
            percent(class.coverage),
        ]);
    }
    let mut sizes = Table::new(&[
        ("set size", Align::Left),
        ("points", Align::Right),
        ("coverage", Align::Right),
    ]);
    for size in &evaluation.by_size {
        sizes.push(vec![size.size.to_string(), size.n.to_string(), percent(size.coverage)]);
    }
    let coloured = colour_on_stdout();
    text + "\n" + &classes.render(coloured) + "\n" + &sizes.render(coloured)
}
