//! `evenkeel evaluate`: coverage, sizes and gap on labeled data, in one streaming pass.

use std::io::Write;

use evenkeel_io::{AtomicFile, PointFiles};
use evenkeel_jobs::FailedCondition;
use evenkeel_jobs::documents::{EvaluateDocument, EvaluatedLevel};
use evenkeel_jobs::grouped::{AnyCalibration, GroupColumn, evaluate_any};
use evenkeel_jobs::sentences;
use evenkeel_report::job_pages::{AboutRun, add_evaluated_groups, evaluate_page};

use super::check::require_share;
use super::predict::group_name;
use crate::args::EvaluateArgs;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::files::load_any_calibration;
use crate::output::{print, print_json, warning_line};
use crate::outputs::name_beside_evaluated;
use crate::page::{date, provenance, quoted};
use crate::per_args::GroupsOfPoints;
use crate::progress::Verbosity;
use crate::settings::{levels, low_levels, on_threads};
use crate::table::{Align, Table, colour_on_stdout, percent};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &EvaluateArgs) -> Result<Outcome, Failure> {
    let rates = levels(&args.common.alpha)?;
    let alpha = rates.first().copied();
    if let Some(floor) = args.fail_below {
        require_share("--fail-below", floor)?;
    }
    let calibration = load_any_calibration(&args.calibration)?;
    // Before the rows are opened: a file that the calibration has no use for is likely the wrong
    // calibration.
    calibration.refuse_unused(args.beside.features.is_some(), args.beside.ratios.is_some())?;
    let known = calibration.class_names().cloned().unwrap_or_default();
    let names = args.reading.names(calibration.provenance().classes, &known)?;
    let labels = labels(args)?;
    let html = args.page.html.as_deref().map(AtomicFile::create).transpose()?;
    let by = group_name(&calibration);
    let column = args.per.as_ref().filter(|per| *per != "class");
    let no_classes: Vec<String> =
        by.map(str::to_owned).into_iter().chain(column.cloned()).collect();
    let mut rows = args.reading.open_beside(
        PointFiles {
            labels: Some(&labels),
            features: args.beside.features.as_deref(),
            ratios: args.beside.ratios.as_deref(),
            ..PointFiles::probs(&args.probs)
        },
        &known,
        &no_classes,
    )?;
    let verbosity = Verbosity::of(args.common.show.quiet);
    let of_column = column.map(|column| format!("{}:{column}", args.probs));
    let groups = GroupsOfPoints { groups: args.groups.groups.clone().or(of_column) };
    let mut groups = groups.open(by.or(column.map(String::as_str)), &args.probs)?;
    let mut evaluate = |alpha| {
        let groups = groups.as_mut().map(|groups| groups as &mut dyn GroupColumn);
        evaluate_any(&calibration, alpha, &mut rows, groups, &mut verbosity.progress())
    };
    let evaluated = evaluate(alpha)?;
    let mut further = Vec::new();
    for alpha in rates.iter().skip(1) {
        further.push(evaluate(Some(*alpha))?);
    }
    let mut document = evaluated.document(names.as_deref());
    if !further.is_empty() {
        let all = std::iter::once(&evaluated).chain(&further);
        document.levels = all.map(|one| EvaluatedLevel::new(&one.evaluation)).collect();
    }
    document.warnings.extend(low_levels(&rates));
    document.failed = failed(args, &document);
    if let Some((file, path)) = html.zip(args.page.html.as_ref()) {
        let about = about_run(args, &labels, &calibration, names.as_deref());
        let points = calibration.points() as usize;
        let mut page = evaluate_page(&evaluated.evaluation, points, &about)?;
        add_evaluated_groups(&mut page, &evaluated.per_group);
        file.write_whole(evenkeel_report::render(&page))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if args.common.show.json {
        print_json(&document)?;
    } else {
        let said = sentences::evaluated(&evaluated.evaluation).join("\n");
        let warnings: String =
            document.warnings.iter().map(|said| format!("\n{}", warning_line(said))).collect();
        let levels = levels_table(&document);
        print(&format!("{said}\n\n{levels}{}{warnings}", tables(&document)))?;
    }
    // After everything was printed: a script that fails on it still has the numbers.
    match args.fail_below.filter(|floor| document.coverage < *floor) {
        Some(floor) => {
            // Not `eprintln!`, which panics when stderr is gone; the code still tells.
            let coverage = percent(document.coverage);
            let _ =
                writeln!(std::io::stderr(), "failed: --fail-below {floor}: coverage is {coverage}");
            Ok(Outcome::ConditionHolds)
        }
        None => Ok(Outcome::Done),
    }
}

/// The condition that was asked for, if it holds.
fn failed(args: &EvaluateArgs, document: &EvaluateDocument<'_>) -> Vec<FailedCondition> {
    let floor = args.fail_below.filter(|floor| document.coverage < *floor);
    let condition = |limit| FailedCondition {
        condition: "fail-below",
        limit,
        value: document.coverage,
        measured: true,
    };
    floor.map(condition).into_iter().collect()
}

/// The file of the labels, or the column of the table that holds them.
fn labels(args: &EvaluateArgs) -> Result<String, Failure> {
    match &args.labels {
        Some(labels) => Ok(labels.clone()),
        None => args.reading.columns.labels_of(&args.probs, "--probs"),
    }
}

/// The command that gives these rows and their labels to a new calibration.
fn recalibrate(args: &EvaluateArgs, labels: &str) -> String {
    let calibration = args.calibration.display().to_string();
    let words = [&calibration, args.probs.as_str(), labels].map(quoted);
    let [calibration, probs, labels] = words;
    let columns: String = args.reading.words().iter().map(|word| format!(" {word}")).collect();
    let logits = args.reading.flag().map_or_else(String::new, |flag| format!(" {flag}"));
    let out = name_beside_evaluated(args, ["new", "newer"], "json");
    format!(
        "evenkeel calibrate --calibration {calibration} --unlabeled {probs} --target-labels {labels} --out {out}{columns}{logits}"
    )
}

/// What stands at the head and the foot of the page.
fn about_run<'a>(
    args: &EvaluateArgs,
    labels: &String,
    calibration: &AnyCalibration,
    class_names: Option<&'a [String]>,
) -> AboutRun<'a> {
    let path = args.calibration.display().to_string();
    let inputs = [
        ("calibration", Some(&path)),
        ("probabilities", Some(&args.probs)),
        ("labels", Some(labels)),
        ("features", args.beside.features.as_ref()),
        ("likelihood ratios", args.beside.ratios.as_ref()),
        ("groups", args.groups.groups.as_ref()),
    ];
    let inputs: Vec<(&str, &String)> =
        inputs.into_iter().filter_map(|(role, file)| Some((role, file?))).collect();
    let provenance_of_run = calibration.provenance();
    let options = vec![("method".into(), provenance_of_run.method.as_str().to_owned())];
    AboutRun {
        run: args.page.title.clone(),
        date: date(),
        calibration: path.clone(),
        rows: args.probs.clone(),
        class_names,
        commands: vec![recalibrate(args, labels)],
        provenance: provenance(&inputs, options, provenance_of_run.seed.get()),
    }
}

/// Coverage at every rate asked for; nothing for one.
fn levels_table(document: &EvaluateDocument<'_>) -> String {
    if document.levels.is_empty() {
        return String::new();
    }
    let mut levels = Table::new(&[
        ("level", Align::Left),
        ("coverage", Align::Right),
        ("mean size", Align::Right),
    ]);
    for level in &document.levels {
        let size = format!("{:.2}", level.mean_size);
        levels.push(vec![percent(1.0 - level.alpha), percent(level.coverage), size]);
    }
    format!("{}\n", levels.render(colour_on_stdout()))
}

/// Coverage by class and by set size.
fn tables(document: &EvaluateDocument<'_>) -> String {
    // Thresholds of their own stand beside the coverage they give.
    let own = document.per_class.iter().any(|class| class.threshold.is_some());
    let mut columns =
        vec![("class", Align::Left), ("points", Align::Right), ("coverage", Align::Right)];
    columns.extend(own.then_some(("threshold", Align::Right)));
    let mut classes = Table::new(&columns);
    for class in &document.per_class {
        let name = class.name.map_or_else(|| class.label.to_string(), str::to_owned);
        let mut cells = vec![name, class.n.to_string(), percent(class.coverage)];
        cells.extend(class.threshold.map(threshold_cell));
        classes.push(cells);
    }
    let mut groups = Table::new(&[
        ("group", Align::Left),
        ("points", Align::Right),
        ("coverage", Align::Right),
        ("mean size", Align::Right),
        ("threshold", Align::Right),
    ]);
    for group in &document.per_group {
        groups.push(vec![
            group.group.to_owned(),
            group.n.to_string(),
            percent(group.coverage),
            format!("{:.2}", group.mean_size),
            threshold_cell(group.threshold),
        ]);
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
    let groups = match document.per_group.is_empty() {
        true => String::new(),
        false => format!("{}\n", groups.render(coloured)),
    };
    format!("{groups}{}\n{}", classes.render(coloured), sizes.render(coloured))
}

/// A threshold as a cell; none is infinite, or more than one.
fn threshold_cell(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}
