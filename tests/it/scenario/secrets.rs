//! A pasted key or password appears nowhere.

use super::Folder;

#[test]
fn a_pasted_key_or_password_is_refused_and_never_echoed() {
    let toml = "[endpoint]\nurl = \"http://me:hunter2@host/v1\"\napi_key_env = \"sk-hunter2\"\napi_key = \"hunter2\"\n\
                headers = { Authorization = \"Bearer hunter2\", X-Other = \"hunter2\", X-Good = \"GOOD_NAME\" }\n\
                proxy = \"http://me:hunter2@proxy\"\ntimeout = { conect = \"1s\" }\n\
                [[variants]]\nname = \"a\"\nendpoint = { url = \"http://h?key=hunter2\", pat = \"/x\" }\n";
    let yaml = "endpoint:\n  url: http://me:hunter2@host/v1\n  api_key_env: sk-hunter2\n  api_key: hunter2\n\
                \x20 headers: { Authorization: Bearer hunter2, X-Other: hunter2, X-Good: GOOD_NAME }\n\
                \x20 proxy: 'http://me:hunter2@proxy'\n  timeout: { conect: 1s }\n\
                variants:\n  - name: a\n    endpoint: { url: 'http://h?key=hunter2', pat: /x }\n";
    for (name, text) in [("x.toml", toml), ("x.yaml", yaml)] {
        let told = Folder::with(&[(name, text)]).refused(&[name]);
        assert!(!told.contains("hunter2"), "{told}");
        assert!(told.contains("GOOD_NAME") && told.contains("did you mean `api_key_env`?"), "{told}");
        assert_eq!(told.matches("--> ").count(), 9, "{told}");
    }
}

#[test]
fn a_pasted_key_in_a_setting_or_a_broken_file_is_not_echoed() {
    let folder = Folder::with(&[("x.toml", "name = \"x\"\n"), ("broken.toml", "[endpoint]\napi_key = \"hunter2\n")]);
    let settings = ["--set", "endpoint.api_key_env=hunter2", "--set", "endpoint.url=http://me:hunter2@host"];
    let told = folder.refused(&[&["x.toml"], settings.as_slice()].concat());
    assert!(!told.contains("hunter2") && told.matches("--> --set").count() == 2, "{told}");
    assert!(!folder.refused(&["broken.toml"]).contains("hunter2"));
}

#[test]
fn a_token_is_given_to_a_server_by_name_and_never_echoed() {
    let pasted = "[server.env]\nHF_TOKEN = \"hunter2\"\n";
    let told = Folder::with(&[("x.toml", pasted)]).refused(&["x.toml"]);
    assert!(!told.contains("hunter2") && told.contains("x.toml:2:12") && told.contains("${VLLM_API_KEY}"), "{told}");
    let text = "[server.env]\nHF_TOKEN = \"${HF_TOKEN}\"\nHF_HOME = \"/models\"\n[endpoint]\napi_key_env = \"OPENAI_API_KEY\"\n";
    let told = String::from_utf8(Folder::with(&[("x.toml", text)]).run(&["explain", "x.toml"]).stdout).unwrap();
    assert!(told.contains("/models") && told.contains("OPENAI_API_KEY"), "{told}");
}

#[test]
fn an_address_with_a_path_names_the_right_one() {
    let cases = [
        ("http://localhost:8091/v1", "write `http://localhost:8091`"),
        ("http://localhost:8091/v1/images/generations", "write `http://localhost:8091`"),
        ("localhost:8091", "write `http://localhost:8091`"),
        ("ftp://localhost", "`http://` or `https://`"),
        ("http://", "like `http://localhost:8091`"),
        ("http://host/#x", "query or a fragment"),
    ];
    for (url, hint) in cases {
        let told = Folder::with(&[("x.toml", &format!("[endpoint]\nurl = \"{url}\"\n"))]).refused(&["x.toml"]);
        assert!(told.contains(hint) && told.contains("x.toml:2:7"), "{url}: {told}");
    }
}
