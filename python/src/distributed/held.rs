//! A job between the calls of Python.

use std::sync::Mutex;

use crate::errors::Failure;

/// What a job is held in between calls. Calls take it out and put it back, so that none is left half changed.
pub(super) type Held<T> = Mutex<Option<T>>;

/// Takes the job out, and puts back what `work` makes of it; after an error there is none.
pub(super) fn step<T, R>(
    held: &Held<T>,
    work: impl FnOnce(T) -> Result<(Option<T>, R), Failure>,
) -> Result<R, Failure> {
    let mut place = held.lock().map_err(|_| ended())?;
    let (next, result) = work(place.take().ok_or_else(ended)?)?;
    *place = next;
    Ok(result)
}

/// Looks at the job without changing it.
pub(super) fn look<T, R>(
    held: &Held<T>,
    work: impl FnOnce(&T) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let place = held.lock().map_err(|_| ended())?;
    work(place.as_ref().ok_or_else(ended)?)
}

pub(super) fn ended() -> Failure {
    Failure::Setting("this job has ended, with its result or with an error; begin a new one".into())
}

pub(super) fn order(expected: &str) -> Failure {
    Failure::Setting(format!("not at this point of the job; {expected}"))
}
