//! What people read about classes and groups.

use evenkeel::evaluation::ClassCoverage;
use evenkeel::level::Miscoverage;
use evenkeel::method::Guarantee;
use evenkeel::per_group::{
    ClassPart, GroupLaw, PerClassCalibration, PerGroupCalibration, Standing, undercovered,
};
use evenkeel::threshold::Threshold;
use evenkeel::warning::Warning;

use crate::sentences::{class_name, low_level, percent, threshold};

/// Names listed in a sentence; the rest are counted.
const NAMED: usize = 5;

/// Names as a list, the first few of them.
fn listed(names: &[String]) -> String {
    match names.len().checked_sub(NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}

/// What holds the level for each class. A constant, so that a shell can put its own word in place of it.
pub const CALIBRATE_PER_CLASS: &str = "`evenkeel calibrate --per class` (in Python per=\"class\")";

/// Which classes one threshold for all covers far below the level, by the calibration labels; none where it covers all about as it
/// should.
pub fn undercovered_classes(
    per_class: &[ClassCoverage],
    alpha: Miscoverage,
    class_names: Option<&[String]>,
) -> Option<String> {
    let found = undercovered(per_class, alpha);
    let warning = Warning::of_undercovered(&found, alpha)?;
    let Warning::ClassUndercovered { level, .. } = warning else { return None };
    let named = |class: &ClassCoverage| {
        let name = class_name(class.label, class_names);
        format!("{name} {} of the time ({} calibration points)", percent(class.coverage), class.n)
    };
    let names: Vec<String> = found.iter().take(NAMED).map(named).collect();
    let more = match found.len().checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more classes"),
    };
    Some(format!(
        "one threshold for all classes covers {}{more}, far below the level of {}: the level holds on average over classes, and \
         {CALIBRATE_PER_CLASS} holds it for each",
        names.join(", "),
        percent(level),
    ))
}

/// Which classes share a threshold because they are too small, as a warning; none where none are.
pub fn merged_classes(
    calibration: &PerClassCalibration,
    class_names: Option<&[String]>,
) -> Vec<String> {
    let level = percent(calibration.pooled().provenance().alpha.level().get());
    let of = |wanted: Standing| -> Vec<String> {
        let parts = calibration.parts().iter().filter(|part| part.standing == wanted);
        parts.flat_map(|part| &part.classes).map(|class| class_name(*class, class_names)).collect()
    };
    let mut said = merged("classes", &level, &of(Standing::Rest), &of(Standing::AllLabels));
    let alpha = calibration.pooled().provenance().alpha;
    let boundless = calibration.parts().iter().filter(|part| {
        part.standing != Standing::AllLabels && part.threshold(alpha) == Threshold::AllLabels
    });
    let classes = boundless.flat_map(|part| &part.classes);
    let names: Vec<String> = classes.map(|class| class_name(*class, class_names)).collect();
    said.extend(without_threshold("classes", &level, &names));
    said
}

/// Where too few points or labels leave no finite threshold, as a warning: nobody would see it in sets that hold a label always.
fn without_threshold(what: &str, level: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| {
        format!(
            "{} of the {what} have no finite threshold at {level} and are in every set ({}): their points, or their labels where a \
             guarantee is asked for, are too few; label more rows of them, or ask for a lower level",
            names.len(),
            listed(names)
        )
    })
}

/// What to know about a calibration for each group.
pub fn group_warnings(calibration: &PerGroupCalibration) -> Vec<String> {
    let mut said = merged_groups(calibration);
    said.extend(low_level(calibration.provenance().alpha.get()));
    said
}

/// Which groups share a calibration because they are too small, as a warning.
fn merged_groups(calibration: &PerGroupCalibration) -> Vec<String> {
    let level = percent(calibration.provenance().alpha.level().get());
    let of = |wanted: Standing| -> Vec<String> {
        let parts = calibration.parts().iter().filter(|part| part.standing == wanted);
        parts.flat_map(|part| part.groups.iter().cloned()).collect()
    };
    let mut said = merged("groups", &level, &of(Standing::Rest), &of(Standing::AllLabels));
    let boundless = calibration.parts().iter().filter(|part| {
        let threshold = part.calibration.as_ref().and_then(|one| one.threshold(None));
        threshold == Some(Threshold::AllLabels)
    });
    let names: Vec<String> = boundless.flat_map(|part| part.groups.iter().cloned()).collect();
    said.extend(without_threshold("groups", &level, &names));
    said
}

fn merged(what: &str, level: &str, rest: &[String], all_labels: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    if !rest.is_empty() {
        said.push(format!(
            "{} of the {what} have too few points for a threshold of their own at {level} and share one ({}): the level holds for \
             them together, not for each",
            rest.len(),
            listed(rest)
        ));
    }
    if !all_labels.is_empty() {
        said.push(format!(
            "{} of the {what} have too few points for a threshold at {level} and keep every label ({})",
            all_labels.len(),
            listed(all_labels)
        ));
    }
    said
}

fn labels_of_part(part: &ClassPart) -> usize {
    match &part.law {
        Some(GroupLaw::Fitted { thresholds }) => thresholds.labels(),
        _ => 0,
    }
}

/// Labels of target rows that a class's threshold was pulled by, those of the classes it shares the threshold with included.
pub(super) fn labels_of(calibration: &PerClassCalibration, class: usize) -> usize {
    calibration.part_of(class).map_or(0, labels_of_part)
}

/// What the thresholds of the classes rest on, in place of what the method says of one threshold for all: that one nobody uses.
pub fn account_per_class(calibration: &PerClassCalibration) -> String {
    let level = percent(calibration.pooled().provenance().alpha.level().get());
    let laws = || calibration.parts().iter().filter_map(|part| part.law.as_ref());
    let fitted = laws().find_map(|law| match law {
        GroupLaw::Fitted { thresholds } => Some(thresholds.guarantee()),
        _ => None,
    });
    let Some(guarantee) = fitted else {
        let weighed = laws().any(|law| matches!(law, GroupLaw::Weighted { .. }));
        let points = if weighed { "weighted calibration points" } else { "calibration points" };
        return format!(
            "Every threshold rests on the {points} of its class alone: {level} of each class is covered as long as rows of a class \
             are what they were, whatever its frequency."
        );
    };
    let classes = calibration.pooled().provenance().classes;
    let counts: Vec<usize> = (0..classes).map(|class| labels_of(calibration, class)).collect();
    // Classes that share a threshold share their labels.
    let labels: usize = calibration.parts().iter().map(labels_of_part).sum();
    let law = "Every threshold is the quantile of its class's scores on the target data, under the label law that was fitted to them";
    if labels == 0 {
        return format!("{law}. It is assumed that this law is near the truth for each class.");
    }
    let without = counts.iter().filter(|count| **count == 0).count();
    let uneven = match without {
        0 => String::new(),
        1 => "; 1 class has none".to_owned(),
        classes => format!("; {classes} classes have none"),
    };
    let holds = match guarantee {
        Guarantee::None => {
            "It is assumed that this law is near the truth for each class.".to_owned()
        }
        Guarantee::Average => format!(
            "Guaranteed for each threshold, if the labeled rows were drawn at random from the rows that sets are made for: coverage of \
             at least {level} on average over such draws."
        ),
        Guarantee::Probability { probability } => format!(
            "Guaranteed for each threshold by itself, if the labeled rows were drawn at random from the rows that sets are made for: \
             coverage of at least {level} in {} of such draws.",
            percent(probability.get())
        ),
    };
    format!("{law} and pulled by the labels of its class ({labels} in all{uneven}). {holds}")
}

/// What a calibration with a threshold for each class came to.
pub fn calibrated_per_class(
    calibration: &PerClassCalibration,
    class_names: Option<&[String]>,
) -> Vec<String> {
    let pooled = calibration.pooled();
    let provenance = pooled.provenance();
    let own = calibration.parts().iter().filter(|part| part.standing == Standing::Own);
    let mut said = vec![format!(
        "A threshold for each class at alpha = {} by {}: {} of {} classes have their own.",
        provenance.alpha.get(),
        provenance.method.as_str(),
        own.count(),
        provenance.classes,
    )];
    said.push(account_per_class(calibration));
    let thresholds = calibration.thresholds(None);
    let lines = thresholds.iter().enumerate().take(SHOWN).map(|(class, found)| {
        let value = found.get();
        let standing = calibration.part_of(class).map_or("", |part| match part.standing {
            Standing::Own => "",
            Standing::Rest => " (with the other small classes)",
            Standing::AllLabels => " (too few points)",
        });
        format!(
            "  {}: {} calibration points{}, threshold {}{standing}",
            class_name(class, class_names),
            calibration.points_of(class),
            match labels_of(calibration, class) {
                0 => String::new(),
                1 => ", 1 label".to_owned(),
                labels => format!(", {labels} labels"),
            },
            threshold(value.is_finite().then_some(value)),
        )
    });
    said.extend(lines);
    if thresholds.len() > SHOWN {
        said.push(format!("  and {} more", thresholds.len() - SHOWN));
    }
    said
}

/// Lines of a list; the JSON document has all.
const SHOWN: usize = 30;

/// What a calibration for each group came to.
pub fn calibrated_per_group(calibration: &PerGroupCalibration) -> Vec<String> {
    let provenance = calibration.provenance();
    let own = calibration.parts().iter().filter(|part| part.standing == Standing::Own);
    let groups: usize = calibration.parts().iter().map(|part| part.groups.len()).sum();
    let by = calibration.by().map_or_else(String::new, |by| format!(" of {by}"));
    let mut said = vec![format!(
        "A calibration for each group{by} at alpha = {} by {}: {} of {groups} groups have their own.",
        provenance.alpha.get(),
        provenance.method.as_str(),
        own.count(),
    )];
    for part in calibration.parts().iter().take(SHOWN) {
        let found = match &part.calibration {
            None => "every label".to_owned(),
            Some(one) => crate::sentences::threshold_of(one, None),
        };
        said.push(format!(
            "  {}: {} calibration points, {} target rows, {found}",
            listed(&part.groups),
            part.points,
            part.rows,
        ));
    }
    if calibration.parts().len() > SHOWN {
        said.push(format!("  and {} more", calibration.parts().len() - SHOWN));
    }
    if calibration.others().is_some() {
        said.push("  any other group: the threshold of all groups together".to_owned());
    }
    said
}
