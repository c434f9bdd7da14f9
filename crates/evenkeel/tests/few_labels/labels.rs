//! What labels may be, and what is said about them.

use evenkeel::Error;
use evenkeel::calibration::{Calibration, Warning};
use evenkeel::certify::rows_to_label;
use evenkeel::level::FailureProbability;
use evenkeel::method::auto::AutoSettings;
use evenkeel::method::few_labels::{ChangeBelief, FewLabelsSettings, Guarantee};
use evenkeel::method::{Method, MethodName};
use evenkeel::seed::Seed;
use evenkeel::side_inputs::TargetLabels;

use crate::world::{Points, evidence, fit, fit_method, points, stream};

fn worlds(wrong: f64) -> (Points, Points) {
    let mut stream = stream("labels");
    (points(200, 4, 4.0, 0.0, &mut stream), points(150, 4, 4.0, wrong, &mut stream))
}

fn changed() -> FewLabelsSettings {
    FewLabelsSettings { change: ChangeBelief::Changed, ..FewLabelsSettings::default() }
}

#[test]
fn labels_without_a_row_are_refused() {
    let (calibration, target) = worlds(0.0);
    let labels = TargetLabels::new(&[(3, 0), (150, 1), (400, 2)], 4).unwrap();
    let refused = fit(changed(), &calibration, &target, &labels).unwrap_err();
    assert_eq!(refused, Error::LabelWithoutRow { key: 150, missing: 2 });
    let words = refused.to_string();
    assert!(words.contains("2 of the labeled rows") && words.contains("row 150"), "{words}");
    let pairs: Vec<(u64, usize)> = (0..151).map(|key| (key, 0)).collect();
    let labels = TargetLabels::new(&pairs, 4).unwrap();
    let refused = fit(changed(), &calibration, &target, &labels).unwrap_err();
    assert!(matches!(refused, Error::TooMany { found: 151, most: 150, .. }), "{refused}");
    let labels = TargetLabels::new(&[(3, 0)], 5).unwrap();
    assert!(fit(changed(), &calibration, &target, &labels).is_err());
}

#[test]
fn auto_with_labels_is_few_labels() {
    let (calibration, target) = worlds(0.0);
    let auto = Method::Auto(AutoSettings::new(FailureProbability::FIVE_PERCENT));
    let labels = target.first_labels(30);
    let (_, found) = fit_method(auto, &calibration, &target, &labels).unwrap();
    assert_eq!(found.provenance().method, MethodName::FewLabels);
    let same = fit(FewLabelsSettings::default(), &calibration, &target, &labels).unwrap();
    assert_eq!(found, same);
    assert!(evidence(&found).test.is_some());
    assert!(found.account().unwrap().contains("30 labels"));
    let none = TargetLabels::new(&[], 4).unwrap();
    let (_, found) = fit_method(auto, &calibration, &target, &none).unwrap();
    assert_eq!(found.provenance().method, MethodName::Auto);
}

#[test]
fn a_model_that_is_often_wrong_is_contradicted_and_one_that_is_not_is_trusted() {
    let (calibration, target) = worlds(0.5);
    let found = fit(changed(), &calibration, &target, &target.first_labels(60)).unwrap();
    let names: Vec<&str> = evidence(&found).warnings.iter().map(Warning::name).collect();
    assert!(names.contains(&"plan-contradicted"), "{names:?}");
    assert!(found.warnings().iter().any(|words| words.contains("60 labels contradict")));
    let sure: f64 = evidence(&found).temperatures[6..].iter().map(|belief| belief.weight).sum();
    assert!(sure > 0.9, "{:?}", evidence(&found).temperatures);

    let (calibration, target) = worlds(0.0);
    let unchanged = FewLabelsSettings { change: ChangeBelief::Unchanged, ..changed() };
    let found = fit(unchanged, &calibration, &target, &target.first_labels(60)).unwrap();
    assert!(evidence(&found).trust > 0.5, "{}", evidence(&found).trust);
    assert!(evidence(&found).warnings.is_empty(), "{:?}", evidence(&found).warnings);
}

/// A label that the model calls impossible is floored, said, and does not rule every law out.
#[test]
fn impossible_labels_are_said() {
    let (calibration, mut target) = worlds(0.0);
    for row in target.probabilities.chunks_mut(4).take(2) {
        row.copy_from_slice(&[0.0, 0.5, 0.5, 0.0]);
    }
    (target.labels[0], target.labels[1]) = (0, 3);
    let found = fit(changed(), &calibration, &target, &target.first_labels(20)).unwrap();
    let warnings = &evidence(&found).warnings;
    let said = warnings.iter().find(|warning| warning.name() == "impossible-labels").unwrap();
    assert!(said.to_string().contains("2 of 20"), "{said}");
    let weights = evidence(&found).weights.concat();
    assert!((weights.iter().sum::<f64>() + evidence(&found).trust - 1.0).abs() < 1e-12);
}

/// No label law at hand explains scores that always miss: nothing but the labels themselves says so.
#[test]
fn labels_that_no_law_explains_are_said() {
    let (calibration, mut target) = worlds(0.0);
    for (row, label) in target.probabilities.chunks(4).zip(&mut target.labels) {
        *label = (0..4).min_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
    }
    let found = fit(changed(), &calibration, &target, &target.first_labels(40)).unwrap();
    let warnings = &evidence(&found).warnings;
    assert!(warnings.iter().any(|warning| warning.name() == "labels-disagree"), "{warnings:?}");
}

#[test]
fn equal_probabilities_of_being_labeled_change_nothing_and_unequal_ones_count() {
    let (calibration, target) = worlds(0.3);
    let plain = target.first_labels(20);
    let pairs: Vec<(u64, usize)> = (0..20).map(|row| (row, target.labels[row as usize])).collect();
    let equal = TargetLabels::sampled_with(&pairs, &[0.2; 20], 4).unwrap();
    let a = fit(changed(), &calibration, &target, &plain).unwrap();
    let b = fit(changed(), &calibration, &target, &equal).unwrap();
    assert_eq!(a.threshold(None), b.threshold(None));
    assert!((evidence(&a).pull - evidence(&b).pull).abs() < 1e-12);
    let mut q = [0.2; 20];
    q[0] = 0.002;
    let unequal = TargetLabels::sampled_with(&pairs, &q, 4).unwrap();
    let c = fit(changed(), &calibration, &target, &unequal).unwrap();
    assert!(evidence(&c).pull < 0.3 * evidence(&a).pull, "{}", evidence(&c).pull);
    let guaranteed = FewLabelsSettings { guarantee: Guarantee::Average, ..changed() };
    assert!(fit(guaranteed, &calibration, &target, &unequal).is_err());
}

/// Rows that a person picked because the model is sure of them, and the same number drawn at random.
#[test]
fn labels_of_the_surest_rows_are_called_no_random_draw() {
    let (calibration, target) = worlds(0.2);
    let sure = |row: &u64| {
        target.probabilities[4 * *row as usize..][..4].iter().fold(0.0_f64, |a, b| a.max(*b))
    };
    let labels = |rows: &[u64]| {
        let pairs: Vec<(u64, usize)> =
            rows.iter().map(|row| (*row, target.labels[*row as usize])).collect();
        TargetLabels::new(&pairs, 4).unwrap()
    };
    let named = |found: &Calibration| {
        let warnings = &evidence(found).warnings;
        warnings.iter().filter(|warning| warning.name() == "labels-not-random").count()
    };
    let mut rows: Vec<u64> = (0..150).collect();
    rows.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
    let found = fit(changed(), &calibration, &target, &labels(&rows[..30])).unwrap();
    assert_eq!(named(&found), 1);
    let draw = evidence(&found).draw.unwrap();
    assert!(draw.p_value <= 0.01 && draw.labeled_confidence > draw.other_confidence, "{draw:?}");
    // Where rows were drawn with known probabilities, no equal chances are claimed.
    let pairs: Vec<(u64, usize)> =
        rows[..30].iter().map(|row| (*row, target.labels[*row as usize])).collect();
    let unequal = TargetLabels::sampled_with(&pairs, &vec![0.3; 30], 4).unwrap();
    assert_eq!(evidence(&fit(changed(), &calibration, &target, &unequal).unwrap()).draw, None);
    let warned: usize = (0..60)
        .map(|seed| {
            let rows = rows_to_label(150, 30, Seed::new(seed)).unwrap();
            named(&fit(changed(), &calibration, &target, &labels(&rows)).unwrap())
        })
        .sum();
    // 0.6 expected; above 4 with probability 0.0004.
    assert!(warned <= 4, "{warned}");
}

/// What a later fit with more labels needs stands in the evidence.
#[test]
fn rows_and_settings_are_kept_for_labels_that_come_later() {
    let (calibration, target) = worlds(0.0);
    let labels = target.first_labels(30);
    let level = FailureProbability::new(0.2).unwrap();
    let tested =
        FewLabelsSettings { guarantee: Guarantee::Average, ..FewLabelsSettings::new(level) };
    for settings in [changed(), tested] {
        let found = fit(settings, &calibration, &target, &labels).unwrap();
        let text = serde_json::to_string(&found).unwrap();
        let read: Calibration = serde_json::from_str(&text).unwrap();
        let kept = &evidence(&read).labeled_rows;
        let pairs = labels.keys().iter().copied().zip(labels.as_slice().iter().copied());
        assert!(kept.iter().copied().eq(pairs));
        let again = evidence(&read).settings(settings.guarantee).unwrap();
        assert_eq!((again.change, again.guarantee), (settings.change, settings.guarantee));
    }
}

/// A thousand classes and few rows: groups of classes stand in for classes.
#[test]
fn a_thousand_classes_work_in_groups() {
    let mut stream = stream("classes");
    let calibration = points(300, 1000, 6.0, 0.0, &mut stream);
    let target = points(120, 1000, 6.0, 0.3, &mut stream);
    let found = fit(changed(), &calibration, &target, &target.first_labels(30)).unwrap();
    let evidence = evidence(&found);
    assert_eq!((evidence.prior.len(), evidence.group_of.len()), (12, 1000));
    assert!((evidence.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(found.threshold(None).unwrap().get() > 0.0);
    // Kept in a file of bounded size, whatever the rows and classes.
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.len() < 2_000_000, "{}", text.len());
}
