//! How the program behaves among others: pipes, colours, quiet runs, files that were there before.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[cfg(unix)]
use crate::running::limited;
use crate::running::{Scratch, demo, finish, program, run};
use crate::{CLEAN, FOG, call, options};

#[test]
fn no_escape_codes_in_pipes() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    let ran = [
        FOG.calibrate(&calibration, &[]),
        FOG.check(&[]),
        FOG.predict(&calibration, &scratch.at("sets.csv"), &[]),
        FOG.evaluate(&calibration, &[]),
        FOG.compare(&[]),
        run(&["check", "--help"]),
        run(&["check"]),
        run(&["manual"]),
    ];
    for ran in ran {
        assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{ran:?}");
    }
    let plain = FOG.check(&[]);
    let arguments = call("check", FOG.labeled_and_unlabeled(), &[]);
    for value in ["1", "0", ""] {
        assert_eq!(finish(program().args(&arguments).env("NO_COLOR", value)), plain);
    }
}

/// Names of classes are anybody's: what a terminal would obey is shown, in warnings as in errors.
#[test]
fn warnings_obey_no_name() {
    let scratch = Scratch::new();
    let names: String = (0..10).map(|class| format!("\x1b[31m\x07kind {class}\n")).collect();
    let names = ["--class-names", &scratch.file("names.txt", names)];
    let plain = ["--method", "uncorrected"];
    let out = scratch.at("cal.json");
    let mut warned = 0;
    for ran in [FOG.calibrate(&out, &[&names[..], &plain].concat()), FOG.check(&names)] {
        let said = ran.done().stdout;
        for line in said.lines().filter(|line| line.starts_with("Warning: ")) {
            assert!(!line.contains(char::is_control), "{line:?}");
            warned += usize::from(line.contains("\\u{1b}[31m\\u{7}kind 6"));
        }
    }
    assert_eq!(warned, 2);
}

#[test]
fn quiet_runs_say_nothing_on_stderr() {
    let scratch = Scratch::new();
    let page = scratch.at("page.html");
    let loud = FOG.check(&["--html", &page]).done();
    assert_eq!(loud.stderr, format!("wrote {page}\n"));
    let quiet = FOG.check(&["--html", &page, "--quiet"]).done();
    assert_eq!((quiet.stderr.as_str(), &quiet.stdout), ("", &loud.stdout));
    let table = scratch.at("rows.csv");
    assert_eq!(FOG.compare(&["--quiet", "--csv", &table, "--html", &page]).done().stderr, "");
}

#[test]
fn json_is_all_there_is() {
    let scratch = Scratch::new();
    let (page, table) = (scratch.at("page.html"), scratch.at("rows.csv"));
    // `json` fails on anything around the document, and on any word on stderr.
    FOG.check(&["--json", "--quiet", "--html", &page]).done().json();
    FOG.compare(&["--json", "--quiet", "--html", &page, "--csv", &table]).done().json();
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let evaluate = options(&[
        ("--calibration", calibration.clone()),
        ("--probs", FOG.test_probs()),
        ("--labels", FOG.test_labels()),
    ]);
    let predict = options(&[("--calibration", calibration), ("--probs", FOG.test_probs())]);
    for arguments in [
        call("predict", predict.clone(), &["--out", "-", "--quiet"]),
        call("predict", predict, &["--out", "-", "--quiet", "--format", "jsonl"]),
        call("check", FOG.labeled_and_unlabeled(), &[]),
        call("check", FOG.labeled_and_unlabeled(), &["--json"]),
        call("evaluate", evaluate, &[]),
        call("completions", vec![], &["bash"]),
        call("manual", vec![], &[]),
        call("compare", vec![], &["--help"]),
    ] {
        // The reader is gone before the first byte, and after the first line.
        for lines in [0, 1] {
            let mut child = program()
                .args(&arguments)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut reader = BufReader::new(child.stdout.take().unwrap());
            for _ in 0..lines {
                reader.read_line(&mut String::new()).unwrap();
            }
            drop(reader);
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
        }
    }
}

#[test]
fn conditions_hold_even_when_nobody_reads() {
    let mut child = program()
        .args(call("check", FOG.labeled_and_unlabeled(), &["--fail-on-shift"]))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn failed_runs_leave_earlier_files_alone_and_nothing_behind() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    // The last row is broken, so the failure comes after rows were written.
    let mut bytes = std::fs::read(FOG.test_probs()).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let broken = scratch.file("broken.npy", bytes);
    let earlier = |name: &str| scratch.file(name, "an earlier result");
    let (probs, labels) = (demo("calibration_probs"), demo("calibration_labels"));
    let labeled = ["--cal-probs", &probs, "--cal-labels", &labels, "--unlabeled", &broken];
    let calls = [
        call("calibrate", vec![], &labeled),
        call("predict", vec![], &["--calibration", &calibration, "--probs", &broken]),
    ];
    for name in ["sets.npy", "sets.csv", "sets.jsonl", "sets.parquet", "sets.json"] {
        earlier(name);
    }
    let sets = ["sets.npy", "sets.csv", "sets.jsonl", "sets.parquet", "new.npy", "new.csv"];
    let before = scratch.contents();
    for (arguments, names) in calls.into_iter().zip([&["sets.json", "new.json"][..], &sets]) {
        for name in names {
            let out = scratch.at(name);
            let mut arguments = arguments.clone();
            arguments.extend(["--out".into(), out]);
            let ran = run(&arguments);
            assert_eq!(ran.code, 2, "{ran:?}");
            assert!(ran.stderr.contains("broken.npy") && ran.stderr.contains("NaN"), "{ran:?}");
            assert_eq!(before, scratch.contents(), "{arguments:?}");
        }
    }
}

#[test]
fn a_file_can_be_replaced_and_results_can_go_to_a_pipe() {
    let scratch = Scratch::new();
    let calibration = scratch.file("cal.json", "an earlier result");
    FOG.calibrate(&calibration, &[]).done();
    let before = std::fs::read(&calibration).unwrap();
    CLEAN.calibrate(&calibration, &[]).done();
    assert!(before != std::fs::read(&calibration).unwrap());
    let folder: Vec<_> = scratch.contents().into_keys().collect();
    assert_eq!(folder.len(), 1, "{folder:?}");
    let stored = FOG.calibrate("/dev/stdout", &["--quiet"]).done().stdout;
    assert!(stored.starts_with("{\"format\":\"evenkeel/calibration\""), "{stored}");
}

#[test]
fn colour_where_it_is_asked_for() {
    let arguments = call("check", FOG.labeled_and_unlabeled(), &["--explain"]);
    let coloured = finish(program().args(&arguments).env("CLICOLOR_FORCE", "1"));
    assert!(coloured.stdout.contains("\x1b["), "{coloured:?}");
    let without: String = coloured
        .stdout
        .split('\x1b')
        .map(|part| part.split_once('m').map_or(part, |(_, rest)| rest))
        .collect();
    let first = coloured.stdout.split('\x1b').next().unwrap_or_default();
    let plain = FOG.check(&["--explain"]).stdout;
    assert!(plain.starts_with(first) && without.len() <= plain.len());
    let refused =
        program().args(&arguments).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output();
    assert_eq!(String::from_utf8(refused.unwrap().stdout).unwrap(), plain);
}

/// Nobody reads stderr, and it takes nothing: the result and the exit code are what they are.
#[cfg(target_os = "linux")]
#[test]
fn a_full_stderr_is_no_error() {
    let scratch = Scratch::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let page = scratch.at("page.html");
    let arguments = call("check", FOG.labeled_and_unlabeled(), &["--html", &page]);
    let status = program().args(&arguments).stdout(Stdio::null()).stderr(full()).status();
    assert_eq!(status.unwrap().code(), Some(0));
    let status = program().args(["check", "--cal-probs", "none.npy"]).stderr(full()).status();
    assert_eq!(status.unwrap().code(), Some(2));
    let missing = options(&[
        ("--cal-probs", "none.npy".into()),
        ("--cal-labels", "none.npy".into()),
        ("--unlabeled", "none.npy".into()),
    ]);
    let status = program().args(call("check", missing, &[])).stderr(full()).status();
    assert_eq!(status.unwrap().code(), Some(2));
}

/// A fit that does not end by itself, once it has begun: `cal.json` exists from before.
#[cfg(unix)]
fn endless_fit(scratch: &Scratch, limits: &str) -> std::process::Child {
    let out = scratch.file("cal.json", "earlier");
    let mut arguments = call("calibrate", FOG.labeled_and_unlabeled(), &[]);
    arguments.extend(["--method", "ot", "--steps", "100000000", "--out", &out].map(str::to_owned));
    let mut running = limited(limits).args(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    // The file under its temporary name, which has the process in it, says that the handler is set and the fit has begun.
    let own = format!("{}-", running.id());
    let begun = || scratch.contents().keys().any(|file| file.to_string_lossy().contains(&own));
    while !begun() {
        assert_eq!(running.try_wait().unwrap(), None, "ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running
}

#[cfg(unix)]
fn send(signal: &str, to: &std::process::Child) {
    let kill = std::process::Command::new("kill").args([signal, &to.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// How a run ended. One that goes on for a minute is ended, or these tests would never end where they were started with signals
/// ignored, as `nohup` and scripts in the background do: then the program ignores them too.
#[cfg(unix)]
fn exit_code_soon(running: &mut std::process::Child) -> Option<i32> {
    for _ in 0..600 {
        if let Some(status) = running.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    running.kill().unwrap();
    panic!(
        "the signal did not end the run; were the tests started with it ignored (nohup, a script in the background)?"
    );
}

/// Ctrl-C in the middle of a fit, a request to terminate, a closed terminal: nothing is left behind, what was there stays,
/// and the exit code tells which it was.
#[cfg(unix)]
#[test]
fn interrupted_runs_leave_nothing_behind_and_name_their_signal() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
        let scratch = Scratch::new();
        let mut running = endless_fit(&scratch, "true");
        send(signal, &running);
        assert_eq!(exit_code_soon(&mut running), Some(code), "{signal}");
        assert_eq!(scratch.contents().len(), 1);
        assert_eq!(std::fs::read_to_string(scratch.at("cal.json")).unwrap(), "earlier");
    }
}

/// `nohup evenkeel ...`: a terminal that is closed does not end a run that was told not to mind.
#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    let scratch = Scratch::new();
    let mut running = endless_fit(&scratch, "trap '' HUP");
    send("-HUP", &running);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(running.try_wait().unwrap(), None);
    send("-TERM", &running);
    assert_eq!(running.wait().unwrap().code(), Some(143));
}

/// A run that was killed leaves its temporary file; the next that writes beside it takes it away, whatever it writes.
/// That of a run that still lives stays.
#[cfg(target_os = "linux")]
#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let scratch = Scratch::new();
    for _ in 0..3 {
        let mut killed = endless_fit(&scratch, "true");
        send("-KILL", &killed);
        killed.wait().unwrap();
        assert_eq!(scratch.contents().len(), 2, "the latest leftover and the earlier result");
    }
    std::fs::remove_file(scratch.at("cal.json")).unwrap();
    let leftover = scratch.contents();
    let mut living = endless_fit(&scratch, "true");
    let both = scratch.contents();
    // The living run has removed the dead one's file; nobody removes the living one's.
    assert!(leftover.keys().all(|file| !both.contains_key(file)), "{leftover:?} {both:?}");
    FOG.check(&["--html", &scratch.at("page.html")]).done();
    let after = scratch.contents();
    assert!(both.keys().all(|file| after.contains_key(file)), "{both:?} {after:?}");
    send("-KILL", &living);
    living.wait().unwrap();
    FOG.check(&["--html", &scratch.at("page.html")]).done();
    let names: Vec<_> = scratch.contents().into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// Names of up to 255 bytes are legal, as are names that are no text.
#[cfg(target_os = "linux")]
#[test]
fn names_of_any_length_and_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    for length in [250, 255] {
        let json = "a".repeat(length - 5) + ".json";
        FOG.calibrate(&scratch.at(&json), &[]).done();
        let csv = "b".repeat(length - 4) + ".csv";
        FOG.predict(&scratch.at(&json), &scratch.at(&csv), &[]).done();
    }
    let probs = scratch.path().join(OsStr::from_bytes(b"caf\xe9 \xff.npy"));
    let labels = scratch.path().join(OsStr::from_bytes(b"\xff.npy"));
    std::fs::copy(demo("calibration_probs"), &probs).unwrap();
    std::fs::copy(demo("calibration_labels"), &labels).unwrap();
    let out = scratch.path().join(OsStr::from_bytes(b"\xfe.json"));
    let mut command = program();
    command.arg("calibrate").args(["--method", "uncorrected", "--quiet"]);
    command.arg("--cal-probs").arg(&probs).arg("--cal-labels").arg(&labels);
    command.arg("--unlabeled").arg(&probs).arg("--out").arg(&out);
    finish(&mut command).done();
    assert!(out.exists());
    // What is wrong with such a file is said with its name, and leads back to it.
    std::fs::write(&labels, "no array").unwrap();
    let ran = finish(&mut command);
    assert!(ran.code == 2 && ran.stderr.contains(r"\xff.npy: this is not an npy array"), "{ran:?}");
}

/// A pipe is refused before it is opened: opening one waits for a reader.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_no_place_for_an_array() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let pipe = scratch.at("sets.npy");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let files = options(&[
        ("--calibration", calibration),
        ("--probs", FOG.test_probs()),
        ("--out", pipe.clone()),
    ]);
    let mut child =
        program().args(call("predict", files, &[])).stderr(Stdio::piped()).spawn().unwrap();
    let patience = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if patience.elapsed().as_secs() > 20 {
            child.kill().unwrap();
            panic!("waits for a reader");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.ends_with("name a file, or write .csv, .jsonl or .parquet\n"), "{stderr}");
}
