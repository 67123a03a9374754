//! A headless Chromium, driven over `WebDriver`: <https://www.w3.org/TR/webdriver2/>.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;

use serde_json::{Value, json};

/// What keeps the browser quiet, apart from its folder.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // containers may have a small /dev/shm
    "--disable-dev-shm-usage",
    "--window-size=1280,1000",
];

/// The key under which `WebDriver` tells an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Plain HTTP still needs a TLS provider in the client's hands; another test area may have been first.
static PROVIDER: Once = Once::new();

/// A browser with one window. It, its driver and its folder are gone when this goes.
pub(super) struct Browser {
    driver: Child,
    session: String,
    client: reqwest::Client,
    folder: tempfile::TempDir,
}

/// A program of the search path.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Browser {
    /// Starts a browser; `Err` says what is not installed.
    pub(super) async fn start() -> Result<Self, String> {
        let driver = program("chromedriver").ok_or("`chromedriver` is not installed")?;
        let binary = program("chromium").ok_or("`chromium` is not installed")?;
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let folder = tempfile::tempdir().unwrap();
        let driver = Command::new(driver).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut browser = Self { driver, session: String::new(), client, folder };
        browser.session = format!("http://127.0.0.1:{}/session", browser.port());
        let profile = format!("--user-data-dir={}", browser.folder.path().display());
        let flags: Vec<&str> = FLAGS.iter().copied().chain([profile.as_str()]).collect();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": binary, "args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.post("", &wanted).await;
        let id = session["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {session}"));
        browser.session = format!("{}/{id}", browser.session);
        Ok(browser)
    }

    /// The port that the driver took, as it tells.
    fn port(&mut self) -> u16 {
        let lines = BufReader::new(self.driver.stdout.take().unwrap()).lines();
        let told = lines.map_while(Result::ok).find_map(|line| {
            let (_, after) = line.split_once("started successfully on port ")?;
            after.trim_end_matches('.').parse().ok()
        });
        told.expect("the driver tells its port")
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.session)).header("content-type", "application/json");
        let reply = request.body(body.to_string()).send().await.unwrap().bytes().await.unwrap();
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        assert!(reply["value"]["error"].is_null(), "{path}: {reply}");
        reply["value"].clone()
    }

    /// Loads a file.
    pub(super) async fn open(&self, file: &Path) {
        self.post("/url", &json!({"url": format!("file://{}", file.display())})).await;
    }

    /// What the page's console got since the last time.
    pub(super) async fn console(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"})).await;
        log.as_array().unwrap().iter().map(ToString::to_string).collect()
    }

    /// What a function body returns in the page.
    pub(super) async fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []})).await
    }

    async fn element(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({"using": "css selector", "value": selector})).await;
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Clicks the first element of that selector as a person would: it must be in sight.
    pub(super) async fn click(&self, selector: &str) {
        let element = self.element(selector).await;
        self.post(&format!("/element/{element}/click"), &json!({})).await;
    }

    /// Types into the first element of that selector.
    pub(super) async fn keys(&self, selector: &str, text: &str) {
        let element = self.element(selector).await;
        self.post(&format!("/element/{element}/value"), &json!({"text": text})).await;
    }

    /// Types into whatever has the focus.
    pub(super) async fn press(&self, key: &str) {
        let strokes = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post("/actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})).await;
    }

    /// The texts of all elements of that selector that can be seen.
    pub(super) async fn texts(&self, selector: &str) -> Vec<String> {
        let script = format!(
            "return [...document.querySelectorAll({selector:?})].filter((e) => e.checkVisibility()).map((e) => e.innerText)"
        );
        let texts = self.run(&script).await;
        texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// A command of Chromium's own protocol.
    pub(super) async fn chromium(&self, command: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters})).await
    }

    /// A picture of so many pixels from the top of the page, as PNG; what it shows need not be in sight.
    pub(super) async fn picture(&self, height: u32) -> Vec<u8> {
        let size =
            self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]").await;
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1].as_u64().unwrap().min(height.into()), "scale": 1});
        let parameters = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let reply = self.chromium("Page.captureScreenshot", parameters).await;
        base64_simd::STANDARD.decode_to_vec(reply["data"].as_str().unwrap()).unwrap()
    }

    /// Closes the window, which ends the browser, and waits until its processes are gone.
    pub(super) async fn close(self) {
        let reply = self.client.delete(&self.session).send().await.unwrap();
        assert!(reply.status().is_success(), "{}", reply.status());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // ended by the driver unless a test failed before `close`; only processes that name this test's
        // own folder are meant
        let folder = self.folder.path().to_string_lossy().into_owned();
        for process in processes_with(&folder) {
            // an error says that it has gone by itself meanwhile
            rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap_or_default();
        }
        drop(self.driver.kill());
        self.driver.wait().unwrap();
    }
}

/// Processes whose command line holds this text.
fn processes_with(text: &str) -> Vec<rustix::process::Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    named
        .filter(|pid| {
            let words = fs_err::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(text)
        })
        .filter_map(rustix::process::Pid::from_raw)
        .collect()
}
