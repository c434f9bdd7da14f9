//! Test points share the memory of their thread: ten times as many make as many allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use evenkeel::rows::Rows;

use crate::problems::softmax_problem;

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

#[test]
fn test_points_allocate_nothing_of_their_own() {
    let problem = softmax_problem(150, 20, 2);
    let model = problem.model();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let allocations = |repeats: usize| {
        let test = problem.test.repeat(repeats);
        pool.install(|| {
            let before = ALLOCATIONS.with(Cell::get);
            let test = Rows::new("test features", &test, problem.columns).unwrap();
            model.cutoffs(test, problem.alpha()).unwrap();
            ALLOCATIONS.with(Cell::get) - before
        })
    };
    // The first run also sets up what the thread keeps.
    allocations(1);
    // Where the batch is cut in two decides which point first makes the memory grow: a few more or less, not 180.
    let (few, many) = (allocations(1), allocations(10));
    assert!(many <= few + 10, "{few} for 20 points, {many} for 200");
}
