//! Servers on other hosts: nothing is started, and nobody else is asked.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::bench::{Bench, around_server, code, scripted, talk};
use crate::support::fake::{Answer, Fake, Seen};
use crate::support::{Served, have, skipped};

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn script(seen: &Seen) -> Answer {
    match seen.path.as_str() {
        "/health" => Answer::json(200, "{}"),
        "/v1/models" => Answer::json(200, r#"{"data":[{"id":"Qwen/Qwen-Image"}]}"#),
        "/v1/images/generations" => Answer::json(200, format!(r#"{{"created":1,"data":[{{"b64_json":"{PIXEL}"}}]}}"#)),
        _ => Answer::json(404, "{}"),
    }
}

/// Two variants at these URLs, without `[server]`.
fn at(first: &str, second: &str, endpoint: &str) -> String {
    let text = scripted("", 3, "");
    let (head, variants) = around_server(&text);
    let own = |name: &str, url: &str| format!("name = \"{name}\"\nendpoint = {{ url = \"{url}\" }}");
    let scenario = format!("{head}[endpoint]\npath = \"/v1/images/generations\"\n{endpoint}\n\n{variants}");
    let scenario = scenario.replace("name = \"first\"", &own("first", first));
    scenario.replace("name = \"second\"", &own("second", second)) + "\n[compare]\nbaseline = \"first\"\n"
}

fn two() -> (Runtime, Fake, Fake) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (first, second) = runtime.block_on(async { (Fake::start(script).await, Fake::start(script).await) });
    (runtime, first, second)
}

#[test]
fn two_servers_are_compared_by_their_urls_without_starting_anything() {
    let (_runtime, first, second) = two();
    let bench = Bench::new(&at(&first.url, &second.url, "headers = { X-Tenant = \"TENANT_OF_TEST\" }"));
    let mut command = bench.0.command(&["run", "small.toml"]);
    // a proxy in the environment is not for measurements; this one would refuse every connection
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:9");
    }
    let output = command.env("TENANT_OF_TEST", "tenant-4711").output().unwrap();
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("second") && shown.contains("first"), "{shown}");
    let (runs, missing) = bench.runs();
    assert_eq!(missing, []);
    assert_eq!(runs, ["first/A/c1", "second/A/c1"]);
    for fake in [&first, &second] {
        let measured = fake.calls("POST", "/v1/images/generations");
        assert!(measured.len() >= 3, "{}", measured.len());
        assert!(fake.seen().iter().all(|seen| seen.header("x-tenant") == Some("tenant-4711")));
    }
    for variant in ["first", "second"] {
        let folder = bench.latest().join(format!("servers/{variant}-1"));
        assert!(folder.join("environment.json").is_file() && !folder.join("server.log").exists());
    }
    assert!(!talk(&output).contains("tenant-4711") && !bench.read("plan.json").contains("tenant-4711"));

    let unset = bench.run(&[]);
    assert_eq!(code(&unset), 2);
    assert!(talk(&unset).contains("`TENANT_OF_TEST`, which is not set"), "{}", talk(&unset));
}

#[test]
fn a_proxy_is_used_when_the_scenario_names_one() {
    let (_runtime, first, second) = two();
    let bench =
        Bench::new(&at(&first.url, &second.url, "proxy = \"http://127.0.0.1:9\"\nready = { timeout = \"1s\" }"));
    let output = bench.run(&[]);
    assert_eq!(code(&output), 3, "{}", talk(&output));
    assert_eq!((first.seen().len(), second.seen().len()), (0, 0), "everything went to the proxy");
}

fn openssl(folder: &Path, words: &str) {
    let output = Command::new("openssl").args(words.split(' ')).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "openssl {words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes an authority (`ca.pem`), and a server's key and certificate of it for 127.0.0.1.
fn certificates(folder: &Path) {
    const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(folder, &format!("req -x509 {KEY} -keyout ca.key -out ca.pem -days 2 -subj /CN=private"));
    openssl(folder, &format!("req {KEY} -keyout server.key -out server.csr -subj /CN=server"));
    fs_err::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    openssl(
        folder,
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    openssl(folder, &format!("req -x509 {KEY} -keyout other.key -out other.pem -days 2 -subj /CN=other"));
}

/// A TLS door in front of a server; gives its URL.
fn tls_door(runtime: &Runtime, tasks: &mut JoinSet<()>, folder: &Path, upstream: &str) -> String {
    let certificate = CertificateDer::from_pem_file(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let upstream = upstream.trim_start_matches("http://").to_owned();
    let door = async move {
        let mut open = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, upstream) = (acceptor.clone(), upstream.clone());
            open.spawn(async move {
                // a client that does not trust the certificate hangs up
                let Ok(mut outside) = acceptor.accept(stream).await else { return };
                let mut inside = TcpStream::connect(upstream).await.unwrap();
                drop(tokio::io::copy_bidirectional(&mut outside, &mut inside).await);
            });
        }
    };
    tasks.spawn_on(door, runtime.handle());
    url
}

#[test]
fn a_private_authority_is_trusted_when_the_scenario_names_its_file() {
    if !have("openssl") {
        return skipped("a_private_authority_is_trusted_when_the_scenario_names_its_file", "there is no openssl");
    }
    let (first, second) = (Served::simulator(&["--speed", "100"]), Served::simulator(&["--speed", "100"]));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let bench = Bench::new("");
    let folder = bench.path("trust");
    fs_err::create_dir(&folder).unwrap();
    certificates(&folder);
    let mut tasks = JoinSet::new();
    let first = tls_door(&runtime, &mut tasks, &folder, first.url());
    let second = tls_door(&runtime, &mut tasks, &folder, second.url());
    let run = |endpoint: &str| {
        // relative to the file, not to the folder of the command
        let text = at(&first, &second, &format!("{endpoint}\nready = {{ timeout = \"2s\" }}"));
        fs_err::write(folder.join("small.toml"), text).unwrap();
        bench.0.omni_bench(&["run", "trust/small.toml"])
    };

    let output = run("ca_file = \"ca.pem\"");
    assert_eq!(code(&output), 0, "{}", talk(&output));
    assert_eq!(bench.runs().0, ["first/A/c1", "second/A/c1"]);

    for wrong in ["", "ca_file = \"other.pem\""] {
        let output = run(wrong);
        assert_eq!(code(&output), 3, "{}", talk(&output));
        let why = bench.runs().1[0].1.clone();
        assert!(why.contains("certificate"), "{why}");
    }

    for (file, why) in [("absent.pem", "absent.pem"), ("names", "holds no certificate")] {
        let output = run(&format!("ca_file = \"{file}\""));
        let text = talk(&output);
        assert_eq!(code(&output), 2, "{text}");
        assert!(text.contains(why) && text.contains("small.toml:") && text.contains("ca_file"), "{text}");
    }
    tasks.abort_all();
}
