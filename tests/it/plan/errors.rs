//! Everything that is refused before anything is sent.

use omni_bench::plan::Hosting;

use super::*;

/// Asserts the problems of head, dataset A and each text.
fn refused(cases: &[(&str, &str)]) {
    for (more, problem) in cases {
        assert_eq!(problems(more), [*problem], "{more}");
    }
}

#[test]
fn what_every_scenario_needs_is_asked_for_at_once() {
    assert_eq!(
        problems_of("", SIMULATED),
        [
            "name: `name` is required",
            "model.id: `model.id` is required",
            "model.task: `model.task` is required",
            "datasets: a scenario needs at least one dataset",
        ]
    );
}

#[test]
fn names_are_unique_and_safe_as_folders() {
    refused(&[
        (
            "[[variants]]\nname = 'x'\n[[variants]]\nname = 'x'\n",
            "variants[1].name: the name `x` is already that of `variants[0]`",
        ),
        ("[[variants]]\nlabel = 'x'\n", "variants[0].name: variant 1 has no `name`"),
        (
            "[[variants]]\nname = '../x'\n",
            "variants[0].name: `../x` is not a name; use up to 100 letters, digits, `.`, `_` and `-`, and do not start with a dot",
        ),
        (
            "[datasets.'a b']\n",
            "datasets.a b: `a b` is not a name; use up to 100 letters, digits, `.`, `_` and `-`, and do not start with a dot",
        ),
    ]);
    let text = format!("{HEAD}{DATASET_A}").replace("'test'", "'a/b'");
    assert_eq!(problems_of(&text, SIMULATED).len(), 1);
}

#[test]
fn names_that_do_not_exist_offer_the_nearest() {
    let two = "[[variants]]\nname = 'seqs-1'\n[[variants]]\nname = 'seqs-8'\n";
    refused(&[
        (&format!("{two}[matrix]\nvariant = ['seqs-1', 'seq-8']"), "matrix.variant[1]: there is no variant `seq-8`"),
        ("[matrix]\ndataset = ['B']", "matrix.dataset[0]: there is no dataset `B`"),
        ("[matrix]\ninclude = [{ dataset = 'B' }]", "matrix.include[0].dataset: there is no dataset `B`"),
        (&format!("{two}[compare]\nbaseline = 'sqs-1'"), "compare.baseline: there is no variant `sqs-1`"),
        (
            &format!("{two}[compare]\nbaseline = 'seqs-1'\ncandidates = ['seqs8']"),
            "compare.candidates[0]: there is no variant `seqs8`",
        ),
        (
            &format!("{two}[compare]\nbaseline = 'seqs-1'\ncandidates = ['seqs-1']"),
            "compare.candidates[0]: variant `seqs-1` is already compared",
        ),
        (&format!("{two}[compare]\ncandidates = ['seqs-1']"), "compare: `compare` needs a `baseline`"),
        (
            &format!("{two}[matrix]\nvariant = ['seqs-1']\n[compare]\nbaseline = 'seqs-8'"),
            "compare.baseline: variant `seqs-8` is not part of the matrix",
        ),
        (
            &format!("{two}[matrix]\nvariant = ['seqs-1']\n[compare]\nbaseline = 'seqs-1'"),
            "compare: there is no other variant to compare with the baseline",
        ),
    ]);
    let scenario = read(&format!("{HEAD}{DATASET_A}{two}[matrix]\nvariant = ['seq-8']"));
    let problems = try_plan_with(&scenario, SIMULATED, &[]).unwrap_err();
    assert_eq!(problems[0].hint.as_deref(), Some("did you mean `seqs-8`?"));
}

#[test]
fn zero_counts_are_refused_wherever_they_stand() {
    refused(&[
        ("[matrix]\nmax_concurrency = [1, 0]", "matrix.max_concurrency[1]: `max_concurrency` is at least 1"),
        ("[matrix]\nrequests = [0]", "matrix.requests[0]: `requests` is at least 1"),
        ("[matrix]\nnum_inference_steps = [0]", "matrix.num_inference_steps[0]: `num_inference_steps` is at least 1"),
        (
            "[matrix]\ninclude = [{ max_concurrency = 0 }]",
            "matrix.include[0].max_concurrency: `max_concurrency` is at least 1",
        ),
        ("[matrix]\nseed = []", "matrix.seed: an empty axis plans nothing"),
        ("[traffic]\nrepeats = 0", "traffic.repeats: every run is carried out at least once"),
        ("[warmup]\nconcurrency = 0", "warmup.concurrency: a concurrency of 0 would send nothing"),
        ("[warmup]\nnum_inference_steps = 0", "warmup.num_inference_steps: `num_inference_steps` is at least 1"),
        (
            "[traffic]\nrequests = { per_concurrency = 2 }\nrequest_rate = 1",
            "traffic.requests: `per_concurrency` needs a `max_concurrency`, which this open loop does not have",
        ),
    ]);
}

#[test]
fn weights_that_cannot_be_drawn_from_are_told_at_their_profile() {
    let c = |first: &str, second: &str| {
        problems(&format!(
            "[datasets.C]\nprofiles = [{{ width = 8, height = 8{first} }}, {{ width = 9, height = 9{second} }}]\n"
        ))
    };
    assert_eq!(
        c(", weight = 1", ", weight = -1"),
        ["datasets.C.profiles[1].weight: weight `-1` is not a number of at least 0"]
    );
    assert_eq!(c(", weight = nan", ""), ["datasets.C.profiles[0].weight: weight `NaN` is not a number of at least 0"]);
    assert_eq!(
        c(", weight = 0", ", weight = 0"),
        ["datasets.C.profiles[0].weight: every weight is 0, so no profile could be drawn"]
    );
    assert_eq!(c("", ", weight = 0"), Vec::<String>::new());
}

#[test]
fn fields_of_profiles_are_checked_for_type_partner_and_endpoint() {
    refused(&[
        ("[datasets.B]\nprofiles = [{ width = 512 }]", "datasets.B.profiles[0].width: `width` needs `height`"),
        ("[datasets.B]\ndefaults = { height = 512 }", "datasets.B.defaults.height: `height` needs `width`"),
        (
            "[datasets.B]\nprofiles = [{ num_inference_steps = 'many' }]",
            "datasets.B.profiles[0].num_inference_steps: `num_inference_steps` must be a whole number of at least 1, not `many`",
        ),
        (
            "[datasets.B]\nprofiles = [{ hieght = 512 }]",
            "datasets.B.profiles[0].hieght: `/v1/images/generations` ignores the field `hieght`",
        ),
        (
            "[datasets.B]\noverride = { guardrails = false }",
            "datasets.B.override.guardrails: `/v1/images/generations` ignores the field `guardrails`",
        ),
        (
            "[datasets.B]\ndefaults = { guidance_scale = 'high' }",
            "datasets.B.defaults.guidance_scale: `guidance_scale` is a number on `/v1/images/generations`, not `high`",
        ),
        (
            "[datasets.B]\ndefaults = { response_format = 'url' }",
            "datasets.B.defaults.response_format: `response_format = \"url\"` would leave nothing to check in the reply",
        ),
        ("[matrix]\nnum_frames = [33]", "matrix.num_frames: `/v1/images/generations` ignores the field `num_frames`"),
        ("[warmup]\nnum_frames = 1", "warmup.num_frames: `/v1/images/generations` ignores the field `num_frames`"),
        ("[datasets.B]\nrequest_seed = 'fixed'", "datasets.B.request_seed: `request_seed = \"fixed\"` needs a seed"),
        (
            "[datasets.B]\nrequest_seed = 'per_request'\ndefaults = { seed = 1 }",
            "datasets.B.request_seed: `defaults.seed` would never be sent under this `request_seed`",
        ),
        ("[datasets.B]\nvideos = {}", "datasets.B.videos: task `t2i` takes no reference videos"),
        ("[datasets.B]\nimages = { count = 1 }", "datasets.B.images: task `t2i` takes no reference images"),
        ("[datasets.B]\npath = 'x.txt'", "datasets.B.source: dataset `B` does not say what `path` holds"),
        ("[datasets.B]\non_short = 'cycle'", "datasets.B.on_short: a random dataset has no `on_short`"),
        ("[datasets.B]\nallow_download = true", "datasets.B.allow_download: a random dataset has no `allow_download`"),
    ]);
}

#[test]
fn allow_unknown_lets_other_servers_have_their_fields() {
    let text = format!("{HEAD}allow_unknown = true\nextra_body = {{ guardrails = false }}\n{DATASET_A}");
    assert_eq!(problems_of(&text, SIMULATED), Vec::<String>::new());
}

#[test]
fn extra_fields_are_checked_for_every_variant_and_told_once() {
    let text = format!(
        "{HEAD}extra_body = {{ guardrails = false, width = 'w' }}\n{DATASET_A}[[variants]]\nname = 'x'\n[[variants]]\nname = 'y'\nendpoint = {{ extra_body = {{ nope = 1 }} }}\n"
    );
    assert_eq!(
        problems_of(&text, SIMULATED),
        [
            "endpoint.extra_body.guardrails: `/v1/images/generations` ignores the field `guardrails`",
            "endpoint.extra_body.width: `width` must be a whole number of at least 1, not `w`",
            "variants[1].endpoint.extra_body.nope: `/v1/images/generations` ignores the field `nope`",
        ]
    );
}

#[test]
fn tasks_that_the_endpoint_or_the_input_cannot_do_are_refused() {
    let with = |task: &str, endpoint: &str, more: &str| {
        let text =
            format!("name = 'test'\nmodel = {{ id = 'm', task = '{task}' }}\nendpoint = {{ {endpoint} }}\n{more}");
        problems_of(&text, SIMULATED)
    };
    assert_eq!(
        with("t2i", "path = '/v1/images/edits'", DATASET_A),
        ["endpoint.path: `/v1/images/edits` cannot do task `t2i`"]
    );
    assert_eq!(
        with("t2v", "path = '/v1/images/generations'", DATASET_A),
        ["endpoint.path: `/v1/images/generations` cannot do task `t2v`"]
    );
    assert_eq!(
        with("i2i", "", "[datasets.A]\nimages = { count = 0 }"),
        ["datasets.A.images.count: task `i2i` needs at least one reference image"]
    );
    assert_eq!(
        with("ti2i", "", "[datasets.A]\nprofiles = [{ size = '512x512', resolution = 640 }]"),
        ["datasets.A: requests of dataset `A` have both a size and a `resolution`"]
    );
    assert_eq!(
        with("ti2i", "", "[datasets.A]\nprofiles = [{ size = '9000x512' }]"),
        ["datasets.A: reference images of 9000x512 are too large to make"]
    );
    assert_eq!(with("ti2i", "", "[datasets.A]\nprofiles = [{ resolution = 640 }]"), Vec::<String>::new());
    let of_videos = |videos: &str| {
        with("v2v", "", &format!("[datasets.A]\nvideos = {videos}\nprofiles = [{{ size = '853x480' }}]"))
    };
    assert_eq!(of_videos("{ width = 854, height = 480 }"), Vec::<String>::new());
    assert_eq!(of_videos("{}"), ["datasets.A: reference videos cannot be made: odd sizes cannot be encoded: 853x480"]);
    assert_eq!(
        of_videos("{ count = 0, width = 853, height = 480, num_frames = 0, fps = 0 }"),
        [
            "datasets.A.videos.count: task `v2v` needs at least one reference video",
            "datasets.A.videos.width: a reference video has an even number of pixels a side, between 2 and 8192",
            "datasets.A.videos.num_frames: a reference video has between 1 and 3600 frames",
            "datasets.A.videos.fps: a reference video has between 0.001 and 1000 frames per second",
        ]
    );
    assert_eq!(
        of_videos("{ count = 2, width = 64, height = 64 }"),
        ["datasets.A: profile 1: a reference video that is a file cannot be combined with other files"]
    );
    let both = "[datasets.A]\nimages = {}\nvideos = {}";
    assert_eq!(
        with("v2v", "", both),
        ["datasets.A: profile 1: a reference video that is a file cannot be combined with other files"]
    );
    assert_eq!(with("v2v", "", &both.replace("images = {}\n", "")), Vec::<String>::new());
    let minimax = format!("name = 'test'\nmodel = {{ id = 'MiniMaxAI/MiniMax-H3', task = 'v2v' }}\n{both}");
    assert_eq!(problems_of(&minimax, SIMULATED), Vec::<String>::new());
}

#[test]
fn what_is_switched_off_is_not_used() {
    let text = format!("{HEAD}stream = false\nsync_video = false\n{DATASET_A}allow_download = false\n");
    assert_eq!(problems_of(&text, SIMULATED), Vec::<String>::new());
}

#[test]
fn streams_are_for_edits_and_the_blocking_endpoint_is_for_videos() {
    refused(&[
        (
            "[[variants]]\nname = 'x'\nendpoint = { sync_video = true }",
            "variants[0].endpoint.sync_video: `sync_video` is for `/v1/videos`, not for `/v1/images/generations`",
        ),
        (
            "[[variants]]\nname = 'x'\nendpoint = { stream = true, path = '/v1/chat/completions', allow_unknown = true }",
            "variants[0].endpoint.stream: `stream` is for `/v1/images/edits`, not for `/v1/chat/completions`",
        ),
    ]);
    let text = format!("{HEAD}stream = true\nvalidate = 'full'\n{DATASET_A}");
    assert_eq!(
        problems_of(&text, SIMULATED),
        ["endpoint.stream: `stream` is for `/v1/images/edits`, not for `/v1/images/generations`"]
    );
    let edits = text.replace("task = 't2i'", "task = 'i2i'").replace(DATASET_A, &format!("{DATASET_A}images = {{}}\n"));
    assert_eq!(problems_of(&edits, SIMULATED), Vec::<String>::new());
    let text =
        format!("{HEAD}sync_video = true\nvalidate = 'full'\n{DATASET_A}").replace("task = 't2i'", "task = 't2v'");
    assert_eq!(problems_of(&text, SIMULATED), Vec::<String>::new());
}

#[test]
fn servers_need_a_command_or_a_url_of_their_own() {
    let without = format!("{HEAD}{DATASET_A}").replace("url = 'http://localhost:8091'\n", "");
    assert_eq!(
        problems_of(&without, Hosting::Given),
        ["endpoint.url: variant `default` has no server: `endpoint.url` is missing"]
    );
    assert_eq!(problems_of(&without, SIMULATED), Vec::<String>::new());
    assert_eq!(
        problems_of(&format!("{without}[server]\n"), Hosting::Launched),
        ["server.command: `server.command` is required to start a server"]
    );
    assert_eq!(problems_of(&without, Hosting::Launched), ["server: no `[server]` says how to start a server"]);
    assert_eq!(
        problems_of(
            &format!(
                "{without}[server]\ncommand = ['x']\nrestart = 'per_repeat'\n[traffic]\nrepeats = 2\norder = 'grouped'"
            ),
            Hosting::Launched
        ),
        ["traffic.order: grouped repeats would restart the server for every single run"]
    );
}

#[test]
fn simulator_settings_are_checked() {
    refused(&[
        ("[simulator]\nspeed = 0", "simulator.speed: `0` is not a number above 0"),
        ("[simulator]\nspeed = inf", "simulator.speed: `inf` is not a number above 0"),
        ("[simulator]\nnoise = -0.1", "simulator.noise: `-0.1` is not a number of at least 0"),
    ]);
    let text = format!("{HEAD}{DATASET_A}");
    let speed = Hosting::Simulated { speed: f64::NAN };
    assert_eq!(problems_of(&text, speed), [": the speed `NaN` is not a number above 0"]);
}

#[test]
fn slo_and_traffic_faults_reach_the_user() {
    refused(&[
        ("[slo]\nlatency = '1s'\nscale = 2", "slo.scale: give either `latency` or `scale`, not both"),
        ("[slo]\nscale = -1", "slo.scale: `-1` is not a number above 0"),
        ("[slo]\nattainment = 0.9", "slo: `slo` names no target"),
        ("[slo]\nlatency = '1s'\nattainment = 1.5", "slo.attainment: `1.5` is not a share above 0 and up to 1"),
        (
            "[traffic]\narrival = 'gamma'\nrequest_rate = 1\nburstiness = -1",
            "traffic.burstiness: `-1` is not a number above 0",
        ),
        ("[traffic]\narrival = 'trace'", "traffic.arrival: dataset `A` is not a trace and has no time stamps"),
    ]);
}

#[test]
fn problems_that_need_no_data_can_be_told_without_it() {
    let scenario = read(&format!("{HEAD}{DATASET_A}[traffic]\nrepeats = 0\n[matrix]\nvariant = ['x']"));
    let paths: Vec<String> = plan::check(&scenario, SIMULATED, None).iter().map(|p| p.path.to_string()).collect();
    assert_eq!(paths, ["traffic.repeats", "matrix.variant[0]"]);
}
