//! What the caller may choose, and the thresholds that the advisor goes by.

/// What the advisor may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether threads may be put on other cpus than in the profile.
    pub may_move_threads: bool,
    /// Whether a few accesses may stay remote so that no node's bus and coherence unit is overloaded. Without it each
    /// page simply lives where it is used most.
    pub may_balance: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { may_move_threads: true, may_balance: true }
    }
}

/// Predicted time must fall by this share, or remote accesses by [`LEAST_REMOTE_GAIN`], for a plan to be worth it.
pub const LEAST_TIME_GAIN: f64 = 0.02;
/// See [`LEAST_TIME_GAIN`].
pub const LEAST_REMOTE_GAIN: f64 = 0.05;
/// Threads keep their order unless another one lowers the cost of remote accesses by this share.
pub const LEAST_ORDER_GAIN: f64 = 0.01;
/// A change of thread order must also save this share of all traffic.
pub const LEAST_ORDER_GAIN_OF_ALL: f64 = 0.001;
/// Areas below this share of the remote traffic are left where they are ...
pub const NEGLIGIBLE_AREA: f64 = 0.001;
/// ... as long as all of them together stay below this one.
pub const NEGLIGIBLE_TOGETHER: f64 = 0.01;
/// What a shorter form of a decision may cost, as a share of the area's traffic.
pub const BREVITY_LOSS: f64 = 0.01;
/// Nodes whose use of a page lies within this share of its traffic use it evenly.
pub const EVEN_WITHIN: f64 = 0.03;
/// An area is evenly used if this share of its traffic goes to evenly used pages.
pub const MOSTLY: f64 = 0.95;
/// More allocations of one site than this get one entry, with exceptions for the heaviest.
pub const MANY_ALLOCATIONS: usize = 32;
/// Striping an area for balance must lower the predicted time by this share.
pub const LEAST_BALANCE_GAIN: f64 = 0.005;
/// So many of the heaviest areas are tried for balance.
pub const BALANCE_TRIALS: usize = 8;
/// A read-only area is worth a copy per node if this share of its traffic stays remote wherever it lives ...
pub const REPLICATE_ABOVE: f64 = 0.25;
/// ... and if that is this share of all remote traffic.
pub const REPLICATE_SHARE: f64 = 0.01;
/// Contested lines of an area are a finding from this share of all fetches and upgrades on ...
pub const CONTESTED_SHARE: f64 = 0.005;
/// ... and from so many transfers on.
pub const LEAST_TRANSFERS: u64 = 64;
