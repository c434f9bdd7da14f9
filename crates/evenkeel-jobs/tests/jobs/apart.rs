//! Tables that lie column after column give the sets, and the errors, of their rows.

use evenkeel::calibration::Calibration;
use evenkeel::conformal::LabelSets;
use evenkeel_jobs::{
    AnyRows, AnyTable, Columns, MemorySource, Unobserved, ValueKind, calibrate, predict,
};

use crate::world::{CLASSES, Points, calibrator, methods};

/// More than the parts that one thread is given at a time, and no whole number of words.
const ROWS: usize = 20_011;
/// The part of a first thread ends before it.
const LATE: usize = 17_003;

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

/// A part whose rows only just pass for probabilities is made by rows, the others as they lie.
#[test]
fn sums_that_are_not_one() {
    let mut test = Points::new(ROWS, 2.0, 3);
    for value in &mut test.values[LATE * CLASSES..][..CLASSES * 200] {
        *value *= 1.0 + 9e-4;
    }
    agree(&calibrations()[0], &test.values).unwrap();
}

/// The first bad row is named, whichever thread meets which.
#[test]
fn errors() {
    let calibration = &calibrations()[0];
    for bad in [f64::NAN, -0.25, 3.0] {
        for place in [0, 63, LATE] {
            let mut test = Points::new(ROWS, 2.0, 3);
            test.values[place * CLASSES + 1] = bad;
            test.values[(LATE + 700) * CLASSES] = f64::INFINITY;
            let error = agree(calibration, &test.values).unwrap_err();
            assert!(error.contains(&(1000 + place).to_string()), "{error}");
        }
    }
}
