//! Devices from a file: a test's stand-in for a driver. JSON lines, each with one key: `facts` once,
//! then `gpus` or `error` per look. The last look repeats.

use std::path::Path;
use std::sync::Mutex;

use serde::Deserialize;

use super::devices::{DeviceFacts, Devices};
use crate::record::{DeviceSource, GpuSample};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Facts(DeviceFacts),
    Gpus(Vec<GpuSample>),
    Error(String),
}

type Look = Result<Vec<GpuSample>, String>;

/// A recording that is played from its beginning.
#[derive(Debug)]
pub(super) struct Recording {
    facts: DeviceFacts,
    looks: Vec<Look>,
    next: Mutex<usize>,
}

impl Recording {
    /// Reads a file; every line must be understood, as it is a test's own.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = fs_err::read_to_string(path).map_err(|error| error.to_string())?;
        let mut recording = Self { facts: DeviceFacts::default(), looks: Vec::new(), next: Mutex::new(0) };
        for (number, line) in text.lines().enumerate() {
            let wrong = |error| format!("`{}`, line {}: {error}", path.display(), number + 1);
            match serde_json::from_str(line).map_err(wrong)? {
                Line::Facts(facts) => recording.facts = facts,
                Line::Gpus(gpus) => recording.looks.push(Ok(gpus)),
                Line::Error(error) => recording.looks.push(Err(error)),
            }
        }
        Ok(recording)
    }
}

impl Devices for Recording {
    fn source(&self) -> DeviceSource {
        DeviceSource::Recording
    }

    fn facts(&self) -> DeviceFacts {
        self.facts.clone()
    }

    fn sample(&self) -> Look {
        let mut next = self.next.lock().map_err(|_| "the recording broke".to_owned())?;
        let look = self.looks.get(*next).or(self.looks.last());
        *next += 1;
        look.cloned().unwrap_or_else(|| Err("the recording holds no look".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_played_in_order_and_its_last_look_repeats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpus.jsonl");
        let lines =
            ["{\"facts\":{\"driver\":\"1\",\"cuda\":null,\"gpus\":[]}}", "{\"error\":\"lost\"}", "{\"gpus\":[]}"];
        fs_err::write(&path, lines.join("\n")).unwrap();
        let recording = Recording::read(&path).unwrap();
        assert_eq!(recording.facts().driver.as_deref(), Some("1"));
        let looks = [(); 3].map(|()| recording.sample());
        assert_eq!(looks, [Err("lost".to_owned()), Ok(vec![]), Ok(vec![])]);
        fs_err::write(&path, "{\"facts\":{\"gpus\":1}}").unwrap();
        assert!(Recording::read(&path).unwrap_err().contains("line 1"));
    }
}
