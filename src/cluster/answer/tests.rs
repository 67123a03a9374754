//! Answers recorded from Slurm 22.05.8 and shortened to the keys that are read, and forms of later versions.

use super::*;

const SQUEUE_RUNNING: &str = include_str!("../../../tests/fixtures/slurm/squeue_running.json");
const SQUEUE_ENDED: &str = include_str!("../../../tests/fixtures/slurm/squeue_ended.json");
const SACCT_RUNNING: &str = include_str!("../../../tests/fixtures/slurm/sacct_running.json");
const SACCT_ENDED: &str = include_str!("../../../tests/fixtures/slurm/sacct_ended.json");

fn states(jobs: &Jobs) -> Vec<String> {
    let of_array = jobs.iter().filter(|(key, _)| key.job == 1);
    of_array.map(|(key, told)| format!("{key} {}", told.state.word())).collect()
}

#[test]
fn queue_and_accounting_say_the_same_of_tasks_that_run_wait_and_have_ended() {
    let (queue, accounting) = (parse_squeue(SQUEUE_RUNNING).unwrap(), parse_sacct(SACCT_RUNNING).unwrap());
    let wanted = [
        "1_0 completed",
        "1_1 failed",
        "1_2 running",
        "1_3 running",
        "1_4 failed",
        "1_5 running",
        "1_6 running",
        "1_7 pending",
        "1_8 pending",
        "1_9 pending",
        "1_10 pending",
        "1_11 pending",
    ];
    assert_eq!(states(&queue), wanted);
    assert_eq!(states(&accounting), wanted);
    assert_eq!(queue[&JobKey::job(6)].reason.as_deref(), Some("Dependency"));
    assert_eq!(accounting[&JobKey::job(6)].reason.as_deref(), Some("Dependency"));
    assert_eq!(queue[&JobKey { job: 1, task: Some(2) }].node.as_deref(), Some("n3"));
}

#[test]
fn queue_and_accounting_say_the_same_of_what_was_cancelled_or_ran_out_of_time() {
    let (queue, accounting) = (parse_squeue(SQUEUE_ENDED).unwrap(), parse_sacct(SACCT_ENDED).unwrap());
    let told = states(&queue);
    assert!(told.contains(&"1_2 cancelled".to_owned()) && told.contains(&"1_3 timeout".to_owned()), "{told:?}");
    let known: Vec<String> = states(&accounting);
    assert!(known.contains(&"1_2 cancelled".to_owned()) && known.contains(&"1_3 timeout".to_owned()), "{known:?}");
    for state in known {
        assert!(told.contains(&state), "{state}");
    }
}

#[test]
fn an_exit_code_is_the_upper_byte_of_a_wait_status_and_a_signal_has_none() {
    let queue = parse_squeue(SQUEUE_ENDED).unwrap();
    let exit = |task: u32| queue[&JobKey { job: 1, task: Some(task) }].exit;
    assert_eq!((exit(0), exit(1), exit(4)), (Some(0), Some(7), None), "1792 is 7 × 256, 9 is a signal");
    let accounting = parse_sacct(SACCT_ENDED).unwrap();
    let failed = &accounting[&JobKey { job: 1, task: Some(1) }];
    assert_eq!((failed.state, failed.exit), (JobState::Failed, None), "it says 0 of a job that failed with 7");
}

#[test]
fn forms_of_later_versions_are_read_too() {
    let text = r#"{"jobs": [
        {"job_id": {"set": true, "infinite": false, "number": 40}, "array_job_id": {"set": true, "number": 40},
         "array_task_id": {"set": false, "number": 0}, "array_task_string": "1,3-5:2%2", "job_state": ["PENDING"],
         "state_reason": "JobArrayTaskLimit", "nodes": ""},
        {"job_id": 41, "array_job_id": {"set": true, "number": 40}, "array_task_id": {"set": true, "number": 0},
         "array_task_string": "", "job_state": ["FAILED"], "nodes": "gpu7",
         "exit_code": {"status": ["ERROR"], "return_code": {"set": true, "number": 73}}}
    ]}"#;
    let jobs = parse_squeue(text).unwrap();
    let told: Vec<String> = jobs.iter().map(|(key, told)| format!("{key} {:?} {:?}", told.state, told.exit)).collect();
    assert_eq!(told, ["40_0 Failed Some(73)", "40_1 Pending None", "40_3 Pending None", "40_5 Pending None"]);
    assert_eq!(jobs[&JobKey { job: 40, task: Some(1) }].reason.as_deref(), Some("JobArrayTaskLimit"));
}

#[test]
fn masks_and_ranges_name_tasks() {
    assert_eq!(mask("0xF80").unwrap(), [7, 8, 9, 10, 11]);
    assert_eq!(mask("0x1%4").unwrap(), [0]);
    assert_eq!(mask("7-9"), None);
    assert_eq!(range("7-9%8"), [7, 8, 9]);
    assert_eq!(range("[0,2,8-9]"), [0, 2, 8, 9]);
    assert_eq!(range("..."), Vec::<u32>::new());
    assert!(range("0-4294967295").len() <= MOST_TASKS as usize + 1);
}

#[test]
fn an_answer_that_is_none_is_told() {
    assert!(parse_squeue("slurm_load_jobs error").is_err());
    assert_eq!(parse_sacct("{}").unwrap_err(), "it has no list of `jobs`");
}

#[test]
fn an_array_whose_only_task_was_cancelled_while_it_waited_is_told_without_its_task() {
    // as recorded: the queue keeps the array and no task, the accounting not even the array
    let queue = r#"{"jobs": [{"job_id": 19, "array_job_id": 19, "array_task_id": null, "array_task_string": "",
        "job_state": "CANCELLED", "exit_code": 0, "state_reason": "JobHeldUser"}]}"#;
    let accounting = r#"{"jobs": [{"job_id": 19, "array": {"job_id": 0, "task": null, "task_id": null},
        "state": {"current": "CANCELLED", "reason": "None"}, "exit_code": {"status": "SUCCESS", "return_code": 0}}]}"#;
    for jobs in [parse_squeue(queue).unwrap(), parse_sacct(accounting).unwrap()] {
        let known = crate::cluster::Known { jobs, ..Default::default() };
        assert_eq!(known.of(JobKey { job: 19, task: Some(0) }).unwrap().state, JobState::Cancelled);
    }
}
