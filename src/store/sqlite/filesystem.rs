//! On which file systems a store may live. SQLite's log is shared memory between processes, and its
//! safety is that of the file system's locks and syncs; over a network, and through the bridges of
//! virtual machines, neither can be relied on.

use std::path::Path;

use crate::store::StoreError;

/// What the kernel calls file systems that other machines, or other programs, stand behind.
const REFUSED: [(u64, &str); 15] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE or virtiofs"),
    (0x786f_4256, "a VirtualBox shared folder"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x7461_636f, "OCFS2"),
    (0x0116_1970, "GFS2"),
];

/// Refuses a folder on one of them, or one that would come to lie there.
pub(super) fn check(folder: &Path, allowed: bool) -> Result<(), StoreError> {
    if allowed {
        return Ok(());
    }
    let kind = folder.ancestors().find_map(magic).and_then(refused);
    kind.map_or(Ok(()), |kind| Err(StoreError::Network { path: folder.to_owned(), kind }))
}

fn refused(magic: u64) -> Option<&'static str> {
    REFUSED.iter().find(|(known, _)| *known == magic).map(|(_, kind)| *kind)
}

/// The number of the file system of an existing path.
#[cfg(target_os = "linux")]
fn magic(path: &Path) -> Option<u64> {
    // The last of the ancestors of a relative path is empty, and means this folder.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let found = rustix::fs::statfs(path).ok()?.f_type;
    // 32 bits are used, and on some machines they come with a sign.
    Some(u64::from(found as u32))
}

/// Other systems number them differently: there, everything is accepted.
#[cfg(not(target_os = "linux"))]
fn magic(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_and_local_ones_are_not_refused() {
        assert_eq!(refused(0x6969), Some("NFS"));
        assert_eq!(refused(0x0102_1997), Some("9p"));
        let local = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1];
        assert!(local.iter().all(|&magic| refused(magic).is_none()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_is_not_there_yet_is_where_its_nearest_ancestor_is() {
        let proc = magic(Path::new("/proc")).unwrap();
        assert_eq!(Path::new("/proc/none/below").ancestors().find_map(magic), Some(proc));
        assert!(Path::new("none").ancestors().find_map(magic).is_some());
    }
}
