//! Tables that lie column after column give the sets, and the errors, of their rows.

use std::ops::Range;

use evenkeel::calibration::Calibration;
use evenkeel::conformal::LabelSets;
use evenkeel_jobs::{
    AnyRows, AnyTable, Columns, MemorySource, Unobserved, ValueKind, calibrate, predict,
};

use crate::world::{CLASSES, Points, calibrator, methods};

/// More than the parts that one thread is given at a time, and no whole number of words.
const ROWS: usize = 20_011;
/// The second part of one thread ends before it.
const LATE: usize = 17_003;
/// Rows of that part, so many that its columns are not the way to its sets.
const MANY: Range<usize> = 9000..9800;

/// The sets one after the other and what is said of them, or the error.
fn said(calibration: &Calibration, source: MemorySource<'_>) -> Result<String, String> {
    let mut source = source;
    let mut members = Vec::new();
    let mut sink = |sets: &LabelSets| {
        members.extend(sets.to_bools());
        Ok(())
    };
    let predicted = predict(calibration, None, &mut source, &mut sink, &mut Unobserved);
    predicted
        .map(|done| format!("{:?} {members:?}", done.document()))
        .map_err(|error| error.to_string())
}

fn columns_of<T: Copy>(values: &[T]) -> Vec<Vec<T>> {
    (0..CLASSES)
        .map(|class| values.iter().skip(class).step_by(CLASSES).copied().collect())
        .collect()
}

/// Both precisions, with any number of threads, as probabilities or logits, from the start of a stream or its middle.
fn agree(calibration: &Calibration, values: &[f64]) -> Result<String, String> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
    let single: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let (own, single_own) = (columns_of(values), columns_of(&single));
    let own: Vec<&[f64]> = own.iter().map(Vec::as_slice).collect();
    let single_own: Vec<&[f32]> = single_own.iter().map(Vec::as_slice).collect();
    let pairs: [(AnyTable<'_>, AnyTable<'_>); 2] = [
        (AnyRows::f64(values, CLASSES).unwrap().into(), AnyTable::F64(Columns::new(&own).unwrap())),
        (
            AnyRows::f32(&single, CLASSES).unwrap().into(),
            AnyTable::F32(Columns::new(&single_own).unwrap()),
        ),
    ];
    let mut last = Err(String::new());
    for (rows, columns) in pairs {
        for kind in [ValueKind::Logits, ValueKind::Probabilities] {
            for first_row in [0, 1000] {
                let source =
                    |table| MemorySource::new("target", table).of_kind(kind).starting_at(first_row);
                let by_rows = said(calibration, source(rows));
                for threads in [1, 2, 5] {
                    let pool =
                        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let by_columns = pool.install(|| said(calibration, source(columns)));
                    assert!(by_columns == by_rows, "{kind:?}, {threads} threads, {first_row}");
                }
                last = by_rows;
            }
        }
    }
    last
}

fn calibrations() -> Vec<Calibration> {
    let (cal, target) = (Points::calibration(), Points::target());
    methods()
        .into_iter()
        .map(|method| {
            let mut source = target.source("target");
            calibrate(&calibrator(method), &cal.labeled(), &mut source, &mut Unobserved)
                .unwrap()
                .calibration
        })
        .collect()
}

#[test]
fn sets() {
    let test = Points::new(ROWS, 2.0, 3);
    for calibration in calibrations() {
        agree(&calibration, &test.values).unwrap();
    }
}

/// Whether sets of these rows can be made of their columns.
fn are_made_of_columns(calibration: &Calibration, values: &[f64], rows: Range<usize>) -> bool {
    let columns = columns_of(&values[rows.start * CLASSES..rows.end * CLASSES]);
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    calibration.predict_columns(&columns, None).is_some()
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// A few rows that only just pass for probabilities are gathered; a part with many of them is made by rows, the parts before and behind
/// it as they lie.
#[test]
fn sums_that_are_not_one() {
    let calibration = &calibrations()[0];
    let spoiled = |rows: Range<usize>| {
        let mut test = Points::new(ROWS, 2.0, 3);
        for value in &mut test.values[rows.start * CLASSES..rows.end * CLASSES] {
            *value *= 1.0 + 9e-4;
        }
        agree(calibration, &test.values).unwrap();
        test.values
    };
    let values = spoiled(LATE..LATE + 200);
    assert_eq!(are_made_of_columns(calibration, &values, 16_384..18_432), has_avx2());
    let values = spoiled(MANY);
    // Pieces of 2048 rows, four of them a part of one thread.
    for (first, is_made) in [(0, true), (8192, false), (16_384, true)] {
        let made = are_made_of_columns(calibration, &values, first..first + 2048);
        assert_eq!(made, is_made && has_avx2(), "from row {first}");
    }
}

/// The first bad row is named, whichever thread meets which.
#[test]
fn errors() {
    let calibration = &calibrations()[0];
    for bad in [
        [0.5, f64::NAN, 0.5],
        [0.5, -0.25, 0.5],
        [0.5, 3.0, 0.5],
        // Whose sums are one.
        [1.25, -0.25, 0.0],
        [0.5 + 1e-5, -1e-5, 0.5],
    ] {
        for place in [0, 63, LATE, ROWS - 1] {
            let mut test = Points::new(ROWS, 2.0, 3);
            if place <= LATE {
                test.values[(LATE + 700) * CLASSES] = f64::INFINITY;
            }
            test.values[place * CLASSES..][..CLASSES].copy_from_slice(&bad);
            let error = agree(calibration, &test.values).unwrap_err();
            assert!(error.contains(&(1000 + place).to_string()), "{error}");
        }
    }
}
