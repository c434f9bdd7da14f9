//! Progress on stderr, only where someone watches.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Whether anything about progress may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Bars on a terminal, notes on stderr.
    Normal,
    /// Nothing.
    Quiet,
}

impl Verbosity {
    pub(crate) fn of(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Normal }
    }

    /// A bar over `rows` rows of a file (or a spinner, if their number is not known), hidden unless stderr is a terminal.
    pub(crate) fn rows(self, what: &str, rows: Option<u64>) -> ProgressBar {
        if self == Self::Quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = rows.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let template = if rows.is_some() {
            "{msg} [{bar:30}] {human_pos}/{human_len} rows, {eta} left"
        } else {
            "{spinner} {msg} {human_pos} rows"
        };
        // The template is a constant of this file; the default style is a fine fallback.
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    /// A bar over optimisation steps.
    pub(crate) fn steps(self, steps: u64) -> ProgressBar {
        if self == Self::Quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(steps);
        let template = "learning weights [{bar:30}] {pos}/{len} steps, {eta} left";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar
    }

    /// A bar over the cells of an experiment.
    pub(crate) fn cells(self, what: &str) -> ProgressBar {
        if self == Self::Quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(0);
        let template = "{msg} [{bar:30}] {pos}/{len} cells, {elapsed} so far, {eta} left";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    /// A note for the person at the terminal.
    pub(crate) fn note(self, text: &str) {
        if self == Self::Normal {
            eprintln!("{text}");
        }
    }
}
