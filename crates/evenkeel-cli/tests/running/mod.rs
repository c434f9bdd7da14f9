//! Runs the program as a user does, in a directory that is removed in the end, on files written byte by byte.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("evenkeel-cli-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a name in the directory, whether or not it exists.
    pub(crate) fn at(&self, name: &str) -> String {
        self.0.join(name).into_os_string().into_string().unwrap()
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self.at(name)
    }

    /// Makes a directory and gives its path.
    pub(crate) fn folder(&self, name: &str) -> String {
        std::fs::create_dir_all(self.0.join(name)).unwrap();
        self.at(name)
    }

    /// Every file and directory below, with a fingerprint of its contents.
    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, u64> {
        let mut found = BTreeMap::new();
        collect(&self.0, &mut found);
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, u64>) {
    use std::hash::{DefaultHasher, Hash, Hasher};
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            // Where it leads may have no end.
            found.insert(path, 0);
        } else if path.is_dir() {
            collect(&path, found);
            found.insert(path, 0);
        } else {
            let mut hasher = DefaultHasher::new();
            std::fs::read(&path).unwrap_or_default().hash(&mut hasher);
            found.insert(path, hasher.finish());
        }
    }
}

/// What a run left: exit code, stdout, stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON document on stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        // A condition that was asked for is told there too: a log keeps stderr where stdout goes to a parser.
        let told = self.code == 1 && self.stderr.lines().all(|line| line.starts_with("failed: "));
        assert!(told || self.stderr.is_empty(), "a --json run says {} on stderr", self.stderr);
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// The run, after a check that it ended with 0.
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

/// The program under test: the one just built, or another that `EVENKEEL_TEST_BINARY` names (an installed or an older
/// one).
pub(crate) fn binary() -> std::ffi::OsString {
    std::env::var_os("EVENKEEL_TEST_BINARY")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_evenkeel").into())
}

/// The program, not yet started.
pub(crate) fn program() -> Command {
    let mut command = Command::new(binary());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

/// Runs the program.
pub(crate) fn run<S: AsRef<str>>(arguments: &[S]) -> Ran {
    finish(program().args(arguments.iter().map(AsRef::as_ref)))
}

/// The program under limits of the shell, such as `ulimit -v 1000000`.
#[cfg(unix)]
pub(crate) fn limited(limits: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).arg(binary());
    command.stdin(Stdio::null());
    command
}

/// Runs a prepared program to its end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the repository's demo data.
pub(crate) fn demo(name: &str) -> String {
    format!("{}/../../data/demo/{name}.npy", env!("CARGO_MANIFEST_DIR"))
}

/// A fixture of the reading crate.
pub(crate) fn fixture(name: &str) -> String {
    format!("{}/../evenkeel-io/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// An npy file of version 1 with any header.
pub(crate) fn npy_with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut header = header.to_owned();
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// An npy file in C order.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_with_header(
        &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"),
        data,
    )
}

/// A matrix of doubles.
pub(crate) fn npy_f64(values: &[f64], columns: usize) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("'<f8'", &format!("({}, {columns})", values.len() / columns), &data)
}

/// A vector of integers.
pub(crate) fn npy_i64(values: &[i64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("'<i8'", &format!("({},)", values.len()), &data)
}

/// An array read back: rows, columns and the bytes after the header.
pub(crate) struct Array {
    pub(crate) header: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) data: Vec<u8>,
}

impl Array {
    pub(crate) fn read(path: &str) -> Self {
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(&bytes[..6], b"\x93NUMPY");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
        let shape = header.split_once('(').unwrap().1.split_once(')').unwrap().0;
        let sizes: Vec<usize> =
            shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
        let (rows, columns) = (sizes[0], sizes.get(1).copied().unwrap_or(1));
        Self { header, rows, columns, data: bytes[10 + length..].to_vec() }
    }

    /// The numbers of a float32 or float64 array.
    pub(crate) fn floats(&self) -> Vec<f64> {
        if self.header.contains("<f4") {
            let words = self.data.chunks_exact(4);
            words.map(|word| f64::from(f32::from_le_bytes(word.try_into().unwrap()))).collect()
        } else {
            assert!(self.header.contains("<f8"), "{}", self.header);
            let words = self.data.chunks_exact(8);
            words.map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect()
        }
    }

    /// The numbers of an integer array of any width.
    pub(crate) fn integers(&self) -> Vec<i64> {
        let width = self.data.len() / (self.rows * self.columns);
        let words = self.data.chunks_exact(width);
        words
            .map(|word| {
                let mut long = [0; 8];
                long[..width].copy_from_slice(word);
                i64::from_le_bytes(long)
            })
            .collect()
    }
}

/// A csv file with every digit.
pub(crate) fn csv(values: &[f64], columns: usize) -> String {
    let line = |row: &[f64]| {
        row.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",") + "\n"
    };
    values.chunks_exact(columns).map(line).collect()
}

/// A zip archive of stored members, as `numpy.savez` writes it.
pub(crate) fn npz(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let offset = u32::try_from(bytes.len()).unwrap();
        let (size, name_size) =
            (u32::try_from(data.len()).unwrap(), u16::try_from(name.len()).unwrap());
        let mut shared = Vec::new();
        // Version, flags, method 0 (stored), time, date.
        for field in [20u16, 0, 0, 0, 0x21] {
            shared.extend_from_slice(&field.to_le_bytes());
        }
        for field in [crc32(data), size, size] {
            shared.extend_from_slice(&field.to_le_bytes());
        }
        shared.extend_from_slice(&name_size.to_le_bytes());
        shared.extend_from_slice(&0u16.to_le_bytes());
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend_from_slice(&shared);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(data);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&shared);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let (count, start) =
        (u16::try_from(members.len()).unwrap(), u32::try_from(bytes.len()).unwrap());
    let size = u32::try_from(directory.len()).unwrap();
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    bytes
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

/// Compares with a golden file below `tests`; `EVENKEEL_UPDATE_SNAPSHOTS=1` writes it instead.
pub(crate) fn assert_snapshot(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("EVENKEEL_UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; EVENKEEL_UPDATE_SNAPSHOTS=1 writes it"));
    for (number, (golden, found)) in golden.lines().zip(found.lines()).enumerate() {
        assert_eq!(golden, found, "{name}, line {}", number + 1);
    }
    assert!(golden == found, "{name}: {} bytes, now {}:\n{found}", golden.len(), found.len());
}
