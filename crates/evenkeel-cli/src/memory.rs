//! Out of memory is an error like any other: a sentence on stderr and exit code 2, not an abort.
//!
//! Rust ends a process that cannot get memory by an abort, which leaves unfinished files and a code that monitors take for
//! a crash. The hook for it is not stable, so the allocator itself looks: it passes everything on to the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::COULD_NOT_RUN;

/// The system's allocator, but for what happens when there is nothing left: a sentence, and exit code 2.
#[derive(Debug)]
pub struct OrError;

#[expect(
    unsafe_code,
    reason = "an allocator is an unsafe trait, and no stable hook tells of failures"
)]
// SAFETY: every call is passed on to `System`, which keeps the contract; memory that it gives is handed out unchanged.
unsafe impl GlobalAlloc for OrError {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller vouches for the layout, which is passed on unchanged.
        found(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        found(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches that `memory` came from here, hence from `System`, with this layout.
        found(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The memory that was asked for; ends the process if there is none.
#[inline]
fn found(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Threads that cannot get their first pages panic inside the standard library, before anything could catch it, and abort: ends the
/// process with a sentence if that is what a panic says.
pub(crate) fn end_if_none_was_left(panic: &PanicHookInfo<'_>) {
    // A panic with values in its words has a `String` for a payload, one without has a `str`.
    let payload = panic.payload();
    let words = payload.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| payload.downcast_ref().copied()).unwrap_or_default();
    if words.starts_with("failed to allocate an alternative stack")
        || words.starts_with("failed to set up alternative stack guard page")
    {
        end(ALTERNATIVE_STACK);
    }
}

/// What a thread asks for first; more on some machines.
const ALTERNATIVE_STACK: usize = 8192;

/// Whether some thread is ending the process.
static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether it is this one. Constant and without a destructor, so that asking allocates nothing.
    static ENDING_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Ends the process with a sentence. Allocates nothing itself; what it calls may, and then there is nothing left to do.
#[cold]
fn end(bytes: usize) -> ! {
    if ENDING_HERE.replace(true) {
        exit_at_once();
    }
    if ENDING.swap(true, Ordering::SeqCst) {
        // Another thread has said it and is about to end the process; two sentences would mix.
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    // Unfinished files of a thread that holds their list stay; the next run that writes beside them removes them.
    evenkeel_io::write::try_remove_unfinished();
    // stderr is not buffered. If it is gone there is nobody to tell.
    drop(writeln!(
        std::io::stderr(),
        "error: out of memory: {bytes} bytes more could not be had; {REMEDY}"
    ));
    tell_program(bytes);
    exit_at_once()
}

const REMEDY: &str = "give fewer rows, or use fewer threads with --threads";

/// Whether results were asked for as JSON.
static WANTS_JSON: AtomicBool = AtomicBool::new(false);

/// From here on the end for want of memory is told as JSON too.
pub(crate) fn tell_as_json() {
    // Made now: its buffer could not be had later.
    drop(std::io::stdout());
    WANTS_JSON.store(true, Ordering::SeqCst);
}

/// The document of `error_document.rs`, past the buffer of stdout, which this thread may be in the middle of.
#[cfg(unix)]
fn tell_program(bytes: usize) {
    use std::os::fd::AsFd;
    if !WANTS_JSON.load(Ordering::SeqCst) {
        return;
    }
    if let Ok(stdout) = std::io::stdout().as_fd().try_clone_to_owned() {
        // The code still tells if stdout is gone.
        drop(writeln!(
            std::fs::File::from(stdout),
            r#"{{"error":{{"kind":"system","message":"out of memory: {bytes} bytes more could not be had; {REMEDY}"}}}}"#
        ));
    }
}

#[cfg(not(unix))]
fn tell_program(_: usize) {}

/// Ends the process without tidying up: that waits for what this thread may be in the middle of, such as the making of
/// stdout's buffer, and would wait forever.
pub(crate) fn exit_at_once() -> ! {
    let code = i32::from(COULD_NOT_RUN);
    #[cfg(unix)]
    signal_hook::low_level::exit(code);
    #[cfg(not(unix))]
    std::process::exit(code)
}
