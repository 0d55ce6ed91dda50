//! All definitions of a folder, read together and checked against one another.

use super::{Application, Experiment, Policies};
use crate::{LedgerError, Machines, Published, expression::Expression, read_published};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How a metric follows from a run: field / per * scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its unit.
    pub unit: String,
    field: Expression,
    per: Option<Expression>,
    scale: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricText {
    unit: String,
    field: String,
    per: Option<String>,
    scale: Option<f64>,
}

impl Metric {
    /// Its value for a run whose fields `value_of` knows; none where one is missing or the divisor is 0.
    pub fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        let field = self.field.evaluate(value_of)?;
        let per = match &self.per {
            Some(per) => per.evaluate(value_of)?,
            None => 1.0,
        };
        (per != 0.0).then(|| field / per * self.scale)
    }
}

/// All definitions of a folder.
#[derive(Debug, Clone)]
pub struct Library {
    /// Programs at their sizes.
    pub applications: Vec<Application>,
    /// Labels of policies.
    pub policies: Policies,
    /// Metrics by name.
    pub metrics: BTreeMap<String, Metric>,
    /// Experiments in the order of their names.
    pub experiments: Vec<Experiment>,
    /// Published values of each experiment.
    pub published: Vec<Vec<Published>>,
    /// Where the definitions' machines are found.
    pub machines: Machines,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Applications {
    application: Vec<Application>,
}

impl Library {
    /// Reads the folder `experiments`.
    /// # Errors  A file that cannot be read, is malformed, or names something unknown.
    pub fn read(folder: &Path) -> Result<Self, LedgerError> {
        let applications: Applications = read_toml(&folder.join("applications.toml"))?;
        let policies = read_toml(&folder.join("policies.toml"))?;
        let metrics: BTreeMap<String, MetricText> = read_toml(&folder.join("metrics.toml"))?;
        let metrics = metrics
            .into_iter()
            .map(|(name, text)| {
                let parse = |text: &str| {
                    Expression::parse(text).map_err(|problem| {
                        LedgerError::form(&folder.join("metrics.toml"), format!("{name}: {problem}"))
                    })
                };
                let metric = Metric {
                    field: parse(&text.field)?,
                    per: text.per.as_deref().map(parse).transpose()?,
                    scale: text.scale.unwrap_or(1.0),
                    unit: text.unit,
                };
                Ok((name, metric))
            })
            .collect::<Result<_, LedgerError>>()?;
        let mut library = Library {
            applications: applications.application,
            policies,
            metrics,
            experiments: Vec::new(),
            published: Vec::new(),
            machines: Machines::of(folder),
        };
        for name in folders(folder)? {
            let folder = folder.join(&name);
            let experiment: Experiment = read_toml(&folder.join("experiment.toml"))?;
            if experiment.name != name {
                return Err(LedgerError::form(
                    &folder.join("experiment.toml"),
                    format!("name is {:?}, not the folder's", experiment.name),
                ));
            }
            library.published.push(read_published(&folder.join("published.csv"))?);
            library.experiments.push(experiment);
        }
        library.check()?;
        Ok(library)
    }

    /// The application of a key.
    pub fn application(&self, key: &str) -> Option<&Application> {
        self.applications.iter().find(|application| application.key == key)
    }

    /// The index of an experiment.
    /// # Errors  [`LedgerError::Unknown`] lists the known names.
    pub fn find(&self, name: &str) -> Result<usize, LedgerError> {
        self.experiments.iter().position(|experiment| experiment.name == name).ok_or_else(|| {
            let known = self.experiments.iter().map(|experiment| &experiment.name);
            LedgerError::unknown("experiments", "experiment", name, known)
        })
    }

    /// Every name that a definition uses must be there.
    fn check(&self) -> Result<(), LedgerError> {
        let keys: Vec<&String> = self.applications.iter().map(|application| &application.key).collect();
        for experiment in &self.experiments {
            let place = || format!("{}/experiment.toml", experiment.name);
            for name in &experiment.from {
                self.find(name)?;
            }
            let applications = experiment
                .groups
                .iter()
                .flat_map(|group| &group.applications)
                .chain(&experiment.applications)
                .chain(experiment.profiles.iter().map(|profile| &profile.application));
            for key in applications {
                if !keys.contains(&key) {
                    return Err(LedgerError::unknown(place(), "application", key, keys.iter().copied()));
                }
            }
            for metric in experiment.groups.iter().flat_map(|group| &group.metrics) {
                if !self.metrics.contains_key(metric) {
                    return Err(LedgerError::unknown(place(), "metric", metric, self.metrics.keys()));
                }
            }
            let pairs = experiment.groups.iter().flat_map(|group| &group.policies);
            for pair in pairs.chain(experiment.profiles.iter().map(|profile| &profile.policy)) {
                let (threads, memory) = pair.split_once(',').unwrap_or((pair, ""));
                if !self.policies.threads.contains_key(threads) {
                    return Err(LedgerError::unknown(
                        place(),
                        "thread policy",
                        threads,
                        self.policies.threads.keys(),
                    ));
                }
                if !self.policies.memory.contains_key(memory) {
                    return Err(LedgerError::unknown(
                        place(),
                        "memory policy",
                        memory,
                        self.policies.memory.keys(),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The folders that hold an experiment, in the order of their names.
fn folders(folder: &Path) -> Result<Vec<String>, LedgerError> {
    let fail = |source| LedgerError::Read {
        path: folder.to_owned(),
        source,
        hint: "; name the folder of definitions with --experiments",
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.path().join("experiment.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn read_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, LedgerError> {
    let text = std::fs::read_to_string(path).map_err(|source| LedgerError::Read {
        path: path.to_owned(),
        source,
        hint: "; name the folder of definitions with --experiments",
    })?;
    toml::from_str(&text).map_err(|error| LedgerError::form(path, error.to_string().trim_end()))
}
