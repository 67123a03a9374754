//! The container that this process runs in, as far as it shows from the inside: the files that engines
//! leave there, and ids in the names of mounts and control groups.

use crate::record::Container;

/// Length of the ids that engines give containers, in hex digits.
const ID: usize = 64;

/// The container; `None` when nothing shows that there is one.
pub(super) fn container() -> Option<Container> {
    let read = |path: &str| fs_err::read_to_string(path).ok();
    let there = |path: &str| fs_err::metadata(path).is_ok();
    seen(&Signs {
        podman: read("/run/.containerenv"),
        docker: there("/.dockerenv"),
        kubernetes: std::env::var_os("KUBERNETES_SERVICE_HOST").is_some(),
        cgroup: read("/proc/self/cgroup").unwrap_or_default(),
        mounts: read("/proc/self/mountinfo").unwrap_or_default(),
    })
}

/// What engines leave.
struct Signs {
    /// `/run/.containerenv`.
    podman: Option<String>,
    /// Whether there is a `/.dockerenv`.
    docker: bool,
    /// Whether the environment names a cluster.
    kubernetes: bool,
    /// `/proc/self/cgroup`.
    cgroup: String,
    /// `/proc/self/mountinfo`.
    mounts: String,
}

fn seen(signs: &Signs) -> Option<Container> {
    let id = id_in(&signs.cgroup).or_else(|| {
        // the files that engines mount over those of the image stand in a folder of the container's id
        let own =
            |line: &&str| ["/etc/hostname", "/etc/resolv.conf", "/etc/hosts"].iter().any(|file| line.contains(file));
        signs.mounts.lines().filter(own).find_map(id_in)
    });
    let engine = match (&signs.podman, signs.kubernetes, signs.docker, &id) {
        (Some(_), ..) => "podman",
        (None, true, ..) => "kubernetes",
        (None, false, true, _) => "docker",
        (None, false, false, Some(_)) => "container",
        (None, false, false, None) => return None,
    };
    let told = |key: &str| signs.podman.as_deref().and_then(|text| value(text, key));
    Some(Container {
        engine: engine.to_owned(),
        id: told("id").or(id),
        image: told("image"),
        image_id: told("imageid"),
    })
}

/// The first run of as many hex digits as an id has.
fn id_in(text: &str) -> Option<String> {
    let mut runs = text.split(|c: char| !c.is_ascii_hexdigit());
    runs.find(|run| run.len() == ID).map(str::to_owned)
}

/// The value of `key="value"` on a line of its own.
fn value(text: &str, key: &str) -> Option<String> {
    let of = |line: &str| line.strip_prefix(key)?.strip_prefix('=').map(|value| value.trim_matches('"').to_owned());
    text.lines().find_map(of).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs() -> Signs {
        Signs {
            podman: None,
            docker: false,
            kubernetes: false,
            cgroup: "0::/user.slice\n".to_owned(),
            mounts: String::new(),
        }
    }

    fn id() -> String {
        "0123456789abcdef".repeat(4)
    }

    #[test]
    fn without_a_sign_there_is_no_container() {
        assert_eq!(seen(&signs()), None);
    }

    #[test]
    fn podman_leaves_its_image() {
        let text = format!(
            "engine=\"podman-4.9\"\nname=\"x\"\nid=\"{}\"\nimage=\"docker.example/a:1\"\nimageid=\"ab12\"\n",
            id()
        );
        let found = seen(&Signs { podman: Some(text), ..signs() }).unwrap();
        assert_eq!((found.engine.as_str(), found.id), ("podman", Some(id())));
        assert_eq!((found.image.as_deref(), found.image_id.as_deref()), (Some("docker.example/a:1"), Some("ab12")));
        let empty = seen(&Signs { podman: Some(String::new()), ..signs() }).unwrap();
        assert_eq!((empty.id, empty.image), (None, None));
    }

    #[test]
    fn ids_stand_in_control_groups_and_mounts() {
        let cgroup = format!("0::/kubepods.slice/pod1/cri-containerd-{}.scope\n", id());
        let pod = seen(&Signs { kubernetes: true, cgroup: cgroup.clone(), ..signs() }).unwrap();
        assert_eq!((pod.engine.as_str(), pod.id), ("kubernetes", Some(id())));
        let mounts = format!(
            "1 2 8:1 /other/{} /x\n3 2 8:1 /docker/containers/{}/hostname /etc/hostname rw\n",
            "a".repeat(64),
            id()
        );
        let docker = seen(&Signs { docker: true, mounts, ..signs() }).unwrap();
        assert_eq!((docker.engine.as_str(), docker.id), ("docker", Some(id())));
        assert_eq!(seen(&Signs { cgroup, ..signs() }).unwrap().engine, "container");
    }
}
