//! Seconds by part of a cell.

use std::time::Instant;

/// What took how long. Kept apart from outcomes, which must not depend on the clock.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stopwatch {
    parts: Vec<(String, f64)>,
}

impl Stopwatch {
    /// Does something and notes how long it took.
    pub fn time<R>(&mut self, part: &str, work: impl FnOnce() -> R) -> R {
        let started = Instant::now();
        let result = work();
        self.parts.push((part.to_owned(), started.elapsed().as_secs_f64()));
        result
    }

    /// Parts and their seconds, in the order they were done.
    pub fn parts(&self) -> &[(String, f64)] {
        &self.parts
    }
}
