//! A check in pieces: rows dealt to parts at random, in any order, merged in a random tree, in both passes.

use crate::settings;
use crate::world::{CLASSES, Sample, sample};
use evenkeel::Error;
use evenkeel::check::{Check, CheckEnded, CheckPart, CheckSettings, Checked};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Aps, Randomisation, Score};
use evenkeel::seed::{Seed, Stream};

/// A first pass keeps 2^21 probabilities: with more, a check that finds a shift reads the rows twice.
const MORE_THAN_KEPT: usize = (1 << 21) / CLASSES + 2000;

fn begin(labeled: &Sample, score: Score, settings: &CheckSettings) -> Check {
    Check::begin(&labeled.probabilities(), &labeled.labels(), &score, settings).unwrap()
}

fn rows(values: &[f64]) -> Rows<'_, f64> {
    Rows::new("probabilities", values, CLASSES).unwrap()
}

fn whole(labeled: &Sample, target: &Sample, score: Score) -> Checked {
    let mut open = begin(labeled, score, &settings());
    loop {
        let read = open.add(RowKeys::From(0), rows(&target.probabilities)).unwrap();
        match read.end_pass().unwrap() {
            CheckEnded::Again(again) => open = again,
            CheckEnded::Done(checked) => return *checked,
        }
    }
}

/// The states of parts of the rows, as bytes.
fn states(plan: &[u8], target: &Sample, parts: usize, stream: &mut Stream) -> Vec<Vec<u8>> {
    let mut pieces: Vec<CheckPart> = (0..parts).map(|_| CheckPart::begin(plan).unwrap()).collect();
    let mut order: Vec<usize> = (0..target.labels.len()).collect();
    for end in (1..order.len()).rev() {
        order.swap(end, stream.below(end + 1));
    }
    for block in order.chunks(37) {
        let keys: Vec<u64> = block.iter().map(|row| *row as u64).collect();
        let values: Vec<f64> = (block.iter())
            .flat_map(|row| target.probabilities[row * CLASSES..][..CLASSES].to_vec())
            .collect();
        let part = pieces.swap_remove(stream.below(pieces.len()));
        pieces.push(part.add(RowKeys::Each(&keys), rows(&values)).unwrap());
    }
    pieces.iter().map(|part| part.state().unwrap()).collect()
}

fn in_parts(labeled: &Sample, target: &Sample, score: Score, seed: u64) -> Checked {
    let mut stream = Seed::new(seed).stream("parts");
    let mut open = begin(labeled, score, &settings());
    loop {
        let plan = open.plan().unwrap();
        let mut states = states(&plan, target, 1 + stream.below(5), &mut stream);
        while states.len() > 1 && stream.below(3) > 0 {
            let mine = states.swap_remove(stream.below(states.len()));
            let theirs = states.swap_remove(stream.below(states.len()));
            let part = CheckPart::begin(&plan).unwrap().absorb(&mine).unwrap();
            states.push(part.absorb(&theirs).unwrap().state().unwrap());
        }
        let read = states.iter().fold(open, |open, state| open.absorb(state).unwrap());
        match read.end_pass().unwrap() {
            CheckEnded::Again(again) => open = again,
            CheckEnded::Done(checked) => return *checked,
        }
    }
}

#[test]
fn any_cut_and_order_is_one_pass() {
    let draws = Randomisation::Uniform(Seed::new(3));
    let labeled = sample(120, 1.0, 1);
    for (seed, strength) in [(1, 1.0), (2, 0.6), (3, 0.3)] {
        let target = sample(400, strength, 10 + seed);
        for score in [Score::Lac, Score::Aps(Aps { randomisation: draws })] {
            let expected = whole(&labeled, &target, score);
            for cut in 0..4 {
                let found = in_parts(&labeled, &target, score, 10 * seed + cut);
                assert_eq!(found.report, expected.report);
                assert_eq!((&found.laws, &found.plan), (&expected.laws, &expected.plan));
            }
        }
    }
}

/// What goes wrong between processes is said.
#[test]
fn states_of_other_checks_and_passes_are_refused() {
    let (labeled, target) = (sample(80, 1.0, 1), sample(90, 0.8, 2));
    let table = rows(&target.probabilities);
    let open = || begin(&labeled, Score::Lac, &settings());
    let plan = open().plan().unwrap();
    let part = CheckPart::begin(&plan).unwrap();
    assert_eq!((part.classes(), part.rows()), (CLASSES, 0));
    let state = part.add(RowKeys::From(0), table).unwrap().state().unwrap();

    let other = CheckSettings { bound_grid: 77, ..settings() };
    let error = begin(&labeled, Score::Lac, &other).absorb(&state).unwrap_err();
    assert!(matches!(&error, Error::OtherJob { what, .. } if what == "bound_grid"), "{error}");
    let error = begin(&sample(80, 1.0, 9), Score::Lac, &settings()).absorb(&state).unwrap_err();
    assert!(error.to_string().contains("calibration data"), "{error}");

    let read = open().absorb(&state).unwrap();
    assert_eq!(read.rows(), 90);
    assert!(matches!(open().end_pass(), Err(Error::Empty { .. })));
    let twice = open().add(RowKeys::From(0), table).unwrap().absorb(&state).unwrap();
    assert!(matches!(twice.end_pass(), Err(Error::DuplicateKey { .. })));

    // Bytes that were lost or changed.
    for end in [3, 20, state.len() - 1] {
        assert!(open().absorb(&state[..end]).is_err());
    }
    let mut changed = state.clone();
    changed[state.len() / 2] ^= 1;
    assert!(open().absorb(&changed).unwrap_err().to_string().contains("damaged"));
    assert!(CheckPart::begin(&state).is_err() && open().absorb(&plan).is_err());
}

/// Rows of the second pass must be those of the first: another state, another number of rows, other keys.
#[test]
fn a_second_pass_over_other_rows_is_refused() {
    let (labeled, target) = (sample(80, 1.0, 1), sample(MORE_THAN_KEPT, 0.5, 2));
    let table = rows(&target.probabilities);
    let open = begin(&labeled, Score::Lac, &settings());
    let part = CheckPart::begin(&open.plan().unwrap()).unwrap();
    let state = part.add(RowKeys::From(0), table).unwrap().state().unwrap();
    let CheckEnded::Again(second) = open.absorb(&state).unwrap().end_pass().unwrap() else {
        panic!("one pass")
    };
    let error = second.clone().absorb(&state).unwrap_err();
    assert!(matches!(&error, Error::OtherJob { what, .. } if what == "the pass"), "{error}");
    let fewer = rows(&target.probabilities[..50 * CLASSES]);
    let error = second.clone().add(RowKeys::From(0), fewer).unwrap().end_pass().unwrap_err();
    assert!(matches!(error, Error::OtherRows { now: 50, .. }), "{error}");
    let error = second.add(RowKeys::From(1), table).unwrap().end_pass().unwrap_err();
    assert!(matches!(error, Error::OtherRows { .. }), "{error}");
}

/// One pass or two, the check of more rows than are kept is that of one process.
#[test]
fn many_rows_in_parts_are_one_check() {
    let labeled = sample(120, 1.0, 1);
    for (strength, seed) in [(1.0, 2), (0.6, 3)] {
        let target = sample(MORE_THAN_KEPT, strength, seed);
        let expected = whole(&labeled, &target, Score::Lac);
        assert_eq!(expected.report.shift.detected, strength < 1.0);
        let found = in_parts(&labeled, &target, Score::Lac, seed);
        assert_eq!(found.report, expected.report);
        assert_eq!((&found.laws, &found.plan), (&expected.laws, &expected.plan));
    }
}

/// A bad row is named by its key, wherever it was read.
#[test]
fn bad_rows_are_named() {
    let labeled = sample(30, 1.0, 1);
    let open = begin(&labeled, Score::Lac, &settings());
    let mut values = sample(4, 1.0, 2).probabilities;
    values[2 * CLASSES] = 5.0;
    let part = CheckPart::begin(&open.plan().unwrap()).unwrap();
    let error = part.add(RowKeys::Each(&[9, 8, 77, 6]), rows(&values)).unwrap_err();
    assert!(matches!(error, Error::NotNormalised { row: 77, .. }), "{error}");
    let narrow = [0.5, 0.5];
    let error = open.add(RowKeys::From(0), Rows::new("probabilities", &narrow, 2).unwrap());
    assert!(matches!(error, Err(Error::LengthMismatch { .. })));
}
