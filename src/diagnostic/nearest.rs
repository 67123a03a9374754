//! The valid word a mistyped one was probably meant to be.

/// The candidate nearest to `word`, when one is near enough to be worth suggesting: at most a third
/// of its letters differ, or one of the two words begins with the other.
///
/// ```
/// use omni_bench::diagnostic::nearest;
/// assert_eq!(nearest("requets", ["requests", "seed"]).as_deref(), Some("requests"));
/// assert_eq!(nearest("colour", ["requests", "seed"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let wanted = plain(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let offered = plain(candidate);
            let distance = strsim::damerau_levenshtein(&wanted, &offered);
            let begins =
                wanted.len().min(offered.len()) >= 3 && (offered.starts_with(&wanted) || wanted.starts_with(&offered));
            let letters = wanted.chars().count().max(offered.chars().count());
            (distance * 3 <= letters || begins).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_word_wins_and_distant_ones_are_not_offered() {
        assert_eq!(nearest("max_concurency", ["max_concurrency", "request_rate"]).as_deref(), Some("max_concurrency"));
        assert_eq!(nearest("api_key", ["url", "api_key_env", "path"]).as_deref(), Some("api_key_env"));
        assert_eq!(nearest("Max-Concurrency", ["max_concurrency"]).as_deref(), Some("max_concurrency"));
        assert_eq!(nearest("zzz", ["url", "path"]), None);
        assert_eq!(nearest("", ["url"]), None);
    }
}
