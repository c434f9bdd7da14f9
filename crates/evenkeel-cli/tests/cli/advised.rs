//! What a command says to type next is taken by the program: word for word, as a shell reads it.

use std::fs;

use crate::running::{Array, Ran, Scratch, csv, demo, finish, npy_f64, program};

/// The words of a line as a shell takes them apart: blanks between words, single quotes, and a backslash outside of them.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (None::<String>, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().extend(letters.next()),
            ' ' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    assert!(!quoted, "{line}");
    words.extend(word);
    words
}

#[test]
fn words_are_those_of_a_shell() {
    let line = r"evenkeel check --cal 'a b'\''s.csv' --x '' ~/y";
    let printed = std::process::Command::new("sh")
        .args(["-c", &format!("printf '%s\\n' {}", line.replace('~', "'~'"))])
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(shell_words(line), printed.lines().collect::<Vec<_>>());
}

/// Runs a line that was advised, in a folder.
fn typed(scratch: &Scratch, line: &str) -> Ran {
    let words = shell_words(line);
    assert_eq!(words.first().map(String::as_str), Some("evenkeel"), "{line}");
    finish(program().args(&words[1..]).current_dir(scratch.path()))
}

/// The demo's files under names that a shell must not take apart.
fn data() -> Scratch {
    let scratch = Scratch::new();
    for (from, to) in [
        ("calibration_probs", "cal probs.npy"),
        ("calibration_labels", "labels.npy"),
        ("clean_unlabeled", "clean.npy"),
        ("fog_3_unlabeled", "the fog's.npy"),
        ("motion_blur_5_unlabeled", "blur.npy"),
        ("gaussian_noise_1_unlabeled", "noise.npy"),
    ] {
        fs::copy(demo(from), scratch.at(to)).unwrap();
    }
    let sheet = demo("x").replace("x.npy", "fifty_labels.csv");
    fs::copy(sheet, scratch.at("fifty.csv")).unwrap();
    let floats = |name: &str| Array::read(&demo(name)).floats();
    for (from, to) in [("calibration_probs", "cal_logits.npy"), ("fog_3_unlabeled", "logits.npy")] {
        let logits: Vec<f64> = floats(from).iter().map(|p| p.max(1e-12).ln()).collect();
        scratch.file(to, npy_f64(&logits, 10));
    }
    let header = (0..10).map(|class| format!("p_{class},")).collect::<String>() + "label\n";
    let labels = Array::read(&demo("calibration_labels")).integers();
    let rows = csv(&floats("calibration_probs"), 10);
    let lines = rows.lines().zip(labels).map(|(row, label)| format!("{row},{label}\n"));
    scratch.file("cal table.csv", header + &lines.collect::<String>());
    let rows = csv(&floats("fog_3_unlabeled"), 10);
    let header = (0..10).map(|class| format!("p_{class}")).collect::<Vec<_>>().join(",");
    scratch.file("fog table.csv", format!("{header}\n{rows}"));
    let names: String = (0..10).map(|class| format!("kind {class}\n")).collect();
    scratch.file("names.txt", names);
    let made = "evenkeel calibrate --cal-probs 'cal probs.npy' --cal-labels labels.npy --unlabeled clean.npy --quiet --out";
    for name in ["cal.json", "new.json", "'stored one.json'"] {
        typed(&scratch, &format!("{made} {name}")).done();
    }
    scratch
}

const OF_FILES: &str = "--cal-probs 'cal probs.npy' --cal-labels labels.npy";

/// Every command that `check` recommends runs, and replaces none of the files that were checked.
#[test]
fn what_check_recommends_runs() {
    let scratch = data();
    let fog = r"--unlabeled 'the fog'\''s.npy'";
    let kinds = [
        (format!("{OF_FILES} {fog}"), "cal.json"),
        (format!("--calibration cal.json {fog}"), "new.json"),
        (format!("--calibration ./cal.json {fog}"), "new.json"),
        (format!("--calibration new.json {fog}"), "cal.json"),
        (format!("--calibration 'stored one.json' {fog} --alpha 0.2 --seed 3"), "cal.json"),
        (
            "--calibration cal.json --unlabeled blur.npy --target-labels fifty.csv".into(),
            "new.json",
        ),
        (format!("{OF_FILES} --unlabeled blur.npy --target-labels fifty.csv"), "cal.json"),
        (format!("{OF_FILES} --unlabeled blur.npy noise.npy --delta 0.01"), "cal.json"),
        (format!("{OF_FILES} {fog} --score raps --raps-k 2 --randomised"), "cal.json"),
        (
            format!("--calibration cal.json {fog} --assume matched --class-names names.txt"),
            "new.json",
        ),
        (
            format!("{OF_FILES} {fog} --second-cal-probs 'cal probs.npy' --second-probs blur.npy"),
            "cal.json",
        ),
        ("--cal 'cal table.csv' --label-col label --unlabeled 'fog table.csv'".into(), "cal.json"),
        (
            "--cal-probs cal_logits.npy --cal-labels labels.npy --unlabeled logits.npy --logits"
                .into(),
            "cal.json",
        ),
        (format!("{OF_FILES} --unlabeled clean.npy --accuracy 0.5"), "rows.csv"),
        // The sheet is drawn from that table, and is not it.
        (format!("{OF_FILES} --unlabeled rows.csv --accuracy 0.5"), "more_rows.csv"),
    ];
    let kept = fs::read(scratch.at("stored one.json")).unwrap();
    for (kind, out) in kinds {
        // What was advised before replaced one of them, as it may where it was not the one that was checked.
        for name in ["cal.json", "new.json"] {
            fs::write(scratch.at(name), &kept).unwrap();
        }
        if kind.contains("rows.csv") {
            let clean = Array::read(&demo("clean_unlabeled")).floats();
            scratch.file("rows.csv", csv(&clean, 10));
        }
        let before = scratch.contents();
        let check = format!("evenkeel check {kind} --quiet");
        let found = typed(&scratch, &format!("{check} --json")).json();
        let command = found["command"].as_str().unwrap_or_else(|| panic!("{kind}: {found}"));
        // The same on the page of text.
        let said = typed(&scratch, &check).done().stdout;
        assert!(said.contains(&format!("\n  {command}\n")), "{kind}: {said}");
        let words = shell_words(command);
        let at = words.iter().position(|word| word == "--out").unwrap();
        assert_eq!(words[at + 1], out, "{kind}");
        typed(&scratch, command).done();
        assert!(scratch.path().join(out).exists(), "{command}");
        // Files that were there and were not read may be replaced; those of the check stay.
        let after = scratch.contents();
        for word in shell_words(&kind) {
            let path = scratch.path().join(&word);
            let same = before.get(&path) == after.get(&path);
            assert!(same, "{command} replaced {word}");
        }
    }
}

/// A calibration under any name of the advice's own gives way to another, also under a second name of the file.
#[cfg(unix)]
#[test]
fn a_link_to_the_calibration_is_the_calibration() {
    let scratch = data();
    fs::rename(scratch.at("cal.json"), scratch.at("kept.json")).unwrap();
    fs::remove_file(scratch.at("new.json")).unwrap();
    for name in ["cal.json", "new.json", "new-2.json"] {
        std::os::unix::fs::symlink("kept.json", scratch.at(name)).unwrap();
    }
    let check = "evenkeel check --calibration kept.json --unlabeled blur.npy --json --quiet";
    let found = typed(&scratch, check).json();
    let command = found["command"].as_str().unwrap();
    assert!(command.ends_with("--out new-3.json"), "{command}");
    typed(&scratch, command).done();
}

/// Each command advises the next; names with blanks go through all of them.
#[test]
fn names_with_blanks_go_from_command_to_command() {
    let scratch = data();
    let next = |ran: &Ran| {
        let (_, line) = ran.stdout.split_once("Next: ").unwrap_or_else(|| panic!("{ran:?}"));
        line.lines().next().unwrap().to_owned()
    };
    let calibrated = typed(
        &scratch,
        &format!("evenkeel calibrate {OF_FILES} --unlabeled clean.npy --out 'in use.json'"),
    )
    .done();
    let predict = next(&calibrated)
        .replace("--probs FILE", "--probs blur.npy")
        .replace("--out FILE", "--out sets.csv");
    typed(&scratch, &predict).done();
    let sheet = "evenkeel label --unlabeled 'the fog'\\''s.npy' --budget 20 --calibration 'in use.json' --out 'my rows.csv'";
    let check = next(&typed(&scratch, sheet).done());
    // Nobody has filled the sheet in, and that is all that is wrong.
    let filled = check.replace("'my rows.csv'", "fifty.csv");
    assert!(filled != check, "{check}");
    typed(&scratch, &filled).done();
    // The page of an evaluation does not replace the calibration either.
    fs::copy(demo("fog_3_test_probs"), scratch.at("test.npy")).unwrap();
    fs::copy(demo("fog_3_test_labels"), scratch.at("test_labels.npy")).unwrap();
    let evaluate = "evenkeel evaluate --calibration new.json --probs test.npy --labels test_labels.npy --html page.html";
    typed(&scratch, evaluate).done();
    let page = fs::read_to_string(scratch.at("page.html")).unwrap();
    let plain: String =
        page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    assert!(plain.contains("--out newer.json"), "{plain}");
}

/// The commands that the demo prints, and the one on its page, are taken where its folder has a blank in its name.
#[test]
fn the_demo_quotes_its_folder() {
    let scratch = Scratch::new();
    let ran = typed(&scratch, "evenkeel demo --quiet --out 'a b'").done();
    let advised: Vec<&str> =
        ran.stdout.lines().map(str::trim).filter(|line| line.starts_with("evenkeel ")).collect();
    assert_eq!(advised.len(), 2, "{advised:?}");
    for line in advised {
        typed(&scratch, line).done();
        assert!(shell_words(line).contains(&"a b/data/fog_3_unlabeled.npy".to_owned()), "{line}");
    }
    let page = fs::read_to_string(scratch.at("a b/report.html")).unwrap();
    assert!(!page.contains("--cal-probs a b/"));
    // Five conditions stand on the page: the table of classes says whose they are.
    assert!(page.contains(">Class by class: auto, under fog<"));
}

/// The documentation has `serve`; a program without it says how to get it.
#[cfg(not(feature = "serve"))]
#[test]
fn a_program_without_the_server_says_so() {
    for line in ["evenkeel serve --store ek.sqlite", "evenkeel serve --help", "evenkeel serve"] {
        let ran = typed(&Scratch::new(), line);
        let words = "error: serve: this program was built without the server; `cargo install evenkeel-cli --features serve` builds \
                     one with it\n";
        assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.as_str()), (2, words, ""), "{line}");
    }
    let json = typed(&Scratch::new(), "evenkeel serve --json");
    assert!(json.code == 2 && json.stdout.contains("--features serve"), "{json:?}");
    let other = typed(&Scratch::new(), "evenkeel server");
    assert!(other.stderr.contains("unrecognized subcommand"), "{other:?}");
}
