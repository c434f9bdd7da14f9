//! Reads Fashion-MNIST (Zalando SE, MIT licence) as the Debian package `dataset-fashion-mnist` installs it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use evenkeel::score::Labels;
use flate2::read::GzDecoder;

use crate::error::{Error, Result};
use crate::image::{Image, PIXELS, SIDE};

/// Where the Debian package puts the files.
pub const DEFAULT_DIRECTORY: &str = "/usr/share/datasets/fashion-mnist";
/// Number of classes.
pub const CLASSES: usize = 10;
/// The classes in the order of their labels.
pub const CLASS_NAMES: [&str; CLASSES] = [
    "t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot",
];

/// First four bytes of an IDX file of bytes with three dimensions, and with one.
const IMAGES_MAGIC: u32 = 0x0803;
const LABELS_MAGIC: u32 = 0x0801;

/// A half of the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// 60 000 images to learn from.
    Train,
    /// 10 000 images to test on.
    Test,
}

impl Split {
    fn file_prefix(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "t10k",
        }
    }
}

/// Images with labels. An image's id is its position in the file, from 0.
#[derive(Debug, Clone)]
pub struct LabeledImages {
    bytes: Vec<[u8; PIXELS]>,
    labels: Labels,
}

impl LabeledImages {
    /// Images of 8-bit intensities with their labels, one per image, below [`CLASSES`].
    pub fn new(bytes: Vec<[u8; PIXELS]>, labels: Vec<usize>) -> Result<Self> {
        if bytes.len() != labels.len() {
            return Err(Error::CountMismatch { images: bytes.len(), labels: labels.len() });
        }
        Ok(Self { bytes, labels: Labels::new(labels, CLASSES)? })
    }

    /// Reads one split from a folder; files may be gzipped or not.
    pub fn read(directory: &Path, split: Split) -> Result<Self> {
        let prefix = split.file_prefix();
        let images = read_images(&directory.join(format!("{prefix}-images-idx3-ubyte")))?;
        let labels = read_labels(&directory.join(format!("{prefix}-labels-idx1-ubyte")))?;
        Self::new(images, labels)
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no image.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The image with this id.
    pub fn image(&self, id: usize) -> Result<Image> {
        let count = self.len();
        self.bytes.get(id).map(Image::from_bytes).ok_or(Error::NoSuchImage { id, count })
    }

    /// Labels of all images.
    pub fn labels(&self) -> &[usize] {
        self.labels.as_slice()
    }
}

fn read_images(path: &Path) -> Result<Vec<[u8; PIXELS]>> {
    let (path, mut file) = open(path)?;
    let count = read_header(&path, file.as_mut(), "images", IMAGES_MAGIC)?;
    let rows = read_number(&path, file.as_mut())?;
    let columns = read_number(&path, file.as_mut())?;
    if (rows, columns) != (SIDE, SIDE) {
        return Err(Error::WrongImageSize { path, rows, columns });
    }
    let bytes = read_exactly(&path, file.as_mut(), count.saturating_mul(PIXELS))?;
    Ok(bytes.as_chunks::<PIXELS>().0.to_vec())
}

fn read_labels(path: &Path) -> Result<Vec<usize>> {
    let (path, mut file) = open(path)?;
    let count = read_header(&path, file.as_mut(), "labels", LABELS_MAGIC)?;
    let bytes = read_exactly(&path, file.as_mut(), count)?;
    Ok(bytes.into_iter().map(usize::from).collect())
}

/// Opens `path` or `path.gz` and returns which one it was.
fn open(path: &Path) -> Result<(PathBuf, Box<dyn Read>)> {
    let mut zipped = path.as_os_str().to_owned();
    zipped.push(".gz");
    let zipped = PathBuf::from(zipped);
    // The packed file first: it is what the package installs.
    if zipped.exists() {
        let file = File::open(&zipped).map_err(Error::at(&zipped))?;
        Ok((zipped, Box::new(GzDecoder::new(BufReader::new(file)))))
    } else if path.exists() {
        let file = File::open(path).map_err(Error::at(path))?;
        Ok((path.to_path_buf(), Box::new(BufReader::new(file))))
    } else {
        Err(Error::MissingDataSet { path: path.to_path_buf() })
    }
}

/// Checks the first four bytes and returns the number of entries.
fn read_header(
    path: &Path,
    file: &mut dyn Read,
    kind: &'static str,
    expected: u32,
) -> Result<usize> {
    // The magic number tells element type and dimensions; labels read as images would be noise.
    let found = read_number(path, file)? as u32;
    if found != expected {
        return Err(Error::NotIdx { path: path.to_path_buf(), kind, found, expected });
    }
    read_number(path, file)
}

fn read_number(path: &Path, file: &mut dyn Read) -> Result<usize> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes).map_err(Error::at(path))?;
    Ok(u32::from_be_bytes(bytes) as usize)
}

/// Reads `expected` bytes up to the end of the file. Memory grows with what is there, not with what a header claims.
fn read_exactly(path: &Path, file: &mut dyn Read, expected: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let found = file
        // One byte more than expected, to notice a file that is longer than it says.
        .take((expected as u64).saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Error::at(path))?;
    if found == expected {
        Ok(bytes)
    } else {
        Err(Error::WrongLength { path: path.to_path_buf(), found, expected })
    }
}
