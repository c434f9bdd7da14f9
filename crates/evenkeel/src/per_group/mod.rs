//! Stage 12: coverage for each class or each group, not only on average (Mondrian conformal prediction \[VGS05\]).
//!
//! ```text
//! per class   y in C(x)  iff  s(x, y) <= t_y           P(y in C(X) | Y = y) >= 1 - alpha
//! per group   C(x) = {y : s(x, y) <= t_g}, g = g(x)    P(Y in C(X) | g(X) = g) >= 1 - alpha
//! ```
//! A group has a threshold of its own, found by the method from the points of the group alone. One with fewer points than
//! the level needs is merged with the other small ones into a *rest*, refused, or given every label ([`SmallGroups`]).
//!
//! ```text
//! rank             ceil((n + 1)(1 - alpha)), and how many points have one
//! parts            which groups stand alone, which are merged
//! group_law        scores of one class -> t_y at any level
//! class_sums       scores of every class on the target rows, as whole numbers: mergeable
//! class_pass       how rows are read for that, and what they leave behind; class_share: the same in another process
//! class_rows       F_y(t) = sum_j h_j(y) 1{s_jy <= t} / sum_j h_j(y) over the target rows
//! class_coverages  the same at one threshold, for a check
//! class_fit        a fitted method -> a law for each class, or the pass it takes to find them
//! per_class        thresholds for each label: sets, file
//! group_calibrations  a calibration for each group: sets, file
//! undercovered     classes that one threshold for all covers far below the level
//! ```

mod class_coverages;
mod class_fit;
mod class_pass;
mod class_rows;
mod class_share;
mod class_sums;
mod group_calibrations;
mod group_law;
mod group_name;
mod parts;
mod per_class;
mod rank;
mod undercovered;

pub use class_coverages::ClassCoverages;
pub use class_fit::{ClassFit, ClassFitOf, class_coverage_rows, per_class, require_per_class};
pub use class_rows::{ClassRows, ClassRowsEnded};
pub use class_share::ClassShare;
pub use group_calibrations::{GroupPart, PerGroupCalibration};
pub use group_law::GroupLaw;
pub use group_name::{GroupName, group_name};
pub use parts::{Part, SmallGroups, Standing, parts};
pub use per_class::{ClassPart, PerClassCalibration};
pub use rank::{conformal_rank, least_points};
pub use undercovered::undercovered;
