//! Writes NumPy's `.npy` files (format 1.0), enough for the demo's tables.

use std::fs;
use std::path::Path;

use evenkeel::rows::{Real, Rows};

use crate::error::{Error, Result};

/// A number that can be a little-endian entry of a `.npy` file.
pub trait Entry: Copy {
    /// NumPy's name of the type.
    const DESCRIPTION: &'static str;
    /// Appends the number's bytes.
    fn append_to(self, bytes: &mut Vec<u8>);
}

impl Entry for f32 {
    const DESCRIPTION: &'static str = "<f4";
    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Entry for u8 {
    const DESCRIPTION: &'static str = "|u1";
    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.push(self);
    }
}

impl Entry for i64 {
    const DESCRIPTION: &'static str = "<i8";
    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

/// Start of every file: the magic string and the version 1.0.
const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";
/// The data starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// The file of a vector.
pub fn vector_bytes<T: Entry>(values: &[T]) -> Vec<u8> {
    file_bytes(values, &format!("({},)", values.len()))
}

/// The file of a matrix in C order.
pub fn matrix_bytes<T: Entry + Real>(matrix: &Rows<'_, T>) -> Vec<u8> {
    file_bytes(matrix.values(), &format!("({}, {})", matrix.rows(), matrix.columns()))
}

/// The file of equally large images, row by row.
pub fn image_bytes<T: Entry>(values: &[T], (rows, columns): (usize, usize)) -> Vec<u8> {
    let images = values.len() / (rows * columns).max(1);
    file_bytes(values, &format!("({images}, {rows}, {columns})"))
}

/// Writes a vector to a file.
pub fn write_vector<T: Entry>(path: &Path, values: &[T]) -> Result<()> {
    fs::write(path, vector_bytes(values)).map_err(Error::at(path))
}

/// Writes a matrix to a file.
pub fn write_matrix<T: Entry + Real>(path: &Path, matrix: &Rows<'_, T>) -> Result<()> {
    fs::write(path, matrix_bytes(matrix)).map_err(Error::at(path))
}

fn file_bytes<T: Entry>(values: &[T], shape: &str) -> Vec<u8> {
    let description = T::DESCRIPTION;
    let mut header =
        format!("{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, two bytes of header length, the header, and the newline that ends it.
    let unpadded = MAGIC.len() + 2 + header.len() + 1;
    // Padded with blanks in front of the newline, as the format asks: readers map the data in
    // place.
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    // A header of a name and at most two numbers is far below 2^16 bytes.
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    values.iter().for_each(|value| value.append_to(&mut bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes NumPy 2 writes for `np.save(file, np.array([[1.5, 2.0]], dtype="float32"))`.
    #[test]
    fn a_matrix_is_what_numpy_writes() {
        let mut expected =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"
                .to_vec();
        expected.resize(127, b' ');
        expected.push(b'\n');
        expected.extend([0, 0, 0xc0, 0x3f, 0, 0, 0, 0x40]);
        let matrix = Rows::new("matrix", &[1.5_f32, 2.0], 2).unwrap();
        assert_eq!(matrix_bytes(&matrix), expected);
    }

    #[test]
    fn a_vector_has_a_shape_of_one_number() {
        let bytes = vector_bytes(&[7_i64, -1]);
        assert_eq!(bytes.len(), 128 + 16);
        let header = String::from_utf8_lossy(&bytes[10..128]);
        assert!(header.starts_with("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"));
        assert_eq!(bytes[136..], [0xff; 8]);
    }
}
