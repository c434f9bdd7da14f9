//! What the columns of a table are, and how many buffers each of them has.

use super::flat_table::FlatTable;
use super::problem::ArrowProblem;
use crate::block::Precision;
use crate::instant::Clock;

/// Deeper than columns of tables are nested; the walk recurses, and a hostile file must not overflow the stack.
const MAX_DEPTH: usize = 24;

/// How the bytes of a column of numbers are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Number {
    pub(super) fn precision(self) -> Precision {
        match self {
            Self::F16 | Self::F32 => Precision::Single,
            _ => Precision::Double,
        }
    }

    /// Bytes of one number; those of truth values are bits.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    fn whole(width: i32, signed: bool) -> Option<Self> {
        Some(match (width, signed) {
            (8, true) => Self::I8,
            (16, true) => Self::I16,
            (32, true) => Self::I32,
            (64, true) => Self::I64,
            (8, false) => Self::U8,
            (16, false) => Self::U16,
            (32, false) => Self::U32,
            (64, false) => Self::U64,
            _ => return None,
        })
    }
}

/// Bytes of an offset into lists or texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offsets {
    Four,
    Eight,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number(Number),
    /// Lists of any length; the number is what they hold.
    List(Offsets, Number),
    /// Lists of this length.
    FixedList(u64, Number),
    Text(Offsets),
    /// Texts whose long ones stand in buffers of their own.
    TextView,
    /// Days from 1970.
    Days,
    /// Instants in so many units a second, and whose; days in milliseconds are among them.
    Instant(i64, Clock),
    /// Units of `10^-scale`, of 128 bits.
    Decimal(i32),
    /// Numbers of entries in a dictionary.
    Dictionary {
        id: i64,
        index: Number,
        value: Box<Kind>,
    },
    /// Something else, in words.
    Other(&'static str),
}

/// A column, and what has to be passed over to come to the next.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) nodes: usize,
    /// Buffers, but for those of views, which every batch counts anew.
    pub(super) buffers: usize,
    pub(super) views: usize,
}

/// The columns of a schema.
pub(super) fn fields(schema: FlatTable<'_>, bytes: usize) -> Result<Vec<Field>, ArrowProblem> {
    if schema.i16(0, 0)? != 0 {
        return Err(ArrowProblem::Unread { what: "numbers with their first byte first" });
    }
    let Some(columns) = schema.vector(1, 4)? else { return Ok(Vec::new()) };
    // Children may be shared: a few bytes could stand for billions of fields.
    let mut left = bytes;
    columns.tables().map(|field| Field::of(field?, 0, &mut left)).collect()
}

const NESTED: ArrowProblem = ArrowProblem::Damaged { what: "its columns are nested too deeply" };

impl Field {
    fn of(field: FlatTable<'_>, depth: usize, left: &mut usize) -> Result<Self, ArrowProblem> {
        *left = left.checked_sub(1).ok_or(NESTED)?;
        if depth > MAX_DEPTH {
            return Err(NESTED);
        }
        let name = field.text(0)?.to_owned();
        let children: Vec<Self> = match field.vector(5, 4)? {
            Some(children) => children
                .tables()
                .map(|child| Self::of(child?, depth + 1, left))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let (kind, buffers, is_view) = kind_of(field, &children)?;
        if let Some(dictionary) = field.table(4)? {
            let index = match dictionary.table(1)? {
                Some(index) => Number::whole(index.i32(0, 0)?, index.u8(1, 0)? != 0),
                None => Some(Number::I32),
            };
            let index =
                index.ok_or(ArrowProblem::Damaged { what: "a dictionary has no numbers" })?;
            let kind = Kind::Dictionary { id: dictionary.i64(0, 0)?, index, value: Box::new(kind) };
            // The column holds numbers; what they stand for is in batches of its own.
            return Ok(Self { name, kind, nodes: 1, buffers: 2, views: 0 });
        }
        let sum = |of: fn(&Self) -> usize| children.iter().map(of).sum::<usize>();
        Ok(Self {
            name,
            kind,
            nodes: 1 + sum(|child| child.nodes),
            buffers: buffers + sum(|child| child.buffers),
            views: usize::from(is_view) + sum(|child| child.views),
        })
    }

    /// What the column holds, in words.
    pub(super) fn words(&self) -> String {
        match &self.kind {
            Kind::Number(_) => "numbers",
            Kind::List(..) | Kind::FixedList(..) => "lists",
            Kind::Text(_) | Kind::TextView => "text",
            Kind::Days | Kind::Instant(..) => "dates",
            Kind::Decimal(_) => "decimals",
            Kind::Dictionary { .. } => "categories",
            Kind::Other(words) => words,
        }
        .to_owned()
    }
}

/// What a field holds, its own buffers, and whether it is a view.
fn kind_of(field: FlatTable<'_>, children: &[Field]) -> Result<(Kind, usize, bool), ArrowProblem> {
    let kind = field.u8(2, 0)?;
    // Types without settings may be written as no table at all.
    let settings = field.table(3)?;
    let setting = |id: usize, default: i16| settings.map_or(Ok(default), |of| of.i16(id, default));
    let numbers = match children {
        [Field { kind: Kind::Number(number), .. }] => Some(*number),
        _ => None,
    };
    let of_list = |list: fn(Offsets, Number) -> Kind, offsets| match numbers {
        Some(number) => list(offsets, number),
        None => Kind::Other("lists of something else than numbers"),
    };
    let unknown = ArrowProblem::Unread { what: "columns of a type of its own" };
    Ok(match kind {
        1 => (Kind::Other("nothing"), 0, false),
        2 => {
            let (width, signed) = match settings {
                Some(of) => (of.i32(0, 0)?, of.u8(1, 0)? != 0),
                None => (0, false),
            };
            let number = Number::whole(width, signed).ok_or(unknown)?;
            (Kind::Number(number), 2, false)
        }
        3 => {
            let number = match setting(0, 0)? {
                0 => Number::F16,
                1 => Number::F32,
                2 => Number::F64,
                _ => return Err(unknown),
            };
            (Kind::Number(number), 2, false)
        }
        4 | 19 => (Kind::Other("bytes"), 3, false),
        5 => (Kind::Text(Offsets::Four), 3, false),
        20 => (Kind::Text(Offsets::Eight), 3, false),
        6 => (Kind::Number(Number::Bool), 2, false),
        7 => {
            let of =
                |id: usize, default: i32| settings.map_or(Ok(default), |of| of.i32(id, default));
            match of(2, 128)? {
                128 => (Kind::Decimal(of(1, 0)?), 2, false),
                _ => (Kind::Other("decimals"), 2, false),
            }
        }
        8 => match setting(0, 1)? {
            0 => (Kind::Days, 2, false),
            _ => (Kind::Instant(1_000, Clock::Wall), 2, false),
        },
        10 => {
            let units = match setting(0, 0)? {
                0 => 1,
                1 => 1_000,
                2 => 1_000_000,
                _ => 1_000_000_000,
            };
            let zone = settings.map_or(Ok(""), |of| of.text(1))?;
            let clock = if zone.is_empty() { Clock::Wall } else { Clock::Utc };
            (Kind::Instant(units, clock), 2, false)
        }
        9 | 11 | 18 => (Kind::Other("times"), 2, false),
        12 => (of_list(Kind::List, Offsets::Four), 2, false),
        21 => (of_list(Kind::List, Offsets::Eight), 2, false),
        13 => (Kind::Other("records"), 1, false),
        14 => (Kind::Other("unions"), if setting(0, 0)? == 0 { 1 } else { 2 }, false),
        15 => (Kind::Other("bytes"), 2, false),
        16 => {
            let length = settings.map_or(Ok(0), |of| of.i32(0, 0))?;
            let kind = match (u64::try_from(length), numbers) {
                (Ok(length), Some(number)) => Kind::FixedList(length, number),
                _ => Kind::Other("lists of something else than numbers"),
            };
            (kind, 1, false)
        }
        17 => (Kind::Other("maps"), 2, false),
        22 => (Kind::Other("runs"), 0, false),
        23 => (Kind::Other("bytes"), 2, true),
        24 => (Kind::TextView, 2, true),
        25 | 26 => (Kind::Other("lists in pieces"), 3, false),
        _ => return Err(unknown),
    })
}
