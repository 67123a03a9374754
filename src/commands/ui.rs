//! How commands talk: stdout is data, stderr is talk, a broken pipe is success.

use std::io::{self, IsTerminal, Write};

use crate::cli::{Cli, Color};
use crate::exit::Exit;
use crate::report::harmless;

/// What the user wants to see.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    /// No progress, no notes.
    pub quiet: bool,
    /// How much more to say.
    pub verbose: u8,
    /// Whether stderr is coloured.
    pub color: bool,
    /// Whether stdout is coloured.
    pub color_out: bool,
    /// Whether a progress bar may be drawn.
    pub bar: bool,
}

impl Ui {
    /// From the common flags, `NO_COLOR` and what the streams are.
    pub fn new(cli: &Cli) -> Self {
        let wanted = |terminal: bool| match cli.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        let terminal = io::stderr().is_terminal();
        Self {
            quiet: cli.quiet,
            verbose: cli.verbose,
            color: wanted(terminal),
            color_out: wanted(io::stdout().is_terminal()),
            // a bar and a log would draw over each other
            bar: terminal && !cli.no_progress && !cli.quiet && cli.verbose == 0,
        }
    }

    /// Starts the log on stderr: `-v` tells what is done, `-vv` every exchange with the server.
    pub fn log(&self) {
        let level = match self.verbose {
            0 => return,
            1 => tracing::Level::INFO,
            _ => tracing::Level::DEBUG,
        };
        let log = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_timer(tracing_subscriber::fmt::time::uptime())
            .with_target(false)
            .with_ansi(self.color)
            .with_writer(io::stderr)
            .finish();
        // the first one stays when there is one already, as in a test that calls this twice
        drop(tracing::subscriber::set_global_default(log));
    }

    /// Writes data to stdout. A reader that went away is not an error.
    pub fn data(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    /// Writes a command's whole output and gives the exit code.
    pub fn print(&self, text: &str) -> Exit {
        match self.data(text) {
            Ok(()) => Exit::Fine,
            Err(error) => {
                self.error(&format!("cannot write to stdout: {error}"));
                Exit::Results
            }
        }
    }

    /// Says something to the user, unless quiet.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            Self::talk(&harmless(text));
        }
    }

    /// Tells an error; never silenced.
    pub fn error(&self, text: &str) {
        let (on, off) = if self.color { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
        Self::talk(&format!("{on}error{off}: {}", harmless(text)));
    }

    /// Asks the user for something; never silenced.
    pub fn ask(&self, text: &str) {
        Self::talk(&harmless(text));
    }

    /// Writes text to stderr as it is, such as rendered diagnostics.
    pub fn talk(text: &str) {
        // nothing can be told when stderr itself is gone
        drop(writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n')));
    }
}
