//! What a command writes is never what it reads, under whatever name.

use std::os::unix::fs::symlink;

use crate::running::{Scratch, run};
use crate::{FOG, call, options};

/// Every input of every command that writes a file, as its output: by its own name, through a link, through a second name
/// of the same file, and through another way to its directory.
#[test]
fn an_output_that_is_also_an_input_is_refused() {
    let scratch = Scratch::new();
    let copied = |name: &str, from: &str| scratch.file(name, std::fs::read(from).unwrap());
    let labeled = FOG.labeled_and_unlabeled();
    let probs = copied("probs.npy", &labeled[1]);
    let labels = copied("labels.npy", &labeled[3]);
    let target = copied("target.npy", &labeled[5]);
    let test = copied("test.npy", &FOG.test_probs());
    let test_labels = copied("test_labels.npy", &FOG.test_labels());
    let names: String = (0..10).map(|class| format!("class {class}\n")).collect();
    let names = scratch.file("names.npy", names);
    let stored = scratch.at("stored.npy");
    let fit = [("--cal-probs", probs.clone()), ("--cal-labels", labels), ("--unlabeled", target)];
    let json = scratch.at("cal.json");
    run(&call("calibrate", options(&fit), &["--method", "uncorrected", "--out", &json])).done();
    std::fs::rename(json, &stored).unwrap();
    let named = ("--class-names", names);
    let fitting = [&fit[..], std::slice::from_ref(&named)].concat();
    // Refused before anything is read: what stands beside the rows may be any file.
    let beside = |flags: &[&'static str]| -> Vec<(&'static str, String)> {
        let one = |flag: &&'static str| {
            (*flag, scratch.file(&format!("{}.npy", flag.trim_start_matches('-')), *flag))
        };
        flags.iter().map(one).collect()
    };
    let sides = beside(&[
        "--cal-features",
        "--unlabeled-features",
        "--cal-ratios",
        "--weights-file",
        "--target-labels",
    ]);
    let tested = [("--test-probs", test.clone()), ("--test-labels", test_labels.clone())];
    let tests_sides = beside(&["--test-features", "--test-ratios"]);
    let own_sides = beside(&["--features", "--ratios"]);
    let target = fit[2].clone();
    let kept = ("--calibration", stored);
    let checking = [&fitting[..], &sides[4..]].concat();
    let checking_kept = vec![kept.clone(), target.clone(), sides[4].clone(), named.clone()];
    let calibrating = [&fitting[..], &sides].concat();
    let of_kept = [&[kept.clone(), target.clone(), named.clone()][..], &sides[4..]].concat();
    let updating =
        vec![("--update", kept.1.clone()), target.clone(), sides[4].clone(), named.clone()];
    let comparing = [&fitting[..], &tested, &sides, &tests_sides].concat();
    let predicting =
        [&[kept.clone(), ("--probs", test.clone()), named.clone()][..], &own_sides].concat();
    let evaluating = [&predicting[..], &[("--labels", test_labels)]].concat();
    let labeling = [&[kept, target, named][..], &beside(&["--ids", "--resume"])].concat();
    let commands = [
        ("check", &checking[..], "--html"),
        ("check", &checking_kept, "--html"),
        ("calibrate", &calibrating, "--out"),
        ("calibrate", &of_kept, "--out"),
        ("calibrate", &updating, "--out"),
        ("predict", &predicting, "--out"),
        ("evaluate", &evaluating, "--html"),
        ("compare", &comparing, "--html"),
        ("compare", &comparing, "--csv"),
        ("label", &labeling, "--out"),
    ];
    let mut refused = 0;
    for (command, inputs, output) in commands {
        for (flag, file) in inputs {
            let (link, second) = (scratch.at("link.npy"), scratch.at("second.npy"));
            symlink(file, &link).unwrap();
            std::fs::hard_link(file, &second).unwrap();
            let name = std::path::Path::new(file).file_name().unwrap().to_str().unwrap();
            let around = scratch.at(&format!(
                "../{}/{name}",
                scratch.path().file_name().unwrap().to_str().unwrap()
            ));
            for out in [file.as_str(), &link, &second, &around] {
                let before = scratch.contents();
                let more: &[&str] = if command == "label" { &["--budget", "5"] } else { &[] };
                let ran = run(&call(command, options(inputs), &[more, &[output, out]].concat()));
                assert_eq!(ran.code, 2, "{command} {output} {out}: {ran:?}");
                let words = format!(
                    "error: {output} {out} is the file of {flag}, which it would replace; choose another name\n"
                );
                assert_eq!(ran.stderr, words);
                assert_eq!(before, scratch.contents());
                refused += 1;
            }
            std::fs::remove_file(link).unwrap();
            std::fs::remove_file(second).unwrap();
        }
    }
    assert_eq!(refused, 4 * (5 + 4 + 9 + 4 + 4 + 5 + 6 + 13 + 13 + 5));
    // A key of an archive is not another file.
    let ran = run(&call("calibrate", options(&fit), &["--out", &format!("{probs}:key.json")]));
    assert!(ran.code == 0, "a name of its own: {ran:?}");
}

#[test]
fn two_outputs_are_two_files() {
    let scratch = Scratch::new();
    let (page, link) = (scratch.at("page.html"), scratch.at("link.html"));
    symlink(&page, &link).unwrap();
    for (html, csv) in [(&page, &page), (&page, &link), (&link, &page)] {
        let ran = FOG.compare(&["--html", html, "--csv", csv]);
        let words =
            format!("error: --html and --csv name the same file, {csv}; choose two names\n");
        assert_eq!((ran.code, ran.stderr), (2, words));
        assert!(!std::fs::exists(&page).unwrap());
    }
    // A device is not replaced, so it may stand for both.
    FOG.compare(&["--html", "/dev/null", "--csv", "/dev/null"]).done();
}

/// A link stays a link, also where it leads to nothing yet.
#[test]
fn a_link_to_nothing_is_followed() {
    let scratch = Scratch::new();
    let link = scratch.at("link.json");
    symlink("nowhere.json", &link).unwrap();
    FOG.calibrate(&link, &[]).done();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(scratch.at("nowhere.json")).unwrap().starts_with('{'));
    let circle = scratch.at("circle.json");
    symlink("circle.json", &circle).unwrap();
    let ran = FOG.calibrate(&circle, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("links lead in a circle"), "{ran:?}");
    assert!(std::fs::symlink_metadata(&circle).unwrap().is_symlink());
}
