//! Streams a matrix file in blocks and says how fast, with how much memory: `stream FILE [BLOCK_BYTES]`.
#![allow(clippy::print_stdout)]

use evenkeel_io::{MatrixReader, MatrixSource, Result};
use std::time::Instant;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let argument = arguments.next().unwrap_or_default();
    let bytes = arguments.next().and_then(|bytes| bytes.parse().ok()).unwrap_or(4 << 20);
    let start = Instant::now();
    let mut reader = MatrixReader::open(&MatrixSource::parse(&argument)?)?;
    let block_rows = reader.rows_within(bytes);
    let (mut rows, mut blocks) = (0, 0);
    while let Some(block) = reader.next_block(block_rows)? {
        rows += block.row_count();
        blocks += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{rows} rows of {} in {blocks} blocks: {seconds:.3} s", reader.columns());
    // The high-water mark of resident memory, where the system tells.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
    Ok(())
}
