//! A calibration for each group.

use evenkeel::Error;
use evenkeel::calibration::Calibration;
use evenkeel::calibrator::ShiftCalibrator;
use evenkeel::method::Method;
use evenkeel::per_group::{GroupPart, PerGroupCalibration, Standing};
use evenkeel::score::{Aps, Randomisation, Score};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::SideInputs;

use super::world::{Draws, Points, calibrator, fitted};

fn part(name: &str, calibration: Option<Calibration>) -> GroupPart {
    let standing = if calibration.is_some() { Standing::Own } else { Standing::AllLabels };
    GroupPart { groups: vec![name.to_owned()], standing, points: 50, rows: 50, calibration }
}

fn calibration_of(calibrator: &ShiftCalibrator, sharpness: f64, seed: u64) -> Calibration {
    let mut random = Draws(seed);
    let points = Points::several(60, 3, sharpness, &mut random);
    fitted(calibrator, &points, &points, (3, SideInputs::default())).calibration
}

/// The set of a row is that of its group's calibration, draws of its position included.
#[test]
fn sets_are_those_of_the_group_of_each_row() {
    let randomised = Score::Aps(Aps { randomisation: Randomisation::Uniform(Seed::new(4)) });
    for score in [Score::Lac, Score::Margin, randomised] {
        let calibrator = calibrator(Method::Uncorrected).score(score);
        let (a, b) = (calibration_of(&calibrator, 4.0, 1), calibration_of(&calibrator, 1.0, 2));
        let parts = vec![part("a", Some(a.clone())), part("b", Some(b.clone())), part("c", None)];
        let made = PerGroupCalibration::new(Some("site".into()), parts, None).unwrap();
        let mut random = Draws(8);
        let rows = Points::several(97, 3, 2.0, &mut random);
        let names: Vec<&str> = (0..97).map(|row| ["a", "b", "b", "c"][row * 7 % 4]).collect();
        let of = |(row, name): (usize, &&str)| made.part_of(name, row).unwrap();
        let of_rows: Vec<Option<usize>> = names.iter().enumerate().map(of).collect();
        let table = rows.rows(3);
        let sets = made.predict(40, table, SideInputs::default(), &of_rows, None).unwrap();
        let (by_a, by_b) =
            (a.predict(40, table, None).unwrap(), b.predict(40, table, None).unwrap());
        for (row, name) in names.iter().enumerate() {
            let expected: Vec<usize> = match *name {
                "a" => by_a.labels(row).collect(),
                "b" => by_b.labels(row).collect(),
                _ => vec![0, 1, 2],
            };
            assert_eq!(sets.labels(row).collect::<Vec<_>>(), expected, "row {row} of {name}");
        }
        let text = serde_json::to_string(&made).unwrap();
        assert_eq!(serde_json::from_str::<PerGroupCalibration>(&text).unwrap(), made);
    }
}

#[test]
fn unknown_groups_are_named_or_pooled() {
    let calibrator = calibrator(Method::Uncorrected);
    let one = calibration_of(&calibrator, 4.0, 1);
    let strict = PerGroupCalibration::new(None, vec![part("a", Some(one.clone()))], None).unwrap();
    let refused = strict.part_of("z", 17).unwrap_err();
    assert!(matches!(&refused, Error::UnknownGroup { name, row: 17, .. } if name == "z"));
    let pooled =
        PerGroupCalibration::new(None, vec![part("a", Some(one.clone()))], Some(one)).unwrap();
    assert_eq!(pooled.part_of("z", 17).unwrap(), None);
}

#[test]
fn groups_that_do_not_fit_each_other_are_refused() {
    let at = |alpha: f64| {
        let calibrator = ShiftCalibrator::new(alpha).unwrap().method(Method::Uncorrected);
        calibration_of(&calibrator, 4.0, 1)
    };
    let made = |parts| PerGroupCalibration::new(None, parts, None);
    assert!(made(vec![part("a", None)]).is_err());
    assert!(made(vec![part("a", Some(at(0.1))), part("a", Some(at(0.1)))]).is_err());
    assert!(made(vec![part("a", Some(at(0.1))), part("b", Some(at(0.2)))]).is_err());
    assert!(made(vec![part("", Some(at(0.1)))]).is_err());
    assert!(made(vec![part("a", Some(at(0.1))), part("b", Some(at(0.1)))]).is_ok());
}
