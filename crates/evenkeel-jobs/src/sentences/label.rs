//! What labels will be worth, in words.

use super::check::{counted, points};
use crate::label::{LabelsFor, LabelsWorth};

/// What so many labels will tell, and what they are enough for.
pub fn worth(worth: &LabelsWorth) -> [String; 2] {
    let level = points(worth.level);
    let measured = format!(
        "{} {} a coverage near {level} % to within {:.1} points ({:.0}-{:.0} at {:.0} % confidence).",
        counted(worth.labels, "label"),
        if worth.labels == 1 { "tells" } else { "tell" },
        100.0 * worth.half_width,
        100.0 * worth.low,
        100.0 * worth.high,
        100.0 * worth.confidence,
    );
    let said = |needed: u64| if worth.labels >= needed { "enough" } else { "too few" };
    let corrected = format!(
        "A correction by few-labels uses any number of them; for a guarantee on average ({} labels) they are {}, with probability 0.9 \
         ({}) {}.",
        worth.needed_on_average,
        said(worth.needed_on_average),
        worth.needed_with_probability,
        said(worth.needed_with_probability),
    );
    [measured, corrected]
}

/// How many labels a half-width takes.
pub fn wanted(wanted: &LabelsFor) -> String {
    format!(
        "Knowing a coverage near {} % to within {} points takes {} labels at {:.0} % confidence.",
        points(wanted.level),
        points(wanted.half_width),
        wanted.labels,
        100.0 * wanted.confidence,
    )
}
