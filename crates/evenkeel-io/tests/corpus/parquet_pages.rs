//! Parquet files put together page by page, for pages that the writer of the `parquet` crate does not make.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::Write;

/// A structure in thrift's compact protocol.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

impl Fields {
    fn head(mut self, field: u8, kind: u8) -> Self {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
        self
    }

    fn followed_by(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    fn i32(self, field: u8, value: usize) -> Self {
        self.head(field, 5).followed_by(&varint(2 * value))
    }

    fn i64(self, field: u8, value: usize) -> Self {
        self.head(field, 6).followed_by(&varint(2 * value))
    }

    fn flag(self, field: u8, value: bool) -> Self {
        self.head(field, if value { 1 } else { 2 })
    }

    fn text(self, field: u8, text: &str) -> Self {
        self.head(field, 8).followed_by(&text_bytes(text))
    }

    fn structure(self, field: u8, inner: Self) -> Self {
        self.head(field, 12).followed_by(&inner.end())
    }

    fn list(self, field: u8, kind: u8, items: &[Vec<u8>]) -> Self {
        let head = [vec![0xf0 | kind], varint(items.len())].concat();
        self.head(field, 9).followed_by(&head).followed_by(&items.concat())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn text_bytes(text: &str) -> Vec<u8> {
    [varint(text.len()), text.as_bytes().to_vec()].concat()
}

/// Codecs by their numbers in the format; those without an encoder here store what they are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Plain = 0,
    Snappy = 1,
    Gzip = 2,
    Brotli = 4,
    Lz4OfHadoop = 5,
    Zstd = 6,
    Lz4 = 7,
}

pub(crate) const CODECS: [Codec; 7] = [
    Codec::Plain,
    Codec::Snappy,
    Codec::Gzip,
    Codec::Brotli,
    Codec::Lz4OfHadoop,
    Codec::Zstd,
    Codec::Lz4,
];

impl Codec {
    fn packed(self, bytes: &[u8]) -> Vec<u8> {
        let length = bytes.len();
        match self {
            Self::Plain => bytes.to_vec(),
            Self::Snappy => {
                let stored = bytes
                    .chunks(60)
                    .flat_map(|chunk| [&[(chunk.len() as u8 - 1) << 2], chunk].concat());
                varint(length).into_iter().chain(stored).collect()
            }
            Self::Gzip => {
                let mut packing =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                packing.write_all(bytes).unwrap();
                packing.finish().unwrap()
            }
            Self::Brotli if length == 0 => vec![0x06],
            Self::Brotli => {
                let head = (length as u32 - 1) << 4 | 1 << 20;
                [&head.to_le_bytes()[..3], bytes, &[0x03]].concat()
            }
            Self::Lz4OfHadoop => {
                let block = lz4_flex::block::compress(bytes);
                let lengths = [length, block.len()].map(|length| (length as u32).to_be_bytes());
                [lengths.concat(), block].concat()
            }
            Self::Zstd => zstd::bulk::compress(bytes, 1).unwrap(),
            Self::Lz4 => lz4_flex::block::compress(bytes),
        }
    }
}

/// Version of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// Whether a column may lack values, or holds lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Required,
    Optional,
    Lists,
}

/// A page as it lies in the file, header first.
#[derive(Clone)]
pub(crate) struct Page {
    bytes: Vec<u8>,
    unpacked: usize,
    values: usize,
}

/// Levels of 0 and 1, eight to a byte.
fn levels(levels: &[bool]) -> Vec<u8> {
    if levels.is_empty() {
        return Vec::new();
    }
    let bytes = levels.chunks(8).map(|eight| {
        eight.iter().rev().fold(0, |byte, level| byte << 1 | u8::from(*level)) << (8 - eight.len())
            >> (8 - eight.len())
    });
    varint(levels.len().div_ceil(8) << 1 | 1).into_iter().chain(bytes).collect()
}

/// A data page whose header counts `values`, all there, in lists of `width`, and whose numbers are `body`.
pub(crate) fn data_page(
    (version, codec, shape): (Version, Codec, Shape),
    (values, width): (usize, usize),
    body: &[u8],
) -> Page {
    let repetitions = match shape {
        Shape::Lists => Some(levels(&(0..values).map(|at| at % width > 0).collect::<Vec<_>>())),
        _ => None,
    };
    let definitions = (shape != Shape::Required).then(|| levels(&vec![true; values]));
    let both = [repetitions, definitions].map(|levels| match (levels, version) {
        (Some(levels), Version::One) => {
            [(levels.len() as u32).to_le_bytes().to_vec(), levels].concat()
        }
        (levels, _) => levels.unwrap_or_default(),
    });
    let [repetitions, definitions] = &both;
    let unpacked = repetitions.len() + definitions.len() + body.len();
    let (kind, packed) = match version {
        Version::One => (0, codec.packed(&[&both.concat(), body].concat())),
        Version::Two => (3, [both.concat(), codec.packed(body)].concat()),
    };
    let header = Fields::default().i32(1, kind).i32(2, unpacked).i32(3, packed.len());
    let own = Fields::default().i32(1, values);
    let header = match version {
        Version::One => header.structure(5, own.i32(2, 0).i32(3, 3).i32(4, 3)),
        Version::Two => {
            let own = own.i32(2, 0).i32(3, values / width).i32(4, 0);
            let own = own.i32(5, definitions.len()).i32(6, repetitions.len());
            header.structure(8, own.flag(7, codec != Codec::Plain))
        }
    };
    Page { bytes: [header.end(), packed].concat(), unpacked, values }
}

/// A dictionary whose header counts `values`.
pub(crate) fn dictionary_page(codec: Codec, values: usize, body: &[u8]) -> Page {
    let packed = codec.packed(body);
    let header = Fields::default().i32(1, 2).i32(2, body.len()).i32(3, packed.len());
    let header = header.structure(7, Fields::default().i32(1, values).i32(2, 0));
    Page { bytes: [header.end(), packed].concat(), unpacked: body.len(), values: 0 }
}

/// A file of one group of rows, whose columns of doubles "p0", "p1" and so on have these pages.
pub(crate) fn file(codec: Codec, shape: Shape, rows: usize, columns: &[Vec<Page>]) -> Vec<u8> {
    let mut bytes = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    let root = Fields::default().text(4, "schema").i32(5, columns.len());
    let mut schema = vec![root.end()];
    for (place, pages) in columns.iter().enumerate() {
        let (start, name) = (bytes.len(), format!("p{place}"));
        pages.iter().for_each(|page| bytes.extend(&page.bytes));
        let double = Fields::default().i32(1, 5);
        let path = match shape {
            Shape::Lists => {
                let outer = Fields::default().i32(3, 0).text(4, &name).i32(5, 1).i32(6, 3);
                let list = Fields::default().i32(3, 2).text(4, "list").i32(5, 1);
                schema.extend([outer.end(), list.end(), double.i32(3, 0).text(4, "element").end()]);
                vec![text_bytes(&name), text_bytes("list"), text_bytes("element")]
            }
            _ => {
                let optional = usize::from(shape == Shape::Optional);
                schema.push(double.i32(3, optional).text(4, &name).end());
                vec![text_bytes(&name)]
            }
        };
        let encodings = [varint(0), varint(6)];
        let chunk = Fields::default().i32(1, 5).list(2, 5, &encodings).list(3, 8, &path);
        let chunk = chunk
            .i32(4, codec as usize)
            .i64(5, pages.iter().map(|page| page.values).sum())
            .i64(6, pages.iter().map(|page| page.unpacked).sum())
            .i64(7, bytes.len() - start)
            .i64(9, start);
        chunks.push(Fields::default().i64(2, start).structure(3, chunk).end());
    }
    let group = Fields::default().list(1, 12, &chunks).i64(2, bytes.len()).i64(3, rows);
    let footer = Fields::default().i32(1, 2).list(2, 12, &schema).i64(3, rows);
    let footer = footer.list(4, 12, &[group.end()]).text(6, "by hand").end();
    let length = (footer.len() as u32).to_le_bytes();
    [bytes, footer, length.to_vec(), b"PAR1".to_vec()].concat()
}
