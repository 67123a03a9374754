//! `omni-bench schema`.

use schemars::{Schema, schema_for};

use super::Ui;
use crate::cli::{SchemaArgs, SchemaName};
use crate::cluster::Now;
use crate::exit::Exit;
use crate::gate::{Baseline, Verdict};
use crate::history::Trend;
use crate::record::Record;
use crate::report::{ComparisonJson, FoldersJson, TableJson};
use crate::scenario::Scenario;
use crate::summarize::Results;

pub(super) fn run(args: &SchemaArgs, ui: Ui) -> Exit {
    let schema: Schema = match args.name {
        SchemaName::Scenario => schema_for!(Scenario),
        SchemaName::Record => schema_for!(Record),
        SchemaName::Summary => schema_for!(Results),
        SchemaName::Table => schema_for!(TableJson),
        SchemaName::Folders => schema_for!(FoldersJson<'_>),
        SchemaName::Trend => schema_for!(Trend),
        SchemaName::Baseline => schema_for!(Baseline),
        SchemaName::Verdict => schema_for!(Verdict),
        SchemaName::Comparison => schema_for!(ComparisonJson),
        SchemaName::Status => schema_for!(Now),
    };
    ui.print(&format!("{:#}\n", schema.as_value()))
}
