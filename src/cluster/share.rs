//! Whether compute nodes can see a folder, as far as the machine of the submission can tell.

use std::path::Path;

/// File systems that live in one machine alone.
const OWN: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "overlay"];

/// Why the nodes on these hosts cannot see the folder; `None` when nothing says so. The rule: the folder's file
/// system is one that lives in this machine alone, and some node is another machine. A disk says nothing, because
/// it may be exported; every element therefore looks for the folder's token itself. `mounts` is the text of
/// `/proc/self/mountinfo`, `folder` a canonical path.
pub fn unshared(folder: &Path, mounts: &str, here: &str, hosts: &[String]) -> Option<String> {
    let own = |host: &&String| host.split('.').next() == here.split('.').next();
    let other = hosts.iter().find(|host| !own(host))?;
    let system = file_system(folder, mounts).filter(|system| OWN.contains(system))?;
    let folder = folder.display();
    Some(format!(
        "`{folder}` is on a {system} of this machine, which node `{other}` does not see; name a shared folder by `--out`"
    ))
}

/// The type of the file system that the folder is on: of the mounts above it, the last of the longest.
fn file_system<'m>(folder: &Path, mounts: &'m str) -> Option<&'m str> {
    let mut found: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let (mount, system) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?.replace(r"\040", " ");
        let depth = Path::new(&point).components().count();
        if folder.starts_with(&point) && found.is_none_or(|(deepest, _)| depth >= deepest) {
            found = Some((depth, system.split(' ').next()?));
        }
    }
    found.map(|(_, system)| system)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:30 / /tmp rw - tmpfs tmpfs rw
23 21 0:31 / /home rw shared:4 - nfs4 server:/home rw
24 23 0:32 / /home/me/fast\\040disk rw - tmpfs tmpfs rw
";

    #[test]
    fn a_folder_that_only_this_machine_has_is_told_when_nodes_are_elsewhere() {
        let elsewhere = ["login".to_owned(), "gpu1".to_owned()];
        let told = |folder: &str, hosts: &[String]| unshared(Path::new(folder), MOUNTS, "login.example", hosts);
        let why = told("/tmp/results", &elsewhere).unwrap();
        assert!(why.contains("`/tmp/results` is on a tmpfs of this machine, which node `gpu1` does not see"), "{why}");
        assert!(told("/home/me/fast disk/results", &elsewhere).is_some());
        assert_eq!(told("/home/me/results", &elsewhere), None);
        assert_eq!(told("/srv/results", &elsewhere), None, "a disk may be exported");
        assert_eq!(told("/tmp/results", &elsewhere[..1]), None, "every node is this machine");
    }
}
