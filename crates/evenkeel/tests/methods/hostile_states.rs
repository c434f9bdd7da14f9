//! Bytes from elsewhere: states of other jobs, damaged ones, and ones made up to look well.

use evenkeel::calibrator::{Fit, Part, ShiftCalibrator};
use evenkeel::error::Error;
use evenkeel::method::{Method, TransportSettings};
use evenkeel::rows::{RowKeys, Rows};
use evenkeel::score::{Probabilities, Score};
use evenkeel::seed::{Seed, Stream};
use evenkeel::side_inputs::{Labeled, SideInputs};
use sha2::{Digest, Sha256};

use crate::world::{CLASSES, Points, alpha, calibrator, methods, points, with_labels};

fn begin(calibrator: &ShiftCalibrator, labeled: &Points) -> Fit {
    let probabilities = Probabilities::new(&labeled.probabilities, CLASSES).unwrap();
    let beside = SideInputs { features: None, ..labeled.beside() };
    let beside = with_labels(&calibrator.method, beside);
    let labels = &labeled.labels;
    calibrator.begin(&Labeled { probabilities: &probabilities, labels, beside }).unwrap()
}

fn state(plan: &[u8], target: &Points) -> Vec<u8> {
    let rows = Rows::new("probabilities", &target.probabilities, CLASSES).unwrap();
    let beside = SideInputs { features: None, ..target.beside() };
    Part::begin(plan).unwrap().add(RowKeys::From(7), rows, beside).unwrap().state().unwrap()
}

/// What differs is named, with both values.
#[test]
fn states_of_other_jobs_are_refused_with_what_differs() {
    let (labeled, target) = (points(40, 0.0, 0.5, 1), points(30, 0.5, 0.5, 2));
    let base = calibrator(Method::OptimalTransport(TransportSettings::paper()));
    let of = |calibrator: &ShiftCalibrator, labeled: &Points| {
        state(&begin(calibrator, labeled).plan().unwrap(), &target)
    };
    let differs = |other: Vec<u8>| match begin(&base, &labeled).absorb(&other).unwrap_err() {
        Error::OtherJob { what, mine, theirs } => (what, mine, theirs),
        other => panic!("{other}"),
    };
    let grid = TransportSettings { learning_grid: Some(50), ..TransportSettings::paper() };
    let words = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    let other = ShiftCalibrator { method: Method::OptimalTransport(grid), ..base };
    assert_eq!(differs(of(&other, &labeled)), words("grid", "100", "50"));
    let other = ShiftCalibrator { seed: Seed::new(6), ..base };
    assert_eq!(differs(of(&other, &labeled)), words("seed", "5", "6"));
    let other = ShiftCalibrator { alpha: alpha(0.2), ..base };
    assert_eq!(differs(of(&other, &labeled)).0, "alpha");
    let other = ShiftCalibrator { score: Score::Margin, ..base };
    assert_eq!(differs(of(&other, &labeled)).0, "score");
    let other = ShiftCalibrator { method: Method::Uncorrected, ..base };
    assert_eq!(differs(of(&other, &labeled)).0, "the method");
    assert!(differs(of(&base, &points(40, 0.0, 0.5, 3))).0.contains("calibration data"));
    // The right one is taken.
    assert_eq!(begin(&base, &labeled).absorb(&of(&base, &labeled)).unwrap().rows(), 30);
}

#[test]
fn other_bytes_are_called_what_they_are() {
    let (labeled, target) = (points(40, 0.0, 0.5, 1), points(30, 0.5, 0.5, 2));
    let base = calibrator(Method::Uncorrected);
    let plan = begin(&base, &labeled).plan().unwrap();
    let good = state(&plan, &target);
    let refused = |bytes: &[u8]| begin(&base, &labeled).absorb(bytes).unwrap_err().to_string();
    assert!(refused(b"[0.1, 0.9]").contains("state"), "{}", refused(b"[0.1, 0.9]"));
    assert!(refused(&plan).contains("plan"), "{}", refused(&plan));
    assert!(refused(&good[..good.len() - 1]).contains("damaged"));
    let mut changed = good.clone();
    changed[good.len() / 2] ^= 1;
    assert!(refused(&changed).contains("damaged"));
    assert!(Part::begin(&good).unwrap_err().to_string().contains("state"));
    // The same part twice: its rows are there already.
    let twice = begin(&base, &labeled).absorb(&good).unwrap().absorb(&good).unwrap();
    assert!(matches!(twice.end_pass().unwrap_err(), Error::DuplicateKey { key: 7 }));
}

/// A second pass over other rows than the first.
#[test]
fn both_passes_must_read_the_same_rows() {
    use evenkeel::calibrator::Ended;
    let (labeled, target) = (points(40, 0.0, 0.5, 1), points(30, 0.5, 0.5, 2));
    let plan = methods().into_iter().find(|method| matches!(method, Method::LabelPlan(_)));
    let fit = begin(&calibrator(plan.unwrap()), &labeled);
    let rows = Rows::new("probabilities", &target.probabilities, CLASSES).unwrap();
    let first = fit.add(RowKeys::From(0), rows, target.beside()).unwrap();
    let Ended::Again(second) = first.end_pass().unwrap() else { panic!("two passes are needed") };
    let second = second.add(RowKeys::From(1), rows, target.beside()).unwrap();
    assert!(matches!(second.end_pass().unwrap_err(), Error::OtherRows { before: 30, now: 30 }));
}

/// Rows of the same number and keys, and other values.
#[test]
fn a_row_that_changes_between_the_passes_is_found_out() {
    use evenkeel::calibrator::Ended;
    let (labeled, target) = (points(40, 0.0, 0.5, 1), points(30, 0.5, 0.5, 2));
    let mut changed = target.probabilities.clone();
    changed.swap(5 * CLASSES, 5 * CLASSES + 1);
    for method in methods() {
        if !matches!(method, Method::LabelPlan(_) | Method::FewLabels(_) | Method::Auto(_)) {
            continue;
        }
        let fit = begin(&calibrator(method), &labeled);
        let beside = SideInputs { features: None, ..target.beside() };
        let rows = |values| Rows::new("probabilities", values, CLASSES).unwrap();
        let first = fit.add(RowKeys::From(0), rows(&target.probabilities), beside).unwrap();
        // Few rows are kept, and then one pass is enough for some.
        let Ended::Again(second) = first.end_pass().unwrap() else { continue };
        let second = second.add(RowKeys::From(0), rows(&changed), beside).unwrap();
        assert!(matches!(second.end_pass(), Err(Error::OtherRows { before: 30, now: 30 })));
    }
}

/// Parts have numbers, and rows a number that may be said beforehand.
#[test]
fn parts_are_taken_once_and_rows_are_as_many_as_was_said() {
    let (labeled, target) = (points(40, 0.0, 0.5, 1), points(30, 0.5, 0.5, 2));
    for method in methods() {
        let calibrator = calibrator(method);
        let numbered = |fit: &Fit, number: u64, keys: u64| {
            let rows = Rows::new("probabilities", &target.probabilities, CLASSES).unwrap();
            let beside = SideInputs { features: None, ..target.beside() };
            let part = Part::begin(&fit.plan().unwrap()).unwrap().numbered(number);
            part.add(RowKeys::From(keys), rows, beside).unwrap().state().unwrap()
        };
        let fit = begin(&calibrator, &labeled);
        let (one, two) = (numbered(&fit, 1, 0), numbered(&fit, 2, 30));
        let again = numbered(&fit, 1, 60);
        let plan = fit.plan().unwrap();
        let both = Part::begin(&plan).unwrap().absorb(&one).unwrap().absorb(&two).unwrap();
        let both = both.state().unwrap();
        let fit = fit.absorb(&both).unwrap();
        for state in [&one, &two, &both, &again] {
            assert!(matches!(fit.require_new(state), Err(Error::PartTwice { part: 1 | 2 })));
        }
        assert!(fit.require_new(&plan).is_err() && fit.require_new(&one[..40]).is_err());
        assert!(matches!(fit.absorb(&again), Err(Error::PartTwice { part: 1 })));
        let fit = begin(&calibrator, &labeled).expecting(31);
        let state = numbered(&fit, 0, 0);
        let short = fit.absorb(&state).unwrap().end_pass();
        assert!(matches!(short, Err(Error::OtherNumberOfRows { expected: 31, found: 30 })));
        let unsaid = begin(&calibrator, &labeled).absorb(&state).unwrap_err();
        assert!(unsaid.to_string().contains("the number of all rows"), "{unsaid}");
    }
}

fn mutated(bytes: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut body = bytes[..bytes.len() - 32].to_vec();
    for _ in 0..1 + stream.below(3) {
        // Behind the magic, version and kind.
        let at = 7 + stream.below(body.len() - 7);
        match stream.below(5) {
            0 => body[at] ^= 1 << stream.below(8),
            1 => body[at] = [0, 1, 0x7f, 0x80, 0xff][stream.below(5)],
            2 => body.truncate(at.max(8)),
            3 => drop(body.splice(at..=at, [0xff; 9].into_iter().chain([1]))),
            _ => drop(body.remove(at)),
        }
        if body.len() < 16 {
            break;
        }
    }
    let checksum = Sha256::digest(&body);
    body.extend_from_slice(&checksum);
    body
}

/// Every method's plan and state, changed at random under a checksum that fits: refused, or merged and ended. No panic.
#[test]
fn made_up_bytes_are_refused_or_merge() {
    let (labeled, target) = (points(40, 0.0, 0.5, 1), points(30, 0.5, 0.5, 2));
    let mut stream = Seed::new(3).stream("made up");
    let (mut tried, mut taken) = (0, 0);
    for method in methods() {
        let base = calibrator(method);
        let plan = begin(&base, &labeled).plan().unwrap();
        let good = state(&plan, &target);
        for _ in 0..600 {
            let bytes = mutated(&good, &mut stream);
            tried += 1;
            let fit = begin(&base, &labeled).absorb(&good).and_then(|fit| fit.absorb(&bytes));
            if let Ok(fit) = fit {
                taken += 1;
                drop(fit.end_pass());
            }
            let bytes = mutated(&plan, &mut stream);
            if let Ok(part) = Part::begin(&bytes) {
                let rows = Rows::new("probabilities", &target.probabilities, CLASSES).unwrap();
                let beside = SideInputs { features: None, ..target.beside() };
                drop(part.add(RowKeys::From(0), rows, beside).and_then(|part| part.state()));
            }
        }
    }
    assert!(tried >= 10_000 && taken > 0, "{taken} of {tried}");
}
