//! The answer of a check in words, and its evidence.

use evenkeel_jobs::{Checked, sentences};

use crate::output::warning_line;
use crate::table::{Align, Table, colour_on_stdout, percent};

/// Three lines: the verdict with its number, what to do, what it rests on; then warnings, and the evidence on request.
pub(crate) fn text(
    checked: &Checked,
    names: Option<&[String]>,
    command: Option<&str>,
    explain: bool,
) -> String {
    let mut text = sentences::check::answer(checked).join("\n") + "\n";
    if let Some(command) = command {
        text += &format!("\n  {command}\n");
    }
    let mut warnings = sentences::check::warnings(checked);
    warnings.extend(checked.class_warning(names));
    let recommended = checked.repair().into_iter().flat_map(|found| &found.warnings);
    // What a fit with labels warns of may be said of the labels already.
    let new: Vec<String> = recommended.filter(|said| !warnings.contains(said)).cloned().collect();
    warnings.extend(new);
    if !warnings.is_empty() {
        text += "\n";
    }
    for warning in warnings {
        text += &warning_line(&warning);
    }
    if explain {
        text += &explanation(checked, names);
        for remark in sentences::evidence::remarks(checked) {
            text += &format!("Note: {remark}.\n");
        }
    }
    text
}

/// Readings, shift test, guarantees and bounds, each with its name explained.
fn explanation(checked: &Checked, names: Option<&[String]>) -> String {
    let report = &checked.report;
    let mut text =
        "\nCoverage under each reading, a way to understand the unlabeled rows:\n\n".to_owned();
    let mut readings = Table::new(&[
        ("reading", Align::Left),
        ("coverage", Align::Right),
        ("sampling error", Align::Right),
        ("if", Align::Left),
    ]);
    for (name, coverage, error, assumption) in sentences::evidence::readings(report) {
        readings.push(vec![name, percent(coverage), percent(error), assumption.to_owned()]);
    }
    text += &readings.render(colour_on_stdout());
    for said in sentences::evidence::with_labels(checked, names) {
        text += &format!("\n{said}\n");
    }
    for said in [
        sentences::evidence::RANGE_RECORD.to_owned(),
        sentences::evidence::shift(report),
        sentences::evidence::guaranteed(report),
        sentences::evidence::belief(report),
    ] {
        text += &format!("\n{said}\n");
    }
    text += "\nBounds on what the shift costs at equal weights, averaged over all levels. The total gap compares coverage on both data \
             sets at\nthe same threshold; the distance is that of the target coverage from the level. With min-max these two are guaranteed; with f-u \
             they are\nassumed. The paper's forms are no bounds where scores are tied. The first row of each pair is about the rows at hand. The second \
             is\nproved for the populations behind them, tied scores or not. DKW terms bound the first two at the thresholds that these \
             calibration\ndata give, and the paper's forms where scores have a density.\n\n";
    let mut bounds = Table::new(&[
        ("bound", Align::Left),
        ("total gap", Align::Right),
        ("distance", Align::Right),
        ("paper's grid form (eq 7)", Align::Right),
        ("its mass", Align::Right),
        ("eq 8", Align::Right),
    ]);
    for (name, values) in [("min-max", &report.bounds.min_max), ("f-u", &report.bounds.f_u)] {
        bounds.push(vec![
            name.to_owned(),
            sentences::check::bound(values.exact),
            sentences::check::bound(values.level),
            sentences::check::bound(values.weighted_cdf),
            format!("{:.2}", values.mass),
            sentences::check::bound(values.wasserstein),
        ]);
        let with = |what: &str, confidence: f64| {
            format!("  {what}, confidence {}", sentences::confidence(confidence))
        };
        bounds.push(vec![
            with("populations", values.population_confidence),
            sentences::check::bound(values.exact_population),
            sentences::check::bound(values.level_population),
            String::new(),
            String::new(),
            String::new(),
        ]);
        bounds.push(vec![
            with("DKW terms", values.dkw_confidence),
            sentences::check::bound(values.exact_dkw),
            sentences::check::bound(values.level_dkw),
            sentences::check::bound(values.weighted_cdf_dkw),
            String::new(),
            sentences::check::bound(values.wasserstein_dkw),
        ]);
    }
    text += &bounds.render(colour_on_stdout());
    text += &format!("\n{}\n", sentences::evidence::order(report));
    if let Some(said) = sentences::evidence::classes(checked, names) {
        text += &format!("{said}\n");
    }
    if let Some(recommended) = checked.repair() {
        for said in sentences::evidence::recommendation(recommended) {
            text += &format!("{said}\n");
        }
    }
    text
}
