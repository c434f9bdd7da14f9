//! What labels of the target data certify, whatever the model and the shift: counts and chance, no assumption about either.
//!
//! ```text
//! clopper_pearson        coverage at a threshold fixed before the labels were seen
//! same_labels_interval   coverage at a threshold chosen with the same labels, any of them
//! CoverageSequence       coverage after every label at once: stop and look whenever you like
//! CoverageAlarm          coverage fell below the level: false with probability delta, ever
//! label_budget           how many labels an interval of a given width takes
//! expected_interval      what a number of labels will tell
//! rows_to_label          which rows to label
//! tolerance_rank         the rank whose score covers the level with a given probability
//! ```
//! All of them hold for labels of rows **drawn at random** from the rows the statement is about.

mod alarm;
mod budget;
mod interval;
mod local_level;
mod local_level_table;
mod order_band;
mod rows_to_label;
mod sequence;
mod tolerance;

pub use alarm::{AlarmState, CoverageAlarm, Covered};
pub use budget::{HalfWidth, expected_interval, label_budget};
pub use interval::{CoveredLabels, MeasuredCoverage, clopper_pearson, same_labels_interval};
pub use local_level::same_labels_level;
// Hidden: the computation behind the table, for the example that writes it and the test that repeats it.
#[doc(hidden)]
pub use order_band::exact_local_level;
pub use rows_to_label::{RowDraw, rows_to_label};
pub use sequence::{CoverageSequence, SequenceStanding, SequenceState};
pub use tolerance::tolerance_rank;
