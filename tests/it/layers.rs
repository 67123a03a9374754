//! The modules depend on one another in one direction only: every `crate::…` path in the sources is
//! an edge, and each edge must be in the list of the design.

#![cfg(test)] // the lints that spare tests then spare their helpers too

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

/// What every module may use.
const BASE: &[&str] = &["units", "catalog", "diagnostic"];

/// What a module may use besides [`BASE`]; `None` is everything.
fn allowed(module: &str) -> Option<&'static [&'static str]> {
    Some(match module {
        "units" | "catalog" | "diagnostic" | "media" | "scenario" | "exit" | "cli" => &[],
        "workload" => &["scenario", "media"],
        "plan" => &["scenario", "workload"],
        "record" => &["plan"],
        "endpoint" => &["workload", "media", "record"],
        "execute" => &["plan", "workload", "endpoint", "record"],
        "campaign" => &["plan", "execute", "server", "record"],
        "server" | "summarize" | "cluster" => &["plan", "record"],
        "compare" => &["summarize", "record"],
        "parity" => &["record", "media"],
        "gate" => &["summarize", "compare"],
        "history" => &["summarize"],
        "report" => &["plan", "record", "summarize", "compare", "parity", "gate", "history"],
        "simulator" => &["media"],
        "import" => &["scenario", "gate"],
        "export" => &["summarize", "plan"],
        "commands" => return None,
        _ => panic!("module `{module}` is not in the design's list of layers"),
    })
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Names that follow `crate ::`, one or a group of them, with their lines.
fn names_after(tokens: &[TokenTree]) -> Vec<(String, usize)> {
    match tokens {
        [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(name), ..]
            if a.as_char() == ':' && b.as_char() == ':' =>
        {
            vec![(name.to_string(), name.span().start().line)]
        }
        [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Group(group), ..]
            if a.as_char() == ':' && b.as_char() == ':' =>
        {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            inner
                .split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ','))
                .filter_map(|item| match item.first() {
                    Some(TokenTree::Ident(name)) => Some((name.to_string(), name.span().start().line)),
                    _ => None,
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn edges(stream: TokenStream, found: &mut Vec<(String, usize)>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (position, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "crate" => found.extend(names_after(&tokens[position + 1..])),
            TokenTree::Group(group) => edges(group.stream(), found),
            _ => {}
        }
    }
}

fn all_edges() -> BTreeMap<(String, String), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut all = BTreeMap::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if matches!(module.as_str(), "main" | "lib") {
            continue;
        }
        let text = fs_err::read_to_string(&file).unwrap();
        let mut found = Vec::new();
        edges(TokenStream::from_str(&text).unwrap(), &mut found);
        for (target, line) in found {
            all.entry((module.clone(), target)).or_insert_with(|| format!("src/{}:{line}", relative.display()));
        }
    }
    all
}

#[test]
fn modules_use_only_the_layers_below_them() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for ((module, target), place) in all_edges() {
        seen.insert(module.clone());
        let fine = module == target
            || BASE.contains(&target.as_str())
            || allowed(&module).is_none_or(|list| list.contains(&target.as_str()));
        if !fine || (target == "commands" && module != "commands") || (target == "cli" && module != "commands") {
            wrong.push(format!("{place}: `{module}` must not use `{target}`"));
        }
    }
    assert!(seen.len() > 10, "the test reads the sources: {seen:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_finds_edges_in_groups_macros_and_paths() {
    let mut found = Vec::new();
    let text = "use crate::{plan::Plan, record}; fn f() { x!(crate::media::Y); let s = \"crate::no\"; } // crate::no";
    edges(TokenStream::from_str(text).unwrap(), &mut found);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["plan", "record", "media"]);
}
