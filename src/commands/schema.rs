//! `omni-bench schema`.

use schemars::{Schema, schema_for};

use super::Ui;
use crate::catalog::schemas;
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
    ui.print(match args.name {
        SchemaName::Scenario => schemas::SCENARIO,
        SchemaName::Record => schemas::RECORD,
        SchemaName::Summary => schemas::SUMMARY,
        SchemaName::Table => schemas::TABLE,
        SchemaName::Folders => schemas::FOLDERS,
        SchemaName::Trend => schemas::TREND,
        SchemaName::Baseline => schemas::BASELINE,
        SchemaName::Verdict => schemas::VERDICT,
        SchemaName::Comparison => schemas::COMPARISON,
        SchemaName::Status => schemas::STATUS,
    })
}

/// A schema as its types have it, which the one in the repository must equal.
pub fn generated(name: SchemaName) -> String {
    let schema: Schema = match name {
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
    format!("{:#}\n", schema.as_value())
}
