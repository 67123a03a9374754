//! `[endpoint]` and `[variants.endpoint]` laid over each other, with every default in place.

use indexmap::IndexMap;
use url::Url;

use super::types::{EndpointPlan, PollPlan, ReadyPlan, TimeoutPlan};
use crate::catalog::{Api, Task, is_known_field};
use crate::diagnostic::{KeyPath, Problem};
use crate::scenario::model::{self, Endpoint, Validate};
use crate::units::{ByteSize, Limit, Span};

/// Where readiness is asked when the scenario does not say.
pub(super) const READY_PATH: &str = "/health";

/// Resolves the endpoint of a variant; `own` is what the variant itself says, with its place.
pub(super) fn resolve(
    base: &Endpoint,
    own: Option<(&Endpoint, KeyPath)>,
    task: Task,
    problems: &mut Vec<Problem>,
) -> EndpointPlan {
    let nothing = Endpoint::default();
    let (own, own_at) = own.map_or((&nothing, KeyPath::root()), |(own, at)| (own, at));
    let base_at = KeyPath::from("endpoint");
    // the place of a key: the variant's when it says something, else the scenario's
    let at = |said: bool, key: &str| if said { own_at.key(key) } else { base_at.key(key) };

    let path = own.path.as_ref().or(base.path.as_ref());
    let api = api(path, task, &at(own.path.is_some(), "path"), problems);
    let url = own
        .url
        .as_ref()
        .or(base.url.as_ref())
        .and_then(|url| base_url(url).map_err(|problem| problems.push(problem(at(own.url.is_some(), "url")))).ok());
    let proxy = own.proxy.as_ref().or(base.proxy.as_ref());
    if proxy.is_some_and(|proxy| Url::parse(proxy).map_or(true, |url| has_user(&url))) {
        let message = "the proxy is not a URL without a user name";
        problems.push(Problem::value(at(own.proxy.is_some(), "proxy"), message).hint("write `http://host:port`"));
    }
    let mut headers = base.headers.clone();
    headers.extend(own.headers.clone());
    check_headers(&headers, |name| at(own.headers.contains_key(name), "headers"), problems);
    let mut extra_body = base.extra_body.clone();
    extra_body.extend(own.extra_body.clone());
    let plan = EndpointPlan {
        url,
        api,
        api_key_env: own.api_key_env.clone().or_else(|| base.api_key_env.clone()),
        headers,
        extra_body,
        ready: ready(own.ready.as_ref(), base.ready.as_ref(), Span::seconds(120)),
        timeout: timeout(own.timeout.as_ref(), base.timeout.as_ref()),
        poll: poll(own.poll.as_ref(), base.poll.as_ref()),
        stream: own.stream.or(base.stream).unwrap_or(false),
        spelling: own.spelling.or(base.spelling).unwrap_or_default(),
        sync_video: own.sync_video.or(base.sync_video).unwrap_or(false),
        return_stage_metrics: own.return_stage_metrics.or(base.return_stage_metrics).unwrap_or(false),
        bot_task: own.bot_task.clone().or_else(|| base.bot_task.clone()),
        validate: own.validate.or(base.validate).unwrap_or(Validate::Header),
        allow_unknown: own.allow_unknown.or(base.allow_unknown).unwrap_or(false),
        max_reply: own.max_reply.or(base.max_reply).unwrap_or(ByteSize::megabytes(512)),
        ca_file: own.ca_file.clone().or_else(|| base.ca_file.clone()),
        proxy: proxy.cloned(),
        http2: own.http2.or(base.http2).unwrap_or(false),
    };
    check_poll(&plan.poll, &at(own.poll.is_some(), "poll"), problems);
    check_ready(&plan.ready, &at(own.ready.is_some(), "ready"), problems);
    let options = [
        ("bot_task", plan.bot_task.is_some(), own.bot_task.is_some()),
        ("return_stage_metrics", plan.return_stage_metrics, own.return_stage_metrics.is_some()),
    ];
    for (key, wanted, own) in options {
        if wanted && !plan.allow_unknown && !is_known_field(api, key) {
            problems.push(Problem::key(at(own, key), format!("`{api}` ignores `{key}`")));
        }
    }
    let only = [
        ("stream", plan.stream && api != Api::Edits, own.stream.is_some(), Api::Edits),
        ("sync_video", plan.sync_video && api != Api::Videos, own.sync_video.is_some(), Api::Videos),
    ];
    for (key, _, own, able) in only.into_iter().filter(|(_, wrong, ..)| *wrong) {
        problems.push(Problem::key(at(own, key), format!("`{key}` is for `{able}`, not for `{api}`")));
    }
    plan
}

fn check_headers(headers: &IndexMap<String, String>, at: impl Fn(&str) -> KeyPath, problems: &mut Vec<Problem>) {
    for (name, variable) in headers {
        let place = at(name).key(name);
        if name.parse::<http::HeaderName>().is_err() {
            problems.push(Problem::key(place, format!("`{name}` is not the name of a header")));
        } else if variable.is_empty() {
            problems.push(Problem::value(place, "the environment variable that holds the value has no name"));
        }
    }
}

fn api(path: Option<&String>, task: Task, at: &KeyPath, problems: &mut Vec<Problem>) -> Api {
    let Some(path) = path else { return task.default_api() };
    let list = |apis: &[Api]| apis.iter().map(|api| format!("`{api}`")).collect::<Vec<_>>().join(", ");
    let Some(api) = Api::from_path(path) else {
        problems.push(
            Problem::value(at.clone(), format!("`{path}` is not an endpoint"))
                .hint(format!("the endpoints are {}", list(&Api::ALL))),
        );
        return task.default_api();
    };
    if !api.can_do(task) {
        let able: Vec<Api> = Api::ALL.into_iter().filter(|api| api.can_do(task)).collect();
        problems.push(
            Problem::value(at.clone(), format!("`{api}` cannot do task `{task}`"))
                .hint(format!("endpoints that can: {}", list(&able))),
        );
    }
    api
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The base URL without a trailing slash, or what makes a problem of it. A URL with a user name is
/// never repeated in a message.
fn base_url(written: &str) -> Result<String, impl FnOnce(KeyPath) -> Problem> {
    let example = "write scheme, host and port, like `http://localhost:8091`";
    let wrong = |message: String, hint: String| move |at: KeyPath| Problem::value(at, message).hint(hint);
    let Ok(url) = Url::parse(written.trim()) else {
        return Err(wrong("this is not a URL".to_owned(), example.to_owned()));
    };
    if has_user(&url) {
        let hint = "name the environment variable that holds the key in `api_key_env`";
        return Err(wrong("a URL must not hold a user name or key".to_owned(), hint.to_owned()));
    }
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong(format!("`{written}` is not the URL of a server"), example.to_owned()));
    }
    let origin = url.origin().ascii_serialization();
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        let hint = format!("write `{origin}`; the endpoint's path, like `/v1/videos`, is `endpoint.path`");
        return Err(wrong(format!("`{written}` has a path"), hint));
    }
    Ok(origin)
}

/// Readiness from the first place that says something about it.
pub(super) fn ready(own: Option<&model::Ready>, base: Option<&model::Ready>, timeout: Span) -> ReadyPlan {
    let path = own.and_then(|ready| ready.path.clone()).or_else(|| base.and_then(|ready| ready.path.clone()));
    let limit = own.and_then(|ready| ready.timeout).or_else(|| base.and_then(|ready| ready.timeout));
    ReadyPlan { path: path.unwrap_or_else(|| READY_PATH.to_owned()), timeout: limit.unwrap_or(timeout) }
}

fn timeout(own: Option<&model::Timeout>, base: Option<&model::Timeout>) -> TimeoutPlan {
    let pick = |limit: fn(&model::Timeout) -> Option<Limit>, default: Span| {
        own.and_then(limit).or_else(|| base.and_then(limit)).unwrap_or(Limit::After(default))
    };
    TimeoutPlan {
        connect: pick(|timeout| timeout.connect, Span::seconds(10)),
        request: pick(|timeout| timeout.request, Span::seconds(15 * 60)),
        job: pick(|timeout| timeout.job, Span::seconds(15 * 60)),
    }
}

fn poll(own: Option<&model::Poll>, base: Option<&model::Poll>) -> PollPlan {
    fn pick<T>(own: Option<&model::Poll>, base: Option<&model::Poll>, key: fn(&model::Poll) -> Option<T>) -> Option<T> {
        own.and_then(key).or_else(|| base.and_then(key))
    }
    PollPlan {
        first: pick(own, base, |poll| poll.first).unwrap_or(Span::millis(50)),
        growth: pick(own, base, |poll| poll.growth).unwrap_or(0.05),
        max: pick(own, base, |poll| poll.max).unwrap_or(Span::seconds(2)),
    }
}

fn check_poll(poll: &PollPlan, at: &KeyPath, problems: &mut Vec<Problem>) {
    if !(poll.growth.is_finite() && poll.growth >= 0.0) {
        problems.push(Problem::value(at.key("growth"), "the growth of polls is a number of at least 0"));
    }
    if poll.first.duration().is_zero() {
        problems.push(Problem::value(at.key("first"), "polls without a gap would load the server"));
    }
    if poll.max < poll.first {
        let message = format!("the longest gap `{}` is below the shortest `{}`", poll.max, poll.first);
        problems.push(Problem::value(at.key("max"), message));
    }
}

/// A readiness path is a path, and its time is not zero.
pub(super) fn check_ready(ready: &ReadyPlan, at: &KeyPath, problems: &mut Vec<Problem>) {
    if !ready.path.starts_with('/') {
        let message = format!("`{}` is not a path", ready.path);
        problems.push(Problem::value(at.key("path"), message).hint(format!("write `{READY_PATH}`")));
    }
    if ready.timeout.duration().is_zero() {
        problems.push(Problem::value(at.key("timeout"), "a server needs some time to answer"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(base: &str, own: Option<&str>, task: Task) -> (EndpointPlan, Vec<Problem>) {
        let base: Endpoint = toml::from_str(base).unwrap();
        let own: Option<Endpoint> = own.map(|own| toml::from_str(own).unwrap());
        let mut problems = Vec::new();
        let own = own.as_ref().map(|own| (own, KeyPath::from("variants[0].endpoint")));
        (resolve(&base, own, task, &mut problems), problems)
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let (plan, problems) = resolved("url = 'http://localhost:8091/'", None, Task::T2v);
        assert_eq!(problems, []);
        assert_eq!(plan.url.as_deref(), Some("http://localhost:8091"));
        assert_eq!((plan.api, plan.ready.path.as_str()), (Api::Videos, "/health"));
        assert_eq!(plan.ready.timeout, Span::seconds(120));
        assert_eq!(plan.timeout.connect, Limit::After(Span::seconds(10)));
        assert_eq!((plan.timeout.request, plan.timeout.job), (plan.timeout.job, Limit::After(Span::seconds(900))));
        assert_eq!((plan.poll.first, plan.poll.growth, plan.poll.max), (Span::millis(50), 0.05, Span::seconds(2)));
        assert_eq!((plan.max_reply, plan.validate), (ByteSize::megabytes(512), Validate::Header));
    }

    #[test]
    fn a_variant_lays_its_own_keys_over_the_scenarios() {
        let base = "url = 'http://a:1'\ntimeout = { connect = '1s', job = '2s' }\nextra_body = { a = 1, b = 2 }\nheaders = { x = 'X' }";
        let own = "url = 'http://b:2'\ntimeout = { job = 'none' }\nextra_body = { b = 3 }\npoll = { max = '5s' }";
        let (plan, problems) = resolved(base, Some(own), Task::T2i);
        assert_eq!(problems, []);
        assert_eq!(plan.url.as_deref(), Some("http://b:2"));
        assert_eq!(plan.timeout.connect, Limit::After(Span::seconds(1)));
        assert_eq!(plan.timeout.job, Limit::Never);
        assert_eq!(serde_json::to_string(&plan.extra_body).unwrap(), r#"{"a":1,"b":3}"#);
        assert_eq!((plan.poll.first, plan.poll.max), (Span::millis(50), Span::seconds(5)));
    }

    #[test]
    fn urls_that_cannot_be_a_server_are_refused_with_what_would_be_right() {
        for (url, hint) in [
            (
                "http://localhost:8091/v1",
                "write `http://localhost:8091`; the endpoint's path, like `/v1/videos`, is `endpoint.path`",
            ),
            ("localhost:8091", "write scheme, host and port, like `http://localhost:8091`"),
            ("ftp://host", "write scheme, host and port, like `http://localhost:8091`"),
            ("", "write scheme, host and port, like `http://localhost:8091`"),
            ("http://user:secret@host", "name the environment variable that holds the key in `api_key_env`"),
        ] {
            let (plan, problems) = resolved(&format!("url = '{url}'"), None, Task::T2i);
            assert_eq!(plan.url, None);
            assert_eq!(problems[0].hint.as_deref(), Some(hint), "{url}");
            assert!(!problems[0].message.contains("secret"));
        }
    }

    #[test]
    fn tasks_and_endpoints_are_matched_before_anything_is_sent() {
        for (path, task) in [
            ("/v1/images/edits", Task::T2i),
            ("/v1/images/generations", Task::T2v),
            ("/v1/videos", Task::T2i),
            ("/v1/chat/completions", Task::T2v),
        ] {
            let (_, problems) = resolved(&format!("path = '{path}'"), None, task);
            assert_eq!(problems[0].message, format!("`{path}` cannot do task `{task}`"));
        }
        let (_, problems) = resolved("path = '/v1/embeddings'", None, Task::T2i);
        assert_eq!(
            problems[0].hint.as_deref(),
            Some(
                "the endpoints are `/v1/chat/completions`, `/v1/images/generations`, `/v1/images/edits`, `/v1/videos`"
            )
        );
        let (plan, problems) = resolved("path = 'vllm-omni'", None, Task::T2i);
        assert_eq!((plan.api, problems.len()), (Api::Chat, 0));
    }

    #[test]
    fn options_the_endpoint_ignores_are_refused_at_their_place() {
        let (_, problems) = resolved("return_stage_metrics = true", Some("bot_task = 'think'"), Task::T2v);
        let told: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect();
        assert_eq!(
            told,
            [
                "variants[0].endpoint.bot_task: `/v1/videos` ignores `bot_task`",
                "endpoint.return_stage_metrics: `/v1/videos` ignores `return_stage_metrics`"
            ]
        );
        let (_, problems) = resolved("return_stage_metrics = true\nallow_unknown = true", None, Task::T2v);
        assert_eq!(problems, []);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (text, path) in [
            ("poll = { growth = nan }", "endpoint.poll.growth"),
            ("poll = { first = '0s' }", "endpoint.poll.first"),
            ("poll = { first = '3s' }", "endpoint.poll.max"),
            ("ready = { path = 'health' }", "endpoint.ready.path"),
            ("headers = { 'a b' = 'X' }", "endpoint.headers.a b"),
            ("headers = { a = '' }", "endpoint.headers.a"),
            ("proxy = 'http://me:pw@proxy'", "endpoint.proxy"),
        ] {
            let (_, problems) = resolved(text, None, Task::T2i);
            assert_eq!(problems.len(), 1, "{text}");
            assert_eq!(problems[0].path.to_string(), path);
        }
    }
}
