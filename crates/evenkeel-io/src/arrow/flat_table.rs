//! Tables of the flatbuffers format, in which Arrow writes what it says of itself. Every offset and length is compared with the
//! bytes that are there.
//!
//! ```text
//! table    i32: distance back to its vtable | fields
//! vtable   u16: its bytes | u16: bytes of the table | u16 for each field: where it stands in the table, 0 where it is left out
//! vector   u32: number of elements | elements
//! ```

use super::problem::ArrowProblem;

const CONTRADICTION: ArrowProblem =
    ArrowProblem::Damaged { what: "what it says of itself contradicts itself" };

/// `N` bytes at a place.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], ArrowProblem> {
    let found = at.checked_add(N).and_then(|end| bytes.get(at..end));
    found.and_then(|found| found.try_into().ok()).ok_or(CONTRADICTION)
}

/// The place that a distance at `at` leads to.
fn led_from(bytes: &[u8], at: usize) -> Result<usize, ArrowProblem> {
    let distance = u32::from_le_bytes(bytes_at(bytes, at)?);
    at.checked_add(distance as usize).filter(|to| *to < bytes.len()).ok_or(CONTRADICTION)
}

/// A table among bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlatTable<'a> {
    bytes: &'a [u8],
    at: usize,
    vtable: usize,
    vtable_length: usize,
}

impl<'a> FlatTable<'a> {
    /// The table that bytes begin with.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self, ArrowProblem> {
        Self::at(bytes, led_from(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Result<Self, ArrowProblem> {
        let back = i64::from(i32::from_le_bytes(bytes_at(bytes, at)?));
        let vtable = i64::try_from(at).ok().and_then(|at| at.checked_sub(back));
        let vtable = vtable.and_then(|at| usize::try_from(at).ok()).ok_or(CONTRADICTION)?;
        let vtable_length = usize::from(u16::from_le_bytes(bytes_at(bytes, vtable)?));
        let whole = vtable.checked_add(vtable_length).is_some_and(|end| end <= bytes.len());
        match vtable_length >= 4 && whole {
            true => Ok(Self { bytes, at, vtable, vtable_length }),
            false => Err(CONTRADICTION),
        }
    }

    /// Where a field stands; none where it is left out and has its default.
    fn field(&self, id: usize) -> Result<Option<usize>, ArrowProblem> {
        let slot = 4 + 2 * id;
        if slot + 2 > self.vtable_length {
            return Ok(None);
        }
        match u16::from_le_bytes(bytes_at(self.bytes, self.vtable + slot)?) {
            0 => Ok(None),
            offset => Ok(Some(self.at + usize::from(offset))),
        }
    }

    pub(super) fn u8(&self, id: usize, default: u8) -> Result<u8, ArrowProblem> {
        let at = self.field(id)?;
        at.map_or(Ok(default), |at| Ok(u8::from_le_bytes(bytes_at(self.bytes, at)?)))
    }

    pub(super) fn i16(&self, id: usize, default: i16) -> Result<i16, ArrowProblem> {
        let at = self.field(id)?;
        at.map_or(Ok(default), |at| Ok(i16::from_le_bytes(bytes_at(self.bytes, at)?)))
    }

    pub(super) fn i32(&self, id: usize, default: i32) -> Result<i32, ArrowProblem> {
        let at = self.field(id)?;
        at.map_or(Ok(default), |at| Ok(i32::from_le_bytes(bytes_at(self.bytes, at)?)))
    }

    pub(super) fn i64(&self, id: usize, default: i64) -> Result<i64, ArrowProblem> {
        let at = self.field(id)?;
        at.map_or(Ok(default), |at| Ok(i64::from_le_bytes(bytes_at(self.bytes, at)?)))
    }

    pub(super) fn table(&self, id: usize) -> Result<Option<Self>, ArrowProblem> {
        let Some(at) = self.field(id)? else { return Ok(None) };
        Self::at(self.bytes, led_from(self.bytes, at)?).map(Some)
    }

    pub(super) fn text(&self, id: usize) -> Result<&'a str, ArrowProblem> {
        let Some(text) = self.vector(id, 1)? else { return Ok("") };
        std::str::from_utf8(text.elements()).map_err(|_| CONTRADICTION)
    }

    /// A vector of elements of so many bytes.
    pub(super) fn vector(
        &self,
        id: usize,
        width: usize,
    ) -> Result<Option<FlatVector<'a>>, ArrowProblem> {
        let Some(at) = self.field(id)? else { return Ok(None) };
        let at = led_from(self.bytes, at)?;
        let count = u32::from_le_bytes(bytes_at(self.bytes, at)?) as usize;
        let start = at + 4;
        let end = count.checked_mul(width).and_then(|bytes| start.checked_add(bytes));
        match end.filter(|end| *end <= self.bytes.len()) {
            Some(_) => Ok(Some(FlatVector { bytes: self.bytes, start, count, width })),
            None => Err(CONTRADICTION),
        }
    }
}

/// A vector among bytes, which holds as many elements as it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlatVector<'a> {
    bytes: &'a [u8],
    start: usize,
    count: usize,
    width: usize,
}

impl<'a> FlatVector<'a> {
    fn elements(&self) -> &'a [u8] {
        &self.bytes[self.start..self.start + self.count * self.width]
    }

    /// The tables that elements of four bytes lead to.
    pub(super) fn tables(&self) -> impl Iterator<Item = Result<FlatTable<'a>, ArrowProblem>> {
        let (bytes, start) = (self.bytes, self.start);
        let table = move |index: usize| FlatTable::at(bytes, led_from(bytes, start + 4 * index)?);
        (0..self.count).map(table)
    }

    /// Whole numbers of eight bytes, all of them or in pairs.
    pub(super) fn numbers(&self) -> impl Iterator<Item = i64> + 'a {
        let number = |bytes: &[u8; 8]| i64::from_le_bytes(*bytes);
        self.elements().as_chunks::<8>().0.iter().map(number)
    }
}
