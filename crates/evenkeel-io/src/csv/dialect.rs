//! Delimiter and header of a csv file, from its first lines.

use std::collections::BTreeSet;

/// The number in a cell, white space around it aside.
pub(super) fn number(cell: &[u8]) -> Option<f64> {
    // `nan` and `inf` are numbers to the parser; the core refuses them with their row and column.
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

/// The delimiter of a file that starts with `text`: tab before `;` before `,` as they stand in the first line outside
/// quotes, because `;` and tab are chosen where the comma is taken by decimals.
pub(super) fn delimiter(text: &[u8]) -> u8 {
    let mut quoted = false;
    let (mut tab, mut semicolon) = (false, false);
    for byte in text {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            b'\t' if !quoted => tab = true,
            b';' if !quoted => semicolon = true,
            _ => {}
        }
    }
    // A file of one column has none of them; any delimiter reads it.
    match (tab, semicolon) {
        (true, _) => b'\t',
        (false, true) => b';',
        (false, false) => b',',
    }
}

/// Whether the first row is a header: some cell is not a number, and no other cell can only be data.
///
/// `a,b,c` and `,0,1,2` (an index column without a name) are headers. `0.1,oops,0.7` is a row with a mistake in it:
/// taking it for a header would drop it in silence.
pub(super) fn may_be_header<'a>(mut cells: impl Iterator<Item = &'a [u8]> + Clone) -> bool {
    cells.clone().any(|cell| number(cell).is_none())
        && !cells.any(|cell| number(cell).is_some() && cell.contains(&b'.'))
}

/// Whether the first row may be numbers that name the columns: whole, from 0, and no two alike. `0,1,2` is what programs write for
/// columns without names, `1,2,3` are classes called so.
pub(super) fn are_numbered<'a>(cells: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut seen = BTreeSet::new();
    let mut is_number = |cell: &'a [u8]| {
        !cell.is_empty() && cell.iter().all(u8::is_ascii_digit) && seen.insert(cell)
    };
    let mut count = 0;
    for cell in cells {
        if !is_number(cell) {
            return false;
        }
        count += 1;
    }
    count >= 2
}
