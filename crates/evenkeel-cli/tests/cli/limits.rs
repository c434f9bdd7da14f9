//! Where memory, threads or room for files end: a sentence and exit code 2, never a crash and never a wait.

use std::process::Command;
use std::time::Instant;

use crate::running::{Ran, Scratch, demo, finish, limited, npy, npy_f64, npy_i64, program};
use crate::{FOG, call, options};

/// Enough for the work on a few rows, and far from enough for 200 million.
const ONE_GIGABYTE: &str = "ulimit -v 1000000";

/// A deflated npz of `count` zeros of one byte in this shape: 195 kB hold 200 million.
fn zeros(count: usize, shape: &str) -> Vec<u8> {
    use std::io::Write;
    let array = npy("'|u1'", shape, &[]);
    let mut crc = flate2::Crc::new();
    let mut deflated = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let mut size = 0_u64;
    let mut add = |bytes: &[u8]| {
        crc.update(bytes);
        deflated.write_all(bytes).unwrap();
        size += bytes.len() as u64;
    };
    add(&array);
    let piece = vec![0_u8; 1 << 20];
    let mut left = count;
    while left > 0 {
        let part = left.min(piece.len());
        add(&piece[..part]);
        left -= part;
    }
    let (deflated, crc) = (deflated.finish().unwrap(), crc.sum());
    let mut shared = Vec::new();
    // Version, flags, method 8 (deflated), time, date; checksum and sizes; lengths of name and extra field.
    for field in [20_u16, 0, 8, 0, 0x21] {
        shared.extend_from_slice(&field.to_le_bytes());
    }
    for field in [crc, u32::try_from(deflated.len()).unwrap(), u32::try_from(size).unwrap()] {
        shared.extend_from_slice(&field.to_le_bytes());
    }
    shared.extend_from_slice(&5_u16.to_le_bytes());
    shared.extend_from_slice(&0_u16.to_le_bytes());
    let mut file = b"PK\x03\x04".to_vec();
    file.extend_from_slice(&shared);
    file.extend_from_slice(b"a.npy");
    file.extend_from_slice(&deflated);
    let start = u32::try_from(file.len()).unwrap();
    file.extend_from_slice(b"PK\x01\x02\x14\x00");
    file.extend_from_slice(&shared);
    file.extend_from_slice(&[0; 14]);
    file.extend_from_slice(b"a.npy");
    let length = u32::try_from(file.len()).unwrap() - start;
    file.extend_from_slice(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&start.to_le_bytes());
    file.extend_from_slice(&[0; 2]);
    file
}

fn run_limited(limits: &str, arguments: &[String]) -> Ran {
    let output = limited(limits).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    // A signal is no exit code: 128 and more, as shells count it.
    let code = output.status.code().unwrap_or(128);
    Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// 195 kB of labels that are 200 million zeros: the header says so, and no more is read.
#[test]
fn a_small_file_of_many_rows_is_refused_by_its_header() {
    let scratch = Scratch::new();
    let bomb = scratch.file("zeros.npz", zeros(200_000_000, "(200000000,)"));
    let wide = scratch.file("wide.npz", zeros(200_000_000, "(100000000, 2)"));
    let half = scratch.file("half.npz", zeros(100_000_000, "(100000000,)"));
    assert!(std::fs::metadata(&bomb).unwrap().len() < 300_000);
    let (probs, labels) = (demo("calibration_probs"), demo("calibration_labels"));
    let given = |probs: &str, labels: &str| {
        options(&[
            ("--cal-probs", probs.into()),
            ("--cal-labels", labels.into()),
            ("--unlabeled", probs.into()),
        ])
    };
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let evaluating = options(&[
        ("--calibration", calibration),
        ("--probs", FOG.test_probs()),
        ("--labels", bomb.clone()),
    ]);
    let weights = ["--method", "fixed", "--out", "x.json", "--weights-file", &bomb];
    for (arguments, words) in [
        (call("check", given(&probs, &bomb), &[]), "200000000 labels, but 1000 are needed"),
        (call("check", given(&wide, &labels), &[]), "1000 labels, but 100000000 are needed"),
        (call("check", given(&wide, &half), &[]), "more than is read into memory at once"),
        (call("check", given(&bomb, &bomb), &[]), "it has one column of numbers"),
        (call("calibrate", given(&probs, &labels), &weights), "has 200000000 weights"),
        (call("evaluate", evaluating, &[]), "has 200000000 labels"),
    ] {
        let started = Instant::now();
        let ran = run_limited(ONE_GIGABYTE, &arguments);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{arguments:?} {ran:?}");
        assert!(started.elapsed().as_secs() < 5, "{arguments:?} read it all");
    }
}

/// Memory that ends in the middle of the work.
#[test]
fn out_of_memory_is_an_error_and_leaves_nothing() {
    let scratch = Scratch::new();
    let rows = 3_000_000;
    // Rows of `(1/4, 3/4)`, 48 MB on the disk and several times that in a fit.
    let values: Vec<f64> = [0.25, 0.75].repeat(rows);
    let probs = scratch.file("probs.npy", npy_f64(&values, 2));
    let labels = scratch.file("labels.npy", npy_i64(&vec![1; rows]));
    let out = scratch.file("cal.json", "earlier");
    let before = scratch.contents();
    let files = options(&[
        ("--cal-probs", probs.clone()),
        ("--cal-labels", labels),
        ("--unlabeled", probs),
        ("--out", out),
    ]);
    let arguments = call("calibrate", files, &["--method", "uncorrected", "--threads", "2"]);
    let mut ended = 0;
    for kilobytes in [60_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000] {
        let ran = run_limited(&format!("ulimit -v {kilobytes}"), &arguments);
        assert_eq!(ran.code, 2, "{kilobytes}: {ran:?}");
        let words = ["out of memory", "do not fit into memory", "could not start the threads"];
        assert!(words.iter().any(|words| ran.stderr.contains(words)), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        assert_eq!(before, scratch.contents());
        let out_of_memory = ran.stderr.contains("out of memory");
        ended += usize::from(out_of_memory);
        if out_of_memory {
            let told = run_limited(
                &format!("ulimit -v {kilobytes}"),
                &[&arguments[..], &["--json".to_owned()]].concat(),
            );
            let document: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
            assert_eq!(document["error"]["kind"], "system", "{told:?}");
        }
    }
    assert!(ended >= 4, "only {ended} of 8 ended in the allocator");
}

/// A number of classes that a file claims is compared with what a table can have before anything is made for it.
#[test]
fn a_claim_of_many_classes_allocates_nothing() {
    let scratch = Scratch::new();
    let good = scratch.at("cal.json");
    FOG.calibrate(&good, &["--method", "uncorrected"]).done();
    let text = std::fs::read_to_string(&good).unwrap();
    for classes in ["18446744073709551615", "1000000000000000000", "4000000000", "11"] {
        let changed = text.replacen("\"classes\":10", &format!("\"classes\":{classes}"), 1);
        assert_ne!(changed, text, "the file has no number of classes");
        let changed = scratch.file("changed.json", changed);
        let before = scratch.contents();
        let calibration = ("--calibration", changed.clone());
        for name in ["sets.npy", "sets.csv", "sets.jsonl", "sets.parquet"] {
            let out = ("--out", scratch.at(name));
            let files = options(&[calibration.clone(), ("--probs", FOG.test_probs()), out]);
            let ran = run_limited("ulimit -v 1000000", &call("predict", files, &[]));
            assert!(ran.code == 2 && ran.stderr.starts_with("error: "), "{name}: {ran:?}");
            assert_eq!(before, scratch.contents(), "{name}");
        }
        let ran = FOG.evaluate(&changed, &[]);
        assert!(ran.code == 2 && ran.stderr.lines().count() == 1, "{ran:?}");
    }
}

#[test]
fn threads_have_an_upper_limit() {
    for threads in ["513", "3000", "100000", "1000000000000000000"] {
        let started = Instant::now();
        let ran = finish(program().args(call(
            "check",
            FOG.labeled_and_unlabeled(),
            &["--threads", threads],
        )));
        let words =
            format!("error: --threads is {threads}; use 1 to 512, or leave it out for all cores\n");
        assert_eq!((ran.code, &*ran.stderr), (2, &*words));
        assert!(started.elapsed().as_secs() < 5);
    }
    let many = call("check", FOG.labeled_and_unlabeled(), &[]);
    let ran = finish(program().args(&many).env("RAYON_NUM_THREADS", "3000"));
    assert!(ran.code == 2 && ran.stderr.contains("RAYON_NUM_THREADS is 3000"), "{ran:?}");
    let all = finish(program().args(&many).env("RAYON_NUM_THREADS", "0")).done();
    let most = FOG.check(&["--threads", "512"]).done();
    assert_eq!(all, most);
}

/// `ulimit -f`: the system would end the process by a signal.
#[test]
fn a_file_that_grows_too_large_is_an_error_and_leaves_nothing() {
    let scratch = Scratch::new();
    let calibration = scratch.at("cal.json");
    FOG.calibrate(&calibration, &[]).done();
    let before = scratch.contents();
    for name in ["sets.npy", "sets.csv", "sets.jsonl", "sets.parquet"] {
        let files = options(&[
            ("--calibration", calibration.clone()),
            ("--probs", FOG.test_probs()),
            ("--out", scratch.at(name)),
        ]);
        let ran = run_limited("ulimit -f 1", &call("predict", files, &[]));
        assert!(
            ran.code == 2 && ran.stderr.contains("File too large; free some space"),
            "{name}: {ran:?}"
        );
        assert_eq!(before, scratch.contents(), "{name}");
    }
}

/// A megabyte of commas makes a million cells; 200 MB of them must not take 1.6 GB.
#[test]
fn a_line_of_commas_is_refused_in_bounded_memory() {
    let scratch = Scratch::new();
    let commas = scratch.at("commas.csv");
    let made = format!("head -c 200000000 /dev/zero | tr '\\0' ',' > {commas}");
    assert!(Command::new("bash").arg("-c").arg(made).status().unwrap().success());
    let labels = demo("calibration_labels");
    let files = options(&[
        ("--cal-probs", commas.clone()),
        ("--cal-labels", labels),
        ("--unlabeled", commas),
    ]);
    let ran = run_limited(ONE_GIGABYTE, &call("check", files, &["--threads", "2"]));
    assert!(ran.code == 2 && ran.stderr.contains("more than 4194304 cells"), "{ran:?}");
}
