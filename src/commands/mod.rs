//! One file per subcommand; the only place where stages are wired together.

mod baseline;
mod bench;
mod charts;
mod cluster;
mod compare;
mod completions;
mod dashboard;
mod detectable;
mod estimate;
mod explain;
mod export;
mod failure;
mod fetch;
mod gate;
mod hardware;
mod history;
mod import;
mod init;
mod load;
mod plan;
mod planning;
mod report;
mod run;
mod schema;
mod simulate;
mod simulated;
mod stored;
mod ui;
mod validate;

pub use schema::generated as generated_schema;
pub use ui::Ui;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

/// Carries out what was typed.
pub fn dispatch(cli: &Cli) -> Exit {
    let ui = Ui::new(cli);
    ui.log();
    match &cli.command {
        Command::Run(args) => run::run(args, ui),
        Command::Plan(args) => plan::run(args, ui),
        Command::Validate(args) => validate::run(args, ui),
        Command::Explain(args) => explain::run(args, ui),
        Command::Bench(args) => bench::run(args, ui),
        Command::Report(args) => report::run(args, ui),
        Command::Dashboard(args) => dashboard::run(args, ui),
        Command::Compare(args) => compare::run(args, ui),
        Command::Baseline(args) => baseline::run(args, ui),
        Command::Gate(args) => gate::run(args, ui),
        Command::History(args) => history::run(args, ui),
        Command::Import(args) => import::run(args, ui),
        Command::Export(args) => export::run(args, ui),
        Command::Submit(args) => cluster::submit(args, ui),
        Command::Status(args) => cluster::status(args, ui),
        Command::Cancel(args) => cluster::cancel(args, ui),
        Command::Init(args) => init::run(args, ui),
        Command::Schema(args) => schema::run(args, ui),
        Command::Simulate(args) => simulate::run(args, ui),
        Command::Completions(args) => completions::run(args, ui),
    }
}
