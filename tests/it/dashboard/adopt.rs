//! Pages typed by hand, in the shapes of real ones.

use super::setup::{Desk, part, prose};

/// A page in the shape of the published one of Qwen-Image.
const QWEN: &str = "\
# Qwen-Image Performance Dashboard

## 2. Test Environment

| Component | Specification |
|-----------|---------------|
| GPU | NVIDIA A100-SXM4-80GB |

## 6. Metrics

| Metric | Description | Unit |
|---|---|---|
| Mean Latency | average | s |

## 7. Results

Typed by hand in spring:

| Dataset Configuration | Max Concur. | CFG | Usp | Tp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |
|:---:|:---:|:---:|:---:|:---:|:---:|:---:|:---:|
| Dataset A | 1 | 2 | 2 | Off | Off | 2.2087 | 2.2087 |
| Dataset B | 1 | 2 | 2 | Off | Off | 19.6739 | 19.6739 |
| Dataset C | 1 | 2 | 2 | Off | Off | 5.67259 | 18.6234 |

*The profiles are in section 5.*

```markdown
| Dataset Configuration | Max Concur. | CFG | Usp | Tp | VAE Parallel | Mean Latency (s) | P99 Latency (s) |
|---|---|---|---|---|---|---|---|
```

## 8. Checklist

- [x] seed
";

/// The same for Wan2.2, with an envelope as another real page has it; Windows line ends, no last one.
const WAN: &str = "\
# Wan2.2\r\n\
\r\n\
Dataset Configuration | Max Concur. | CFG | Usp | Tp | Hsdp | VAE Parallel | Mean Latency (s) | P99 Latency (s)\r\n\
--- | --- | --- | --- | --- | --- | --- | --- | ---\r\n\
Dataset A | 1 | 2 | 2 | 1 | On | 1 | 24.6766 | 24.6766\r\n\
A sentence right below.\r\n\
\r\n\
| Concurrency | Throughput (clips/hr) | Mean | p50 | p99 | Video seconds per wall second | Peak memory |\r\n\
|---|---|---|---|---|---|---|\r\n\
| 1 | 28.21 | 127.6 | 127.6 | 127.8 | 0.0617 | 38562 |\r\n\
| 8 | 30.96 | 729.0 | 923.3 | 936.2 | 0.0677 | 38564 |";

/// The page without its marker lines.
fn unmarked(page: &str) -> String {
    page.split_inclusive('\n').filter(|line| !line.contains("<!-- omni-bench:")).collect()
}

#[test]
fn only_the_tables_of_a_hand_typed_page_gain_markers() {
    let desk = Desk::of("qwen_image");
    let page = "scenarios/dashboards/qwen_image.md";
    desk.write(page, QWEN);
    assert!(desk.page(1, &["--adopt", "--check"]).contains("+<!-- omni-bench:begin results -->"));
    assert_eq!(desk.read(page), QWEN);
    let told = desk.page(0, &["--adopt"]);
    assert!(told.contains("qwen_image.md:19: the table is now the part `results`"), "{told}");
    let adopted = desk.read(page);
    assert_eq!(unmarked(&adopted), QWEN);
    assert_eq!(adopted.matches("<!-- omni-bench:").count(), 2);
    assert!(part(&adopted, "results").ends_with("| Dataset C | 1 | 2 | 2 | Off | Off | 5.67259 | 18.6234 |\n"));
    desk.page(0, &["--adopt"]);
    assert_eq!(desk.read(page), adopted, "adopted once, nothing is left to adopt");

    desk.simulate(&[]);
    desk.page(0, &[]);
    let made = desk.read(page);
    assert_eq!(prose(&made), prose(&adopted), "what people wrote stays");
    assert!(
        !part(&made, "results").contains("5.67259") && part(&made, "results").contains("| Dataset C | 1 |"),
        "{made}"
    );
}

#[test]
fn line_ends_and_a_missing_last_one_are_kept_and_an_envelope_is_recognised() {
    let desk = Desk::of("wan22");
    let page = "scenarios/dashboards/wan22.md";
    desk.write(page, WAN);
    desk.page(0, &["--adopt"]);
    let adopted = desk.read(page);
    assert!(adopted.ends_with("| 38564 |\r\n<!-- omni-bench:end envelope -->"), "{adopted:?}");
    assert_eq!(adopted.matches('\n').count(), adopted.matches("\r\n").count());
    let kept = unmarked(&adopted);
    assert_eq!(kept.strip_suffix("\r\n"), Some(WAN), "the line end before the last marker is the only other byte");
    assert!(adopted.contains("<!-- omni-bench:end results -->\r\nA sentence right below.\r\n"), "{adopted:?}");

    desk.simulate(&["--only", "vae1/A/*"]);
    desk.page(0, &[]);
    let made = desk.read(page);
    let header = "| Concurrency | Throughput (clips/hr) | Mean (s) | p50 (s) | p99 (s) | Video seconds per wall second | Peak memory (MB) |";
    assert!(part(&made, "envelope").trim_start().starts_with(header), "{made}");
    assert!(made.contains("A sentence right below."));
}

#[test]
fn a_page_without_a_known_table_is_told_how_to_mark_one() {
    let desk = Desk::of("qwen_image");
    let page = "scenarios/dashboards/qwen_image.md";
    assert!(desk.page(2, &["--adopt"]).contains("is not there"));
    desk.write(page, "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
    assert!(desk.page(2, &["--adopt"]).contains("no table in"));
    desk.simulate(&["--only", "*/A/*"]);
    assert!(desk.page(2, &[]).contains("`--adopt` puts markers around"));
    assert!(!desk.read(page).contains("omni-bench"));
}

#[test]
fn a_second_table_of_a_kind_goes_to_the_scenarios_own_table_or_is_named() {
    let desk = Desk::of("qwen_image");
    let page = "scenarios/dashboards/qwen_image.md";
    let table = QWEN.split("\n\n").find(|block| block.starts_with("| Dataset")).unwrap();
    desk.write(page, &format!("{table}\n\ntext\n\n{table}\n"));
    let told = desk.page(0, &["--adopt"]);
    assert!(told.contains(":9: another table of kind `results` is left alone"), "{told}");
    desk.append("[[dashboard.tables]]\nname = \"only-c\"\nkind = \"results\"\nwhere = [\"dataset=C\"]\n");
    desk.page(0, &["--adopt"]);
    desk.simulate(&[]);
    desk.page(0, &[]);
    let made = desk.read(page);
    assert!(
        part(&made, "only-c").contains("| Dataset C | 1 |") && !part(&made, "only-c").contains("| Dataset A | 1 |")
    );
    assert!(part(&made, "results").contains("| Dataset A | 1 |"));
}
