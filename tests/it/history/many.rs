//! Many summaries, many writers.

use std::process::Command;
use std::time::Duration;

use omni_bench::history::{Added, Entry, Filter, History};

use super::archive::{Archive, Copy, out, talk};

#[test]
fn two_processes_that_add_at_once_lose_nothing() {
    let archive = Archive::new();
    let names: Vec<String> = (0..120).map(|number| format!("r{number}")).collect();
    for (name, hour) in names.iter().zip(0..) {
        archive.copy(&Copy { name, hour, ..Copy::default() });
    }
    // both add ten folders of the other's, too
    let halves = [&names[..70], &names[50..]];
    let children = halves.map(|half| {
        let arguments: Vec<&str> = ["history", "add"].into_iter().chain(half.iter().map(String::as_str)).collect();
        archive.sandbox().command(&arguments).stderr(std::process::Stdio::piped()).spawn().unwrap()
    });
    let mut new = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
        new += talk(&output).split_whitespace().nth(1).unwrap().parse::<usize>().unwrap();
    }
    assert_eq!(new, 240, "each summary was new to one of them");
    let listed = out(&archive.history(&["list"]));
    assert!(listed.ends_with("\n240 entries\n"), "{listed}");
    for name in names {
        assert_eq!(listed.lines().filter(|line| line.ends_with(&format!(" {name}"))).count(), 2, "{name}");
    }
}

#[test]
fn writers_that_make_the_file_together_and_take_turns_lose_nothing() {
    const WRITERS: i64 = 4;
    const EACH: i64 = 60;
    let archive = Archive::new();
    let path = archive.path().join("history.sqlite");
    let template = archive.entry(&Copy::default());
    let entry = |writer: i64, number: i64| {
        let mut entry = template.clone();
        entry.origin.plan_hash = format!("{writer}-{number}");
        entry
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (path, entry) = (&path, &entry);
            scope.spawn(move || {
                let mut history = History::open(path).unwrap();
                for number in 0..EACH {
                    let added = history.add(&[entry(writer, number)]).unwrap();
                    assert_eq!(added, Added { new: 1, known: 0 });
                }
            });
        }
    });
    let entries = History::open(&path).unwrap().select(&Filter::default()).unwrap();
    assert_eq!(entries.len(), usize::try_from(WRITERS * EACH).unwrap());
}

#[test]
fn entries_come_back_as_they_were() {
    use omni_bench::units::Rate;
    let archive = Archive::new();
    let mut history = History::open(&archive.path().join("history.sqlite")).unwrap();
    let plain = archive.entry(&Copy::default());
    let open = Entry { max_concurrency: None, request_rate: Rate::PerSecond(2.0), run: "open".into(), ..plain.clone() };
    let entries = [plain, open];
    assert_eq!(history.add(&entries).unwrap(), Added { new: 2, known: 0 });
    assert_eq!(history.add(&entries).unwrap(), Added { new: 0, known: 2 });
    assert_eq!(history.select(&Filter::default()).unwrap(), entries);
}

#[test]
fn a_trend_over_a_thousand_summaries_takes_less_than_a_second() {
    let archive = Archive::new();
    let path = archive.path().join("history.sqlite");
    let entries: Vec<Entry> = (0_i32..1000)
        .map(|number| {
            let (name, key) = (format!("r{number}"), if number % 2 == 0 { "even" } else { "odd0" });
            let mean = 2.0 + f64::from(number) / 1000.0;
            archive.entry(&Copy { name: &name, hour: number.into(), mean: Some(mean), key, ..Copy::default() })
        })
        .collect();
    assert_eq!(History::open(&path).unwrap().add(&entries).unwrap().new, 1000);
    let arguments = ["history", "trend", "--metric", "latency_s.mean", "-o", "trend.svg"];
    let taken = busy(&archive.sandbox().command(&arguments));
    assert!(taken < Duration::from_secs(1), "{taken:?}");

    let output = archive.sandbox().omni_bench(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
    assert_eq!(out(&output).lines().filter(|line| line.contains("base/A/c1 ") && line.contains("valid")).count(), 1000);
    let svg = fs_err::read_to_string(archive.path().join("trend.svg")).unwrap();
    assert_eq!(svg.matches("n = 4").count(), 1000);
}

/// Processor time of a command, by the shell's `times`: what other tests do meanwhile is not in it.
#[cfg(unix)]
fn busy(command: &Command) -> Duration {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\" >out.txt || exit; times", "sh"]).arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", talk(&output));
    // user and system time, of the shell in the first line and of the command in the second: `0m0.12s 0m0.03s`
    let second = out(&output).lines().nth(1).unwrap().to_owned();
    let seconds = second.split_whitespace().map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    let taken = Duration::from_secs_f64(seconds.sum());
    assert!(taken > Duration::ZERO, "the system tells the time of a process: {second}");
    taken
}

#[cfg(not(unix))]
fn busy(command: &Command) -> Duration {
    let mut again = Command::new(command.get_program());
    again.args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let began = std::time::Instant::now();
    assert!(again.output().unwrap().status.success());
    began.elapsed()
}
