//! Damaged files give errors or numbers, never a panic, and never more memory than their size warrants.
#![allow(unsafe_code, clippy::unwrap_used)]

mod corpus;

use corpus::parquet_pages::{CODECS, Codec, Shape, Version, data_page, dictionary_page, file};
use corpus::{Scratch, all_fixtures, fixture, read_in_blocks};
use evenkeel_io::{MatrixSource, TextRows};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// A few hundred bytes of file must not take more.
const MEMORY_LIMIT: usize = 64 << 20;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts the bytes that are live in each thread.
struct Counting;

fn count(bytes: isize) {
    // The counters are gone while a thread ends.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller vouches for the layout, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller vouches that the pointer came from `alloc`, hence from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Reads a file and gives whether that worked, and the most memory it took.
fn read_and_measure(path: &str) -> (bool, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let mut good = read_in_blocks(path, 64).is_ok();
    if path.contains("codec_") || path.contains("table") {
        good &= read_text(path).is_ok();
    }
    (good, (PEAK.get() - before).unsigned_abs())
}

/// Reads words, ids and instants of a table that has them.
fn read_text(path: &str) -> Result<usize, evenkeel_io::IoError> {
    let names = ["id", "label", "when"].map(str::to_owned);
    let mut text = TextRows::open(&MatrixSource::parse(path)?, Some(&names))?;
    let mut rows = 0;
    loop {
        match text.next_rows(64)?.len() {
            0 => return Ok(rows),
            more => rows += more,
        }
    }
}

/// Reads every array of a fixture that may have several.
fn arguments(name: &str, path: &str) -> Vec<String> {
    match name {
        "stored.npz" | "deflated.npz" => vec![format!("{path}:probs"), format!("{path}:labels")],
        "list-and-label.parquet" => vec![format!("{path}:probs"), path.to_owned()],
        _ => vec![path.to_owned()],
    }
}

#[test]
fn files_cut_off_at_every_eighth_are_refused() {
    let scratch = Scratch::new();
    for name in all_fixtures() {
        let bytes = std::fs::read(fixture(&name)).unwrap();
        for eighth in 0..8 {
            let path = scratch.file(&name, &bytes[..bytes.len() * eighth / 8]);
            for argument in arguments(&name, &path) {
                let (good, memory) = read_and_measure(&argument);
                // Half a csv file is a csv file, as long as it ends at the end of a number; half a file of JSON lines
                // is one where it ends with a whole line.
                let whole_lines = name.ends_with(".jsonl")
                    && bytes[..bytes.len() * eighth / 8].trim_ascii_end().ends_with(b"}");
                let text = name.ends_with(".csv") || whole_lines;
                assert!(!good || text, "{name} cut at {eighth}/8 was read");
                assert!(memory < MEMORY_LIMIT, "{name} cut at {eighth}/8 took {memory} bytes");
            }
        }
    }
}

/// A page header that says its size again behind all else: the decoder believes the last. It stands in the place of statistics, so that
/// no page lies elsewhere.
#[test]
fn pages_of_two_sizes_are_refused() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(fixture("codec_snappy.parquet")).unwrap();
    let after = |bytes: &[u8], first: usize, sought: &[u8]| {
        let found = bytes[first..].windows(sought.len()).position(|window| window == sought);
        first + found.unwrap() + sought.len()
    };
    // A data page of sixty numbers by a dictionary; its statistics; their end, that of the structure around them and of the header.
    let start = after(&bytes, 0, b"\x2c\x15\x78\x15\x10\x15\x06\x15\x06\x1c\x18\x08") - 3;
    let end = after(&bytes, start, b"\x11\x11\x00\x00\x00");
    // The end of the structure, field 2 as 2^30 bytes, and a field that nothing reads.
    let twice = b"\x00\x05\x04\x80\x80\x80\x80\x08\x08\xc8\x01";
    let left = end - start - twice.len() - 2;
    let header = [twice.as_slice(), &[left as u8], &vec![7; left], &[0]].concat();
    bytes.splice(start..end, header);
    let (good, memory) = read_and_measure(&scratch.file("a.parquet", &bytes));
    assert!(!good && memory < MEMORY_LIMIT, "{memory} bytes");
    assert!(
        corpus::message(&scratch.file("a.parquet", &bytes)).contains("a page header is damaged")
    );
}

/// A page header that claims far more bytes than its numbers take, in each of many columns, whose pages are held at once.
#[test]
fn pages_larger_than_their_numbers_are_refused() {
    const COLUMNS: usize = 100;
    const ROWS: usize = 40;
    let scratch = Scratch::new();
    // Numbers, and room for more than a million behind them.
    let mut large = 0.5_f64.to_le_bytes().repeat(ROWS);
    large.resize(12 << 20, 0);
    let small = 0.5_f64.to_le_bytes().repeat(ROWS);
    // Codecs that pack zeros well, so that a header could claim as much in a small file.
    for codec in [Codec::Gzip, Codec::Zstd, Codec::Lz4] {
        // A page may also say that it has the values, which the column has not.
        for values in [ROWS, 1 << 20] {
            let of_data = |version| {
                let kind = (version, codec, Shape::Required);
                vec![data_page(kind, (values, 1), &large)]
            };
            let of_dictionary = || {
                let kind = (Version::One, codec, Shape::Required);
                vec![dictionary_page(codec, values, &large), data_page(kind, (ROWS, 1), &small)]
            };
            let kinds: [(&str, &dyn Fn() -> Vec<_>); 3] = [
                ("v1", &|| of_data(Version::One)),
                ("v2", &|| of_data(Version::Two)),
                ("dictionary", &of_dictionary),
            ];
            for (kind, pages) in kinds {
                let columns = vec![pages(); COLUMNS];
                let path = scratch.file("a.parquet", file(codec, Shape::Required, ROWS, &columns));
                let (good, memory) = read_and_measure(&path);
                let what = format!("{kind} by {codec:?} of {values}");
                assert!(!good && memory < 8 << 20, "{what} took {memory} bytes");
                let message = corpus::message(&path);
                let words = "column \"p0\" has a page that claims to hold 12582912 bytes, where its numbers take at most 66496";
                assert!(message.contains(words), "{message}");
            }
        }
    }
    // What they are is not refused.
    for codec in CODECS {
        let kind = (Version::One, codec, Shape::Required);
        let pages = vec![dictionary_page(codec, ROWS, &small), data_page(kind, (ROWS, 1), &small)];
        let path = scratch.file("a.parquet", file(codec, Shape::Required, ROWS, &[pages]));
        assert!(read_and_measure(&path).0, "{codec:?}");
    }
}

/// A schema whose count of columns the decoder would read, and reserve room for, though it is of another type or beyond it.
#[test]
fn columns_that_are_not_there_are_refused() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(fixture("plain.parquet")).unwrap();
    let end = bytes.len() - 8;
    let footer = end - u32::from_le_bytes(*bytes[end..].first_chunk().unwrap()) as usize;
    // The name of the root, and five children.
    let root = b"\x06schema\x15\x0a";
    let root = bytes[footer..].windows(root.len()).position(|window| window == root).unwrap();
    let children = footer + root + 7;
    for count in [
        // 2^27, and as many less 2^32, in 64 bits and in 32.
        &b"\x16\x80\x80\x80\x80\x01"[..],
        b"\x15\xff\xff\xff\xff\x1e",
        b"\x15\x80\x80\x80\x80\x01",
    ] {
        let mut bytes = bytes.clone();
        bytes.splice(children..children + 2, count.iter().copied());
        let end = bytes.len() - 8;
        let length = ((end - footer) as u32).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&length);
        let (good, memory) = read_and_measure(&scratch.file("a.parquet", &bytes));
        assert!(!good && memory < MEMORY_LIMIT, "{count:02x?} took {memory} bytes");
    }
}

/// How a file is damaged: a place (as a share of the file), and the byte to put there.
fn damage() -> impl Strategy<Value = Vec<(f64, u8)>> {
    let byte = prop_oneof![any::<u8>(), Just(0xff), Just(0x7f), Just(0x00), Just(0x80)];
    prop::collection::vec((0.0..1.0_f64, byte), 1..6)
}

/// Damages fixtures with an extension again and again.
fn survives(extension: &str, cases: u32) {
    let scratch = Scratch::new();
    let mut names = all_fixtures();
    names.retain(|name| name.ends_with(extension));
    let files: Vec<Vec<u8>> =
        names.iter().map(|name| std::fs::read(fixture(name)).unwrap()).collect();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let case = (prop::sample::select((0..names.len()).collect::<Vec<_>>()), damage());
    let outcome = runner.run(&case, |(which, damage)| {
        let mut bytes = files[which].clone();
        for (place, byte) in &damage {
            let place = (place * bytes.len() as f64) as usize;
            bytes[place] = *byte;
        }
        let path = scratch.file(&names[which], &bytes);
        for argument in arguments(&names[which], &path) {
            let (_, memory) = read_and_measure(&argument);
            prop_assert!(memory < MEMORY_LIMIT, "{} took {memory} bytes", names[which]);
        }
        Ok(())
    });
    outcome.unwrap();
}

/// More cases for a long look: `EVENKEEL_DAMAGE_CASES=100000 cargo test --test damage`.
fn cases() -> u32 {
    std::env::var("EVENKEEL_DAMAGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
}

#[test]
fn damaged_npy_files_do_no_harm() {
    survives(".npy", cases());
}

#[test]
fn damaged_npz_files_do_no_harm() {
    survives(".npz", cases());
}

#[test]
fn damaged_csv_files_do_no_harm() {
    survives(".csv", cases());
}

#[test]
fn damaged_parquet_files_do_no_harm() {
    survives(".parquet", cases());
}

#[test]
fn damaged_arrow_files_do_no_harm() {
    survives(".arrow", cases());
    survives(".arrows", cases() / 3);
    survives(".feather", cases() / 3);
}
