//! The disk that the store lies on.

use std::io;
use std::path::Path;

/// What the system says of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Disk {
    /// Bytes that this process may still write.
    pub free_bytes: u64,
    /// Whether it can be written to at all.
    pub access: DiskAccess,
}

/// Whether a disk can be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskAccess {
    ReadWrite,
    ReadOnly,
}

impl Disk {
    /// The disk of a file; none where the system has no such answer.
    #[cfg(unix)]
    pub(crate) fn of(file: &Path) -> io::Result<Option<Self>> {
        use rustix::fs::{StatVfsMountFlags, statvfs};
        let found = statvfs(file)?;
        let read_only = found.f_flag.contains(StatVfsMountFlags::RDONLY);
        Ok(Some(Self {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            access: if read_only { DiskAccess::ReadOnly } else { DiskAccess::ReadWrite },
        }))
    }

    /// The disk of a file; none where the system has no such answer.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Path) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Why batches could not be stored; none where they could.
    pub(crate) fn trouble(&self, needed: u64) -> Option<String> {
        match self.access {
            DiskAccess::ReadOnly => {
                Some("the disk of the store cannot be written to; mount it for writing".into())
            }
            DiskAccess::ReadWrite if self.free_bytes < needed => Some(format!(
                "{} MB are free on the disk of the store, and {} MB are asked for (--min-free); make room on it",
                self.free_bytes >> 20,
                needed >> 20
            )),
            DiskAccess::ReadWrite => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_in_trouble_when_it_is_full_or_closed() {
        let disk = Disk { free_bytes: 5 << 20, access: DiskAccess::ReadWrite };
        assert_eq!(disk.trouble(5 << 20), None);
        assert!(disk.trouble(6 << 20).is_some_and(|said| said.contains("5 MB are free")));
        let closed = Disk { access: DiskAccess::ReadOnly, ..disk };
        assert!(closed.trouble(0).is_some_and(|said| said.contains("cannot be written to")));
    }

    #[cfg(unix)]
    #[test]
    fn this_disk_can_be_asked() {
        assert!(Disk::of(Path::new(".")).unwrap().is_some());
        assert!(Disk::of(Path::new("no such file")).is_err());
    }
}
