//! Whether this process may open as many files as the plan's connections need: raised where the system
//! lets it, told before anything is sent where it does not.

use crate::commands::Ui;
use crate::commands::failure::Failure;
use crate::exit::Exit;
use crate::plan::{Plan, open_files};

/// Connections that are made possible, when that costs nothing, for runs whose concurrency has no cap.
const UNCAPPED: u64 = 4096;

/// Raises the limit to what the plan needs, or refuses.
pub(super) fn allow(plan: &Plan, ui: Ui) -> Result<(), Failure> {
    let Some((needed, run)) =
        plan.runs.iter().map(|run| (open_files(plan, run), run)).max_by_key(|(needed, _)| *needed)
    else {
        return Ok(());
    };
    let uncapped = plan.runs.iter().any(|run| run.traffic.max_concurrency.is_none());
    let wanted = if uncapped { needed.max(UNCAPPED) } else { needed };
    let granted = raise(wanted);
    if granted < needed {
        return Err(Failure::new(Exit::Usage, refusal(needed, granted, &run.id)));
    }
    if granted < wanted {
        ui.note(&format!(
            "runs without `traffic.max_concurrency` can have no more than about {granted} requests in flight: \
             that many files may be open; `ulimit -n` raises it"
        ));
    }
    Ok(())
}

fn refusal(needed: u64, granted: u64, run: &str) -> String {
    format!(
        "`{run}` needs {needed} open files at once (limit `open_files`), and this process may open {granted}; \
         raise it with `ulimit -n {needed}` or as administrator in `/etc/security/limits.conf` (`nofile`), \
         or lower `traffic.max_concurrency`"
    )
}

/// Makes room for `wanted` files, or as many as the system allows; how many may be open then.
#[cfg(unix)]
fn raise(wanted: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let (soft, hard) = (now.current.unwrap_or(u64::MAX), now.maximum.unwrap_or(u64::MAX));
    if soft >= wanted {
        return soft;
    }
    let target = wanted.min(hard);
    // a system may allow less than it says
    match setrlimit(Resource::Nofile, Rlimit { current: Some(target), maximum: now.maximum }) {
        Ok(()) => target,
        Err(_) => soft,
    }
}

/// Systems without such a limit allow what is wanted.
#[cfg(not(unix))]
fn raise(wanted: u64) -> u64 {
    wanted
}
