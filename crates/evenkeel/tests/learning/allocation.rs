//! The step loop allocates nothing: a run ten times as long makes as many allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

use crate::alpha;
use crate::world::sample;
use evenkeel::interval::Interval;
use evenkeel::learning::objective::{
    Objective, ObjectiveInputs, WassersteinObjective, WeightedCdfObjective,
};
use evenkeel::learning::optimise::StoppingRule;
use evenkeel::learning::{FreeFormSettings, fit_free_form, initial_log_weights};
use evenkeel::measure::{Bandwidth, Grid, Support};
use evenkeel::sandwich::model_uniform;
use evenkeel::score::Score;
use evenkeel::seed::Seed;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[expect(
    unsafe_code,
    reason = "counting allocations needs an allocator, which passes everything on"
)]
// SAFETY: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Other test threads may be ending, with their counter gone already.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller vouches for the layout, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller vouches that the pointer came from `alloc`, hence from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<O: Objective>(steps: usize, scores: &[f64], objective: O) -> usize {
    let stopping = StoppingRule::after(steps).unwrap();
    let initial = initial_log_weights(scores.len(), Seed::new(0));
    let before = ALLOCATIONS.with(Cell::get);
    fit_free_form(
        scores,
        objective,
        &initial,
        FreeFormSettings { stopping, ..FreeFormSettings::default() },
        alpha(0.1),
        &mut |_, _| Ok(()),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn more_steps_make_no_more_allocations() {
    let mut scores = sample(100, 1.0, 1).scores();
    scores.sort_by(f64::total_cmp);
    let target = sample(100, 0.7, 2);
    let sandwich =
        model_uniform(&Score::Lac.candidate_scores(&target.probabilities()).unwrap()).unwrap();
    let grid = Grid::new(Interval::UNIT, 100).unwrap();
    let inputs = ObjectiveInputs {
        sorted_scores: &scores,
        sandwich: &sandwich,
        grid: &grid,
        bandwidth: Bandwidth::new(0.01).unwrap(),
        support: Support::Bounded(Interval::UNIT),
    };
    // Both runs are recorded 101 times; only the number of steps between the records differs.
    let cdf = |steps| allocations(steps, &scores, WeightedCdfObjective::new(inputs).unwrap());
    assert_eq!(cdf(100), cdf(1000));
    let w1 = |steps| allocations(steps, &scores, WassersteinObjective::new(inputs).unwrap());
    assert_eq!(w1(100), w1(1000));
}
