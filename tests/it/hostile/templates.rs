//! Templates of users: the words of a server's command and the page.

use super::setup::{Bench, IMAGES, said};

fn command(word: &str) -> String {
    let server = format!("[server]\ncommand = ['sh', '{word}']\n\n[[variants]]");
    IMAGES.replace("url = \"URL\"\n", "").replace("[[variants]]", &server)
}

#[test]
fn a_word_of_a_command_computes_a_bounded_word_or_is_refused_before_anything_starts() {
    let words = [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ \"x\" * 9000000 }}",
        "{% set a = \"xxxxxxxx\" %}{% set a = a ~ a %}{{ a }}",
        "{% include \"/etc/hostname\" %}",
        "{{ open(\"/etc/hostname\") }}",
        "{{ environ }}",
    ];
    for word in words {
        let bench = Bench::new(&command(word));
        let output = bench.run(&["run", "small.toml"]);
        let text = said(&output);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{word}: {text}");
        assert!(text.contains("server.command"), "{word}: {text}");
        let started = bench.files().iter().any(|(path, _)| path.ends_with("server.log"));
        assert!(!started, "{word}: {text}");
    }
}

#[test]
fn a_page_template_that_does_not_end_or_reads_a_file_makes_no_page() {
    let cases = [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "`template_steps`"),
        ("{% for a in range(99999) %}{{ 'x' * 1000000 }}{% endfor %}", "`template_output`"),
        ("{% include '/etc/hostname' %}", "template"),
        ("{{ open('/etc/hostname') }}", "template"),
    ];
    let scenario = IMAGES.replace("url = \"URL\"\n", "");
    let bench = Bench::new(&format!("{scenario}\n[dashboard]\npage = \"page.md\"\ntemplate = \"page.j2\"\n"));
    fs_err::write(bench.path("page.j2"), "# {{ title }}\n\n{{ parts.results }}\n").unwrap();
    let output = bench.run(&["run", "small.toml", "--simulate", "--speed", "50"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for (template, told) in cases {
        fs_err::write(bench.path("page.j2"), template).unwrap();
        let output = bench.run(&["dashboard", "small.toml", "--allow", "simulated"]);
        assert_eq!(output.status.code(), Some(2), "{template}: {}", said(&output));
        assert!(said(&output).contains(told), "{template}: {}", said(&output));
        assert!(!bench.path("page.md").exists());
    }
}
