//! `evenkeel compare`: methods side by side on labeled test data.

use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::method::{KnownRatios, Method, MethodName, Need, OptionValues, require_a_user_among};
use evenkeel::score::Score;
use evenkeel::side_inputs::{PointSet, SideInput};
use evenkeel_io::{AtomicFile, PointFiles};
use evenkeel_jobs::documents::{CompareRow, ComparedLevel};
use evenkeel_jobs::{CompareJob, Compared, Entrant, IfInapplicable, compare, sentences};
use evenkeel_report::job_pages::{AboutRun, compare_page};

use crate::args::{BesideArgs, CompareArgs};
use crate::exit::Outcome;
use crate::failure::{Failure, spelled};
use crate::output::{print, print_json, warning_line};
use crate::page::{date, in_words, provenance};
use crate::progress::Verbosity;
use crate::settings::{Rates, calibrator, low_levels, on_threads, score};
use crate::table::{Align, Table, colour_on_stdout, percent, threshold};
use crate::table_args::LabeledPaths;

pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    on_threads(args.common.show.threads, || run_on_pool(args))
}

fn run_on_pool(args: &CompareArgs) -> Result<Outcome, Failure> {
    if let Some(per) = &args.per {
        return Err(Failure::Argument(format!(
            "--per {per} has no use here: a comparison has one threshold for each method. To see what a method is worth for each class or \
             group, run calibrate with --per {per}, then evaluate, whose lines are by class and group"
        )));
    }
    let (rates, all_rates) = Rates::several(&args.common)?;
    let score = score(&args.scoring, rates.seed)?;
    for (one, other, missing) in [
        (&args.beside.cal_features, &args.test_features, "--test-features"),
        (&args.test_features, &args.beside.cal_features, "--cal-features"),
        (&args.beside.cal_ratios, &args.test_ratios, "--test-ratios"),
        (&args.test_ratios, &args.beside.cal_ratios, "--cal-ratios"),
    ] {
        // Checked for both directions: a method fitted on features is useless on test points
        // without them.
        if one.is_some() && other.is_none() {
            return Err(Failure::Argument(format!(
                "{missing} is missing: calibration and test points are described alike; give both or neither"
            )));
        }
    }
    args.beside.second.paired()?;
    let (methods, if_inapplicable) = methods(&args.methods, &args.beside)?;
    let settings = args.settings.values()?;
    // An option that no compared method owns is a mistake, as it is for one method alone.
    settings.require_an_owner_among(&methods)?;
    let mut given = args.beside.given();
    if methods.contains(&MethodName::Auto) {
        // With labels it is few-labels.
        given.retain(|input| *input != SideInput::Labels);
    }
    require_a_user_among(&methods, PointSet::Calibration, &given)?;
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let job_at = |rates: Rates| {
        let entrants = entrants(&methods, settings, ratios, score, rates)?;
        Ok::<_, Failure>(CompareJob { entrants, if_inapplicable })
    };
    let job = job_at(rates)?;
    let paths = args.labeled.paths(&args.reading.columns)?;
    let test_labels = match &args.test_labels {
        Some(labels) => labels.clone(),
        None => args.reading.columns.labels_of(&args.test_probs, "--test-probs")?,
    };
    let files = args.reading.read(&paths, &args.beside, &[])?;
    let labeled = files.data()?;
    let known = files.class_names();
    let names = args.reading.names(labeled.classes(), &known)?;
    let target_labels = args.beside.labels(labeled.classes(), files.label_names())?;
    let labeled = match &target_labels {
        Some((labels, entries)) => {
            let input = args.beside.target_labels.as_deref().unwrap_or_default();
            labeled.with_target_labels(labels).with_target_entries(input, *entries)
        }
        None => labeled,
    };
    let html = args.page.html.as_deref().map(AtomicFile::create).transpose()?;
    let table_file = args.csv.as_deref().map(AtomicFile::create).transpose()?;
    let mut target = args.reading.open(
        PointFiles {
            features: args.beside.unlabeled_features.as_deref(),
            second: &args.beside.second.second_probs,
            ..PointFiles::several(&args.unlabeled)
        },
        &known,
    )?;
    let mut test = args.reading.open(
        PointFiles {
            labels: Some(&test_labels),
            features: args.test_features.as_deref(),
            ratios: args.test_ratios.as_deref(),
            ..PointFiles::probs(&args.test_probs)
        },
        &known,
    )?;
    let verbosity = Verbosity::of(args.common.show.quiet);
    let comparison = compare(&job, &labeled, &mut target, &mut test, &mut verbosity.progress())?;
    let mut document = comparison.document(rates.alpha.get(), &spelled);
    if all_rates.len() > 1 {
        document
            .levels
            .push(ComparedLevel { alpha: rates.alpha.get(), rows: document.rows.clone() });
    }
    for alpha in all_rates.iter().skip(1) {
        let job = job_at(Rates { alpha: *alpha, ..rates })?;
        let found = compare(&job, &labeled, &mut target, &mut test, &mut verbosity.progress())?;
        let rows = found.document(alpha.get(), &spelled).rows;
        document.levels.push(ComparedLevel { alpha: alpha.get(), rows });
    }
    if let Some((file, path)) = table_file.zip(args.csv.as_ref()) {
        file.write_whole(csv(&document.rows))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if let Some((file, path)) = html.zip(args.page.html.as_ref()) {
        let about = about_run(
            args,
            (&paths, &test_labels),
            &comparison.compared,
            &score,
            names.as_deref(),
        )?;
        let page = compare_page(&comparison, (rates.alpha, labeled.rows()), &spelled, &about)?;
        file.write_whole(evenkeel_report::render(&page))?;
        verbosity.note(&format!("wrote {}", path.display()));
    }
    if args.common.show.json {
        document.warnings.extend(low_levels(&all_rates).into_iter().chain(files.doubts()));
        print_json(&document)?;
    } else {
        let rows = table(&document.rows).render(colour_on_stdout());
        let mut text = format!("{}\n\n{rows}", sentences::compared(&document));
        for level in document.levels.iter().skip(1) {
            let rows = table(&level.rows).render(colour_on_stdout());
            text += &format!("\nLevel {}:\n\n{rows}", percent(1.0 - level.alpha));
        }
        if let Some(account) = sentences::method_account(&comparison.compared) {
            text += &format!("\n{account}\n");
        }
        if target_labels.is_some() && methods.contains(&MethodName::Auto) {
            text += "\nWith labels of target rows, auto is few-labels: the two are one row.\n";
        }
        document.warnings.extend(low_levels(&all_rates).into_iter().chain(files.doubts()));
        for warning in &document.warnings {
            text += &warning_line(warning);
        }
        print(&text)?;
    }
    Ok(Outcome::Done)
}

/// What stands at the head and the foot of the page.
fn about_run<'a>(
    args: &CompareArgs,
    (paths, test_labels): (&LabeledPaths, &String),
    compared: &[Compared],
    score: &Score,
    class_names: Option<&'a [String]>,
) -> Result<AboutRun<'a>, Failure> {
    let mut inputs = vec![
        ("calibration probabilities", &paths.probs),
        ("calibration labels", &paths.labels),
        ("test probabilities", &args.test_probs),
        ("test labels", test_labels),
    ];
    let beside = [
        ("calibration features", &args.beside.cal_features),
        ("features of the target data", &args.beside.unlabeled_features),
        ("test features", &args.test_features),
        ("calibration ratios", &args.beside.cal_ratios),
        ("test ratios", &args.test_ratios),
        ("weights", &args.beside.weights_file),
    ];
    inputs.extend(beside.into_iter().filter_map(|(role, file)| Some((role, file.as_ref()?))));
    let second = &args.beside.second;
    for (role, files) in [
        ("unlabeled probabilities of the target data", &args.unlabeled),
        ("calibration probabilities of a second model", &second.second_cal_probs),
        ("target probabilities of a second model", &second.second_probs),
    ] {
        inputs.extend(files.iter().map(|file| (role, file)));
    }
    let settings = settings_of_comparison(args, compared, score)?;
    Ok(AboutRun {
        run: args.page.title.clone(),
        date: date(),
        calibration: paths.probs.clone(),
        rows: args.test_probs.clone(),
        class_names,
        commands: Vec::new(),
        provenance: provenance(&inputs, settings, args.common.seed),
    })
}

/// Every setting in effect: of the score, and of each method.
fn settings_of_comparison(
    args: &CompareArgs,
    compared: &[Compared],
    score: &Score,
) -> Result<Vec<(String, String)>, Failure> {
    let ratios = KnownRatios::of(args.beside.cal_ratios.as_ref());
    let mut settings = vec![("methods".to_owned(), args.methods.clone())];
    settings.extend(in_words(&score.options()));
    for one in compared {
        let name = one.calibration.provenance().method;
        if name == MethodName::Oracle {
            continue;
        }
        let method = Method::from_options(name, &args.settings.values()?.of_method(name), ratios)?;
        let own = in_words(&method.options());
        settings.extend(
            own.into_iter()
                .map(|(option, value)| (format!("{name}: {option}", name = name.as_str()), value)),
        );
    }
    Ok(settings)
}

/// What takes part, in the order asked for.
pub(crate) fn entrants(
    methods: &[MethodName],
    options: &OptionValues,
    ratios: KnownRatios,
    score: Score,
    rates: Rates,
) -> Result<Vec<Entrant>, Failure> {
    let Rates { alpha, seed } = rates;
    let entrant = |method: &MethodName| match method {
        MethodName::Oracle => {
            let method = Method::Uncorrected;
            Ok(Entrant::Oracle(ShiftCalibrator { method, score, alpha, seed }))
        }
        method => Ok(Entrant::Method(calibrator(
            *method,
            &options.of_method(*method),
            ratios,
            score,
            rates,
        )?)),
    };
    methods.iter().map(entrant).collect()
}

/// The methods of a comma-separated list, each once, or all that what was given allows.
fn methods(list: &str, beside: &BesideArgs) -> Result<(Vec<MethodName>, IfInapplicable), Failure> {
    // Methods that need the user's weights are not "all" without them: they could only be left out.
    if list.trim() == "all" {
        let given = |method: &MethodName| {
            method.needs().weights != Need::Required || beside.weights_file.is_some()
        };
        let names = MethodName::ALL.into_iter().filter(given).collect();
        return Ok((names, IfInapplicable::LeaveOut));
    }
    let mut methods = Vec::new();
    for name in list.split(',').map(str::trim) {
        let method: MethodName =
            name.parse().map_err(|error| Failure::Argument(format!("--methods: {error}")))?;
        // A second row of the same numbers is surely a slip, and would be drawn over the first.
        if methods.contains(&method) {
            return Err(Failure::Argument(format!(
                "--methods names \"{name}\" twice; name each once"
            )));
        }
        methods.push(method);
    }
    Ok((methods, IfInapplicable::Fail))
}

/// The table of a comparison.
fn table(rows: &[CompareRow]) -> Table {
    let mut table = Table::new(&[
        ("method", Align::Left),
        ("coverage", Align::Right),
        ("mean size", Align::Right),
        ("total gap", Align::Right),
        ("threshold", Align::Right),
        ("n_w", Align::Right),
        ("seconds", Align::Right),
        ("assumes", Align::Left),
    ]);
    for row in rows {
        table.push(vec![
            row.method.to_owned(),
            percent(row.coverage),
            format!("{:.2}", row.mean_size),
            row.total_coverage_gap.map_or_else(|| "-".to_owned(), |gap| format!("{gap:.3}")),
            if row.own_thresholds { "each its own".to_owned() } else { threshold(row.threshold) },
            format!("{:.1}", row.effective_sample_size),
            format!("{:.3}", row.seconds),
            row.assumption.to_owned(),
        ]);
    }
    table
}

/// A field of a CSV file, in quotation marks where it holds a comma.
fn quoted(field: &str) -> String {
    if field.contains(',') { format!("\"{field}\"") } else { field.to_owned() }
}

/// The table as CSV, numbers as they round-trip.
fn csv(rows: &[CompareRow]) -> String {
    let mut text =
        "method,threshold,coverage,mean_size,total_coverage_gap,effective_sample_size,seconds,assumption\n".to_owned();
    for row in rows {
        // An empty cell, which readers take for missing; "null" or "-" would turn the column into
        // text.
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
