//! A pass by several threads, which take blocks of a source in turn and keep a state each.
//!
//! ```text
//! in turn      the next block is read, in the order of the rows, into memory of the thread that asks for it
//! meanwhile    the other threads add the blocks they have to their own states
//! in the end   the states are merged, once
//! ```
//! No thread waits for another but to read, and no state is merged before the end. Which thread takes which block is chance; results do
//! not depend on it, because states merge exactly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blocks::{each_block, first_bad_row, require_classes};
use crate::error::{JobError, Result};
use crate::observer::{Observer, Stage, go_on};
use crate::source::{Block, RowSource, TakeBlocks, TakenBlock};

/// One pass: every block of `source` is added to a state, by the threads of the current rayon pool where the source gives its blocks
/// away. Returns the states, at least one.
///
/// An error is that of the first block that has one, whatever thread took it.
pub(crate) fn each_block_shared<S: Send>(
    source: &mut dyn RowSource,
    classes: usize,
    (stage, observer): (Stage, &mut dyn Observer),
    empty: impl Fn() -> S + Sync,
    add: impl Fn(S, &Block<'_>) -> Result<S> + Sync,
) -> Result<Vec<S>> {
    if source.in_turns().is_none() {
        // Taken by every block and given back by all that are added: after an error there is none, and none is needed.
        let mut state = Some(empty());
        each_block(source, classes, (stage, observer), |block| {
            state = state.take().map(|state| add(state, block)).transpose()?;
            Ok(())
        })?;
        return Ok(state.into_iter().collect());
    }
    let name = source.name().to_owned();
    source.rewind()?;
    require_classes(source, classes)?;
    observer.begin(stage, source.rows());
    let Some(blocks) = source.in_turns() else { return Err(JobError::NoRows { input: name }) };
    let turns = Mutex::new(Turns { blocks, given: 0, over: false, failed: None });
    let pass = Pass { turns, done: AtomicU64::new(0), name: &name, empty, add };
    let others = Mutex::new(Vec::new());
    let mut own = None;
    rayon::in_place_scope(|scope| {
        for _ in 1..rayon::current_num_threads() {
            scope.spawn(|_| {
                if let Some(state) = pass.work(|_| Ok(())) {
                    locked(&others).push(state);
                }
            });
        }
        // This thread works too: it may be one of the pool, which would have one fewer otherwise. It alone may speak to the observer.
        own = pass.work(|done| go_on(observer, done));
    });
    let Pass { turns, done, .. } = pass;
    if let Some((_, error)) = turns.into_inner().unwrap_or_else(PoisonError::into_inner).failed {
        return Err(error);
    }
    let mut states: Vec<S> = own.into_iter().collect();
    states.extend(others.into_inner().unwrap_or_else(PoisonError::into_inner));
    go_on(observer, done.into_inner())?;
    observer.end();
    // A table can have a header and nothing below it: means over no rows would be NaN.
    if states.is_empty() { Err(JobError::NoRows { input: name }) } else { Ok(states) }
}

/// What all threads of a pass share.
struct Pass<'s, E, A> {
    turns: Mutex<Turns<'s>>,
    /// Rows added so far.
    done: AtomicU64,
    /// The source's, for errors.
    name: &'s str,
    empty: E,
    add: A,
}

/// Who may read next.
struct Turns<'s> {
    blocks: &'s mut dyn TakeBlocks,
    /// Blocks that were given away.
    given: usize,
    /// After the last block, or an error.
    over: bool,
    /// The first block that has an error, and the error.
    failed: Option<(usize, JobError)>,
}

impl Turns<'_> {
    /// The next block and its place among all; none after the last or an error.
    fn take(&mut self, used: Option<Box<dyn TakenBlock>>) -> Option<(usize, Box<dyn TakenBlock>)> {
        if self.over {
            return None;
        }
        let place = self.given;
        match self.blocks.take(used) {
            Ok(Some(block)) => {
                self.given += 1;
                return Some((place, block));
            }
            Ok(None) => self.over = true,
            Err(error) => self.fail(place, error),
        }
        None
    }

    /// Ends the pass. Blocks before this one were given away before it, and those who have them go on: if one of them has an error,
    /// that is the one to report.
    fn fail(&mut self, place: usize, error: JobError) {
        self.over = true;
        if self.failed.as_ref().is_none_or(|(first, _)| place < *first) {
            self.failed = Some((place, error));
        }
    }
}

impl<S, E: Fn() -> S, A: Fn(S, &Block<'_>) -> Result<S>> Pass<'_, E, A> {
    /// Takes blocks until there are no more, and adds them to one state; none if there was no block or the pass failed.
    fn work(&self, mut reached: impl FnMut(u64) -> Result<()>) -> Option<S> {
        let (mut state, mut used) = (None, None);
        loop {
            // Nothing in here may wait for a task of the pool: the task may be a thread's that waits for its turn.
            let Some((place, mut taken)) = locked(&self.turns).take(used.take()) else {
                return state;
            };
            let before = state.take().unwrap_or_else(&self.empty);
            let added = self.add(before, &mut *taken).and_then(|(state, done)| {
                reached(done)?;
                Ok(state)
            });
            match added {
                Ok(added) => state = Some(added),
                Err(error) => {
                    locked(&self.turns).fail(place, error);
                    return None;
                }
            }
            used = Some(taken);
        }
    }

    /// Adds a block; returns the state, and the rows that all threads have added.
    fn add(&self, state: S, taken: &mut dyn TakenBlock) -> Result<(S, u64)> {
        let block = taken.block()?;
        let added = (self.add)(state, &block)
            .map_err(|error| first_bad_row(&block, error).while_reading(self.name))?;
        let rows = block.rows.rows() as u64;
        Ok((added, self.done.fetch_add(rows, Ordering::Relaxed) + rows))
    }
}

/// A lock that a thread held when it panicked is taken all the same: the pool hands the panic on.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_rows::AnyRows;
    use crate::observer::Unobserved;
    use evenkeel::side_inputs::SideInputs;

    /// Blocks of one row `[number, 1 - number]`; some cannot be read, and some not be looked at.
    struct Numbers {
        blocks: usize,
        unreadable: Vec<usize>,
        unsound: Vec<usize>,
        next: usize,
        /// Memory that came back.
        reused: usize,
    }

    struct Number {
        place: usize,
        row: [f64; 2],
        unsound: bool,
    }

    impl RowSource for Numbers {
        fn name(&self) -> &str {
            "numbers"
        }
        fn columns(&self) -> usize {
            2
        }
        fn rows(&self) -> Option<u64> {
            None
        }
        fn is_labeled(&self) -> bool {
            false
        }
        fn rewind(&mut self) -> Result<()> {
            self.next = 0;
            Ok(())
        }
        fn next_block(&mut self) -> Result<Option<Block<'_>>> {
            Err(JobError::Stopped)
        }
        fn in_turns(&mut self) -> Option<&mut dyn TakeBlocks> {
            Some(self)
        }
    }

    fn about(place: usize) -> JobError {
        JobError::NoSuchRow { input: "numbers".to_owned(), row: place }
    }

    impl TakeBlocks for Numbers {
        fn take(
            &mut self,
            used: Option<Box<dyn TakenBlock>>,
        ) -> Result<Option<Box<dyn TakenBlock>>> {
            self.reused += usize::from(used.is_some());
            let place = self.next;
            self.next += 1;
            if self.unreadable.contains(&place) {
                return Err(about(place));
            }
            let unsound = self.unsound.contains(&place);
            let block = Number { place, row: [0.0, 1.0], unsound };
            Ok(if place < self.blocks { Some(Box::new(block)) } else { None })
        }
    }

    impl TakenBlock for Number {
        fn block(&mut self) -> Result<Block<'_>> {
            if self.unsound {
                return Err(about(self.place));
            }
            let rows = AnyRows::f64(&self.row, 2)?;
            Ok(Block { first_row: self.place, rows, side: SideInputs::default(), labels: &[] })
        }
    }

    fn read(numbers: &mut Numbers, threads: usize) -> Result<Vec<Vec<usize>>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(JobError::from_source)?.install(|| {
            let watched: (Stage, &mut dyn Observer) = (Stage::Reading, &mut Unobserved);
            each_block_shared(numbers, 2, watched, Vec::new, |mut seen, block| {
                seen.push(block.first_row);
                Ok(seen)
            })
        })
    }

    #[test]
    fn every_block_is_added_once() -> Result<()> {
        for threads in [1, 2, 7] {
            for blocks in [1, 2, 500] {
                let (unreadable, unsound) = (Vec::new(), Vec::new());
                let mut numbers = Numbers { blocks, unreadable, unsound, next: 0, reused: 0 };
                let states = read(&mut numbers, threads)?;
                assert!(!states.is_empty() && states.len() <= threads);
                // A thread sees blocks in their order.
                assert!(states.iter().all(|state| !state.is_empty() && state.is_sorted()));
                let mut seen = states.concat();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..blocks), "{blocks} blocks, {threads} threads");
                // Memory is that of as many blocks as there are threads.
                assert!(numbers.reused + threads >= blocks);
            }
        }
        Ok(())
    }

    /// Whether reading or looking at it fails, the first block that does is named.
    #[test]
    fn the_first_failure_is_reported() {
        for threads in [1, 2, 7] {
            for (unreadable, unsound, first) in [
                (vec![40], vec![], 40),
                (vec![], vec![99, 12, 13], 12),
                (vec![41], vec![40, 60], 40),
                (vec![30], vec![31], 30),
                (vec![0], vec![], 0),
            ] {
                for _ in 0..20 {
                    let (unreadable, unsound) = (unreadable.clone(), unsound.clone());
                    let mut numbers =
                        Numbers { blocks: 100, unreadable, unsound, next: 0, reused: 0 };
                    let found = read(&mut numbers, threads);
                    assert!(
                        matches!(found, Err(JobError::NoSuchRow { row, .. }) if row == first),
                        "{threads} threads: {found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_source_without_rows_is_refused() {
        let (unreadable, unsound) = (Vec::new(), Vec::new());
        let mut numbers = Numbers { blocks: 0, unreadable, unsound, next: 0, reused: 0 };
        assert!(matches!(read(&mut numbers, 2), Err(JobError::NoRows { .. })));
    }
}
