//! Entries → scenarios: which go together, their variants and datasets, the matrix that makes exactly
//! their runs.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::super::document::Findings;
use super::super::text::{Comments, scenario_text};
use super::cases::Case;
use super::entry::{self, Entry, Setting};
use super::server::{self, Server};
use super::{ImportedScenario, PerfPoint, baseline, dataset, lint, matrix, tolerance};
use crate::catalog::{Api, Medium};
use crate::scenario::Scenario;
use crate::scenario::model::{
    Dataset, Endpoint, Match, Model, PathList, Ready, Server as ServerTable, Slo, Timeout, Variant, Warmup,
};
use crate::units::{Limit, SafeName, Span};

/// How the runner starts a server.
const COMMAND: [&str; 10] = [
    "python",
    "-m",
    "vllm_omni.entrypoints.cli.main",
    "serve",
    "{{ model }}",
    "--omni",
    "--host",
    "{{ host }}",
    "--port",
    "{{ port }}",
];

/// Entries that share a scenario, each with the position of its case.
pub(super) struct Group<'a> {
    setting: Setting,
    entries: Vec<(usize, Entry<'a>)>,
}

/// Reads every entry and puts those together that one scenario can express.
pub(super) fn groups<'a>(cases: &[Case<'a>], findings: &mut Findings) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (position, case) in cases.iter().enumerate() {
        for node in &case.entries {
            let Some(entry) = entry::read(case, node, findings) else { continue };
            match groups.iter_mut().find(|group| group.setting == entry.setting) {
                Some(group) => group.entries.push((position, entry)),
                None => groups.push(Group { setting: entry.setting.clone(), entries: vec![(position, entry)] }),
            }
        }
    }
    groups
}

/// Makes the scenarios.
pub(super) fn scenarios(
    file: &str,
    stem: &str,
    cases: &[Case<'_>],
    groups: Vec<Group<'_>>,
    findings: &mut Findings,
) -> Vec<ImportedScenario> {
    let servers: Vec<Server> = cases.iter().map(|case| server::read(case, findings)).collect();
    let names = scenario_names(stem, &groups);
    groups
        .into_iter()
        .zip(names)
        .map(|(group, name)| Assembler { file, name, cases, servers: &servers, findings }.scenario(&group))
        .collect()
}

/// The file's stem, with what tells the groups apart.
fn scenario_names(stem: &str, groups: &[Group<'_>]) -> Vec<String> {
    let stem = SafeName::lossy(stem).to_string();
    if groups.len() < 2 {
        return vec![stem];
    }
    let api = |group: &Group<'_>| group.setting.api.path().rsplit('/').next().unwrap_or_default().to_owned();
    let by_task = |group: &Group<'_>| format!("{stem}-{}", group.setting.task);
    let by_api = |group: &Group<'_>| format!("{stem}-{}-{}", group.setting.task, api(group));
    for name in [&by_task as &dyn Fn(&Group<'_>) -> String, &by_api] {
        let names: Vec<String> = groups.iter().map(name).collect();
        if names.iter().collect::<IndexSet<_>>().len() == names.len() {
            return names;
        }
    }
    (1..=groups.len()).map(|number| format!("{stem}-{number}")).collect()
}

struct Assembler<'s, 'a> {
    file: &'s str,
    name: String,
    cases: &'s [Case<'a>],
    servers: &'s [Server],
    findings: &'s mut Findings,
}

impl Assembler<'_, '_> {
    fn scenario(mut self, group: &Group<'_>) -> ImportedScenario {
        let setting = &group.setting;
        let mut files = IndexMap::new();
        let positions: IndexSet<usize> = group.entries.iter().map(|(position, _)| *position).collect();
        let mut variants = self.variants(group, &positions, &mut files);
        let needs_cwd = !files.is_empty();
        let (datasets, names) = self.datasets(group, &mut files);
        let points = self.points(group, &variants, &names);
        let (traffic, matrix) = matrix::matrix(setting.traffic_seed, &points);
        let gate = tolerance::gate(&self.name, group.entries.iter().map(|(_, entry)| entry), &points, self.findings);
        let scenario = Scenario {
            name: Some(self.name.clone()),
            title: setting.model.rsplit('/').next().map(str::to_owned),
            tags: self.tags(&positions),
            model: Model { id: Some(setting.model.clone()), task: Some(setting.task) },
            endpoint: endpoint(group, &mut variants),
            environment: self.environment(&positions),
            server: Some(ServerTable {
                command: COMMAND.map(str::to_owned).to_vec(),
                ready: Some(Ready { path: None, timeout: Some(Span::seconds(20 * 60)) }),
                // the files of the variants stand beside the scenario
                cwd: needs_cwd.then(|| ".".to_owned()),
                ..ServerTable::default()
            }),
            variants: variants.into_values().collect(),
            datasets,
            traffic,
            warmup: Warmup {
                requests: Some(Match::Count(setting.warmup.requests)),
                concurrency: Some(Match::Count(setting.warmup.concurrency)),
                num_inference_steps: Some(setting.warmup.num_inference_steps),
                num_frames: None,
            },
            slo: setting.slo_scale.map(|scale| Slo { scale: Some(scale), ..Slo::default() }),
            matrix,
            gate,
            ..Scenario::default()
        };
        let text = match scenario_text(&scenario, &self.comments(setting, &positions)) {
            Ok(text) => text,
            Err(error) => {
                if let Some((_, entry)) = group.entries.first() {
                    self.findings.error(&entry.node, error);
                }
                String::new()
            }
        };
        ImportedScenario { name: self.name, text, files, points }
    }

    /// The servers of the group's cases, by position.
    fn variants(
        &mut self,
        group: &Group<'_>,
        positions: &IndexSet<usize>,
        files: &mut IndexMap<String, String>,
    ) -> IndexMap<usize, Variant> {
        let hardware = common_hardware(self.cases, positions);
        let mut taken = IndexSet::new();
        let mut variants = IndexMap::new();
        for position in positions {
            let (Some(case), Some(server)) = (self.cases.get(*position), self.servers.get(*position)) else { continue };
            let name = unique(SafeName::lossy(case.name).as_str(), &mut taken);
            let mut serve_args = server.serve_args.clone();
            for (flag, file) in &server.files {
                let path = format!("{}-{name}-{flag}.{}", self.name, file.extension);
                serve_args.insert(flag.clone(), Value::String(path.clone()));
                files.insert(path, file.text.clone());
            }
            let stage_metrics = group.entries.iter().any(|(at, entry)| at == position && entry.return_stage_metrics)
                || (server.profiled && group.setting.api == Api::Chat);
            let own = case.marks.hardware.get("cuda").filter(|_| hardware.is_none());
            let variant = Variant {
                label: (name != case.name).then(|| case.name.to_owned()),
                name: Some(name),
                parallel: server.parallel.clone(),
                serve_args,
                gpus: server.gpus,
                endpoint: stage_metrics.then(|| Endpoint { return_stage_metrics: Some(true), ..Endpoint::default() }),
                environment: own.map(|label| ("gpu".to_owned(), Value::from(label.as_str()))).into_iter().collect(),
                ..Variant::default()
            };
            variants.insert(*position, variant);
        }
        variants
    }

    /// The workloads of the group, equal ones once, and the name of each entry's.
    fn datasets(
        &mut self,
        group: &Group<'_>,
        files: &mut IndexMap<String, String>,
    ) -> (IndexMap<String, Dataset>, Vec<String>) {
        let mut taken = IndexSet::new();
        let mut datasets = IndexMap::new();
        let mut known: Vec<(Value, String)> = Vec::new();
        let mut names = Vec::new();
        for (_, entry) in &group.entries {
            let content = dataset::content(&entry.dataset, entry.rows.as_ref());
            if let Some((_, name)) = known.iter().find(|(other, _)| *other == content) {
                names.push(name.clone());
                continue;
            }
            let wanted = entry.name.clone().unwrap_or_else(|| "workload".to_owned());
            let name = unique(SafeName::lossy(&wanted).as_str(), &mut taken);
            let mut dataset = entry.dataset.clone();
            dataset.label = (name != wanted).then_some(wanted);
            if let Some(rows) = &entry.rows {
                let path = format!("{}-{name}.{}", self.name, rows.extension);
                dataset.path = Some(PathList(vec![path.clone()]));
                files.insert(path, rows.text.clone());
            }
            datasets.insert(name.clone(), dataset);
            known.push((content, name.clone()));
            names.push(name);
        }
        (datasets, names)
    }

    /// The runs of every entry with their figures.
    fn points(
        &mut self,
        group: &Group<'_>,
        variants: &IndexMap<usize, Variant>,
        datasets: &[String],
    ) -> Vec<PerfPoint> {
        let mut points: Vec<PerfPoint> = Vec::new();
        for ((position, entry), dataset) in group.entries.iter().zip(datasets) {
            let Some(case) = self.cases.get(*position) else { continue };
            let figures = baseline::read(case, &entry.node, entry.baseline.as_ref(), &entry.steps, self.findings);
            let labels: IndexSet<&str> = figures.iter().flat_map(|point| point.keys().map(String::as_str)).collect();
            let labels: Vec<&str> = labels.into_iter().collect();
            lint::description(case, &labels, self.findings);
            let variant = variants.get(position).and_then(|variant| variant.name.clone()).unwrap_or_default();
            for (step, figures) in entry.steps.iter().zip(figures) {
                let point = PerfPoint {
                    variant: variant.clone(),
                    dataset: dataset.clone(),
                    request_rate: step.request_rate,
                    max_concurrency: step.max_concurrency,
                    requests: step.requests,
                    figures,
                };
                if points.iter().any(|other| other.is_same_run(&point)) {
                    let message = format!(
                        "the run at {} is already that of another entry; it is planned once, with the first baseline",
                        baseline::show(*step)
                    );
                    self.findings.note(&entry.node, message);
                } else {
                    points.push(point);
                }
            }
        }
        if let (Medium::Video, Some((_, entry))) = (group.setting.task.medium(), group.entries.first())
            && group.setting.warmup.requests > 0
        {
            let message =
                "the script warms `t2v` up with clips of one frame; the scenario's warm-up has the measured frames";
            self.findings.note(&entry.node, message);
        }
        points
    }

    fn tags(&self, positions: &IndexSet<usize>) -> Vec<String> {
        let cases = positions.iter().filter_map(|position| self.cases.get(*position));
        cases.flat_map(|case| case.marks.words.iter().cloned()).collect::<IndexSet<_>>().into_iter().collect()
    }

    fn environment(&self, positions: &IndexSet<usize>) -> IndexMap<String, Value> {
        let label = common_hardware(self.cases, positions);
        label.map(|label| ("gpu".to_owned(), Value::String(label))).into_iter().collect()
    }

    /// What the file says for people, and what was decided for it, by the place it belongs to.
    fn comments(&self, setting: &Setting, positions: &IndexSet<usize>) -> Comments {
        let mut comments = Comments::default();
        comments.add("", format!("Imported from `{}`, a perf JSON of vLLM-Omni.", self.file));
        let task = setting.task;
        let (runner, script) = entry::default_apis(task);
        let told = match runner {
            Some(api) if api == script => format!("The default of runner and script for `{task}` is `{api}`."),
            Some(api) => format!("Defaults for `{task}`: the runner's is `{api}`, the script's `{script}`."),
            None => format!("The script's default for `{task}` is `{script}`; the runner has none."),
        };
        comments.add("endpoint", told);
        comments.add("environment", "From the marks; change it when the servers run elsewhere.".to_owned());
        comments.add("warmup", "The script's defaults are 1 request, alone, of 2 steps.".to_owned());
        let cases = positions.iter().filter_map(|position| self.cases.get(*position));
        for (number, case) in cases.enumerate() {
            if let Some(description) = case.description {
                comments.add(&format!("variants[{number}]"), description.to_owned());
            }
        }
        comments
    }
}

/// Settings of the endpoint that hold for every variant; the variants keep what only some have.
fn endpoint(group: &Group<'_>, variants: &mut IndexMap<usize, Variant>) -> Endpoint {
    let setting = &group.setting;
    let stage_metrics = variants.values().all(|variant| variant.endpoint.is_some());
    if stage_metrics {
        for variant in variants.values_mut() {
            variant.endpoint = None;
        }
    }
    Endpoint {
        path: Some(setting.api.path().to_owned()),
        bot_task: setting.bot_task.clone(),
        timeout: setting
            .job_timeout_s
            .map(|seconds| Timeout { job: Some(Limit::After(Span::seconds(seconds))), ..Timeout::default() }),
        return_stage_metrics: stage_metrics.then_some(true),
        allow_unknown: group.entries.iter().any(|(_, entry)| entry.allow_unknown).then_some(true),
        ..Endpoint::default()
    }
}

/// The CUDA hardware that the marks of all cases name.
fn common_hardware(cases: &[Case<'_>], positions: &IndexSet<usize>) -> Option<String> {
    let labels = positions.iter().map(|position| cases.get(*position)?.marks.hardware.get("cuda"));
    let labels: IndexSet<Option<&String>> = labels.collect();
    match labels.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => only.cloned(),
        _ => None,
    }
}

/// The name, with a number when it is taken.
fn unique(name: &str, taken: &mut IndexSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}
