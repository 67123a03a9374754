//! A reader of markup that is strict about nesting and escaping.

/// The tags of an XML document, in order, after checking that they nest and that text is escaped.
/// Style sheets are left out of the check for text.
pub(super) fn tags_of(document: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut tags = Vec::new();
    let mut rest = document;
    while let Some((text, after)) = rest.split_once('<') {
        if open.last().is_none_or(|tag| tag != "style") {
            assert_text(text);
        }
        let (tag, after) = after.split_once('>').unwrap_or_else(|| panic!("a tag is not closed: {after:.80}"));
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        assert_eq!(tag.matches('"').count() % 2, 0, "a quote is missing: {tag}");
        assert!(!tag.contains('<'), "{tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_ref(), Some(&name), "`{tag}` closes what is not open");
        } else {
            tags.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = after;
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    tags
}

fn assert_text(text: &str) {
    assert!(!text.contains('>'), "{text}");
    assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
    for entity in text.split('&').skip(1) {
        let name = entity.split_once(';').map_or("", |(name, _)| name);
        assert!(["amp", "lt", "gt", "quot", "apos", "#39"].contains(&name), "&{entity:.20}");
    }
}

/// What the tooltips of a chart say.
pub(super) fn tooltips(svg: &str) -> Vec<&str> {
    svg.split("<title>").skip(1).map(|after| after.split_once("</title>").unwrap().0).collect()
}

#[test]
fn the_reader_accepts_what_nests_and_refuses_what_does_not() {
    assert_eq!(tags_of("<svg a=\"1\"><g>x &lt; y<b/></g></svg>"), ["svg", "g", "b"]);
    for wrong in ["<svg><g></svg></g>", "<svg>", "<svg>a > b</svg>", "<svg>a & b</svg>", "<svg>\u{1b}</svg>", "<g"] {
        assert!(std::panic::catch_unwind(|| tags_of(wrong)).is_err(), "{wrong}");
    }
}
