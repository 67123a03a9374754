//! Running one of Slurm's programs: with a time limit, and with what it says on stderr.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a program is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// Why a program gave no answer; the message holds its own words.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be started.
    #[error("`{program}` cannot be started: {source}; is Slurm installed on this machine?")]
    Absent {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// It failed.
    #[error("`{program}` failed ({status}): {stderr}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: String,
    },
    /// It took too long.
    #[error("`{program}` did not answer within {} s: {stderr}", limit.as_secs())]
    Slow {
        /// The program.
        program: String,
        /// How long it had.
        limit: Duration,
        /// What it said so far.
        stderr: String,
    },
    /// Its answer makes no sense.
    #[error("`{program}` gave an answer that cannot be read: {message}")]
    Answer {
        /// The program.
        program: String,
        /// What is wrong with it.
        message: String,
    },
}

/// Runs a program to its end and gives its stdout.
pub(super) fn run(program: &str, arguments: &[String], limit: Duration) -> Result<String, ProgramError> {
    let absent = |source| ProgramError::Absent { program: program.to_owned(), source };
    // files take any amount of output without anyone reading along
    let (mut out, mut err) = (tempfile::tempfile().map_err(absent)?, tempfile::tempfile().map_err(absent)?);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(out.try_clone().map_err(absent)?).stderr(err.try_clone().map_err(absent)?);
    let mut child = command.spawn().map_err(absent)?;
    let deadline = Instant::now() + limit;
    let status = loop {
        match child.try_wait().map_err(absent)? {
            Some(status) => break status,
            None if Instant::now() < deadline => std::thread::sleep(GLANCE),
            None => {
                // it may end by itself just now; either way it is over
                drop(child.kill());
                drop(child.wait());
                return Err(ProgramError::Slow { program: program.to_owned(), limit, stderr: said(&mut err) });
            }
        }
    };
    if status.success() {
        return Ok(said(&mut out));
    }
    Err(ProgramError::Failed { program: program.to_owned(), status, stderr: said(&mut err) })
}

fn said(file: &mut File) -> String {
    let mut bytes = Vec::new();
    match file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)) {
        Ok(_) => String::from_utf8_lossy(&bytes).trim().to_owned(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Result<String, ProgramError> {
        run("sh", &["-c".to_owned(), script.to_owned()], limit)
    }

    #[test]
    fn an_answer_of_any_size_comes_back() {
        let text = sh("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done", Duration::from_mins(1));
        assert_eq!(text.unwrap().lines().count(), 20_000);
    }

    #[test]
    fn what_went_wrong_is_told_in_the_programs_own_words() {
        let text = sh("echo no such partition >&2; exit 3", Duration::from_mins(1)).unwrap_err().to_string();
        assert_eq!(text, "`sh` failed (exit status: 3): no such partition");
        let text = run("absent-sbatch", &[], Duration::from_mins(1)).unwrap_err().to_string();
        assert!(text.contains("`absent-sbatch` cannot be started") && text.contains("is Slurm installed"), "{text}");
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let text = sh("echo waiting for the controller >&2; exec sleep 1000", Duration::from_secs(1));
        let text = text.unwrap_err().to_string();
        assert!(text.contains("did not answer within 1 s: waiting for the controller"), "{text}");
    }
}
