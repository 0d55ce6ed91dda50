//! The nearest known word to a mistyped one, for messages that say "did you mean".

/// The candidate most like `word`, if any is like enough to be worth suggesting.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Below 0.7 the Jaro-Winkler measure pairs words that share little but a first letter; it misses short words with
    // two letters swapped, which one edit undoes.
    const LIKE_ENOUGH: f64 = 0.7;
    let word = word.to_lowercase();
    let likeness = |candidate: &str| {
        let one_edit = if strsim::osa_distance(&word, candidate) == 1 { 0.9 } else { 0.0 };
        strsim::jaro_winkler(&word, candidate).max(one_edit)
    };
    candidates
        .into_iter()
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LIKE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean "x"?)` for a message, or nothing.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |word| format!(" (did you mean {word:?}?)"))
}
