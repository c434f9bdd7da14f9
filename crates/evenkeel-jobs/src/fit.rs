//! The one place that drives the core's fit: begin, add every block, end the pass, again or finish.

use std::time::Instant;

use evenkeel::calibration::Calibration;
use evenkeel::calibrator::{NextPass, ShiftCalibrator};
use evenkeel::method::Method;

use crate::any_rows::with_rows;
use crate::blocks::each_block;
use crate::error::{JobError, Result, row_of};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::RowSource;

/// Fits a calibrator and measures the seconds that takes without reading.
pub(crate) fn fit(
    calibrator: &ShiftCalibrator,
    labeled: &LabeledData<'_>,
    target: &mut dyn RowSource,
    observer: &mut dyn Observer,
) -> Result<(Calibration, f64)> {
    let mut clock = Clock::default();
    let mut fit = clock.time(|| calibrator.begin(&labeled.labeled()))?;
    loop {
        each_block(target, labeled.classes(), (Stage::Reading, observer), |block| {
            let added = || with_rows!(block.rows, |rows| fit.add(rows, block.side));
            Ok(clock.time(added)?)
        })?;
        let next = clock.time(|| fit.end_pass()).map_err(|error| about_rows(target, error))?;
        if next == NextPass::Enough {
            break;
        }
    }
    observer.begin(Stage::Learning, most_steps(calibrator));
    let mut stopped = false;
    let finished = clock.time(|| {
        fit.finish(&mut |point| {
            let next = observer.reached(point.step as u64);
            stopped |= next.is_break();
            next
        })
    });
    if stopped {
        return Err(JobError::Stopped);
    }
    observer.end();
    let calibration = finished.map_err(|error| about_rows(target, error))?;
    Ok((calibration, clock.seconds))
}

/// Some methods look at a row only once they use it. The calibration data were checked before, so a row that is found
/// wrong then is one of the target data.
fn about_rows(target: &dyn RowSource, error: evenkeel::Error) -> JobError {
    match row_of(&error) {
        Some(_) => JobError::found_in(target.name(), error),
        None => JobError::Core(error),
    }
}

/// Steps an optimisation may take, for a progress bar.
fn most_steps(calibrator: &ShiftCalibrator) -> Option<u64> {
    match calibrator.method {
        Method::OptimalTransport(settings) => Some(settings.stopping.max_steps() as u64),
        _ => None,
    }
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
