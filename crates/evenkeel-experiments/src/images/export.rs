//! The corrupted images themselves, so that people can run classifiers of their own on them.

use std::fs;
use std::path::Path;

use evenkeel::seed::Seed;
use zip::CompressionMethod;

use super::fashion_softmax::{CORRUPTION_SEED, conditions_at};
use super::softmax::{integers, write_archive};
use crate::corruption::images_under;
use crate::error::{Error, Result};
use crate::fashion_mnist::{LabeledImages, Split};
use crate::image::SIDE;
use crate::npy;

/// Writes `clean.npz` and `NAME_SEVERITY.npz` into a folder, each with the arrays `images` (n x 28 x 28 bytes), `labels` and
/// `image_id`: the images that the softmax files of the experiments are made of, in the same order. Files that are there stay.
/// `step` is told how many files there are, and called after each.
pub fn export_images(
    folder: &Path,
    data_set: &Path,
    severities: &[u32],
    step: &dyn Fn(usize),
) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::at(folder))?;
    let mut conditions = conditions_at(severities)?;
    let file = |condition: &crate::corruption::Condition| folder.join(format!("{condition}.npz"));
    conditions.retain(|condition| !file(condition).exists());
    step(conditions.len());
    let images = LabeledImages::read(data_set, Split::Test)?;
    let ids: Vec<usize> = (0..images.len()).collect();
    for condition in conditions {
        let spoilt = images_under(condition, &images, &ids, Seed::new(CORRUPTION_SEED))?;
        let grey = |pixel: &f32| (pixel * 255.0).round() as u8;
        let bytes: Vec<u8> =
            spoilt.iter().flat_map(|image| image.pixels().iter().map(grey)).collect();
        let arrays = [
            ("images.npy", npy::image_bytes(&bytes, (SIDE, SIDE))),
            ("labels.npy", integers(images.labels())),
            ("image_id.npy", integers(&ids)),
        ];
        write_archive(&file(&condition), CompressionMethod::Deflated, arrays)?;
        step(1);
    }
    Ok(())
}
