//! The shipped demo data: the classifier's probabilities on test images, cut into roles that share no image.

use std::fs;
use std::path::Path;

use evenkeel::rows::Rows;
use evenkeel::seed::Seed;

use crate::classifier::Classifier;
use crate::corruption::{Condition, images_under};
use crate::draws::permutation;
use crate::error::{Error, Result};
use crate::fashion_mnist::{CLASSES, LabeledImages};
use crate::npy;

/// Names of the demo's conditions: none, a mild, a middle and a severe corruption, and one under which the classifier is
/// confident and wrong.
pub const CONDITIONS: [&str; 5] =
    ["clean", "gaussian_noise_1", "fog_3", "motion_blur_5", "shear_5"];

/// How many images play which role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleSizes {
    /// Clean images with labels.
    pub calibration: usize,
    /// Images without labels, under every condition.
    pub unlabeled: usize,
    /// Images with labels, under every condition.
    pub test: usize,
}

impl Default for RoleSizes {
    /// The sizes of the shipped files.
    fn default() -> Self {
        Self { calibration: 1000, unlabeled: 1000, test: 2000 }
    }
}

/// Which image plays which role; no image plays two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    /// Ids of the calibration images.
    pub calibration: Vec<usize>,
    /// Ids of the unlabeled images.
    pub unlabeled: Vec<usize>,
    /// Ids of the test images.
    pub test: Vec<usize>,
}

impl Roles {
    /// Deals the ids `0..count` out at random; each role in random order, so that its first rows are a sample too.
    pub fn deal(count: usize, sizes: RoleSizes, seed: Seed) -> Result<Self> {
        let needed = sizes.calibration + sizes.unlabeled + sizes.test;
        if needed > count {
            return Err(Error::TooFewImages { needed, found: count });
        }
        // One order for all roles: what is dealt to one cannot be dealt to another.
        let mut order = permutation(&mut seed.stream("demo-roles"), count).into_iter();
        let mut take = |size| order.by_ref().take(size).collect();
        Ok(Self {
            calibration: take(sizes.calibration),
            unlabeled: take(sizes.unlabeled),
            test: take(sizes.test),
        })
    }
}

/// A file of the demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// All files of the demo.
pub fn demo_files(
    images: &LabeledImages,
    classifier: &Classifier,
    sizes: RoleSizes,
    seed: Seed,
) -> Result<Vec<DemoFile>> {
    let roles = Roles::deal(images.len(), sizes, seed)?;
    let mut files = Vec::new();
    let mut add = |name: String, bytes| files.push(DemoFile { name, bytes });
    let probabilities = |condition, ids: &[usize]| {
        let spoilt = images_under(condition, images, ids, seed)?;
        let probabilities = classifier.probabilities(&spoilt)?;
        Ok::<_, Error>(npy::matrix_bytes(&Rows::new("probabilities", &probabilities, CLASSES)?))
    };
    let labels = |ids: &[usize]| integers(ids.iter().map(|id| images.labels()[*id]));

    add("calibration_probs.npy".into(), probabilities(Condition::Clean, &roles.calibration)?);
    add("calibration_labels.npy".into(), labels(&roles.calibration));
    // The ids ship too, so that anyone can check that no image plays two roles.
    add("calibration_ids.npy".into(), integers(roles.calibration.iter().copied()));
    add("unlabeled_ids.npy".into(), integers(roles.unlabeled.iter().copied()));
    add("test_ids.npy".into(), integers(roles.test.iter().copied()));
    for name in CONDITIONS {
        let condition: Condition = name.parse()?;
        add(format!("{name}_unlabeled.npy"), probabilities(condition, &roles.unlabeled)?);
        add(format!("{name}_test_probs.npy"), probabilities(condition, &roles.test)?);
        add(format!("{name}_test_labels.npy"), labels(&roles.test));
    }
    Ok(files)
}

/// Writes files into a folder, made if it is not there.
pub fn write_files(files: &[DemoFile], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Error::at(directory))?;
    for file in files {
        let path = directory.join(&file.name);
        fs::write(&path, &file.bytes).map_err(Error::at(&path))?;
    }
    Ok(())
}

/// The file of a vector of small whole numbers.
fn integers(values: impl Iterator<Item = usize>) -> Vec<u8> {
    let values: Vec<i64> = values.map(usize::cast_signed).map(|value| value as i64).collect();
    npy::vector_bytes(&values)
}
