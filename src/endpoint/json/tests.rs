use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Malformed, Scanner, Skeleton};

fn read_in(body: &[u8], step: usize) -> Result<Option<Value>, Malformed> {
    let (mut scanner, mut skeleton) = (Scanner::new(), Skeleton::new());
    for chunk in body.chunks(step) {
        scanner.feed(chunk, &mut |event| {
            skeleton.on(event);
            Ok(())
        })?;
    }
    scanner.finish(&mut |event| {
        skeleton.on(event);
        Ok(())
    })?;
    Ok(skeleton.into_root())
}

fn message(body: &str) -> String {
    read_in(body.as_bytes(), 7).expect_err(body).to_string()
}

#[test]
fn every_kind_of_broken_json_has_its_own_message() {
    let deep = "[".repeat(65);
    let long = "1".repeat(129);
    let cases = [
        ("{\"a\":1", "truncated json: the reply ends within the document"),
        ("{} {}", "malformed json: something follows the document at byte 3"),
        ("{\"a\" 1}", "malformed json at byte 5: expected `:`, found `1`"),
        ("{a:1}", "malformed json at byte 1: expected a key or `}`, found `a`"),
        ("{\"a\":1,}", "malformed json at byte 7: expected a key, found `}`"),
        ("[1 2]", "malformed json at byte 3: expected `,` or `]`, found `2`"),
        ("[NaN]", "malformed json at byte 1: expected a value, found `N`"),
        ("[1,NaN]", "malformed json at byte 3: expected a value, found `N`"),
        ("nul1", "malformed json at byte 3: expected `true`, `false` or `null`, found `1`"),
        ("[01]", "malformed json: `01` is not a number"),
        ("[1e999]", "malformed json: a number is out of range"),
        ("[\"a\tb\"]", "malformed json: control character in a string"),
        ("[\"\\x\"]", "malformed json: unknown escape in a string"),
        (deep.as_str(), "malformed json: nested deeper than 64 levels (limit `nesting.reply`)"),
        (long.as_str(), "malformed json: a number has more than 128 characters"),
    ];
    for (body, wanted) in cases {
        assert_eq!(message(body), wanted, "{body}");
    }
    assert_eq!(read_in(b"\"\xff\"", 1), Err(Malformed::Utf8));
    assert_eq!(read_in(b"\"\xc3\"", 1), Err(Malformed::Utf8));
}

#[test]
fn escapes_and_characters_survive_any_cut() {
    let body = "{\"\\u00e4\\/\\n\":\"zürich \\ud83d\\ude00 日本 \\\"\\\\\",\"b\":[true,false,null,-1.5e3,0]}";
    let wanted = json!({"ä/\n": "zürich 😀 日本 \"\\", "b": [true, false, null, -1500.0, 0]});
    for step in 1..=body.len() {
        assert_eq!(read_in(body.as_bytes(), step), Ok(Some(wanted.clone())), "step {step}");
    }
}

#[test]
fn half_a_surrogate_pair_reads_as_the_replacement_character() {
    assert_eq!(read_in(b"\"\\ud83dx\\ude00\\ud83d\"", 1), Ok(Some(json!("\u{fffd}x\u{fffd}\u{fffd}"))));
}

#[test]
fn what_exceeds_the_budget_is_left_out_and_the_rest_stays() {
    let body = json!({
        "trace": vec![0.5; 100_000],
        "thoughts": "ä".repeat(100_000),
        "metrics": {"peak_memory_mb": 100.0},
    });
    let root = read_in(body.to_string().as_bytes(), 1000).unwrap().unwrap();
    assert_eq!(root["trace"].as_array().map(Vec::len), Some(512));
    assert_eq!(root["thoughts"].as_str().map(|text| text.chars().count()), Some(1025));
    assert_eq!(root["metrics"]["peak_memory_mb"], 100.0);
}

#[test]
fn many_keys_and_objects_do_not_grow_without_bound() {
    let objects: Vec<Value> = (0..400).map(|i| json!({"name": "x".repeat(1000), "list": vec![i; 400]})).collect();
    let body = Value::Array(objects).to_string();
    let (mut scanner, mut skeleton) = (Scanner::new(), Skeleton::new());
    for chunk in body.as_bytes().chunks(4096) {
        scanner
            .feed(chunk, &mut |event| {
                skeleton.on(event);
                Ok(())
            })
            .unwrap();
        assert!(skeleton.retained() < 70 * 1024, "{}", skeleton.retained());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..6).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn it_reads_what_serde_json_reads(value in any_json(), pretty in any::<bool>(), step in 1usize..40) {
        let body = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        // numbers through text, as serde_json reads them
        let wanted: Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(read_in(body.as_bytes(), step), Ok(Some(wanted)));
    }

    #[test]
    fn it_accepts_exactly_what_serde_json_accepts(body in "[\\[\\]{}:,\"ab0-9.eE+\\-\\\\/ntrufals \n]{0,24}") {
        let theirs = serde_json::from_str::<Value>(&body).ok();
        prop_assert_eq!(read_in(body.as_bytes(), 3).ok().flatten(), theirs);
    }

    #[test]
    fn any_bytes_end_the_same_way_in_any_chunks(body in prop::collection::vec(any::<u8>(), 0..60), step in 1usize..10) {
        prop_assert_eq!(read_in(&body, 1000), read_in(&body, step));
    }
}
