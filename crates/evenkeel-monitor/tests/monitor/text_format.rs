//! The text for Prometheus is what its grammar allows; exports hold every batch.

use std::collections::BTreeSet;

use evenkeel_monitor::{BatchQuery, Keep, LateLabels, export, prometheus};

use crate::world::{CLEAR, FADED, Folder, day, name, rows, send, watched};

/// Every line is a comment of a known kind, or `name{label="value",...} number`; HELP and TYPE come once, before their samples.
fn check_grammar(text: &str) -> usize {
    let (mut helped, mut typed, mut closed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut last, mut samples, mut seen) = (String::new(), 0, BTreeSet::new());
    assert!(text.ends_with('\n'));
    let metric = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || "_:".contains(first))
            && letters.all(|letter| letter.is_ascii_alphanumeric() || "_:".contains(letter))
    };
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (family, _) = rest.split_once(' ').unwrap();
            assert!(metric(family) && helped.insert(family.to_owned()), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (family, kind) = rest.split_once(' ').unwrap();
            assert!(
                ["counter", "gauge", "histogram", "summary", "untyped"].contains(&kind),
                "{line}"
            );
            assert!(helped.contains(family) && typed.insert(family.to_owned()), "{line}");
            continue;
        }
        let (family, rest) = line.split_once('{').unwrap();
        let (labels, value) = rest.split_once("} ").unwrap();
        assert!(metric(family) && typed.contains(family), "{line}");
        for label in labels.split(',') {
            let (key, quoted) = label.split_once('=').unwrap();
            assert!(
                metric(key)
                    && quoted.starts_with('"')
                    && quoted.ends_with('"')
                    && quoted.len() >= 2,
                "{line}"
            );
            assert!(!quoted[1..quoted.len() - 1].contains(['"', '\\', '\n']), "{line}");
        }
        assert!(value.parse::<f64>().is_ok() || ["+Inf", "-Inf", "NaN"].contains(&value), "{line}");
        assert!(seen.insert(format!("{family}{{{labels}")), "twice: {line}");
        // Samples of a family stand together.
        if last != family {
            assert!(closed.insert(family.to_owned()), "{line}");
            last = family.to_owned();
        }
        samples += 1;
    }
    samples
}

#[test]
fn the_text_follows_the_grammar() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    assert!(check_grammar(&prometheus::prometheus(&monitor).unwrap()) > 5);
    for night in 1..=3 {
        send(&monitor, &format!("{night}"), &rows(150, FADED, night).0, day(night.cast_signed()))
            .unwrap();
    }
    let labels = [(0, 1), (1, 2)];
    monitor
        .add_labels(&name(), &LateLabels { batch: 1, labels: &labels, who: "t", at: day(4) })
        .unwrap();
    let text = prometheus::prometheus(&monitor).unwrap();
    assert!(check_grammar(&text) > 20);
    assert!(text.contains("evenkeel_batches_total{model=\"garments\"} 3\n"), "{text}");
    assert!(
        text.contains("} 1\n") && text.contains("evenkeel_alarm{model=\"garments\",rule=\""),
        "{text}"
    );
}

#[test]
fn an_export_has_a_row_for_every_batch() {
    let folder = Folder::new();
    let monitor = watched(&folder.store(), Keep::Sets);
    for night in 1..=3 {
        send(&monitor, &format!("{night}"), &rows(40, CLEAR, night).0, day(night.cast_signed()))
            .unwrap();
    }
    let batches = monitor.history(&name(), &BatchQuery::default()).unwrap();
    let table = export::table(&batches);
    let text = evenkeel_io::write::csv(&table);
    assert_eq!(text.lines().count(), 4);
    assert!(text.lines().all(|line| line.split(',').count() == table.len()), "{text}");
    for file in ["history.csv", "history.parquet"] {
        let path = folder.0.join(file);
        evenkeel_io::write::write_table(&path, &table).unwrap();
        let argument = format!("{}:coverage_estimate", path.display());
        let read = evenkeel_io::read_matrix(&evenkeel_io::MatrixSource::parse(&argument).unwrap());
        assert_eq!(read.unwrap().rows("coverage").unwrap().rows(), 3, "{file}");
    }
    assert!(evenkeel_io::write::write_table(&folder.0.join("history.txt"), &table).is_err());
}
