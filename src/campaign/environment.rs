//! What a server is and where it runs, as files and as telemetry of its runs.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::Campaign;
use super::host::Origin;
use crate::plan::VariantPlan;
use crate::record::{ENVIRONMENT_FORMAT, Environment, GpuLoad, Machine, Role, ServerFacts, write_json};
use crate::server::{Place, Probe, Telemetry, background, image_digest, machine, tool_commit};

impl Campaign<'_> {
    /// What the GPUs do now, before a server is started.
    pub(super) fn background(&self) -> Option<Vec<GpuLoad>> {
        let devices = self.devices.as_ref().ok()?;
        let looked = background(devices.as_ref());
        looked.inspect_err(|why| self.note(&format!("the GPUs' load before the start is not known: {why}"))).ok()
    }

    /// Writes `environment.json`, says what in it contradicts the scenario, and sets up telemetry.
    pub(super) fn describe(
        &self,
        variant: &VariantPlan,
        folder: &Path,
        facts: &ServerFacts,
        (command, origin, probe): (Option<Vec<String>>, &Origin, &Probe),
        simulated: bool,
    ) -> io::Result<Telemetry> {
        let launched = matches!(origin, Origin::Launched(_) | Origin::InProcess(_));
        let role = Place { url: &facts.url, launched, simulated }.role();
        let machine = self.machine(role, command.as_deref().unwrap_or_default(), facts);
        let environment = Environment {
            format: ENVIRONMENT_FORMAT,
            tool_version: env!("CARGO_PKG_VERSION").into(),
            tool_commit: tool_commit().map(str::to_owned),
            host: self.host.into(),
            ready_at: (self.now)().to_string(),
            variant: variant.name.clone(),
            url: facts.url.clone(),
            models: facts.models.clone(),
            version: facts.version.clone(),
            command,
            environment: variant.environment.clone(),
            machine: Some(machine),
            slurm: facts.slurm.clone(),
        };
        for found in environment.contradictions() {
            let (key, declared, detected) = (found.key, found.declared, found.detected);
            self.note(&format!("`environment.{key}` says `{declared}`, and this machine has `{detected}`"));
        }
        write_json(&folder.join("environment.json"), &environment)?;
        // GPUs of this machine say nothing of a server elsewhere, and a simulator uses none
        let devices = self.devices.as_ref().ok().filter(|_| role == Role::Server).map(Arc::clone);
        let group = match origin {
            Origin::Launched(process) => process.id(),
            Origin::Given | Origin::Manual | Origin::InProcess(_) => None,
        };
        Ok(Telemetry::new(folder.join("telemetry.jsonl"), probe.clone(), devices, group))
    }

    fn machine(&self, role: Role, command: &[String], facts: &ServerFacts) -> Machine {
        let mut machine = machine(role, self.devices);
        machine.background.clone_from(&facts.background);
        machine.image_digest = image_digest(command);
        if machine.image_digest.is_none() && role == Role::Server {
            let why = "the server's command names none, and a container cannot see its own; declare image_digest";
            machine.undetected.insert("image_digest".to_owned(), why.to_owned());
        }
        if tool_commit().is_none() {
            let why = "omni-bench was built outside of its repository";
            machine.undetected.insert("commit of omni-bench".to_owned(), why.to_owned());
        }
        machine
    }
}
