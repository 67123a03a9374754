//! What a page tells beyond plan and results.

use std::path::{Component, Path, PathBuf};

use super::Stored;
use crate::plan::{Plan, VariantPlan, serve_flags};
use crate::record::{Environment, ResultsDir, RunManifest, Verified, VerifyReport, read_json};
use crate::report::PageFacts;
use crate::server::{Words, server_words};

/// The facts of a results folder, which is called so on the page.
pub(in crate::commands) fn facts(
    scenario: &Path,
    plan: &Plan,
    (dir, folder): (&ResultsDir, &str),
    manifests: Vec<RunManifest>,
    environments: Vec<Environment>,
) -> PageFacts {
    PageFacts {
        scenario_file: scenario.display().to_string(),
        results_folder: folder.to_owned(),
        manifests,
        environments,
        launch: plan.variants.iter().map(|variant| (variant.name.clone(), launch(plan, variant))).collect(),
        verified: plan.variants.iter().map(|variant| (variant.name.clone(), verified(dir, variant))).collect(),
    }
}

/// What the checks of a variant's servers came to, one server after the other.
fn verified(dir: &ResultsDir, variant: &VariantPlan) -> Vec<Verified> {
    let folders = (1..).map(|number| dir.server(&variant.name, number)).take_while(|folder| folder.is_dir());
    let reports = folders.filter_map(|folder| {
        read_json::<VerifyReport>(&folder.join("verify.json"))
            .inspect_err(|error| tracing::warn!("the page goes without these checks: {error}"))
            .ok()?
    });
    reports.flat_map(|report| report.checks).collect()
}

/// The command that gives a variant's configuration.
fn launch(plan: &Plan, variant: &VariantPlan) -> Vec<String> {
    let port = variant.endpoint.url.as_deref().and_then(|url| url::Url::parse(url).ok()?.port_or_known_default());
    let words = Words { model: &plan.model, host: "127.0.0.1", port: port.unwrap_or(8091) };
    let configured = plan.server.as_ref().and_then(|server| server_words(server, variant, &words).ok());
    configured.unwrap_or_else(|| {
        let port = words.port.to_string();
        let serve = ["vllm", "serve", &plan.model, "--omni", "--port", &port].map(str::to_owned);
        serve.into_iter().chain(serve_flags(variant)).collect()
    })
}

/// The path from the page to the results folder, with `/` at its end.
pub(super) fn link_base(page: &Path, stored: &Stored) -> String {
    let folder = page.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    relative(&plain(folder), &plain(stored.dir.path()))
}

/// The whole path, without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
        plain
    })
}

fn relative(from: &Path, to: &Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).map(|part| part + "/").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_goes_up_to_the_shared_folder_and_down_again() {
        let path = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(path("/w/scenarios/dashboards", "/w/results/q/2026"), "../../results/q/2026/");
        assert_eq!(path("/w", "/w/results"), "results/");
        assert_eq!(path("/w/results", "/w/results"), "");
        assert_eq!(plain(Path::new("/w/./a/../b")), Path::new("/w/b"));
    }
}
