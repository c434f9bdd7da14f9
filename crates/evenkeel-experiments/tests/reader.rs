//! Reading IDX files: right ones, gzipped or not, and wrong ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use evenkeel_experiments::fashion_mnist::{LabeledImages, Split};
use flate2::{Compression, write::GzEncoder};

const IMAGES: &str = "t10k-images-idx3-ubyte";
const LABELS: &str = "t10k-labels-idx1-ubyte";

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reader").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn idx(magic: u32, dimensions: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = magic.to_be_bytes().to_vec();
    dimensions.iter().for_each(|size| bytes.extend(size.to_be_bytes()));
    bytes.extend(data);
    bytes
}

fn two_images() -> Vec<u8> {
    let pixels: Vec<u8> = (0..2 * 784).map(|index| (index % 251) as u8).collect();
    idx(0x0803, &[2, 28, 28], &pixels)
}

/// Writes the two files as they are and returns what reading them says.
fn error_of(name: &str, images: &[u8], labels: &[u8]) -> String {
    let folder = folder(name);
    fs::write(folder.join(IMAGES), images).unwrap();
    fs::write(folder.join(LABELS), labels).unwrap();
    LabeledImages::read(&folder, Split::Test).unwrap_err().to_string()
}

#[test]
fn plain_and_gzipped_files_are_read_alike() {
    let labels = idx(0x0801, &[2], &[9, 0]);
    for zipped in [false, true] {
        let folder = folder(if zipped { "zipped" } else { "plain" });
        for (name, bytes) in [(IMAGES, two_images()), (LABELS, labels.clone())] {
            if zipped {
                fs::write(folder.join(format!("{name}.gz")), gzipped(&bytes)).unwrap();
            } else {
                fs::write(folder.join(name), &bytes).unwrap();
            }
        }
        let read = LabeledImages::read(&folder, Split::Test).unwrap();
        assert_eq!((read.len(), read.labels()), (2, [9, 0].as_slice()));
        assert_eq!(read.image(0).unwrap().pixels()[250], 250.0 / 255.0);
        assert_eq!(read.image(1).unwrap().pixels()[0], (784 % 251) as f32 / 255.0);
    }
}

#[test]
fn a_missing_data_set_says_how_to_install_it() {
    let error = LabeledImages::read(&folder("empty"), Split::Train).unwrap_err().to_string();
    assert!(error.contains("train-images-idx3-ubyte was not found"), "{error}");
    assert!(error.contains("apt-get install dataset-fashion-mnist"), "{error}");
}

#[test]
fn wrong_files_are_refused_with_what_was_found() {
    let images = two_images();
    let labels = idx(0x0801, &[2], &[9, 0]);
    let says = |name: &str, images: &[u8], labels: &[u8], expected: &str| {
        let error = error_of(name, images, labels);
        assert!(error.contains(expected), "{error}");
    };
    says("swapped", &labels, &images, "starts with 0x00000801 where an IDX file of images");
    says("short", &images[..images.len() - 1], &labels, "holds 1567 bytes where");
    says("long", &[images.as_slice(), &[0]].concat(), &labels, "holds 1569 bytes where");
    says("header", &images[..10], &labels, IMAGES);
    says("size", &idx(0x0803, &[1, 32, 32], &[0; 1024]), &labels, "32 x 32 pixels");
    says("counts", &images, &idx(0x0801, &[1], &[3]), "2 images came with 1 labels");
    says("label", &images, &idx(0x0801, &[2], &[3, 10]), "10");
    // Four billion images claimed, none there: refused without reserving their memory.
    says("claims", &idx(0x0803, &[u32::MAX, 28, 28], &[]), &labels, "holds 0 bytes where");
    let damaged = folder("damaged");
    fs::write(damaged.join(format!("{IMAGES}.gz")), &gzipped(&images)[..60]).unwrap();
    let error = LabeledImages::read(&damaged, Split::Test).unwrap_err().to_string();
    assert!(error.contains("t10k-images-idx3-ubyte.gz: "), "{error}");
}
