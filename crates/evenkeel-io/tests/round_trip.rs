//! What is written is what is read, bit for bit, in any block size.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::float_cmp)]

mod corpus;

use corpus::{Scratch, npy, read_in_blocks};
use evenkeel::conformal::LabelSets;
use evenkeel_io::SetWriter;
use proptest::prelude::*;
use std::path::Path;

fn any_matrix() -> impl Strategy<Value = (usize, usize, Vec<u64>)> {
    (1..40_usize, 1..20_usize).prop_flat_map(|(rows, columns)| {
        (Just(rows), Just(columns), prop::collection::vec(any::<u64>(), rows * columns))
    })
}

/// The bits of numbers, NaN payloads included.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn header(descr: &str, order: &str, rows: usize, columns: usize) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn npy_doubles_keep_their_bits((rows, columns, words) in any_matrix(), block in 1..50_usize) {
        let scratch = Scratch::new();
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let path = scratch.file("a.npy", npy(&header("<f8", "False", rows, columns), &little));
        prop_assert_eq!(bits(&read_in_blocks(&path, block).unwrap().values), words.clone());
        // Fortran order, big endian: entry (r, c) stands at c * rows + r.
        let at = |place: usize| words[place % rows * columns + place / rows];
        let big: Vec<u8> = (0..words.len()).flat_map(|place| at(place).to_be_bytes()).collect();
        let path = scratch.file("b.npy", npy(&header(">f8", "True", rows, columns), &big));
        prop_assert_eq!(bits(&read_in_blocks(&path, block).unwrap().values), words);
    }

    #[test]
    fn npy_singles_keep_their_bits((rows, columns, words) in any_matrix(), block in 1..50_usize) {
        let scratch = Scratch::new();
        let singles: Vec<f32> = words.iter().map(|word| f32::from_bits(*word as u32)).collect();
        let bytes: Vec<u8> = singles.iter().flat_map(|single| single.to_be_bytes()).collect();
        let path = scratch.file("a.npy", npy(&header(">f4", "False", rows, columns), &bytes));
        let found = read_in_blocks(&path, block).unwrap();
        prop_assert!(found.single);
        let expected: Vec<f64> = singles.iter().map(|single| f64::from(*single)).collect();
        prop_assert_eq!(bits(&found.values), bits(&expected));
    }

    #[test]
    fn csv_keeps_the_bits_of_every_finite_number(
        (_, columns, words) in any_matrix(),
        delimiter in prop::sample::select(vec![",", ";", "\t"]),
        block in 1..50_usize,
    ) {
        let numbers: Vec<f64> = words.iter().map(|word| f64::from_bits(*word))
            .map(|number| if number.is_finite() { number } else { 0.5 }).collect();
        let lines = numbers.chunks(columns).map(|row| {
            row.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(delimiter) + "\n"
        });
        let scratch = Scratch::new();
        let path = scratch.file("a.csv", lines.collect::<String>());
        prop_assert_eq!(bits(&read_in_blocks(&path, block).unwrap().values), bits(&numbers));
    }

    #[test]
    fn sets_are_read_back_from_npy((rows, columns, words) in any_matrix(), cut in 0..40_usize) {
        let scratch = Scratch::new();
        let path = scratch.path().join("sets.npy").display().to_string();
        let members: Vec<bool> = words.iter().map(|word| word % 3 == 0).collect();
        let (first, second) = members.split_at(cut.min(rows) * columns);
        let mut writer = SetWriter::create(Path::new(&path), columns, None).unwrap();
        for part in [first, second] {
            writer.write(&LabelSets::from_bools(part, columns).unwrap()).unwrap();
        }
        prop_assert_eq!(writer.finish().unwrap(), rows);
        let found = read_in_blocks(&path, 7).unwrap();
        let expected: Vec<f64> = members.iter().map(|m| f64::from(u8::from(*m))).collect();
        prop_assert_eq!((found.columns, found.values), (columns, expected));
    }
}
