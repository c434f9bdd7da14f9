//! A store from its first model to a restored copy: what is promised of batches, labels, alarms and decisions.

#![allow(missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod hostile;
mod late;
mod life;
mod text_format;
mod world;
