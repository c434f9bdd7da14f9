//! The airfoil experiment of Tibshirani, Barber, Candes & Ramdas (2019, Sec. 2.2-2.3) on the user's copy of the UCI file.
//!
//! ```text
//! data           airfoil_self_noise.dat              -> five features, two of them as logarithms, and the noise level
//! least_squares  a quarter of the rows               -> a line
//! forest         features of two worlds              -> ratios by a random forest of probability trees
//! experiment     a quarter calibrates, half is drawn anew with weights exp(x'beta)  -> coverage of five methods
//! ```
//! The file is not part of this repository: `docs/methods/airfoil.md` says where it is and what was published.

mod data;
mod experiment;
mod forest;
mod least_squares;

pub use data::{Airfoil, FEATURES};
pub use experiment::{Method, MethodCoverage, PUBLISHED, repeat};
pub use forest::{Forest, ForestSettings};
pub use least_squares::Line;
