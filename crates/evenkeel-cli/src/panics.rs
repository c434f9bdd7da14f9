//! Panics that have a meaning: of threads that got no memory, and of a decoder that met a damaged file.

use crate::failure::Failure;
use crate::{exit, memory};

/// From here on they are called what they are; every other panic is shown as ever.
pub(crate) fn watch() {
    // The program that is handed out ends where it panics, which makes it smaller. Elsewhere the readers catch the decoder's
    // panics, and report them as errors.
    watch_where_panics(if cfg!(panic = "abort") { Panics::End } else { Panics::AreCaught });
}

/// What comes after the panic of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Panics {
    /// The end of the process.
    End,
    /// An error of the reader.
    AreCaught,
}

fn watch_where_panics(panics: Panics) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        memory::end_if_none_was_left(panic);
        match evenkeel_io::undecodable_here() {
            None => usual(panic),
            // One sentence is enough: the reader will say it.
            Some(_) if panics == Panics::AreCaught => {}
            Some(error) => {
                exit::of_outcome(Err(Failure::Io(error)));
                evenkeel_io::write::try_remove_unfinished();
                memory::exit_at_once();
            }
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const CHILD: &str = "EVENKEEL_TEST_PANICS";

    /// Not a test by itself: what the process of the test below does.
    #[test]
    fn a_process_with_a_damaged_file() {
        let panics = match std::env::var(CHILD).as_deref() {
            Ok("end") => Panics::End,
            Ok("are caught") => Panics::AreCaught,
            _ => return,
        };
        watch_where_panics(panics);
        let origin = std::sync::Arc::from("night.parquet");
        let decoded: Result<(), _> = evenkeel_io::no_panic(&origin, || panic!("bits of the page"));
        assert!(decoded.is_err());
        println!("went on");
    }

    #[test]
    fn a_decoder_that_panics_is_an_error_about_its_file() {
        let run = |panics: &str| {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "panics::tests::a_process_with_a_damaged_file", "--nocapture"]);
            child.env(CHILD, panics).output().unwrap()
        };
        let ended = run("end");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: night.parquet: the file is damaged"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!String::from_utf8_lossy(&ended.stdout).contains("went on"));

        let caught = run("are caught");
        assert_eq!(caught.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&caught.stdout).contains("went on"));
        assert!(!String::from_utf8_lossy(&caught.stderr).contains("bits of the page"));
    }
}
