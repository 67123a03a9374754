//! The inputs of `fuzz/corpus` without a fuzzer: every one of them, found or made by hand, goes through
//! the function of its target.

use std::path::PathBuf;

use super::targets;
use crate::support::repository;

type Target = (&'static str, fn(&[u8]));

/// The fuzz targets by name.
pub(super) const TARGETS: [Target; 8] = [
    ("scenario_toml", targets::scenario_toml),
    ("scenario_yaml", targets::scenario_yaml),
    ("trace_lines", targets::trace_lines),
    ("reply_json", targets::reply_json),
    ("reply_sse", targets::reply_sse),
    ("image_header", targets::image_header),
    ("video_container", targets::video_container),
    ("records", targets::records),
];

/// The paths of a folder of `fuzz/`, in order.
fn paths(folder: &str) -> Vec<PathBuf> {
    let folder = repository().join("fuzz").join(folder);
    let mut paths: Vec<PathBuf> = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The inputs of a target.
pub(super) fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    paths(&format!("corpus/{target}")).into_iter().map(|path| (path.clone(), fs_err::read(path).unwrap())).collect()
}

#[test]
fn no_input_of_the_corpora_breaks_a_parser() {
    let mut count = 0;
    for (name, target) in TARGETS {
        for (path, input) in inputs(name) {
            let result = std::panic::catch_unwind(|| target(&input));
            assert!(result.is_ok(), "{} breaks {name}", path.display());
            count += 1;
        }
    }
    assert!(count > 150, "{count} inputs");
    println!("inputs of the corpora: {count}, panics: 0");
}

#[test]
fn every_fuzz_target_has_a_corpus_and_is_known_here() {
    let stems = |folder: &str| -> Vec<String> {
        paths(folder).iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    };
    let mut known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(stems("fuzz_targets"), known);
    assert_eq!(stems("corpus"), known);
    let bytes: u64 = known.iter().flat_map(|name| inputs(name)).map(|(_, input)| input.len() as u64).sum();
    assert!(bytes < 1 << 20, "the corpora have {bytes} bytes");
}
