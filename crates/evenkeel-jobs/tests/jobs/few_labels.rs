//! Rows to label, labels that come later, and what a check makes of them.

use evenkeel::calibration::{Calibration, Evidence};
use evenkeel::certify::rows_to_label;
use evenkeel::method::few_labels::FewLabelsSettings;
use evenkeel::method::{Guarantee, Method, auto::AutoSettings};
use evenkeel::reading::Verdict;
use evenkeel::score::Score;
use evenkeel::shift::RandomDrawTest;
use evenkeel_jobs::{
    Block, CheckJob, Checked, CompareJob, Entrant, IfInapplicable, JobError, LabelJob, LabelsWorth,
    MemorySource, RowSource, Shown, TargetLabels, Unobserved, calibrate, check, compare, label,
    sentences, update,
};

use crate::world::{CLASSES, Points, alpha, calibrator, level, seed};

/// A source that does not know how many rows it has, as a csv file does not.
struct Uncounted<'a>(MemorySource<'a>);

impl RowSource for Uncounted<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn rows(&self) -> Option<u64> {
        None
    }
    fn is_labeled(&self) -> bool {
        self.0.is_labeled()
    }
    fn rewind(&mut self) -> evenkeel_jobs::Result<()> {
        self.0.rewind()
    }
    fn next_block(&mut self) -> evenkeel_jobs::Result<Option<Block<'_>>> {
        self.0.next_block()
    }
}

fn few(target: &Points, rows: &[u64]) -> TargetLabels {
    let pairs = rows.iter().map(|row| (*row as usize, target.labels[*row as usize])).collect();
    TargetLabels::new("labels", pairs, CLASSES).unwrap()
}

fn drawn(k: u64) -> Vec<u64> {
    rows_to_label(500, k, seed()).unwrap()
}

fn fitted(method: Method, cal: &Points, target: &Points, labels: &TargetLabels) -> Calibration {
    let labels = labels.of_rows(CLASSES).unwrap();
    let labeled = cal.labeled().with_target_labels(&labels);
    let mut source = target.source("target");
    calibrate(&calibrator(method), &labeled, &mut source, &mut Unobserved).unwrap().calibration
}

fn text(calibration: &Calibration) -> String {
    serde_json::to_string(calibration).unwrap()
}

#[test]
fn rows_are_drawn_whether_or_not_their_number_is_known() {
    let (cal, target) = (Points::calibration(), Points::target());
    let calibration = fitted(Method::Uncorrected, &cal, &target, &few(&target, &[]));
    let job = LabelJob {
        budget: 30,
        taken: ("", &[]),
        shown: Shown::Sets(&calibration, None),
        seed: seed(),
    };
    let known = label(&job, &mut target.source("target"), &mut Unobserved).unwrap();
    let counted = label(&job, &mut Uncounted(target.source("target")), &mut Unobserved).unwrap();
    assert_eq!(known, counted);
    let rows: Vec<u64> = known.rows.iter().map(|row| row.row).collect();
    assert_eq!((known.m, rows), (500, drawn(30)));
    let threshold = calibration.threshold(None).unwrap().get();
    for row in &known.rows {
        let values = &target.values[row.row as usize * CLASSES..][..CLASSES];
        let top = (0..CLASSES).max_by(|a, b| values[*a].total_cmp(&values[*b]));
        assert_eq!(row.predicted, top);
        let set: Vec<usize> = (0..CLASSES).filter(|y| 1.0 - values[*y] <= threshold).collect();
        assert_eq!(row.set.as_ref(), Some(&set));
    }
    let more = LabelJob { taken: ("sheet", &drawn(30)), shown: Shown::Nothing, ..job };
    let more = label(&more, &mut target.source("target"), &mut Unobserved).unwrap();
    assert!(more.rows.iter().map(|row| row.row).eq(drawn(60)[30..].iter().copied()));
    assert!(more.rows.iter().all(|row| row.predicted.is_none() && row.set.is_none()));
}

#[test]
fn draws_that_cannot_be_made_are_refused() {
    let target = Points::target();
    let job = |budget, taken| LabelJob {
        budget,
        taken: ("sheet", taken),
        shown: Shown::Class,
        seed: seed(),
    };
    let refused = |job: LabelJob<'_>| {
        label(&job, &mut target.source("target"), &mut Unobserved).unwrap_err().to_string()
    };
    assert!(refused(job(0, &[])).contains("at least 1"));
    assert!(refused(job(501, &[])).contains("at most 500"));
    assert!(refused(job(500, &[3])).contains("at most 499"));
    assert!(refused(job(3, &[3, 500])).contains("sheet: row 500"));
}

#[test]
fn labels_are_worth_what_they_will_show() {
    let worth = LabelsWorth::new(50, alpha(), level()).unwrap();
    assert!((worth.half_width - 0.0924).abs() < 1e-3, "{worth:?}");
    assert_eq!((worth.needed_on_average, worth.needed_with_probability), (9, 22));
    assert!(sentences::label::worth(&worth)[0].contains("to within 9.2 points (78-97 at 95 %"));
}

/// The bytes of all labels at once, in two steps or three, from no labels or some, with rows given twice.
#[test]
fn an_update_has_the_bytes_of_all_labels_at_once() {
    let (cal, target) = (Points::calibration(), Points::target());
    let rows = drawn(60);
    let guaranteed =
        FewLabelsSettings { guarantee: Guarantee::Average, ..FewLabelsSettings::default() };
    let rates = evenkeel::level::FailureProbability::new(0.2).unwrap();
    for method in [
        Method::Auto(AutoSettings::new(level())),
        Method::FewLabels(FewLabelsSettings::new(rates)),
        Method::FewLabels(guaranteed),
    ] {
        let at_once = fitted(method, &cal, &target, &few(&target, &rows));
        let mut found = fitted(method, &cal, &target, &few(&target, &rows[..20]));
        for more in [&rows[15..35], &rows[35..]] {
            // Through a file: what is stored is enough.
            let stored: Calibration = serde_json::from_str(&text(&found)).unwrap();
            assert_ne!(text(&stored), text(&at_once));
            let source = &mut target.source("target");
            let labels = few(&target, more);
            found = update(("cal", &stored), &labels, source, &mut Unobserved).unwrap().calibration;
        }
        assert_eq!(text(&found), text(&at_once));
    }
    let auto = Method::Auto(AutoSettings::new(level()));
    let none = fitted(auto, &cal, &target, &few(&target, &[]));
    let source = &mut target.source("target");
    let found = update(("cal", &none), &few(&target, &rows), source, &mut Unobserved).unwrap();
    assert_eq!(text(&found.calibration), text(&fitted(auto, &cal, &target, &few(&target, &rows))));
}

/// With labels `auto` is `few-labels`: one row of a comparison, not two of the same name; and it takes a guarantee.
#[test]
fn a_comparison_with_labels_has_few_labels_once() {
    let (cal, target) = (Points::calibration(), Points::target());
    let labels = few(&target, &drawn(40)).of_rows(CLASSES).unwrap();
    let labeled = cal.labeled().with_target_labels(&labels);
    let guarantee = Guarantee::Average;
    let auto = Method::Auto(AutoSettings { guarantee, ..AutoSettings::new(level()) });
    let few = FewLabelsSettings { guarantee, ..FewLabelsSettings::new(level()) };
    let methods = [auto, Method::FewLabels(few), Method::Uncorrected];
    let entrants = methods.map(|method| Entrant::Method(calibrator(method))).to_vec();
    let job = CompareJob { entrants, if_inapplicable: IfInapplicable::Fail };
    let known = target.checked_labels();
    let mut rows = target.source("target");
    let mut test = target.source("test").with_labels("labels", &known).unwrap();
    let found = compare(&job, &labeled, &mut rows, &mut test, &mut Unobserved).unwrap();
    let names: Vec<&str> =
        found.compared.iter().map(|one| one.calibration.provenance().method.as_str()).collect();
    assert_eq!(names, ["few-labels", "uncorrected"]);
    let error = calibrate(&calibrator(auto), &cal.labeled(), &mut rows, &mut Unobserved);
    assert!(error.unwrap_err().to_string().contains("labels"));
}

#[test]
fn updates_that_make_no_sense_are_refused() {
    let (cal, target) = (Points::calibration(), Points::target());
    let few_labels = Method::FewLabels(FewLabelsSettings::default());
    let found = fitted(few_labels, &cal, &target, &few(&target, &[7, 9]));
    let refused = |calibration: &Calibration, pairs: Vec<(usize, usize)>| {
        let labels = TargetLabels::new("more", pairs, CLASSES).unwrap();
        let source = &mut target.source("target");
        update(("cal", calibration), &labels, source, &mut Unobserved).unwrap_err()
    };
    let (before, other) = (target.labels[9], (target.labels[9] + 1) % CLASSES);
    let error = refused(&found, vec![(3, 0), (9, other)]);
    assert!(
        matches!(&error, JobError::LabeledOtherwise { row: 9, label, before: kept, .. }
            if (*label, *kept) == (other, before)),
        "{error}"
    );
    let words = error.to_string();
    assert!(words.contains("row 9") && words.contains(&format!("label {before} for it")));
    assert!(refused(&found, vec![(500, 0)]).to_string().contains("row 500"));
    // Another table of the same length: the labels of before are not those of its rows.
    let (labels, mut others) = (few(&target, &[3]), Points::target());
    others.values.rotate_left(CLASSES);
    let source = &mut others.source("others");
    let error = update(("cal", &found), &labels, source, &mut Unobserved).unwrap_err();
    assert!(matches!(&error, JobError::OtherRow { row: 7, .. }), "{error}");
    assert!(error.to_string().starts_with("others: row 7 has other probabilities than when cal"));
    let uncorrected = fitted(Method::Uncorrected, &cal, &target, &few(&target, &[]));
    assert!(matches!(refused(&uncorrected, vec![(3, 0)]), JobError::NotCheckable { .. }));
    // A file that does not keep its calibration data, or its labels.
    let mut file: serde_json::Value = serde_json::from_str(&text(&found)).unwrap();
    file.as_object_mut().unwrap().remove("reference");
    let without: Calibration = serde_json::from_value(file).unwrap();
    assert!(refused(&without, vec![(3, 0)]).to_string().contains("calibration data"));
    let mut file: serde_json::Value = serde_json::from_str(&text(&found)).unwrap();
    file["evidence"].as_object_mut().unwrap().remove("labeled_rows");
    let without: Calibration = serde_json::from_value(file).unwrap();
    assert!(matches!(refused(&without, vec![(3, 0)]), JobError::NotCheckable { .. }));
}

fn checked(target: &Points, labels: TargetLabels) -> Checked {
    let cal = Points::calibration();
    let mut job = CheckJob::new(Score::Lac, alpha(), level(), seed());
    job.labels = labels;
    check(&job, &cal.labeled(), &mut target.source("target"), &mut Unobserved).unwrap()
}

#[test]
fn a_check_with_labels_says_how_they_moved_the_estimate() {
    let target = Points::target();
    let checked = checked(&target, few(&target, &drawn(80)));
    let found = checked.with_labels.as_ref().unwrap();
    assert_eq!(found.prior.value, checked.report.coverage_estimate.value);
    assert_eq!(found.measured.value, checked.measured.unwrap().value);
    assert!(found.posterior.low <= found.posterior.value);
    assert!(found.posterior.value <= found.posterior.high);
    let shares = || found.class_shares.iter();
    assert!((shares().map(|class| class.share.target).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(shares().map(|class| class.labels.clone()).eq((0..CLASSES).map(|label| vec![label])));
    let said = sentences::evidence::with_labels(&checked, None);
    assert!(said[0].contains("As the 80 labels count it"), "{said:?}");
    assert!(said[3].contains("look like a random draw"), "{said:?}");
    let document = serde_json::to_value(checked.document(None, &[])).unwrap();
    assert!(document["with_labels"]["posterior"]["value"].is_number());
    assert!(document["with_labels"]["random_draw"]["p_value"].as_f64().unwrap() > 0.01);
}

/// With labels, too, a check promises what `auto` delivers; and labels find what the outputs do not show.
#[test]
fn a_loss_that_only_labels_show_is_repaired_with_them() {
    let cal = Points::calibration();
    // The outputs of the calibration data, and labels that the model does not know.
    let mut target = Points::new(500, 6.0, 9);
    target.labels.iter_mut().for_each(|label| *label = (*label + 1) % CLASSES);
    let labels = few(&target, &drawn(80));
    let checked = checked(&target, labels.clone());
    assert!(!checked.report.shift.detected);
    assert_eq!(checked.verdict, Verdict::Loss);
    let promised = checked.recommended.as_ref().unwrap();
    let delivered = fitted(Method::Auto(AutoSettings::new(level())), &cal, &target, &labels);
    assert_eq!(promised.threshold, Some(delivered.threshold(None).unwrap().get()));
    assert_eq!((promised.method, &promised.warnings), ("few-labels", &delivered.warnings()));
    let Some(Evidence::FewLabels(found)) = &delivered.learned().evidence else { panic!() };
    assert_eq!(promised.expected_error, Some(found.expected_error));
    assert!(checked.with_labels.as_ref().unwrap().contradicted);
    assert!(sentences::evidence::with_labels(&checked, None)[1].contains("contradict"));
    assert!(sentences::check::advice(&checked).contains("Calibrate anew with these labels"));
}

#[test]
fn labels_of_the_surest_rows_are_no_random_draw() {
    let target = Points::target();
    let sure = |row: &u64| {
        target.values[*row as usize * CLASSES..][..CLASSES].iter().fold(0.0_f64, |a, b| a.max(*b))
    };
    let mut rows: Vec<u64> = (0..500).collect();
    rows.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
    let checked = checked(&target, few(&target, &rows[..40]));
    let warned = sentences::check::warnings(&checked);
    let words = "40 labeled rows do not look like a random draw";
    assert_eq!(warned.iter().filter(|said| said.contains(words)).count(), 1, "{warned:?}");
    let draw: &RandomDrawTest = checked.with_labels.as_ref().unwrap().random_draw.as_ref().unwrap();
    assert!(draw.p_value <= 0.01 && draw.labeled_confidence > draw.other_confidence);
}

/// Labels that chose a threshold are known again by their rows, wherever these stand; labels of other rows with the same numbers are not
/// taken for them.
#[test]
fn labels_that_chose_the_threshold_are_known_by_their_rows() {
    let (cal, target) = (Points::calibration(), Points::target());
    let rows = drawn(40);
    let few_labels = Method::FewLabels(FewLabelsSettings::default());
    let found = fitted(few_labels, &cal, &target, &few(&target, &rows));
    let chosen = |target: &Points, rows: &[u64]| {
        let mut job = CheckJob::of_calibration(&found, "cal", None, level()).unwrap();
        job.labels = few(target, rows);
        let source = &mut target.source("target");
        let checked = check(&job, &cal.labeled(), source, &mut Unobserved).unwrap();
        checked.measured.unwrap().chosen_with_labels
    };
    assert!(chosen(&target, &rows));
    let mut turned = Points::target();
    turned.values.rotate_left(CLASSES);
    turned.labels.rotate_left(1);
    let moved: Vec<u64> = rows.iter().map(|row| (row + 499) % 500).collect();
    assert!(chosen(&turned, &moved));
    let fresh = Points::new(500, 2.0, 77);
    assert!(!chosen(&fresh, &rows));
}
