//! Who belongs to a server: its process group, the processes that descend from the one that was
//! started, and on Linux whoever carries the server's mark in the environment it was started with, so
//! that a helper with a session of its own, or one that was handed to init, is still found. Not found
//! are: a process that was handed to init and also cleared its environment, and whatever another
//! service, such as a container's, starts on the server's behalf.

use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::group::Group;

/// Environment variable of the mark.
pub(super) const MARK: &str = "OMNI_BENCH_SERVER_MARK";
/// Rounds of killing: a process may start another one while it is being killed.
const ROUNDS: u32 = 25;
const PAUSE: Duration = Duration::from_millis(20);

/// A process, told from a later one of the same id by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    id: i32,
    /// Clock ticks since the system started.
    started: u64,
}

/// Everyone who belongs to a server.
#[derive(Debug)]
pub(super) struct Family {
    mark: String,
    leader: Option<Group>,
    /// Members seen so far.
    known: Vec<Member>,
}

impl Family {
    /// The family of a server that is about to be started.
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::of(format!("{}-{:x}", std::process::id(), now.as_nanos()))
    }

    /// The family whose members carry this mark.
    pub(super) const fn of(mark: String) -> Self {
        Self { mark, leader: None, known: Vec::new() }
    }

    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Names the group of the process that was started.
    pub(super) const fn led_by(&mut self, leader: Group) {
        self.leader = Some(leader);
    }

    pub(super) const fn leader(&self) -> Option<Group> {
        self.leader
    }

    /// Looks for members; those seen earlier stay known, whoever their parent is by now.
    pub(super) fn look(&mut self) {
        let leader = self.leader.map(Group::id);
        for member in proc::members(leader, &self.mark) {
            if !self.known.contains(&member) {
                self.known.push(member);
            }
        }
    }

    /// Asks every member to end.
    pub(super) fn terminate(&mut self) {
        self.look();
        if let Some(group) = self.leader {
            group.terminate();
        }
        for member in &self.known {
            proc::terminate(*member);
        }
    }

    /// Whether somebody is left.
    pub(super) fn is_alive(&self) -> bool {
        self.leader.is_some_and(Group::is_alive) || self.known.iter().any(|member| proc::is_alive(*member))
    }

    /// Ends every member, and those that come to be meanwhile.
    pub(super) fn kill(&mut self) {
        self.look();
        for round in 0..ROUNDS {
            if let Some(group) = self.leader {
                group.kill();
            }
            for member in &self.known {
                proc::kill(*member);
            }
            self.look();
            if !self.known.iter().any(|member| proc::is_alive(*member)) {
                return;
            }
            if round + 1 < ROUNDS {
                sleep(PAUSE);
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod proc {
    use rustix::process::{Pid, Signal, kill_process};

    use super::{MARK, Member};

    /// What the kernel tells of a process.
    struct Entry {
        member: Member,
        parent: i32,
        /// Whether it has ended and only waits for its parent to ask.
        ended: bool,
    }

    /// Descendants of the leader and carriers of the mark, never this process itself.
    pub(super) fn members(leader: Option<i32>, mark: &str) -> Vec<Member> {
        let entries = entries();
        let mark = format!("{MARK}={mark}");
        let mut found: Vec<i32> = leader.into_iter().collect();
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            next += 1;
            let children = entries.iter().filter(|entry| entry.parent == parent).map(|entry| entry.member.id);
            let new: Vec<i32> = children.filter(|id| !found.contains(id)).collect();
            found.extend(new);
        }
        let own = i32::try_from(std::process::id()).ok();
        let belongs = |id: i32| found.contains(&id) || carries(id, mark.as_bytes());
        let live = entries.iter().filter(|entry| !entry.ended && Some(entry.member.id) != own);
        live.filter(|entry| belongs(entry.member.id)).map(|entry| entry.member).collect()
    }

    pub(super) fn is_alive(member: Member) -> bool {
        entry(member.id).is_some_and(|entry| entry.member == member && !entry.ended)
    }

    pub(super) fn terminate(member: Member) {
        signal(member, Signal::TERM);
    }

    pub(super) fn kill(member: Member) {
        signal(member, Signal::KILL);
    }

    fn signal(member: Member, signal: Signal) {
        if !is_alive(member) {
            return;
        }
        if let Some(Err(error)) = Pid::from_raw(member.id).map(|pid| kill_process(pid, signal)) {
            tracing::debug!("process {}: {error}", member.id);
        }
    }

    fn entries() -> Vec<Entry> {
        let Ok(folder) = fs_err::read_dir("/proc") else { return Vec::new() };
        let ids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        // 1 is nobody's child, and never to be signalled
        ids.filter(|id| *id > 1).filter_map(entry).collect()
    }

    /// Reads `/proc/<id>/stat` (proc(5)): behind the name in parentheses come the state, the parent
    /// and, as the 22nd field of all, the start time.
    fn entry(id: i32) -> Option<Entry> {
        let stat = fs_err::read(format!("/proc/{id}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let started = fields.get(19)?.parse().ok()?;
        let ended = matches!(*fields.first()?, "Z" | "X" | "x");
        Some(Entry { member: Member { id, started }, parent: fields.get(1)?.parse().ok()?, ended })
    }

    fn carries(id: i32, mark: &[u8]) -> bool {
        let environment = fs_err::read(format!("/proc/{id}/environ"));
        environment.is_ok_and(|text| text.split(|byte| *byte == 0).any(|setting| setting == mark))
    }
}

#[cfg(not(target_os = "linux"))]
mod proc {
    use super::Member;

    pub(super) fn members(_: Option<i32>, _: &str) -> Vec<Member> {
        Vec::new()
    }

    pub(super) fn is_alive(_: Member) -> bool {
        false
    }

    pub(super) fn terminate(_: Member) {}

    pub(super) fn kill(_: Member) {}
}

#[cfg(test)]
#[cfg(target_os = "linux")]
pub(super) mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell in a group of its own that runs a script, and the number the script prints.
    pub(in crate::server) fn shell(family: &mut Family, script: &str) -> (Child, i32) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(MARK, family.mark()).stdout(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().unwrap();
        family.led_by(Group::new(child.id()).unwrap());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().parse().unwrap())
    }

    fn runs(id: i32) -> bool {
        let stat = fs_err::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    fn gone(id: i32) {
        for _ in 0..500 {
            if !runs(id) {
                return;
            }
            sleep(PAUSE);
        }
        panic!("process {id} is still there");
    }

    #[test]
    fn a_helper_with_a_session_of_its_own_belongs_to_the_family() {
        let mut family = Family::new();
        let (mut child, helper) = shell(&mut family, "setsid sh -c 'echo $$; exec sleep 300' & wait");
        family.kill();
        child.wait().unwrap();
        gone(helper);
    }

    #[test]
    fn a_helper_that_was_handed_to_init_is_found_by_its_mark() {
        let mut family = Family::new();
        let (mut child, helper) =
            shell(&mut family, "(setsid sh -c 'echo $$; exec >/dev/null; exec sleep 300' &); sleep 300");
        family.kill();
        child.wait().unwrap();
        gone(helper);
    }

    #[test]
    fn one_without_a_mark_is_remembered_from_when_it_had_a_parent() {
        let mut family = Family::new();
        let script = "setsid env -i sh -c 'echo $$; exec >/dev/null; exec sleep 300' & wait";
        let (mut child, helper) = shell(&mut family, script);
        family.look();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(runs(helper));
        family.kill();
        gone(helper);
    }

    #[test]
    fn others_are_left_alone() {
        let mut other = Family::new();
        let (mut child, helper) = shell(&mut other, "echo $$; exec sleep 300");
        let mut family = Family::of("nobody".into());
        family.kill();
        assert!(!family.is_alive() && runs(helper) && other.is_alive());
        other.kill();
        child.wait().unwrap();
    }
}
