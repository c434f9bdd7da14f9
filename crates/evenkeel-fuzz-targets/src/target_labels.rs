//! Labels of some target rows: refused, or pairs that can be written as a sheet and read again.

use evenkeel_io::{LabelNames, read_target_labels};

use crate::scratch::written;

/// A sheet or a column; the first byte says whether it is text or npy.
pub fn target_labels(data: &[u8]) {
    let Some((kind, contents)) = data.split_first() else { return };
    let name = if kind & 1 == 0 { "labels.csv" } else { "labels.npy" };
    let Ok(pairs) = read_target_labels(&written(name, contents), &LabelNames::None) else { return };
    let mut sheet = "row,label\n".to_owned();
    for (row, label) in &pairs {
        sheet += &format!("{row},{label}\n");
    }
    assert_eq!(
        read_target_labels(&written("again.csv", sheet.as_bytes()), &LabelNames::None).ok(),
        Some(pairs)
    );
}
