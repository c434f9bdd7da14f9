//! Which groups stand alone, and which are merged because they have too few points for the level.
//!
//! ```text
//! small   v / (v + 1) < 1 - alpha      no threshold but infinity reaches the level
//! rest    all small groups together, last
//! ```
//! `v` is a number of calibration points, their weight, or the target rows expected in a class.

use serde::{Deserialize, Serialize};

use super::rank::is_too_little;
use crate::error::{Error, Result};
use crate::level::Miscoverage;

/// What becomes of groups with too few points for a finite threshold at the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallGroups {
    /// They share one threshold, found from all of their points.
    #[default]
    Merge,
    /// They are an error that says how many points they need.
    Refuse,
    /// Their sets hold every label (per class: they are in every set), which covers at any level.
    AllLabels,
}

impl SmallGroups {
    /// All of them, as they are written.
    pub const NAMES: [&'static str; 3] = ["merge", "refuse", "all-labels"];

    /// From its name.
    ///
    /// # Errors
    /// `UnknownName` for any other.
    pub fn of_name(name: &str) -> Result<Self> {
        match name {
            "merge" => Ok(Self::Merge),
            "refuse" => Ok(Self::Refuse),
            "all-labels" => Ok(Self::AllLabels),
            _ => Err(Error::UnknownName {
                what: "way to treat small groups",
                found: name.to_owned(),
                near: Self::NAMES.to_vec(),
            }),
        }
    }
}

/// What a threshold rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Points of one group.
    Own,
    /// Points of all small groups together.
    Rest,
    /// Nothing: too few points, and every label is taken.
    AllLabels,
}

impl Standing {
    /// As it is written in files and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Rest => "rest",
            Self::AllLabels => "all-labels",
        }
    }
}

/// Groups that share a threshold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Indices of the groups, increasing.
    pub members: Vec<usize>,
    /// What their threshold rests on.
    pub standing: Standing,
}

/// Divides groups by their sizes: those that are large enough alone, the small ones as `small` says. `name` says what a
/// group is called and `points` what its size counts, for errors.
///
/// # Errors
/// If small groups are refused, or are too small even together.
pub fn parts(
    sizes: &[f64],
    alpha: Miscoverage,
    small: SmallGroups,
    (name, points): (&dyn Fn(usize) -> String, &'static str),
) -> Result<Vec<Part>> {
    let is_small = |group: &usize| is_too_little(sizes[*group], alpha);
    let (few, enough): (Vec<usize>, Vec<usize>) = (0..sizes.len()).partition(is_small);
    let own = |group| Part { members: vec![group], standing: Standing::Own };
    let mut found: Vec<Part> = enough.into_iter().map(own).collect();
    if few.is_empty() {
        return Ok(found);
    }
    let together: f64 = few.iter().map(|group| sizes[*group]).sum();
    match small {
        SmallGroups::AllLabels => found.extend(
            few.into_iter()
                .map(|group| Part { members: vec![group], standing: Standing::AllLabels }),
        ),
        SmallGroups::Merge if !is_too_little(together, alpha) => {
            found.push(Part { members: few, standing: Standing::Rest });
        }
        SmallGroups::Merge | SmallGroups::Refuse => {
            return Err(Error::GroupsTooSmall {
                small: few.iter().map(|group| (name(*group), sizes[*group])).collect(),
                points,
                together,
                least: super::rank::least_points(alpha),
                level: alpha.level().get(),
                merged: small == SmallGroups::Merge,
            });
        }
    }
    // Files and documents list groups in the order of their first member, whatever became of them.
    found.sort_by_key(|part| part.members[0]);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(sizes: &[f64], small: SmallGroups) -> Result<Vec<Part>> {
        let alpha = Miscoverage::new(0.1).unwrap();
        parts(sizes, alpha, small, (&|group| format!("class {group}"), "calibration points"))
    }

    #[test]
    fn small_groups_are_merged_refused_or_given_every_label() {
        let sizes = [9.0, 4.0, 30.0, 5.0, 0.0];
        let merged = divided(&sizes, SmallGroups::Merge).unwrap();
        assert_eq!(merged.len(), 3);
        assert_eq!(merged[1], Part { members: vec![1, 3, 4], standing: Standing::Rest });
        assert_eq!(merged[2], Part { members: vec![2], standing: Standing::Own });
        let full = divided(&sizes, SmallGroups::AllLabels).unwrap();
        assert_eq!(full.len(), 5);
        assert!(full.iter().filter(|part| part.standing == Standing::AllLabels).count() == 3);
        let refused = divided(&sizes, SmallGroups::Refuse).unwrap_err().to_string();
        assert!(refused.contains("class 1 has 4") && refused.contains("at least 9"), "{refused}");
        let refused = divided(&[9.0, 4.0, 4.0], SmallGroups::Merge).unwrap_err().to_string();
        assert!(refused.contains("class 2 has 4, 8 together"), "{refused}");
        let refused = divided(&[9.0, 8.0], SmallGroups::Merge).unwrap_err().to_string();
        assert!(
            refused.contains("class 1 has 8") && refused.contains("no other small"),
            "{refused}"
        );
    }
}
