//! `experiment.toml`: one table or figure.

use serde::Deserialize;

/// One table or figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The folder's name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Paper and place.
    pub source: String,
    /// Experiments whose rows this one uses.
    #[serde(default)]
    pub from: Vec<String>,
    /// Applications of the derived rows; empty: all.
    #[serde(default)]
    pub applications: Vec<String>,
    /// Sets of cells.
    #[serde(default, rename = "group")]
    pub groups: Vec<Group>,
    /// Rows computed from rows.
    #[serde(default)]
    pub derived: Vec<Derived>,
    /// Statements that must come out.
    #[serde(default, rename = "shape")]
    pub shapes: Vec<Shape>,
    /// Profiles in place of rows.
    #[serde(default, rename = "profile")]
    pub profiles: Vec<ProfileCell>,
    /// What must be seen in them.
    #[serde(default, rename = "profile_shape")]
    pub profile_shapes: Vec<ProfileShape>,
}

/// A set of cells: every application x configuration x threads x policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Keys of applications.
    pub applications: Vec<String>,
    /// Machine names.
    #[serde(default = "prototype")]
    pub machines: Vec<String>,
    /// Size of each memory area of a benchmark.
    pub bytes: Option<u64>,
    /// As `4N4`.
    pub configurations: Vec<String>,
    /// Numbers of threads; absent: as many as processors.
    pub threads: Option<Vec<u32>>,
    /// Pairs `t,m`.
    pub policies: Vec<String>,
    /// Names of metrics.
    pub metrics: Vec<String>,
    /// Only one cell per application and number of threads counts.
    pub choose: Option<Choose>,
    /// Groups with the same word choose together.
    pub among: Option<String>,
    /// Placement beyond the policies.
    pub placement: Option<PlacementKind>,
    /// Configuration and policy as published.
    pub label: Label,
    /// What the rows are for.
    #[serde(rename = "use", default)]
    pub usage: Use,
}

fn prototype() -> Vec<String> {
    vec!["olifant".to_owned()]
}

/// Configuration and policy as published values spell them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Words for the configuration.
    pub configuration: String,
    /// Words for the policy.
    pub policy: String,
}

/// Which of several cells counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// The smallest value.
    Least,
    /// The largest value.
    Most,
}

/// Placement beyond the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementKind {
    /// The advisor's plan from a run under the policies.
    Advisor,
    /// The application's layout by hand.
    Layout,
}

/// What rows are for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// The model may be fitted to it.
    Calibration,
    /// It was not.
    #[default]
    Prediction,
}

/// Rows computed from two rows of the same application.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The new metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Values for `{threads}`; empty: no such place.
    #[serde(default)]
    pub threads: Vec<u32>,
    /// Values for `{configuration}`.
    #[serde(default)]
    pub configurations: Vec<String>,
    /// The dividend.
    pub divide: Operand,
    /// The divisor.
    pub by: Operand,
    /// One row with this name for all applications.
    pub application: Option<String>,
    /// Which of theirs.
    pub choose: Option<Choose>,
    /// 100 less the quotient in percent.
    #[serde(default)]
    pub missing_percent: bool,
    /// Its labels.
    pub label: Label,
}

/// One side of a quotient.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// Label of the configuration; `*` for any.
    pub configuration: String,
    /// Label of the policy.
    pub policy: String,
    /// The metric.
    pub metric: String,
}

/// A statement that must come out. Exactly one of `ascending`, `flat`, `between` and `ratio` says how.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// In words.
    pub statement: String,
    /// Of which metric.
    pub metric: String,
    /// Rows, each above the one before.
    pub ascending: Option<Vec<String>>,
    /// Rows, all near their mean.
    pub flat: Option<Vec<String>>,
    /// Rows within bounds.
    pub between: Option<Vec<String>>,
    /// Two rows whose quotient lies within bounds.
    pub ratio: Option<[String; 2]>,
    /// Lower bound.
    pub least: Option<f64>,
    /// Upper bound.
    pub most: Option<f64>,
    /// A share.
    #[serde(default)]
    pub margin: f64,
}

/// A profile in place of rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileCell {
    /// Key of the application.
    pub application: String,
    /// As `2N1`.
    pub configuration: String,
    /// Number of threads.
    pub threads: u32,
    /// Pair `t,m`.
    pub policy: String,
    /// Bytes that the monitor counts together.
    pub granule_bytes: u64,
    /// Which addresses.
    pub range: String,
    /// What is told apart.
    pub by: String,
}

/// What must be seen in a profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileShape {
    /// In words.
    pub statement: String,
    /// At least so many parts that one accessor reaches.
    pub parts_of_one_accessor: Option<usize>,
    /// At least so many parts that several reach.
    pub parts_shared: Option<usize>,
    /// Share of the accesses that makes one accessor dominate.
    pub share: f64,
    /// At least this share of the granules is dominated by one accessor.
    pub lines_dominated: Option<f64>,
}
