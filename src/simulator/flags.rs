//! Serve flags as a vLLM-Omni server takes them, applied to the settings.

use super::settings::Settings;

impl Settings {
    /// Applies the words of a serve command line and returns notes about flags that change nothing here.
    /// `--cache-backend NAME`, unless it is `none`, moves the colours of what is drawn by a few of 255 steps, the
    /// same way for the same name and request seed, as a cache that reuses results between steps changes what a
    /// server draws; it makes nothing faster.
    /// Words come as `--key value`, `--key=value` or a bare `--switch`; `_` and `-` are the same in a key.
    ///
    /// # Errors
    /// A known flag without its value or with a value it cannot have, or a word that belongs to no flag.
    pub fn apply_serve_flags(&mut self, words: &[String]) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let Some((key, inline)) = split(word) else {
                return Err(format!("`{word}` belongs to no serve flag"));
            };
            if let Some(switch) = self.switch(&key) {
                *switch = match inline {
                    None | Some("true") => true,
                    Some("false") => false,
                    Some(other) => return Err(format!("`--{key}` is a switch and takes no value `{other}`")),
                };
            } else if is_degree(&key) {
                let value = inline.or_else(|| words.next()).ok_or_else(|| format!("`--{key}` needs a value"))?;
                let number = match value.parse::<u32>() {
                    Ok(number) if number >= 1 => number,
                    _ => return Err(format!("`--{key}` takes a whole number from 1, not `{value}`")),
                };
                match self.degree(&key) {
                    Some(degree) => *degree = number,
                    None => notes.push(format!("`--{key}` does not change simulated times")),
                }
            } else if key == "cache-backend" {
                let value = inline.or_else(|| words.next_if(|next| split(next).is_none()));
                let value = value.filter(|value| !value.is_empty()).ok_or("`--cache-backend` needs a value")?;
                self.cache_backend = (value != "none").then(|| value.to_owned());
                if self.cache_backend.is_some() {
                    notes.push(format!(
                        "`--{key} {value}` draws colours a little off; it does not change simulated times"
                    ));
                }
            } else {
                let value = inline.or_else(|| words.next_if(|next| split(next).is_none()));
                let written = value.map_or_else(String::new, |value| format!(" {value}"));
                notes.push(format!("`--{key}{written}` has no effect on the simulator"));
            }
        }
        Ok(notes)
    }

    fn switch(&mut self, key: &str) -> Option<&mut bool> {
        match key {
            "use-hsdp" => Some(&mut self.layout.hsdp),
            "step-execution" => Some(&mut self.step_execution),
            "enable-diffusion-pipeline-profiler" => Some(&mut self.profiler),
            _ => None,
        }
    }

    fn degree(&mut self, key: &str) -> Option<&mut u32> {
        match key {
            "cfg-parallel-size" => Some(&mut self.layout.cfg),
            "usp" | "ulysses-degree" => Some(&mut self.layout.ulysses),
            "ring" | "ring-degree" => Some(&mut self.layout.ring),
            "tensor-parallel-size" | "tp" => Some(&mut self.layout.tensor),
            "pipeline-parallel-size" | "pp" => Some(&mut self.layout.pipeline),
            "data-parallel-size" | "dp" => Some(&mut self.layout.data),
            "vae-patch-parallel-size" => Some(&mut self.layout.vae_patch),
            "max-num-seqs" => Some(&mut self.max_num_seqs),
            _ => None,
        }
    }
}

fn is_degree(key: &str) -> bool {
    key == "text-encoder-tp-size" || Settings::default().degree(key).is_some()
}

/// The key of a flag and the value written onto it; `None` for a word that is no flag. A negative number is a
/// value.
fn split(word: &str) -> Option<(String, Option<&str>)> {
    let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let (key, value) = bare.split_once('=').map_or((bare, None), |(key, value)| (key, Some(value)));
    key.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| (key.replace('_', "-"), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulator::Layout;

    fn apply(line: &str) -> Result<(Settings, Vec<String>), String> {
        let mut settings = Settings::default();
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        settings.apply_serve_flags(&words).map(|notes| (settings, notes))
    }

    #[test]
    fn the_flags_of_a_real_server_set_layout_and_scheduler() {
        let (settings, notes) = apply(
            "--cfg-parallel-size 2 --usp 2 --ring=3 --tensor_parallel_size 4 --pipeline-parallel-size 5 -dp 6 \
             --vae-patch-parallel-size=4 --use-hsdp --max-num-seqs 8 --step-execution \
             --enable-diffusion-pipeline-profiler",
        )
        .unwrap();
        let layout = Layout { cfg: 2, ulysses: 2, ring: 3, tensor: 4, pipeline: 5, data: 6, vae_patch: 4, hsdp: true };
        assert_eq!(settings.layout, layout);
        assert_eq!((settings.max_num_seqs, settings.step_execution, settings.profiler), (8, true, true));
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn other_flags_are_noted_with_their_values_and_change_nothing() {
        let (settings, notes) =
            apply("--vae-use-tiling --gpu-memory-utilization 0.9 --text-encoder-tp-size 2 --seed -1").unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(
            notes,
            [
                "`--vae-use-tiling` has no effect on the simulator",
                "`--gpu-memory-utilization 0.9` has no effect on the simulator",
                "`--text-encoder-tp-size` does not change simulated times",
                "`--seed -1` has no effect on the simulator",
            ]
        );
    }

    #[test]
    fn a_cache_is_kept_by_its_name_and_none_is_no_cache() {
        let (settings, notes) = apply("--cache_backend=tea_cache").unwrap();
        assert_eq!(settings.cache_backend.as_deref(), Some("tea_cache"));
        let wanted = "`--cache-backend tea_cache` draws colours a little off; it does not change simulated times";
        assert_eq!(notes, [wanted]);
        assert_eq!(apply("--cache-backend none").unwrap(), (Settings::default(), Vec::new()));
    }

    #[test]
    fn a_wrong_value_or_a_stray_word_is_an_error() {
        for (line, message) in [
            ("--cfg-parallel-size", "`--cfg-parallel-size` needs a value"),
            ("--cache-backend --usp 2", "`--cache-backend` needs a value"),
            ("--max-num-seqs 0", "`--max-num-seqs` takes a whole number from 1, not `0`"),
            ("--usp two", "`--usp` takes a whole number from 1, not `two`"),
            ("--step-execution=maybe", "`--step-execution` is a switch and takes no value `maybe`"),
            ("Qwen/Qwen-Image", "`Qwen/Qwen-Image` belongs to no serve flag"),
        ] {
            assert_eq!(apply(line).unwrap_err(), message);
        }
    }
}
