//! The pages of the jobs: what a check, an evaluation or a comparison found, as contents of a page.
//!
//! ```text
//! Checked     -> check_page        verdict, tiles, examples, classes; readings, bounds and laws folded
//! Evaluated   -> evaluate_page     the same, measured on labels
//! groups      -> add_..._groups    a line for each group
//! Comparison  -> compare_page      methods side by side, without a verdict
//! ```
//! Every shell has the same page because there is one of each.

mod check;
mod compare;
mod evaluate;
mod groups;

pub use check::{add_check, check_answer, check_page, page_verdict};
pub use compare::{add_comparison, compare_page};
pub use evaluate::evaluate_page;
pub use groups::{add_checked_groups, add_evaluated_groups};

use evenkeel::evaluation::ClassCoverage;
use evenkeel_jobs::sentences::class_name;

use crate::content::{ClassRow, Provenance};

/// What a job does not know of its own run.
#[derive(Debug, Clone, Default)]
pub struct AboutRun<'a> {
    /// Name of the model or of the run, as the user gave it.
    pub run: Option<String>,
    /// When it was made, as it is to be read.
    pub date: Option<String>,
    /// What the caller calls the calibration data.
    pub calibration: String,
    /// What the caller calls the rows that were looked at.
    pub rows: String,
    /// Names of the classes, if they were given.
    pub class_names: Option<&'a [String]>,
    /// Commands to type next, in full.
    pub commands: Vec<String>,
    /// What is needed to repeat the run.
    pub provenance: Provenance,
}

/// Classes by name, or by label where they have none.
fn class_rows(classes: &[ClassCoverage], names: Option<&[String]>) -> Vec<ClassRow> {
    let row = |class: &ClassCoverage| ClassRow {
        name: class_name(class.label, names),
        points: class.n as usize,
        coverage: Some(class.coverage),
        ..ClassRow::default()
    };
    classes.iter().map(row).collect()
}

/// Sentences of the jobs end as the page's do.
fn ended(warnings: Vec<String>) -> impl Iterator<Item = String> {
    warnings.into_iter().map(|warning| format!("{}.", capitalised(&warning)))
}

/// The first letter in upper case.
fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
