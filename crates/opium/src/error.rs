//! What can be wrong with the programming of the card.

/// A filter, a secondary counter or a limit of the card that does not work out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// A kind of transaction that there isn't.
    #[error("kind of transaction {word:?}: there is none; kinds are {known}, joined by +")]
    UnknownKind {
        /// The word.
        word: String,
        /// All words.
        known: String,
    },
    /// A text that is no filter.
    #[error("filter {text:?}: {problem}")]
    Filter {
        /// The text.
        text: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// A text that is no secondary counter.
    #[error("secondary counter {text:?}: {problem}")]
    Secondary {
        /// The text.
        text: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// More filters than the card has.
    #[error(
        "filter {filter}: the card has {limit} filters, and all are taken: leave some out, or use --card unlimited"
    )]
    TooManyFilters {
        /// The filter that found no place.
        filter: String,
        /// Filters of the card.
        limit: usize,
    },
    /// More counters than the card's memory holds.
    #[error(
        "filter {filter}: needs {needed} counters for {bytes} bytes by {granule_bytes}, and the card has {left} of {limit} left: \
         use a larger granule or a smaller range, or --card unlimited"
    )]
    TooManyCounters {
        /// The filter.
        filter: String,
        /// Bytes of its range.
        bytes: u64,
        /// Bytes per counter.
        granule_bytes: u64,
        /// Counters that it needs.
        needed: u64,
        /// Counters that are free.
        left: u64,
        /// Counters of the card.
        limit: u64,
    },
    /// More secondary counters than the card has.
    #[error("{count} secondary counters: the card has {limit}: leave some out, or use --card unlimited")]
    TooManySecondaries {
        /// How many.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Something that hardware between a node and the interconnect cannot see.
    #[error(
        "filter {filter}: the card sits between a node and the interconnect and does not see {what}: {remedy}"
    )]
    Unseen {
        /// The filter.
        filter: String,
        /// What it does not see.
        what: &'static str,
        /// What to write instead.
        remedy: &'static str,
    },
}
