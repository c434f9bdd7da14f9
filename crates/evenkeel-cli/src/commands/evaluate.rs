//! `evenkeel evaluate`: coverage, sizes and gap on labeled data, in one streaming pass.

use evenkeel::level::Miscoverage;
use evenkeel_io::PointFiles;
use evenkeel_jobs::documents::EvaluateDocument;
use evenkeel_jobs::{evaluate, refuse_unused, sentences};

use super::check::require_share;
use crate::args::EvaluateArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::load_calibration;
use crate::output::{print, print_json};
use crate::progress::Verbosity;
use crate::settings::on_threads;
use crate::table::{Align, Table, colour_on_stdout, percent};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &EvaluateArgs) -> Result<Outcome, Failure> {
    let alpha = args.common.alpha.map(Miscoverage::new).transpose()?;
    if let Some(floor) = args.fail_below {
        require_share("--fail-below", floor)?;
    }
    let calibration = load_calibration(&args.calibration)?;
    // Before the rows are opened: a file that the calibration has no use for is likely the wrong
    // calibration.
    refuse_unused(&calibration, args.features.is_some(), args.ratios.is_some())?;
    let names = args.reading.names(calibration.provenance().classes)?;
    let mut rows = args.reading.open(PointFiles {
        probs: &args.probs,
        labels: Some(&args.labels),
        features: args.features.as_deref(),
        ratios: args.ratios.as_deref(),
    })?;
    let mut progress = Verbosity::of(args.common.quiet).progress();
    let evaluated = evaluate(&calibration, alpha, &mut rows, &mut progress)?;
    let document = evaluated.document(names.as_deref());
    if args.common.json {
        print_json(&document)?;
    } else {
        let said = sentences::evaluated(&evaluated.evaluation).join("\n");
        print(&format!("{said}\n\n{}", tables(&document)))?;
    }
    // After everything was printed: a script that fails on it still has the numbers.
    let below = args.fail_below.is_some_and(|floor| document.coverage < floor);
    Ok(if below { Outcome::ConditionHolds } else { Outcome::Done })
}

/// Coverage by class and by set size.
fn tables(document: &EvaluateDocument<'_>) -> String {
    let mut classes =
        Table::new(&[("class", Align::Left), ("points", Align::Right), ("coverage", Align::Right)]);
    for class in &document.per_class {
        let name = class.name.map_or_else(|| class.label.to_string(), str::to_owned);
        classes.push(vec![name, class.n.to_string(), percent(class.coverage)]);
    }
    let mut sizes = Table::new(&[
        ("set size", Align::Left),
        ("points", Align::Right),
        ("coverage", Align::Right),
    ]);
    for size in &document.by_size {
        sizes.push(vec![size.size.to_string(), size.n.to_string(), percent(size.coverage)]);
    }
    let coloured = colour_on_stdout();
    format!("{}\n{}", classes.render(coloured), sizes.render(coloured))
}
