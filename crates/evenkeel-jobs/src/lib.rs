//! # The jobs, written once
//!
//! ```text
//! RowSource      files, arrays, a service's batches     -> Blocks of rows with side inputs and labels, readable again
//! LabeledData    the calibration data, checked once
//! check          is there a shift, what coverage is at risk, what to do       -> Checked     -> CheckDocument
//! calibrate      weights or thresholds for the target data                    -> Calibrated  -> CalibrateDocument
//! update         the same with more labels of target rows                     -> Calibrated  -> CalibrateDocument
//! predict        a set of labels for every row                                -> Predicted   -> PredictDocument
//! evaluate       coverage, sizes and gap on labeled rows                      -> Evaluated   -> EvaluateDocument
//! compare        methods side by side on labeled rows                         -> Comparison  -> CompareDocument
//! label          rows to label, drawn at random, and what they are worth     -> Drawn       -> LabelDocument
//! distributed    check, calibrate and evaluate over rows that lie with other processes
//! grouped        the same with coverage for each class or each group
//! Observer       hears of progress, may stop a job
//! documents      every JSON document            sentences      every sentence about a result
//! ```
//! The command line, Python and the experiments are doors to these: arguments in, a job, its document or sentences out.
//! What a job computes and says is the same from all of them because there is one of it.
//!
//! ```
//! use evenkeel::calibrator::ShiftCalibrator;
//! use evenkeel::level::Miscoverage;
//! use evenkeel::method::Method;
//! use evenkeel::score::Score;
//! use evenkeel::seed::Seed;
//! use evenkeel_jobs::{AnyRows, LabeledData, MemorySource, Unobserved, calibrate};
//!
//! # fn main() -> evenkeel_jobs::Result<()> {
//! let (cal, target) = ([0.7, 0.3, 0.2, 0.8, 0.6, 0.4], [0.9_f32, 0.1, 0.5, 0.5]);
//! let labeled = LabeledData::new("cal", &cal, 2, "labels", vec![0, 1, 1])?;
//! let mut target = MemorySource::new("target", AnyRows::f32(&target, 2)?);
//! let calibrator = ShiftCalibrator {
//!     method: Method::Uncorrected,
//!     score: Score::Lac,
//!     alpha: Miscoverage::new(0.5)?,
//!     seed: Seed::new(0),
//! };
//! let calibrated = calibrate(&calibrator, &labeled, &mut target, &mut Unobserved)?;
//! assert_eq!(calibrated.document(None).method, "uncorrected");
//! # Ok(())
//! # }
//! ```

mod any_rows;
mod any_table;
mod blocks;
mod calibrate;
mod check;
mod compare;
pub mod distributed;
pub mod documents;
mod error;
mod error_place;
mod evaluate;
mod evaluation_pass;
mod fit;
pub mod grouped;
mod label;
mod labeled;
mod memory;
mod observer;
mod oracle;
mod predict;
mod said;
mod second_models;
pub mod sentences;
mod source;
mod stored;
mod target_labels;
mod turns;
mod update;
mod value_kind;

pub use any_rows::AnyRows;
pub use any_table::{AnyTable, Columns};
pub use blocks::BLOCK_BYTES;
pub use calibrate::{Calibrated, calibrate};
pub use check::{
    AlarmConditions, BeforeAndWith, CheckJob, Checked, ClassShare, CoverageMeasured, CoverageRange,
    ExampleRow, FailedCondition, MeanSizes, PreparedCheck, Recommended, UsedLabel, WithLabels,
    check,
};
pub use compare::{CompareJob, Compared, Comparison, Entrant, IfInapplicable, LeftOut, compare};
pub use error::{JobError, PerRow, Result, Spell, counted_from, plainly};
pub use error_place::ErrorPlace;
pub use evaluate::{Evaluated, evaluate};
pub use label::{Drawn, LabelJob, LabelsFor, LabelsWorth, RowToLabel, Shown, label};
pub use labeled::{LabeledData, SideNames};
pub use memory::MemorySource;
pub use observer::{Observer, Stage, Unobserved};
pub use predict::{Predicted, predict, refuse_unused};
pub use said::said_of;
pub use second_models::{SecondTable, SeenRows, beside_each_other};
pub use source::{Block, RowSource, TakeBlocks, TakenBlock};
pub use stored::parse_calibration;
pub use target_labels::TargetLabels;
pub use update::update;
pub use value_kind::ValueKind;
