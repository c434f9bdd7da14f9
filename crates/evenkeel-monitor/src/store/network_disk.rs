//! Disks of other machines. Locks and shared memory, on which SQLite's journal depends, do not hold there: two writers would damage the store.

use std::path::Path;

/// Kinds of file systems that lie on another machine, as `statfs` numbers them (`linux/magic.h`).
#[cfg(target_os = "linux")]
const NETWORK: [(u32, &str); 6] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB2"),
    (0x5346_414F, "AFS"),
    (0x7375_7245, "Coda"),
];

/// The kind of network disk that a file lies on; none if its disk is a local one, or the system does not say.
#[cfg(target_os = "linux")]
pub(super) fn network_disk(file: &Path) -> Option<&'static str> {
    kind_of(rustix::fs::statfs(file).ok()?.f_type)
}

/// The kind of network disk that a file lies on; none if its disk is a local one, or the system does not say.
#[cfg(not(target_os = "linux"))]
pub(super) fn network_disk(_: &Path) -> Option<&'static str> {
    None
}

/// The numbers have 32 bits, in a field that is wider or signed on some machines.
#[cfg(target_os = "linux")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the upper bits are the sign's"
)]
fn kind_of(number: rustix::fs::FsWord) -> Option<&'static str> {
    let number = number as u32;
    NETWORK.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn disks_of_other_machines_are_known_by_their_number() {
        assert_eq!(kind_of(0x6969), Some("NFS"));
        assert_eq!(kind_of(0xFF53_4D42_u32 as _), Some("CIFS"));
        assert_eq!(kind_of(0xFF53_4D42_u32.cast_signed() as _), Some("CIFS"));
        // ext4, and one in memory.
        assert_eq!((kind_of(0xEF53), kind_of(0x0102_1994)), (None, None));
        assert_eq!(network_disk(Path::new(".")), None);
    }
}
