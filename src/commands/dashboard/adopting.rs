//! `--adopt`: markers around the tables of a page that someone typed.

use super::{Failure, Page};
use crate::exit::Exit;
use crate::report::{self, PageError, PageSettings};

/// Adds markers to the page, and says around which tables.
pub(super) fn adopt(page: &Page<'_>, settings: &PageSettings) -> Result<Exit, Failure> {
    let file = page.file.display();
    let Some(text) = page.existing else {
        return Err(Failure::new(Exit::Usage, format!("`{file}` is not there, so it has no tables to adopt")));
    };
    let adopted = report::adopt(text, settings).map_err(|error| match error {
        PageError::Markers(problems) => {
            let lines: Vec<String> =
                problems.iter().map(|problem| format!("{file}:{}: {}", problem.line, problem.message)).collect();
            Failure::new(Exit::Usage, format!("the page is left as it is\n{}", lines.join("\n")))
        }
        other => Failure::new(Exit::Usage, other.to_string()),
    })?;
    for (line, name) in &adopted.tables {
        page.ui.note(&format!("{file}:{line}: the table is now the part `{name}`"));
    }
    for (line, kind) in &adopted.left {
        page.ui.note(&format!(
            "{file}:{line}: another table of kind `{kind}` is left alone; add one of that kind to `[dashboard]` to adopt it"
        ));
    }
    if adopted.tables.is_empty() && adopted.left.is_empty() && !text.contains("<!-- omni-bench:begin") {
        let text = format!(
            "no table in `{file}` is recognised; write `<!-- omni-bench:begin results -->` and `<!-- omni-bench:end results -->` \
             around the one to be generated"
        );
        return Err(Failure::new(Exit::Usage, text));
    }
    page.put(&adopted.page)
}
