//! Bringing a variant's server up: in this process, as a child, by hand, or by finding it there.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use http::HeaderMap;
use serde_json::Value;

use super::Campaign;
use super::host::{Host, Origin, Unready, given_url, simulated_speed};
use crate::execute::{Secrets, authorities};
use crate::plan::{ReadyPlan, ServerPlan, VariantPlan};
use crate::record::{GpuLoad, Redactor, ServerFacts, VERIFY_FORMAT, VerifyReport, write_json};
use crate::server::{
    Launch, Probe, Readiness, Served, ServerProcess, Words, choose_model, free_port, server_words, shell_line,
    surroundings, verify,
};

/// Where started servers listen.
const LOOPBACK: &str = "127.0.0.1";

/// A server on its way up.
struct Rising {
    origin: Origin,
    url: String,
    command: Option<Vec<String>>,
    /// Folder under `servers/`, once it exists.
    folder: Option<PathBuf>,
    /// What the GPUs did before it was started.
    background: Option<Vec<GpuLoad>>,
}

/// What a server tells about itself.
struct Found {
    probe: Probe,
    served: Served,
    version: Option<Value>,
    /// Model id to send.
    model: String,
}

impl Campaign<'_> {
    /// Starts or finds the server of a variant, waits until it is ready and asks what it is.
    pub(super) async fn bring_up(&self, variant: &VariantPlan) -> Result<Host, Unready> {
        let Rising { mut origin, url, command, folder, background } = self.start(variant)?;
        let folder = folder.map_or_else(|| self.server_folder(variant), Ok)?;
        let found = tokio::select! {
            found = self.inspect(variant, &url, &folder, &mut origin) => found,
            () = self.stop.stopped() => Err(Unready::Interrupted),
        };
        let redactor = self.redactor(variant);
        let kept = found.and_then(|found| {
            let told = simulated_speed(found.version.as_ref());
            let simulated = told.or(self.simulator.map(|_| self.plan.speed));
            let facts = ServerFacts {
                folder: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
                url: shown(&url),
                models: found.served.models().map(|ids| ids.iter().map(|id| redactor.text(id)).collect()),
                version: found.version.map(|version| redactor.value(version)),
                // a simulator's times do not depend on what else the GPUs do
                background: background.filter(|_| simulated.is_none()),
                slurm: self.slurm.clone(),
            };
            let telemetry = self
                .describe(variant, &folder, &facts, (command, &origin, &found.probe), simulated.is_some())
                .map_err(Unready::Results)?;
            Ok((found.probe, found.model, facts, simulated, telemetry))
        });
        match kept {
            Ok((probe, model, facts, simulated, telemetry)) => {
                let ready_path = self.ready_plan(variant, &origin).0.path.clone();
                Ok(Host { origin, url, probe, facts, model, simulated, ready_path, lost: None, telemetry })
            }
            Err(error) => {
                let last_words = origin.last_words();
                origin.stop().await;
                Err(match error {
                    Unready::Failed(why) => Unready::Failed(why + &last_words),
                    other @ (Unready::Interrupted | Unready::Results(_)) => other,
                })
            }
        }
    }

    fn start(&self, variant: &VariantPlan) -> Result<Rising, Unready> {
        if let Some(simulator) = self.simulator {
            let server = simulator(variant).map_err(|error| Unready::Failed(format!("the simulator: {error}")))?;
            let url = server.url().to_owned();
            return Ok(Rising {
                origin: Origin::InProcess(server),
                url,
                command: None,
                folder: None,
                background: None,
            });
        }
        match &self.plan.server {
            None => Ok(Rising {
                origin: Origin::Given,
                url: given_url(variant)?,
                command: None,
                folder: None,
                background: None,
            }),
            Some(server) if server.is_manual() => self.ask_for(server, variant),
            Some(server) => self.launch(server, variant),
        }
    }

    fn launch(&self, server: &ServerPlan, variant: &VariantPlan) -> Result<Rising, Unready> {
        let (host, port, url) = place(variant)?;
        let words = self.words(server, variant, &host, port)?;
        let folder = self.server_folder(variant)?;
        let lookup = |name: &str| std::env::var(name).ok();
        let (env, handed_on) = surroundings(&server.env, lookup).map_err(|error| Unready::Failed(error.to_string()))?;
        // a server needs the keys of its clients only when the scenario hands them on
        let withheld = self.secrets.values().flat_map(|secrets| secrets.variables().iter().cloned());
        let known = self.secrets.values().map(Secrets::redactor);
        let launch = Launch {
            words: words.clone(),
            env,
            withheld: withheld.collect(),
            redactor: Redactor::all(known.chain([&Redactor::new(handed_on)])),
            cwd: server.cwd.as_ref().map(PathBuf::from),
            log: folder.join("server.log"),
            stop_grace: server.stop_grace.duration(),
            watchdog: self.watchdog.clone(),
        };
        let background = self.background();
        let process = ServerProcess::start(&launch).map_err(|error| Unready::Failed(error.to_string()))?;
        self.note(&format!("starting the server of `{}`: {}", variant.name, shell_line(&server.env, &words)));
        let origin = Origin::Launched(Box::new(process));
        Ok(Rising { origin, url, command: Some(words), folder: Some(folder), background })
    }

    fn ask_for(&self, server: &ServerPlan, variant: &VariantPlan) -> Result<Rising, Unready> {
        let url = given_url(variant)?;
        let (host, port) = address(&url)?;
        let words = self.words(server, variant, &host, port)?;
        let line = shell_line(&server.env, &words);
        self.ask(&format!("start the server of `{}` so that it answers at {url}:\n  {line}", variant.name));
        Ok(Rising { origin: Origin::Manual, url, command: Some(words), folder: None, background: None })
    }

    fn words(&self, server: &ServerPlan, variant: &VariantPlan, host: &str, port: u16) -> Result<Vec<String>, Unready> {
        let words = Words { model: &self.plan.model, host, port };
        server_words(server, variant, &words).map_err(|error| Unready::Failed(error.to_string()))
    }

    /// Waits and asks; everything that can take time and be given up.
    async fn inspect(
        &self,
        variant: &VariantPlan,
        url: &str,
        folder: &Path,
        origin: &mut Origin,
    ) -> Result<Found, Unready> {
        let headers = self.secrets.get(&variant.name).map_or_else(HeaderMap::new, Secrets::headers);
        let trusted = variant.endpoint.ca_file.as_deref().map(authorities).transpose().map_err(Unready::Failed)?;
        let probe = Probe::new(url, &variant.endpoint, headers, trusted.unwrap_or_default())
            .map_err(|why| Unready::Failed(format!("no client for `{url}`: {why}")))?;
        let (ready, key) = self.ready_plan(variant, origin);
        let readiness = Readiness { probe: &probe, ready, key, note: &|text| self.note(text) };
        let redactor = self.redactor(variant);
        let failed = |why: String| Unready::Failed(redactor.text(&why));
        readiness.wait(|| origin.died()).await.map_err(|error| failed(error.to_string()))?;
        let served = probe.served_models().await;
        let (model, remark) = choose_model(&self.plan.model, &served, url).map_err(failed)?;
        if let Some(remark) = remark {
            self.note(&redactor.text(&remark));
        }
        let version = probe.version().await;
        self.verify(variant, &probe, folder, origin).await?;
        // whoever answered may have been another one, at the port that this one could not have
        if let Some(why) = origin.died() {
            return Err(Unready::Failed(why));
        }
        origin.remember_helpers();
        Ok(Found { probe, served, version, model })
    }

    /// What hides the secrets of a variant's endpoint.
    pub(super) fn redactor(&self, variant: &VariantPlan) -> Redactor {
        self.secrets.get(&variant.name).map(|secrets| secrets.redactor().clone()).unwrap_or_default()
    }

    /// Checks that the server runs what its flags promised, and keeps what was seen.
    async fn verify(
        &self,
        variant: &VariantPlan,
        probe: &Probe,
        folder: &Path,
        origin: &Origin,
    ) -> Result<(), Unready> {
        if variant.verify.is_empty() {
            return Ok(());
        }
        let mut checks = verify(&variant.verify, probe, origin.log()).await;
        // an answer can repeat the key that it was asked with
        if let Some(secrets) = self.secrets.get(&variant.name) {
            for seen in checks.iter_mut().filter_map(|check| check.seen.as_mut()) {
                *seen = secrets.redact(seen);
            }
        }
        let failed: Vec<String> = checks.iter().filter(|check| !check.ok).map(ToString::to_string).collect();
        let report = VerifyReport { format: VERIFY_FORMAT, variant: variant.name.clone(), checks };
        let redactor = self.redactor(variant);
        let report = serde_json::to_value(&report).map_err(|error| Unready::Results(error.into()))?;
        write_json(&folder.join("verify.json"), &redactor.value(report)).map_err(Unready::Results)?;
        if failed.is_empty() {
            return Ok(());
        }
        let message = format!("the server does not run what the scenario says: {}", failed.join("; "));
        Err(Unready::Failed(redactor.text(&message)))
    }

    fn ready_plan<'p>(&'p self, variant: &'p VariantPlan, origin: &Origin) -> (&'p ReadyPlan, &'static str) {
        match (origin, &self.plan.server) {
            (Origin::Launched(_) | Origin::Manual, Some(server)) => (&server.ready, "server.ready.timeout"),
            _ => (&variant.endpoint.ready, "endpoint.ready.timeout"),
        }
    }

    /// Makes the folder of the variant's next server.
    fn server_folder(&self, variant: &VariantPlan) -> Result<PathBuf, Unready> {
        let mut number = 1;
        while self.dir.server(&variant.name, number).exists() {
            number += 1;
        }
        let folder = self.dir.server(&variant.name, number);
        fs_err::create_dir_all(&folder).map_err(Unready::Results)?;
        Ok(folder)
    }
}

/// Host, port and URL of a server that is about to be started.
fn place(variant: &VariantPlan) -> Result<(String, u16, String), Unready> {
    let Some(url) = &variant.endpoint.url else {
        let port = free_port(LOOPBACK).map_err(|error| Unready::Failed(format!("no free port: {error}")))?;
        return Ok((LOOPBACK.to_owned(), port, format!("http://{LOOPBACK}:{port}")));
    };
    let (host, port) = address(url)?;
    // whoever answers there now would be measured in the new server's stead
    if TcpListener::bind((LOOPBACK, port)).is_err() {
        return Err(Unready::Failed(format!("port {port} of `{url}` is in use by another server")));
    }
    Ok((host, port, url.clone()))
}

fn address(url: &str) -> Result<(String, u16), Unready> {
    let parsed = url::Url::parse(url).ok();
    let host = parsed.as_ref().and_then(url::Url::host_str).map(str::to_owned);
    match (host, parsed.as_ref().and_then(url::Url::port_or_known_default)) {
        (Some(host), Some(port)) => Ok((host, port)),
        _ => Err(Unready::Failed(format!("`{url}` has no host and port to start a server at"))),
    }
}

/// The URL without user name and password.
fn shown(url: &str) -> String {
    let Ok(mut parsed) = url::Url::parse(url) else { return url.to_owned() };
    if parsed.username().is_empty() && parsed.password().is_none() {
        return url.to_owned();
    }
    // both can only fail for URLs that cannot have them
    if parsed.set_username("").is_ok() && parsed.set_password(None).is_ok() { parsed.into() } else { String::new() }
}
