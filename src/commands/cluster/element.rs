//! `run --element`: what an element says of itself in the results folder, so that its end is known even where
//! Slurm forgets it.

use jiff::Timestamp;

use crate::cli::RunArgs;
use crate::cluster::{ClusterDir, ElementMark};
use crate::commands::Ui;
use crate::exit::Exit;
use crate::record::{ResultsDir, SlurmFacts};

/// An element that has begun; nothing for a run that is none.
pub(in crate::commands) struct Begun(Option<(ClusterDir, ElementMark)>);

impl Begun {
    /// Says where the element runs.
    pub(in crate::commands) fn of(args: &RunArgs, ui: Ui) -> Self {
        let slurm = SlurmFacts::of(|name| std::env::var(name).ok());
        let Some((folder, slurm)) = args.resume.as_deref().zip(slurm).filter(|_| args.element) else {
            return Self(None);
        };
        let started_at = Some(Timestamp::now().to_string());
        let mark = ElementMark { slurm: Some(slurm), started_at, ..ElementMark::default() };
        let begun = Self(Some((ClusterDir::of(&ResultsDir::at(folder)), mark)));
        begun.write(ui);
        begun
    }

    /// Says how its runs ended.
    pub(in crate::commands) fn ended(mut self, exit: Exit, ui: Ui) {
        if let Some((_, mark)) = &mut self.0 {
            mark.exit = Some(exit.code());
        }
        self.write(ui);
    }

    fn write(&self, ui: Ui) {
        let Some((dir, mark)) = &self.0 else { return };
        let name = mark.slurm.as_ref().map(SlurmFacts::name).unwrap_or_default();
        // the runs are worth more than what is said of them
        if let Err(error) = dir.write_mark(&name, mark) {
            ui.error(&format!("where this element runs is not recorded: {error}"));
        }
    }
}
