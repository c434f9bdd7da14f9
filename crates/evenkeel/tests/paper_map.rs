//! The Rust paths that the documentation names are compiled here, so none of them can name something that is not there.
//!
//! A path in the documentation is a code span that starts with `evenkeel::`. The lists below name each of them once: the
//! compiler rejects an entry that does not exist, and a test rejects a difference between the lists and the pages. To name
//! a new path in a page, add it here.

#![allow(missing_docs)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Imports every path, and lists them in `ITEMS`: functions, types, traits and modules.
macro_rules! items {
    ($(evenkeel $(:: $segment:ident)+;)+) => {
        mod compiled_items {
            $(#[allow(unused_imports)] use evenkeel $(:: $segment)+ as _;)+
        }
        const ITEMS: &[&str] = &[$(concat!("evenkeel" $(, "::", stringify!($segment))+)),+];
    };
}

/// Takes every method as a value, and lists them in `METHODS`. An import cannot name a method.
macro_rules! methods {
    ($($module:ident :: $of:ident => $method:ident;)+) => {
        #[allow(dead_code)]
        fn compiled_methods() {
            $(let _ = evenkeel::$module::$of::$method;)+
        }
        const METHODS: &[&str] = &[$(concat!(
            "evenkeel::", stringify!($module), "::", stringify!($of), "::", stringify!($method)
        )),+];
    };
}

items! {
    evenkeel::bound::dkw_half_width;
    evenkeel::bound::exact_gap_between;
    evenkeel::bound::integrated_gap;
    evenkeel::bound::integrated_gap_between;
    evenkeel::bound::resample;
    evenkeel::bound::unlabeled_gap_at;
    evenkeel::bound::wasserstein_gap;
    evenkeel::bound::wasserstein_gap_between;
    evenkeel::calibrator::ShiftCalibrator;
    evenkeel::certify::CoverageAlarm;
    evenkeel::conformal::predict_rows;
    evenkeel::learning::fit_free_form;
    evenkeel::learning::minimise_exactly;
    evenkeel::learning::fit_weight_function;
    evenkeel::learning::free_form_test_mass;
    evenkeel::learning::function_weights;
    evenkeel::learning::network::Curve;
    evenkeel::learning::objective::RestrictedObjective;
    evenkeel::learning::objective::WassersteinObjective;
    evenkeel::learning::objective::WeightedCdfObjective;
    evenkeel::learning::project;
    evenkeel::measure::dominance;
    evenkeel::measure::wasserstein_1;
    evenkeel::method::auto;
    evenkeel::method::conditional;
    evenkeel::method::entropy_scaling;
    evenkeel::method::label_plan;
    evenkeel::method::label_shift;
    evenkeel::method::likelihood_ratio;
    evenkeel::method::quantile_transfer;
    evenkeel::reading;
    evenkeel::reading::belief;
    evenkeel::sandwich::min_max;
    evenkeel::sandwich::model_uniform;
    evenkeel::sandwich::model_uniform_sampled;
    evenkeel::sandwich::residual_candidates;
    evenkeel::score::ambiguous_scores;
    evenkeel::shift::shift_test;
    evenkeel::stream::StreamAlarm;
    evenkeel::threshold::conformal_threshold;
}

methods! {
    bound::DkwCorrection => for_sandwich;
    bound::Integrator => atoms;
    bound::Integrator => restricted_atoms;
    bound::Integrator => restricted_density;
    level::MiscoverageRange => levels;
    measure::Bandwidth => scott;
    measure::GaussianKde => density_on_grid;
    measure::TransportToFixed => value_and_gradient;
    measure::WeightedEmpirical => cdf;
    score::LabelMask => from_subsets;
    threshold::TestMass => exchangeable;
    threshold::TestMass => from_unnormalised;
}

/// `docs/**/*.md` and the pages at the root of the repository.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/methods", "docs/tutorials"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    pages
}

/// Every `.rs` file below `crates/*/src`.
fn rust_sources() -> Vec<PathBuf> {
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("src")).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                sources.push(path);
            }
        }
    }
    sources
}

/// The text of a page outside fenced blocks.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    text.split("```").step_by(2).collect()
}

/// What stands between `open` and `close`, every time.
fn between<'a>(text: &'a str, open: &str, close: char) -> Vec<&'a str> {
    let starts = text.match_indices(open).map(|(at, _)| &text[at + open.len()..]);
    starts.filter_map(|rest| rest.split_once(close)).map(|(inside, _)| inside).collect()
}

/// `(paper, test)` of every row of the table.
fn rows() -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/paper-map.md")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2).map(cells);
    rows.map(|row| (row[0].clone(), row[3].clone())).collect()
}

#[test]
fn the_paths_in_the_documentation_are_the_ones_compiled_here() {
    let named: BTreeSet<String> = pages()
        .iter()
        .flat_map(|page| {
            let text = prose(page);
            let paths = between(&text, "`evenkeel::", '`');
            paths.into_iter().map(|path| format!("evenkeel::{path}")).collect::<Vec<_>>()
        })
        .collect();
    let compiled: BTreeSet<String> =
        ITEMS.iter().chain(METHODS).map(|path| (*path).to_owned()).collect();
    let not_compiled: Vec<_> = named.difference(&compiled).collect();
    assert!(not_compiled.is_empty(), "add to the lists in this file: {not_compiled:#?}");
    let not_named: Vec<_> = compiled.difference(&named).collect();
    assert!(not_named.is_empty(), "no page names these; remove them here: {not_named:#?}");
    assert_eq!(compiled.len(), ITEMS.len() + METHODS.len(), "a path is listed twice");
}

#[test]
fn every_row_of_the_map_names_code_and_a_test() {
    for (paper, test) in rows() {
        let (file, name) = test.split_once("::").expect("file::test");
        let path = Path::new(TESTS).join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{paper}: no file {file}"));
        assert!(text.contains(&format!("fn {name}(")), "{paper}: no test {test}");
    }
    let text = fs::read_to_string(Path::new(ROOT).join("docs/paper-map.md")).unwrap();
    let table = text.lines().filter(|line| line.starts_with('|')).skip(2);
    for line in table {
        assert_eq!(line.matches("`evenkeel::").count(), 1, "one Rust path per row: {line}");
    }
}

#[test]
fn no_equation_of_the_method_is_left_out() {
    let found: Vec<String> = rows().into_iter().map(|(paper, _)| paper).collect();
    for needed in [
        "Def 3.1",
        "Thm 3.2",
        "eq 5",
        "eq 6",
        "Thm 3.3",
        "eq 7",
        "eq 8",
        "eq 9",
        "eq 10",
        "eq 11",
        "Alg 1",
        "Prop A.3",
        "Lemma A.4",
        "Rem A.5",
        "Thm A.6",
        "Rem A.8",
        "Prop A.9",
        "Thm A.11",
        "Alg 2",
    ] {
        assert!(found.iter().any(|paper| paper == needed), "{needed} is not in the map");
    }
}

/// `CL25`, `LGRTW18`: capitals, then the last two digits of the year.
fn is_key(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    !letters.is_empty()
        && letters.chars().all(|c| c.is_ascii_uppercase())
        && text.len() == letters.len() + 2
}

#[test]
fn every_key_that_is_cited_stands_in_the_bibliography() {
    let bibliography = prose(&Path::new(ROOT).join("docs/bibliography.md"));
    let keys: Vec<&str> = between(&bibliography, "**[", ']');
    let distinct: BTreeSet<&str> = keys.iter().copied().collect();
    assert_eq!(distinct.len(), keys.len(), "a key stands twice");
    assert!(keys.iter().all(|key| is_key(key)), "{keys:?}");
    for page in pages() {
        let text = prose(&page);
        for cited in between(&text, "[", ']').into_iter().filter(|text| is_key(text)) {
            assert!(distinct.contains(cited), "{}: no source [{cited}]", page.display());
        }
    }
    for source in rust_sources() {
        let text = fs::read_to_string(&source).unwrap();
        // Brackets are escaped in Rust documentation, where they would be links.
        for cited in between(&text, "\\[", '\\').into_iter().filter(|text| is_key(text)) {
            assert!(distinct.contains(cited), "{}: no source [{cited}]", source.display());
        }
    }
}
