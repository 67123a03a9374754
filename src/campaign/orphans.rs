//! What earlier attempts left: they are told, and their jobs are deleted from a server that is still the
//! same, so that no one is measured beside them.

use std::io;

use super::Campaign;
use super::host::Host;
use crate::plan::{RunPlan, VariantPlan};
use crate::record::ClaimedRun;

impl Campaign<'_> {
    /// Deletes the jobs that tools which are gone left on a variant's server, whichever run they were of,
    /// before anything is measured on it.
    pub(super) async fn delete_orphans(&self, variant: &VariantPlan, host: &Host) -> io::Result<()> {
        if !host.origin.outlives_campaigns() {
            return Ok(());
        }
        for run in self.plan.runs.iter().filter(|run| run.variant == variant.name && !self.is_complete(run)) {
            if let Some(left) = self.dir.run(&run.id).left_jobs(&self.own_claim())? {
                self.delete_jobs(host, &left.jobs, &|ids| left.gone(ids)).await?;
            }
        }
        Ok(())
    }

    /// Says that there was one, and deletes what it left on the server and could not be deleted before.
    pub(super) async fn settle_earlier_attempt(
        &self,
        run: &RunPlan,
        claimed: &ClaimedRun,
        host: &Host,
    ) -> io::Result<()> {
        if let Some(number) = claimed.earlier {
            let kept = self.dir.run(&run.id).attempt(number);
            let (id, kept) = (&run.id, kept.path().display());
            self.note(&format!("`{id}` was left unfinished; it is repeated whole, the earlier attempt is `{kept}`"));
        }
        if host.origin.outlives_campaigns() {
            self.delete_jobs(host, &claimed.orphans, &|ids| claimed.orphans_gone(ids)).await
        } else {
            // they went with the server that they were on
            claimed.orphans_gone(&claimed.orphans)
        }
    }

    async fn delete_jobs(
        &self,
        host: &Host,
        jobs: &[String],
        gone: &dyn Fn(&[String]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut deleted = 0_u32;
        for id in jobs {
            let Some(path) = (self.job_path)(id) else { continue };
            let answer = tokio::select! {
                answer = host.probe.delete(&path) => answer,
                () = self.stop.stopped() => break,
            };
            let why = match answer.map(|answer| answer.status) {
                Ok(200..=299 | 404 | 410) => {
                    gone(std::slice::from_ref(id))?;
                    deleted += 1;
                    continue;
                }
                Ok(status) => format!("HTTP {status}"),
                Err(why) => why,
            };
            self.note(&format!("a job of an earlier attempt may still be on the server: DELETE {path}: {why}"));
        }
        if deleted > 0 {
            self.note(&format!("jobs that an earlier attempt left on the server, now deleted: {deleted}"));
        }
        Ok(())
    }
}
