//! `theta_(r+1) = theta_r - step(dL/dtheta)`: the optimiser in three parts, how to step, when to stop, what to
//! remember.
//!
//! ```text
//! adam       one step: where to go
//! stopping   when to end, and the reason as a value
//! trace      what is remembered of the way
//! descent    the loop that asks the three of them
//! ```

mod adam;
mod descent;
mod stopping;
mod trace;

// Hidden: one step of the optimiser, which only our tests and benches call themselves.
#[doc(hidden)]
pub use adam::Adam;
pub use adam::AdamSettings;
pub(crate) use descent::{Descended, Descent, Parametrisation};
pub use stopping::{Improvement, StopReason, StoppingRule};
pub use trace::{Trace, TracePoint};
