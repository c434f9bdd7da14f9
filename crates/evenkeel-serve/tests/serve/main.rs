//! The server, asked over loopback: what it answers, whom it answers, what it survives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod backup;
mod batches;
mod columns;
mod kills;
mod limits;
mod metrics;
mod models;
mod pages;
mod proposals;
mod references;
mod told;
mod watched;
mod world;
