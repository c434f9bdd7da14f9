//! Signals: unfinished files are removed, and the exit code tells which signal it was.

use crate::exit::BY_SIGNAL;

/// Ctrl-C, Ctrl-\, a request to terminate and a closed terminal end the process without dropping anything: from here on a thread
/// waits for them and removes unfinished files first.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    // Caught, so that it does not end the process: the write that would exceed the largest file allowed (`ulimit -f`)
    // fails instead, with an error that names the file. Nobody asks the flag.
    drop(signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
    let ignored = ignored_signals();
    // What was ignored when we were started stays ignored: `nohup`, and jobs that a script put in the background.
    let heeded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter();
    let heeded: Vec<i32> = heeded.filter(|signal| !ignored.contains(signal)).collect();
    let (ready, wait) = std::sync::mpsc::channel();
    let watcher = std::thread::Builder::new().name("signals".into()).spawn(move || {
        // Inside the thread: where no thread can be started, signals keep their usual effect.
        let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
        // The receiver waits below.
        let _ = ready.send(());
        if let Some(signal) = signals.forever().next() {
            evenkeel_io::write::remove_unfinished();
            std::process::exit(BY_SIGNAL + signal);
        }
    });
    // Nothing is written before the handlers stand. An error means that the thread has ended without any.
    if watcher.is_ok() {
        let _ = wait.recv();
    }
}

/// Hears of the first signal that asks the process to end, by its number; a second one ends it at once.
#[cfg(all(unix, feature = "serve"))]
pub(crate) fn wait_for_stop() -> std::sync::mpsc::Receiver<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let ignored = ignored_signals();
    let heeded: Vec<i32> =
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !ignored.contains(signal)).collect();
    let (tell, told) = std::sync::mpsc::channel();
    let (ready, wait) = std::sync::mpsc::channel();
    let watcher = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
        // The receiver waits below.
        let _ = ready.send(());
        let mut all = signals.forever();
        if let Some(signal) = all.next() {
            let _ = tell.send(signal);
        }
        if let Some(signal) = all.next() {
            std::process::exit(BY_SIGNAL + signal);
        }
    });
    if watcher.is_ok() {
        let _ = wait.recv();
    }
    told
}

/// Elsewhere Ctrl-C is all there is.
#[cfg(all(not(unix), feature = "serve"))]
pub(crate) fn wait_for_stop() -> std::sync::mpsc::Receiver<i32> {
    let (tell, told) = std::sync::mpsc::channel();
    drop(ctrlc::set_handler(move || {
        let _ = tell.send(2);
    }));
    told
}

/// The signals that this process was told to ignore, where the system says so in a file (Linux).
#[cfg(unix)]
fn ignored_signals() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // Bit 0 stands for signal 1.
    (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
}

/// Elsewhere Ctrl-C is all there is.
#[cfg(not(unix))]
pub(crate) fn watch() {
    // Where no handler can be set, unfinished files are only left behind under their temporary names.
    drop(ctrlc::set_handler(|| {
        evenkeel_io::write::remove_unfinished();
        std::process::exit(BY_SIGNAL + 2);
    }));
}
