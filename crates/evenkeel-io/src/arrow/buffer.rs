//! The bytes of one buffer, read on from where the last read ended and inflated on the way: memory is that of the step.

use super::messages::Codec;
use super::problem::ArrowProblem;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// Largest window of zstd, in powers of two: that of its highest usual level. Every open column may have one.
const WINDOW_LOG: u32 = 23;
/// Compressed bytes read at a time.
const INPUT_BYTES: usize = 1 << 14;
/// Bytes of bits read at a time.
const BIT_BYTES: usize = 1 << 10;

const SHORT: ArrowProblem = ArrowProblem::Damaged { what: "a column is shorter than the table" };

/// A piece of a file.
struct Piece {
    file: Arc<File>,
    at: u64,
    left: u64,
}

impl Read for Piece {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        // Every piece of the file has a place of its own; readers take turns.
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let found = file.read(&mut buffer[..most])?;
        self.at += found as u64;
        self.left -= found as u64;
        Ok(found)
    }
}

/// Reads one buffer from its start to its end.
pub(super) struct Buffer {
    // Offsets are read one by one; reads of more than its room go past it.
    input: BufReader<Box<dyn Read + Send>>,
}

impl Buffer {
    /// The buffer of this place and length.
    pub(super) fn open(
        file: &Arc<File>,
        (at, length): (u64, u64),
        codec: Codec,
    ) -> Result<Self, ArrowProblem> {
        let mut piece = Piece { file: Arc::clone(file), at, left: length };
        if codec == Codec::None || length == 0 {
            return Ok(Self::of(piece));
        }
        let mut inflated = [0; 8];
        piece.read_exact(&mut inflated).map_err(|_| SHORT)?;
        let inflated = match i64::from_le_bytes(inflated) {
            // Bytes that would not get smaller are kept as they are.
            -1 => return Ok(Self::of(piece)),
            claimed => u64::try_from(claimed).map_err(|_| SHORT)?,
        };
        let undecodable =
            |error: io::Error| ArrowProblem::Undecodable { reason: error.to_string() };
        // A claim that is too small ends the buffer; one that is too large is found by what is missing.
        Ok(match codec {
            Codec::Zstd => {
                let input = BufReader::with_capacity(INPUT_BYTES, piece);
                let mut decoder =
                    zstd::stream::read::Decoder::with_buffer(input).map_err(undecodable)?;
                decoder.window_log_max(WINDOW_LOG).map_err(undecodable)?;
                Self::of(decoder.take(inflated))
            }
            _ => Self::of(lz4_flex::frame::FrameDecoder::new(piece).take(inflated)),
        })
    }

    fn of(input: impl Read + Send + 'static) -> Self {
        Self { input: BufReader::with_capacity(INPUT_BYTES, Box::new(input)) }
    }

    /// Fills all of `bytes`.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> Result<(), ArrowProblem> {
        self.input.read_exact(bytes).map_err(|error| failed(&error))
    }

    /// Passes over bytes.
    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), ArrowProblem> {
        let passed = io::copy(&mut self.input.by_ref().take(bytes), &mut io::sink());
        match passed.map_err(|error| failed(&error))? == bytes {
            true => Ok(()),
            false => Err(SHORT),
        }
    }

    /// The rest, which must not be longer than `most`.
    pub(super) fn read_rest(&mut self, most: u64) -> Result<Vec<u8>, ArrowProblem> {
        let mut bytes = Vec::new();
        self.input
            .by_ref()
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| failed(&error))?;
        match bytes.len() as u64 <= most {
            true => Ok(bytes),
            false => Err(ArrowProblem::Unread { what: "compressed texts of more than 64 MB" }),
        }
    }
}

fn failed(error: &io::Error) -> ArrowProblem {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => SHORT,
        _ => ArrowProblem::Undecodable { reason: error.to_string() },
    }
}

/// Reads a buffer of bits, the lowest of a byte first.
pub(super) struct Bits {
    buffer: Buffer,
    /// Bytes that the buffer still has to have for the rows of the batch.
    left: u64,
    chunk: Vec<u8>,
    /// The next bit of `chunk`.
    next: usize,
}

impl Bits {
    /// Bits for so many rows.
    pub(super) fn new(buffer: Buffer, rows: u64) -> Self {
        Self { buffer, left: rows.div_ceil(8), chunk: Vec::new(), next: 0 }
    }

    /// The next bit.
    pub(super) fn next(&mut self) -> Result<bool, ArrowProblem> {
        if self.next == self.chunk.len() * 8 {
            let bytes = usize::try_from(self.left).unwrap_or(BIT_BYTES).min(BIT_BYTES);
            if bytes == 0 {
                return Err(SHORT);
            }
            self.chunk.resize(bytes, 0);
            self.buffer.read(&mut self.chunk)?;
            (self.left, self.next) = (self.left - bytes as u64, 0);
        }
        let bit = self.chunk[self.next / 8] >> (self.next % 8) & 1;
        self.next += 1;
        Ok(bit == 1)
    }
}
