//! A small folder of definitions, and a runner that computes what a run takes from its definition.

use olifant_ledger::{Counters, LedgerError, Library, Provenance, Record, RunDefinition, Runner};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const APPLICATIONS: &str = r#"
[[application]]
key = "one"
name = "One"
program = "one"
arguments = "-n 100 -p {threads}"
quick = "-n 10 -p {threads}"
flops = 1000.0

[[application]]
key = "two"
name = "Two"
program = "two"
arguments = "-p {threads}"
quick = "-p {threads}"
threads = "power of two"
"#;

const POLICIES: &str = r#"
[threads.t0]
policy = "fill"
[threads.t1]
policy = "round-robin"
[threads.t3]
policy = "float"
[memory.m0]
policy = "any"
frames = "sequential"
locked = false
[memory.m2]
policy = "local"
frames = "coloured"
locked = true
"#;

const METRICS: &str = r#"
[time]
unit = "s"
field = "program_seconds"
[rate]
unit = "MFLOP/s"
field = "flops"
per = "program_seconds * processors"
scale = 1e-6
"#;

const TABLE: &str = r#"
name = "table"
title = "Times"
source = "a paper, Table 1"

[[group]]
applications = ["one", "two"]
configurations = ["1N1"]
threads = [1]
policies = ["t3,m0"]
metrics = ["time"]
use = "calibration"
[group.label]
configuration = "1N1"
policy = "base"

[[group]]
applications = ["one", "two"]
configurations = ["4N4"]
threads = [2, 3, 4]
policies = ["t0,m2", "t1,m2"]
choose = "least"
among = "BEST"
metrics = ["time", "rate"]
[group.label]
configuration = "{configuration};{threads} threads"
policy = "BEST={policy}"

[[group]]
applications = ["one", "two"]
configurations = ["4N2"]
threads = [4]
policies = ["t0,m2"]
choose = "least"
among = "BEST"
metrics = ["time", "rate"]
[group.label]
configuration = "{configuration};{threads} threads"
policy = "BEST={policy}"

[[shape]]
statement = "one is faster with four threads than with two"
metric = "time"
ascending = ["One | * | 4 | BEST=*", "One | * | 2 | BEST=*"]
"#;

const FIGURE: &str = r#"
name = "figure"
title = "Speed-ups"
source = "a paper, Fig. 1"
from = ["table"]

[[derived]]
metric = "speedup"
unit = "x"
threads = [2, 4]
divide = { configuration = "1N1", policy = "base", metric = "time" }
by = { configuration = "*;{threads} threads", policy = "BEST=*", metric = "time" }
[derived.label]
configuration = "{configuration};{threads} threads"
policy = "BEST={policy}"
"#;

const PUBLISHED: &str = "seed,where,application,configuration,policy,metric,value,unit,note\n\
    P,T1,One,1N1,base,time,8.0,s,published\n\
    P,T1,One,4N4;2 threads,\"BEST=t0,m2\",time,5.0,s,published\n\
    P,T1,One,4N4;3 threads,\"BEST=t0,m2\",time,x,s,published\n";

/// Writes the definitions into `folder` and reads them.
pub fn library(folder: &Path) -> Library {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let header = PUBLISHED.lines().next().unwrap();
    write("applications.toml", APPLICATIONS);
    write("policies.toml", POLICIES);
    write("metrics.toml", METRICS);
    write("table/experiment.toml", TABLE);
    write("table/published.csv", PUBLISHED);
    write("figure/experiment.toml", FIGURE);
    write("figure/published.csv", header);
    Library::read(folder).unwrap()
}

/// Makes runs out of nothing: seconds are what `seconds` says. Ends the evaluation after so many runs.
pub struct Arithmetic<'a> {
    pub seconds: &'a (dyn Fn(&RunDefinition) -> f64 + Sync),
    pub made: AtomicUsize,
    pub end_after: usize,
    pub stop: &'a AtomicBool,
}

/// 8 s divided by the number of threads; round robin takes a tenth longer, half of the machine a fifth.
pub fn seconds(run: &RunDefinition) -> f64 {
    let is_round_robin = run.configuration == "4N4" && run.threads.starts_with("0,4");
    let slower = if is_round_robin { 1.1 } else { 1.0 } * if run.configuration == "4N2" { 1.2 } else { 1.0 };
    8.0 / f64::from(run.thread_count) * slower
}

impl Runner for Arithmetic<'_> {
    fn run(&self, definition: &RunDefinition) -> Result<Record, LedgerError> {
        let made = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        if made >= self.end_after {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(Record {
            digest: definition.key(),
            seconds: (self.seconds)(definition),
            program_seconds: Some((self.seconds)(definition)),
            accesses: 1000,
            definition: definition.clone(),
            counters: Counters { accesses: 1000, ..Counters::default() },
            figures: std::collections::BTreeMap::new(),
            provenance: Provenance {
                date: "2001-03-01".into(),
                host: "a host".into(),
                // Differs from run to run, as on a host.
                host_seconds: made as f64,
                version: "0".into(),
                program: String::new(),
            },
        })
    }
}
