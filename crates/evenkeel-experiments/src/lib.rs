//! What Evenkeel's image experiments and its demo are made of.
//!
//! ```text
//! fashion_mnist   files of the Debian package     -> images and labels
//! corruption      image, severity, image id       -> the image a worse camera would have sent
//! classifier      training images                 -> a small convolutional network, kept in a safetensors file
//! performance     images, condition, classifier   -> how often it is right, and how sure
//! demo            all of it                       -> the softmax files in `data/demo`
//! shipped         nothing                         -> the files of `data`, which are inside the program
//! trial           a calibrator, points in memory  -> the jobs calibrate and evaluate: the methods of images and regression
//! airfoil         the user's UCI file             -> coverage under a tilt, by likelihood ratios (no images)
//! ```
//! Everything random comes from a [`Seed`](evenkeel::seed::Seed) and is addressed by image id or position, so results
//! are the same bytes for any number of threads. The measured accuracies are in `docs/images.md`.

pub mod airfoil;
pub mod classifier;
pub mod corruption;
pub mod demo;
pub mod draws;
pub mod error;
pub mod fashion_mnist;
pub mod image;
pub mod images;
pub mod npy;
pub mod performance;
pub mod regression;
pub mod run;
mod shipped;
mod trial;

pub use error::{Error, Result};
pub use shipped::shipped;
