//! Downloads of datasets: what a scenario needs → files in the user's cache folder. In: the downloads
//! that were allowed. Out: where each lies, or why it does not. A file is kept only when it is whole
//! and has the checksum that was asked for; nothing that was fetched is ever carried out.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use directories::ProjectDirs;
use reqwest::{Client, Response, StatusCode, redirect};

use super::Ui;
use crate::record::write_atomic;
use crate::scenario::Scenario;
use crate::units::SafeName;
use crate::workload::{self, DEFAULT_HUB, Download, Sources};

/// Environment variable with the folder of the cache.
const CACHE: &str = "OMNI_BENCH_CACHE";
/// Environment variable with the hub's base address, the one that the hub's own tools read.
const HUB: &str = "HF_ENDPOINT";

/// Largest file that is fetched.
const MOST_BYTES: u64 = 1 << 30;
/// Redirects followed; a hub answers with one to its storage.
const MOST_REDIRECTS: usize = 5;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(30);
/// How long a server may be silent.
const SILENCE: Duration = Duration::from_mins(1);
/// How long a download may take as a whole.
const WHOLE: Duration = Duration::from_mins(30);

/// Fetches what a scenario's datasets need and allow, or what `consent` allows, unless the cache has it.
pub(super) fn fetch(scenario: &Scenario, consent: bool, ui: Ui) -> Sources {
    let mut sources = Sources::default();
    for download in allowed(scenario, consent) {
        sources.insert(download.dataset.clone(), one(&download, ui));
    }
    sources
}

/// Where earlier downloads of a scenario's datasets lie; fetches nothing.
pub(super) fn cached(scenario: &Scenario) -> Sources {
    let mut sources = Sources::default();
    for download in allowed(scenario, false) {
        if let Some(path) = cache_folder().ok().map(|folder| place(&folder, &download)).filter(|path| path.is_file()) {
            sources.insert(download.dataset, Ok(path));
        }
    }
    sources
}

/// The address that a download comes from.
pub(super) fn address(download: &Download) -> String {
    download.remote.address(&hub())
}

fn allowed(scenario: &Scenario, consent: bool) -> impl Iterator<Item = Download> {
    workload::downloads(scenario).into_iter().filter(move |download| download.allowed || consent)
}

fn one(download: &Download, ui: Ui) -> Result<PathBuf, String> {
    let folder = cache_folder()?;
    let path = place(&folder, download);
    if path.is_file() {
        let Some(wanted) = &download.sha256 else { return Ok(path) };
        let held = fs_err::read(&path).map_err(|error| error.to_string())?;
        if workload::sha256([held.as_slice()]).eq_ignore_ascii_case(wanted) {
            return Ok(path);
        }
        ui.note(&format!("the cached copy of `{}` has another checksum and is fetched again", download.remote));
    }
    let address = address(download);
    ui.note(&format!("dataset `{}`: downloading {address}", download.dataset));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let bytes = runtime.block_on(body(&address)).map_err(|reason| format!("{address}: {reason}"))?;
    let found = workload::sha256([bytes.as_slice()]);
    if let Some(wanted) = download.sha256.as_ref().filter(|wanted| !wanted.eq_ignore_ascii_case(&found)) {
        return Err(format!("{address}: the file's SHA-256 is `{found}`, not `{wanted}`"));
    }
    fs_err::create_dir_all(&folder).and_then(|()| write_atomic(&path, &bytes)).map_err(|error| error.to_string())?;
    ui.note(&format!(
        "dataset `{}`: {} bytes with SHA-256 `{found}` are now in {}",
        download.dataset,
        bytes.len(),
        path.display()
    ));
    Ok(path)
}

fn hub() -> String {
    std::env::var(HUB).ok().filter(|hub| !hub.is_empty()).unwrap_or_else(|| DEFAULT_HUB.to_owned())
}

fn cache_folder() -> Result<PathBuf, String> {
    let own = std::env::var_os(CACHE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = own.or_else(|| ProjectDirs::from("", "", "omni-bench").map(|dirs| dirs.cache_dir().to_owned()));
    let folder = folder.ok_or_else(|| format!("there is no home folder for a cache; set `{CACHE}` to a folder"))?;
    Ok(folder.join("datasets"))
}

/// The file of a download in the cache: told apart by what the scenario names, readable by its own name.
fn place(folder: &Path, download: &Download) -> PathBuf {
    let hash = blake3::hash(download.remote.to_string().as_bytes()).to_hex();
    let hash: String = hash.chars().take(16).collect();
    folder.join(format!("{hash}-{}", SafeName::lossy(&download.remote.file_name())))
}

async fn body(address: &str) -> Result<Vec<u8>, String> {
    let client = Client::builder()
        .user_agent(concat!("omni-bench/", env!("CARGO_PKG_VERSION")))
        .redirect(redirects())
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .timeout(WHOLE)
        .build()
        .map_err(words)?;
    let mut response = client.get(address).send().await.map_err(words)?;
    check_head(&response)?;
    let announced = response.content_length();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(words)? {
        if (bytes.len() + chunk.len()) as u64 > MOST_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    if announced.is_some_and(|announced| announced != bytes.len() as u64) {
        return Err(format!("{} bytes came where {} were announced", bytes.len(), announced.unwrap_or_default()));
    }
    if bytes.is_empty() {
        return Err("the file is empty".to_owned());
    }
    Ok(bytes)
}

/// At most five, and none from an encrypted connection to a plain one.
fn redirects() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let secure = attempt.previous().last().is_some_and(|url| url.scheme() == "https");
        if attempt.previous().len() > MOST_REDIRECTS {
            attempt.error(format!("more than {MOST_REDIRECTS} redirects"))
        } else if secure && attempt.url().scheme() != "https" {
            attempt.error("a redirect from https to a connection without encryption")
        } else {
            attempt.follow()
        }
    })
}

fn check_head(response: &Response) -> Result<(), String> {
    if response.status() != StatusCode::OK {
        return Err(format!("the server answered {}", response.status()));
    }
    if response.content_length().is_some_and(|length| length > MOST_BYTES) {
        return Err(too_large());
    }
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    // what a sign-in page or a captive portal answers in the place of the file
    if kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html")) {
        return Err("the server answered with a web page, not with data".to_owned());
    }
    Ok(())
}

fn too_large() -> String {
    "the file has more than 1 GiB, the most that is fetched".to_owned()
}

/// An error of the client with its causes, without the address, which stands before it.
fn words(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer in time (connection {} s, silence {} s)", CONNECT.as_secs(), SILENCE.as_secs());
    }
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
