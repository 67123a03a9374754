//! A second process that outlives the tool for a moment. It reads a pipe whose other end the tool
//! holds; when the tool dies, however it dies, the pipe closes and the watchdog ends the server's
//! process group.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::group::{GLANCE, Group};

/// First argument that makes the binary a watchdog.
pub const WATCHDOG_WORD: &str = "__watchdog";

const DISMISSED: &str = "done";

/// The tool's side.
#[derive(Debug)]
pub(super) struct Watchdog {
    child: Child,
    pipe: ChildStdin,
}

impl Watchdog {
    /// Starts the watchdog; it is told what to guard afterwards, so that there is no time without it.
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(WATCHDOG_WORD).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // a Ctrl-C at the terminal goes to the tool's group, and must not end this
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        match child.stdin.take() {
            Some(pipe) => Ok(Self { child, pipe }),
            None => Err(io::Error::other("the watchdog has no pipe")),
        }
    }

    /// Names the group to guard.
    pub(super) fn guard(&mut self, group: Group, grace: Duration) -> io::Result<()> {
        writeln!(self.pipe, "{} {}", group.id(), grace.as_millis())?;
        self.pipe.flush()
    }

    /// Ends the watchdog, which then leaves the group alone.
    pub(super) fn dismiss(mut self) {
        // a watchdog that cannot be told is gone already
        drop(writeln!(self.pipe, "{DISMISSED}"));
        drop(self.pipe);
        drop(self.child.wait());
    }
}

/// The watchdog's side: reads `<group> <grace in ms>`, then waits for a dismissal or the end.
pub fn watch(input: impl BufRead) {
    let mut lines = input.lines().map_while(Result::ok);
    let Some((group, grace)) = lines.next().as_deref().and_then(assignment) else { return };
    if lines.any(|line| line == DISMISSED) {
        return;
    }
    group.terminate();
    let deadline = Instant::now() + grace;
    while group.is_alive() && Instant::now() < deadline {
        sleep(GLANCE);
    }
    group.kill();
}

fn assignment(line: &str) -> Option<(Group, Duration)> {
    let (id, grace) = line.split_once(' ')?;
    Some((Group::new(id.parse().ok()?)?, Duration::from_millis(grace.parse().ok()?)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sleeper() -> (Child, Group) {
        let mut command = Command::new("sleep");
        command.arg("100");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().unwrap();
        let group = Group::new(child.id()).unwrap();
        (child, group)
    }

    #[test]
    fn a_pipe_that_closes_ends_the_group() {
        let (mut child, group) = sleeper();
        watch(format!("{} 0\n", group.id()).as_bytes());
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_dismissal_leaves_the_group_alone() {
        let (mut child, group) = sleeper();
        watch(format!("{} 0\ndone\n", group.id()).as_bytes());
        assert!(group.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn nonsense_and_groups_of_others_are_not_signalled() {
        for input in ["", "x y\n", "0 5\n", "1 5\n", "-4 5\n", "99999999999 5\n"] {
            watch(input.as_bytes());
        }
    }
}
