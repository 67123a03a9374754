//! Tables for people, of elements before and after they are submitted.

use comfy_table::{CellAlignment, Table, presets};

use crate::cluster::{Array, Element, Now, hours};
use crate::plan::Plan;

/// What is missing in a cell.
const NONE: &str = "–";

/// Lines of a table without trailing blanks.
fn lines(mut table: Table, right: &[usize]) -> String {
    table.load_style(presets::NOTHING);
    for (place, column) in table.column_iter_mut().enumerate() {
        if right.contains(&place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The elements of arrays, with what they may cost; `jobs` are the arrays' numbers, once they have some.
pub(super) fn of_arrays(plan: &Plan, arrays: &[Array], jobs: Option<&[u32]>) -> String {
    let mut table = Table::new();
    table.set_header(["element", "variants", "runs", "GPUs", "estimate", "time limit", "GPU-hours at most"]);
    let mut hours_in_all = Some(0.0);
    for (place, array) in arrays.iter().enumerate() {
        let job = jobs.and_then(|jobs| jobs.get(place)).map_or_else(|| format!("gpus{}", array.gpus), u32::to_string);
        for (task, element) in array.elements.iter().enumerate() {
            let gpu_hours = element.gpu_hours();
            hours_in_all = hours_in_all.zip(gpu_hours).map(|(all, one): (f64, f64)| all + one);
            table.add_row([
                format!("{job}_{task}"),
                element.variants.join(", "),
                element.runs.len().to_string(),
                element.gpus.to_string(),
                element.estimate_s.map_or_else(|| NONE.to_owned(), |seconds| format!("{seconds:.0} s")),
                element.limit_min.map_or_else(|| "the partition's".to_owned(), hours),
                gpu_hours.map_or_else(|| NONE.to_owned(), |hours| format!("{hours:.2}")),
            ]);
        }
    }
    let rows = lines(table, &[2, 3, 4, 5, 6]);
    let elements: usize = arrays.iter().map(|array| array.elements.len()).sum();
    let cost = hours_in_all
        .map_or_else(|| "no limit of GPU-hours".to_owned(), |hours| format!("{hours:.2} GPU-hours at most"));
    let (elements, in_arrays) = (counted(elements, "element"), counted(arrays.len(), "array"));
    format!("{rows}\n{elements} in {in_arrays}, {cost}\n{}", apart(plan, arrays).unwrap_or_default())
}

/// That compared variants do not meet the same node.
fn apart(plan: &Plan, arrays: &[Array]) -> Option<String> {
    let compared = &plan.compare.as_ref()?.variants;
    let of = |element: &&Element| element.variants.iter().any(|name| compared.contains(name));
    let elements = arrays.iter().flat_map(|array| &array.elements).filter(of).count();
    (elements > 1)
        .then(|| "compared across nodes: variants of different GPU counts cannot share an element\n".to_owned())
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Runs and elements as they are.
pub(super) fn of_status(now: &Now) -> String {
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let mut runs = Table::new();
    runs.set_header(["run", "state", "GPUs", "element", "node", "CUDA_VISIBLE_DEVICES", "why"]);
    for run in &now.runs {
        runs.add_row([
            run.id.clone(),
            run.state.clone(),
            run.gpus.to_string(),
            cell(&run.element),
            cell(&run.node),
            cell(&run.cuda_visible_devices),
            run.reason.clone().unwrap_or_default(),
        ]);
    }
    let mut elements = Table::new();
    elements.set_header(["element", "state", "GPUs", "runs", "variants", "node", "why"]);
    for element in &now.elements {
        elements.add_row([
            element.job.clone(),
            element.state.word().to_owned(),
            element.gpus.to_string(),
            element.runs.len().to_string(),
            element.variants.join(", "),
            cell(&element.node),
            element.reason.clone().unwrap_or_default(),
        ]);
    }
    let complete = now.runs.iter().filter(|run| run.state == "complete").count();
    let told = if now.sources.is_empty() { "nobody".to_owned() } else { now.sources.join(" and ") };
    format!(
        "{}\n{}\n{complete} of {} complete; the queue by {told}\n",
        lines(runs, &[2]),
        lines(elements, &[2, 3]),
        counted(now.runs.len(), "run")
    )
}
