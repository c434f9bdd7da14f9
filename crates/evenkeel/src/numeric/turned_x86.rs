//! Squares of numbers in vector registers, turned round: rows become columns.
//!
//! Macros and not functions: registers pass through memory where a function is called, and which calls a compiler inlines depends on what
//! it is told about size. Closures would hinder it most: they need the instructions, and what calls them has not got them.

/// Eight registers of 512 bits, by the two ways to interleave pairs and the one to pick quarters for their type.
macro_rules! turned_eight {
    ($rows:expr, $low:ident, $high:ident, $quarters:ident) => {{
        let [a, b, c, d, e, f, g, h] = $rows;
        let even = [$low(a, b), $low(c, d), $low(e, f), $low(g, h)];
        let odd = [$high(a, b), $high(c, d), $high(e, f), $high(g, h)];
        // Quarters 0 and 2 of two registers, then 1 and 3: columns 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        let (a, b) = ($quarters::<0x88>(even[0], even[1]), $quarters::<0x88>(even[2], even[3]));
        let (c, d) = ($quarters::<0x88>(odd[0], odd[1]), $quarters::<0x88>(odd[2], odd[3]));
        let (e, f) = ($quarters::<0xdd>(even[0], even[1]), $quarters::<0xdd>(even[2], even[3]));
        let (g, h) = ($quarters::<0xdd>(odd[0], odd[1]), $quarters::<0xdd>(odd[2], odd[3]));
        [
            $quarters::<0x88>(a, b),
            $quarters::<0x88>(c, d),
            $quarters::<0x88>(e, f),
            $quarters::<0x88>(g, h),
            $quarters::<0xdd>(a, b),
            $quarters::<0xdd>(c, d),
            $quarters::<0xdd>(e, f),
            $quarters::<0xdd>(g, h),
        ]
    }};
}

/// Four registers of 256 bits, by the two ways to interleave pairs and the one to pick halves for their type.
macro_rules! turned_four {
    ($rows:expr, $low:ident, $high:ident, $halves:ident) => {{
        let [a, b, c, d] = $rows;
        let (even, odd) = ([$low(a, b), $low(c, d)], [$high(a, b), $high(c, d)]);
        [
            $halves::<0x20>(even[0], even[1]),
            $halves::<0x20>(odd[0], odd[1]),
            $halves::<0x31>(even[0], even[1]),
            $halves::<0x31>(odd[0], odd[1]),
        ]
    }};
}

pub(crate) use {turned_eight, turned_four};
