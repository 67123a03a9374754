//! `omni-bench submit`: scenario → a results folder with its jobs in the queue.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::look::look_at;
use super::{merge, table};
use crate::cli::{RunArgs, SubmitArgs};
use crate::cluster::{self, Array, ClusterDir, ClusterFile, JobKey, Script, Submission, SubmittedArray, arrays};
use crate::commands::failure::Failure;
use crate::commands::planning::{Planned, prepare};
use crate::commands::{Ui, run};
use crate::exit::Exit;
use crate::plan::{Plan, SlurmPlan, slurm_plan};
use crate::record::{ResultsDir, write_atomic};
use crate::server::host_name;
use crate::units::SafeName;

/// Submits a scenario, or tells what that would be.
pub(in crate::commands) fn submit(args: &SubmitArgs, ui: Ui) -> Exit {
    let planned = match prepare(&args.planning, ui) {
        Ok(planned) => planned,
        Err(exit) => return exit,
    };
    let done = if args.merge { merge::merge(args, &planned, ui) } else { carry_out(args, &planned, ui) };
    done.unwrap_or_else(|failure| failure.tell(ui))
}

/// The arguments of the `run` that an element is.
pub(super) fn run_args(args: &SubmitArgs) -> RunArgs {
    RunArgs {
        planning: args.planning.clone(),
        out: args.out.clone(),
        resume: args.resume.clone(),
        save_media: args.save_media,
        fail_fast: false,
        gate: false,
        confirm: 0,
        element: false,
    }
}

fn carry_out(args: &SubmitArgs, planned: &Planned, ui: Ui) -> Result<Exit, Failure> {
    starts_its_servers(&planned.plan)?;
    // its problems were told with those of the plan
    let slurm = slurm_plan(&planned.loaded.scenario).map_err(|_| Failure::usage("`[slurm]` is wrong"))?;
    let place = Place::here().map_err(|error| Failure::new(Exit::RunFailed, error))?;
    let submitter = Submitter { args, planned, slurm: &slurm, place: &place, words: words(args), ui };
    if args.dry_run { submitter.rehearse() } else { submitter.submit() }
}

/// Whoever submits is not there when a job starts, and nothing else runs on its node.
fn starts_its_servers(plan: &Plan) -> Result<(), Failure> {
    let hint = "give a `[server]` that is launched on the nodes, or rehearse with `--simulate`";
    match &plan.server {
        _ if plan.simulated => Ok(()),
        None => {
            Err(Failure::usage(format!("the scenario's servers run already, where no job of a cluster is\n  {hint}")))
        }
        Some(server) if server.is_manual() => Err(Failure::usage(format!(
            "nobody can start a server by hand in a job (`server.mode = \"manual\"`)\n  {hint}"
        ))),
        Some(_) => Ok(()),
    }
}

/// Where the submission is made.
struct Place {
    cwd: PathBuf,
    program: PathBuf,
}

impl Place {
    fn here() -> io::Result<Self> {
        Ok(Self { cwd: std::env::current_dir()?, program: std::env::current_exe()? })
    }
}

/// Scenario and planning flags, as they were typed. Jobs have the same working folder and environment.
fn words(args: &SubmitArgs) -> Vec<String> {
    let planning = &args.planning;
    let mut words = vec![planning.scenario.scenario.display().to_string()];
    words.extend(planning.scenario.set.iter().map(|set| format!("--set={set}")));
    words.extend(planning.simulate.then(|| "--simulate".to_owned()));
    words.extend(planning.speed.map(|speed| format!("--speed={speed}")));
    words.extend(planning.repeats.map(|repeats| format!("--repeats={repeats}")));
    words
}

struct Submitter<'a> {
    args: &'a SubmitArgs,
    planned: &'a Planned,
    slurm: &'a SlurmPlan,
    place: &'a Place,
    words: Vec<String>,
    ui: Ui,
}

impl Submitter<'_> {
    fn script<'s>(&'s self, results: &'s Path, token: &'s str, run_words: &'s [String]) -> Script<'s> {
        Script {
            scenario: &self.planned.plan.scenario,
            slurm: self.slurm,
            results,
            token,
            cwd: &self.place.cwd,
            program: &self.place.program,
            words: &self.words,
            run_words,
            max_parallel: self.args.max_parallel.map(std::num::NonZeroU32::get),
        }
    }

    fn run_words(&self) -> Vec<String> {
        self.args.save_media.then(|| "--save-media".to_owned()).into_iter().collect()
    }

    /// Arrays of what is to be done: everything, or what of a folder is neither complete nor in the queue.
    fn arrays(&self, earlier: Option<(&ResultsDir, &ClusterFile)>) -> Result<Vec<Array>, Failure> {
        let plan = &self.planned.plan;
        let whole = self.args.planning.only.is_empty();
        let Some((dir, file)) = earlier else { return Ok(arrays(plan, self.slurm, whole, &|_| true)) };
        let looked = look_at(dir.clone(), plan, file.clone())?;
        if let Some(error) = &looked.known.error {
            let message = format!("what is in the queue is not known, so nothing is submitted again: {error}");
            return Err(Failure::new(Exit::RunFailed, message));
        }
        Ok(arrays(plan, self.slurm, whole, &|run| {
            let in_queue = looked.now.element_of(&run.id).is_some_and(|element| !element.state.has_ended());
            !in_queue && !dir.run(&run.id).is_complete(&run.key, &plan.plan_hash)
        }))
    }

    /// Prints what would be submitted.
    fn rehearse(&self) -> Result<Exit, Failure> {
        let plan = &self.planned.plan;
        let (results, arrays) = if let Some(folder) = &self.args.resume {
            let dir = ResultsDir::resolve(folder)?;
            let file = ClusterDir::of(&dir).read()?;
            (dir.path().to_owned(), self.arrays(file.as_ref().map(|file| (&dir, file)))?)
        } else {
            let hash: String = plan.plan_hash.chars().take(8).collect();
            let parent = self.args.out.join(SafeName::lossy(&plan.scenario).as_str());
            (parent.join(format!("TIME-{hash}")), self.arrays(None)?)
        };
        let (results, run_words) = (self.place.cwd.join(results), self.run_words());
        let script = self.script(&results, "TOKEN", &run_words);
        let mut parts = Vec::new();
        for array in &arrays {
            parts.push(format!("# gpus{}.sh\n{}\n", array.gpus, script.array(array).map_err(Failure::usage)?));
        }
        if !arrays.is_empty() {
            let jobs: Vec<String> = arrays.iter().map(|array| format!("JOB_OF_GPUS{}", array.gpus)).collect();
            parts.push(format!("# merge.sh\n{}\n", merge_script(&script, &jobs, &arrays)?));
        }
        parts.push(table::of_arrays(plan, &arrays, None));
        Ok(self.ui.print(&parts.concat()))
    }

    fn submit(&self) -> Result<Exit, Failure> {
        let refused = |error: cluster::ProgramError| Failure::new(Exit::RunFailed, error);
        let hosts = cluster::hosts(self.slurm.partition.as_deref()).map_err(refused)?;
        let is_new = self.args.resume.is_none();
        let dir = if let Some(folder) = &self.args.resume {
            check_shared(folder, &hosts)?;
            run::results_dir(&run_args(self.args), &self.planned.plan, self.ui)?.0
        } else {
            fs_err::create_dir_all(&self.args.out).map_err(Failure::results)?;
            check_shared(&self.args.out, &hosts)?;
            ResultsDir::create(&self.args.out, &self.planned.plan, Timestamp::now()).map_err(Failure::results)?
        };
        // scripts run elsewhere, with another working folder until they change it
        let dir = ResultsDir::at(fs_err::canonicalize(dir.path()).map_err(Failure::results)?);
        let cluster_dir = ClusterDir::of(&dir);
        let mut file = cluster_dir.open()?;
        let arrays = self.arrays(Some((&dir, &file)))?;
        if arrays.is_empty() {
            self.ui.note("nothing to submit: every run is complete or in the queue");
            return Ok(Exit::Fine);
        }
        let submission =
            Submission { at: Timestamp::now().to_string(), arrays: Vec::new(), merge: None, refused: None };
        file.submissions.push(submission);
        let mut accepted = Vec::new();
        if let Err(failure) = self.send(&dir, &mut file, &arrays, &mut accepted) {
            return Err(taken_back(&cluster_dir, file, &accepted, failure, &dir));
        }
        if is_new && let Err(error) = dir.mark_latest() {
            self.ui.note(&format!("`latest` still names an earlier folder: {error}"));
        }
        let jobs: Vec<u32> = accepted.iter().map(|key| key.job).collect();
        let printed = self.ui.print(&table::of_arrays(&self.planned.plan, &arrays, Some(&jobs)));
        self.ui.note(&format!("results: {}", dir.path().display()));
        Ok(printed)
    }

    /// Sends one array after the other, then the last job. What was accepted is in the file before the next is sent.
    fn send(
        &self,
        dir: &ResultsDir,
        file: &mut ClusterFile,
        arrays: &[Array],
        accepted: &mut Vec<JobKey>,
    ) -> Result<(), Failure> {
        let cluster_dir = ClusterDir::of(dir);
        let number = file.submissions.len();
        let (token, run_words) = (file.token.clone(), self.run_words());
        let script = self.script(dir.path(), &token, &run_words);
        let mut send = |name: &str, text: &str| {
            let path = cluster_dir.script(number, name);
            write_atomic(&path, text.as_bytes()).map_err(Failure::results)?;
            let job = cluster::submit(&path).map_err(|error| Failure::new(Exit::RunFailed, error))?;
            accepted.push(JobKey::job(job));
            Ok::<u32, Failure>(job)
        };
        let mut jobs = Vec::new();
        for array in arrays {
            let text = script.array(array).map_err(Failure::usage)?;
            let job_id = send(&format!("gpus{}", array.gpus), &text)?;
            jobs.push(job_id.to_string());
            if let Some(submission) = file.submissions.last_mut() {
                submission.arrays.push(SubmittedArray { job_id, elements: array.elements.clone() });
            }
            cluster_dir.write(file).map_err(Failure::results)?;
        }
        let job_id = send("merge", &merge_script(&script, &jobs, arrays)?)?;
        if let Some(submission) = file.submissions.last_mut() {
            submission.merge = Some(job_id);
        }
        cluster_dir.write(file).map_err(Failure::results)
    }
}

fn merge_script(script: &Script<'_>, after: &[String], arrays: &[Array]) -> Result<String, Failure> {
    let limit = arrays.iter().filter_map(Array::limit_min).max();
    script.merge(after, limit).map_err(Failure::usage)
}

/// Refuses a folder of which it is certain that nodes do not see it.
fn check_shared(folder: &Path, hosts: &[String]) -> Result<(), Failure> {
    let whole = fs_err::canonicalize(folder).map_err(Failure::results)?;
    // where there is no such list, elements find out
    let mounts = fs_err::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    match cluster::unshared(&whole, &mounts, &host_name(), hosts) {
        Some(why) => Err(Failure::new(Exit::RunFailed, why)),
        None => Ok(()),
    }
}

/// Cancels what was accepted before something was refused.
fn taken_back(
    cluster_dir: &ClusterDir,
    mut file: ClusterFile,
    accepted: &[JobKey],
    failure: Failure,
    dir: &ResultsDir,
) -> Failure {
    if let Some(submission) = file.submissions.last_mut() {
        submission.refused = Some(failure.message.clone());
    }
    let mut lines = vec![failure.message];
    let names = accepted.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    match cluster::cancel(accepted) {
        Ok(()) if accepted.is_empty() => lines.push("nothing was submitted".to_owned()),
        Ok(()) => lines.push(format!("what was accepted is cancelled again: {names}")),
        Err(error) => {
            lines.push(format!("what was accepted could not be cancelled, do so by hand: scancel {names}"));
            lines.push(error.to_string());
        }
    }
    lines.extend(cluster_dir.write(&file).err().map(|error| error.to_string()));
    lines.push(format!("to try again: submit with `--resume {}`", dir.path().display()));
    Failure { exit: failure.exit, message: lines.join("\n  ") }
}
