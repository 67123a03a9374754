//! A simulator in this process that stands in for a variant's server.

use std::io;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::Ui;
use crate::campaign::InProcess;
use crate::execute::{Secrets, Target};
use crate::plan::{Plan, VariantPlan, serve_flags};
use crate::simulator::{Settings, serve};

/// Starts the simulator of a variant on a free port; needs a runtime.
pub(super) fn start(plan: &Plan, variant: &VariantPlan, ui: Ui) -> io::Result<InProcess> {
    let (settings, notes) = settings(plan, variant).map_err(io::Error::other)?;
    for note in notes {
        ui.note(&format!("`{}`: {note}", variant.name));
    }
    host(settings)
}

/// Starts a server that answers at once on a free port, for the client to measure itself against, and
/// gives it as a target; needs a runtime. It ends when it is dropped.
pub(super) fn start_null() -> io::Result<(InProcess, Target)> {
    let settings = Settings { null: true, ..Settings::default() };
    let model = settings.model.clone();
    let server = host(settings)?;
    let target = Target { url: server.url().to_owned(), model, speed: 1.0, secrets: Secrets::default() };
    Ok((server, target))
}

fn host(settings: Settings) -> io::Result<InProcess> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let listener = TcpListener::from_std(listener)?;
    let (shutdown, ended) = oneshot::channel::<()>();
    let mut tasks = JoinSet::new();
    tasks.spawn(serve(listener, settings, async move {
        // a sender that was dropped means the same as one that has sent
        drop(ended.await);
    }));
    Ok(InProcess::new(url, shutdown, tasks))
}

/// The simulator's settings that a variant stands for, and remarks about flags without effect.
pub(super) fn settings(plan: &Plan, variant: &VariantPlan) -> Result<(Settings, Vec<String>), String> {
    let defaults = Settings::default();
    let mut settings = Settings {
        model: if plan.model == "auto" { defaults.model.clone() } else { plan.model.clone() },
        task: Some(plan.task),
        speed: plan.speed,
        profile: plan.simulator_profile.clone(),
        noise: plan.simulator_noise,
        faults: plan.simulator_faults.clone(),
        ..defaults
    };
    let notes = settings.apply_serve_flags(&serve_flags(variant))?;
    Ok((settings, notes))
}
