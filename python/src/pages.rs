//! Pages of what the jobs found, written when they are asked for.

use evenkeel::level::Miscoverage;
use evenkeel_jobs::grouped::EvaluatedGroups;
use evenkeel_jobs::{Checked, Comparison};
use evenkeel_report::job_pages::{
    AboutRun, add_evaluated_groups, check_page, compare_page, evaluate_page,
};
use evenkeel_report::{Provenance, Report};
use pyo3::prelude::*;

use crate::errors::{Failure, spelled};
use crate::spelling::in_python;

/// What a page is about.
#[allow(clippy::large_enum_variant, reason = "one of them for each call of a job")]
pub(crate) enum Found {
    /// A check, by a score.
    Check { checked: Checked, score: &'static str },
    /// An evaluation of a calibration with so many points.
    Evaluation { evaluated: EvaluatedGroups, points: u64 },
    /// A comparison at a miscoverage rate, with so many calibration rows.
    Comparison { comparison: Comparison, alpha: Miscoverage, labeled: usize },
}

/// What is needed to write the page of a job.
#[pyclass(frozen, module = "evenkeel._evenkeel")]
pub(crate) struct Page {
    found: Found,
    /// What to call next.
    command: Option<String>,
    seed: u64,
    /// Names of the classes, unless others are asked for.
    class_names: Option<Vec<String>>,
}

impl Page {
    pub(crate) fn new(found: Found, seed: u64, class_names: Option<Vec<String>>) -> Self {
        Self { found, command: None, seed, class_names }
    }

    /// With the call that does what the page recommends.
    pub(crate) fn with_command(self, command: Option<String>) -> Self {
        Self { command, ..self }
    }

    fn report(&self, about: AboutRun<'_>) -> evenkeel::Result<Report> {
        let named = |calibration: &str, rows: &str| AboutRun {
            calibration: calibration.to_owned(),
            rows: rows.to_owned(),
            ..about.clone()
        };
        match &self.found {
            Found::Check { checked, score } => {
                check_page(checked, score, &named("probs_cal", "probs_target"))
            }
            Found::Evaluation { evaluated, points } => {
                let about = named("the calibration", "probs");
                let mut page = evaluate_page(
                    &evaluated.evaluation,
                    usize::try_from(*points).unwrap_or(usize::MAX),
                    &about,
                )?;
                add_evaluated_groups(&mut page, &evaluated.per_group);
                Ok(page)
            }
            Found::Comparison { comparison, alpha, labeled } => {
                let about = named("probs_cal", "probs_test");
                compare_page(comparison, (*alpha, *labeled), &spelled, &about)
            }
        }
    }
}

#[pymethods]
impl Page {
    /// The page as HTML.
    fn html(
        &self,
        title: Option<String>,
        date: Option<String>,
        class_names: Option<Vec<String>>,
    ) -> PyResult<String> {
        let about = AboutRun {
            run: title,
            date,
            class_names: class_names.as_deref().or(self.class_names.as_deref()),
            commands: self.command.iter().cloned().collect(),
            provenance: Provenance {
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                seed: Some(self.seed),
                ..Provenance::default()
            },
            ..AboutRun::default()
        };
        let mut page = self.report(about).map_err(Failure::from)?;
        page.warnings = page.warnings.into_iter().map(in_python).collect();
        Ok(evenkeel_report::render(&page))
    }
}
