//! A server that this tool started: its own process group, its log, and its end.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use indexmap::IndexMap;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::family::{Family, MARK};
use super::group::{GLANCE, Group};
use super::log::Log;
use super::watchdog::Watchdog;
use crate::record::Redactor;

/// Lines of the log that an error shows.
const LAST_LINES: usize = 20;
/// Bytes of the log in which they are looked for.
const LAST_BYTES: u64 = 64 << 10;
/// Helpers that outlive their server get this much of the grace.
const STRAGGLERS: Duration = Duration::from_secs(5);

/// What to start.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Environment on top of the tool's own.
    pub env: IndexMap<String, String>,
    /// Variables of the tool's own environment that the server does not get.
    pub withheld: Vec<String>,
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// Where stdout and stderr go.
    pub log: PathBuf,
    /// What the log must not show.
    pub redactor: Redactor,
    /// Time between asking the server to stop and killing its group.
    pub stop_grace: Duration,
    /// The binary to run as watchdog; `None` runs without one.
    pub watchdog: Option<PathBuf>,
}

/// A running server. Dropping it kills it and everyone who belongs to it.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    family: Family,
    watchdog: Option<Watchdog>,
    log: PathBuf,
    filter: Log,
    stop_grace: Duration,
}

impl ServerProcess {
    /// Starts the server; it has its own process group, so that a Ctrl-C reaches the tool first.
    pub fn start(launch: &Launch) -> io::Result<Self> {
        let (program, arguments) = launch
            .words
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the server's command is empty"))?;
        if let Some(cwd) = launch.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
            let message = format!("the folder `{}` to start the server in is not there", cwd.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let (filter, stdout, stderr) = Log::open(&launch.log, &launch.redactor)?;
        let mut family = Family::new();
        let grace = launch.stop_grace;
        let watchdog = launch.watchdog.as_deref().map(|program| Watchdog::start(program, &family, grace));
        let mut watchdog = watchdog.transpose()?;
        let mut command = Command::new(program);
        command.args(arguments);
        for name in &launch.withheld {
            command.env_remove(name);
        }
        command.envs(&launch.env).env(MARK, family.mark());
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        if let Some(cwd) = &launch.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                watchdog.map(Watchdog::dismiss).unwrap_or_default();
                return Err(io::Error::new(error.kind(), format!("the server `{program}` cannot be started: {error}")));
            }
        };
        if let Some(group) = child.id().and_then(Group::new) {
            family.led_by(group);
            if let Some(watchdog) = &mut watchdog {
                watchdog.guard(group)?;
            }
        }
        Ok(Self { child, family, watchdog, log: launch.log.clone(), filter, stop_grace: launch.stop_grace })
    }

    /// Process id, as long as the server runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Where its stdout and stderr go.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Why the server is no longer there; `None` as long as it runs.
    pub fn died(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => {
                self.filter.settle();
                Some(ended(status))
            }
            Err(error) => Some(format!("the server cannot be watched: {error}")),
        }
    }

    /// Returns once the server has ended by itself, with how it did.
    pub async fn death(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => {
                self.filter.settle();
                ended(status)
            }
            Err(error) => format!("the server cannot be watched: {error}"),
        }
    }

    /// The end of its log, as the rest of a sentence.
    pub fn last_words(&self) -> String {
        let tail = last_lines(&self.log).unwrap_or_default();
        let log = self.log.display();
        if tail.is_empty() { format!("; its log `{log}` is empty") } else { format!("; the end of `{log}`:\n{tail}") }
    }

    /// Remembers the processes that belong to it now, so that they are found whatever becomes of
    /// their parents.
    pub fn remember_helpers(&mut self) {
        self.family.look();
        if let Some(Err(error)) = self.watchdog.as_mut().map(Watchdog::look) {
            tracing::debug!("the watchdog cannot be told: {error}");
        }
    }

    /// Asks everyone who belongs to it to end, waits for the grace, then kills what is left.
    pub async fn stop(mut self) {
        let deadline = Instant::now() + self.stop_grace;
        if self.family.leader().is_some() {
            self.family.terminate();
            let ended = timeout(self.stop_grace, self.child.wait()).await.is_ok();
            let deadline = if ended { deadline.min(Instant::now() + STRAGGLERS) } else { deadline };
            while self.family.is_alive() && Instant::now() < deadline {
                sleep(GLANCE).await;
            }
        }
        // dropping kills the rest; the kernel then needs no grace
        self.end();
        drop(timeout(STRAGGLERS, self.child.wait()).await);
        self.filter.settle();
    }

    /// Kills whoever is left and dismisses the watchdog.
    fn end(&mut self) {
        let Some(watchdog) = self.watchdog.take() else {
            return self.kill();
        };
        self.kill();
        watchdog.dismiss();
    }

    fn kill(&mut self) {
        // on systems without groups this is all there is
        drop(self.child.start_kill());
        self.family.kill();
    }
}

fn ended(status: std::process::ExitStatus) -> String {
    format!("the server ended by itself ({status})")
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// The last lines of a log, however large it is.
fn last_lines(path: &Path) -> io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(LAST_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    Ok(tail.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn launch(folder: &Path, script: &str) -> Launch {
        Launch {
            words: ["sh", "-c", script].map(str::to_owned).to_vec(),
            env: IndexMap::new(),
            withheld: Vec::new(),
            cwd: None,
            log: folder.join("server.log"),
            redactor: Redactor::default(),
            stop_grace: Duration::from_secs(20),
            watchdog: None,
        }
    }

    async fn until(what: impl Fn() -> bool) {
        for _ in 0..200 {
            if what() {
                return;
            }
            sleep(GLANCE).await;
        }
        panic!("it did not come about");
    }

    fn read(path: &Path) -> String {
        fs_err::read_to_string(path).unwrap_or_default()
    }

    #[tokio::test]
    async fn a_server_that_ends_at_once_tells_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let script = "i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); done; echo no GPU >&2; exit 3";
        let mut server = ServerProcess::start(&launch(folder.path(), script)).unwrap();
        server.child.wait().await.unwrap();
        assert_eq!(server.died().as_deref(), Some("the server ended by itself (exit status: 3)"));
        assert_eq!(server.death().await, server.died().unwrap());
        let words = server.last_words();
        assert_eq!(words.lines().count(), 1 + LAST_LINES, "{words}");
        assert!(words.contains("  line 29\n  no GPU") && !words.contains("line 10\n"), "{words}");
    }

    #[tokio::test]
    async fn a_server_that_obeys_is_stopped_without_being_killed() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done";
        let mut server = ServerProcess::start(&launch(folder.path(), script)).unwrap();
        let log = folder.path().join("server.log");
        until(|| read(&log).contains("up")).await;
        assert_eq!(server.died(), None);
        server.stop().await;
        assert!(read(&log).ends_with("bye\n"), "{}", read(&log));
    }

    #[tokio::test]
    async fn a_server_that_does_not_obey_is_killed_with_its_helpers() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo up; wait; sleep 100";
        let mut launch = launch(folder.path(), script);
        launch.stop_grace = Duration::from_millis(200);
        let server = ServerProcess::start(&launch).unwrap();
        let group = server.family.leader().unwrap();
        until(|| read(&launch.log).contains("up")).await;
        server.stop().await;
        until(|| !group.is_alive()).await;
    }

    #[tokio::test]
    async fn dropping_a_server_ends_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let server = ServerProcess::start(&launch(folder.path(), "sleep 100 & sleep 100")).unwrap();
        let group = server.family.leader().unwrap();
        assert!(group.is_alive());
        drop(server);
        until(|| !group.is_alive()).await;
    }

    #[tokio::test]
    async fn a_server_gets_no_key_that_it_was_not_given_and_its_log_shows_none() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo path ${PATH:-none}; printf 'key sk-'; echo \"$GIVEN and sk-$GIVEN\"; exit 1";
        let mut launch = launch(folder.path(), script);
        launch.words[0] = "/bin/sh".into();
        launch.withheld = vec!["PATH".into()];
        launch.env = IndexMap::from([("GIVEN".into(), "0123456789".into())]);
        launch.redactor = Redactor::new(["sk-0123456789"]);
        let mut server = ServerProcess::start(&launch).unwrap();
        server.child.wait().await.unwrap();
        let why = server.died().unwrap();
        assert!(why.contains("key [hidden] and [hidden]"), "{why}");
        assert!(why.contains("path none") || why.contains("path /"), "a shell may set a path of its own: {why}");
        assert!(!why.contains(&std::env::var("PATH").unwrap()), "{why}");
    }

    #[tokio::test]
    async fn a_command_that_does_not_exist_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut launch = launch(folder.path(), "");
        launch.words = vec!["/absent/serve".into()];
        assert!(ServerProcess::start(&launch).unwrap_err().to_string().contains("`/absent/serve`"));
        launch.cwd = Some(folder.path().join("absent"));
        assert!(ServerProcess::start(&launch).unwrap_err().to_string().contains("to start the server in is not there"));
    }
}
