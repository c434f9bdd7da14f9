//! The messages of a file or stream: a schema, dictionaries and batches of rows, found in one look over their heads.
//!
//! ```text
//! stream    message, message, ..., end      message: ffffffff, i32: bytes of its head | head | body
//! file      ARROW1 00 00 | stream | footer | i32: bytes of the footer | ARROW1
//! ```
//! The stream within a file holds all that its footer says, so that both are read alike.

use super::flat_table::FlatTable;
use super::problem::ArrowProblem;
use super::schema::{Field, fields};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

const MAGIC: &[u8; 6] = b"ARROW1";
/// The mark before a message; before 2019 there was none.
const CONTINUED: u32 = 0xffff_ffff;
/// Longest head of a message: a batch of a million columns has 80 MB.
const MAX_HEAD_BYTES: u64 = 128 << 20;
/// Metadata of version 4 and 5, those since 2017.
const FIRST_VERSION: i16 = 3;

const CUT_OFF: ArrowProblem = ArrowProblem::Damaged { what: "it ends early" };
const CONTRADICTION: ArrowProblem = ArrowProblem::Damaged { what: "a message contradicts itself" };

/// Where a message stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    head: u64,
    head_bytes: u64,
    body: u64,
    body_bytes: u64,
}

/// A batch of rows, or of entries of a dictionary.
#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    Rows { place: Place, rows: u64 },
    Dictionary { place: Place },
}

/// A file or stream after a look at its messages.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) file: Arc<File>,
    pub(super) fields: Vec<Field>,
    pub(super) all: Vec<Message>,
    pub(super) rows: u64,
}

impl Messages {
    pub(super) fn scan(file: File, length: u64) -> Result<Self, ArrowProblem> {
        let (mut at, end) = bounds(&file, length)?;
        let Some((place, head)) = next_message(&file, &mut at, end)? else {
            return Err(ArrowProblem::Magic);
        };
        let (kind, schema) = header(&head)?;
        if kind != Header::Schema {
            return Err(ArrowProblem::Magic);
        }
        let fields = fields(schema, head.len())?;
        at = place.body + place.body_bytes;
        let (mut all, mut rows) = (Vec::new(), 0_u64);
        while let Some((place, head)) = next_message(&file, &mut at, end)? {
            match header(&head)? {
                (Header::Rows, batch) => {
                    let count = u64::try_from(batch.i64(0, 0)?).map_err(|_| CONTRADICTION)?;
                    // Checked: counts are claims, and a sum that wraps around would look like a short file.
                    rows = rows.checked_add(count).ok_or(CONTRADICTION)?;
                    all.push(Message::Rows { place, rows: count });
                }
                (Header::Dictionary, _) => all.push(Message::Dictionary { place }),
                (Header::Schema, _) => return Err(CONTRADICTION),
            }
            at = place.body + place.body_bytes;
        }
        Ok(Self { file: Arc::new(file), fields, all, rows })
    }

    /// Reads the head of a message again: what it says of thousands of batches is not kept.
    pub(super) fn batch(&self, place: Place) -> Result<Batch, ArrowProblem> {
        let head = read_at(&self.file, place.head, place.head_bytes)?;
        let (kind, table) = header(&head)?;
        let (table, dictionary) = match kind {
            Header::Dictionary => {
                let delta = if table.u8(2, 0)? != 0 { Entries::Added } else { Entries::Replaced };
                (table.table(1)?.ok_or(CONTRADICTION)?, Some((table.i64(0, 0)?, delta)))
            }
            _ => (table, None),
        };
        let rows = u64::try_from(table.i64(0, 0)?).map_err(|_| CONTRADICTION)?;
        let pairs = |id: usize| -> Result<Vec<(u64, u64)>, ArrowProblem> {
            let Some(vector) = table.vector(id, 16)? else { return Ok(Vec::new()) };
            let numbers: Vec<i64> = vector.numbers().collect();
            let whole = |pair: &[i64; 2]| {
                let [first, second] = *pair;
                Some((u64::try_from(first).ok()?, u64::try_from(second).ok()?))
            };
            numbers.as_chunks::<2>().0.iter().map(|pair| whole(pair).ok_or(CONTRADICTION)).collect()
        };
        let (nodes, mut buffers) = (pairs(1)?, pairs(2)?);
        for (offset, length) in &mut buffers {
            let within = offset.checked_add(*length).is_some_and(|end| end <= place.body_bytes);
            if !within {
                return Err(ArrowProblem::Damaged { what: "a column lies outside the file" });
            }
            *offset += place.body;
        }
        let codec = match table.table(3)? {
            None => Codec::None,
            Some(compression) => match (compression.u8(0, 0)?, compression.u8(1, 0)?) {
                (0, 0) => Codec::Lz4,
                (1, 0) => Codec::Zstd,
                _ => return Err(ArrowProblem::Unread { what: "a compression of its own" }),
            },
        };
        let views = match table.vector(4, 8)? {
            None => Vec::new(),
            Some(counts) => counts
                .numbers()
                .map(|count| usize::try_from(count).map_err(|_| CONTRADICTION))
                .collect::<Result<_, _>>()?,
        };
        Ok(Batch { rows, nodes, buffers, codec, views, dictionary })
    }
}

/// What becomes of the entries that a dictionary has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    Replaced,
    Added,
}

/// How buffers are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Lz4,
    Zstd,
}

/// What a message says of its body.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) rows: u64,
    /// Length and nulls of every column and child.
    nodes: Vec<(u64, u64)>,
    /// Place in the file and length of every buffer; within the file.
    buffers: Vec<(u64, u64)>,
    pub(super) codec: Codec,
    /// Buffers of long texts, for every view.
    views: Vec<usize>,
    /// Of a dictionary: which, and what becomes of its entries.
    pub(super) dictionary: Option<(i64, Entries)>,
}

/// The nodes and buffers of one column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) nodes: Vec<(u64, u64)>,
    pub(super) buffers: Vec<(u64, u64)>,
}

impl Batch {
    /// The parts of every column; an error unless they are all the batch has.
    pub(super) fn columns(&self, fields: &[Field]) -> Result<Vec<Column>, ArrowProblem> {
        let (mut nodes, mut buffers, mut views) =
            (&self.nodes[..], &self.buffers[..], &self.views[..]);
        let mut columns = Vec::new();
        for field in fields {
            let (counts, later) = views.split_at_checked(field.views).ok_or(CONTRADICTION)?;
            views = later;
            let long = counts.iter().try_fold(0_usize, |sum, count| sum.checked_add(*count));
            let count =
                long.and_then(|long| long.checked_add(field.buffers)).ok_or(CONTRADICTION)?;
            let (own_nodes, later_nodes) =
                nodes.split_at_checked(field.nodes).ok_or(CONTRADICTION)?;
            let (own, later) = buffers.split_at_checked(count).ok_or(CONTRADICTION)?;
            (nodes, buffers) = (later_nodes, later);
            if own_nodes.first().is_none_or(|(rows, _)| *rows != self.rows) {
                return Err(ArrowProblem::Damaged { what: "a column is shorter than the table" });
            }
            columns.push(Column { nodes: own_nodes.to_vec(), buffers: own.to_vec() });
        }
        match nodes.is_empty() && buffers.is_empty() {
            true => Ok(columns),
            false => Err(CONTRADICTION),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    Schema,
    Dictionary,
    Rows,
}

/// What a message is.
fn header(head: &[u8]) -> Result<(Header, FlatTable<'_>), ArrowProblem> {
    let message = FlatTable::root(head)?;
    if message.i16(0, 0)? < FIRST_VERSION {
        return Err(ArrowProblem::Unread { what: "messages of a version before 2017" });
    }
    let kind = match message.u8(1, 0)? {
        1 => Header::Schema,
        2 => Header::Dictionary,
        3 => Header::Rows,
        _ => return Err(ArrowProblem::Unread { what: "something else than a table" }),
    };
    Ok((kind, message.table(2)?.ok_or(CONTRADICTION)?))
}

/// First and last place of the messages.
fn bounds(file: &File, length: u64) -> Result<(u64, u64), ArrowProblem> {
    let start = read_at(file, 0, length.min(8))?;
    if start.starts_with(b"FEA1") {
        return Err(ArrowProblem::FirstFeather);
    }
    if !start.starts_with(MAGIC) {
        return Ok((0, length));
    }
    // Magic at both ends and the footer's length between them: nothing shorter is whole.
    if length < 8 + 4 + 6 {
        return Err(ArrowProblem::Magic);
    }
    let end = read_at(file, length - 10, 10)?;
    if &end[4..] != MAGIC {
        return Err(ArrowProblem::Magic);
    }
    let footer = u32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    match (length - 10).checked_sub(u64::from(footer)).filter(|end| *end >= 8) {
        Some(end) => Ok((8, end)),
        None => Err(CUT_OFF),
    }
}

/// The message at `at`, which is then behind its head; none at the end.
fn next_message(
    file: &File,
    at: &mut u64,
    end: u64,
) -> Result<Option<(Place, Vec<u8>)>, ArrowProblem> {
    let word = |at: &mut u64| -> Result<u32, ArrowProblem> {
        if end.saturating_sub(*at) < 4 {
            return Err(CUT_OFF);
        }
        let bytes = read_at(file, *at, 4)?;
        *at += 4;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    // A stream may end without a word.
    if *at >= end {
        return Ok(None);
    }
    let mut length = word(at)?;
    if length == CONTINUED {
        length = word(at)?;
    }
    if length == 0 {
        return Ok(None);
    }
    let (head, head_bytes) = (*at, u64::from(length));
    // Compared with the file first: the claim may be 4 GB.
    if head_bytes > end - head {
        return Err(if head <= 8 { ArrowProblem::Magic } else { CUT_OFF });
    }
    if head_bytes > MAX_HEAD_BYTES {
        return Err(CONTRADICTION);
    }
    let bytes = read_at(file, head, head_bytes)?;
    let body_bytes = FlatTable::root(&bytes)?.i64(3, 0)?;
    let body_bytes = u64::try_from(body_bytes).map_err(|_| CONTRADICTION)?;
    let body = head + head_bytes;
    if body_bytes > end - body {
        return Err(CUT_OFF);
    }
    *at = body;
    Ok(Some((Place { head, head_bytes, body, body_bytes }, bytes)))
}

/// Bytes of the file, which are known to be there.
fn read_at(mut file: &File, at: u64, length: u64) -> Result<Vec<u8>, ArrowProblem> {
    let length = usize::try_from(length).map_err(|_| CUT_OFF)?;
    let mut bytes = vec![0; length];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(|_| CUT_OFF)
}
