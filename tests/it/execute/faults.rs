//! What goes wrong with one exchange has a class, words, and its time.

use omni_bench::catalog::{ErrorClass, Flag};
use omni_bench::execute::Secrets;
use omni_bench::record::Status;
use omni_bench::units::{Limit, Span};

use super::setup::{Setup, error, picture};
use crate::support::fake::{Answer, Fake};

#[tokio::test]
async fn a_reply_that_exceeds_the_limit_is_censored_at_that_time() {
    let server = Fake::start(|seen| if seen.nth == 1 { Answer::hang() } else { picture() }).await;
    let setup = Setup { request_limit: Limit::After(Span::millis(200)), ..Setup::images(2, 1) };
    let outcome = setup.run(&server).await;
    let counts = outcome.driven().counts;
    assert_eq!((counts.ok, counts.censored), (1, 1));
    assert_eq!(outcome.records[0].status, Status::Censored);
    assert_eq!(outcome.error(0), "timeout: no reply within 200ms");
    let latency = outcome.records[0].latency_us.unwrap();
    assert!((200_000..500_000).contains(&latency), "{latency}");
    assert_eq!(server.gone(), 1, "the connection of a cut request is closed");
}

#[tokio::test]
async fn failures_are_told_apart() {
    let server = Fake::start(|seen| match seen.nth {
        1 => error(503, "engine is dead"),
        2 => Answer::reset(),
        3 => picture().torn(60),
        4 => Answer::json(200, r#"{"created":1,"data":[]}"#),
        _ => picture(),
    })
    .await;
    let outcome = Setup::images(5, 1).run(&server).await;
    let classes: Vec<_> = outcome.records.iter().map(|record| record.error.as_ref().map(|error| error.class)).collect();
    let wanted = [ErrorClass::HttpStatus, ErrorClass::Io, ErrorClass::Io, ErrorClass::InvalidResponse].map(Some);
    assert_eq!(classes[..4], wanted);
    assert_eq!(classes[4], None);
    assert!(outcome.error(0).contains("engine is dead"));
    assert_eq!(outcome.records[0].error.as_ref().unwrap().http_status, Some(503));
    assert!(outcome.error(2).starts_with("io: the reply broke off after 60 of "), "{}", outcome.error(2));
    assert_eq!((outcome.driven().counts.ok, outcome.driven().counts.failed), (1, 4));
    assert_eq!(server.seen().len(), 5, "a request with side effects is never sent twice");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_connect_failure() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let outcome = Setup::images(2, 1).run_at(&format!("http://user:hidden-word@127.0.0.1:{port}")).await;
    assert_eq!(outcome.driven().counts.failed, 2);
    assert!(outcome.error(0).starts_with("connect: ") && outcome.error(0).contains("refused"), "{}", outcome.error(0));
    assert!(!outcome.text.contains("hidden-word"), "an address may hold credentials");
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_only() {
    let server = Fake::start(|seen| match (seen.path.as_str(), seen.nth) {
        ("/v1/images/generations", 1) => error(307, "moved").header("location", "/elsewhere"),
        ("/v1/images/generations", 2) => error(307, "moved").header("location", "http://example.invalid/x"),
        ("/v1/images/generations", 3) => error(302, "moved").header("location", "/elsewhere"),
        ("/v1/images/generations", _) => error(308, "moved").header("location", "/v1/images/generations"),
        _ => picture(),
    })
    .await;
    let outcome = Setup::images(4, 1).run(&server).await;
    assert_eq!(outcome.records[0].status, Status::Ok);
    assert_eq!(outcome.records[0].flags, [Flag::Redirected]);
    assert_eq!(server.calls("POST", "/elsewhere")[0].body, server.seen()[0].body, "the body goes along");
    assert!(outcome.error(1).contains("another origin, `http://example.invalid`"), "{}", outcome.error(1));
    assert!(outcome.error(2).starts_with("http_status: "), "a form is not turned into a GET: {}", outcome.error(2));
    assert!(outcome.error(3).contains("more than 3 redirects"), "{}", outcome.error(3));
}

#[tokio::test]
async fn secrets_are_sent_and_never_written() {
    let server = Fake::start(|seen| {
        let key = seen.header("authorization").unwrap_or_default();
        error(401, &format!("wrong key {key} for {}", seen.header("x-team").unwrap_or_default()))
    })
    .await;
    let mut setup = Setup::images(1, 1);
    setup.env = vec![("KEY", "sk-12345\n"), ("TEAM", "blue-team")];
    setup.headers = vec![("X-Team", "TEAM")];
    let outcome = setup.run(&server).await;
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer sk-12345"));
    assert_eq!(server.seen()[0].header("x-team"), Some("blue-team"));
    assert!(outcome.error(0).contains("wrong key Bearer [hidden] for [hidden]"), "{}", outcome.error(0));
    assert!(!outcome.text.contains("sk-12345") && !outcome.text.contains("blue-team"));
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent() {
    let server = Fake::start(|_| picture()).await;
    Setup::images(1, 1).run(&server).await;
    assert_eq!(server.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_header_variable_that_is_not_set_is_named() {
    let setup = Setup { headers: vec![("X-Team", "TEAM")], ..Setup::images(1, 1) };
    let error = Secrets::resolve(&setup.endpoint(), |_| None).err().unwrap();
    assert_eq!(error.to_string(), "header `X-Team` comes from environment variable `TEAM`, which is not set");
}
