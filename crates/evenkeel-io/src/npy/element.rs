//! `"<f4" -> f32`: element types of arrays, and numbers from their bytes.

use super::problem::NpyProblem;
use crate::block::Precision;
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::io::{self, Read};

/// Bytes decoded at a time where the file's type is not the buffer's.
const CHUNK_BYTES: usize = 1 << 16;

/// Byte order of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

/// What `|` and `=` stand for, and a type without a mark.
const NATIVE: Endian = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementType {
    kind: Kind,
    endian: Endian,
}

impl ElementType {
    /// From NumPy's type string, such as `<f4`.
    pub(crate) fn parse(descr: &str) -> Result<Self, NpyProblem> {
        let (endian, code) = match descr.split_at_checked(1) {
            Some(("<", code)) => (Endian::Little, code),
            Some((">", code)) => (Endian::Big, code),
            Some(("|" | "=", code)) => (NATIVE, code),
            _ => (NATIVE, descr),
        };
        let kind = match code {
            "f2" => Kind::F16,
            "f4" => Kind::F32,
            "f8" => Kind::F64,
            "i1" => Kind::I8,
            "i2" => Kind::I16,
            "i4" => Kind::I32,
            "i8" => Kind::I64,
            "u1" => Kind::U8,
            "u2" => Kind::U16,
            "u4" => Kind::U32,
            "u8" => Kind::U64,
            "b1" => Kind::Bool,
            // Never unpickled: a pickle runs code.
            _ if code.starts_with('O') => return Err(NpyProblem::Objects),
            _ if code.starts_with('V') => return Err(NpyProblem::Records),
            _ => {
                // The start of it: the text may be as long as a header.
                let descr = descr.chars().take(20).collect();
                return Err(NpyProblem::ElementType { descr });
            }
        };
        Ok(Self { kind, endian })
    }

    /// Bytes of one element in the file.
    pub(crate) fn bytes(self) -> usize {
        match self.kind {
            Kind::I8 | Kind::U8 | Kind::Bool => 1,
            Kind::F16 | Kind::I16 | Kind::U16 => 2,
            Kind::F32 | Kind::I32 | Kind::U32 => 4,
            Kind::F64 | Kind::I64 | Kind::U64 => 8,
        }
    }

    /// Precision the elements are read in.
    pub(crate) fn precision(self) -> Precision {
        match self.kind {
            Kind::F16 | Kind::F32 => Precision::Single,
            _ => Precision::Double,
        }
    }
}

/// Reads elements as numbers, through a small buffer where they need converting.
#[derive(Debug)]
pub(crate) struct ElementReader {
    element: ElementType,
    chunk: Vec<u8>,
}

impl ElementReader {
    pub(crate) fn new(element: ElementType) -> Self {
        Self { element, chunk: Vec::new() }
    }

    /// Fills `out` from an array of [`Precision::Single`].
    pub(crate) fn read_f32(&mut self, input: &mut dyn Read, out: &mut [f32]) -> io::Result<()> {
        if self.element.kind == Kind::F32 {
            // Straight into the buffer of the block: the bytes already are the numbers.
            input.read_exact(bytemuck::cast_slice_mut(out))?;
            if self.element.endian != NATIVE {
                out.iter_mut().for_each(|x| *x = f32::from_bits(x.to_bits().swap_bytes()));
            }
            return Ok(());
        }
        let endian = self.element.endian;
        self.in_chunks(input, out, |bytes, out| {
            // In slices: the crate converts those with vector instructions where the processor has
            // them.
            let mut halves = [f16::ZERO; 64];
            for (bytes, out) in bytes.chunks(128).zip(out.chunks_mut(64)) {
                let halves = &mut halves[..out.len()];
                for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *half = match endian {
                        Endian::Little => f16::from_le_bytes(*bytes),
                        Endian::Big => f16::from_be_bytes(*bytes),
                    };
                }
                halves.convert_to_f32_slice(out);
            }
        })
    }

    /// Fills `out` from an array of [`Precision::Double`]. Integers beyond 2^53 are rounded.
    pub(crate) fn read_f64(&mut self, input: &mut dyn Read, out: &mut [f64]) -> io::Result<()> {
        let ElementType { kind, endian } = self.element;
        if kind == Kind::F64 {
            input.read_exact(bytemuck::cast_slice_mut(out))?;
            if endian != NATIVE {
                out.iter_mut().for_each(|x| *x = f64::from_bits(x.to_bits().swap_bytes()));
            }
            return Ok(());
        }
        macro_rules! widen {
            ($integer:ty) => {
                |bytes: &[u8], out: &mut [f64]| {
                    let elements = bytes.as_chunks::<{ size_of::<$integer>() }>().0;
                    for (slot, bytes) in out.iter_mut().zip(elements) {
                        *slot = match endian {
                            Endian::Little => <$integer>::from_le_bytes(*bytes) as f64,
                            Endian::Big => <$integer>::from_be_bytes(*bytes) as f64,
                        };
                    }
                }
            };
        }
        match kind {
            Kind::I8 => self.in_chunks(input, out, widen!(i8)),
            Kind::I16 => self.in_chunks(input, out, widen!(i16)),
            Kind::I32 => self.in_chunks(input, out, widen!(i32)),
            Kind::I64 => self.in_chunks(input, out, widen!(i64)),
            Kind::U8 => self.in_chunks(input, out, widen!(u8)),
            Kind::U16 => self.in_chunks(input, out, widen!(u16)),
            Kind::U32 => self.in_chunks(input, out, widen!(u32)),
            Kind::U64 => self.in_chunks(input, out, widen!(u64)),
            Kind::Bool | Kind::F16 | Kind::F32 | Kind::F64 => {
                self.in_chunks(input, out, |bytes, out| {
                    for (slot, byte) in out.iter_mut().zip(bytes) {
                        // Any byte but 0 is true, as in NumPy.
                        *slot = if *byte == 0 { 0.0 } else { 1.0 };
                    }
                })
            }
        }
    }

    /// Reads the bytes of `out` piece by piece and decodes each.
    fn in_chunks<T>(
        &mut self,
        input: &mut dyn Read,
        out: &mut [T],
        decode: impl Fn(&[u8], &mut [T]),
    ) -> io::Result<()> {
        let bytes = self.element.bytes();
        // A fixed piece, whatever the block: reading and decoding then stay in the cache.
        self.chunk.resize(CHUNK_BYTES, 0);
        for out in out.chunks_mut(CHUNK_BYTES / bytes) {
            let chunk = &mut self.chunk[..out.len() * bytes];
            input.read_exact(chunk)?;
            decode(chunk, out);
        }
        Ok(())
    }
}
