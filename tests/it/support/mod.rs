//! What several test areas share.
#![cfg(test)]

pub(crate) mod fake;

/// Whether a program is installed; says on stderr which one a test goes without when it is not.
pub(crate) fn have(program: &str) -> bool {
    let found = std::process::Command::new(program)
        .arg("-version")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}
