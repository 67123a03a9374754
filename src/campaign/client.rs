//! The client measures itself before the first run, so that every run can say whether the client
//! could have been what limited it.

use std::io;

use super::Campaign;
use crate::execute::measure_client;
use crate::record::{ClientProbe, write_json};

impl Campaign<'_> {
    /// Measures the client and keeps the figures as `client.json`, in place of those of an earlier
    /// campaign, whose runs have theirs in their own `run.json`. `None` when there is no null server,
    /// the user stopped, or it failed, which costs the figures and not the runs.
    pub(super) async fn measure_client(&self) -> io::Result<Option<ClientProbe>> {
        let Some(null) = self.null_server else { return Ok(None) };
        let measured = tokio::select! {
            measured = measure_client(null, self.dir.path(), (self.now)()) => measured,
            () = self.stop.stopped() => return Ok(None),
        };
        match measured {
            Ok(probe) => {
                write_json(&self.dir.client(), &probe)?;
                Ok(Some(probe))
            }
            Err(error) => {
                self.note(&format!("what the client itself costs is not known: {error}"));
                Ok(None)
            }
        }
    }
}
