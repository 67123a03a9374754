//! A scenario, data and replies of 100 MB each, through the real program: refused or read within the
//! bounds, without a panic, and in a bounded amount of memory.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use omni_bench::record::{Record, ResultsDir, read_journal};

use crate::support::Sandbox;

/// Bytes of everything here.
const HUGE: usize = 100_000_000;
const MIB: u64 = 1 << 20;

const HEAD: &str = "name = 'x'\nmodel = { id = 'm', task = 't2i' }\ntraffic = { requests = 5, max_concurrency = 2 }\n\
    warmup = { requests = 0 }\n";

/// What became of a process.
struct End {
    code: Option<i32>,
    text: String,
    /// Most memory it held at once, in MiB; read while it ran, so that the very last moment may be missing.
    peak: u64,
}

/// Runs to the end, and looks at the memory meanwhile.
fn watched(mut command: Command) -> End {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let facts = fs_err::read_to_string(&status).unwrap_or_default();
        let most = facts.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = most.unwrap_or(0_u64).max(peak);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("panicked"), "{text}");
    End { code: output.status.code(), text, peak: (peak << 10) / MIB }
}

impl End {
    /// Says what was seen, and that it was no more memory than this.
    fn within(&self, what: &str, most: u64) {
        println!("{what} of 100 MB: exit {:?}, peak {} of at most {most} MiB", self.code, self.peak);
        if cfg!(target_os = "linux") {
            assert!(self.peak > 0 && self.peak <= most, "{what}: {} MiB, {}", self.peak, self.text);
        }
    }
}

/// Writes a file of that size: a beginning, then a piece over and over.
fn write(sandbox: &Sandbox, name: &str, begin: &str, piece: &str) {
    let mut file = BufWriter::new(fs_err::File::create(sandbox.path().join(name)).unwrap());
    file.write_all(begin.as_bytes()).unwrap();
    for _ in 0..HUGE / piece.len() {
        file.write_all(piece.as_bytes()).unwrap();
    }
    file.flush().unwrap();
}

#[test]
fn a_scenario_of_100_mb_is_refused_before_it_is_read() {
    let sandbox = Sandbox::new();
    for (name, begin) in [("x.toml", "description = '"), ("x.yaml", "description: ")] {
        write(&sandbox, name, begin, &"x".repeat(1000));
        let end = watched(sandbox.command(&["validate", name]));
        assert_eq!(end.code, Some(2), "{}", end.text);
        assert!(end.text.contains("has more than 1048576 bytes, the most that is read"), "{}", end.text);
        end.within(name, 128);
    }
}

/// Plans a scenario whose one dataset is this file of 100 MB.
fn plan(source: &str, name: &str, begin: &str, piece: &str) -> End {
    let sandbox = Sandbox::new();
    write(&sandbox, name, begin, piece);
    let dataset = format!("[datasets.A]\nsource = '{source}'\npath = '{name}'\n");
    fs_err::write(sandbox.path().join("x.toml"), HEAD.to_owned() + &dataset).unwrap();
    watched(sandbox.command(&["plan", "x.toml", "--simulate"]))
}

#[test]
fn a_trace_of_100_mb_is_read_in_a_few_times_its_size() {
    let row = format!("{{\"prompt\":\"{}\",\"width\":512,\"height\":512}}\n", "a town by a river ".repeat(900));
    let end = plan("trace", "rows.jsonl", "", &row);
    assert_eq!(end.code, Some(0), "{}", end.text);
    assert!(end.text.contains(&format!("{} rows", HUGE / row.len())), "{}", end.text);
    end.within("a trace of long rows", 512);
}

#[test]
fn more_rows_than_a_dataset_has_are_refused() {
    let end = plan("custom", "rows.jsonl", "", "{\"prompt\":\"a\"}\n");
    assert_eq!(end.code, Some(2), "{}", end.text);
    assert!(end.text.contains("there are more than 1000000 rows, the most that a dataset has"), "{}", end.text);
    end.within("a table of tiny rows", 1024);
}

#[test]
fn one_line_of_100_mb_is_no_harm() {
    for (source, name, begin) in [("trace", "rows.jsonl", "{\"prompt\":\""), ("trace", "rows.txt", "Request(prompt='")]
    {
        let end = plan(source, name, begin, &"x".repeat(1000));
        // the line is never closed, so that there is no row
        assert_eq!(end.code, Some(2), "{}", end.text);
        assert!(end.text.contains("no row that can be read"), "{}", end.text);
        assert!(end.text.len() < 4096, "{} bytes of message", end.text.len());
        end.within("a line", 512);
    }
}

/// The bodies of 100 MB: content type, beginning, the piece that is repeated, end, and what is said.
const BODIES: [[&str; 5]; 5] = [
    ["application/json", "{\"data\":[{\"b64_json\":\"", PICTURE, "\"}]}", ""],
    ["application/json", "", "[", "", "deep"],
    ["application/json", "{\"data\":[{}", ",{\"a\":[1,2.5,null,\"text\"]}", "]}", "b64_json"],
    ["text/html", "<html>", "<p>Bad Gateway</p>", "", "text/html"],
    ["application/json", "", " ", "", "the reply is empty"],
];

/// The beginning of a PNG of 64 × 48 pixels in base64.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAA";

/// Answers requests on a connection; each that is posted gets the next of the bodies.
fn answer(stream: &TcpStream, posted: &AtomicUsize) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut post, mut length) = (false, 0);
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        while line.len() > 2 {
            post |= line.starts_with("POST");
            if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = told.trim().parse().unwrap();
            }
            line.clear();
            reader.read_line(&mut line)?;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        if !post {
            let mut writer = stream;
            writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")?;
            continue;
        }
        let [content_type, begin, piece, end, _] = BODIES[posted.fetch_add(1, Ordering::SeqCst) % BODIES.len()];
        let times = HUGE / piece.len();
        let length = begin.len() + times * piece.len() + end.len();
        let mut out = BufWriter::with_capacity(1 << 18, stream);
        write!(out, "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{begin}")?;
        let many = piece.repeat(1000);
        for _ in 0..times / 1000 {
            out.write_all(many.as_bytes())?;
        }
        write!(out, "{}{end}", piece.repeat(times % 1000))?;
        out.flush()?;
    }
}

/// Drives one request for each of the bodies, with these keys of `[endpoint]`; the errors, in order.
fn replies(endpoint: &str) -> (End, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // the threads end with the test's process; each waits for a connection or is done with one
    std::thread::spawn(move || {
        let posted = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming().flatten() {
            let posted = Arc::clone(&posted);
            std::thread::spawn(move || drop(answer(&stream, &posted)));
        }
    });
    let sandbox = Sandbox::new();
    let scenario = format!(
        "{HEAD}endpoint = {{ url = '{url}', path = '/v1/images/generations'{endpoint} }}\n\
         [datasets.A]\nprofiles = [{{ width = 64, height = 48 }}]\n"
    );
    fs_err::write(sandbox.path().join("x.toml"), scenario).unwrap();
    let end = watched(sandbox.command(&["run", "x.toml", "--no-progress"]));
    let latest = sandbox.path().join("results/x/latest");
    let records = read_journal::<Record>(&ResultsDir::at(latest).run("default/A/c2").records());
    let records = records.unwrap_or_else(|error| panic!("{error}: {}", end.text)).items;
    let mut errors: Vec<String> =
        records.into_iter().map(|record| record.error.map_or_else(String::new, |error| error.message)).collect();
    errors.sort();
    (end, errors)
}

#[test]
fn replies_of_100_mb_are_read_without_being_kept() {
    let (end, errors) = replies("");
    for [_, _, _, _, words] in BODIES {
        assert!(errors.iter().any(|error| error.contains(words)), "{words}: {errors:#?}\n{}", end.text);
    }
    assert_eq!((errors.len(), errors.iter().filter(|error| error.is_empty()).count()), (5, 1), "{errors:#?}");
    end.within("a reply", 192);
}

#[test]
fn replies_beyond_the_limit_are_refused() {
    let (end, errors) = replies(", max_reply = '10MB'");
    assert_eq!(errors, vec!["the reply is longer than the limit of 10000000 bytes"; 5], "{}", end.text);
    end.within("a reply over the limit", 192);
}
