//! What can be said about a scenario's texts without knowing what they will be used for: addresses,
//! names, names of environment variables, checksums. Works on the document, so that a wrong value
//! elsewhere hides nothing.

use url::Url;

use super::layer::NAMED_LISTS;
use super::node::{Data, Node};
use super::secret::{is_environment_name, is_reference, is_secret, is_secret_option};
use crate::diagnostic::{KeyPath, Problem, Segment};
use crate::units::SafeName;

/// Tables that hold endpoint settings.
const ENDPOINTS: [&[&str]; 2] = [&["endpoint"], &["variants", "*", "endpoint"]];

/// Every problem of this kind.
pub(super) fn check(document: &Node) -> Vec<Problem> {
    let mut problems = names(document);
    for table in ENDPOINTS {
        for (path, endpoint) in document.matching(table) {
            let text = |key: &str| endpoint.get(key).and_then(Node::text).map(|text| (path.key(key), text));
            problems.extend(text("url").and_then(|(path, text)| server_url(path, text)));
            problems.extend(text("proxy").and_then(|(path, text)| web_url(&path, text).err()));
            problems.extend(text("api_key_env").and_then(|(path, text)| environment_name(path, text)));
            for (name, header) in endpoint.get("headers").and_then(Node::table).into_iter().flatten() {
                let path = path.key("headers").key(name);
                problems.extend(header.text().and_then(|text| environment_name(path, text)));
            }
        }
    }
    for (path, node) in document.matching(&["datasets", "*", "url"]) {
        // names of the hub's files are read, and told if wrong, where datasets are loaded
        let address = node.text().filter(|text| !text.starts_with("hf:"));
        problems.extend(address.and_then(|text| web_url(&path, text).err()));
    }
    for (path, node) in document.matching(&["datasets", "*", "sha256"]) {
        problems.extend(node.text().and_then(|text| checksum(path, text)));
    }
    problems.extend(shown_keys(document));
    problems.extend(not_numbers(document, &KeyPath::root()));
    problems
}

/// Keys that would stand in the plan, or in the list of processes for every user of the machine to see.
fn shown_keys(document: &Node) -> Vec<Problem> {
    const HINT: &str = "hand it to the server by name, in `[server].env`: `VLLM_API_KEY = \"${VLLM_API_KEY}\"`";
    let problem = |path: KeyPath, message: &str| Problem::value(path, message).hint(HINT);
    let mut problems = Vec::new();
    for (path, node) in document.matching(&["server", "env", "*"]) {
        if is_secret(&path) && node.text().is_some_and(|value| !is_reference(value)) {
            problems.push(problem(path, "a key must not stand in a scenario; it would end up in results"));
        }
    }
    for (path, node) in document.matching(&["variants", "*", "serve_args", "*"]) {
        let is_option = matches!(path.segments().last(), Some(Segment::Key(name)) if is_secret_option(name));
        if is_option && node.text().is_some() {
            problems.push(problem(path, "a key must not be an argument of a command; everybody can list those"));
        }
    }
    for (path, node) in document.matching(&["server", "command", "*"]) {
        let mut words = node.text().unwrap_or_default().split_whitespace();
        let is_option = |word: &str| {
            let name = word.split('=').next().unwrap_or_default();
            name.starts_with("--") && is_secret_option(name)
        };
        if words.any(is_option) {
            problems.push(problem(path, "a key must not be an argument of a command; everybody can list those"));
        }
    }
    problems
}

fn names(document: &Node) -> Vec<Problem> {
    let safe = |text: &str| text.parse::<SafeName>().map_err(|error| error.to_string());
    let mut problems = Vec::new();
    for (path, node) in document.matching(&["name"]) {
        problems.extend(node.text().and_then(|text| safe(text).err()).map(|message| Problem::value(path, message)));
    }
    let mut datasets: Vec<String> = Vec::new();
    for (path, _) in document.matching(&["datasets", "*"]) {
        let Some(Segment::Key(name)) = path.segments().last() else { continue };
        problems.extend(safe(name).err().map(|message| Problem::key(path.clone(), message)));
        problems.extend(folder_of_another(name, &datasets).map(|message| Problem::key(path.clone(), message)));
        datasets.push(name.clone());
    }
    for list in NAMED_LISTS {
        let pattern: Vec<&str> = list.iter().copied().chain(["*"]).collect();
        let mut seen: Vec<(&str, KeyPath)> = Vec::new();
        for (path, entry) in document.matching(&pattern) {
            let Some(node) = entry.get("name") else {
                if entry.table().is_some() {
                    problems.push(Problem::value(path, "this entry needs a `name`"));
                }
                continue;
            };
            let Some(name) = node.text() else { continue };
            let here = path.key("name");
            if let Err(message) = safe(name) {
                problems.push(Problem::value(here, message));
            } else if let Some((_, first)) = seen.iter().find(|(known, _)| *known == name) {
                problems.push(Problem::value(here, format!("the name `{name}` is already that of `{first}`")));
            } else {
                let known: Vec<&str> = seen.iter().map(|(known, _)| *known).collect();
                problems.extend(folder_of_another(name, &known).map(|message| Problem::value(here, message)));
                seen.push((name, path));
            }
        }
    }
    problems
}

/// Names become folders, and some file systems do not tell `a` from `A`.
fn folder_of_another(name: &str, known: &[impl AsRef<str>]) -> Option<String> {
    let other = known.iter().map(AsRef::as_ref).find(|known| *known != name && known.eq_ignore_ascii_case(name))?;
    Some(format!("`{name}` and `{other}` differ by case only, and would share a folder where case does not count"))
}

/// A server's address: scheme, host and port, nothing else.
fn server_url(path: KeyPath, text: &str) -> Option<Problem> {
    let url = match web_url(&path, text) {
        Ok(url) => url,
        Err(problem) => return Some(problem),
    };
    if url.query().is_some() || url.fragment().is_some() {
        let message = "the server's address has a query or a fragment; it is scheme, host and port only";
        return Some(Problem::value(path, message));
    }
    if url.path() == "/" {
        return None;
    }
    let base = url.as_str().trim_end_matches(url.path());
    let message = format!("the server's address has the path `{}`; it is scheme, host and port only", url.path());
    let hint = if url.path().trim_end_matches('/') == "/v1" {
        format!("write `{base}`; the `/v1` is part of each endpoint's path")
    } else {
        format!("write `{base}`, and the path in `path`")
    };
    Some(Problem::value(path, message).hint(hint))
}

/// An http or https address without user name or password; these are never echoed.
fn web_url(path: &KeyPath, text: &str) -> Result<Url, Problem> {
    let problem = |message: &str| Problem::value(path.clone(), message);
    let authority = text.split_once("://").map_or(text, |(_, rest)| rest).split(['/', '?', '#']).next();
    if authority.is_some_and(|authority| authority.contains('@')) {
        return Err(problem("the address holds a user name or password").hint(
            "remove what stands before the `@`; a key goes into an environment variable named by `api_key_env`",
        ));
    }
    let parsed = Url::parse(text).ok().filter(|url| url.has_host() || matches!(url.scheme(), "http" | "https"));
    match parsed {
        Some(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Some(url) => Err(problem(&format!("`{}` is not a scheme that can be used here", url.scheme()))
            .hint("write `http://` or `https://`")),
        None if !text.contains("://") && Url::parse(&format!("http://{text}")).is_ok() => {
            Err(problem(&format!("`{text}` has no scheme")).hint(format!("write `http://{text}`")))
        }
        None => Err(problem(&format!("`{text}` is not an address"))
            .hint("write scheme, host and port, like `http://localhost:8091`")),
    }
}

/// The value itself is not echoed: what is no name may be the key.
fn environment_name(path: KeyPath, text: &str) -> Option<Problem> {
    let message = "this is not the name of an environment variable (upper case letters, digits and `_`)";
    let hint = "put the value into an environment variable and write that variable's name here, like `OPENAI_API_KEY`";
    (!is_environment_name(text)).then(|| Problem::value(path, message).hint(hint))
}

fn checksum(path: KeyPath, text: &str) -> Option<Problem> {
    let hexadecimal = text.chars().all(|c| c.is_ascii_hexdigit());
    let count = text.chars().count();
    match (hexadecimal, count) {
        (true, 64) => None,
        (true, _) => Some(format!("a SHA-256 has 64 hexadecimal digits, this has {count}")),
        (false, _) => Some("a SHA-256 has 64 hexadecimal digits, this has other characters".to_owned()),
    }
    .map(|message| Problem::value(path, message))
}

/// NaN and infinity, which no request field can carry; a rate may be infinite.
fn not_numbers(node: &Node, path: &KeyPath) -> Vec<Problem> {
    match &node.data {
        Data::Table(table) => table.iter().flat_map(|(key, node)| not_numbers(node, &path.key(key))).collect(),
        Data::List(list) => list.iter().enumerate().flat_map(|(i, node)| not_numbers(node, &path.index(i))).collect(),
        Data::Float(value) if !value.is_finite() => {
            let rate = path.segments().iter().any(|segment| *segment == Segment::Key("request_rate".into()));
            let problem = Problem::value(path.clone(), format!("expected a finite number, found `{node}`"));
            if rate { Vec::new() } else { vec![problem] }
        }
        _ => Vec::new(),
    }
}
