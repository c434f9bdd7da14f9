//! Progress on stderr, only where someone watches.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use evenkeel_jobs::{Observer, Stage};
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

    /// Bars for the stages of a job.
    pub(crate) fn progress(self) -> Progress {
        Progress { verbosity: self, bar: ProgressBar::hidden() }
    }

    /// A bar over `rows` rows of a file (or a spinner, if their number is not known), hidden unless stderr is a terminal.
    fn rows(self, what: &str, rows: Option<u64>) -> ProgressBar {
        // Bars are made of escape codes, which have no place in a log file.
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
    fn steps(self, steps: u64) -> ProgressBar {
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
            // Not `eprintln!`, which panics when stderr is gone: a note is not worth a result.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }
}

/// One bar at a time, for the stage a job is in. Ctrl-C ends the whole process, so nothing is stopped here.
pub(crate) struct Progress {
    verbosity: Verbosity,
    bar: ProgressBar,
}

impl Observer for Progress {
    fn begin(&mut self, stage: Stage, total: Option<u64>) {
        self.bar = match (stage, total) {
            // Methods in closed form are done before a bar could be read.
            (Stage::Learning, None) => ProgressBar::hidden(),
            (Stage::Learning, Some(steps)) => self.verbosity.steps(steps),
            (stage, rows) => self.verbosity.rows(stage.doing(), rows),
        };
    }

    fn reached(&mut self, done: u64) -> ControlFlow<()> {
        self.bar.set_position(done);
        ControlFlow::Continue(())
    }

    fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}
