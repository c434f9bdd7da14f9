//! The one place that drives the core's fit: begin, add every block, end the pass, again or finish.

use std::time::Instant;

use evenkeel::calibrator::{Ended, Fit, FitShare, Fitted, ShiftCalibrator};
use evenkeel::rows::RowKeys;

use crate::any_rows::with_rows;
use crate::error::{JobError, Result};
use crate::labeled::LabeledData;
use crate::observer::{Observer, Stage};
use crate::source::{Block, RowSource};
use crate::turns::each_block_shared;

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
        let empty = || Share { rows: fit.share(), end: 0, clock: Clock::default() };
        let add = |share: Share, block: &Block<'_>| share.add(&fit, block);
        let classes = labeled.classes();
        let shares = each_block_shared(target, classes, (Stage::Reading, observer), empty, add)?;
        // Beside each other: the slowest is what it took.
        let slowest = shares.iter().map(|share| share.clock.seconds).fold(0.0, f64::max);
        clock.seconds += slowest;
        rows = shares.iter().map(|share| share.end).fold(rows, usize::max);
        labeled.require_target_rows(rows)?;
        let joined = || shares.into_iter().try_fold(fit, |fit, share| fit.join(share.rows));
        match clock.time(|| joined()?.end_pass())? {
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

/// What one thread has read of a pass.
struct Share {
    rows: FitShare,
    /// One past the last of them.
    end: usize,
    clock: Clock,
}

impl Share {
    fn add(self, fit: &Fit, block: &Block<'_>) -> Result<Self> {
        let Self { rows: share, end, mut clock } = self;
        let keys = RowKeys::From(block.first_row as u64);
        let rows = clock
            .time(|| with_rows!(block.rows, |rows| fit.add_to(share, keys, rows, block.side)))?;
        Ok(Self { rows, end: end.max(block.first_row + block.rows.rows()), clock })
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
