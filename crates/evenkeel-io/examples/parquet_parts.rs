//! `parquet_parts FOLDER MEGABYTES PARTS [SEED]`: a folder of parquet as large as asked for, from a seed, and calibration data beside it.
//!
//! ```text
//! FOLDER/cal.parquet                       2000 rows: id, label, p_0 .. p_9
//! FOLDER/target/day=0000/part.parquet      id, p_0 .. p_9, drawn from the same law
//! ```
//! For `scripts/large-table`, which measures the memory of the command line.

#![allow(clippy::print_stdout)]

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

const CLASSES: usize = 10;
/// Rows of a row group: what writers of large tables use.
const GROUP_ROWS: usize = 1 << 17;
/// Bytes of a row: ten doubles that do not compress, and an id.
const ROW_BYTES: usize = CLASSES * 8 + 12;

/// Well-mixed numbers from a counter (splitmix64).
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A row of probabilities, and a label drawn from it.
    fn row(&mut self) -> ([f64; CLASSES], usize) {
        let mut row = [0.0; CLASSES];
        // Cubes of exponential numbers: some rows are sure, some are not.
        row.fill_with(|| (-self.uniform().max(1e-300).ln()).powi(3) + 1e-9);
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= total);
        let mut left = self.uniform();
        let label = row.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        (row, label.unwrap_or(CLASSES - 1))
    }
}

fn write(path: &Path, rows: usize, labels: bool, draws: &mut Draws) -> Result<(), Box<dyn Error>> {
    let classes: String = (0..CLASSES).map(|class| format!("required double p_{class};")).collect();
    let label = if labels { "required int32 label;" } else { "" };
    let schema = format!("message table {{ required binary id (STRING); {label} {classes} }}");
    let schema = Arc::new(parquet::schema::parser::parse_message_type(&schema)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::new(properties))?;
    let mut written = 0;
    while written < rows {
        let count = GROUP_ROWS.min(rows - written);
        let drawn: Vec<([f64; CLASSES], usize)> = (0..count).map(|_| draws.row()).collect();
        let mut group = writer.next_row_group()?;
        let mut place = 0;
        while let Some(mut column) = group.next_column()? {
            match (place, labels) {
                (0, _) => {
                    let id =
                        |row: usize| ByteArray::from(format!("r{:010}", written + row).as_str());
                    let ids: Vec<ByteArray> = (0..count).map(id).collect();
                    column.typed::<ByteArrayType>().write_batch(&ids, None, None)?;
                }
                (1, true) => {
                    let labels: Result<Vec<i32>, _> =
                        drawn.iter().map(|(_, label)| i32::try_from(*label)).collect();
                    column.typed::<Int32Type>().write_batch(&labels?, None, None)?;
                }
                _ => {
                    let class = place - 1 - usize::from(labels);
                    let shares: Vec<f64> = drawn.iter().map(|(row, _)| row[class]).collect();
                    column.typed::<DoubleType>().write_batch(&shares, None, None)?;
                }
            }
            column.close()?;
            place += 1;
        }
        group.close()?;
        written += count;
    }
    writer.close()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, megabytes, parts, seed @ ..] = &arguments[..] else {
        return Err("parquet_parts FOLDER MEGABYTES PARTS [SEED]".into());
    };
    let (folder, megabytes, parts): (&Path, usize, usize) =
        (Path::new(folder), megabytes.parse()?, parts.parse()?);
    let mut draws = Draws(seed.first().map_or(Ok(0), |seed| seed.parse())?);
    std::fs::create_dir_all(folder)?;
    write(&folder.join("cal.parquet"), 2000, true, &mut draws)?;
    let rows = (megabytes << 20) / ROW_BYTES / parts.max(1);
    for part in 0..parts {
        let day = folder.join(format!("target/day={part:04}"));
        std::fs::create_dir_all(&day)?;
        write(&day.join("part.parquet"), rows, false, &mut draws)?;
    }
    println!("{} rows in {parts} parts", rows * parts);
    Ok(())
}
