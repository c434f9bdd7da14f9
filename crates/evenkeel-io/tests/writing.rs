//! Outputs appear whole or not at all.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, read_in_blocks};
use evenkeel::conformal::LabelSets;
use evenkeel_io::{AtomicFile, Category, IoError, SetWriter, write_file};
use std::io::Write;
use std::path::Path;

fn names() -> Vec<String> {
    ["cat, black", "dog \"rex\"", "über"].map(str::to_owned).to_vec()
}

/// `{0, 2}`, `{}`, `{1}` and `{0, 1, 2}`, in two blocks.
fn write_sets(path: &Path, names: Option<&[String]>) -> Result<usize, IoError> {
    let (yes, no) = (true, false);
    let mut writer = SetWriter::create(path, 3, names)?;
    writer.write(&LabelSets::from_bools(&[yes, no, yes, no, no, no], 3).unwrap())?;
    writer.write(&LabelSets::from_bools(&[no, yes, no, yes, yes, yes], 3).unwrap())?;
    writer.finish()
}

#[test]
fn sets_as_text() {
    let scratch = Scratch::new();
    let text = |name: &str, names: Option<&[String]>| {
        let path = scratch.path().join(name);
        assert_eq!(write_sets(&path, names).unwrap(), 4);
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(text("a.csv", None), "row,size,labels\n0,2,0;2\n1,0,\n2,1,1\n3,3,0;1;2\n");
    assert_eq!(
        text("b.csv", Some(&names())),
        "row,size,labels\n0,2,\"cat, black;über\"\n1,0,\n2,1,\"dog \"\"rex\"\"\"\n\
         3,3,\"cat, black;dog \"\"rex\"\";über\"\n"
    );
    assert_eq!(text("a.jsonl", None), "[0,2]\n[]\n[1]\n[0,1,2]\n");
    let lines = text("b.jsonl", Some(&names()));
    let parsed: Vec<Vec<String>> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(parsed[0], ["cat, black", "über"]);
    assert_eq!(parsed[2], ["dog \"rex\""]);
    assert_eq!(scratch.names(), ["a.csv", "a.jsonl", "b.csv", "b.jsonl"]);
}

#[test]
fn sets_as_arrays_and_tables() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.npy");
    write_sets(&path, None).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 128 + 12);
    let found = read_in_blocks(path.to_str().unwrap(), 100).unwrap().values;
    assert_eq!(found, [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    use parquet::file::reader::{FileReader, SerializedFileReader};
    for (names, words) in [(None, "[0, 2]"), (Some(names()), "[\"cat, black\", \"über\"]")] {
        let path = scratch.path().join("a.parquet");
        write_sets(&path, names.as_deref()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[0], format!("{{labels: {words}}}"));
        assert_eq!(rows[1], "{labels: []}");
    }
}

#[test]
fn a_target_stays_untouched_until_the_end() {
    let scratch = Scratch::new();
    for name in ["a.npy", "a.csv", "a.jsonl", "a.parquet"] {
        let path = scratch.file(name, "old");
        let sets = LabelSets::from_bools(&[true, false, true], 3).unwrap();
        let mut writer = SetWriter::create(Path::new(&path), 3, None).unwrap();
        writer.write(&sets).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    }
    assert_eq!(scratch.names().len(), 4, "temporary files are gone");
    let path = scratch.file("a.json", "old");
    write_file(Path::new(&path), "new").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new();
    let real = scratch.file("real.json", "old");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = scratch.path().join("link.json");
    symlink(&real, &link).unwrap();
    write_file(&link, "new").unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn targets_that_cannot_be_written() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("d.npy")).unwrap();
    let at = |name: &str| scratch.path().join(name);
    for (path, words) in [
        (at("none/a.npy"), "No such file or directory; create the directory first"),
        (at("d.npy"), "it is a directory; name a file in it"),
        (at("a.txt"), "written to .npy, .csv, .jsonl or .parquet"),
        (at("a"), "written to .npy, .csv, .jsonl or .parquet"),
    ] {
        let message = write_sets(&path, None).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    let separated = vec!["a;b".to_owned(), "c".into(), "d".into()];
    let error = write_sets(&at("a.csv"), Some(&separated)).unwrap_err();
    assert_eq!(error.category(), Category::Argument);
    assert!(error.to_string().contains("contains ';'"));
    assert!(write_sets(&at("a.csv"), Some(&separated[..2])).is_err());
    assert_eq!(scratch.names(), ["d.npy"], "nothing is left behind");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_one_clear_error_and_stays_a_device() {
    use std::os::unix::fs::FileTypeExt;
    let full = Path::new("/dev/full");
    let error = write_file(full, vec![b'x'; 1 << 20]).unwrap_err();
    assert_eq!(error.category(), Category::System);
    assert_eq!(
        error.to_string(),
        "/dev/full: cannot be written: No space left on device; free some space or write elsewhere"
    );
    // Small enough to fit the buffer: the error comes with the last flush.
    assert!(write_file(full, "x").is_err());
    assert!(std::fs::metadata(full).unwrap().file_type().is_char_device());
    let scratch = Scratch::new();
    for name in ["a.npy", "a.csv", "a.jsonl", "a.parquet"] {
        let link = scratch.path().join(name);
        std::os::unix::fs::symlink(full, &link).unwrap();
        assert!(write_sets(&link, None).is_err(), "{name}");
    }
}

/// Needs a tiny file system: `mount -t tmpfs -o size=1m tmpfs /mnt/tiny`, then `EVENKEEL_TINY_TMPFS=/mnt/tiny`.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_nothing_behind() {
    let Some(tiny) = std::env::var_os("EVENKEEL_TINY_TMPFS") else { return };
    let tiny = Path::new(&tiny);
    for name in ["a.npy", "a.csv", "a.jsonl", "a.parquet"] {
        let path = tiny.join(name);
        write_file(&path, "old").unwrap();
        // Labels without a pattern, so that parquet cannot shrink them away.
        let mut state = 1_u64;
        let members: Vec<bool> = (0..3_000_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 63 == 1
            })
            .collect();
        let sets = LabelSets::from_bools(&members, 1000).unwrap();
        let mut writer = SetWriter::create(&path, 1000, None).unwrap();
        let outcome = (0..4).try_for_each(|_| writer.write(&sets)).and_then(|()| writer.finish());
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains("No space left on device"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(std::fs::read_dir(tiny).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_not_committed_is_removed() {
    let scratch = Scratch::new();
    let mut file = AtomicFile::create(&scratch.path().join("a.html")).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(scratch.names().len(), 1);
    drop(file);
    assert!(scratch.names().is_empty());
}

/// Only a lock tells the living from the dead: a process number may be used again, or come from another machine.
#[test]
fn what_dead_writers_left_is_removed_and_nothing_else() {
    use std::fs::File;
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    scratch.file(".evenkeel-1-17a-0.tmp", "half");
    scratch.file(&format!(".evenkeel-{}-17a-0.tmp", std::process::id()), "half");
    let living = scratch.file(".evenkeel-2-17a-0.tmp", "half");
    let living = File::open(living).unwrap();
    living.lock().unwrap();
    let kept = [".evenkeel-3-17a-0.tmp.json", ".cal.json.123-0.tmp", "evenkeel-1-17a-0.tmp"];
    for name in kept {
        scratch.file(name, "not ours");
    }
    let elsewhere = scratch.file("data.json", "data");
    std::os::unix::fs::symlink(&elsewhere, at(".evenkeel-4-17a-0.tmp")).unwrap();
    std::fs::create_dir(at(".evenkeel-5-17a-0.tmp")).unwrap();
    write_file(&at("new.json"), "new").unwrap();
    let mut expected: Vec<&str> = kept.to_vec();
    expected.extend([".evenkeel-2-17a-0.tmp", ".evenkeel-4-17a-0.tmp", ".evenkeel-5-17a-0.tmp"]);
    expected.extend(["data.json", "new.json"]);
    expected.sort_unstable();
    assert_eq!(scratch.names(), expected);
}

/// Many writers in one directory, each of which looks for leftovers: none takes another's file for one.
#[test]
fn writers_side_by_side_do_not_remove_each_others_files() {
    let scratch = Scratch::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = scratch.path().to_path_buf();
            scope.spawn(move || {
                for file in 0..50 {
                    // A way of its own to the directory: each is looked through anew.
                    let around = "./".repeat(writer * 50 + file);
                    let target = path.join(around).join(format!("{writer}-{file}.json"));
                    write_file(&target, "whole").unwrap();
                }
            });
        }
    });
    let names = scratch.names();
    assert!(names.len() == 400 && names.iter().all(|name| name.ends_with(".json")), "{names:?}");
}

#[test]
fn names_of_every_legal_length() {
    let scratch = Scratch::new();
    for length in [1, 100, 240, 250, 255] {
        let name = "n".repeat(length);
        write_file(&scratch.path().join(&name), "whole").unwrap();
    }
    let error = write_file(&scratch.path().join("n".repeat(256)), "x").unwrap_err();
    assert!(error.to_string().contains("File name too long"), "{error}");
    assert_eq!(scratch.names().len(), 5);
}

#[test]
fn a_link_to_nothing_leads_to_a_new_file() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("below")).unwrap();
    symlink("second.json", at("first.json")).unwrap();
    symlink("below/third.json", at("second.json")).unwrap();
    write_file(&at("first.json"), "new").unwrap();
    assert!(at("first.json").is_symlink() && at("second.json").is_symlink());
    assert_eq!(std::fs::read_to_string(at("below/third.json")).unwrap(), "new");
    symlink("missing/file.json", at("lost.json")).unwrap();
    let error = write_file(&at("lost.json"), "x").unwrap_err();
    assert!(error.to_string().contains("create the directory first"), "{error}");
    symlink("b.json", at("a.json")).unwrap();
    symlink("a.json", at("b.json")).unwrap();
    let error = write_file(&at("a.json"), "x").unwrap_err();
    assert!(error.to_string().contains("links lead in a circle"), "{error}");
    assert!(at("lost.json").is_symlink() && at("a.json").is_symlink());
}
