//! The classifier as a safetensors file: `f32`, little-endian, tensors named and shaped as in the architecture.

use std::fs;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, serialize};

use super::Classifier;
use super::architecture::{PARAMETER_COUNT, TENSORS, range};
use crate::error::{Error, Result};

impl Classifier {
    /// The bytes of the classifier's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes: Vec<u8> = self.parameters.iter().flat_map(|value| value.to_le_bytes()).collect();
        let views = TENSORS
            .iter()
            .enumerate()
            .map(|(index, tensor)| {
                let range = range(index);
                let data = &bytes[4 * range.start..4 * range.end];
                Ok((tensor.name, TensorView::new(Dtype::F32, tensor.shape.to_vec(), data)?))
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|source| Error::NotSafetensors { source })?;
        serialize(views, None).map_err(|source| Error::NotSafetensors { source })
    }

    /// Reads the bytes of a classifier's file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let file =
            SafeTensors::deserialize(bytes).map_err(|source| Error::NotSafetensors { source })?;
        let mut parameters = Vec::with_capacity(PARAMETER_COUNT);
        // By name and in our order: a file may list its tensors in any.
        for tensor in &TENSORS {
            let view =
                file.tensor(tensor.name).map_err(|source| Error::NotSafetensors { source })?;
            // Checked before the bytes are read: a file of another network would load as noise.
            if view.dtype() != Dtype::F32 || view.shape() != tensor.shape {
                return Err(Error::WrongTensor {
                    name: tensor.name,
                    found: format!("{:?} {:?}", view.dtype(), view.shape()),
                    expected: format!("{:?} {:?}", Dtype::F32, tensor.shape),
                });
            }
            let (entries, _) = view.data().as_chunks::<4>();
            parameters.extend(entries.iter().map(|entry| f32::from_le_bytes(*entry)));
        }
        Ok(Self { parameters })
    }

    /// Writes the classifier's file.
    pub fn save(&self, path: &Path) -> Result<()> {
        fs::write(path, self.to_bytes()?).map_err(Error::at(path))
    }

    /// Reads a classifier's file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::from_bytes(&fs::read(path).map_err(Error::at(path))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel::seed::Seed;

    #[test]
    fn a_classifier_survives_its_file() {
        let classifier = Classifier::initialised(Seed::new(9));
        let bytes = classifier.to_bytes().unwrap();
        assert_eq!(Classifier::from_bytes(&bytes).unwrap(), classifier);
        assert_eq!(classifier.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let bytes = Classifier::initialised(Seed::new(9)).to_bytes().unwrap();
        assert!(Classifier::from_bytes(b"").is_err());
        assert!(Classifier::from_bytes(&bytes[..bytes.len() / 2]).is_err());
        let other = serialize(
            [("first_convolution.weight", TensorView::new(Dtype::F32, vec![1], &[0; 4]).unwrap())],
            None,
        );
        let error = Classifier::from_bytes(&other.unwrap()).unwrap_err().to_string();
        assert!(error.contains("F32 [1]") && error.contains("train_classifier"), "{error}");
    }
}
