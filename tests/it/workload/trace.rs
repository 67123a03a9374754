//! Traces: hostile lines, several files, and stamps, from the outside.

use omni_bench::workload::{self, Sources};

use super::{Files, head, loaded, picture, problems, requests, scenario};

/// The lines of case C64 with more of their kind.
const HOSTILE: &str = r#"# comment
Request(request_id='req-0001', prompt='a city, at dawn (wide)', width=1536, height=1536, num_inference_steps=70)
Request(prompt='it\'s "quoted" # and ) closed', num_frames=None, slo_ms=1.5e4)
Request(prompt="back\\slash \x41 \u00e9", seed=0, strength=-0.5, layers=[1, [2, (3,)]])
Request(prompt=__import__('os').system('x'))
Request(prompt=open('/etc/passwd').read())
Request(prompt='a'.upper(), width=64, height=64)
Request(prompt='a', width=2**100)
Request(prompt='never closed
"#;

#[test]
fn hostile_lines_are_read_as_literals_or_left_out_and_counted() {
    let files = Files::new(&[("t.txt", HOSTILE.as_bytes())]);
    let text = head("t2i") + &files.dataset("trace", "t.txt", "");
    let data = loaded(&text);
    let facts = &data.dataset("d").unwrap().facts;
    assert_eq!((facts.rows, facts.bad_rows, facts.comments), (Some(3), 5, 1));
    let notes: Vec<&str> = data.notes().collect();
    assert_eq!(notes[0], "dataset `d`: 5 of 8 rows were left out");
    let places: Vec<&str> = notes[1..].iter().map(|note| note.trim().split(": ").next().unwrap()).collect();
    assert_eq!(places, ["t.txt:5", "t.txt:6", "t.txt:7", "t.txt:8", "t.txt:9"]);
    assert!(notes[1].ends_with("`__import__` is not a literal; nothing is evaluated"), "{notes:?}");

    let requests = requests(&text, 10);
    let told: Vec<(&str, &str, usize)> =
        requests.iter().map(|request| (request.request_id.as_str(), request.prompt.as_str(), request.row)).collect();
    assert_eq!(
        told,
        [
            ("req-0001", "a city, at dawn (wide)", 0),
            ("req-0002", "it's \"quoted\" # and ) closed", 1),
            ("req-0003", "back\\slash A é", 2),
        ]
    );
    assert_eq!((requests[1].slo_ms, requests[1].shape.num_frames), (Some(15_000.0), None));
    assert_eq!(requests[2].seed, Some(0));
    assert_eq!(requests[2].fields["layers"], serde_json::json!([1, [2, [3]]]));
}

#[test]
fn a_trace_of_hostile_lines_alone_is_an_error() {
    let files = Files::new(&[("t.txt", b"# x\nRequest(prompt=exit())\n")]);
    let told = problems(&(head("t2i") + &files.dataset("trace", "t.txt", "")));
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("has no row that can be read; t.txt:2: `exit` is not a literal"), "{told:?}");
}

#[test]
fn paths_globs_and_folders_of_every_spelling_are_one_trace_in_a_fixed_order() {
    let files = Files::new(&[
        ("set/b.jsonl", b"{\"prompt\":\"b\"}\n"),
        ("set/a.txt", b"Request(prompt='a')\n"),
        ("set/deep/c.csv", b"prompt\nc\n"),
        ("set/notes.md", b"not data"),
        ("other/d1.txt", b"Request(prompt='d1')\n"),
        ("other/d2.txt", b"Request(prompt='d2')\n"),
    ]);
    let root = files.folder.path().display();
    let prompts = |paths: &str| {
        let text = format!("{}[datasets.d]\nsource = 'trace'\npath = [{paths}]\n", head("t2i"));
        requests(&text, 10).into_iter().map(|request| request.prompt).collect::<Vec<_>>()
    };
    assert_eq!(prompts(&format!("'{root}/set'")), ["a", "b", "c"]);
    assert_eq!(prompts(&format!("'{root}/other/*.txt', '{root}/set/b.jsonl'")), ["d1", "d2", "b"]);
    assert_eq!(prompts(&format!("'{root}/**/*.csv', '{root}/other/d?.txt'")), ["c", "d1", "d2"]);
    assert_eq!(prompts(&format!("'{root}/set/a.txt', '{root}/set/a.txt'")), ["a"], "a file counts once");
}

#[test]
fn stamps_of_several_files_are_put_in_order() {
    let files = Files::new(&[
        ("a.txt", b"Request(prompt='late', timestamp=1002.0)\nRequest(prompt='first', timestamp=1000.0)\n"),
        ("b.txt", b"Request(prompt='second', timestamp=1000.2)\n"),
    ]);
    let requests = requests(&(head("t2i") + &files.dataset("trace", "", "")), 10);
    let told: Vec<(&str, usize)> = requests.iter().map(|request| (request.prompt.as_str(), request.row)).collect();
    assert_eq!(told, [("first", 1), ("second", 2), ("late", 0)], "rows keep the places they were written at");
}

#[test]
fn rows_of_a_trace_bring_their_own_images_or_are_left_out() {
    let lines = "Request(prompt='a', image_paths=['a.png'])\nRequest(prompt='b', image_path='none.png')\n";
    let files = Files::new(&[("t.txt", lines.as_bytes()), ("a.png", &picture(1))]);
    let text = head("i2v") + &files.dataset("trace", "t.txt", "");
    let data = loaded(&text);
    assert_eq!(data.dataset("d").unwrap().facts.bad_rows, 1);
    let requests = requests(&text, 2);
    assert_eq!((requests.len(), requests[0].images.len()), (1, 1));
}

#[test]
fn a_pipe_is_no_data() {
    let told = workload::load(
        &scenario(&format!("{}[datasets.d]\nsource = 'trace'\npath = '/dev/null'\n", head("t2i"))),
        &Sources::default(),
    )
    .unwrap_err();
    assert_eq!(told[0].message, "`/dev/null` is not a regular file");
}
