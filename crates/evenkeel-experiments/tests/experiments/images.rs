//! The image experiments on a small world, on the shipped demo data, and on a thousand classes.

use std::fs;
use std::path::Path;

use evenkeel::level::Miscoverage;
use evenkeel::seed::Seed;
use evenkeel_experiments::images::{
    DataFolder, FigureSettings, Figures, ImageMethod, ImageSettings, Images, LabelMarginal,
    SampleSize, SampleSizeSettings, SoftmaxTable, Tables,
};
use evenkeel_experiments::run::{Entry, Table, Unwatched, run};

use crate::world::{Scratch, data_folder, table};

pub(crate) fn alpha() -> Miscoverage {
    Miscoverage::new(0.1).unwrap()
}

fn methods(ids: &[&str]) -> Vec<ImageMethod> {
    ids.iter().map(|id| ImageMethod::from_id(id).unwrap()).collect()
}

pub(crate) fn mean(table: &Table, row: &str, column: usize) -> f64 {
    let row = table.rows.iter().find(|cells| cells[0] == Entry::text(row)).unwrap();
    match &row[column] {
        Entry::Spread(spread, _) => spread.mean,
        Entry::Number(value, _) => *value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_tables_of_a_small_world_show_the_pattern() {
    let scratch = Scratch::new();
    let data = data_folder(&scratch.at("data"), 1500, 5);
    let settings = ImageSettings {
        methods: methods(&[
            "uncorrected",
            "oracle",
            "likelihood-ratio",
            "ecp",
            "conditional",
            "qtc",
            "ff-f-u",
            "wf-f-u",
            "ff-f-u-1000",
            "ff-w1-f-u",
            "label-plan",
            "auto",
        ]),
        seeds: 3,
        calibration: 100,
        unlabeled: 100,
        ..ImageSettings::new(alpha(), Seed::new(5))
    };
    let images = Images::new(data, settings).unwrap();
    let folder = scratch.at("run");
    let finished = run(&images, &folder, &Unwatched).unwrap();
    assert_eq!(finished.cells, 4 * 2 * 3);
    let tables = &finished.outputs.tables;
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["distance", "table-1", "table-4", "table-5", "table-6"]);
    for name in names {
        assert!(folder.join(format!("tables/{name}.csv")).exists());
        assert!(folder.join(format!("tables/{name}.md")).exists());
    }
    let coverage = |method: &str, column| mean(&tables[1], method, column);
    // Columns: severity 1 coverage and size, severity 3 coverage and size. Six cells of 100 points: standard error 0.02.
    let uncorrected = coverage("Uncorrected (no label shift)", 3);
    assert!(uncorrected < 0.8, "{uncorrected}");
    let oracle = coverage("Oracle (no label shift)", 3);
    assert!((oracle - 0.9).abs() < 0.05, "{oracle}");
    for method in ["paper: FF (f, U)", "label-plan: class shares", "auto"] {
        let found = coverage(&format!("{method} (no label shift)"), 3);
        assert!(found > uncorrected + 0.05, "{method}: {found}");
    }
    // At severity 1 the steps by severity are 1000 steps.
    let tuned = coverage("paper: FF (f, U) (no label shift)", 1);
    assert_eq!(tuned, coverage("paper: FF (f, U), 1000 steps (no label shift)", 1));
}

#[test]
fn the_wasserstein_bound_is_above_the_measured_gap() {
    let scratch = Scratch::new();
    let data = data_folder(&scratch.at("data"), 1200, 5).with_severities(&[3]).unwrap();
    let settings = ImageSettings {
        methods: methods(&["ff-w1-min-max", "ff-w1-f-u"]),
        marginals: vec![LabelMarginal::Same],
        seeds: 2,
        calibration: 100,
        unlabeled: 200,
        tables: Tables::Tightness,
        ..ImageSettings::new(alpha(), Seed::new(6))
    };
    let images = Images::new(data, settings).unwrap();
    let finished = run(&images, &scratch.at("run"), &Unwatched).unwrap();
    let [table] = &finished.outputs.tables[..] else { panic!() };
    assert_eq!(table.columns[3], "paper: FF (f, U), W1: gap");
    for corruption in ["fog", "snow"] {
        for pair in [1, 3] {
            let (gap, bound) = (mean(table, corruption, pair), mean(table, corruption, pair + 1));
            assert!(0.0 < gap && gap < bound, "{corruption} {pair}: {gap} {bound}");
        }
    }
}

#[test]
fn sample_sizes_and_figures_are_made() {
    let scratch = Scratch::new();
    let data = data_folder(&scratch.at("data"), 900, 4);
    let settings = SampleSizeSettings {
        sizes: vec![30, 100],
        seeds: 1,
        test: 500,
        grid: 100,
        alpha: alpha(),
        seed: Seed::new(2),
    };
    let one = data.clone().with_severities(&[1]).unwrap();
    let finished =
        run(&SampleSize::new(one, settings).unwrap(), &scratch.at("sizes"), &Unwatched).unwrap();
    let table = &finished.outputs.tables[2];
    assert_eq!((table.name.as_str(), table.rows.len(), table.columns.len()), ("table-3", 2, 4));
    assert!((0.0..0.6).contains(&mean(table, "100", 3)));
    let settings = FigureSettings {
        laws_of: "snow_3".into(),
        gap_of: "fog_1".into(),
        calibration: 100,
        unlabeled: 100,
        test: 500,
        alpha: alpha(),
        seed: Seed::new(2),
    };
    let figures = Figures::new(data, settings).unwrap();
    let finished = run(&figures, &scratch.at("figures"), &Unwatched).unwrap();
    assert_eq!(finished.outputs.figures.len(), 2);
    assert!(finished.outputs.figures[1].svg.contains("likelihood ratio"));
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let scratch = Scratch::new();
    let written = table(50, 3, 2.0, 9);
    let path = scratch.at("table.npz");
    written.write(&path).unwrap();
    assert_eq!(SoftmaxTable::read(&path).unwrap(), written);
}

#[test]
fn folders_that_do_not_fit_are_refused_with_the_file_named() {
    let scratch = Scratch::new();
    let folder = scratch.at("data");
    fs::create_dir_all(&folder).unwrap();
    let error = DataFolder::open(&folder).unwrap_err().to_string();
    assert!(error.contains("clean.npz") && error.contains("image_id"), "{error}");
    table(60, 3, 2.0, 1).write(&folder.join("clean.npz")).unwrap();
    assert!(DataFolder::open(&folder).is_err());
    table(60, 4, 2.0, 1).write(&folder.join("fog_1.npz")).unwrap();
    let data = DataFolder::open(&folder).unwrap();
    let error = data.read(&data.conditions()[0], 3).unwrap_err().to_string();
    assert!(error.contains("fog_1.npz") && error.contains("classes"), "{error}");
    let mut repeated = table(60, 3, 2.0, 1);
    repeated.image_ids[7] = repeated.image_ids[8];
    repeated.write(&folder.join("fog_1.npz")).unwrap();
    let error = data.read(&data.conditions()[0], 3).unwrap_err().to_string();
    assert!(error.contains("appears twice"), "{error}");
    let mut short = table(60, 3, 2.0, 1);
    short.labels.pop();
    short.image_ids.pop();
    short.write(&folder.join("fog_1.npz")).unwrap();
    assert!(data.read(&data.conditions()[0], 3).is_err(), "59 labels for 60 rows");
}

/// The shipped demo data as a data folder: real probabilities, the calibration images apart from the target data's.
pub(crate) fn demo_folder(folder: &Path) -> DataFolder {
    let demo = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo"));
    let read = |name: &str| {
        let source = demo.join(format!("{name}.npy")).display().to_string();
        evenkeel_io::MatrixSource::parse(&source).unwrap()
    };
    let labels = |name: &str| evenkeel_io::read_labels(&read(name), None).unwrap();
    let probabilities = |name: &str| {
        let values = evenkeel_io::read_matrix(&read(name)).unwrap().into_values().to_f64();
        values.into_iter().map(|value| value as f32).collect::<Vec<f32>>()
    };
    fs::create_dir_all(folder).unwrap();
    let clean = SoftmaxTable {
        probabilities: probabilities("calibration_probs"),
        classes: 10,
        labels: labels("calibration_labels"),
        image_ids: labels("calibration_ids"),
    };
    clean.write(&folder.join("clean.npz")).unwrap();
    let fog = SoftmaxTable {
        probabilities: probabilities("fog_3_test_probs"),
        classes: 10,
        labels: labels("fog_3_test_labels"),
        image_ids: labels("test_ids"),
    };
    fog.write(&folder.join("fog_3.npz")).unwrap();
    DataFolder::open(folder).unwrap()
}

#[test]
fn the_shipped_demo_data_gives_a_table() {
    let scratch = Scratch::new();
    let settings = ImageSettings {
        methods: methods(&["uncorrected", "oracle", "ff-f-u", "label-plan", "auto"]),
        seeds: 4,
        ..ImageSettings::new(alpha(), Seed::new(0))
    };
    let images = Images::new(demo_folder(&scratch.at("data")), settings).unwrap();
    let finished = run(&images, &scratch.at("run"), &Unwatched).unwrap();
    let table = &finished.outputs.tables[1];
    let coverage = |method: &str| mean(table, &format!("{method} (no label shift)"), 1);
    assert!(coverage("Uncorrected") < 0.7, "{}", coverage("Uncorrected"));
    assert!((coverage("Oracle") - 0.9).abs() < 0.03, "{}", coverage("Oracle"));
    assert!(coverage("auto") > coverage("Uncorrected") + 0.1, "{}", coverage("auto"));
}

/// A thousand classes, as ImageNet: the same tables from the same command, but label shift leaves too few rows.
#[test]
fn a_thousand_classes_are_no_other_case() {
    let scratch = Scratch::new();
    let folder = scratch.at("data");
    fs::create_dir_all(&folder).unwrap();
    table(3000, 1000, 5.0, 1).write(&folder.join("clean.npz")).unwrap();
    table(3000, 1000, 4.2, 2).write(&folder.join("fog_1.npz")).unwrap();
    let settings = ImageSettings {
        methods: methods(&["uncorrected", "oracle", "ecp", "qtc", "ff-f-u", "label-plan"]),
        seeds: 1,
        ..ImageSettings::new(alpha(), Seed::new(0))
    };
    let images = Images::new(DataFolder::open(&folder).unwrap(), settings).unwrap();
    let finished = run(&images, &scratch.at("run"), &Unwatched).unwrap();
    let oracle = mean(&finished.outputs.tables[1], "Oracle (no label shift)", 1);
    assert!((oracle - 0.9).abs() < 0.06, "{oracle}");
    // Three rows a class: label shift leaves a handful of points, too few to measure on, and the tables say so.
    let table = &finished.outputs.tables[1];
    let shifted = table.rows.iter().find(|row| row[0] == Entry::text("Oracle (with label shift)"));
    assert_eq!(shifted.unwrap()[1], Entry::Missing);
    for words in [table.note.as_ref().unwrap(), &finished.outputs.lead[1]] {
        assert!(words.contains("1 of 1 cells with label shift are left out"), "{words}");
    }
    assert!(finished.outputs.subtitle.contains("m = 300 unlabeled, 2100 test"));
}
