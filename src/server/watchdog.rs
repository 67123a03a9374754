//! A second process that outlives the tool for a moment. It reads a pipe whose other end the tool
//! holds; when the tool dies, however it dies, the pipe closes and the watchdog ends the server and
//! everyone who belongs to it. It cannot do so when it is killed itself.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::family::Family;
use super::group::{GLANCE, Group};

/// First argument that makes the binary a watchdog.
pub const WATCHDOG_WORD: &str = "__watchdog";

const DISMISSED: &str = "done";
const LOOK: &str = "look";
/// Nobody waits for a server whose tool is gone: it gets no more than this to end by itself.
const LONGEST_GRACE: Duration = Duration::from_secs(3);

/// The tool's side.
#[derive(Debug)]
pub(super) struct Watchdog {
    child: Child,
    pipe: ChildStdin,
}

impl Watchdog {
    /// Starts the watchdog. It knows the family's mark before the server is there and its group
    /// afterwards, so that there is no time without it.
    pub(super) fn start(program: &Path, family: &Family, grace: Duration) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(WATCHDOG_WORD).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // a Ctrl-C at the terminal goes to the tool's group, and must not end this
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().ok_or_else(|| io::Error::other("the watchdog has no pipe"))?;
        let mut watchdog = Self { child, pipe };
        watchdog.tell(&format!("{} {}", family.mark(), grace.as_millis()))?;
        Ok(watchdog)
    }

    /// Names the group to guard.
    pub(super) fn guard(&mut self, group: Group) -> io::Result<()> {
        self.tell(&group.id().to_string())
    }

    /// Has it remember who belongs to the server now.
    pub(super) fn look(&mut self) -> io::Result<()> {
        self.tell(LOOK)
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.pipe, "{line}")?;
        self.pipe.flush()
    }

    /// Ends the watchdog, which then leaves the group alone.
    pub(super) fn dismiss(mut self) {
        // a watchdog that cannot be told is gone already
        drop(self.tell(DISMISSED));
        drop(self.pipe);
        drop(self.child.wait());
    }
}

/// The watchdog's side: reads `<mark> <grace in ms>`, then group ids and wishes to look, until a
/// dismissal or the end.
pub fn watch(input: impl BufRead) {
    let mut lines = input.lines().map_while(Result::ok);
    let Some((mut family, grace)) = lines.next().as_deref().and_then(assignment) else { return };
    for line in lines {
        match line.as_str() {
            DISMISSED => return,
            LOOK => family.look(),
            id => {
                if let Some(group) = id.parse().ok().and_then(Group::new) {
                    family.led_by(group);
                }
            }
        }
    }
    family.terminate();
    let deadline = Instant::now() + grace.min(LONGEST_GRACE);
    while family.is_alive() && Instant::now() < deadline {
        sleep(GLANCE);
    }
    family.kill();
}

fn assignment(line: &str) -> Option<(Family, Duration)> {
    let (mark, grace) = line.split_once(' ')?;
    (!mark.is_empty()).then_some(())?;
    Some((Family::of(mark.to_owned()), Duration::from_millis(grace.parse().ok()?)))
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
        watch(format!("mark 0\n{}\n", group.id()).as_bytes());
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_server_whose_group_was_never_told_is_found_by_its_mark() {
        let mut family = Family::new();
        let (mut child, _) = super::super::family::tests::shell(&mut family, "echo $$; exec sleep 100");
        watch(format!("{} 0\n", family.mark()).as_bytes());
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_dismissal_leaves_the_group_alone() {
        let (mut child, group) = sleeper();
        watch(format!("mark 0\n{}\nlook\ndone\n", group.id()).as_bytes());
        assert!(group.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn nonsense_and_groups_of_others_are_not_signalled() {
        for input in ["", "x y\n", " 5\n5\n", "m 5\n0\n", "m 5\n1\n", "m 5\n-4\n", "m 5\n99999999999\n"] {
            watch(input.as_bytes());
        }
    }
}
