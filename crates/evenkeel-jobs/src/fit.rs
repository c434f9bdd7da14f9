//! The one place that drives the core's fit: begin, add every block, end the pass, again or finish.

use std::time::Instant;

use evenkeel::calibrator::{Ended, Fit, Fitted, ShiftCalibrator};
use evenkeel::rows::RowKeys;

use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// Fits a calibrator and measures the seconds that takes without reading.
pub(crate) fn fit(
    calibrator: &ShiftCalibrator,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<(Fitted, f64)> {
    let mut clock = Clock::default();
    let fit = clock.time(|| labeled.begin(calibrator))?;
    let (fitted, seconds) =
        fit_begun(fit, (labeled, calibrator.method.most_steps()), target, observer)?;
    Ok((fitted, clock.seconds + seconds))
}

/// The rest of a fit that has taken the calibration data; `steps` are those that learning may take.
pub(crate) fn fit_begun(
    fit: Fit,
    (labeled, steps): (&LabeledData<'_>, usize),
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<(Fitted, f64)> {
    let mut clock = Clock::default();
    let mut rows = 0;
    // Rows that no sample will hold in the end are then only checked.
    let mut fit = match target.rows() {
        Some(rows) => fit.expecting(rows),
        None => fit,
    };
    let ready = loop {
        // Taken by every block and given back by all that are added: after an error there is none, and none is needed.
        let mut open = Some(fit);
        each_block(target, labeled.classes(), (Stage::Reading, observer), |block| {
            let keys = RowKeys::From(block.first_row as u64);
            let add = |fit: Fit| with_rows!(block.rows, |rows| fit.add(keys, rows, block.side));
            open = clock.time(|| open.take().map(add).transpose())?;
            rows = rows.max(block.first_row + block.rows.rows());
            Ok(())
        })?;
        labeled.require_target_rows(rows)?;
        let read = open.ok_or_else(|| JobError::NoRows { input: target.name().to_owned() })?;
        match clock.time(|| read.end_pass())? {
            Ended::Again(again) => fit = again,
            Ended::Done(ready) => break ready,
        }
    };
    observer.begin(Stage::Learning, Some(steps as u64).filter(|n| *n > 0));
    let mut stopped = false;
    let finished = clock.time(|| {
        ready.finish(&mut |point| {
            let next = observer.reached(point.step as u64);
            // Remembered: the core stops and returns what it has, which must not pass for a
            // finished fit.
            stopped |= next.is_break();
            next
        })
    });
    if stopped {
        return Err(JobError::Stopped);
    }
    observer.end();
    Ok((finished?, clock.seconds))
}

/// Adds up seconds.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    pub(crate) seconds: f64,
}

impl Clock {
    pub(crate) fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let started = Instant::now();
        let done = work();
        self.seconds += started.elapsed().as_secs_f64();
        done
    }
}
