//! `evenkeel compare`: methods side by side on labeled test data.

use evenkeel::method::{MethodName, require_a_user_among};
use evenkeel::side_inputs::PointSet;
use evenkeel_io::AtomicFile;
use serde::Serialize;

use crate::args::{BesideArgs, CompareArgs};
use crate::comparison::{Compared, Comparison, Files, Methods, Row, compare, table};
use crate::exit::Outcome;
use crate::inputs::LabeledFiles;
use crate::job::{Failure, Rates, on_threads, print, print_json, score};
use crate::page::compare_page;
use crate::progress::Verbosity;
use crate::streams::PointFiles;
use crate::table::{colour_on_stdout, percent};

#[derive(Debug, Serialize)]
struct Document {
    alpha: f64,
    n: u64,
    rows: Vec<Row>,
    warnings: Vec<String>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CompareArgs) -> Result<Outcome, Failure> {
    let rates = Rates::of(&args.common)?;
    let score = score(&args.scoring, rates.seed)?;
    for (one, other, missing) in [
        (&args.beside.cal_features, &args.test_features, "--test-features"),
        (&args.test_features, &args.beside.cal_features, "--cal-features"),
        (&args.beside.cal_ratios, &args.test_ratios, "--test-ratios"),
        (&args.test_ratios, &args.beside.cal_ratios, "--cal-ratios"),
    ] {
        if one.is_some() && other.is_none() {
            return Err(Failure::Argument(format!(
                "{missing} is missing: calibration and test points are described alike; give both or neither"
            )));
        }
    }
    let methods = methods(&args.methods, &args.beside)?;
    args.settings.values()?.require_an_owner_among(&methods.names)?;
    require_a_user_among(&methods.names, PointSet::Calibration, &args.beside.given())?;
    let verbosity = Verbosity::of(args.common.quiet);
    let labeled =
        LabeledFiles::read(&args.labeled.cal_probs, &args.labeled.cal_labels, &args.reading)?
            .with(&args.beside)?;
    let names = args.reading.names(labeled.classes())?;
    let files = Files {
        target: PointFiles {
            features: args.beside.unlabeled_features.as_deref(),
            ..PointFiles::probs(&args.unlabeled)
        },
        test: PointFiles {
            probs: &args.test_probs,
            labels: Some(&args.test_labels),
            features: args.test_features.as_deref(),
            ratios: args.test_ratios.as_deref(),
        },
    };
    let html = args.html.as_deref().map(AtomicFile::create).transpose()?;
    let table_file = args.csv.as_deref().map(AtomicFile::create).transpose()?;
    let settings = (args.settings.values()?, score, rates);
    let Comparison { compared, left_out } =
        compare(&methods, &labeled, files, settings, &args.reading, verbosity)?;
    let document = Document {
        alpha: rates.alpha.get(),
        n: compared.first().map_or(0, |first| first.evaluation.n),
        rows: compared.iter().map(Compared::row).collect(),
        warnings: warnings(&compared).into_iter().chain(left_out.clone()).collect(),
    };
    if let Some((file, path)) = table_file.zip(args.csv.as_ref()) {
        file.write_whole(csv(&document.rows))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if let Some((file, path)) = html.zip(args.html.as_ref()) {
        let mut page = compare_page(args, &compared, &labeled, names.as_deref())?;
        page.warnings.extend(left_out.iter().map(|reason| format!("{reason}.")));
        file.write_whole(evenkeel_report::render(&page))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if args.common.json {
        print_json(&document)?;
    } else {
        let mut text = format!(
            "{} labeled test points, level {}.\n\n{}",
            document.n,
            percent(1.0 - document.alpha),
            table(&document.rows).render(colour_on_stdout())
        );
        for account in accounts(&compared) {
            text += &format!("\n{account}\n");
        }
        for warning in &document.warnings {
            text += &format!("Warning: {warning}.\n");
        }
        print(&text)?;
    }
    Ok(Outcome::Done)
}

/// What the methods that decide something themselves did and why; `auto` speaks for the plan it chose.
pub(crate) fn accounts(compared: &[Compared]) -> Vec<String> {
    let of_one = |one: &Compared| {
        let method = one.calibration.provenance().method.as_str();
        one.calibration.account().map(|account| format!("What {method} did and why: {account}"))
    };
    compared.iter().filter_map(of_one).take(1).collect()
}

/// Warnings of all methods, each with its method.
pub(crate) fn warnings(compared: &[Compared]) -> Vec<String> {
    let of_one = |one: &Compared| -> Vec<String> {
        let method = one.calibration.provenance().method.as_str();
        one.calibration
            .warnings()
            .into_iter()
            .map(|warning| format!("{method}: {warning}"))
            .collect()
    };
    compared.iter().flat_map(of_one).collect()
}

/// The methods of a comma-separated list, each once, or all that what was given allows.
fn methods(list: &str, beside: &BesideArgs) -> Result<Methods, Failure> {
    if list.trim() == "all" {
        let given =
            |method: &MethodName| *method != MethodName::Fixed || beside.weights_file.is_some();
        let names = MethodName::ALL.into_iter().filter(given).collect();
        return Ok(Methods { names, left_out_if_inapplicable: true });
    }
    let mut methods = Vec::new();
    for name in list.split(',').map(str::trim) {
        let method: MethodName =
            name.parse().map_err(|error| Failure::Argument(format!("--methods: {error}")))?;
        if methods.contains(&method) {
            return Err(Failure::Argument(format!(
                "--methods names \"{name}\" twice; name each once"
            )));
        }
        methods.push(method);
    }
    Ok(Methods { names: methods, left_out_if_inapplicable: false })
}

/// A field of a CSV file, in quotation marks where it holds a comma.
fn quoted(field: &str) -> String {
    if field.contains(',') { format!("\"{field}\"") } else { field.to_owned() }
}

/// The table as CSV, numbers as they round-trip.
fn csv(rows: &[Row]) -> String {
    let mut text =
        "method,threshold,coverage,mean_size,total_coverage_gap,effective_sample_size,seconds,assumption\n".to_owned();
    for row in rows {
        let optional =
            |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        text += &format!(
            "{},{},{},{},{},{},{},{}\n",
            row.method,
            optional(row.threshold),
            row.coverage,
            row.mean_size,
            optional(row.total_coverage_gap),
            row.effective_sample_size,
            row.seconds,
            quoted(row.assumption),
        );
    }
    text
}
