//! `omni-bench init`.

use std::io::{ErrorKind, Write};

use super::Ui;
use crate::cli::InitArgs;
use crate::exit::Exit;

const TOML: &str = include_str!("init/scenario.toml");
const YAML: &str = include_str!("init/scenario.yaml");

pub(super) fn run(args: &InitArgs, ui: Ui) -> Exit {
    let file = &args.file;
    let text = match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => TOML,
        Some("yaml" | "yml") => YAML,
        _ => {
            ui.error(&format!("`{}` must end in `.toml`, `.yaml` or `.yml`", file.display()));
            return Exit::Usage;
        }
    };
    let mut options = fs_err::OpenOptions::new();
    options.write(true);
    if args.force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    match options.open(file).and_then(|mut opened| opened.write_all(text.as_bytes())) {
        Ok(()) => {
            let name = file.display();
            ui.note(&format!("wrote {name}; try `omni-bench run {name} --simulate`"));
            Exit::Fine
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            ui.error(&format!("`{}` is already there; `--force` overwrites it", file.display()));
            Exit::Usage
        }
        Err(error) => {
            ui.error(&error.to_string());
            Exit::Results
        }
    }
}
